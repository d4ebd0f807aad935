// Reductions of many tensors in one message: their elements are copied into one run, reduced, and copied back.
#include <algorithm>

#include "src/collective/collective.hpp"
#include "src/collective/wire.hpp"
#include "src/ranks/segments.hpp"
#include "src/tensor/checks.hpp"

namespace lpt {
namespace {

struct Many {
  std::vector<Tensor> tensors;  // keep their memory alive
  std::vector<SegmentList> pieces;
  lpt_format format = LPT_FORMAT_F32;  // the default if there are no tensors
  int64_t elements = 0;
};

Status add_tensor(Tensor *tensor, const std::string &name, bool needs_data, const Device &device, Many &many) {
  MatrixView view;
  LPT_TRY(check_wide_matrix(tensor, name.c_str(), needs_data, view, device));
  if (many.tensors.empty()) many.format = view.format.id;
  if (view.format.id != many.format) {
    return invalid("%s is %s: expected %s, as tensors[0]", name.c_str(), format_name(view.format.id).c_str(),
                   format_name(many.format).c_str());
  }
  many.tensors.push_back(*tensor);
  many.pieces.emplace_back(view);
  many.elements += view.rows * view.columns;
  return {};
}

Status reduce_side_by_side(Context &worker, Engine &engine, const Many &many, SelectedReduction reducing) {
  std::byte *run = nullptr;
  LPT_TRY(take_bytes(worker, engine, many.elements * (element_bits(many.format) / 8), &run));
  const Queue &queue = queue_of(worker, engine);
  std::byte *place = run;
  for (const SegmentList &pieces : many.pieces) {
    LPT_TRY(pieces.copy_to(queue, place));
    place += pieces.bytes();
  }
  set_run(reducing, run);
  LPT_TRY(run_to_all(worker, engine, reducing));
  place = run;
  for (const SegmentList &pieces : many.pieces) {
    LPT_TRY(pieces.copy_from(queue, place));
    place += pieces.bytes();
  }
  return {};
}

}  // namespace

Status check_each_once(const char *name, const std::vector<const Tensor *> &tensors) {
  std::vector<std::pair<const void *, size_t>> places;
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i]->data != nullptr && tensor_bytes(*tensors[i]) > 0) places.emplace_back(tensors[i]->data, i);
  }
  std::sort(places.begin(), places.end());
  for (size_t i = 1; i < places.size(); ++i) {
    if (places[i].first != places[i - 1].first) continue;
    return invalid("%s[%zu] and %s[%zu] lie at %p: expected each once", name, places[i - 1].second, name,
                   places[i].second, places[i].first);
  }
  return {};
}

Status all_reduce_many(Context &context, Comm &comm, Tensor *const *tensors, int64_t count,
                       const lpt_reduce_options &options, Future **out_future) {
  if (count < 0) return invalid("count is %lld: expected at least 0", number(count));
  if (tensors == nullptr && count > 0) return invalid("tensors is NULL: expected an array of tensors");
  Many many;
  for (int64_t i = 0; i < count; ++i) {
    LPT_TRY(add_tensor(tensors[i], item("tensors", i), !is_check_only(options.flags), device_of(comm), many));
  }
  LPT_TRY(check_each_once("tensors", {tensors, tensors + count}));
  LPT_TRY(check_reduce_options(options));
  ReductionPlan reducing{};
  reducing.operation = "all_reduce_many";
  reducing.device = device_of(comm);
  reducing.has_native_sum = comm.engine->has_sum();
  reducing.input = reducing.output = vector_view(many.format, nullptr, many.elements);
  reducing.reduction = static_cast<Reduction>(options.reduction);
  reducing.factor = options.factor;
  reducing.shares = equal_shares(many.elements, comm.engine->ranks());
  SelectedReduction chosen{};
  LPT_TRY(select_reduction(context, options, reducing, comm.engine->ranks(), true, chosen));
  LPT_TRY(select_outer(context, options, comm, true, chosen));
  if (is_check_only(options.flags)) return {};
  return run_collective(
      context, comm,
      [chosen, many = std::move(many)](Context &worker, Engine &engine) {
        return reduce_side_by_side(worker, engine, many, chosen);
      },
      out_future, DeviceSupport::kDevices);
}

}  // namespace lpt
