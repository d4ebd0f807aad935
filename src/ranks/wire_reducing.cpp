#include "src/ranks/wire_reducing.hpp"

#include "src/call/launch.hpp"
#include "src/cast/cast.hpp"

namespace lpt {
namespace {

constexpr int64_t kWirePiece = 1 << 16;  // elements that a thread casts at a time

// Rounds a span down to a multiple of wire.segment, at least one. The decoded spans of all ranks together fit in an L2 cache.
int64_t piece_of(const Wire &wire, int64_t elements) {
  return std::max<int64_t>(elements / wire.segment, 1) * wire.segment;
}

class WireRun {
 public:
  WireRun(Context &worker, Engine &engine, const WireReductionPlan &reducing)
      : worker_(worker), engine_(engine), reducing_(reducing), wire_(reducing.wire), ranks_(engine.ranks()) {}

  Status one_shot() {
    MessageLayout mine;
    Bytes bytes;
    LPT_TRY(take_message(worker_, wire_, reducing_.shares, mine, bytes));
    LPT_TRY(cast_input(reducing_.shares, mine.shares));
    std::vector<Bytes> incoming;
    LPT_TRY(take_incoming(bytes, incoming));
    const std::vector<Bytes> outgoing(static_cast<size_t>(ranks_), bytes);
    const ExchangeGuard guard(engine_);
    LPT_TRY(engine_.all_to_all_v(signature_of(reducing_), outgoing.data(), incoming.data()));
    std::vector<MessageLayout> sources;
    for (const Bytes &theirs : incoming) sources.push_back(lay_out_message(wire_, reducing_.shares, theirs.data));
    LPT_TRY(add_to_output(reducing_.shares, sources, 0));
    return engine_.release();
  }

  Status two_shots(const PartWork &between) {
    MessageLayout sum;
    Bytes mine;
    std::byte *whole = nullptr;
    LPT_TRY(take_message(worker_, wire_, {my_share()}, sum, mine));
    if (wire_.is_whole || between) {
      LPT_TRY(worker_.host_scratch->take(static_cast<size_t>(my_share().count()) * sizeof(float), &whole));
    }
    LPT_TRY(scatter([&](const std::vector<MessageLayout> &sources) { return add(sources, sum.shares[0], whole); }));
    if (whole != nullptr) {
      const MatrixView part = dense_view(LPT_FORMAT_F32, whole, 1, my_share().count());
      if (between) LPT_TRY(between(worker_, part));
      LPT_TRY(cast_share(worker_, wire_, part, sum.shares[0], second_draws(wire_), my_share().begin));
    }
    std::vector<Bytes> incoming(static_cast<size_t>(ranks_), mine);
    for (size_t q = 0; q < incoming.size(); ++q) {
      const bool is_mine = static_cast<int32_t>(q) == engine_.rank();
      const int64_t bytes = lay_out_message(wire_, {reducing_.shares[q]}, nullptr).bytes;
      if (!is_mine) LPT_TRY(take_space(worker_, engine_, bytes, incoming[q]));
    }
    const std::vector<Bytes> outgoing(static_cast<size_t>(ranks_), mine);
    const ExchangeGuard guard(engine_);
    LPT_TRY(engine_.all_to_all_v(signature_of(reducing_), outgoing.data(), incoming.data()));
    std::vector<MatrixView> shares;
    for (size_t q = 0; q < incoming.size(); ++q) {
      shares.push_back(lay_out_message(wire_, {reducing_.shares[q]}, incoming[q].data).shares[0]);
    }
    LPT_TRY(decode_to_output(shares));
    return engine_.release();
  }

  Status to_parts() {
    const Range share = my_share();
    return scatter(
        [&](const std::vector<MessageLayout> &sources) { return add_to_output({share}, sources, share.begin); });
  }

 private:
  const Range &my_share() const { return reducing_.shares[static_cast<size_t>(engine_.rank())]; }

