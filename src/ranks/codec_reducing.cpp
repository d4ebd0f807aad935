#include "src/ranks/codec_reducing.hpp"

#include <cstring>

#include "kernels/reduce/signs.hpp"

namespace lpt {
namespace {

constexpr int64_t kShareUnit = 512;  // elements; slices begin at multiples of it, as with wire formats
constexpr int64_t kPiece = 1 << 16;  // elements that a thread converts at a time
constexpr size_t kLongestName = 12;  // bytes; it fits in a message header with the longest operation

Status check_codec(const lpt_comm_codec &codec) {
  const size_t length = strnlen(codec.name, sizeof codec.name);
  if (length == 0 || length > kLongestName) {
    return invalid("codec->name is \"%.16s\": expected 1 to %zu bytes", codec.name, kLongestName);
  }
  if (codec.bytes_for == nullptr) return invalid("codec->bytes_for is NULL: expected a function");
  if (codec.encode == nullptr) return invalid("codec->encode is NULL: expected a function");
  if (codec.decode == nullptr) return invalid("codec->decode is NULL: expected a function");
  return {};
}

Status find_sizes(CodecPlan &moving) {
  constexpr int64_t kMostBytes = int64_t{1} << 56;
  for (const Range &share : moving.shares) {
    const int64_t bytes = share.count() == 0 ? 0 : moving.codec.bytes_for(moving.codec.user, share.count());
    if (bytes < 0 || bytes > kMostBytes) {
      return invalid("codec->bytes_for gives %lld for %lld elements: expected a number of bytes", number(bytes),
                     number(share.count()));
    }
    moving.bytes.push_back(bytes);
  }
  return {};
}

// A sum of one source: converts elements between two wide formats.
ReduceRequest change_request(lpt_format from, lpt_format to) {
  ReduceRequest request{};
  request.format = from;
  request.target_format = to;
  request.reduction = Reduction::kSum;
  request.source_count = request.target_count = 1;
  request.factor = 1.0;
  return request;
}

Status choose_change(Context &context, lpt_format from, lpt_format to, const KernelEntry<ReduceRequest> **out_kernel) {
  return select_kernel(context, "reduce", reduce_kernels(), change_request(from, to), {from, to}, out_kernel);
}

void change(const KernelEntry<ReduceRequest> &kernel, lpt_format from, const void *source, lpt_format to, void *target,
            int64_t count) {
  ReduceRequest request = change_request(from, to);
  request.elements = count;
  request.sources = &source;
  request.targets = &target;
  kernel.run(request);
}

Status check_choices(const lpt_reduce_options &options, const Format &own) {
  if (options.wire != LPT_FORMAT_NONE) {
    return invalid("options->wire is %s beside a codec: expected LPT_FORMAT_NONE", format_name(options.wire).c_str());
  }
  if (options.algorithm == LPT_REDUCE_ALGORITHM_ONE_SHOT) {
    return unsupported("options->algorithm is LPT_REDUCE_ALGORITHM_ONE_SHOT: expected AUTO or TWO_SHOT with a codec");
  }
  if (options.rounding != LPT_ROUNDING_NEAREST_EVEN) {
    return invalid("options->rounding is %d: expected LPT_ROUNDING_NEAREST_EVEN with a codec", options.rounding);
  }
  if (options.reduction != LPT_REDUCTION_SUM && options.reduction != LPT_REDUCTION_AVERAGE) {
    return unsupported("options->reduction is %d: expected LPT_REDUCTION_SUM or LPT_REDUCTION_AVERAGE with a codec",
                       options.reduction);
  }
  return own.id == LPT_FORMAT_F64 ? unsupported("input is f64: expected f32, bf16 or f16 with a codec") : Status();
}

class CodecRun {
 public:
  CodecRun(Context &worker, Engine &engine, const CodecPlan &moving)
      : worker_(worker), engine_(engine), moving_(moving), ranks_(static_cast<size_t>(engine.ranks())) {}

  Status to_all(const PartWork &between) {
    Bytes mine;
    float *sum = nullptr;
    LPT_TRY(take_message(self(), mine));
    LPT_TRY(scatter(sum));
    if (between) LPT_TRY(between(worker_, dense_view(LPT_FORMAT_F32, sum, 1, my_count())));
    LPT_TRY(encode(sum, self(), mine));
    return gather(mine);
  }

  Status to_parts() {
    float *sum = nullptr;
    LPT_TRY(scatter(sum));
    return write_output({{0, my_count()}}, sum);
  }

