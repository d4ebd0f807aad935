// Reductions and gathers with codecs of the caller, against their definition.
#include "tests/comm/codecs.hpp"
#include "tests/comm/wire_oracle.hpp"

namespace lpt::test {
namespace {

using MakeCodec = lpt_comm_codec (*)(CodecCalls &);
constexpr MakeCodec kCodecs[] = {cut_codec, top_codec};

const Numbers &of(const Rank &self, const std::vector<Numbers> &all) { return all[static_cast<size_t>(self.rank)]; }

// Encodes and decodes one shard.
Numbers there_and_back(const lpt_comm_codec &codec, const float *first, int64_t count) {
  Numbers back(static_cast<size_t>(count));
  if (count == 0) return back;
  std::vector<uint8_t> bytes(static_cast<size_t>(codec.bytes_for(codec.user, count)));
  codec.encode(codec.user, first, count, bytes.data());
  codec.decode(codec.user, bytes.data(), count, back.data());
  return back;
}

// Returns the sum of elements [begin, end) of all ranks before it is encoded a second time.
Numbers summed(const lpt_comm_codec &codec, const std::vector<Numbers> &all, int64_t begin, int64_t end,
               bool is_average, float factor) {
  Numbers sum;
  for (const Numbers &numbers : all) {
    const Numbers theirs = there_and_back(codec, numbers.data() + begin, end - begin);
    if (sum.empty()) {
      sum = theirs;
      continue;
    }
    for (size_t i = 0; i < sum.size(); ++i) sum[i] += theirs[i];
  }
  for (float &number : sum) {
    if (is_average) number /= static_cast<float>(all.size());
    number *= factor;
  }
  return sum;
}

Numbers reduced(const lpt_comm_codec &codec, const std::vector<Numbers> &all, bool is_average = false,
                float factor = 1.0f) {
  const std::vector<int64_t> edges = share_edges(static_cast<int64_t>(all[0].size()), static_cast<int32_t>(all.size()));
  Numbers result;
  for (size_t q = 0; q < all.size(); ++q) {
    const Numbers sum = summed(codec, all, edges[q], edges[q + 1], is_average, factor);
    const Numbers share = there_and_back(codec, sum.data(), static_cast<int64_t>(sum.size()));
    result.insert(result.end(), share.begin(), share.end());
  }
  return result;
}

lpt_reduce_options options_of(const lpt_comm_codec &codec) {
  lpt_reduce_options options = LPT_REDUCE_OPTIONS_INIT;
  options.codec = &codec;
  return options;
}

lpt_status all_reduce(const Rank &self, const lpt_reduce_options &options, const Tensor &both) {
  return lpt_all_reduce(self.context, self.comm, both.get(), &options, both.get(), nullptr);
}

void all_reduces_by_a_codec(const Rank &self) {
  for (const MakeCodec make : kCodecs) {
    for (const int64_t count : {1, 511, 513, 3000, 9001}) {
      CodecCalls calls, own;
      const lpt_comm_codec codec = make(calls);
      const std::vector<Numbers> all = numbers_of_all(self.ranks, 500, count);
      Numbers numbers = of(self, all);
      const Tensor both = wrap(self.context, numbers, 1, count);
      ASSERT_TRUE(self.ok(all_reduce(self, options_of(codec), both)));
      ASSERT_EQ(reduced(make(own), all), numbers) << codec.name << " of " << count;
    }
  }
}

// Every rank encodes each shard once, and its reduced shard. The bytes sent are exactly those of the codec.
void encodes_each_number_once(const Rank &self) {
  constexpr int64_t kCount = 512 * 840;  // equal shards of 2, 3, 4, 8 ranks
  CodecCalls calls;
  const lpt_comm_codec codec = cut_codec(calls);
  Numbers numbers(kCount, 1.0f);
  const Tensor both = wrap(self.context, numbers, 1, kCount);
  const int64_t before = read(self).bytes_sent;
  ASSERT_TRUE(self.ok(all_reduce(self, options_of(codec), both)));
  EXPECT_EQ(self.ranks + 1, calls.encoded);
  EXPECT_EQ(1 + self.ranks, calls.decoded);
  EXPECT_EQ(self.ranks - 1, calls.added);
  EXPECT_EQ(2 * (self.ranks - 1) * (kCount / self.ranks) * 3 / 2, read(self).bytes_sent - before);
}

void finishes_sums_of_a_codec(const Rank &self) {
  constexpr int64_t kCount = 4000;
  CodecCalls calls;
  const lpt_comm_codec codec = cut_codec(calls);
  const std::vector<Numbers> all = numbers_of_all(self.ranks, 501, kCount);
  Numbers numbers = of(self, all);
  const Tensor both = wrap(self.context, numbers, 1, kCount);
  lpt_reduce_options options = options_of(codec);
  options.reduction = LPT_REDUCTION_AVERAGE;
  options.factor = 0.3;
  ASSERT_TRUE(self.ok(all_reduce(self, options, both)));
  EXPECT_EQ(reduced(codec, all, true, 0.3f), numbers);
}

// bf16 columns of a wider matrix, by several threads; other columns are unchanged. 12 bits of f32 represent bf16 exactly.
void moves_columns_of_bf16_by_a_codec(const Rank &self) {
  constexpr int64_t kRows = 61, kColumns = 147, kStride = 160;
  CodecCalls calls;
  const lpt_comm_codec codec = cut_codec(calls);
  std::vector<Numbers> all;
  std::vector<uint16_t> wide(kRows * kStride, 7);
  for (int32_t q = 0; q < self.ranks; ++q) {
    const std::vector<uint16_t> halves = halves_of(numbers_of(q, 502, kRows * kColumns));
    all.emplace_back();
    for (const uint16_t half : halves) all.back().push_back(float_of_bits(static_cast<uint32_t>(half) << 16));
    for (size_t i = 0; i < halves.size() && q == self.rank; ++i)
      wide[i / kColumns * kStride + i % kColumns] = halves[i];
  }
  ASSERT_TRUE(self.ok(lpt_context_set_threads(self.context, 2)));
  const Tensor both = wrap(self.context, LPT_FORMAT_BF16, wide.data(), kRows, kColumns, kStride);
  ASSERT_TRUE(self.ok(all_reduce(self, options_of(codec), both)));
  ASSERT_TRUE(self.ok(lpt_context_set_threads(self.context, 1)));
  const Numbers expected = reduced(codec, all);
  for (size_t i = 0; i < wide.size(); ++i) {
    const size_t row = i / kStride, column = i % kStride;
    const uint16_t found = column < kColumns ? bf16_of(expected[row * kColumns + column]) : uint16_t{7};
    ASSERT_EQ(found, wide[i]) << row << ", " << column;
  }
}

struct Part {
  std::vector<int64_t> counts;
  int64_t whole = 0, begin = 0, mine = 0;
};

// Shards of at least 700 elements, and none for rank 1.
Part parts_for(const Rank &self) {
  Part part;
  for (int32_t q = 0; q < self.ranks; ++q) {
    if (q == self.rank) part.begin = part.whole;
    part.counts.push_back(q == 1 ? 0 : 700 + 13 * q);
    part.whole += part.counts.back();
  }
  part.mine = part.counts[static_cast<size_t>(self.rank)];
  return part;
}

Tensor vector_of(const Rank &self, const Numbers &numbers) {
  const auto extent = static_cast<int64_t>(numbers.size());
  lpt_tensor_description description = LPT_TENSOR_DESCRIPTION_INIT;
  description.format = LPT_FORMAT_F32;
  description.data = const_cast<float *>(numbers.data());
  description.rank = 1;
  description.extents = &extent;
  Tensor tensor;
  EXPECT_TRUE(self.ok(lpt_tensor_wrap(self.context, &description, out(tensor))));
  return tensor;
}

void scatters_by_a_codec(const Rank &self) {
  const Part part = parts_for(self);
  const std::vector<Numbers> all = numbers_of_all(self.ranks, 503, part.whole);
  for (const MakeCodec make : kCodecs) {
    CodecCalls calls;
    const lpt_comm_codec codec = make(calls);
    Numbers found(static_cast<size_t>(part.mine));
    const Tensor input = vector_of(self, of(self, all)), output = vector_of(self, found);
    const lpt_reduce_options options = options_of(codec);
    ASSERT_TRUE(self.ok(
        lpt_reduce_scatter(self.context, self.comm, input.get(), part.counts.data(), &options, output.get(), nullptr)));
    EXPECT_EQ(summed(codec, all, part.begin, part.begin + part.mine, false, 1.0f), found) << codec.name;
  }
}

void gathers_by_a_codec(const Rank &self) {
  const Part part = parts_for(self);
  for (const MakeCodec make : kCodecs) {
    CodecCalls calls;
    const lpt_comm_codec codec = make(calls);
    Numbers expected, found(static_cast<size_t>(part.whole));
    for (int32_t q = 0; q < self.ranks; ++q) {
      const int64_t count = part.counts[static_cast<size_t>(q)];
      const Numbers theirs = there_and_back(codec, numbers_of(q, 504, count).data(), count);
      expected.insert(expected.end(), theirs.begin(), theirs.end());
    }
    const Numbers mine = numbers_of(self.rank, 504, part.mine);
    const Tensor input = vector_of(self, mine), output = vector_of(self, found);
    lpt_all_gather_options options = LPT_ALL_GATHER_OPTIONS_INIT;
    options.codec = &codec;
    ASSERT_TRUE(self.ok(
        lpt_all_gather(self.context, self.comm, input.get(), part.counts.data(), &options, output.get(), nullptr)));
    EXPECT_EQ(expected, found) << codec.name;
  }
}

void moves_many_by_a_codec(const Rank &self) {
  constexpr int64_t kCount = 3000;
  CodecCalls calls;
  const lpt_comm_codec codec = top_codec(calls);
  const std::vector<Numbers> all = numbers_of_all(self.ranks, 505, kCount);
  Numbers first(of(self, all).begin(), of(self, all).begin() + 1000),
      second(of(self, all).begin() + 1000, of(self, all).end());
  const Tensor a = wrap(self.context, first, 10, 100), b = wrap(self.context, second, 1, kCount - 1000);
  lpt_tensor *const tensors[] = {a.get(), b.get()};
  const lpt_reduce_options options = options_of(codec);
  ASSERT_TRUE(self.ok(lpt_all_reduce_many(self.context, self.comm, tensors, 2, &options, nullptr)));
  first.insert(first.end(), second.begin(), second.end());
  EXPECT_EQ(reduced(codec, all), first);
}

void rejects_what_no_codec_can_do(const Rank &self) {
  Numbers numbers(1000);
  std::vector<double> wide(1000);
  const Tensor both = wrap(self.context, numbers, 1, 1000), doubles = wrap(self.context, wide, 1, 1000);
  CodecCalls calls;
  const lpt_comm_codec good = cut_codec(calls);
  const auto rejected = [&](lpt_status status, const lpt_reduce_options &options, const Tensor &tensor,
                            const std::vector<const char *> &words) {
    EXPECT_EQ(status, all_reduce(self, options, tensor));
    expect_words(words, lpt_context_error(self.context));
  };
  rejected(LPT_UNSUPPORTED, options_of(good), doubles, {"input is f64", "codec"});
  lpt_reduce_options options = options_of(good);
  options.wire = LPT_FORMAT_INT8_1X32;
  rejected(LPT_INVALID_ARGUMENT, options, both, {"options->wire is int8_1x32", "codec"});
  options = options_of(good);
  options.algorithm = LPT_REDUCE_ALGORITHM_ONE_SHOT;
  rejected(LPT_UNSUPPORTED, options, both, {"options->algorithm", "TWO_SHOT"});
  options = options_of(good);
  options.rounding = LPT_ROUNDING_STOCHASTIC;
  rejected(LPT_INVALID_ARGUMENT, options, both, {"options->rounding"});
  options = options_of(good);
  options.reduction = LPT_REDUCTION_MAXIMUM;
  rejected(LPT_UNSUPPORTED, options, both, {"options->reduction", "AVERAGE"});
  const auto rejected_codec = [&](const lpt_comm_codec &codec, const std::vector<const char *> &words) {
    rejected(LPT_INVALID_ARGUMENT, options_of(codec), both, words);
  };
  lpt_comm_codec bad = good;
  std::strcpy(bad.name, "thirteen byte");
  rejected_codec(bad, {"codec->name is \"thirteen byte\"", "1 to 12"});
  bad = LPT_COMM_CODEC_INIT;
  rejected_codec(bad, {"codec->name is \"\""});
  bad = good;
  bad.bytes_for = [](void *, int64_t) { return int64_t{-1}; };
  rejected_codec(bad, {"codec->bytes_for gives -1"});
  bad = good;
  bad.decode = nullptr;
  rejected_codec(bad, {"codec->decode is NULL"});
  bad = good;
  bad.struct_size = 3;
  rejected_codec(bad, {"options->codec->struct_size is 3"});
  EXPECT_EQ(0, calls.encoded);
}

}  // namespace

std::vector<Case> codec_cases() {
  return {{"AllReducesByACodec", all_reduces_by_a_codec},
          {"EncodesEachNumberOnce", encodes_each_number_once},
          {"FinishesSumsOfACodec", finishes_sums_of_a_codec},
          {"MovesColumnsOfBf16ByACodec", moves_columns_of_bf16_by_a_codec},
          {"ScattersByACodec", scatters_by_a_codec},
          {"GathersByACodec", gathers_by_a_codec},
          {"MovesManyByACodec", moves_many_by_a_codec},
          {"RejectsWhatNoCodecCanDo", rejects_what_no_codec_can_do}};
}

}  // namespace lpt::test