  // Allocates a buffer of mine.count bytes for each other rank.
  Status take_incoming(const Bytes &mine, std::vector<Bytes> &out_incoming) {
    out_incoming.assign(static_cast<size_t>(ranks_), mine);
    for (int32_t q = 0; q < ranks_; ++q) {
      if (q == engine_.rank()) continue;
      LPT_TRY(take_space(worker_, engine_, mine.count, out_incoming[static_cast<size_t>(q)]));
    }
    return {};
  }

  // Casts ranges of the input to `targets`.
  Status cast_input(const std::vector<Range> &ranges, const std::vector<MatrixView> &targets) {
    const FlatView line(reducing_.input);
    const RandomSource draws = first_draws(wire_, engine_.rank());
    if (wire_.is_whole) {
      for (size_t q = 0; q < ranges.size(); ++q) {
        const Arena::Mark mark = worker_.host_scratch->mark();
        std::byte *scratch = nullptr;
        if (!line.is_run(ranges[q])) {
          LPT_TRY(worker_.host_scratch->take(static_cast<size_t>(line.bytes(ranges[q].count())), &scratch));
        }
        LPT_TRY(cast_share(worker_, wire_, line.gathered(ranges[q], scratch), targets[q], draws, ranges[q].begin));
        worker_.host_scratch->give_back(mark);
      }
      return {};
    }
    const int64_t segment = piece_of(wire_, kWirePiece);
    return for_subranges(
        worker_, subranges_of(ranges, segment), line.bytes(segment), [&](const Subrange &subrange, std::byte *scratch) {
          const int64_t begin = ranges[subrange.share].begin + subrange.begin;
          cast_span(wire_, line.gathered({begin, begin + subrange.count}, scratch),
                    cut_columns(targets[subrange.share], subrange.begin, subrange.count), draws, begin);
        });
  }

  // Every rank receives its slice of all inputs. `use` processes them: one message with one slice per rank.
  template <typename Use>
  Status scatter(const Use &use) {
    std::vector<Bytes> outgoing(static_cast<size_t>(ranks_));
    std::vector<MatrixView> targets;
    for (size_t q = 0; q < outgoing.size(); ++q) {
      MessageLayout layout;
      LPT_TRY(take_message(worker_, wire_, {reducing_.shares[q]}, layout, outgoing[q]));
      targets.push_back(layout.shares[0]);
    }
    LPT_TRY(cast_input(reducing_.shares, targets));
    std::vector<Bytes> incoming;
    LPT_TRY(take_incoming(outgoing[static_cast<size_t>(engine_.rank())], incoming));
    const ExchangeGuard guard(engine_);
    LPT_TRY(engine_.all_to_all_v(signature_of(reducing_), outgoing.data(), incoming.data()));
    std::vector<MessageLayout> sources;
    for (const Bytes &theirs : incoming) sources.push_back(lay_out_message(wire_, {my_share()}, theirs.data));
    LPT_TRY(use(sources));
    return engine_.release();
  }

  // Decodes a subrange of every source and reduces it to `target`. `scratch` holds f32 elements of each rank.
  void add_subrange(const std::vector<MessageLayout> &sources, const Subrange &subrange,
                    const KernelEntry<ReduceRequest> &kernel, lpt_format target_format, std::byte *scratch,
                    void *target) const {
    std::vector<const void *> from;
    for (const MessageLayout &layout : sources) {
      wire_.to_f32->run({cut_columns(layout.shares[subrange.share], subrange.begin, subrange.count),
                         dense_view(LPT_FORMAT_F32, scratch, 1, subrange.count)});
      from.push_back(scratch);
      scratch += subrange.count * static_cast<int64_t>(sizeof(float));
    }
    ReduceRequest request{};
    request.format = LPT_FORMAT_F32;
    request.target_format = target_format;
    request.reduction = reducing_.reduction;
    request.source_count = ranks_;
    request.target_count = 1;
    request.factor = reducing_.factor;
    request.elements = subrange.count;
    request.sources = from.data();
    request.targets = &target;
    kernel.run(request);
  }

  int64_t added_piece() const { return piece_of(wire_, kWirePiece / ranks_); }

