#include "src/optimizer/shards.hpp"

#include <algorithm>
#include <new>

#include "src/optimizer/loss_scaler.hpp"
#include "src/optimizer/step.hpp"

namespace lpt {
namespace {

constexpr int64_t kCut = kNormBlock;  // elements: a multiple of a block of every format, and of a block of the norm

int64_t units_of(int64_t elements) { return (elements + kCut - 1) / kCut; }

Status check_whole(const lpt_optimizer_parameter &parameter, int64_t position) {
  if (parameter.whole_elements == 0 && parameter.begin == 0) return {};
  return invalid("parameters[%lld] has whole_elements %lld and begin %lld: expected 0 and 0, it is cut here",
                 number(position), number(parameter.whole_elements), number(parameter.begin));
}

// The limit prevents overflow of sums of elements.
Status check_elements_of(const lpt_optimizer_parameter &parameter, int64_t position) {
  constexpr int64_t most = int64_t{1} << 38;
  if (parameter.elements >= 1 && parameter.elements <= most) return {};
  return invalid("parameters[%lld] has %lld elements: expected 1 to 2^38", number(position),
                 number(parameter.elements));
}

// Returns the edges of the shards of all ranks in a parameter that begins at unit `first` of `all` units.
std::vector<int64_t> edges_of(int64_t elements, int64_t first, int64_t all, int32_t ranks) {
  std::vector<int64_t> edges;
  for (int64_t q = 0; q <= ranks; ++q) {
    const int64_t cut = std::clamp<int64_t>(q * all / ranks - first, 0, units_of(elements));
    edges.push_back(std::min(elements, cut * kCut));
  }
  return edges;
}

// Returns the shard of a rank. Empty shards begin at 0, because other edges may not be multiples of a block.
lpt_optimizer_parameter shard_of(const lpt_optimizer_parameter &whole, const std::vector<int64_t> &edges, size_t rank) {
  lpt_optimizer_parameter shard = whole;
  shard.whole_elements = whole.elements;
  shard.elements = edges[rank + 1] - edges[rank];
  shard.begin = shard.elements == 0 ? 0 : edges[rank];
  return shard;
}

// Steps.

// The full tensors of a step, each as one row, and the shards of this rank.
struct FullTensors {
  std::vector<MatrixView> gradients, values;
  std::vector<Tensor> gradient_shards, value_shards;
  std::vector<const OptimizerParameter *> parameters;
};

std::byte *at_element(const MatrixView &view, int64_t element) {
  return static_cast<std::byte *>(view.data) + row_bytes(view.format.element, element);
}

Tensor cut_tensor(const Tensor &tensor, const MatrixView &view, const OptimizerParameter &parameter) {
  Tensor shard = tensor;
  shard.rank = 1;
  shard.extents[0] = parameter.elements;
  shard.strides[0] = 1;
  shard.data = view.data == nullptr ? nullptr : at_element(view, parameter.begin);
  return shard;
}

// Rejects an optimizer on another device than that of the comm: shards are sent from the memory of the tensors.
Status check_state_place(const Comm &comm, const Optimizer &optimizer) {
  if (optimizer.device == device_of(comm)) return {};
  return invalid("optimizer keeps its state on %s: expected %s, where the comm works",
                 device_text(optimizer.device).c_str(), device_text(device_of(comm)).c_str());
}

Status check_parameter(const Comm &comm, const Optimizer &optimizer, int64_t index, int64_t position,
                       const OptimizerParameter **out_parameter) {
  LPT_TRY(check_index(optimizer, item("indices", position).c_str(), index));
  *out_parameter = &optimizer.parameters[static_cast<size_t>(index)];
  const auto found = static_cast<int32_t>((*out_parameter)->edges.size()) - 1;
  if (found == comm.engine->ranks()) return {};
  if (found < 0) {
    return invalid("indices[%lld] is %lld, which was not added by lpt_optimizer_add_shards()", number(position),
                   number(index));
  }
  return invalid("indices[%lld] is %lld, cut for %d ranks: expected %d, as comm has", number(position), number(index),
                 found, comm.engine->ranks());
}

Status read_wholes(const Comm &comm, const Optimizer &optimizer, const StepCall &call, FullTensors &wholes) {
  const bool needs_data = !is_check_only(call.options->flags);
  for (int64_t i = 0; i < call.count; ++i) {
    const OptimizerParameter *parameter = nullptr;
    LPT_TRY(check_parameter(comm, optimizer, call.indices[i], i, &parameter));
    MatrixView gradient, value;
    const std::string gradient_name = item("gradients", i), value_name = item("parameters", i);
    LPT_TRY(check_gradient(call.gradients[i], gradient_name, needs_data, gradient, optimizer.device));
    LPT_TRY(check_elements(call.gradients[i], gradient_name, gradient.columns, parameter->whole_elements));
    LPT_TRY(check_dense(call.parameters[i], value_name, needs_data, value, optimizer.device));
    LPT_TRY(check_elements(call.parameters[i], value_name, value.columns, parameter->whole_elements));
    wholes.gradients.push_back(gradient);
    wholes.values.push_back(value);
    wholes.parameters.push_back(parameter);
    wholes.gradient_shards.push_back(cut_tensor(*call.gradients[i], gradient, *parameter));
    wholes.value_shards.push_back(cut_tensor(*call.parameters[i], value, *parameter));
  }
  return check_memory_apart(wholes.gradients, wholes.values);
}

Status check_lists(const StepCall &call) {
  if (call.count < 0) return invalid("count is %lld: expected at least 0", number(call.count));
  if (call.count == 0) return {};
  if (call.indices == nullptr) return invalid("indices is NULL: expected %lld numbers", number(call.count));
  if (call.gradients == nullptr) return invalid("gradients is NULL: expected %lld tensors", number(call.count));
  if (call.parameters == nullptr) return invalid("parameters is NULL: expected %lld tensors", number(call.count));
  return {};
}

// Returns the runs of the shards of all ranks in full tensors.
std::vector<Runs> runs_of(const std::vector<MatrixView> &views, const FullTensors &wholes, int32_t ranks) {
  std::vector<Runs> runs(static_cast<size_t>(ranks));
  for (size_t i = 0; i < views.size(); ++i) {
    const std::vector<int64_t> &edges = wholes.parameters[i]->edges;
    for (size_t q = 0; q < runs.size(); ++q) {
      const int64_t count = edges[q + 1] - edges[q];
      if (count > 0) runs[q].push_back({at_element(views[i], edges[q]), row_bytes(views[i].format.element, count)});
    }
  }
  return runs;
}

Status check_one_format(const FullTensors &wholes) {
  for (size_t i = 1; i < wholes.gradients.size(); ++i) {
    const lpt_format first = wholes.gradients[0].format.id, other = wholes.gradients[i].format.id;
    if (other == first) continue;
    return unsupported("gradients[%zu] is %s: expected %s, as gradients[0], where they are reduced here", i,
                       format_name(other).c_str(), format_name(first).c_str());
  }
  return {};
}

// Reduces the gradients of the shards of this rank over all ranks to scratch.
Status reduce_gradients(Context &context, Comm &comm, const lpt_reduce_options &options, FullTensors &wholes) {
  if (wholes.gradients.empty()) return {};
  int64_t bytes = 0;
  const lpt_format format = wholes.gradients[0].format.element;
  for (const OptimizerParameter *parameter : wholes.parameters) bytes += row_bytes(format, parameter->elements);
  std::byte *place = nullptr;
  LPT_TRY(take_bytes(context, *comm.engine, std::max<int64_t>(bytes, 1), &place));
  LPT_TRY(reduce_shards(context, comm, wholes.gradients[0].format.id,
                        runs_of(wholes.gradients, wholes, comm.engine->ranks()), options, place));
  for (size_t i = 0; i < wholes.gradient_shards.size(); ++i) {
    wholes.gradient_shards[i].data = place;
    place += row_bytes(format, wholes.parameters[i]->elements);
  }
  return {};
}

class ShardRanks : public StepRanks {
 public:
  ShardRanks(Context &context, Comm &comm) : context_(context), comm_(comm) {}

