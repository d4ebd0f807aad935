// Collectives that copy tensors preserve all bits in every format.
#include <cmath>

#include "tests/comm/suite.hpp"

namespace lpt::test {
namespace {

constexpr int64_t kColumns = 96;

// Rows that every rank can compute: row r of rank q.
std::vector<double> rows_of(int32_t rank, uint64_t place, int64_t rows) {
  std::vector<double> numbers;
  for (const float number : numbers_of(rank, place, rows * kColumns)) numbers.push_back(static_cast<double>(number));
  return numbers;
}

Tensor cast_of(const Rank &self, lpt_format format, int64_t rows, const std::vector<double> &numbers) {
  const Tensor source = wrap(self.context, numbers, rows, kColumns);
  Tensor target = make_tensor(self.context, format, rows, kColumns);
  EXPECT_TRUE(self.ok(lpt_quantize(self.context, source.get(), nullptr, target.get(), nullptr)));
  return target;
}

// Returns all bytes of a tensor: payload and scales.
std::vector<std::vector<uint8_t>> bytes_of(const Rank &self, const lpt_tensor *tensor) {
  std::vector<std::vector<uint8_t>> bytes;
  for (const lpt_tensor_part part : parts_of(describe(self.context, tensor).format)) {
    bytes.push_back(plain_bytes(self.context, part_of(self.context, tensor, part).get()));
  }
  return bytes;
}

const std::vector<lpt_format> kParted = {LPT_FORMAT_E4M3FN_ROW, LPT_FORMAT_MXFP8_E4M3, LPT_FORMAT_MXFP4,
                                         LPT_FORMAT_INT4_1X32,  LPT_FORMAT_UINT4_1X32, LPT_FORMAT_E4M3FN_1X128};

std::vector<int64_t> uneven_counts(int32_t ranks) {
  std::vector<int64_t> counts;
  for (int32_t q = 0; q < ranks; ++q) counts.push_back(q == 1 ? 0 : 1 + 2 * q);
  return counts;
}

void gathers_parts_of_any_format(const Rank &self) {
  const std::vector<int64_t> counts = uneven_counts(self.ranks);
  int64_t whole = 0;
  std::vector<double> all;
  for (int32_t q = 0; q < self.ranks; ++q) {
    const int64_t rows = counts[static_cast<size_t>(q)];
    const std::vector<double> theirs = rows_of(q, 21, rows);
    all.insert(all.end(), theirs.begin(), theirs.end());
    whole += rows;
  }
  for (const lpt_format format : kParted) {
    const int64_t mine = counts[static_cast<size_t>(self.rank)];
    const Tensor part = cast_of(self, format, mine, rows_of(self.rank, 21, mine));
    const Tensor gathered = make_tensor(self.context, format, whole, kColumns);
    ASSERT_TRUE(
        self.ok(lpt_all_gather(self.context, self.comm, part.get(), counts.data(), nullptr, gathered.get(), nullptr)));
    EXPECT_EQ(bytes_of(self, cast_of(self, format, whole, all).get()), bytes_of(self, gathered.get()))
        << name_of(format);
  }
}

void gathers_in_place(const Rank &self) {
  constexpr int64_t kRows = 50;
  std::vector<float> all(static_cast<size_t>(self.ranks * kRows * kColumns), -1.0f);
  const Tensor whole = wrap(self.context, all, self.ranks * kRows, kColumns);
  const Tensor part = view(self.context, whole.get(), {self.rank * kRows, 0}, {kRows, kColumns});
  const std::vector<float> mine = numbers_of(self.rank, 22, kRows * kColumns);
  std::copy(mine.begin(), mine.end(), all.begin() + self.rank * kRows * kColumns);
  ASSERT_TRUE(self.ok(lpt_all_gather(self.context, self.comm, part.get(), nullptr, nullptr, whole.get(), nullptr)));
  for (int32_t q = 0; q < self.ranks; ++q) {
    const std::vector<float> theirs = numbers_of(q, 22, kRows * kColumns);
    EXPECT_TRUE(std::equal(theirs.begin(), theirs.end(), all.begin() + q * kRows * kColumns)) << q;
  }
}

void broadcasts_any_format(const Rank &self) {
  std::vector<lpt_format> formats = kParted;
  formats.insert(formats.end(), {LPT_FORMAT_NVFP4, LPT_FORMAT_INT8_TENSOR, LPT_FORMAT_BF16, LPT_FORMAT_E5M2});
  for (int32_t root = 0; root < self.ranks; ++root) {
    const lpt_format format = formats[static_cast<size_t>(root) % formats.size()];
    const Tensor expected = cast_of(self, format, 20, rows_of(root, 23, 20));
    const Tensor tensor = cast_of(self, format, 20, rows_of(self.rank, 23, 20));
    ASSERT_TRUE(self.ok(lpt_broadcast(self.context, self.comm, root, tensor.get(), nullptr)));
    EXPECT_EQ(bytes_of(self, expected.get()), bytes_of(self, tensor.get())) << name_of(format);
  }
}

// Rank s sends (s + 2 d) mod 5 rows to rank d.
int64_t rows_between(int32_t from, int32_t to) { return (from + 2 * to) % 5; }

void sends_each_its_part(const Rank &self) {
  for (const lpt_format format : kParted) {
    std::vector<int64_t> sent, received;
    std::vector<double> input, expected;
    for (int32_t q = 0; q < self.ranks; ++q) {
      sent.push_back(rows_between(self.rank, q));
      received.push_back(rows_between(q, self.rank));
      const uint64_t here = 100 + static_cast<uint64_t>(q), there = 100 + static_cast<uint64_t>(self.rank);
      const std::vector<double> to = rows_of(self.rank, here, sent.back());
      const std::vector<double> from = rows_of(q, there, received.back());
      input.insert(input.end(), to.begin(), to.end());
      expected.insert(expected.end(), from.begin(), from.end());
    }
    const int64_t from_rows = static_cast<int64_t>(input.size()) / kColumns;
    const int64_t to_rows = static_cast<int64_t>(expected.size()) / kColumns;
    const Tensor source = cast_of(self, format, from_rows, input);
    const Tensor target = make_tensor(self.context, format, to_rows, kColumns);
    ASSERT_TRUE(self.ok(
        lpt_all_to_all(self.context, self.comm, source.get(), sent.data(), received.data(), target.get(), nullptr)));
    EXPECT_EQ(bytes_of(self, cast_of(self, format, to_rows, expected).get()), bytes_of(self, target.get()))
        << name_of(format);
  }
}

// Sends around a ring with two tags at once, and receives the second tag first.
void sends_around_a_ring(const Rank &self) {
  if (self.ranks == 1) return;
  const int32_t next = (self.rank + 1) % self.ranks, before = (self.rank + self.ranks - 1) % self.ranks;
  const Tensor first = cast_of(self, LPT_FORMAT_NVFP4, 8, rows_of(self.rank, 31, 8));
  const Tensor second = cast_of(self, LPT_FORMAT_F32, 300, rows_of(self.rank, 32, 300));
  lpt_future *futures[2] = {};
  ASSERT_TRUE(self.ok(lpt_send(self.context, self.comm, first.get(), next, 4, &futures[0])));
  ASSERT_TRUE(self.ok(lpt_send(self.context, self.comm, second.get(), next, 9, &futures[1])));
  const Tensor got_second = make_tensor(self.context, LPT_FORMAT_F32, 300, kColumns);
  const Tensor got_first = make_tensor(self.context, LPT_FORMAT_NVFP4, 8, kColumns);
  ASSERT_TRUE(self.ok(lpt_receive(self.context, self.comm, got_second.get(), before, 9, nullptr)));
  ASSERT_TRUE(self.ok(lpt_receive(self.context, self.comm, got_first.get(), before, 4, nullptr)));
  for (lpt_future *future : futures) {
    EXPECT_TRUE(self.ok(lpt_future_wait(self.context, future)));
    lpt_future_destroy(future);
  }
  const Tensor expected_first = cast_of(self, LPT_FORMAT_NVFP4, 8, rows_of(before, 31, 8));
  const Tensor expected_second = cast_of(self, LPT_FORMAT_F32, 300, rows_of(before, 32, 300));
  EXPECT_EQ(bytes_of(self, expected_first.get()), bytes_of(self, got_first.get()));
  EXPECT_EQ(bytes_of(self, expected_second.get()), bytes_of(self, got_second.get()));
}

// A grid of two columns: sums along its rows, then along its columns.
void splits_into_a_grid(const Rank &self) {
  lpt_comm *raw_row = nullptr, *raw_column = nullptr, *raw_none = nullptr;
  ASSERT_TRUE(self.ok(lpt_comm_split(self.context, self.comm, self.rank / 2, self.rank, &raw_row)));
  ASSERT_TRUE(self.ok(lpt_comm_split(self.context, self.comm, self.rank % 2, -self.rank, &raw_column)));
  ASSERT_TRUE(self.ok(lpt_comm_split(self.context, self.comm, -1, 0, &raw_none)));
  const Comm row(raw_row), column(raw_column);
  EXPECT_EQ(nullptr, raw_none);
  const Rank in_row{self.context, row.get(), self.rank % 2, 0}, in_column{self.context, column.get(), 0, 0};
  EXPECT_EQ(self.rank % 2, read(in_row).rank);
  EXPECT_EQ(std::min(2, self.ranks - self.rank / 2 * 2), read(in_row).rank_count);
  // Keys decrease with the rank, so that the last rank is first.
  const int32_t rows = (self.ranks - self.rank % 2 + 1) / 2;
  EXPECT_EQ(rows - 1 - self.rank / 2, read(in_column).rank);
  EXPECT_EQ(rows, read(in_column).rank_count);
  double expected_row = 0, expected_column = 0;
  for (int32_t q = 0; q < self.ranks; ++q) {
    if (q / 2 == self.rank / 2) expected_row += q + 1;
    if (q % 2 == self.rank % 2) expected_column += q + 1;
  }
  for (const auto &[comm, expected] : {std::pair(row.get(), expected_row), std::pair(column.get(), expected_column)}) {
    std::vector<double> number = {self.rank + 1.0};
    const Tensor both = wrap(self.context, number, 1, 1);
    ASSERT_TRUE(self.ok(lpt_all_reduce(self.context, comm, both.get(), nullptr, both.get(), nullptr)));
    EXPECT_EQ(expected, number[0]);
  }
}

// A gather with a cast has the bits of a cast of the full tensor: its scale, its rotation, and its random bits.
void casts_parts_like_the_full_tensor(const Rank &self) {
  const std::vector<int64_t> counts = uneven_counts(self.ranks);
  const int64_t mine = counts[static_cast<size_t>(self.rank)];
  std::vector<int8_t> ones(kColumns, 1);
  for (size_t i = 0; i < ones.size(); i += 3) ones[i] = -1;
  const Tensor signs = wrap(self.context, LPT_FORMAT_INT8, ones.data(), 1, kColumns);
  const auto compare = [&](lpt_format format, const char *name, const auto &change, double outlier) {
    lpt_quantize_options cast = LPT_QUANTIZE_OPTIONS_INIT;
    change(cast);
    std::vector<double> all, own;
    for (int32_t q = 0; q < self.ranks; ++q) {
      std::vector<double> theirs = rows_of(q, 24, counts[static_cast<size_t>(q)]);
      for (double &number : theirs) number *= q == 0 && self.ranks > 1 ? 0.0 : std::ldexp(1.0, q);
      if (q + 1 == self.ranks && !theirs.empty()) theirs[5] = outlier;
      all.insert(all.end(), theirs.begin(), theirs.end());
      if (q == self.rank) own = theirs;
    }
    const auto rows = static_cast<int64_t>(all.size()) / kColumns;
    const Tensor whole = wrap(self.context, all, rows, kColumns), part = wrap(self.context, own, mine, kColumns);
    const Tensor expected = make_tensor(self.context, format, rows, kColumns),
                 found = make_tensor(self.context, format, rows, kColumns);
    ASSERT_TRUE(self.ok(lpt_quantize(self.context, whole.get(), &cast, expected.get(), nullptr)));
    lpt_all_gather_options options = LPT_ALL_GATHER_OPTIONS_INIT;
    options.cast = &cast;
    lpt_future *raw = nullptr;
    ASSERT_TRUE(
        self.ok(lpt_all_gather(self.context, self.comm, part.get(), counts.data(), &options, found.get(), &raw)));
    const Owned<lpt_future> future(raw);
    ASSERT_TRUE(self.ok(lpt_future_wait(self.context, raw)));
    EXPECT_EQ(bytes_of(self, expected.get()), bytes_of(self, found.get())) << name_of(format) << ", " << name;
  };
  for (const lpt_format format : {LPT_FORMAT_E4M3FN_TENSOR, LPT_FORMAT_INT8_TENSOR, LPT_FORMAT_NVFP4,
                                  LPT_FORMAT_INT8_ROW, LPT_FORMAT_MXFP8_E4M3, LPT_FORMAT_INT4_1X32, LPT_FORMAT_BF16}) {
    compare(
        format, "defaults", [](lpt_quantize_options &) {}, -300.0);
    compare(
        format, "NaN", [](lpt_quantize_options &) {}, static_cast<double>(NAN));
    compare(
        format, "rotation",
        [&](lpt_quantize_options &o) {
          o.hadamard_size = 32;
          o.hadamard_signs = signs.get();
        },
        -300.0);
    compare(
        format, "random",
        [](lpt_quantize_options &o) {
          o.rounding = LPT_ROUNDING_STOCHASTIC;
          o.random = {7, 100, 0, 8, 9};
        },
        -300.0);
  }
  compare(
      LPT_FORMAT_E4M3FN_TENSOR, "power of two",
      [](lpt_quantize_options &o) { o.scale_rule = LPT_SCALE_RULE_POWER_OF_TWO; }, -300.0);
  compare(
      LPT_FORMAT_E4M3FN_TENSOR, "zeros", [](lpt_quantize_options &) {}, 0.0);
}

void rejects_casts_that_depend_on_more(const Rank &self) {
  const Tensor part = make_tensor(self.context, LPT_FORMAT_F32, 2, kColumns);
  const Tensor whole = make_tensor(self.context, LPT_FORMAT_INT8_TENSOR, 2 * self.ranks, kColumns);
  lpt_quantize_options cast = LPT_QUANTIZE_OPTIONS_INIT;
  lpt_all_gather_options options = LPT_ALL_GATHER_OPTIONS_INIT;
  options.cast = &cast;
  const auto rejected = [&](lpt_status status, const lpt_tensor *input, const char *words) {
    EXPECT_EQ(status, lpt_all_gather(self.context, self.comm, input, nullptr, &options, whole.get(), nullptr));
    expect_words({words}, lpt_context_error(self.context));
    cast = LPT_QUANTIZE_OPTIONS_INIT;
  };
  cast.scale_rule = LPT_SCALE_RULE_MSE;
  rejected(LPT_UNSUPPORTED, part.get(), "options->cast: scale_rule is");
  cast.flags = LPT_CHECK_ONLY;
  rejected(LPT_INVALID_ARGUMENT, part.get(), "options->cast: flags has LPT_CHECK_ONLY");
  cast.hadamard_size = 24;
  rejected(LPT_INVALID_ARGUMENT, part.get(), "options->cast: hadamard_size is 24");
  cast.random_words = part.get();
  rejected(LPT_UNSUPPORTED, part.get(), "options->cast: random_words is given");
  cast.scaler = reinterpret_cast<lpt_scaler *>(self.context);
  rejected(LPT_UNSUPPORTED, part.get(), "options->cast: scaler is given");
  cast.struct_size = 3;
  rejected(LPT_INVALID_ARGUMENT, part.get(), "options->cast->struct_size is 3");
  rejected(LPT_INVALID_ARGUMENT, make_tensor(self.context, LPT_FORMAT_F32, 3, kColumns).get(),
           "input is 3 x 96 f32: expected extent 2");
  rejected(LPT_UNSUPPORTED, make_tensor(self.context, LPT_FORMAT_INT8_ROW, 2, kColumns).get(), "input is");
  lpt_comm_codec codec = LPT_COMM_CODEC_INIT;
  options.codec = &codec;
  rejected(LPT_INVALID_ARGUMENT, part.get(), "options->codec and options->cast are set");
}

}  // namespace

std::vector<Case> move_cases() {
  return {{"GathersPartsOfAnyFormat", gathers_parts_of_any_format},
          {"GathersInPlace", gathers_in_place},
          {"CastsPartsLikeTheFullTensor", casts_parts_like_the_full_tensor},
          {"RejectsCastsThatDependOnMore", rejects_casts_that_depend_on_more},
          {"BroadcastsAnyFormat", broadcasts_any_format},
          {"SendsEachItsPart", sends_each_its_part},
          {"SendsAroundARing", sends_around_a_ring, true},
          {"SplitsIntoAGrid", splits_into_a_grid, true}};
}

}  // namespace lpt::test
