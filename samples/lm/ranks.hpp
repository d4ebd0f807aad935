// Communication between the ranks of one model.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <vector>

#include "handles.hpp"
#include "parameter.hpp"

namespace lm {

using CommGroup = std::unique_ptr<lpt_comm_group, Destroy<lpt_comm_group_destroy>>;
using Comm = std::unique_ptr<lpt_comm, Destroy<lpt_comm_destroy>>;
using Buckets = std::unique_ptr<lpt_gradient_buckets, Destroy<lpt_gradient_buckets_destroy>>;
using PartialPlan = std::unique_ptr<lpt_partial_plan, Destroy<lpt_partial_plan_destroy>>;

// Communication statistics of a rank.
struct Traffic {
  int64_t bytes_sent = 0;  // by this rank
  double seconds = 0.0;    // in collectives, including the wait for other ranks
};

// Synchronization of ranks that share every layer.
struct Synchrony {
  double share = 1.0;                 // fraction of the channels of the residual stream that are reduced (CAAT)
  lpt_format wire = LPT_FORMAT_NONE;  // wire format of the reductions; NONE: the format of the elements
  lpt_format sequence_wire = LPT_FORMAT_NONE;  // of keys and values between ranks that divide the windows
};

// Ranks that share every layer: tensor parallelism with a partially synchronized residual stream (arXiv 2506.19645).
// Column-parallel layers read the stream of this rank. Row-parallel layers reduce their outputs with comm and plan. In backward
// every rank has a partial gradient of its stream.
class TensorRanks {
 public:
  TensorRanks(lpt_context *context, Comm comm, int64_t width, const Synchrony &synchrony);

  int64_t rank() const { return rank_; }
  int64_t ranks() const { return ranks_; }

  lpt_comm *comm() const { return comm_.get(); }
  const lpt_partial_plan *plan() const { return plan_.get(); }

  // Reduces a tensor in-place.
  void reduce(lpt_context *context, lpt_tensor *tensor, lpt_reduction reduction = LPT_REDUCTION_SUM);
  void sum(lpt_context *context, const std::vector<lpt_tensor *> &tensors);

  // Returns the concatenated parts of all ranks.
  std::vector<float> gather(lpt_context *context, std::span<const float> part);

  Traffic traffic(lpt_context *context) const;

  // Destroys the comm, so that other ranks do not wait for this rank.
  void leave();

 private:
  Comm comm_;
  PartialPlan plan_;
  int64_t rank_, ranks_;
};

// Ranks that divide each window by positions: part i and part 2R - 1 - i of 2R belong to rank i of R, so that causal attention is
// equal work for all. Keys and values of attention go around a ring of these ranks.
class SequenceRanks {
 public:
  SequenceRanks(lpt_context *context, Comm comm, lpt_format wire);

  int64_t ranks() const { return ranks_; }
  lpt_comm *comm() const { return comm_.get(); }
  lpt_format wire() const { return wire_; }

  // Returns the positions of this rank in a window of `length` positions. Rank 0 has the last one.
  std::vector<int64_t> positions(int64_t length) const;

  // Sends the numbers of rank 0 to all ranks.
  void broadcast(lpt_context *context, std::vector<float> &numbers);

  Traffic traffic(lpt_context *context) const;

  // Destroys the comm, so that other ranks do not wait for this rank.
  void leave();

 private:
  Comm comm_;
  int64_t rank_, ranks_;
  lpt_format wire_;
};

// Ranks with the same shards that share the batch.
class DataRanks {
 public:
  DataRanks(lpt_context *context, Comm comm);

  // Sets the parameters whose gradients are averaged.
  void collect(lpt_context *context, const std::deque<Parameter> &parameters);

  // For the last backward of a step: each gradient is averaged asynchronously when it is ready. After wait() all gradients are
  // means over ranks.
  void begin(lpt_context *context);
  void ready(lpt_context *context, const Parameter &parameter);
  void wait(lpt_context *context);

  // Replaces each number by its mean over ranks.
  void average(lpt_context *context, std::span<double> numbers);

  // Replaces each number by its sum over ranks.
  void sum(lpt_context *context, lpt_tensor *numbers);

  // Returns the numbers of all ranks, in their order.
  std::vector<double> gather(lpt_context *context, std::span<const double> numbers);

  // For collective calls of all these ranks.
  lpt_comm *handle() const { return comm_.get(); }

  Traffic traffic(lpt_context *context) const;

  // Destroys the comm, so that other ranks do not wait for this rank.
  void leave();

 private:
  Comm comm_;
  Buckets buckets_;
};

}  // namespace lm
