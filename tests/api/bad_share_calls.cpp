// Invalid calls of gradient buckets, of optimizers with shards, and of their saved shards.
#include "tests/api/bad_calls.hpp"

namespace lpt::test {
namespace {

template <typename Change>
lpt_status create_buckets(World &w, const Tensor &first, const Tensor &second, int64_t count, Change change) {
  lpt_gradient_buckets_options options = LPT_GRADIENT_BUCKETS_OPTIONS_INIT;
  change(options);
  lpt_tensor *const gradients[] = {first.get(), second.get()};
  return lpt_gradient_buckets_create(w.c, w.comm.get(), gradients, count, &options, &w.out_buckets);
}

template <typename Change>
lpt_status add_shards(World &w, const lpt_comm *comm, int64_t count, Change change) {
  lpt_optimizer_parameter described = LPT_OPTIMIZER_PARAMETER_INIT;
  described.elements = 32;
  change(described);
  const lpt_optimizer_parameter *const one[] = {&described};
  return lpt_optimizer_add_shards(w.c, comm, w.optimizer.get(), nullptr, one, count, &w.out_number);
}

template <typename Change>
lpt_status step_shards(World &w, const Optimizer &optimizer, int64_t index, const Tensor &gradient,
                       const Tensor &parameter, Change change) {
  lpt_optimizer_shard_options shards = LPT_OPTIMIZER_SHARD_OPTIONS_INIT;
  change(shards);
  const lpt_tensor *const gradients[] = {gradient.get()};
  lpt_tensor *const parameters[] = {parameter.get()};
  return lpt_optimizer_step_shards(w.c, w.comm.get(), optimizer.get(), &index, 1, gradients, nullptr, &shards,
                                   parameters);
}

lpt_status load_many(World &w, int64_t index, const std::vector<std::vector<uint8_t>> &states) {
  std::vector<const void *> buffers;
  std::vector<size_t> lengths;
  for (const std::vector<uint8_t> &state : states) {
    buffers.push_back(state.data());
    lengths.push_back(state.size());
  }
  return lpt_optimizer_state_load_many(w.c, w.optimizer.get(), index, buffers.data(), lengths.data(),
                                       static_cast<int64_t>(states.size()));
}

}  // namespace

const std::vector<BadCall> kShareCalls = {
    {"gradient_buckets_create: no comm",
     LPT_INVALID_ARGUMENT,
     {"comm is NULL"},
     [](World &w) {
       lpt_tensor *const given[] = {w.bucket_gradient.get()};
       return lpt_gradient_buckets_create(w.c, nullptr, given, 1, nullptr, &w.out_buckets);
     }},
    {"gradient_buckets_create: an optimizer for the comm",
     LPT_INVALID_ARGUMENT,
     {"comm is not a live handle"},
     [](World &w) {
       lpt_tensor *const given[] = {w.bucket_gradient.get()};
       return lpt_gradient_buckets_create(w.c, cast<lpt_comm>(w.optimizer.get()), given, 1, nullptr, &w.out_buckets);
     }},
    {"gradient_buckets_create: negative count",
     LPT_INVALID_ARGUMENT,
     {"count is -1", "at least 0"},
     [](World &w) { return create_buckets(w, w.bucket_gradient, w.late_gradient, -1, kUnchanged); }},
    {"gradient_buckets_create: no gradients",
     LPT_INVALID_ARGUMENT,
     {"gradients is NULL"},
     [](World &w) { return lpt_gradient_buckets_create(w.c, w.comm.get(), nullptr, 1, nullptr, &w.out_buckets); }},
    {"gradient_buckets_create: a gradient missing",
     LPT_INVALID_ARGUMENT,
     {"gradients[1] is NULL"},
     [](World &w) { return create_buckets(w, w.bucket_gradient, Tensor(), 2, kUnchanged); }},
    {"gradient_buckets_create: a gradient of codes",
     LPT_UNSUPPORTED,
     {"gradients[1] is mxfp8_e4m3"},
     [](World &w) { return create_buckets(w, w.bucket_gradient, w.codes, 2, kUnchanged); }},
    {"gradient_buckets_create: the same twice",
     LPT_INVALID_ARGUMENT,
     {"gradients[0]", "gradients[1]", "expected each once"},
     [](World &w) { return create_buckets(w, w.bucket_gradient, w.bucket_gradient, 2, kUnchanged); }},
    {"gradient_buckets_create: unknown flag",
     LPT_UNSUPPORTED,
     {"flags is 0x4"},
     [](World &w) { return create_buckets(w, w.bucket_gradient, w.late_gradient, 2, [](auto &o) { o.flags = 4; }); }},
    {"gradient_buckets_create: unknown order",
     LPT_INVALID_ARGUMENT,
     {"order is 2", "0 to 1"},
     [](World &w) { return create_buckets(w, w.bucket_gradient, w.late_gradient, 2, [](auto &o) { o.order = 2; }); }},
    {"gradient_buckets_create: reserved",
     LPT_UNSUPPORTED,
     {"reserved is 1"},
     [](World &w) {
       return create_buckets(w, w.bucket_gradient, w.late_gradient, 2, [](auto &o) { o.reserved = 1; });
     }},
    {"gradient_buckets_create: a name missing",
     LPT_INVALID_ARGUMENT,
     {"names[1] is NULL"},
     [](World &w) {
       return create_buckets(w, w.bucket_gradient, w.late_gradient, 2, [](auto &o) {
         static const char *const kNames[] = {"head", nullptr};
         o.names = kNames;
       });
     }},
    {"gradient_buckets_create: no memory for the result",
     LPT_INVALID_ARGUMENT,
     {"out_buckets is NULL"},
     [](World &w) {
       lpt_tensor *const given[] = {w.bucket_gradient.get()};
       return lpt_gradient_buckets_create(w.c, w.comm.get(), given, 1, nullptr, nullptr);
     }},
    {"gradient_buckets_begin: no buckets",
     LPT_INVALID_ARGUMENT,
     {"buckets is NULL"},
     [](World &w) { return lpt_gradient_buckets_begin(w.c, nullptr, 1, nullptr); }},
    {"gradient_buckets_begin: a pass is under way",
     LPT_INVALID_ARGUMENT,
     {"under way", "lpt_gradient_buckets_wait"},
     [](World &w) { return lpt_gradient_buckets_begin(w.c, w.buckets.get(), 1, nullptr); }},
    {"gradient_buckets_begin: unknown flag",
     LPT_UNSUPPORTED,
     {"flags"},
     [](World &w) {
       lpt_reduce_options options = LPT_REDUCE_OPTIONS_INIT;
       options.flags = 2;
       return lpt_gradient_buckets_begin(w.c, w.idle_buckets.get(), 1, &options);
     }},
    {"gradient_buckets_begin: neither last nor not",
     LPT_INVALID_ARGUMENT,
     {"is_last is 2", "0 to 1"},
     [](World &w) { return lpt_gradient_buckets_begin(w.c, w.idle_buckets.get(), 2, nullptr); }},
    {"gradient_buckets_ready: no pass",
     LPT_INVALID_ARGUMENT,
     {"no pass under way", "lpt_gradient_buckets_begin"},
     [](World &w) { return lpt_gradient_buckets_ready(w.c, w.idle_buckets.get(), 0); }},
    {"gradient_buckets_ready: no such gradient",
     LPT_INVALID_ARGUMENT,
     {"index is 2", "0 to 1"},
     [](World &w) { return lpt_gradient_buckets_ready(w.c, w.buckets.get(), 2); }},
    {"gradient_buckets_ready: negative",
     LPT_INVALID_ARGUMENT,
     {"index is -1", "0 to 1"},
     [](World &w) { return lpt_gradient_buckets_ready(w.c, w.buckets.get(), -1); }},
    {"gradient_buckets_ready: twice",
     LPT_INVALID_ARGUMENT,
     {"index is 0", "ready already"},
     [](World &w) { return lpt_gradient_buckets_ready(w.c, w.buckets.get(), 0); }},
    {"gradient_buckets_wait: no pass",
     LPT_INVALID_ARGUMENT,
     {"no pass under way"},
     [](World &w) { return lpt_gradient_buckets_wait(w.c, w.idle_buckets.get()); }},
    {"gradient_buckets_wait: one is not ready",
     LPT_INVALID_ARGUMENT,
     {"gradients[1]", "never made ready"},
     [](World &w) { return lpt_gradient_buckets_wait(w.c, w.buckets.get()); }},
    {"gradient_buckets_read: no memory for the result",
     LPT_INVALID_ARGUMENT,
     {"out_info is NULL"},
     [](World &w) { return lpt_gradient_buckets_read(w.c, w.buckets.get(), nullptr); }},
    {"optimizer_add_shards: no comm",
     LPT_INVALID_ARGUMENT,
     {"comm is NULL"},
     [](World &w) { return add_shards(w, nullptr, 1, kUnchanged); }},
    {"optimizer_add_shards: negative count",
     LPT_INVALID_ARGUMENT,
     {"count is -1"},
     [](World &w) { return add_shards(w, w.comm.get(), -1, kUnchanged); }},
    {"optimizer_add_shards: no parameters",
     LPT_INVALID_ARGUMENT,
     {"parameters is NULL"},
     [](World &w) {
       return lpt_optimizer_add_shards(w.c, w.comm.get(), w.optimizer.get(), nullptr, nullptr, 1, &w.out_number);
     }},
    {"optimizer_add_shards: a parameter missing",
     LPT_INVALID_ARGUMENT,
     {"parameters[0] is NULL"},
     [](World &w) {
       const lpt_optimizer_parameter *const none[] = {nullptr};
       return lpt_optimizer_add_shards(w.c, w.comm.get(), w.optimizer.get(), nullptr, none, 1, &w.out_number);
     }},
    {"optimizer_add_shards: one that is cut already",
     LPT_INVALID_ARGUMENT,
     {"parameters[0] has whole_elements 64", "cut here"},
     [](World &w) { return add_shards(w, w.comm.get(), 1, [](auto &p) { p.whole_elements = 64; }); }},
    {"optimizer_add_shards: no elements",
     LPT_INVALID_ARGUMENT,
     {"parameters[0] has 0 elements: expected 1 to 2^38"},
     [](World &w) { return add_shards(w, w.comm.get(), 1, [](auto &p) { p.elements = 0; }); }},
    {"optimizer_add_shards: too many elements",
     LPT_INVALID_ARGUMENT,
     {"elements", "2^38"},
     [](World &w) { return add_shards(w, w.comm.get(), 1, [](auto &p) { p.elements = INT64_C(1) << 40; }); }},
    {"optimizer_add_shards: no memory for the result",
     LPT_INVALID_ARGUMENT,
     {"out_indices is NULL"},
     [](World &w) {
       const lpt_optimizer_parameter described = LPT_OPTIMIZER_PARAMETER_INIT;
       const lpt_optimizer_parameter *const one[] = {&described};
       return lpt_optimizer_add_shards(w.c, w.comm.get(), w.optimizer.get(), nullptr, one, 1, nullptr);
     }},
    {"optimizer_step_shards: parameters that are whole",
     LPT_INVALID_ARGUMENT,
     {"indices[0] is 0", "lpt_optimizer_add_shards"},
     [](World &w) { return step_shards(w, w.optimizer, 0, w.gradient, w.parameter, kUnchanged); }},
    {"optimizer_step_shards: no such parameter",
     LPT_INVALID_ARGUMENT,
     {"indices[0] is 5"},
     [](World &w) { return step_shards(w, w.shared_optimizer, 5, w.gradient, w.parameter, kUnchanged); }},
    {"optimizer_step_shards: no gradients",
     LPT_INVALID_ARGUMENT,
     {"gradients is NULL"},
     [](World &w) {
       const int64_t index = 0;
       lpt_tensor *const to[] = {w.parameter.get()};
       return lpt_optimizer_step_shards(w.c, w.comm.get(), w.shared_optimizer.get(), &index, 1, nullptr, nullptr,
                                        nullptr, to);
     }},
    {"optimizer_step_shards: a gradient of another size",
     LPT_INVALID_ARGUMENT,
     {"gradients[0] is 4 x 6", "32"},
     [](World &w) { return step_shards(w, w.shared_optimizer, 0, w.output_gradient, w.parameter, kUnchanged); }},
    {"optimizer_step_shards: gradient in f64",
     LPT_UNSUPPORTED,
     {"gradients[0] is f64"},
     [](World &w) { return step_shards(w, w.shared_optimizer, 0, w.f64_tensor, w.parameter, kUnchanged); }},
    {"optimizer_step_shards: parameter over its gradient",
     LPT_INVALID_ARGUMENT,
     {"overlaps"},
     [](World &w) { return step_shards(w, w.shared_optimizer, 0, w.parameter, w.parameter, kUnchanged); }},
    {"optimizer_step_shards: unknown flag",
     LPT_UNSUPPORTED,
     {"shards->flags is 2"},
     [](World &w) {
       return step_shards(w, w.shared_optimizer, 0, w.gradient, w.parameter, [](auto &o) { o.flags = 2; });
     }},
    {"optimizer_step_shards: unknown flag of the reduction",
     LPT_UNSUPPORTED,
     {"shards->reduce->flags is 4"},
     [](World &w) {
       static lpt_reduce_options reduce = LPT_REDUCE_OPTIONS_INIT;
       reduce.flags = 4;
       return step_shards(w, w.shared_optimizer, 0, w.gradient, w.parameter, [](auto &o) { o.reduce = &reduce; });
     }},
    {"optimizer_state_load_many: none",
     LPT_INVALID_ARGUMENT,
     {"count is 0", "at least 1"},
     [](World &w) { return load_many(w, 0, {}); }},
    {"optimizer_state_load_many: no such parameter",
     LPT_INVALID_ARGUMENT,
     {"index is 2", "0 to 1"},
     [](World &w) { return load_many(w, 2, {w.optimizer_state}); }},
    {"optimizer_state_load_many: no buffers",
     LPT_INVALID_ARGUMENT,
     {"buffers is NULL"},
     [](World &w) {
       const size_t length = 1;
       return lpt_optimizer_state_load_many(w.c, w.optimizer.get(), 0, nullptr, &length, 1);
     }},
    {"optimizer_state_load_many: truncated",
     LPT_INVALID_STATE,
     {"buffers[0]", "truncated"},
     [](World &w) { return load_many(w, 0, {cut(w.optimizer_state, 9)}); }},
    {"optimizer_state_load_many: the second damaged",
     LPT_INVALID_STATE,
     {"buffers[1]", "checksum"},
     [](World &w) {
       return load_many(w, 0, {w.optimizer_state, flipped(w.optimizer_state, 100)});
     }},
    {"optimizer_state_load_many: elements twice",
     LPT_INVALID_STATE,
     {"elements 0 to 32 are there twice"},
     [](World &w) {
       return load_many(w, 0, {w.optimizer_state, w.optimizer_state});
     }},
    {"optimizer_state_load_many: of another kind",
     LPT_INVALID_STATE,
     {"kind 1", "expected 3"},
     [](World &w) { return load_many(w, 0, {w.scaler_state}); }},
    {"optimizer_state_load_many: other formats",
     LPT_INVALID_STATE,
     {"format"},
     [](World &w) { return load_many(w, 1, {w.optimizer_state}); }},
};

}  // namespace lpt::test
