// Communication of shards: many runs of memory, sent in segments of each rank, so that the buffers are small.
#include <algorithm>
#include <cstring>

#include "src/collective/wire.hpp"
#include "src/optimizer/shards.hpp"

namespace lpt {
namespace {

constexpr int64_t kSegmentElements = int64_t{1} << 18;  // of the gradients of each rank per message
constexpr int64_t kPieceBytes = int64_t{1} << 20;       // of the parameters of each rank per message

int64_t bytes_of(const Runs &runs) {
  int64_t bytes = 0;
  for (const Bytes &run : runs) bytes += run.count;
  return bytes;
}

int64_t most_bytes(const std::vector<Runs> &runs_of_ranks) {
  int64_t most = 0;
  for (const Runs &runs : runs_of_ranks) most = std::max(most, bytes_of(runs));
  return most;
}

// Returns the bytes of a rank in the segment that begins at byte `begin`.
int64_t piece_of(const Runs &runs, int64_t begin, int64_t length) {
  return std::clamp<int64_t>(bytes_of(runs) - begin, 0, length);
}

// Calls visit(data, count) for bytes [begin, begin + count) of the runs, in order.
template <typename Visit>
void for_bytes(const Runs &runs, int64_t begin, int64_t count, const Visit &visit) {
  for (const Bytes &run : runs) {
    const int64_t skipped = std::min(begin, run.count);
    const int64_t here = std::min(run.count - skipped, count);
    if (here > 0) visit(run.data + skipped, here);
    begin -= skipped;
    count -= here;
  }
}

// Copies bytes of the runs to adjacent memory. Both are on the device of the queue.
Status copy_out(const Queue &queue, const Runs &runs, int64_t begin, int64_t count, std::byte *to) {
  Status status;
  for_bytes(runs, begin, count, [&](const std::byte *data, int64_t here) {
    if (status.is_ok()) status = queue.copy({to, here, data, here, here, 1});
    to += here;
  });
  return status;
}

Status copy_in(const Queue &queue, const Runs &runs, int64_t begin, int64_t count, const std::byte *from) {
  Status status;
  for_bytes(runs, begin, count, [&](std::byte *data, int64_t here) {
    if (status.is_ok()) status = queue.copy({data, here, from, here, here, 1});
    from += here;
  });
  return status;
}

Arena &arena_of(Context &context, const Engine &engine) {
  return engine.device().is_cpu() ? *context.host_scratch : *context.scratch;
}

// The segments of all ranks, adjacent and in the order of ranks.
struct Pack {
  std::byte *data;
  std::vector<Range> shares;  // in elements
  int64_t element_bytes;
};

Status fill_pack(const Queue &queue, const std::vector<Runs> &runs_of_ranks, int64_t begin, int64_t length,
                 Pack &pack) {
  pack.shares.clear();
  std::byte *place = pack.data;
  int64_t elements = 0;
  for (const Runs &runs : runs_of_ranks) {
    const int64_t count = piece_of(runs, begin, length);
    LPT_TRY(copy_out(queue, runs, begin, count, place));
    place += count;
    pack.shares.push_back({elements, elements + count / pack.element_bytes});
    elements = pack.shares.back().end;
  }
  return {};
}

// Reduces a pack. If `out` is NULL, it only checks the arguments.
Status reduce_pack(Context &context, Comm &comm, lpt_format format, const Pack &pack, const lpt_reduce_options &options,
                   std::byte *out) {
  const Range &mine = pack.shares[static_cast<size_t>(comm.engine->rank())];
  ReductionPlan reducing{};
  reducing.operation = "gradients of shards";
  reducing.device = device_of(comm);
  reducing.input = vector_view(format, pack.data, pack.shares.back().end);
  reducing.output = vector_view(format, out, mine.count());
  reducing.reduction = static_cast<Reduction>(options.reduction);
  reducing.factor = options.factor;
  reducing.shares = pack.shares;
  SelectedReduction chosen{};
  LPT_TRY(select_reduction(context, options, reducing, comm.engine->ranks(), false, chosen));
  LPT_TRY(select_outer(context, options, comm, false, chosen));
  if (out == nullptr) return {};
  return run_collective(
      context, comm,
      [&](Context &worker, Engine &engine) {
        Arena &arena = arena_of(worker, engine);
        const Arena::Mark mark = arena.mark();
        const Status status = run_to_parts(worker, engine, chosen);
        arena.give_back(mark);
        return status;
      },
      nullptr, DeviceSupport::kDevices);
}

Status exchange_pieces(Context &worker, Engine &engine, const std::vector<Runs> &runs_of_ranks, int64_t begin,
                       std::byte *mine) {
  const auto self = static_cast<size_t>(engine.rank());
  const Bytes sent{mine, piece_of(runs_of_ranks[self], begin, kPieceBytes)};
  const Queue &queue = queue_of(worker, engine);
  LPT_TRY(copy_out(queue, runs_of_ranks[self], begin, sent.count, mine));
  std::vector<Bytes> outgoing(runs_of_ranks.size(), sent), incoming = outgoing;
  for (size_t q = 0; q < incoming.size(); ++q) {
    if (q != self) LPT_TRY(take_space(worker, engine, piece_of(runs_of_ranks[q], begin, kPieceBytes), incoming[q]));
  }
  const ExchangeGuard guard(engine);
  LPT_TRY(engine.all_to_all_v({"parameters of shards", 0, most_bytes(runs_of_ranks), begin, 0}, outgoing.data(),
                              incoming.data()));
  for (size_t q = 0; q < incoming.size(); ++q) {
    if (q != self) LPT_TRY(copy_in(queue, runs_of_ranks[q], begin, incoming[q].count, incoming[q].data));
  }
  return engine.release();
}

}  // namespace

Status check_shard_reduction(Context &context, Comm &comm, lpt_format format, const lpt_reduce_options &options) {
  LPT_TRY(check_reduce_options(options));
  const int32_t ranks = comm.engine->ranks();
  if (options.algorithm == LPT_REDUCE_ALGORITHM_NATIVE) {
    return unsupported("shards->reduce->algorithm is LPT_REDUCE_ALGORITHM_NATIVE: shares of ranks differ in size here");
  }
  return reduce_pack(context, comm, format, {nullptr, equal_shares(kSegmentElements * ranks, ranks), 0}, options,
                     nullptr);
}

Status reduce_shards(Context &context, Comm &comm, lpt_format format, const std::vector<Runs> &runs_of_ranks,
                     const lpt_reduce_options &requests, std::byte *out) {
  Arena &arena = arena_of(context, *comm.engine);
  const Arena::Mark mark = arena.mark();
  Pack pack{nullptr, {}, element_bits(format) / 8};
  const int64_t length = kSegmentElements * pack.element_bytes;
  const int64_t ranks = comm.engine->ranks(), most = most_bytes(runs_of_ranks);
  LPT_TRY(arena.take(static_cast<size_t>(ranks * std::min(length, most)), &pack.data));
  lpt_reduce_options options = requests;
  for (int64_t begin = 0; begin < most; begin += length) {
    LPT_TRY(fill_pack(queue_of(context, *comm.engine), runs_of_ranks, begin, length, pack));
    LPT_TRY(reduce_pack(context, comm, format, pack, options, out + begin));
    options.random.offset += static_cast<uint64_t>(pack.shares.back().end);
  }
  arena.give_back(mark);
  return {};
}

Status gather_shards(Context &context, Comm &comm, const std::vector<Runs> &runs_of_ranks) {
  std::byte *mine = nullptr;
  LPT_TRY(arena_of(context, *comm.engine).take(kPieceBytes, &mine));
  return run_collective(
      context, comm,
      [&](Context &worker, Engine &engine) -> Status {
        const int64_t most = most_bytes(runs_of_ranks);
        for (int64_t begin = 0; begin < most; begin += kPieceBytes) {
          Arena &arena = arena_of(worker, engine);
          const Arena::Mark mark = arena.mark();
          LPT_TRY(exchange_pieces(worker, engine, runs_of_ranks, begin, mine));
          arena.give_back(mark);
        }
        return {};
      },
      nullptr, DeviceSupport::kDevices);
}

Status reduce_numbers(Context &context, Comm &comm, lpt_format format, void *numbers, int64_t count,
                      lpt_reduction reduction) {
  Tensor *raw = nullptr;
  LPT_TRY(wrap_matrix(context, format, numbers, 1, count, 0, &raw));
  const std::unique_ptr<Tensor> tensor(raw);
  lpt_reduce_options options = LPT_REDUCE_OPTIONS_INIT;
  options.reduction = reduction;
  return all_reduce(context, comm, raw, options, raw, nullptr);
}

}  // namespace lpt
