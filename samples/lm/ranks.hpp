// What the ranks of one model say to each other.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "handles.hpp"
#include "parameter.hpp"

namespace lm {

using CommGroup = std::unique_ptr<lpt_comm_group, Destroy<lpt_comm_group_destroy>>;
using Comm = std::unique_ptr<lpt_comm, Destroy<lpt_comm_destroy>>;
using Buckets = std::unique_ptr<lpt_gradient_buckets, Destroy<lpt_gradient_buckets_destroy>>;
using PartialPlan = std::unique_ptr<lpt_partial_plan, Destroy<lpt_partial_plan_destroy>>;

// What went between ranks.
struct Traffic {
  int64_t bytes_sent = 0;  // by this rank
  double seconds = 0.0;    // in collectives, waiting for others included
};

// How ranks that share every layer are in step.
struct Synchrony {
  double share = 1.0;                 // of the residual stream's channels that are summed over ranks (CAAT)
  lpt_format wire = LPT_FORMAT_NONE;  // what sums are sent in; NONE: the numbers' own
};

// Ranks that share every layer: tensor parallelism with a partially synchronized residual stream (arXiv 2506.19645).
// Column-parallel layers read this rank's stream; what row-parallel ones give is joined with the other ranks', which layers do
// by comm and plan. In backward every rank has a part of the gradient of its own stream.
class TensorRanks {
 public:
  TensorRanks(lpt_context *context, Comm comm, int64_t width, const Synchrony &synchrony);

  int64_t rank() const { return rank_; }
  int64_t ranks() const { return ranks_; }

  lpt_comm *comm() const { return comm_.get(); }
  const lpt_partial_plan *plan() const { return plan_.get(); }

  // The same tensor for all ranks, in place.
  void reduce(lpt_context *context, lpt_tensor *tensor, lpt_reduction reduction = LPT_REDUCTION_SUM);
  void sum(lpt_context *context, const std::vector<lpt_tensor *> &tensors);

  // The parts of all ranks, one after the other.
  std::vector<float> gather(lpt_context *context, std::span<const float> part);

  Traffic traffic(lpt_context *context) const;

  // Others need not wait for this rank any more.
  void leave();

 private:
  Comm comm_;
  PartialPlan plan_;
  int64_t rank_, ranks_;
};

// Ranks that have the same shards and share the batch.
class DataRanks {
 public:
  DataRanks(lpt_context *context, Comm comm);

  // Whose gradients are averaged from now on.
  void collect(lpt_context *context, const std::deque<Parameter> &parameters);

  // The last backward of a step: each gradient is averaged behind the caller's back once it is there; after wait() all are
  // means over ranks.
  void begin(lpt_context *context);
  void ready(lpt_context *context, const Parameter &parameter);
  void wait(lpt_context *context);

  // The mean over ranks.
  double average(lpt_context *context, double number);

  // For calls that are made with all of them.
  lpt_comm *handle() const { return comm_.get(); }

  Traffic traffic(lpt_context *context) const;

  // Others need not wait for this rank any more.
  void leave();

 private:
  Comm comm_;
  Buckets buckets_;
};

}  // namespace lm
