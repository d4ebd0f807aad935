#include "src/parallel/gradient_buckets.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <numeric>

#include "src/collective/wire.hpp"
#include "src/tensor/checks.hpp"

namespace lpt {
namespace {

constexpr size_t kBucketBytes = size_t{25} << 20;
constexpr size_t kNamed = 3;  // maximum number of gradients in one text

Status check_options(const lpt_gradient_buckets_options &options) {
  LPT_TRY(check_flags("options->flags", options.flags, 0));
  LPT_TRY(check_choice("options->order", options.order, LPT_GRADIENT_BUCKETS_ORDER_REVERSED));
  return options.reserved == 0 ? Status() : unsupported("options->reserved is %d: expected 0", options.reserved);
}

Status add_gradient(const Tensor *tensor, int64_t index, const char *const *names, GradientBuckets &buckets) {
  const std::string name = item("gradients", index);
  MatrixView view;
  LPT_TRY(check_wide_matrix(tensor, name.c_str(), true, view, device_of(*buckets.comm)));
  if (names != nullptr && names[index] == nullptr) {
    return invalid("options->names[%lld] is NULL: expected the name of a gradient", number(index));
  }
  const int64_t elements = view.rows * view.columns;
  buckets.gradients.push_back({*tensor, names == nullptr ? "" : names[index], view.format.id, elements,
                               elements * (element_bits(view.format.element) / 8)});
  return {};
}

std::vector<size_t> reversed(size_t count) {
  std::vector<size_t> order(count);
  std::iota(order.rbegin(), order.rend(), size_t{0});
  return order;
}

std::vector<Tensor *> tensors_of(GradientBuckets &buckets, const Bucket &bucket) {
  std::vector<Tensor *> tensors;
  for (const size_t index : bucket.members) tensors.push_back(&buckets.gradients[index].tensor);
  return tensors;
}

// A single gradient is reduced in place; several gradients are copied into one run.
Status reduce_bucket(Context &context, GradientBuckets &buckets, const Bucket &bucket,
                     const lpt_reduce_options &requests, Future **out_future) {
  std::vector<Tensor *> tensors = tensors_of(buckets, bucket);
  lpt_reduce_options options = requests;
  options.random.offset += static_cast<uint64_t>(bucket.first_element);
  if (tensors.size() == 1) return all_reduce(context, *buckets.comm, tensors[0], options, tensors[0], out_future);
  return all_reduce_many(context, *buckets.comm, tensors.data(), static_cast<int64_t>(tensors.size()), options,
                         out_future);
}

// Checks all reductions before the backward pass, so that none is rejected during it.
Status check_reductions(Context &context, GradientBuckets &buckets, lpt_reduce_options options) {
  LPT_TRY(check_reduce_options(options));
  options.flags |= LPT_CHECK_ONLY;
  for (const Bucket &bucket : buckets.buckets) LPT_TRY(reduce_bucket(context, buckets, bucket, options, nullptr));
  context.choices.clear();
  return {};
}

Status check_pass(const GradientBuckets &buckets) {
  if (buckets.pass != BucketPass::kNone) return {};
  return invalid("buckets have no pass under way: expected lpt_gradient_buckets_begin() first");
}

Status check_all_ready(const GradientBuckets &buckets) {
  std::string names;
  size_t missing = 0;
  for (size_t i = 0; i < buckets.gradients.size(); ++i) {
    if (buckets.gradients[i].is_ready || ++missing > kNamed) continue;
    names += (missing == 1 ? "" : ", ") + gradient_text(buckets, i);
  }
  if (missing == 0) return {};
  if (missing > kNamed) names += text(" and %zu more", missing - kNamed);
  return invalid("%s of %zu: never made ready in this pass, expected all", names.c_str(), buckets.gradients.size());
}

// Starts all complete buckets, in bucket order.
Status launch(Context &context, GradientBuckets &buckets) {
  while (buckets.launched < buckets.buckets.size() && buckets.buckets[buckets.launched].waiting == 0) {
    Bucket &bucket = buckets.buckets[buckets.launched];
    Future *future = nullptr;
    LPT_TRY(reduce_bucket(context, buckets, bucket, buckets.options.values, &future));
    bucket.future.reset(future);
    ++buckets.launched;
  }
  return {};
}

Status reported_with_names(const GradientBuckets &buckets, size_t bucket, const Status &status) {
  const std::vector<size_t> &members = buckets.buckets[bucket].members;
  std::string names;
  for (size_t i = 0; i < std::min(members.size(), kNamed); ++i) {
    names += (i == 0 ? "" : ", ") + gradient_text(buckets, members[i]);
  }
  if (members.size() > kNamed) names += text(" and %zu more", members.size() - kNamed);
  return Status(status.code(), text("bucket %zu of %zu, with %s: %s", bucket + 1, buckets.buckets.size(), names.c_str(),
                                    status.message().c_str()));
}

// Only the first error counts, as later errors follow from it. Its text allocates memory, so all reductions end first.
Status wait_for_all(Context &context, GradientBuckets &buckets) {
  Status first;
  size_t failed = 0;
  for (size_t i = 0; i < buckets.buckets.size(); ++i) {
    Status status = wait_for(context, *buckets.buckets[i].future);
    buckets.buckets[i].future.reset();
    if (status.is_ok() || !first.is_ok()) continue;
    first = std::move(status);
    failed = i;
  }
  return first.is_ok() ? Status() : reported_with_names(buckets, failed, first);
}

// Returns true if the order of this pass is to be recorded. Ranks on GPUs cannot exchange their orders.
bool is_to_be_recorded(const GradientBuckets &buckets) {
  return device_of(*buckets.comm).is_cpu() && buckets.order == LPT_GRADIENT_BUCKETS_ORDER_RECORDED &&
         !buckets.is_recorded && !buckets.gradients.empty();
}

}  // namespace

Status create_gradient_buckets(Comm &comm, Tensor *const *gradients, int64_t count,
                               const lpt_gradient_buckets_options &options, GradientBuckets **out_buckets) {
  LPT_TRY(check_options(options));
  if (count < 0) return invalid("count is %lld: expected at least 0", number(count));
  if (gradients == nullptr && count > 0) return invalid("gradients is NULL: expected an array of tensors");
  auto buckets = std::make_unique<GradientBuckets>();
  buckets->comm = &comm;
  buckets->order = options.order;
  const size_t bytes = options.bucket_bytes == 0 ? kBucketBytes : options.bucket_bytes;
  buckets->bucket_bytes = static_cast<int64_t>(std::min(bytes, std::numeric_limits<size_t>::max() / 2));
  std::vector<const Tensor *> listed;
  for (int64_t i = 0; i < count; ++i) {
    LPT_TRY(add_gradient(gradients[i], i, options.names, *buckets));
    listed.push_back(gradients[i]);
  }
  LPT_TRY(check_each_once("gradients", listed));
  fill_buckets(*buckets, reversed(buckets->gradients.size()));
  *out_buckets = buckets.release();
  return {};
}

Status begin_buckets(Context &context, GradientBuckets &buckets, int32_t is_last, const OwnedReduceOptions &options) {
  if (buckets.pass != BucketPass::kNone) {
    return invalid("buckets have a pass under way: expected lpt_gradient_buckets_wait() first");
  }
  LPT_TRY(check_choice("is_last", is_last, 1));
  if (is_last == 1) LPT_TRY(check_reductions(context, buckets, options.values));
  buckets.ready.clear();
  buckets.ready.reserve(buckets.gradients.size());
  buckets.options = options;
  buckets.launched = 0;
  for (BucketedGradient &gradient : buckets.gradients) gradient.is_ready = false;
  for (Bucket &bucket : buckets.buckets) bucket.waiting = static_cast<int64_t>(bucket.members.size());
  buckets.pass = is_last == 1 ? BucketPass::kReduced : BucketPass::kNotReduced;
  return {};
}

Status make_ready(Context &context, GradientBuckets &buckets, int64_t index) {
  LPT_TRY(check_pass(buckets));
  const auto count = static_cast<int64_t>(buckets.gradients.size());
  if (index < 0 || index >= count) {
    return invalid("index is %lld: expected 0 to %lld", number(index), number(count - 1));
  }
  BucketedGradient &gradient = buckets.gradients[static_cast<size_t>(index)];
  if (gradient.is_ready) {
    return invalid("index is %lld: %s is ready already, expected each once in a pass", number(index),
                   gradient_text(buckets, static_cast<size_t>(index)).c_str());
  }
  gradient.is_ready = true;
  buckets.ready.push_back(static_cast<size_t>(index));
  if (buckets.pass == BucketPass::kNotReduced) return {};
  --buckets.buckets[gradient.bucket].waiting;
  return launch(context, buckets);
}

Status wait_for_buckets(Context &context, GradientBuckets &buckets) {
  LPT_TRY(check_pass(buckets));
  if (buckets.pass == BucketPass::kReduced) {
    LPT_TRY(check_all_ready(buckets));
    LPT_TRY(launch(context, buckets));
  }
  const bool is_silent = buckets.pass == BucketPass::kNotReduced;
  buckets.pass = BucketPass::kNone;
  if (is_silent) return {};
  const auto begin = std::chrono::steady_clock::now();
  const Status status = wait_for_all(context, buckets);
  buckets.wait_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  LPT_TRY(status);
  return is_to_be_recorded(buckets) ? agree_on_order(context, buckets) : Status();
}

lpt_gradient_buckets_info bucket_values(const GradientBuckets &buckets) {
  lpt_gradient_buckets_info values = LPT_GRADIENT_BUCKETS_INFO_INIT;
  values.bucket_count = static_cast<int64_t>(buckets.buckets.size());
  values.ready_count = static_cast<int64_t>(buckets.ready.size());
  values.launched_count = static_cast<int64_t>(buckets.launched);
  values.wait_seconds = buckets.wait_seconds;
  values.is_recorded = buckets.is_recorded ? 1 : 0;
  return values;
}

}  // namespace lpt