  // Bytes of scratch: decoded f32 elements of each rank, and the result.
  int64_t added_bytes() const { return added_piece() * (ranks_ + 1) * static_cast<int64_t>(sizeof(float)); }

  std::byte *result_of(std::byte *scratch) const {
    return scratch + added_piece() * ranks_ * static_cast<int64_t>(sizeof(float));
  }

  // Reduces ranges of all sources and writes them to the output, whose first element has index `first`.
  Status add_to_output(const std::vector<Range> &ranges, const std::vector<MessageLayout> &sources, int64_t first) {
    const FlatView line(reducing_.output);
    return for_subranges(
        worker_, subranges_of(ranges, added_piece()), added_bytes(), [&](const Subrange &subrange, std::byte *scratch) {
          const int64_t begin = ranges[subrange.share].begin + subrange.begin - first;
          const Range range{begin, begin + subrange.count};
          const MatrixView place = line.writable_span(range, result_of(scratch));
          add_subrange(sources, subrange, *reducing_.kernel, reducing_.output.format.id, scratch, place.data);
          line.write_back(range, place);
        });
  }

  // Reduces this rank's slice to `whole`, in f32. If `whole` is NULL, casts spans of the result to the wire format.
  Status add(const std::vector<MessageLayout> &sources, const MatrixView &target, std::byte *whole) {
    const RandomSource draws = second_draws(wire_);
    const Range &share = my_share();
    return for_subranges(
        worker_, subranges_of({share}, added_piece()), added_bytes(),
        [&](const Subrange &subrange, std::byte *scratch) {
          std::byte *const sum =
              whole == nullptr ? result_of(scratch) : whole + subrange.begin * static_cast<int64_t>(sizeof(float));
          add_subrange(sources, subrange, *reducing_.kernel_to_f32, LPT_FORMAT_F32, scratch, sum);
          if (whole != nullptr) return;
          cast_span(wire_, dense_view(LPT_FORMAT_F32, sum, 1, subrange.count),
                    cut_columns(target, subrange.begin, subrange.count), draws, share.begin + subrange.begin);
        });
  }

  Status decode_to_output(const std::vector<MatrixView> &shares) {
    const FlatView line(reducing_.output);
    const int64_t segment = piece_of(wire_, kWirePiece);
    return for_subranges(
        worker_, subranges_of(reducing_.shares, segment), line.bytes(segment),
        [&](const Subrange &subrange, std::byte *scratch) {
          const int64_t begin = reducing_.shares[subrange.share].begin + subrange.begin;
          const Range range{begin, begin + subrange.count};
          const MatrixView place = line.writable_span(range, scratch);
          wire_.to_own->run({cut_columns(shares[subrange.share], subrange.begin, subrange.count), place});
          line.write_back(range, place);
        });
  }

  Context &worker_;
  Engine &engine_;
  const WireReductionPlan &reducing_;
  const Wire &wire_;
  const int32_t ranks_;
};

// Devices: the same operations, queued.

// Removes the kernel choices that are recorded during its lifetime, since they are reported already.
class Unreported {
 public:
  explicit Unreported(Context &context) : context_(context), reported_(context.choices.size()) {}
  ~Unreported() { context_.choices.resize(reported_); }
  Unreported(const Unreported &) = delete;
  Unreported &operator=(const Unreported &) = delete;

 private:
  Context &context_;
  const size_t reported_;
};

class QueuedWireRun {
 public:
  QueuedWireRun(Context &worker, DeviceEngine &engine, const WireReductionPlan &reducing)
      : worker_(worker),
        engine_(engine),
        reducing_(reducing),
        wire_(reducing.wire),
        shares_(reducing.shares),
        unreported_(worker) {}

