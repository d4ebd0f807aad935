#include <cmath>

#include "tests/api/bad_calls.hpp"

namespace lpt::test {
namespace {

template <typename Change>
lpt_status create(World &w, Change change) {
  lpt_lossy_link_options options = LPT_LOSSY_LINK_OPTIONS_INIT;
  change(options);
  return lpt_lossy_link_create(w.c, w.comm.get(), &options, &w.out_link);
}

lpt_status create_at(World &w, const char *address) {
  return create(w, [&](lpt_lossy_link_options &options) {
    std::memset(options.address, 0, sizeof options.address);
    std::memcpy(options.address, address, std::strlen(address));
  });
}

// A link of the only rank of w.comm, with packets of eight bytes.
LossyLink link_of(World &w) {
  lpt_lossy_link_options options = LPT_LOSSY_LINK_OPTIONS_INIT;
  options.payload_bytes = 8;
  LossyLink link;
  EXPECT_TRUE(ok(w.owner.get(), lpt_lossy_link_create(w.owner.get(), w.comm.get(), &options, out(link))));
  return link;
}

struct Reduction {
  const lpt_tensor *input, *output;
  lpt_lossy_mode mode = LPT_LOSSY_MODE_COUNT;
  const double *loss = nullptr;
  int64_t arrival_count = 0;
  uint8_t *arrivals = nullptr;
  const int64_t *counts = nullptr;
};

lpt_status reduce(World &w, const Reduction &with) {
  return lpt_lossy_reduce_scatter(w.c, link_of(w).get(), with.input, with.counts, with.mode, with.loss,
                                  with.arrival_count, const_cast<lpt_tensor *>(with.output), with.arrivals);
}

lpt_status gather(World &w, const Tensor &input, const Tensor &output, int64_t age_count, int32_t *ages,
                  const int64_t *counts = nullptr) {
  return lpt_lossy_all_gather(w.c, link_of(w).get(), input.get(), counts, age_count, output.get(), ages);
}

lpt_status estimate(World &w, double loss, int32_t ranks) {
  lpt_lossy_info info = LPT_LOSSY_INFO_INIT;
  const lpt_status status = lpt_lossy_estimate(w.c, loss, ranks, &info);
  EXPECT_EQ(0.0, info.owner_weight) << "written by a call that was rejected";
  return status;
}

lpt_status read(World &w, int32_t peer) {
  lpt_lossy_link_info info = LPT_LOSSY_LINK_INFO_INIT;
  const lpt_status status = lpt_lossy_link_read(w.c, link_of(w).get(), peer, &info);
  EXPECT_EQ(0, info.port) << "written by a call that was rejected";
  return status;
}

constexpr double kHalf = 0.5, kTooMuch = 1.0;

}  // namespace

const std::vector<BadCall> kLossyCalls = {
    {"lossy_link_create: no comm",
     LPT_INVALID_ARGUMENT,
     {"comm is NULL"},
     [](World &w) { return lpt_lossy_link_create(w.c, nullptr, nullptr, &w.out_link); }},
    {"lossy_link_create: no memory for the result",
     LPT_INVALID_ARGUMENT,
     {"out_link is NULL"},
     [](World &w) { return lpt_lossy_link_create(w.c, w.comm.get(), nullptr, nullptr); }},
    {"lossy_link_create: a name",
     LPT_INVALID_ARGUMENT,
     {"options->address is \"localhost\"", "numeric"},
     [](World &w) { return create_at(w, "localhost"); }},
    {"lossy_link_create: no address",
     LPT_INVALID_ARGUMENT,
     {"options->address is \"\"", "numeric"},
     [](World &w) { return create_at(w, ""); }},
    {"lossy_link_create: any address",
     LPT_INVALID_ARGUMENT,
     {"options->address is \"0.0.0.0\"", "can send"},
     [](World &w) { return create_at(w, "0.0.0.0"); }},
    {"lossy_link_create: any IPv6 address",
     LPT_INVALID_ARGUMENT,
     {"options->address is \"::\"", "can send"},
     [](World &w) { return create_at(w, "::"); }},
    {"lossy_link_create: an address of another machine",
     LPT_INVALID_ARGUMENT,
     {"options->address is \"192.0.2.1\"", "of this machine"},
     [](World &w) { return create_at(w, "192.0.2.1"); }},
    {"lossy_link_create: an address without an end",
     LPT_INVALID_ARGUMENT,
     {"options->address has no end", "63"},
     [](World &w) {
       return create(
           w, [](lpt_lossy_link_options &options) { std::memset(options.address, '1', sizeof options.address); });
     }},
    {"lossy_link_create: a port out of range",
     LPT_INVALID_ARGUMENT,
     {"options->port is 65536", "0 to 65535"},
     [](World &w) { return create(w, [](lpt_lossy_link_options &options) { options.port = 65536; }); }},
    {"lossy_link_create: a port in use",
     LPT_INVALID_ARGUMENT,
     {"options->port is", "a free port"},
     [](World &w) {
       const LossyLink other = link_of(w);
       lpt_lossy_link_info info = LPT_LOSSY_LINK_INFO_INIT;
       EXPECT_TRUE(ok(w.owner.get(), lpt_lossy_link_read(w.owner.get(), other.get(), -1, &info)));
       return create(w, [&](lpt_lossy_link_options &options) { options.port = info.port; });
     }},
    {"lossy_link_create: packets that cut an element",
     LPT_INVALID_ARGUMENT,
     {"options->payload_bytes is 12", "multiple of 8"},
     [](World &w) { return create(w, [](lpt_lossy_link_options &options) { options.payload_bytes = 12; }); }},
    {"lossy_link_create: packets that are too long",
     LPT_INVALID_ARGUMENT,
     {"options->payload_bytes is 65408", "65400"},
     [](World &w) { return create(w, [](lpt_lossy_link_options &options) { options.payload_bytes = 65408; }); }},
    {"lossy_link_create: no time",
     LPT_INVALID_ARGUMENT,
     {"options->timeout_seconds is 0"},
     [](World &w) { return create(w, [](lpt_lossy_link_options &options) { options.timeout_seconds = 0.0; }); }},
    {"lossy_link_create: a quiet time that is no number",
     LPT_INVALID_ARGUMENT,
     {"options->quiet_seconds is"},
     [](World &w) { return create(w, [](lpt_lossy_link_options &options) { options.quiet_seconds = NAN; }); }},
    {"lossy_link_create: more than all packets",
     LPT_INVALID_ARGUMENT,
     {"options->injected_loss is 1.5"},
     [](World &w) { return create(w, [](lpt_lossy_link_options &options) { options.injected_loss = 1.5; }); }},
    {"lossy_link_create: a negative probability of duplicates",
     LPT_INVALID_ARGUMENT,
     {"options->injected_duplication is -1"},
     [](World &w) { return create(w, [](lpt_lossy_link_options &options) { options.injected_duplication = -1.0; }); }},
    {"lossy_link_create: a probability of reordering that is no number",
     LPT_INVALID_ARGUMENT,
     {"options->injected_reordering is"},
     [](World &w) { return create(w, [](lpt_lossy_link_options &options) { options.injected_reordering = NAN; }); }},
    {"lossy_link_create: an infinite probability of corruption",
     LPT_INVALID_ARGUMENT,
     {"options->injected_corruption is inf"},
     [](World &w) {
       return create(w, [](lpt_lossy_link_options &options) { options.injected_corruption = INFINITY; });
     }},
    {"lossy_link_read: no link",
     LPT_INVALID_ARGUMENT,
     {"link is NULL"},
     [](World &w) { return lpt_lossy_link_read(w.c, nullptr, -1, nullptr); }},
    {"lossy_link_read: no memory for the result",
     LPT_INVALID_ARGUMENT,
     {"out_info is NULL"},
     [](World &w) { return lpt_lossy_link_read(w.c, link_of(w).get(), -1, nullptr); }},
    {"lossy_link_read: this rank", LPT_INVALID_ARGUMENT, {"peer is 0", "or -1"}, [](World &w) { return read(w, 0); }},
    {"lossy_link_read: no such rank", LPT_INVALID_ARGUMENT, {"peer is 1"}, [](World &w) { return read(w, 1); }},
    {"lossy_link_read: a negative rank", LPT_INVALID_ARGUMENT, {"peer is -2"}, [](World &w) { return read(w, -2); }},
    {"lossy_reduce_scatter: a link of another kind",
     LPT_INVALID_ARGUMENT,
     {"link is not a live handle"},
     [](World &w) {
       return lpt_lossy_reduce_scatter(w.c, cast<lpt_lossy_link>(w.optimizer.get()), w.source.get(), nullptr, 0,
                                       nullptr, 0, w.wide.get(), nullptr);
     }},
    {"lossy_reduce_scatter: no input",
     LPT_INVALID_ARGUMENT,
     {"input is NULL"},
     [](World &w) {
       return reduce(w, {nullptr, w.wide.get()});
     }},
    {"lossy_reduce_scatter: no output",
     LPT_INVALID_ARGUMENT,
     {"output is NULL"},
     [](World &w) {
       return reduce(w, {w.source.get(), nullptr});
     }},
    {"lossy_reduce_scatter: codes",
     LPT_UNSUPPORTED,
     {"input is mxfp8_e4m3"},
     [](World &w) {
       return reduce(w, {w.codes.get(), w.wide.get()});
     }},
    {"lossy_reduce_scatter: another format",
     LPT_INVALID_ARGUMENT,
     {"output is f32", "f64", "as input"},
     [](World &w) {
       return reduce(w, {w.f64_tensor.get(), w.wide.get()});
     }},
    {"lossy_reduce_scatter: another shape",
     LPT_INVALID_ARGUMENT,
     {"output is 4 x 32", "4 x 33"},
     [](World &w) {
       return reduce(w, {w.other_source.get(), w.wide.get()});
     }},
    {"lossy_reduce_scatter: in place",
     LPT_INVALID_ARGUMENT,
     {"overlap"},
     [](World &w) {
       return reduce(w, {w.wide.get(), w.wide.get()});
     }},
    {"lossy_reduce_scatter: counts of other rows",
     LPT_INVALID_ARGUMENT,
     {"counts", "3", "4"},
     [](World &w) {
       const int64_t counts[] = {3};
       return reduce(w, {w.source.get(), w.wide.get(), 0, nullptr, 0, nullptr, counts});
     }},
    {"lossy_reduce_scatter: no such mode",
     LPT_INVALID_ARGUMENT,
     {"mode is 2", "0 to 1"},
     [](World &w) {
       return reduce(w, {w.source.get(), w.wide.get(), 2});
     }},
    {"lossy_reduce_scatter: a loss for counts",
     LPT_INVALID_ARGUMENT,
     {"loss is set", "NULL"},
     [](World &w) {
       return reduce(w, {w.source.get(), w.wide.get(), LPT_LOSSY_MODE_COUNT, &kHalf});
     }},
    {"lossy_reduce_scatter: too few arrivals",
     LPT_INVALID_ARGUMENT,
     {"arrival_count is 63", "expected 64"},
     [](World &w) {
       return reduce(w, {w.source.get(), w.wide.get(), LPT_LOSSY_MODE_COUNT, nullptr, 63, w.buffer.data()});
     }},
    {"lossy_reduce_scatter: arrivals without memory",
     LPT_INVALID_ARGUMENT,
     {"arrival_count is 64", "expected 0", "out_arrivals is NULL"},
     [](World &w) {
       return reduce(w, {w.source.get(), w.wide.get(), LPT_LOSSY_MODE_COUNT, nullptr, 64});
     }},
    {"lossy_reduce_scatter: too many packets",
     LPT_INVALID_ARGUMENT,
     {"a part has 4294967296 packets", "2147483647"},
     [](World &w) {
       const int64_t many = int64_t{1} << 32;
       const Tensor input = wrap(w.owner.get(), LPT_FORMAT_F64, reinterpret_cast<void *>(uintptr_t{1} << 20), 1, many);
       const Tensor output = wrap(w.owner.get(), LPT_FORMAT_F64, reinterpret_cast<void *>(uintptr_t{1} << 40), 1, many);
       return reduce(w, {input.get(), output.get()});
     }},
    {"lossy_all_gather: no link",
     LPT_INVALID_ARGUMENT,
     {"link is NULL"},
     [](World &w) { return lpt_lossy_all_gather(w.c, nullptr, w.source.get(), nullptr, 0, w.wide.get(), nullptr); }},
    {"lossy_all_gather: codes",
     LPT_UNSUPPORTED,
     {"input is mxfp8_e4m3"},
     [](World &w) { return gather(w, w.codes, w.mx, 0, nullptr); }},
    {"lossy_all_gather: another format",
     LPT_INVALID_ARGUMENT,
     {"output is mxfp8_e4m3", "as input"},
     [](World &w) { return gather(w, w.source, w.mx, 0, nullptr); }},
    {"lossy_all_gather: other rows",
     LPT_INVALID_ARGUMENT,
     {"input has extent 6", "expected 4"},
     [](World &w) { return gather(w, w.other_rows, w.wide, 0, nullptr); }},
    {"lossy_all_gather: too few ages",
     LPT_INVALID_ARGUMENT,
     {"age_count is 2", "expected 64"},
     [](World &w) { return gather(w, w.source, w.wide, 2, reinterpret_cast<int32_t *>(w.buffer.data())); }},
    {"lossy_all_gather: ages without memory",
     LPT_INVALID_ARGUMENT,
     {"age_count is 64", "ages is NULL"},
     [](World &w) { return gather(w, w.source, w.wide, 64, nullptr); }},
    {"lossy_all_gather: a negative age",
     LPT_INVALID_ARGUMENT,
     {"ages[3] is -1", "at least 0"},
     [](World &w) {
       std::vector<int32_t> ages(64, 0);
       ages[3] = -1;
       return gather(w, w.source, w.wide, 64, ages.data());
     }},
    {"lossy_estimate: all packets",
     LPT_INVALID_ARGUMENT,
     {"loss is 1", "less than 1"},
     [](World &w) { return estimate(w, kTooMuch, 4); }},
    {"lossy_estimate: a negative loss",
     LPT_INVALID_ARGUMENT,
     {"loss is -0.5"},
     [](World &w) { return estimate(w, -0.5, 4); }},
    {"lossy_estimate: a loss that is no number",
     LPT_INVALID_ARGUMENT,
     {"loss is"},
     [](World &w) { return estimate(w, NAN, 4); }},
    {"lossy_estimate: no ranks",
     LPT_INVALID_ARGUMENT,
     {"rank_count is 0"},
     [](World &w) { return estimate(w, kHalf, 0); }},
    {"lossy_estimate: too many ranks",
     LPT_INVALID_ARGUMENT,
     {"rank_count is 1048577", "1048576"},
     [](World &w) { return estimate(w, kHalf, 1048577); }},
    {"lossy_estimate: no memory for the result",
     LPT_INVALID_ARGUMENT,
     {"out_info is NULL"},
     [](World &w) { return lpt_lossy_estimate(w.c, kHalf, 4, nullptr); }},
};

}  // namespace lpt::test
