#include "src/api/reduce_options.hpp"
#include "src/optimizer/shards.hpp"

using namespace lpt;

lpt_status lpt_optimizer_add_shards(lpt_context *context, const lpt_comm *comm, lpt_optimizer *optimizer,
                                    const char *const *names, const lpt_optimizer_parameter *const *parameters,
                                    int64_t count, int64_t *out_indices) {
  return guard(context, [&](Context &self) -> Status {
    LPT_TRY(check_handle(comm, HandleKind::kComm, "comm"));
    LPT_TRY(check_handle(optimizer, HandleKind::kOptimizer, "optimizer"));
    if (count < 0) return invalid("count is %lld: expected at least 0", number(count));
    if (count == 0) return {};
    if (parameters == nullptr) return invalid("parameters is NULL: expected %lld descriptions", number(count));
    LPT_TRY(check_out(out_indices, "out_indices"));
    std::vector<lpt_optimizer_parameter> known(static_cast<size_t>(count), LPT_OPTIMIZER_PARAMETER_INIT);
    for (int64_t i = 0; i < count; ++i) {
      const std::string name = item("parameters", i);
      if (parameters[i] == nullptr) return invalid("%s is NULL: expected its description", name.c_str());
      LPT_TRY(read_options(parameters[i], name.c_str(), known[static_cast<size_t>(i)]));
    }
    return add_shards(self, *comm, *optimizer, names, known, out_indices);
  });
}

lpt_status lpt_optimizer_step_shards(lpt_context *context, lpt_comm *comm, lpt_optimizer *optimizer,
                                     const int64_t *indices, int64_t count, const lpt_tensor *const *gradients,
                                     const lpt_optimizer_step_options *options,
                                     const lpt_optimizer_shard_options *shards, lpt_tensor *const *parameters) {
  return guard(context, [&](Context &self) -> Status {
    LPT_TRY(check_writable(parameters, count, "parameters"));
    lpt_optimizer_step_options known = LPT_OPTIMIZER_STEP_OPTIONS_INIT;
    lpt_optimizer_shard_options known_shards = LPT_OPTIMIZER_SHARD_OPTIONS_INIT;
    OwnedReduceOptions reduce;
    LPT_TRY(check_handle(comm, HandleKind::kComm, "comm"));
    LPT_TRY(check_handle(optimizer, HandleKind::kOptimizer, "optimizer"));
    LPT_TRY(read_options(options, "options", known));
    LPT_TRY(read_options(shards, "shards", known_shards));
    if (known_shards.flags != 0) {
      return unsupported("shards->flags is %llu: expected 0", static_cast<unsigned long long>(known_shards.flags));
    }
    LPT_TRY(read_reduce_options(known_shards.reduce, "shards->reduce", reduce));
    return step_shards(self, *comm, *optimizer, indices, count, gradients, known,
                       known_shards.reduce == nullptr ? nullptr : &reduce.values, parameters);
  });
}
