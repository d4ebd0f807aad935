// Gradient buckets: groups of gradients that ranks reduce during the backward pass.
#pragma once

#include <string>
#include <vector>

#include "src/collective/collective.hpp"
#include "src/tensor/tensor.hpp"

namespace lpt {

struct BucketedGradient {
  Tensor tensor;  // keeps the memory alive
  std::string name;
  lpt_format format;
  int64_t elements, bytes;
  bool is_ready = false;
  size_t bucket = 0;
};

struct Bucket {
  std::vector<size_t> members;  // in bucket order
  int64_t first_element = 0;    // index among the elements of all buckets, in bucket order
  int64_t waiting = 0;          // members that are not ready
  std::unique_ptr<Future> future;
};

enum class BucketPass : uint8_t {
  kNone,
  kNotReduced,  // nothing is sent
  kReduced
};

}  // namespace lpt

struct lpt_gradient_buckets {
  lpt::HandleKind kind = lpt::HandleKind::kGradientBuckets;
  lpt::Comm *comm = nullptr;
  std::vector<lpt::BucketedGradient> gradients;
  std::vector<lpt::Bucket> buckets;
  int64_t bucket_bytes = 0;
  lpt_gradient_buckets_order order = LPT_GRADIENT_BUCKETS_ORDER_RECORDED;
  bool is_recorded = false;
  lpt::BucketPass pass = lpt::BucketPass::kNone;
  lpt::OwnedReduceOptions options;  // of this pass
  std::vector<size_t> ready;        // gradients of this pass, in the order of make_ready()
  size_t launched = 0;              // buckets of this pass
  double wait_seconds = 0.0;
};

namespace lpt {

using GradientBuckets = lpt_gradient_buckets;

Status create_gradient_buckets(Comm &comm, Tensor *const *gradients, int64_t count,
                               const lpt_gradient_buckets_options &options, GradientBuckets **out_buckets);
Status begin_buckets(Context &context, GradientBuckets &buckets, int32_t is_last, const OwnedReduceOptions &options);
Status make_ready(Context &context, GradientBuckets &buckets, int64_t index);
Status wait_for_buckets(Context &context, GradientBuckets &buckets);
lpt_gradient_buckets_info bucket_values(const GradientBuckets &buckets);

// Defined in gradient_buckets_layout.cpp.

// Fills buckets with gradients in `order`, which contains each gradient once.
void fill_buckets(GradientBuckets &buckets, const std::vector<size_t> &order);

// Applies rank 0's order of this pass on all ranks.
Status agree_on_order(Context &context, GradientBuckets &buckets);

// Returns for example "gradients[3] (blocks.0.up)".
std::string gradient_text(const GradientBuckets &buckets, size_t index);

}  // namespace lpt