  Status one_shot() {
    MessageLayout mine;
    Bytes bytes;
    LPT_TRY(take_message(shares_, mine, bytes));
    LPT_TRY(cast_input(mine.shares));
    std::vector<Bytes> incoming;
    LPT_TRY(exchange(std::vector<Bytes>(shares_.size(), bytes), bytes, incoming));
    std::vector<MessageLayout> sources;
    for (const Bytes &theirs : incoming) sources.push_back(lay_out_message(wire_, shares_, theirs.data));
    DeviceFlatView output;
    LPT_TRY(output.place(worker_, reducing_.output));
    for (size_t share = 0; share < shares_.size(); ++share) {
      std::vector<MatrixView> codes;
      for (const MessageLayout &layout : sources) codes.push_back(layout.shares[share]);
      LPT_TRY(add_up(codes, output.run(shares_[share])));
    }
    return output.write_back(worker_);
  }

  Status two_shots(const PartWork &) {
    MessageLayout sum;
    Bytes mine;
    MatrixView added;
    LPT_TRY(take_f32(my_share().count(), added));
    LPT_TRY(scatter(added));
    LPT_TRY(take_message({my_share()}, sum, mine));
    LPT_TRY(cast(added, sum.shares[0], second_draws(wire_), my_share().begin));
    std::vector<Bytes> incoming(shares_.size(), mine);
    for (size_t q = 0; q < incoming.size(); ++q) {
      const int64_t bytes = lay_out_message(wire_, {shares_[q]}, nullptr).bytes;
      if (q != self()) LPT_TRY(take_space(worker_, engine_, bytes, incoming[q]));
    }
    const std::vector<Bytes> outgoing(shares_.size(), mine);
    LPT_TRY(engine_.all_to_all_v(signature_of(reducing_), outgoing.data(), incoming.data()));
    return decode(incoming);
  }

  Status to_parts() {
    DeviceFlatView output;
    LPT_TRY(output.place(worker_, reducing_.output));
    LPT_TRY(scatter(output.run({0, my_share().count()})));
    return output.write_back(worker_);
  }

 private:
  size_t self() const { return static_cast<size_t>(engine_.rank()); }
  const Range &my_share() const { return shares_[self()]; }

  Status take_message(const std::vector<Range> &ranges, MessageLayout &out_layout, Bytes &out_bytes) {
    out_bytes = {nullptr, lay_out_message(wire_, ranges, nullptr).bytes};
    LPT_TRY(take_scratch(worker_, static_cast<size_t>(out_bytes.count), &out_bytes.data));
    out_layout = lay_out_message(wire_, ranges, out_bytes.data);
    return {};
  }

  Status take_f32(int64_t elements, MatrixView &out_view) {
    std::byte *memory = nullptr;
    LPT_TRY(take_scratch(worker_, static_cast<size_t>(elements) * sizeof(float), &memory));
    out_view = dense_view(LPT_FORMAT_F32, memory, 1, elements);
    return {};
  }

  Status cast(const MatrixView &source, const MatrixView &target, RandomSource draws, int64_t index) {
    return cast_share(worker_, wire_, source, target, draws, index);
  }

  // Casts all slices of the input.
  Status cast_input(const std::vector<MatrixView> &targets) {
    DeviceFlatView input;
    LPT_TRY(input.gather(worker_, reducing_.input));
    for (size_t share = 0; share < shares_.size(); ++share) {
      LPT_TRY(
          cast(input.run(shares_[share]), targets[share], first_draws(wire_, engine_.rank()), shares_[share].begin));
    }
    return {};
  }

  // Sends `outgoing` and receives mine.count bytes from each other rank.
  Status exchange(const std::vector<Bytes> &outgoing, const Bytes &mine, std::vector<Bytes> &out_incoming) {
    out_incoming.assign(shares_.size(), mine);
    for (size_t q = 0; q < shares_.size(); ++q) {
      if (q != self()) LPT_TRY(take_space(worker_, engine_, mine.count, out_incoming[q]));
    }
    return engine_.all_to_all_v(signature_of(reducing_), outgoing.data(), out_incoming.data());
  }

