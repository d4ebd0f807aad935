#include "grid.hpp"

#include <fmt/format.h>

#include <exception>
#include <thread>
#include <utility>

namespace lm {

namespace {

Comm split(lpt_context *context, const Comm &comm, int64_t color) {
  lpt_comm *part = nullptr;
  check(context, lpt_comm_split(context, comm.get(), static_cast<int32_t>(color), 0, &part));
  return Comm(part);
}

// Splits the comm of all ranks along the axes of the grid for one rank.
OwnRank make_rank(Context context, const Comm &whole, int64_t index, const Grid &grid, int64_t width,
                  const Synchrony &synchrony) {
  OwnRank rank{.index = index, .context = std::move(context), .tensor = nullptr, .sequence = nullptr, .data = nullptr};
  lpt_context *own = rank.context.get();
  Comm tensor = split(own, whole, index / grid.tensor);
  Comm sequence = split(own, whole, index / (grid.tensor * grid.sequence) * grid.tensor + index % grid.tensor);
  Comm data = split(own, whole, index % grid.tensor);
  if (grid.tensor > 1) {
    rank.tensor = std::make_unique<TensorRanks>(own, std::move(tensor), width, synchrony);
  }
  if (grid.sequence > 1) {
    rank.sequence = std::make_unique<SequenceRanks>(own, std::move(sequence), synchrony.sequence_wire);
  }
  if (grid.data * grid.sequence > 1) {
    rank.data = std::make_unique<DataRanks>(own, std::move(data));
  }
  return rank;
}

CommGroup make_group(const Grid &grid) {
  lpt_comm_group *group = nullptr;
  if (lpt_comm_group_create(nullptr, static_cast<int32_t>(grid.ranks()), &group) != LPT_OK) {
    throw Error(fmt::format("{} ranks are too many", grid.ranks()));
  }
  return CommGroup(group);
}

}  // namespace

Parallel OwnRank::parallel(const Grid &grid) const {
  return {.rank = index / grid.tensor,
          .ranks = grid.data * grid.sequence,
          .data = data.get(),
          .tensor = tensor.get(),
          .sequence = sequence.get()};
}

std::vector<OwnRank> make_local_ranks(const Grid &grid, int64_t width, const Synchrony &synchrony) {
  std::vector<OwnRank> ranks(static_cast<size_t>(grid.ranks()));
  if (grid.ranks() == 1) {
    return ranks;
  }
  const CommGroup group = make_group(grid);
  std::vector<std::exception_ptr> reasons(ranks.size());
  {
    std::vector<std::jthread> threads;
    for (size_t i = 0; i < ranks.size(); ++i) {
      threads.emplace_back([&, i] {
        try {
          Context context = make_context(1);
          lpt_comm *whole = nullptr;
          check(context.get(),
                lpt_comm_create_local(context.get(), group.get(), static_cast<int32_t>(i), nullptr, &whole));
          const Comm owner(whole);
          ranks[i] = make_rank(std::move(context), owner, static_cast<int64_t>(i), grid, width, synchrony);
        } catch (...) {
          reasons[i] = std::current_exception();
          lpt_comm_group_abort(group.get());
        }
      });
    }
  }
  for (const std::exception_ptr &reason : reasons) {
    if (reason) {
      std::rethrow_exception(reason);
    }
  }
  return ranks;
}

std::vector<OwnRank> make_mpi_rank(const Grid &grid, int64_t width, const Synchrony &synchrony) {
  Context context = make_context(1);
  lpt_comm *whole = nullptr;
  check(context.get(), lpt_comm_create_mpi(context.get(), nullptr, &whole));
  const Comm owner(whole);
  lpt_comm_info values = LPT_COMM_INFO_INIT;
  check(context.get(), lpt_comm_read(context.get(), whole, &values));
  if (values.rank_count != grid.ranks()) {
    throw Error(
        fmt::format("the MPI job has {} processes, expected --tp x --dp x --sp = {}", values.rank_count, grid.ranks()));
  }
  std::vector<OwnRank> ranks;
  ranks.push_back(make_rank(std::move(context), owner, values.rank, grid, width, synchrony));
  return ranks;
}

}  // namespace lm
