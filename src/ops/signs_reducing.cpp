#include "src/ops/signs_reducing.hpp"

#include <cmath>
#include <cstring>

#include "kernels/reduce/signs.hpp"

namespace lpt {
namespace {

constexpr int64_t kShareUnit = 512;  // elements: no two ranks write to one byte
constexpr int64_t kPiece = 1 << 16;  // elements; the order of sums of squares hangs on it
constexpr int64_t kScaleBytes = sizeof(float);

int64_t message_bytes(const Range &share) { return share.count() == 0 ? 0 : kScaleBytes + (share.count() + 7) / 8; }

// A scale, and a bit for each element of a share.
struct Message {
  std::byte *data;

  float scale() const {
    float number;
    std::memcpy(&number, data, sizeof number);
    return number;
  }
  void set_scale(float number) const { std::memcpy(data, &number, sizeof number); }
  uint8_t *signs_from(int64_t element) const { return reinterpret_cast<uint8_t *>(data + kScaleBytes) + element / 8; }
};

class SignsRun {
 public:
  SignsRun(Context &worker, Engine &engine, const SignsReducing &reducing)
      : worker_(worker), engine_(engine), reducing_(reducing), ranks_(static_cast<size_t>(engine.ranks())) {}

  Status run() {
    Bytes mine;
    LPT_TRY(take_message(my_share(), mine));
    LPT_TRY(scatter({mine.data}));
    std::vector<Bytes> incoming(ranks_, mine);
    for (size_t q = 0; q < ranks_; ++q) {
      if (q != self()) LPT_TRY(take_room(worker_, engine_, message_bytes(reducing_.shares[q]), incoming[q]));
    }
    const std::vector<Bytes> outgoing(ranks_, mine);
    const Settled settled(engine_);
    LPT_TRY(engine_.swap(signature(), outgoing.data(), incoming.data()));
    LPT_TRY(write_output(incoming));
    return engine_.release();
  }

 private:
  size_t self() const { return static_cast<size_t>(engine_.rank()); }
  const Range &my_share() const { return reducing_.shares[self()]; }

  Signature signature() const {
    return {"all_reduce_signs", LPT_FORMAT_F32, reducing_.input.rows, reducing_.input.columns, 0};
  }

  Status take_message(const Range &share, Bytes &out_bytes) {
    out_bytes = {nullptr, message_bytes(share)};
    return worker_.arena->take(static_cast<size_t>(out_bytes.count), &out_bytes.data);
  }

  // Sends everybody the signs of its share, and makes `sum` of those that come.
  Status scatter(const Message &sum) {
    LPT_TRY(add_input());
    std::vector<Bytes> outgoing(ranks_), incoming(ranks_);
    for (size_t q = 0; q < ranks_; ++q) {
      const Range &share = reducing_.shares[q];
      LPT_TRY(take_message(share, outgoing[q]));
      LPT_TRY(cast(reducing_.worker_error + share.begin, share.count(), {outgoing[q].data}));
      if (q != self()) LPT_TRY(take_room(worker_, engine_, message_bytes(my_share()), incoming[q]));
    }
    incoming[self()] = outgoing[self()];
    const Settled settled(engine_);
    LPT_TRY(engine_.swap(signature(), outgoing.data(), incoming.data()));
    LPT_TRY(average(incoming));
    LPT_TRY(engine_.release());
    return cast(reducing_.server_error, my_share().count(), sum);
  }

  Status add_input() {
    const Line line(reducing_.input);
    return for_spots(worker_, spots_of(reducing_.shares, kPiece), kPiece * kScaleBytes,
                     [&](const Spot &spot, std::byte *scratch) {
                       const int64_t begin = reducing_.shares[spot.share].begin + spot.begin;
                       const Range range{begin, begin + spot.count};
                       const auto *const from = static_cast<const float *>(line.gathered(range, scratch).data);
                       add_numbers(from, spot.count, reducing_.worker_error + begin);
                     });
  }

  // Numbers become a message, and what it leaves out.
  Status cast(float *numbers, int64_t count, const Message &message) {
    if (count == 0) return {};
    const std::vector<Spot> spots = spots_of({{0, count}}, kPiece);
    std::vector<double> squares(spots.size());
    LPT_TRY(for_spots(worker_, spots, 0, [&](const Spot &spot, std::byte *) {
      squares[static_cast<size_t>(spot.begin / kPiece)] = squares_of(numbers + spot.begin, spot.count);
    }));
    double sum = 0.0;
    for (const double square : squares) sum += square;
    const auto scale = static_cast<float>(std::sqrt(sum / static_cast<double>(count)));
    message.set_scale(scale);
    return for_spots(worker_, spots, 0, [&](const Spot &spot, std::byte *) {
      take_signs(scale, spot.count, numbers + spot.begin, message.signs_from(spot.begin));
    });
  }

  // The server error becomes the average of this rank's share, itself added.
  Status average(const std::vector<Bytes> &incoming) {
    const std::vector<Spot> spots = spots_of({{0, my_share().count()}}, kPiece / 4);
    return for_spots(worker_, spots, kPiece / 4 * kScaleBytes, [&](const Spot &spot, std::byte *scratch) {
      auto *const sum = reinterpret_cast<float *>(scratch);
      for (size_t q = 0; q < ranks_; ++q) {
        const Message theirs{incoming[q].data};
        const auto add = q == 0 ? scale_signs : add_signs;
        add(theirs.signs_from(spot.begin), theirs.scale(), spot.count, sum);
      }
      for (int64_t i = 0; i < spot.count; ++i) sum[i] /= static_cast<float>(ranks_);
      add_numbers(sum, spot.count, reducing_.server_error + spot.begin);
    });
  }

  Status write_output(const std::vector<Bytes> &incoming) {
    const Line line(reducing_.output);
    return for_spots(
        worker_, spots_of(reducing_.shares, kPiece), kPiece * kScaleBytes, [&](const Spot &spot, std::byte *scratch) {
          const int64_t begin = reducing_.shares[spot.share].begin + spot.begin;
          const Range range{begin, begin + spot.count};
          const MatrixView place = line.place_of(range, scratch);
          const Message theirs{incoming[spot.share].data};
          scale_signs(theirs.signs_from(spot.begin), theirs.scale(), spot.count, static_cast<float *>(place.data));
          line.settle(range, place);
        });
  }

  Context &worker_;
  Engine &engine_;
  const SignsReducing &reducing_;
  const size_t ranks_;
};

}  // namespace

std::vector<Range> signs_shares(int64_t elements, int32_t ranks) { return equal_shares(elements, ranks, kShareUnit); }

Status reduce_signs_to_all(Context &worker, Engine &engine, const SignsReducing &reducing) {
  return SignsRun(worker, engine, reducing).run();
}

}  // namespace lpt
