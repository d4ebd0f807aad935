// The state of one parameter from saved shards of another partition.
#include <algorithm>
#include <cstring>
#include <numeric>

#include "src/optimizer/optimizer.hpp"

namespace lpt {
namespace {

// Elements of the full parameter.
struct Extent {
  int64_t begin, end;
};

Status damaged_states(const std::string &why) { return Status(LPT_INVALID_STATE, "saved states: " + why); }

Extent extent_of(const OptimizerParameter &parameter) {
  return {parameter.begin, parameter.begin + parameter.elements};
}

Extent common_of(const OptimizerParameter &a, const OptimizerParameter &b) {
  const Extent one = extent_of(a), other = extent_of(b);
  const int64_t begin = std::max(one.begin, other.begin);
  return {begin, std::max(begin, std::min(one.end, other.end))};
}

// Rejects shards that differ in a value that all shards of one step share.
Status check_same_step(const OptimizerParameter &first, const OptimizerParameter &other, size_t position) {
  if (other.step_count != first.step_count) {
    return damaged_states(text("buffers[%zu] is of step %lld: expected %lld, as the first", position,
                               number(other.step_count), number(first.step_count)));
  }
  const Moment *const moments[2][2] = {{&first.first, &other.first}, {&first.second, &other.second}};
  for (const auto &[a, b] : moments) {
    if (std::memcmp(&a->scale, &b->scale, sizeof a->scale) == 0 && a->amax == b->amax) continue;
    return damaged_states(
        text("buffers[%zu] has a moment of scale %.9g and amax %.9g: expected %.9g and %.9g, as the first", position,
             static_cast<double>(b->scale), static_cast<double>(b->amax), static_cast<double>(a->scale),
             static_cast<double>(a->amax)));
  }
  return {};
}

// Rejects shards that do not cover each requested element exactly once.
Status check_covers(const std::vector<OptimizerParameter> &saved, const OptimizerParameter &requested) {
  std::vector<size_t> order(saved.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return saved[a].begin < saved[b].begin; });
  int64_t next = requested.begin;
  for (const size_t i : order) {
    const Extent common = common_of(saved[i], requested);
    if (common.begin == common.end) continue;
    if (common.begin != next) {
      return damaged_states(text("elements %lld to %lld are %s: expected %lld to %lld once each",
                                 number(std::min(next, common.begin)), number(std::max(next, common.begin)),
                                 common.begin > next ? "missing" : "there twice", number(requested.begin),
                                 number(requested.begin + requested.elements)));
    }
    next = common.end;
  }
  if (next == requested.begin + requested.elements) return {};
  return damaged_states(text("elements %lld to %lld are missing: expected %lld to %lld once each", number(next),
                             number(requested.begin + requested.elements), number(requested.begin),
                             number(requested.begin + requested.elements)));
}

// Copies the part of one array that belongs to elements `common`. The array has one unit for each `block` elements.
void copy_array(const StateMemory &from, const StateMemory &to, int64_t block, const Extent &common,
                const OptimizerParameter &source, const OptimizerParameter &target) {
  const int64_t units = (source.elements + block - 1) / block;
  if (from.bytes() == 0 || common.begin == common.end) return;
  const auto unit_bytes = static_cast<int64_t>(from.bytes()) / units;
  const int64_t count = (common.end - common.begin + block - 1) / block;
  std::memcpy(to.data() + (common.begin - target.begin) / block * unit_bytes,
              from.data() + (common.begin - source.begin) / block * unit_bytes,
              static_cast<size_t>(count * unit_bytes));
}

void copy_common(const OptimizerParameter &source, OptimizerParameter &target) {
  const Extent common = common_of(source, target);
  const auto copy = [&](const StateMemory &from, const StateMemory &to, int64_t block) {
    copy_array(from, to, std::max<int64_t>(block, 1), common, source, target);
  };
  const Moment *const from[2] = {&source.first, &source.second};
  const Moment *const to[2] = {&target.first, &target.second};
  for (int k = 0; k < 2; ++k) {
    copy(from[k]->codes, to[k]->codes, 1);
    copy(from[k]->scales, to[k]->scales, from[k]->block);
    copy(from[k]->exponents, to[k]->exponents, from[k]->block);
  }
  copy(source.compensation, target.compensation, 1);
  dont_need(source, 0, source.elements);
}

}  // namespace

Status load_optimizer_states(Context &context, Optimizer &optimizer, int64_t index, const void *const *buffers,
                             const size_t *buffer_bytes, int64_t count) {
  LPT_TRY(check_place(context, optimizer));
  LPT_TRY(check_index(optimizer, "index", index));
  OptimizerParameter &parameter = optimizer.parameters[static_cast<size_t>(index)];
  std::vector<OptimizerParameter> saved(static_cast<size_t>(count));
  for (size_t i = 0; i < saved.size(); ++i) {
    const Status status = read_state(optimizer, parameter, true, buffers[i], buffer_bytes[i], saved[i]);
    if (!status.is_ok()) return Status(status.code(), text("buffers[%zu]: %s", i, status.message().c_str()));
    LPT_TRY(check_same_step(saved[0], saved[i], i));
  }
  LPT_TRY(check_covers(saved, parameter));
  OptimizerParameter loaded = parameter;
  LPT_TRY(allocate_state(optimizer, loaded));
  loaded.step_count = saved[0].step_count;
  Moment *const to[2] = {&loaded.first, &loaded.second};
  const Moment *const from[2] = {&saved[0].first, &saved[0].second};
  for (int k = 0; k < 2; ++k) {
    to[k]->scale = from[k]->scale;
    to[k]->amax = from[k]->amax;
  }
  for (const OptimizerParameter &source : saved) copy_common(source, loaded);
  dont_need(loaded, 0, loaded.elements);
  return take_loaded(context, optimizer, std::move(loaded), parameter);
}

}  // namespace lpt
