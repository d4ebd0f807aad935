#include "src/ops/wire_reducing.hpp"

namespace lpt {
namespace {

constexpr int64_t kPiece = 1 << 16;  // elements that a thread takes at a time

// Of all ranks together what a second cache holds, decoded.
int64_t piece_of(const Wire &wire, int64_t elements) {
  return std::max<int64_t>(elements / wire.piece, 1) * wire.piece;
}

class WireRun {
 public:
  WireRun(Context &worker, Engine &engine, const WireReducing &reducing)
      : worker_(worker), engine_(engine), reducing_(reducing), wire_(reducing.wire), ranks_(engine.ranks()) {}

  Status one_shot() {
    Parcel mine;
    Bytes bytes;
    LPT_TRY(take_parcel(worker_, wire_, reducing_.shares, mine, bytes));
    LPT_TRY(cast_input(reducing_.shares, mine.shares));
    std::vector<Bytes> incoming;
    LPT_TRY(take_incoming(bytes, incoming));
    const std::vector<Bytes> outgoing(static_cast<size_t>(ranks_), bytes);
    const Settled settled(engine_);
    LPT_TRY(engine_.swap(signature_of(reducing_), outgoing.data(), incoming.data()));
    std::vector<Parcel> sources;
    for (const Bytes &theirs : incoming) sources.push_back(lay_out_parcel(wire_, reducing_.shares, theirs.data));
    LPT_TRY(add_to_output(reducing_.shares, sources, 0));
    return engine_.release();
  }

  Status two_shots() {
    Parcel sum;
    Bytes mine;
    LPT_TRY(take_parcel(worker_, wire_, {my_share()}, sum, mine));
    LPT_TRY(scatter([&](const std::vector<Parcel> &sources) { return add_and_cast(sources, sum.shares[0]); }));
    std::vector<Bytes> incoming(static_cast<size_t>(ranks_), mine);
    for (size_t q = 0; q < incoming.size(); ++q) {
      const bool is_mine = static_cast<int32_t>(q) == engine_.rank();
      const int64_t bytes = lay_out_parcel(wire_, {reducing_.shares[q]}, nullptr).bytes;
      if (!is_mine) LPT_TRY(take_room(worker_, engine_, bytes, incoming[q]));
    }
    const std::vector<Bytes> outgoing(static_cast<size_t>(ranks_), mine);
    const Settled settled(engine_);
    LPT_TRY(engine_.swap(signature_of(reducing_), outgoing.data(), incoming.data()));
    std::vector<MatrixView> shares;
    for (size_t q = 0; q < incoming.size(); ++q) {
      shares.push_back(lay_out_parcel(wire_, {reducing_.shares[q]}, incoming[q].data).shares[0]);
    }
    LPT_TRY(decode_to_output(shares));
    return engine_.release();
  }

  Status to_parts() {
    const Range share = my_share();
    return scatter([&](const std::vector<Parcel> &sources) { return add_to_output({share}, sources, share.begin); });
  }

 private:
  const Range &my_share() const { return reducing_.shares[static_cast<size_t>(engine_.rank())]; }

  // Room for as much from every rank as this one has.
  Status take_incoming(const Bytes &mine, std::vector<Bytes> &out_incoming) {
    out_incoming.assign(static_cast<size_t>(ranks_), mine);
    for (int32_t q = 0; q < ranks_; ++q) {
      if (q == engine_.rank()) continue;
      LPT_TRY(take_room(worker_, engine_, mine.count, out_incoming[static_cast<size_t>(q)]));
    }
    return {};
  }

  // Casts ranges of the input.
  Status cast_input(const std::vector<Range> &ranges, const std::vector<MatrixView> &targets) {
    const Line line(reducing_.input);
    const RandomSource draws = first_draws(wire_, engine_.rank());
    if (wire_.is_whole) {
      for (size_t q = 0; q < ranges.size(); ++q) {
        const Arena::Mark mark = worker_.arena->mark();
        std::byte *scratch = nullptr;
        if (!line.is_run(ranges[q])) {
          LPT_TRY(worker_.arena->take(static_cast<size_t>(line.bytes(ranges[q].count())), &scratch));
        }
        LPT_TRY(cast_share(worker_, wire_, line.gathered(ranges[q], scratch), targets[q], draws, ranges[q].begin));
        worker_.arena->give_back(mark);
      }
      return {};
    }
    const int64_t piece = piece_of(wire_, kPiece);
    return for_spots(worker_, spots_of(ranges, piece), line.bytes(piece), [&](const Spot &spot, std::byte *scratch) {
      const int64_t begin = ranges[spot.share].begin + spot.begin;
      cast_piece(wire_, line.gathered({begin, begin + spot.count}, scratch),
                 cut_columns(targets[spot.share], spot.begin, spot.count), draws, begin);
    });
  }

  // Every rank gets its share of all inputs; `use` sees it, one parcel of one share for each rank.
  template <typename Use>
  Status scatter(const Use &use) {
    std::vector<Bytes> outgoing(static_cast<size_t>(ranks_));
    std::vector<MatrixView> targets;
    for (size_t q = 0; q < outgoing.size(); ++q) {
      Parcel parcel;
      LPT_TRY(take_parcel(worker_, wire_, {reducing_.shares[q]}, parcel, outgoing[q]));
      targets.push_back(parcel.shares[0]);
    }
    LPT_TRY(cast_input(reducing_.shares, targets));
    std::vector<Bytes> incoming;
    LPT_TRY(take_incoming(outgoing[static_cast<size_t>(engine_.rank())], incoming));
    const Settled settled(engine_);
    LPT_TRY(engine_.swap(signature_of(reducing_), outgoing.data(), incoming.data()));
    std::vector<Parcel> sources;
    for (const Bytes &theirs : incoming) sources.push_back(lay_out_parcel(wire_, {my_share()}, theirs.data));
    LPT_TRY(use(sources));
    return engine_.release();
  }