  Status max_over_ranks(float *numbers, int64_t count) override {
    return reduce_numbers(context_, comm_, LPT_FORMAT_F32, numbers, count, LPT_REDUCTION_MAXIMUM);
  }

  // Each block is summed by the only rank that has it.
  Status all_gather_sums(const std::vector<StepWork> &works, double *sums, int64_t *nonfinite_counts) override {
    std::vector<Runs> runs(static_cast<size_t>(ranks()));
    const auto add = [&](size_t q, void *first, int64_t count) {
      if (count > 0) runs[q].push_back({static_cast<std::byte *>(first), count * int64_t{sizeof(double)}});
    };
    for (const StepWork &work : works) {
      const std::vector<int64_t> &edges = work.parameter->edges;
      for (size_t q = 0; q < runs.size(); ++q) {
        add(q, sums + edges[q] / kCut, edges[q] == edges[q + 1] ? 0 : units_of(edges[q + 1]) - edges[q] / kCut);
      }
      sums += units_of(work.parameter->whole_elements);
    }
    for (size_t q = 0; q < runs.size(); ++q) add(q, nonfinite_counts + q, 1);
    return gather_shards(context_, comm_, runs);
  }

  int32_t rank() const override { return comm_.engine->rank(); }
  int32_t ranks() const override { return comm_.engine->ranks(); }