  // Every rank receives its slice of all inputs and reduces it to `target`.
  Status scatter(const MatrixView &target) {
    std::vector<Bytes> outgoing(shares_.size());
    std::vector<MatrixView> targets;
    for (size_t q = 0; q < outgoing.size(); ++q) {
      MessageLayout layout;
      LPT_TRY(take_message({shares_[q]}, layout, outgoing[q]));
      targets.push_back(layout.shares[0]);
    }
    LPT_TRY(cast_input(targets));
    std::vector<Bytes> incoming;
    LPT_TRY(exchange(outgoing, outgoing[self()], incoming));
    std::vector<MatrixView> codes;
    for (const Bytes &theirs : incoming) codes.push_back(lay_out_message(wire_, {my_share()}, theirs.data).shares[0]);
    return add_up(codes, target);
  }

  // Decodes the same elements of all ranks and reduces them to `target`.
  Status add_up(const std::vector<MatrixView> &codes, const MatrixView &target) {
    if (target.columns == 0) return {};
    std::vector<const void *> sources;
    for (const MatrixView &theirs : codes) {
      MatrixView decoded;
      LPT_TRY(take_f32(target.columns, decoded));
      LPT_TRY(dequantize_matrix(worker_, theirs, decoded, false));
      sources.push_back(decoded.data);
    }
    void *place = target.data;
    ReduceRequest request{};
    request.format = LPT_FORMAT_F32;
    request.target_format = target.format.id;
    request.reduction = reducing_.reduction;
    request.source_count = engine_.ranks();
    request.target_count = 1;
    request.factor = reducing_.factor;
    request.elements = target.columns;
    request.sources = sources.data();
    request.targets = &place;
    return queue_kernel(worker_, *reducing_.kernel, request);
  }

  Status decode(const std::vector<Bytes> &incoming) {
    DeviceFlatView output;
    LPT_TRY(output.place(worker_, reducing_.output));
    for (size_t q = 0; q < incoming.size(); ++q) {
      if (shares_[q].count() == 0) continue;
      const MatrixView codes = lay_out_message(wire_, {shares_[q]}, incoming[q].data).shares[0];
      LPT_TRY(dequantize_matrix(worker_, codes, output.run(shares_[q]), false));
    }
    return output.write_back(worker_);
  }

  Context &worker_;
  DeviceEngine &engine_;
  const WireReductionPlan &reducing_;
  const Wire &wire_;
  const std::vector<Range> &shares_;
  const Unreported unreported_;
};

// Runs `step` with the implementation for the device of the ranks.
template <typename Step>
Status run_wire(Context &worker, Engine &engine, const WireReductionPlan &reducing, const Step &step) {
  if (engine.device().is_cpu()) {
    WireRun run(worker, engine, reducing);
    return step(run);
  }
  QueuedWireRun run(worker, static_cast<DeviceEngine &>(engine), reducing);
  return step(run);
}

}  // namespace

Signature signature_of(const WireReductionPlan &reducing) {
  const int64_t choice =
      (static_cast<int64_t>(reducing.reduction) | static_cast<int64_t>(reducing.wire.cast.rounding) << 4 |
       reducing.input.format.id << 8 | reducing.site << 20) ^
      agreed_factor(reducing.factor);
  return {reducing.operation, reducing.wire.format.id, reducing.input.rows, reducing.input.columns, choice};
}

int64_t wire_bytes(const WireReductionPlan &reducing) {
  return lay_out_message(reducing.wire, reducing.shares, nullptr).bytes;
}

Status reduce_in_one_shot(Context &worker, Engine &engine, const WireReductionPlan &reducing) {
  return run_wire(worker, engine, reducing, [](auto &run) { return run.one_shot(); });
}

Status reduce_in_two_shots(Context &worker, Engine &engine, const WireReductionPlan &reducing,
                           const PartWork &between) {
  return run_wire(worker, engine, reducing, [&](auto &run) { return run.two_shots(between); });
}

Status reduce_wire_to_parts(Context &worker, Engine &engine, const WireReductionPlan &reducing) {
  return run_wire(worker, engine, reducing, [](auto &run) { return run.to_parts(); });
}

}  // namespace lpt
