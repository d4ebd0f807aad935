// Exchange of heads for positions among ranks, and views of batch × heads × positions × width.
#pragma once

#include <memory>

#include "src/ranks/comm.hpp"
#include "src/tensor/tensor.hpp"

namespace lpt {

using OwnedTensor = std::unique_ptr<Tensor>;

// Makes a dense tensor of four axes.
Status make_dense(Context &context, lpt_format format, const int64_t *extents, OwnedTensor &out);

// Views of tensors with plain elements. cut_axis() takes `count` indices of an axis from `first` on.
Tensor cut_axis(const Tensor &tensor, int32_t axis, int64_t first, int64_t count);
void drop_last_axis(Tensor &tensor);

// The address of an element of a dense tensor.
void *element_at(const Tensor &tensor, int64_t index);

// Copies plain elements between tensors of four axes with the same extents and format, whose rows are adjacent elements.
Status copy_heads(Context &context, const Tensor &source, const Tensor &target);

// Gives back the scratch of a part of a call.
class ArenaRestore {
 public:
  explicit ArenaRestore(Context &context) : arena_(*context.host_scratch), mark_(arena_.mark()) {}
  ~ArenaRestore() { arena_.give_back(mark_); }
  ArenaRestore(const ArenaRestore &) = delete;
  ArenaRestore &operator=(const ArenaRestore &) = delete;

 private:
  Arena &arena_;
  const Arena::Mark mark_;
};

// Ranks that exchange heads for positions. Without a comm, and with one rank, tensors are copied.
class HeadExchange {
 public:
  HeadExchange(Context &context, Comm *comm)
      : context_(context), comm_(comm), ranks_(comm == nullptr ? 1 : comm->engine->ranks()) {}

  int64_t ranks() const { return ranks_; }

  // From all heads of some positions to some heads of all positions, in a new dense tensor.
  Status to_positions(const Tensor &source, OwnedTensor &out) const;

  // The reverse, to a tensor of the caller.
  Status to_heads(const Tensor &source, const Tensor &target) const;

 private:
  // Sends piece i to rank i, and receives a piece of each rank.
  template <typename Cut>
  Status exchange(const Tensor &source, const Tensor &target, const int64_t *piece, const Cut &cut_source,
                  const Cut &cut_target) const;

  Context &context_;
  Comm *const comm_;
  const int64_t ranks_;
};

}  // namespace lpt
