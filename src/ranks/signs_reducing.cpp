#include "src/ranks/signs_reducing.hpp"

#include <cmath>
#include <cstring>

#include "kernels/reduce/signs.hpp"

namespace lpt {
namespace {

constexpr int64_t kSignsShareUnit = 512;  // elements: no two ranks write to the same byte
constexpr int64_t kSignsPiece = 1 << 16;  // elements; defines the order of sums of squares
constexpr int64_t kScaleBytes = sizeof(float);

int64_t message_bytes(const Range &share) { return share.count() == 0 ? 0 : kScaleBytes + (share.count() + 7) / 8; }

// A scale, and one sign bit for each element of a slice.
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
  SignsRun(Context &worker, Engine &engine, const SignsReductionPlan &reducing)
      : worker_(worker), engine_(engine), reducing_(reducing), ranks_(static_cast<size_t>(engine.ranks())) {}

  Status run() {
    Bytes mine;
    LPT_TRY(take_message(my_share(), mine));
    LPT_TRY(scatter({mine.data}));
    std::vector<Bytes> incoming(ranks_, mine);
    for (size_t q = 0; q < ranks_; ++q) {
      if (q != self()) LPT_TRY(take_space(worker_, engine_, message_bytes(reducing_.shares[q]), incoming[q]));
    }
    const std::vector<Bytes> outgoing(ranks_, mine);
    const ExchangeGuard guard(engine_);
    LPT_TRY(engine_.all_to_all_v(signature(), outgoing.data(), incoming.data()));
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
    return worker_.host_scratch->take(static_cast<size_t>(out_bytes.count), &out_bytes.data);
  }

  // Sends each rank the signs of its slice, and computes `sum` from the signs that this rank receives.
  Status scatter(const Message &sum) {
    LPT_TRY(add_input());
    std::vector<Bytes> outgoing(ranks_), incoming(ranks_);
    for (size_t q = 0; q < ranks_; ++q) {
      const Range &share = reducing_.shares[q];
      LPT_TRY(take_message(share, outgoing[q]));
      LPT_TRY(cast(reducing_.worker_error + share.begin, share.count(), {outgoing[q].data}));
      if (q != self()) LPT_TRY(take_space(worker_, engine_, message_bytes(my_share()), incoming[q]));
    }
    incoming[self()] = outgoing[self()];
    const ExchangeGuard guard(engine_);
    LPT_TRY(engine_.all_to_all_v(signature(), outgoing.data(), incoming.data()));
    LPT_TRY(average(incoming));
    LPT_TRY(engine_.release());
    return cast(reducing_.server_error, my_share().count(), sum);
  }

  Status add_input() {
    const FlatView line(reducing_.input);
    return for_subranges(worker_, subranges_of(reducing_.shares, kSignsPiece), kSignsPiece * kScaleBytes,
                         [&](const Subrange &subrange, std::byte *scratch) {
                           const int64_t begin = reducing_.shares[subrange.share].begin + subrange.begin;
                           const Range range{begin, begin + subrange.count};
                           const auto *const from = static_cast<const float *>(line.gathered(range, scratch).data);
                           add_numbers(from, subrange.count, reducing_.worker_error + begin);
                         });
  }

  // Casts values to a message and replaces them by the errors of the cast.
  Status cast(float *numbers, int64_t count, const Message &message) {
    if (count == 0) return {};
    const std::vector<Subrange> subranges = subranges_of({{0, count}}, kSignsPiece);
    std::vector<double> squares(subranges.size());
    LPT_TRY(for_subranges(worker_, subranges, 0, [&](const Subrange &subrange, std::byte *) {
      squares[static_cast<size_t>(subrange.begin / kSignsPiece)] = squares_of(numbers + subrange.begin, subrange.count);
    }));
    double sum = 0.0;
    for (const double square : squares) sum += square;
    const auto scale = static_cast<float>(std::sqrt(sum / static_cast<double>(count)));
    message.set_scale(scale);
    return for_subranges(worker_, subranges, 0, [&](const Subrange &subrange, std::byte *) {
      quantize_to_signs(scale, subrange.count, numbers + subrange.begin, message.signs_from(subrange.begin));
    });
  }

  // Adds the average of this rank's slice over all ranks to server_error.
  Status average(const std::vector<Bytes> &incoming) {
    const std::vector<Subrange> subranges = subranges_of({{0, my_share().count()}}, kSignsPiece / 4);
    return for_subranges(worker_, subranges, kSignsPiece / 4 * kScaleBytes,
                         [&](const Subrange &subrange, std::byte *scratch) {
                           auto *const sum = reinterpret_cast<float *>(scratch);
                           for (size_t q = 0; q < ranks_; ++q) {
                             const Message theirs{incoming[q].data};
                             const auto add = q == 0 ? scale_signs : add_signs;
                             add(theirs.signs_from(subrange.begin), theirs.scale(), subrange.count, sum);
                           }
                           for (int64_t i = 0; i < subrange.count; ++i) sum[i] /= static_cast<float>(ranks_);
                           add_numbers(sum, subrange.count, reducing_.server_error + subrange.begin);
                         });
  }

  Status write_output(const std::vector<Bytes> &incoming) {
    const FlatView line(reducing_.output);
    return for_subranges(worker_, subranges_of(reducing_.shares, kSignsPiece), kSignsPiece * kScaleBytes,
                         [&](const Subrange &subrange, std::byte *scratch) {
                           const int64_t begin = reducing_.shares[subrange.share].begin + subrange.begin;
                           const Range range{begin, begin + subrange.count};
                           const MatrixView place = line.writable_span(range, scratch);
                           const Message theirs{incoming[subrange.share].data};
                           scale_signs(theirs.signs_from(subrange.begin), theirs.scale(), subrange.count,
                                       static_cast<float *>(place.data));
                           line.write_back(range, place);
                         });
  }

  Context &worker_;
  Engine &engine_;
  const SignsReductionPlan &reducing_;
  const size_t ranks_;
};

}  // namespace

std::vector<Range> signs_shares(int64_t elements, int32_t ranks) {
  return equal_shares(elements, ranks, kSignsShareUnit);
}

Status reduce_signs_to_all(Context &worker, Engine &engine, const SignsReductionPlan &reducing) {
  return SignsRun(worker, engine, reducing).run();
}

}  // namespace lpt
