#include <cmath>

#include "tests/api/bad_calls.hpp"

namespace lpt::test {

const std::vector<BadCall> kCollectiveCalls = {
    {"comm_create_local: no such rank",
     LPT_INVALID_ARGUMENT,
     {"rank is 2", "0 to 1"},
     [](World &w) { return create_comm(w, 2, kUnchanged); }},
    {"comm_create_local: negative rank",
     LPT_INVALID_ARGUMENT,
     {"rank is -1", "0 to 1"},
     [](World &w) { return create_comm(w, -1, kUnchanged); }},
    {"comm_create_local: a rank that is taken",
     LPT_INVALID_ARGUMENT,
     {"rank is 0", "no other comm"},
     [](World &w) { return lpt_comm_create_local(w.c, w.group.get(), 0, nullptr, &w.out_comm); }},
    {"comm_create_local: no group",
     LPT_INVALID_ARGUMENT,
     {"group is NULL"},
     [](World &w) { return lpt_comm_create_local(w.c, nullptr, 0, nullptr, &w.out_comm); }},
    {"comm_create_local: a tensor for the group",
     LPT_INVALID_ARGUMENT,
     {"group is not a live handle"},
     [](World &w) {
       return lpt_comm_create_local(w.c, cast<lpt_comm_group>(w.source.get()), 0, nullptr, &w.out_comm);
     }},
    {"comm_create_local: no memory for the result",
     LPT_INVALID_ARGUMENT,
     {"out_comm is NULL"},
     [](World &w) { return lpt_comm_create_local(w.c, w.pair.get(), 0, nullptr, nullptr); }},
    {"comm_create_mpi: no memory for the result",
     LPT_INVALID_ARGUMENT,
     {"out_comm"},
     [](World &w) { return lpt_comm_create_mpi(w.c, nullptr, nullptr); }},
    {"comm_create_mpi: an emulated link",
     LPT_UNSUPPORTED,
     {"options->emulation has a link"},
     [](World &w) {
       lpt_comm_emulation link = LPT_COMM_EMULATION_INIT;
       link.link_latency_seconds = 0.1;
       lpt_comm_options options = LPT_COMM_OPTIONS_INIT;
       options.emulation = &link;
       return lpt_comm_create_mpi(w.c, &options, &w.out_comm);
     }},
    {"comm_create_nccl: no GPU",
     LPT_INVALID_ARGUMENT,
     {"context works on cpu", "expected an NVIDIA GPU"},
     [](World &w) { return lpt_comm_create_nccl(w.c, nullptr, &w.out_comm); }},
    {"comm_create_nccl: a tensor for the bootstrap",
     LPT_INVALID_ARGUMENT,
     {"options->bootstrap is not a live handle"},
     [](World &w) {
       lpt_comm_options options = LPT_COMM_OPTIONS_INIT;
       options.bootstrap = cast<lpt_comm>(w.source.get());
       return lpt_comm_create_nccl(w.c, &options, &w.out_comm);
     }},
    {"comm_create_local: a bootstrap comm",
     LPT_UNSUPPORTED,
     {"options->bootstrap is set"},
     [](World &w) { return create_comm(w, 0, [&](auto &o) { o.bootstrap = w.comm.get(); }); }},
    {"comm_adopt_nccl: no communicator",
     LPT_INVALID_ARGUMENT,
     {"nccl_comm is NULL"},
     [](World &w) { return lpt_comm_adopt_nccl(w.c, nullptr, nullptr, &w.out_comm); }},
    {"comm_create_nccl: no memory for the result",
     LPT_INVALID_ARGUMENT,
     {"out_comm"},
     [](World &w) { return lpt_comm_create_nccl(w.c, nullptr, nullptr); }},
    {"comm_create_nccl: an emulated link",
     LPT_UNSUPPORTED,
     {"link_latency_seconds"},
     [](World &w) {
       lpt_comm_emulation link = LPT_COMM_EMULATION_INIT;
       link.link_latency_seconds = 0.1;
       lpt_comm_options options = LPT_COMM_OPTIONS_INIT;
       options.emulation = &link;
       return lpt_comm_create_nccl(w.c, &options, &w.out_comm);
     }},
    {"all_reduce: sums of GPUs on the CPU",
     LPT_UNSUPPORTED,
     {"LPT_REDUCE_ALGORITHM_NATIVE", "expected ranks on GPUs, or a custom comm with all_reduce"},
     [](World &w) {
       lpt_reduce_options options = LPT_REDUCE_OPTIONS_INIT;
       options.algorithm = LPT_REDUCE_ALGORITHM_NATIVE;
       return lpt_all_reduce(w.c, w.comm.get(), w.source.get(), &options, w.source.get(), nullptr);
     }},
    {"comm_create_local: unknown flag",
     LPT_UNSUPPORTED,
     {"flags"},
     [](World &w) { return create_comm(w, 0, [](auto &o) { o.flags = UINT64_C(1) << 40; }); }},
    {"comm_create_local: negative time limit",
     LPT_INVALID_ARGUMENT,
     {"timeout_seconds is -1"},
     [](World &w) { return create_comm(w, 0, [](auto &o) { o.timeout_seconds = -1.0; }); }},
    {"comm_create_local: latency that is no number",
     LPT_INVALID_ARGUMENT,
     {"link_latency_seconds is"},
     [](World &w) { return create_linked(w, [](auto &o) { o.link_latency_seconds = NAN; }); }},
    {"comm_create_local: negative bandwidth",
     LPT_INVALID_ARGUMENT,
     {"link_bytes_per_second is -1"},
     [](World &w) { return create_linked(w, [](auto &o) { o.link_bytes_per_second = -1.0; }); }},
    {"comm_create_local: negative message",
     LPT_INVALID_ARGUMENT,
     {"damaged_message is -1"},
     [](World &w) { return create_linked(w, [](auto &o) { o.damaged_message = -1; }); }},
    {"comm_split: color",
     LPT_INVALID_ARGUMENT,
     {"color is -2"},
     [](World &w) { return lpt_comm_split(w.c, w.comm.get(), -2, 0, &w.out_comm); }},
    {"comm_read: no comm",
     LPT_INVALID_ARGUMENT,
     {"comm is NULL"},
     [](World &w) { return lpt_comm_read(w.c, nullptr, nullptr); }},
    {"comm_read: no memory for the result",
     LPT_INVALID_ARGUMENT,
     {"out_info is NULL"},
     [](World &w) { return lpt_comm_read(w.c, w.comm.get(), nullptr); }},
    {"future_wait: no future",
     LPT_INVALID_ARGUMENT,
     {"future is NULL"},
     [](World &w) { return lpt_future_wait(w.c, nullptr); }},
    {"future_is_done: a tensor for the future",
     LPT_INVALID_ARGUMENT,
     {"future is not a live handle"},
     [](World &w) {
       int32_t is_done = 0;
       return lpt_future_is_done(w.c, cast<lpt_future>(w.source.get()), &is_done);
     }},
    {"barrier: no comm", LPT_INVALID_ARGUMENT, {"comm is NULL"}, [](World &w) { return lpt_barrier(w.c, nullptr); }},
    {"all_reduce: another shape",
     LPT_INVALID_ARGUMENT,
     {"output is 4 x 6", "4 x 32", "input"},
     [](World &w) { return all_reduce(w, w.source, w.gemm, kUnchanged); }},
    {"all_reduce: into codes",
     LPT_UNSUPPORTED,
     {"output is e4m3fn"},
     [](World &w) { return all_reduce(w, w.source, w.plain, kUnchanged); }},
    {"all_reduce: codes",
     LPT_UNSUPPORTED,
     {"input is mxfp8_e4m3", "bf16"},
     [](World &w) { return all_reduce(w, w.codes, w.mx, kUnchanged); }},
    {"all_reduce: without data",
     LPT_INVALID_ARGUMENT,
     {"input", "without data"},
     [](World &w) { return all_reduce(w, w.dataless, w.wide, kUnchanged); }},
    {"all_reduce: unknown reduction",
     LPT_INVALID_ARGUMENT,
     {"reduction is 4"},
     [](World &w) { return all_reduce(w, w.source, w.wide, [](auto &o) { o.reduction = 4; }); }},
    {"all_reduce: infinite factor",
     LPT_INVALID_ARGUMENT,
     {"factor is inf"},
     [](World &w) { return all_reduce(w, w.source, w.wide, [](auto &o) { o.factor = INFINITY; }); }},
    {"all_reduce: unknown flag",
     LPT_UNSUPPORTED,
     {"flags"},
     [](World &w) { return all_reduce(w, w.source, w.wide, [](auto &o) { o.flags = 64; }); }},
    {"all_reduce: reserved",
     LPT_UNSUPPORTED,
     {"reserved is 1"},
     [](World &w) { return all_reduce(w, w.source, w.wide, [](auto &o) { o.reserved = 1; }); }},
    {"reduce_scatter: counts beyond the input",
     LPT_INVALID_ARGUMENT,
     {"counts[0] is 5", "0 to 4"},
     [](World &w) {
       const int64_t counts[] = {5};
       return lpt_reduce_scatter(w.c, w.comm.get(), w.source.get(), counts, nullptr, w.wide.get(), &w.out_future);
     }},
    {"reduce_scatter: counts that leave a rest",
     LPT_INVALID_ARGUMENT,
     {"counts add up to 3", "expected 4"},
     [](World &w) {
       const int64_t counts[] = {3};
       return lpt_reduce_scatter(w.c, w.comm.get(), w.source.get(), counts, nullptr, w.wide.get(), &w.out_future);
     }},
    {"reduce_scatter: in place",
     LPT_INVALID_ARGUMENT,
     {"overlaps"},
     [](World &w) {
       return lpt_reduce_scatter(w.c, w.comm.get(), w.wide.get(), nullptr, nullptr, w.wide.get(), &w.out_future);
     }},
    {"all_gather: another format",
     LPT_INVALID_ARGUMENT,
     {"output is mxfp8_e4m3", "f32"},
     [](World &w) {
       return lpt_all_gather(w.c, w.comm.get(), w.source.get(), nullptr, nullptr, w.mx.get(), &w.out_future);
     }},
    {"all_gather: other columns",
     LPT_INVALID_ARGUMENT,
     {"output has 6 columns", "32"},
     [](World &w) {
       return lpt_all_gather(w.c, w.comm.get(), w.source.get(), nullptr, nullptr, w.gemm.get(), &w.out_future);
     }},
    {"all_reduce: a wire that is no format",
     LPT_INVALID_ARGUMENT,
     {"options->wire", "expected a format"},
     [](World &w) { return all_reduce(w, w.source, w.wide, [](auto &o) { o.wire = int64_t{1} << 62; }); }},
    {"all_reduce: a wire of bytes",
     LPT_UNSUPPORTED,
     {"options->wire is uint8"},
     [](World &w) { return all_reduce(w, w.source, w.wide, [](auto &o) { o.wire = LPT_FORMAT_UINT8; }); }},
    {"all_reduce: an algorithm without a wire",
     LPT_INVALID_ARGUMENT,
     {"options->algorithm is 2", "without a wire"},
     [](World &w) { return all_reduce(w, w.source, w.wide, [](auto &o) { o.algorithm = 2; }); }},
    {"all_reduce_signs: an error of another length",
     LPT_INVALID_ARGUMENT,
     {"worker_error has 8 elements", "expected 128"},
     [](World &w) {
       return lpt_all_reduce_signs(w.c, w.comm.get(), w.source.get(), w.line.get(), w.line.get(), w.wide.get(),
                                   &w.out_future);
     }},
    {"all_reduce_signs: an error that is the output",
     LPT_INVALID_ARGUMENT,
     {"worker_error", "output"},
     [](World &w) {
       return lpt_all_reduce_signs(w.c, w.comm.get(), w.source.get(), w.wide.get(), w.wide.get(), w.wide.get(),
                                   &w.out_future);
     }},
    {"all_reduce_signs_share: no memory for the result",
     LPT_INVALID_ARGUMENT,
     {"out_element_count is NULL"},
     [](World &w) { return lpt_all_reduce_signs_share(w.c, w.comm.get(), 5, nullptr); }},
    {"broadcast: no such root",
     LPT_INVALID_ARGUMENT,
     {"root is 1", "0 to 0"},
     [](World &w) { return lpt_broadcast(w.c, w.comm.get(), 1, w.wide.get(), &w.out_future); }},
    {"all_to_all: counts that do not fit",
     LPT_INVALID_ARGUMENT,
     {"send_counts[0] is 7"},
     [](World &w) {
       const int64_t counts[] = {7};
       return lpt_all_to_all(w.c, w.comm.get(), w.source.get(), counts, nullptr, w.wide.get(), &w.out_future);
     }},
    {"send: to itself",
     LPT_INVALID_ARGUMENT,
     {"peer is 0", "another rank"},
     [](World &w) { return lpt_send(w.c, w.comm.get(), w.source.get(), 0, 0, &w.out_future); }},
    {"receive: to itself",
     LPT_INVALID_ARGUMENT,
     {"peer is 0"},
     [](World &w) { return lpt_receive(w.c, w.comm.get(), w.wide.get(), 0, 0, &w.out_future); }},
};

}  // namespace lpt::test
