#include "delayed.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace lm {

namespace {

std::vector<int64_t> all_of(const std::deque<Parameter> &parameters) {
  std::vector<int64_t> indices(parameters.size());
  std::iota(indices.begin(), indices.end(), int64_t{0});
  return indices;
}

}  // namespace

DelayedRanks::DelayedRanks(lpt_context *context, DataRanks &ranks, const std::deque<Parameter> &parameters,
                           double strength)
    : context_(context),
      ranks_(ranks),
      parameters_(parameters),
      strength_(strength),
      mean_(context, parameters, all_of(parameters)) {}

// The average writes into memory of this object.
DelayedRanks::~DelayedRanks() {
  if (future_ != nullptr) {
    lpt_future_wait(context_, future_.get());
  }
}

void DelayedRanks::begin() {
  mean_.pack(context_);
  lpt_reduce_options options = LPT_REDUCE_OPTIONS_INIT;
  options.reduction = LPT_REDUCTION_AVERAGE;
  lpt_tensor *const numbers = mean_.numbers().tensor();
  lpt_future *future = nullptr;
  check(context_, lpt_all_reduce(context_, ranks_.handle(), numbers, &options, numbers, &future));
  future_.reset(future);
  has_mean_ = true;
}

void DelayedRanks::wait() {
  if (future_ != nullptr) {
    const Future future = std::move(future_);
    check(context_, lpt_future_wait(context_, future.get()));
  }
}

void DelayedRanks::join() {
  if (!has_mean_) {
    return;
  }
  wait();
  std::vector<Tensor> views;
  std::vector<const lpt_tensor *> own, means;
  std::vector<lpt_tensor *> gradients;
  for (const Parameter &parameter : parameters_) {
    views.push_back(mean_.view(context_, parameter));
    own.push_back(parameter.value.get());
    means.push_back(views.back().get());
    gradients.push_back(parameter.gradient.get());
  }
  lpt_delay_options options = LPT_DELAY_OPTIONS_INIT;
  options.strength = strength_;
  check(context_,
        lpt_delay_compensate(context_, own.data(), means.data(), std::ssize(own), &options, gradients.data()));
  replace();
}

void DelayedRanks::end() {
  wait();
  replace();
}

void DelayedRanks::replace() {
  for (const Parameter &parameter : parameters_) {
    mean_.unpack(context_, parameter);
  }
  has_mean_ = false;
}

std::span<const float> DelayedRanks::mean() {
  wait();
  return has_mean_ ? mean_.numbers().values() : std::span<float>{};
}

void DelayedRanks::set_mean(std::span<const float> numbers) {
  has_mean_ = !numbers.empty();
  if (has_mean_ && std::ssize(numbers) != mean_.elements()) {
    throw Error(
        fmt::format("the checkpoint has an average of {} weights, expected {}", numbers.size(), mean_.elements()));
  }
  std::copy(numbers.begin(), numbers.end(), mean_.numbers().values().begin());
}

}  // namespace lm
