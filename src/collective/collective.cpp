#include "src/collective/collective.hpp"

#include "src/collective/wire.hpp"
#include "src/ranks/reducing.hpp"
#include "src/ranks/segments.hpp"
#include "src/tensor/checks.hpp"

namespace lpt {
namespace {

// Keeps the operands of a collective alive: a copy of a Tensor shares memory that the library owns.
struct Operands {
  Tensor input, output;
};

// Checks the input and the options of both reductions.
Status prepare(const Comm &comm, const Tensor *input, const lpt_reduce_options &options, Tensor *output,
               ReductionPlan &reducing) {
  LPT_TRY(check_reduce_options(options));
  const bool needs_data = !is_check_only(options.flags);
  reducing.device = device_of(comm);
  reducing.has_native_sum = comm.engine->has_sum();
  LPT_TRY(check_wide_matrix(input, "input", needs_data, reducing.input, reducing.device));
  LPT_TRY(check_wide_matrix(output, "output", needs_data, reducing.output, reducing.device));
  if (reducing.output.format.id != reducing.input.format.id) {
    return invalid("output is %s: expected %s, as input", format_name(reducing.output.format.id).c_str(),
                   format_name(reducing.input.format.id).c_str());
  }
  reducing.reduction = static_cast<Reduction>(options.reduction);
  reducing.factor = options.factor;
  return {};
}

// Barrier of ranks that do not compare calls: each sends one byte to every other rank.
Status barrier_by_bytes(Context &worker, Engine &engine, const Signature &signature) {
  const auto ranks = static_cast<size_t>(engine.ranks());
  std::byte *bytes = nullptr;
  LPT_TRY(take_bytes(worker, engine, 2 * engine.ranks(), &bytes));
  std::vector<Bytes> outgoing, incoming;
  for (size_t q = 0; q < ranks; ++q) {
    outgoing.push_back({bytes + q, 1});
    incoming.push_back({bytes + ranks + q, 1});
  }
  return engine.all_to_all_v(signature, outgoing.data(), incoming.data());
}

}  // namespace

Status barrier(Context &context, Comm &comm) {
  const Signature signature{"barrier", 0, 0, 0, 0};
  const bool is_by_bytes = comm.device_engine != nullptr && !comm.device_engine->compares();
  LPT_TRY(run_collective(
      context, comm,
      [&](Context &worker, Engine &engine) {
        return is_by_bytes ? barrier_by_bytes(worker, engine, signature) : engine.barrier(signature);
      },
      nullptr, DeviceSupport::kDevices));
  return is_by_bytes ? context.queue.synchronize() : Status();
}

Status all_reduce(Context &context, Comm &comm, const Tensor *input, const lpt_reduce_options &options, Tensor *output,
                  Future **out_future) {
  ReductionPlan reducing{};
  reducing.operation = "all_reduce";
  LPT_TRY(prepare(comm, input, options, output, reducing));
  LPT_TRY(check_shape(reducing.output, "output", reducing.input.rows, reducing.input.columns, "input"));
  LPT_TRY(check_in_place(reducing.input, "input", reducing.output, "output"));
  const int32_t ranks = comm.engine->ranks();
  reducing.shares = equal_shares(reducing.input.rows * reducing.input.columns, ranks);
  SelectedReduction chosen{};
  LPT_TRY(select_reduction(context, options, reducing, ranks, true, chosen));
  LPT_TRY(select_outer(context, options, comm, true, chosen));
  if (is_check_only(options.flags)) return {};
  return run_collective(
      context, comm,
      [chosen, operands = Operands{*input, *output}](Context &worker, Engine &engine) {
        return run_to_all(worker, engine, chosen);
      },
      out_future, DeviceSupport::kDevices);
}

Status reduce_scatter(Context &context, Comm &comm, const Tensor *input, const int64_t *counts,
                      const lpt_reduce_options &options, Tensor *output, Future **out_future) {
  ReductionPlan reducing{};
  reducing.operation = "reduce_scatter";
  LPT_TRY(prepare(comm, input, options, output, reducing));
  const FirstAxis axis = first_axis_of(*input);
  std::vector<int64_t> extents;
  LPT_TRY(find_counts("counts", counts, comm.engine->ranks(), axis, reducing.input, "input", extents));
  reducing.shares = element_ranges(axis, reducing.input, extents);
  const MatrixView part = cut_first(axis, reducing.input, 0, extents[static_cast<size_t>(comm.engine->rank())]);
  LPT_TRY(check_shape(reducing.output, "output", part.rows, part.columns, "this rank's part of input"));
  LPT_TRY(check_no_overlap(reducing.input, "input", reducing.output, "output"));
  SelectedReduction chosen{};
  LPT_TRY(select_reduction(context, options, reducing, comm.engine->ranks(), false, chosen));
  LPT_TRY(select_outer(context, options, comm, false, chosen));
  if (is_check_only(options.flags)) return {};
  return run_collective(
      context, comm,
      [chosen, operands = Operands{*input, *output}](Context &worker, Engine &engine) {
        return run_to_parts(worker, engine, chosen);
      },
      out_future, DeviceSupport::kDevices);
}

}  // namespace lpt