 private:
  Context &context_;
  Comm &comm_;
};

template <typename Item>
std::vector<Item *> pointers_to(std::vector<std::remove_const_t<Item>> &items) {
  std::vector<Item *> pointers;
  for (auto &item : items) pointers.push_back(&item);
  return pointers;
}

Status step_own(Context &context, Optimizer &optimizer, const StepCall &call, const lpt_optimizer_step_options &options,
                FullTensors &wholes, StepRanks *ranks) {
  const std::vector<const Tensor *> gradients = pointers_to<const Tensor>(wholes.gradient_shards);
  const std::vector<Tensor *> values = pointers_to<Tensor>(wholes.value_shards);
  return step_parameters(context, optimizer, {call.indices, call.count, gradients.data(), &options, values.data()},
                         ranks);
}

// Checks a step completely before the first communication, so that a rejection does not affect other ranks.
Status check_step(Context &context, Comm &comm, Optimizer &optimizer, const StepCall &call,
                  const lpt_reduce_options *reduce, FullTensors &wholes) {
  LPT_TRY(check_lists(call));
  LPT_TRY(read_wholes(comm, optimizer, call, wholes));
  lpt_optimizer_step_options options = *call.options;
  options.flags |= LPT_CHECK_ONLY;
  LPT_TRY(step_own(context, optimizer, call, options, wholes, nullptr));
  if (reduce == nullptr) return {};
  if (reduce->flags != 0) return unsupported("shards->reduce->flags is %llu: expected 0", number(reduce->flags));
  LPT_TRY(check_one_format(wholes));
  if (wholes.gradients.empty()) return {};
  return check_shard_reduction(context, comm, wholes.gradients[0].format.id, *reduce);
}

Status run_step(Context &context, Comm &comm, Optimizer &optimizer, const StepCall &call,
                const lpt_reduce_options *reduce, FullTensors &wholes) {
  if (reduce != nullptr) LPT_TRY(reduce_gradients(context, comm, *reduce, wholes));
  ShardRanks ranks(context, comm);
  LPT_TRY(step_own(context, optimizer, call, *call.options, wholes, &ranks));
  if (optimizer.values.is_skipped == 1) return {};
  return gather_shards(context, comm, runs_of(wholes.values, wholes, comm.engine->ranks()));
}

}  // namespace

Status add_shards(Context &context, const Comm &comm, Optimizer &optimizer, const char *const *names,
                  const std::vector<lpt_optimizer_parameter> &wholes, int64_t *out_indices) {
  LPT_TRY(check_state_place(comm, optimizer));
  int64_t all = 0, first = 0;
  for (size_t i = 0; i < wholes.size(); ++i) {
    LPT_TRY(check_whole(wholes[i], static_cast<int64_t>(i)));
    LPT_TRY(check_elements_of(wholes[i], static_cast<int64_t>(i)));
    all += units_of(wholes[i].elements);
  }
  std::vector<OptimizerParameter> added(wholes.size());
  for (size_t i = 0; i < wholes.size(); ++i) {
    const std::vector<int64_t> edges = edges_of(wholes[i].elements, first, all, comm.engine->ranks());
    const lpt_optimizer_parameter shard = shard_of(wholes[i], edges, static_cast<size_t>(comm.engine->rank()));
    const Status status = make_parameter(context, optimizer, names == nullptr ? nullptr : names[i], shard, added[i]);
    if (!status.is_ok()) return Status(status.code(), text("parameters[%zu]: %s", i, status.message().c_str()));
    added[i].edges = edges;
    first += units_of(wholes[i].elements);
  }
  return add_parameters(optimizer, std::move(added), out_indices);
}

Status step_shards(Context &context, Comm &comm, Optimizer &optimizer, const int64_t *indices, int64_t count,
                   const Tensor *const *gradients, const lpt_optimizer_step_options &options,
                   const lpt_reduce_options *reduce, Tensor *const *parameters) {
  LPT_TRY(check_place(context, optimizer));
  LPT_TRY(check_state_place(comm, optimizer));
  FullTensors wholes;
  const StepCall call{indices, count, gradients, &options, parameters};
  LPT_TRY(check_step(context, comm, optimizer, call, reduce, wholes));
  if (is_check_only(options.flags)) return {};
  if (count == 0) {
    record_step(options.loss_scaler, false);
    return {};
  }
  const SuppressProgress silence(context);
  Status status;
  try {
    status = run_step(context, comm, optimizer, call, reduce, wholes);
  } catch (const std::bad_alloc &) {
    status =
        // interrupt() also reports this error to the other ranks, which wait for this rank.
        Status(LPT_OUT_OF_MEMORY, "out of memory");
  }
  if (!status.is_ok()) comm.engine->interrupt(status.message().c_str());
  return status;
}

}  // namespace lpt