  Status gather_parts() {
    Bytes mine;
    const float *numbers = nullptr;
    LPT_TRY(take_message(self(), mine));
    LPT_TRY(read_input(my_count(), numbers));
    LPT_TRY(encode(numbers, self(), mine));
    return gather(mine);
  }

 private:
  size_t self() const { return static_cast<size_t>(engine_.rank()); }
  int64_t count_of(size_t share) const { return moving_.shares[share].count(); }
  int64_t my_count() const { return count_of(self()); }
  Signature signature() const {
    return {moving_.operation.c_str(), moving_.input.format.id, moving_.rows, moving_.columns, moving_.choice};
  }

  Status take_message(size_t share, Bytes &out_bytes) {
    out_bytes = {nullptr, moving_.bytes[share]};
    return worker_.host_scratch->take(static_cast<size_t>(out_bytes.count), &out_bytes.data);
  }

  Status take_numbers(int64_t count, float *&out_numbers) {
    std::byte *bytes = nullptr;
    LPT_TRY(worker_.host_scratch->take(static_cast<size_t>(count) * sizeof(float), &bytes));
    out_numbers = reinterpret_cast<float *>(bytes);
    return {};
  }

  // Returns the input as contiguous f32: in place, or converted into scratch.
  Status read_input(int64_t count, const float *&out_numbers) {
    const FlatView line(moving_.input);
    const lpt_format own = moving_.input.format.id;
    if (own == LPT_FORMAT_F32 && line.is_run({0, count})) {
      out_numbers = static_cast<const float *>(line.run({0, count}).data);
      return {};
    }
    float *numbers = nullptr;
    LPT_TRY(take_numbers(count, numbers));
    out_numbers = numbers;
    return for_subranges(
        worker_, subranges_of({{0, count}}, kPiece), line.bytes(kPiece), [&](const Subrange &subrange, std::byte *s) {
          const MatrixView piece = line.gathered({subrange.begin, subrange.begin + subrange.count}, s);
          change(*moving_.to_f32, own, piece.data, LPT_FORMAT_F32, numbers + subrange.begin, subrange.count);
        });
  }

  // Rounds the values of adjacent ranges to the output's format and writes them.
  Status write_output(const std::vector<Range> &ranges, const float *numbers) {
    const FlatView line(moving_.output);
    return for_subranges(worker_, subranges_of(ranges, kPiece), line.bytes(kPiece),
                         [&](const Subrange &subrange, std::byte *scratch) {
                           const int64_t begin = ranges[subrange.share].begin + subrange.begin;
                           const Range range{begin, begin + subrange.count};
                           const MatrixView place = line.writable_span(range, scratch);
                           change(*moving_.from_f32, LPT_FORMAT_F32, numbers + begin, moving_.output.format.id,
                                  place.data, subrange.count);
                           line.write_back(range, place);
                         });
  }

  Status answer(int32_t code, const char *function, int64_t count) const {
    if (code == 0) return {};
    return Status(LPT_ABORTED,
                  text("codec %s: %s gives %d for %lld elements", moving_.name.c_str(), function, code, number(count)));
  }

  Status encode(const float *numbers, size_t share, const Bytes &target) const {
    const int64_t count = count_of(share);
    if (count == 0) return {};
    return answer(moving_.codec.encode(moving_.codec.user, numbers, count, target.data), "encode", count);
  }

  Status decode(const Bytes &source, int64_t count, float *numbers) const {
    if (count == 0) return {};
    return answer(moving_.codec.decode(moving_.codec.user, source.data, count, numbers), "decode", count);
  }

  Status decode_add(const Bytes &source, int64_t count, float *scratch, float *sum) const {
    if (count == 0) return {};
    if (moving_.codec.decode_add != nullptr) {
      return answer(moving_.codec.decode_add(moving_.codec.user, source.data, count, sum), "decode_add", count);
    }
    LPT_TRY(decode(source, count, scratch));
    add_numbers(scratch, count, sum);
    return {};
  }

  // Runs body(share) for all slices, on all threads. Returns the first error in slice order.
  template <typename Body>
  Status for_shares(const Body &body) {
    std::vector<Status> results(ranks_);
    parallel_for(worker_, static_cast<int64_t>(ranks_),
                 [&](int64_t i) { results[static_cast<size_t>(i)] = body(static_cast<size_t>(i)); });
    for (const Status &result : results) LPT_TRY(result);
    return {};
  }