  // Decodes a spot of every source and reduces it to `target`. Scratch: f32 for each rank.
  void add_spot(const std::vector<Parcel> &sources, const Spot &spot, const Row<ReduceRequest> &row,
                lpt_format target_format, std::byte *scratch, void *target) const {
    std::vector<const void *> from;
    for (const Parcel &parcel : sources) {
      wire_.to_f32->run({cut_columns(parcel.shares[spot.share], spot.begin, spot.count),
                         dense_view(LPT_FORMAT_F32, scratch, 1, spot.count)});
      from.push_back(scratch);
      scratch += spot.count * static_cast<int64_t>(sizeof(float));
    }
    ReduceRequest request{};
    request.format = LPT_FORMAT_F32;
    request.target_format = target_format;
    request.reduction = reducing_.reduction;
    request.source_count = ranks_;
    request.target_count = 1;
    request.factor = reducing_.factor;
    request.elements = spot.count;
    request.sources = from.data();
    request.targets = &target;
    row.run(request);
  }

  int64_t added_piece() const { return piece_of(wire_, kPiece / ranks_); }

  // One number more for each element than ranks: for what came of them.
  int64_t added_bytes() const { return added_piece() * (ranks_ + 1) * static_cast<int64_t>(sizeof(float)); }

  std::byte *result_of(std::byte *scratch) const {
    return scratch + added_piece() * ranks_ * static_cast<int64_t>(sizeof(float));
  }

  // Adds ranges of all sources, and writes them to the output, which begins with element `first`.
  Status add_to_output(const std::vector<Range> &ranges, const std::vector<Parcel> &sources, int64_t first) {
    const Line line(reducing_.output);
    return for_spots(worker_, spots_of(ranges, added_piece()), added_bytes(),
                     [&](const Spot &spot, std::byte *scratch) {
                       const int64_t begin = ranges[spot.share].begin + spot.begin - first;
                       const Range range{begin, begin + spot.count};
                       const MatrixView place = line.place_of(range, result_of(scratch));
                       add_spot(sources, spot, *reducing_.row, reducing_.output.format.id, scratch, place.data);
                       line.settle(range, place);
                     });
  }

  // Adds this rank's share and casts it again.
  Status add_and_cast(const std::vector<Parcel> &sources, const MatrixView &target) {
    const RandomSource draws = second_draws(wire_);
    const Range &share = my_share();
    std::byte *whole = nullptr;
    if (wire_.is_whole) {
      LPT_TRY(worker_.arena->take(static_cast<size_t>(share.count()) * sizeof(float), &whole));
    }
    LPT_TRY(
        for_spots(worker_, spots_of({share}, added_piece()), added_bytes(), [&](const Spot &spot, std::byte *scratch) {
          std::byte *const sum =
              wire_.is_whole ? whole + spot.begin * static_cast<int64_t>(sizeof(float)) : result_of(scratch);
          add_spot(sources, spot, *reducing_.row_to_f32, LPT_FORMAT_F32, scratch, sum);
          if (wire_.is_whole) return;
          cast_piece(wire_, dense_view(LPT_FORMAT_F32, sum, 1, spot.count), cut_columns(target, spot.begin, spot.count),
                     draws, share.begin + spot.begin);
        }));
    if (!wire_.is_whole) return {};
    return cast_share(worker_, wire_, dense_view(LPT_FORMAT_F32, whole, 1, share.count()), target, draws, share.begin);
  }

  Status decode_to_output(const std::vector<MatrixView> &shares) {
    const Line line(reducing_.output);
    const int64_t piece = piece_of(wire_, kPiece);
    return for_spots(worker_, spots_of(reducing_.shares, piece), line.bytes(piece),
                     [&](const Spot &spot, std::byte *scratch) {
                       const int64_t begin = reducing_.shares[spot.share].begin + spot.begin;
                       const Range range{begin, begin + spot.count};
                       const MatrixView place = line.place_of(range, scratch);
                       wire_.to_own->run({cut_columns(shares[spot.share], spot.begin, spot.count), place});
                       line.settle(range, place);
                     });
  }

  Context &worker_;
  Engine &engine_;
  const WireReducing &reducing_;
  const Wire &wire_;
  const int32_t ranks_;
};

}  // namespace

Signature signature_of(const WireReducing &reducing) {
  const int64_t choice =
      (static_cast<int64_t>(reducing.reduction) | static_cast<int64_t>(reducing.wire.cast.rounding) << 4 |
       reducing.input.format.id << 8 | reducing.site << 20) ^
      agreed_factor(reducing.factor);
  return {reducing.operation, reducing.wire.format.id, reducing.input.rows, reducing.input.columns, choice};
}

int64_t wire_bytes(const WireReducing &reducing) {
  return lay_out_parcel(reducing.wire, reducing.shares, nullptr).bytes;
}

Status reduce_in_one_shot(Context &worker, Engine &engine, const WireReducing &reducing) {
  return WireRun(worker, engine, reducing).one_shot();
}

Status reduce_in_two_shots(Context &worker, Engine &engine, const WireReducing &reducing) {
  return WireRun(worker, engine, reducing).two_shots();
}

Status reduce_wire_to_parts(Context &worker, Engine &engine, const WireReducing &reducing) {
  return WireRun(worker, engine, reducing).to_parts();
}

}  // namespace lpt
