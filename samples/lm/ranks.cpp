#include "ranks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace lm {

namespace {

constexpr size_t kBucketBytes = 1 << 20;  // the models of this sample are small

lpt_comm_info read(lpt_context *context, const Comm &comm) {
  lpt_comm_info values = LPT_COMM_INFO_INIT;
  check(context, lpt_comm_read(context, comm.get(), &values));
  return values;
}

Traffic traffic_of(lpt_context *context, const Comm &comm) {
  const lpt_comm_info values = read(context, comm);
  return {.bytes_sent = values.bytes_sent, .seconds = values.seconds};
}

PartialPlan make_plan(lpt_context *context, int64_t width, int32_t ranks, const Synchrony &synchrony) {
  lpt_partial_plan_options options = LPT_PARTIAL_PLAN_OPTIONS_INIT;
  options.hidden_columns = width;
  if (lpt_partial_shared_columns(nullptr, width, synchrony.share, &options.shared_columns) != LPT_OK) {
    throw Error(fmt::format("the share of synchronized channels is {}, expected 0 to 1", synchrony.share));
  }
  options.rank_count = ranks;
  options.forward_wire = options.backward_wire = synchrony.wire;
  lpt_partial_plan *plan = nullptr;
  check(context, lpt_partial_plan_create(context, &options, &plan));
  return PartialPlan(plan);
}

void reduce_many(lpt_context *context, const Comm &comm, const std::vector<lpt_tensor *> &tensors,
                 lpt_reduction reduction) {
  lpt_reduce_options options = LPT_REDUCE_OPTIONS_INIT;
  options.reduction = reduction;
  check(context, lpt_all_reduce_many(context, comm.get(), tensors.data(), static_cast<int64_t>(tensors.size()),
                                     &options, nullptr));
}

template <typename T>
std::vector<T> gather_rows(lpt_context *context, const Comm &comm, std::span<const T> part) {
  const auto count = static_cast<int64_t>(part.size());
  const Matrix<T> mine(context, 1, count);
  const Matrix<T> whole(context, read(context, comm).rank_count, count);
  std::copy(part.begin(), part.end(), mine.row(0));
  check(context, lpt_all_gather(context, comm.get(), mine.tensor(), nullptr, nullptr, whole.tensor(), nullptr));
  return {whole.values().begin(), whole.values().end()};
}

}  // namespace

TensorRanks::TensorRanks(lpt_context *context, Comm comm, int64_t width, const Synchrony &synchrony)
    : comm_(std::move(comm)) {
  const lpt_comm_info values = read(context, comm_);
  rank_ = values.rank;
  ranks_ = values.rank_count;
  plan_ = make_plan(context, width, values.rank_count, synchrony);
}

void TensorRanks::reduce(lpt_context *context, lpt_tensor *tensor, lpt_reduction reduction) {
  lpt_reduce_options options = LPT_REDUCE_OPTIONS_INIT;
  options.reduction = reduction;
  check(context, lpt_all_reduce(context, comm_.get(), tensor, &options, tensor, nullptr));
}

void TensorRanks::sum(lpt_context *context, const std::vector<lpt_tensor *> &tensors) {
  reduce_many(context, comm_, tensors, LPT_REDUCTION_SUM);
}

std::vector<float> TensorRanks::gather(lpt_context *context, std::span<const float> part) {
  return gather_rows(context, comm_, part);
}

void TensorRanks::leave() { comm_.reset(); }

Traffic TensorRanks::traffic(lpt_context *context) const { return traffic_of(context, comm_); }

SequenceRanks::SequenceRanks(lpt_context *context, Comm comm, lpt_format wire) : comm_(std::move(comm)), wire_(wire) {
  const lpt_comm_info values = read(context, comm_);
  rank_ = values.rank;
  ranks_ = values.rank_count;
}

std::vector<int64_t> SequenceRanks::positions(int64_t length) const {
  const int64_t part = length / (2 * ranks_);
  std::vector<int64_t> positions;
  for (const int64_t index : {rank_, 2 * ranks_ - 1 - rank_}) {
    for (int64_t i = 0; i < part; ++i) {
      positions.push_back(index * part + i);
    }
  }
  return positions;
}

void SequenceRanks::broadcast(lpt_context *context, std::vector<float> &numbers) {
  const Matrix<float> sent(context, 1, static_cast<int64_t>(numbers.size()));
  std::copy(numbers.begin(), numbers.end(), sent.row(0));
  check(context, lpt_broadcast(context, comm_.get(), 0, sent.tensor(), nullptr));
  std::copy_n(sent.row(0), numbers.size(), numbers.begin());
}

Traffic SequenceRanks::traffic(lpt_context *context) const { return traffic_of(context, comm_); }

void SequenceRanks::leave() { comm_.reset(); }

DataRanks::DataRanks(lpt_context *context, Comm comm) : comm_(std::move(comm)) { read(context, comm_); }

void DataRanks::collect(lpt_context *context, const std::deque<Parameter> &parameters) {
  std::vector<lpt_tensor *> gradients;
  std::vector<const char *> names;
  for (const Parameter &parameter : parameters) {
    gradients.push_back(parameter.gradient.get());
    names.push_back(parameter.name.c_str());
  }
  lpt_gradient_buckets_options options = LPT_GRADIENT_BUCKETS_OPTIONS_INIT;
  options.bucket_bytes = kBucketBytes;
  options.names = names.data();
  lpt_gradient_buckets *buckets = nullptr;
  check(context, lpt_gradient_buckets_create(context, comm_.get(), gradients.data(),
                                             static_cast<int64_t>(gradients.size()), &options, &buckets));
  buckets_.reset(buckets);
}

void DataRanks::begin(lpt_context *context) {
  lpt_reduce_options options = LPT_REDUCE_OPTIONS_INIT;
  options.reduction = LPT_REDUCTION_AVERAGE;
  check(context, lpt_gradient_buckets_begin(context, buckets_.get(), 1, &options));
}

void DataRanks::ready(lpt_context *context, const Parameter &parameter) {
  check(context, lpt_gradient_buckets_ready(context, buckets_.get(), parameter.index));
}

void DataRanks::wait(lpt_context *context) { check(context, lpt_gradient_buckets_wait(context, buckets_.get())); }

void DataRanks::average(lpt_context *context, std::span<double> numbers) {
  const Matrix<double> means(context, 1, static_cast<int64_t>(numbers.size()));
  std::copy(numbers.begin(), numbers.end(), means.row(0));
  reduce_many(context, comm_, {means.tensor()}, LPT_REDUCTION_AVERAGE);
  std::copy_n(means.row(0), numbers.size(), numbers.begin());
}

void DataRanks::sum(lpt_context *context, lpt_tensor *numbers) {
  reduce_many(context, comm_, {numbers}, LPT_REDUCTION_SUM);
}

std::vector<double> DataRanks::gather(lpt_context *context, std::span<const double> numbers) {
  return gather_rows(context, comm_, numbers);
}

void DataRanks::leave() { comm_.reset(); }

Traffic DataRanks::traffic(lpt_context *context) const { return traffic_of(context, comm_); }

}  // namespace lm