  // Sends each rank its slice and adds the slices that this rank receives.
  Status scatter(float *&out_sum) {
    const float *numbers = nullptr;
    LPT_TRY(read_input(moving_.shares.back().end, numbers));
    std::vector<Bytes> outgoing(ranks_), incoming(ranks_);
    for (size_t q = 0; q < ranks_; ++q) {
      LPT_TRY(take_message(q, outgoing[q]));
      if (q != self()) LPT_TRY(take_space(worker_, engine_, moving_.bytes[self()], incoming[q]));
    }
    LPT_TRY(for_shares([&](size_t q) { return encode(numbers + moving_.shares[q].begin, q, outgoing[q]); }));
    incoming[self()] = outgoing[self()];
    const ExchangeGuard guard(engine_);
    LPT_TRY(engine_.all_to_all_v(signature(), outgoing.data(), incoming.data()));
    LPT_TRY(add(incoming, out_sum));
    return engine_.release();
  }

  // Adds in rank order.
  Status add(const std::vector<Bytes> &incoming, float *&out_sum) {
    const int64_t count = my_count();
    float *scratch = nullptr;
    LPT_TRY(take_numbers(count, out_sum));
    if (moving_.codec.decode_add == nullptr) LPT_TRY(take_numbers(count, scratch));
    LPT_TRY(decode(incoming[0], count, out_sum));
    for (size_t q = 1; q < ranks_; ++q) LPT_TRY(decode_add(incoming[q], count, scratch, out_sum));
    const auto factor = static_cast<float>(moving_.factor);
    const float divisor = moving_.is_average ? static_cast<float>(ranks_) : 1.0f;
    for (int64_t i = 0; i < count; ++i) out_sum[i] = out_sum[i] / divisor * factor;
    return {};
  }

  // All slices are decoded before the output is written, as a codec may fail.
  Status gather(const Bytes &mine) {
    std::vector<Bytes> incoming(ranks_, mine);
    for (size_t q = 0; q < ranks_; ++q) {
      if (q != self()) LPT_TRY(take_space(worker_, engine_, moving_.bytes[q], incoming[q]));
    }
    const std::vector<Bytes> outgoing(ranks_, mine);
    float *numbers = nullptr;
    LPT_TRY(take_numbers(moving_.shares.back().end, numbers));
    const ExchangeGuard guard(engine_);
    LPT_TRY(engine_.all_to_all_v(signature(), outgoing.data(), incoming.data()));
    LPT_TRY(for_shares([&](size_t q) { return decode(incoming[q], count_of(q), numbers + moving_.shares[q].begin); }));
    LPT_TRY(engine_.release());
    return write_output(moving_.shares, numbers);
  }

  Context &worker_;
  Engine &engine_;
  const CodecPlan &moving_;
  const size_t ranks_;
};

}  // namespace

Status prepare_codec(Context &context, const lpt_comm_codec &codec, const char *operation, CodecPlan &moving) {
  LPT_TRY(check_codec(codec));
  moving.codec = codec;
  moving.name = codec.name;
  moving.operation = text("%s by %s", operation, codec.name);
  LPT_TRY(find_sizes(moving));
  const lpt_format own = moving.input.format.id;
  LPT_TRY(choose_change(context, own, LPT_FORMAT_F32, &moving.to_f32));
  return choose_change(context, LPT_FORMAT_F32, own, &moving.from_f32);
}

Status prepare_codec_reducing(Context &context, const lpt_reduce_options &options, const ReductionPlan &reducing,
                              int32_t ranks, bool is_to_all, CodecPlan &out_moving) {
  LPT_TRY(check_choices(options, reducing.input.format));
  out_moving.input = reducing.input;
  out_moving.output = reducing.output;
  out_moving.is_average = reducing.reduction == Reduction::kAverage;
  out_moving.factor = reducing.factor;
  out_moving.rows = reducing.input.rows;
  out_moving.columns = reducing.input.columns;
  out_moving.choice = (static_cast<int64_t>(reducing.reduction) | reducing.site << 4) ^ agreed_factor(reducing.factor);
  out_moving.shares =
      is_to_all ? equal_shares(reducing.input.rows * reducing.input.columns, ranks, kShareUnit) : reducing.shares;
  LPT_TRY(prepare_codec(context, *options.codec, is_to_all ? "all_reduce" : "reduce_scatter", out_moving));
  log_selected(context, reducing.operation, "by the caller's codec");
  return {};
}

Status reduce_to_all_by_codec(Context &worker, Engine &engine, const CodecPlan &moving, const PartWork &between) {
  return CodecRun(worker, engine, moving).to_all(between);
}

Status reduce_to_parts_by_codec(Context &worker, Engine &engine, const CodecPlan &moving) {
  return CodecRun(worker, engine, moving).to_parts();
}

Status gather_by_codec(Context &worker, Engine &engine, const CodecPlan &moving) {
  return CodecRun(worker, engine, moving).gather_parts();
}

}  // namespace lpt
