// Reductions by levels: groups of ranks reduce parts, ranks with the same index in their groups reduce these over groups.
#include <cmath>

#include "tests/comm/buckets.hpp"
#include "tests/comm/codecs.hpp"
#include "tests/comm/wire_oracle.hpp"

namespace lpt::test {
namespace {

// The comms of this rank: of its group of `size` adjacent ranks, and of the ranks with its index in their groups.
struct Levels {
  Levels(const Rank &self, int32_t size) : size(size) {
    lpt_comm *raw = nullptr;
    EXPECT_TRUE(self.ok(lpt_comm_split(self.context, self.comm, self.rank / size, self.rank, &raw)));
    inner.reset(raw);
    EXPECT_TRUE(self.ok(lpt_comm_split(self.context, self.comm, self.rank % size, self.rank, &raw)));
    outer.reset(raw);
  }

  int32_t size;
  Comm inner, outer;
};

std::vector<int32_t> sizes_of(int32_t ranks) {
  std::vector<int32_t> sizes;
  for (int32_t size = 1; size <= ranks; ++size) {
    if (ranks % size == 0) sizes.push_back(size);
  }
  return sizes;
}

// The definition: parts of the groups, their reduction over groups, and the second cast within a group. The wire f32 stands
// for elements that are not cast.
Numbers reduced_by_levels(lpt_context *context, const Plan &inner, const Plan &outer, const std::vector<Numbers> &all,
                          int32_t size) {
  const std::vector<int64_t> edges = share_edges(static_cast<int64_t>(all[0].size()), size);
  Numbers result;
  for (size_t part = 0; part < static_cast<size_t>(size); ++part) {
    std::vector<Numbers> parts;
    for (size_t first = 0; first < all.size(); first += static_cast<size_t>(size)) {
      const auto group = all.begin() + static_cast<std::ptrdiff_t>(first);
      parts.push_back(reduced_share(context, inner, {group, group + size}, edges[part], edges[part + 1]));
    }
    Plan next = outer;
    next.random.offset += inner.random.offset + static_cast<uint64_t>(edges[part]);
    const Numbers sum = reduced(context, next, parts);
    const Numbers share = there_and_back(context, inner, sum, inner.random.seed, 1, edges[part]);
    result.insert(result.end(), share.begin(), share.end());
  }
  return result;
}

lpt_reduce_options options_by_levels(const Plan &inner, const Levels &levels, const lpt_reduce_options &outer) {
  lpt_reduce_options options = options_of(inner);
  options.outer_comm = levels.outer.get();
  options.outer = &outer;
  return options;
}

const Numbers &of(const Rank &self, const std::vector<Numbers> &all) { return all[static_cast<size_t>(self.rank)]; }

// Compares a reduction for every size of groups with its definition.
void compare(const Rank &self, const Plan &inner, const Plan &outer, const std::vector<Numbers> &all) {
  const lpt_reduce_options next = options_of(outer);
  for (const int32_t size : sizes_of(self.ranks)) {
    const Levels levels(self, size);
    lpt_reduce_options options = options_by_levels(inner, levels, next);
    Numbers numbers = of(self, all);
    const bool is_cast = size > 1 && static_cast<int64_t>(numbers.size()) >= 512 * size;  // by AUTO too
    if (is_cast) options.algorithm = LPT_REDUCE_ALGORITHM_AUTO;
    const Tensor both = wrap(self.context, numbers, 1, static_cast<int64_t>(numbers.size()));
    ASSERT_TRUE(self.ok(lpt_all_reduce(self.context, levels.inner.get(), both.get(), &options, both.get(), nullptr)));
    ASSERT_EQ(reduced_by_levels(self.context, inner, outer, all, size), numbers)
        << name_of(inner.wire) << " in groups of " << size << ", then " << name_of(outer.wire) << ", " << numbers.size()
        << " elements";
  }
}

Plan plan_of(const char *wire) {
  Plan plan;
  plan.wire = format_named(wire);
  return plan;
}

void reduces_parts_over_groups(const Rank &self) {
  constexpr const char *kWires[][2] = {
      {"f32", "f32"}, {"f32", "int8_1x32"}, {"mxfp8_e4m3", "int4_1x32"}, {"int8_row", "bf16"}};
  for (const auto &[inner, outer] : kWires) {
    for (const int64_t count : {1, 513, 3000, 9001}) {
      compare(self, plan_of(inner), plan_of(outer), numbers_of_all(self.ranks, 1100, count));
    }
  }
}

void draws_by_the_index_of_an_element(const Rank &self) {
  Plan inner = plan_of("int8_1x32"), outer = plan_of("mxfp4");
  inner.rounding = outer.rounding = LPT_ROUNDING_STOCHASTIC;
  inner.random = {77, 1003, 0, 12, 34};
  outer.random = {78, 50, 0, 13, 35};
  compare(self, inner, outer, numbers_of_all(self.ranks, 1101, 5000));
}

void finishes_at_each_level(const Rank &self) {
  Plan inner = plan_of("f32"), outer = plan_of("int8_1x32");
  inner.reduction = outer.reduction = LPT_REDUCTION_AVERAGE;
  inner.factor = 0.3;
  outer.factor = -2.5;
  compare(self, inner, outer, numbers_of_all(self.ranks, 1102, 3000));
  inner = outer = Plan{.wire = LPT_FORMAT_F32, .reduction = LPT_REDUCTION_MAXIMUM};
  compare(self, inner, outer, numbers_of_all(self.ranks, 1103, 3000));
  const Levels levels(self, 1);
  float number = static_cast<float>(self.rank);
  const Tensor both = wrap(self.context, LPT_FORMAT_F32, &number, 1, 1);
  lpt_reduce_options options = options_of(inner);
  options.outer_comm = levels.outer.get();
  ASSERT_TRUE(self.ok(lpt_all_reduce(self.context, levels.inner.get(), both.get(), &options, both.get(), nullptr)));
  EXPECT_EQ(static_cast<float>(self.ranks - 1), number);
}

// Columns of a wider matrix; the sum of a group is rounded to bf16 before the groups are added.
void rounds_bf16_between_levels(const Rank &self) {
  constexpr int64_t kRows = 61, kColumns = 147, kStride = 160;
  for (const int32_t size : sizes_of(self.ranks)) {
    const Levels levels(self, size);
    std::vector<uint16_t> wide(kRows * kStride, 7);
    Numbers sum(kRows * kColumns), group(sum.size());
    for (int32_t q = 0; q < self.ranks; ++q) {
      const std::vector<uint16_t> halves = halves_of(numbers_of(q, 1104, kRows * kColumns));
      for (size_t i = 0; i < halves.size(); ++i) {
        const float number = float_of_bits(static_cast<uint32_t>(halves[i]) << 16);
        group[i] = q % size == 0 ? number : group[i] + number;
        if (q % size == size - 1) {
          const float rounded = float_of_bits(static_cast<uint32_t>(bf16_of(group[i])) << 16);
          sum[i] = q < size ? rounded : sum[i] + rounded;
        }
        if (q == self.rank) wide[i / kColumns * kStride + i % kColumns] = halves[i];
      }
    }
    const Tensor both = wrap(self.context, LPT_FORMAT_BF16, wide.data(), kRows, kColumns, kStride);
    lpt_reduce_options options = LPT_REDUCE_OPTIONS_INIT;
    options.outer_comm = levels.outer.get();
    ASSERT_TRUE(self.ok(lpt_all_reduce(self.context, levels.inner.get(), both.get(), &options, both.get(), nullptr)));
    for (size_t i = 0; i < wide.size(); ++i) {
      const size_t row = i / kStride, column = i % kStride;
      const uint16_t expected = column < kColumns ? bf16_of(sum[row * kColumns + column]) : uint16_t{7};
      ASSERT_EQ(expected, wide[i]) << row << ", " << column << " in groups of " << size;
    }
  }
}

// Pairs of ranks, pairs of pairs, and so on: the sums of a binary tree.
void reduces_by_many_levels(const Rank &self) {
  constexpr int64_t kCount = 3000;
  if ((self.ranks & (self.ranks - 1)) != 0) return;
  std::vector<Comm> comms;
  std::vector<lpt_reduce_options> options(10, LPT_REDUCE_OPTIONS_INIT);
  std::vector<Numbers> sums = numbers_of_all(self.ranks, 1105, kCount);
  Numbers numbers = of(self, sums);
  for (int32_t step = 1; step < self.ranks; step *= 2) {
    lpt_comm *raw = nullptr;
    const int32_t color = self.rank / (2 * step) * step + self.rank % step;
    ASSERT_TRUE(self.ok(lpt_comm_split(self.context, self.comm, color, self.rank, &raw)));
    comms.emplace_back(raw);
    std::vector<Numbers> next;
    for (size_t q = 0; q < sums.size(); q += 2) {
      next.push_back(sums[q]);
      for (size_t i = 0; i < next.back().size(); ++i) next.back()[i] += sums[q + 1][i];
    }
    sums = next;
  }
  for (size_t level = 1; level < comms.size(); ++level) {
    options[level - 1].outer_comm = comms[level].get();
    options[level - 1].outer = &options[level];
  }
  const Tensor both = wrap(self.context, numbers, 1, kCount);
  lpt_comm *const first = comms.empty() ? self.comm : comms[0].get();
  ASSERT_TRUE(self.ok(lpt_all_reduce(self.context, first, both.get(), options.data(), both.get(), nullptr)));
  EXPECT_EQ(sums[0], numbers);
}

// Twelve bits of each part within a group; the sums of groups as they are, or in twelve bits too.
void encodes_parts_by_codecs(const Rank &self) {
  constexpr int64_t kCount = 5000;
  CodecCalls calls;
  const lpt_comm_codec codec = cut_codec(calls);
  const auto cut = [&](Numbers numbers) {
    std::vector<uint8_t> bytes(static_cast<size_t>(codec.bytes_for(codec.user, kCount)));
    codec.encode(codec.user, numbers.data(), kCount, bytes.data());
    codec.decode(codec.user, bytes.data(), kCount, numbers.data());
    return numbers;
  };
  const std::vector<Numbers> all = numbers_of_all(self.ranks, 1106, kCount);
  for (const bool is_outer_coded : {false, true}) {
    for (const int32_t size : sizes_of(self.ranks)) {
      const Levels levels(self, size);
      lpt_reduce_options options = LPT_REDUCE_OPTIONS_INIT, outer = LPT_REDUCE_OPTIONS_INIT;
      options.codec = &codec;
      options.outer_comm = levels.outer.get();
      options.outer = &outer;
      if (is_outer_coded) outer.codec = &codec;
      Numbers expected(kCount), group(kCount), numbers = of(self, all);
      for (int32_t q = 0; q < self.ranks; ++q) {
        const Numbers theirs = cut(all[static_cast<size_t>(q)]);
        for (size_t i = 0; i < theirs.size(); ++i) group[i] = q % size == 0 ? theirs[i] : group[i] + theirs[i];
        if (q % size != size - 1) continue;
        const Numbers sent = is_outer_coded ? cut(group) : group;
        for (size_t i = 0; i < sent.size(); ++i) expected[i] = q < size ? sent[i] : expected[i] + sent[i];
      }
      const Tensor both = wrap(self.context, numbers, 1, kCount);
      ASSERT_TRUE(self.ok(lpt_all_reduce(self.context, levels.inner.get(), both.get(), &options, both.get(), nullptr)));
      EXPECT_EQ(cut(is_outer_coded ? cut(expected) : expected), numbers) << "in groups of " << size;
    }
  }
}

// A rank sends its part alone over the outer comm, in its wire format.
void sends_parts_over_the_outer_comm(const Rank &self) {
  constexpr int64_t kCount = 512 * 840;
  for (const int32_t size : sizes_of(self.ranks)) {
    const Levels levels(self, size);
    lpt_reduce_options options = LPT_REDUCE_OPTIONS_INIT, outer = LPT_REDUCE_OPTIONS_INIT;
    outer.wire = LPT_FORMAT_INT8_1X32;
    outer.algorithm = LPT_REDUCE_ALGORITHM_TWO_SHOT;
    options.outer_comm = levels.outer.get();
    options.outer = &outer;
    Numbers numbers(kCount, 1.0f);
    const Tensor both = wrap(self.context, numbers, 1, kCount);
    const Rank inside{self.context, levels.inner.get(), 0, 0}, outside{self.context, levels.outer.get(), 0, 0};
    const int64_t first = read(inside).bytes_sent, second = read(outside).bytes_sent;
    ASSERT_TRUE(self.ok(lpt_all_reduce(self.context, levels.inner.get(), both.get(), &options, both.get(), nullptr)));
    const int64_t part = kCount / size, share = part / (self.ranks / size);
    EXPECT_EQ(2 * (size - 1) * part * 4, read(inside).bytes_sent - first);
    EXPECT_EQ(2 * (self.ranks / size - 1) * bytes_on_wire(outer.wire, share), read(outside).bytes_sent - second);
    EXPECT_EQ(static_cast<float>(self.ranks), numbers[kCount / 2]);
  }
}

// The sum of each group, then of the groups.
Numbers summed_by_levels(const std::vector<Numbers> &all, int32_t size) {
  Numbers result(all[0].size());
  for (size_t i = 0; i < result.size(); ++i) {
    float group = 0.0f;
    for (int32_t q = 0; q < static_cast<int32_t>(all.size()); ++q) {
      const float number = all[static_cast<size_t>(q)][i];
      group = q % size == 0 ? number : group + number;
      if (q % size == size - 1) result[i] = q < size ? group : result[i] + group;
    }
  }
  return result;
}

void scatters_parts_of_groups(const Rank &self) {
  constexpr int64_t kColumns = 70;
  for (const int32_t size : sizes_of(self.ranks)) {
    const Levels levels(self, size);
    const int32_t index = self.rank % size;
    std::vector<int64_t> counts;
    int64_t rows = 0, begin = 0;
    for (int32_t q = 0; q < size; ++q) {
      counts.push_back(q == 1 ? 0 : 5 + q);
      if (q < index) begin += counts.back();
      rows += counts.back();
    }
    const std::vector<Numbers> all = numbers_of_all(self.ranks, 1107, rows * kColumns);
    const int64_t mine = counts[static_cast<size_t>(index)];
    Numbers wide(static_cast<size_t>(mine * 80), 7.0f);  // with gaps between rows
    const Tensor input = wrap(self.context, of(self, all), rows, kColumns);
    const Tensor output = wrap(self.context, LPT_FORMAT_F32, wide.data(), mine, kColumns, 80);
    lpt_reduce_options options = LPT_REDUCE_OPTIONS_INIT;
    options.outer_comm = levels.outer.get();
    ASSERT_TRUE(self.ok(lpt_reduce_scatter(self.context, levels.inner.get(), input.get(), counts.data(), &options,
                                           output.get(), nullptr)));
    const Numbers sums = summed_by_levels(all, size);
    for (int64_t i = 0; i < mine * 80; ++i) {
      const int64_t row = i / 80, column = i % 80;
      const float expected = column < kColumns ? sums[static_cast<size_t>((begin + row) * kColumns + column)] : 7.0f;
      ASSERT_EQ(expected, wide[static_cast<size_t>(i)]) << row << ", " << column << " in groups of " << size;
    }
  }
}

// A codec that changes nothing.
lpt_comm_codec whole_codec() {
  lpt_comm_codec codec = LPT_COMM_CODEC_INIT;
  std::strcpy(codec.name, "whole");
  codec.bytes_for = [](void *, int64_t count) { return 4 * count; };
  codec.encode = [](void *, const float *numbers, int64_t count, void *bytes) {
    std::memcpy(bytes, numbers, static_cast<size_t>(4 * count));
    return int32_t{0};
  };
  codec.decode = [](void *, const void *bytes, int64_t count, float *numbers) {
    std::memcpy(numbers, bytes, static_cast<size_t>(4 * count));
    return int32_t{0};
  };
  return codec;
}

// Futures of many tensors and of buckets. Structs of options may change once a pass has begun.
void reduces_buckets_by_levels(const Rank &self) {
  for (const int32_t size : sizes_of(self.ranks)) {
    const Levels levels(self, size);
    const Rank inside{self.context, levels.inner.get(), self.rank % size, size};
    const std::vector<Numbers> a = numbers_of_all(self.ranks, 1108, 3000), b = numbers_of_all(self.ranks, 1109, 700);
    Numbers first = of(self, a), second = of(self, b);
    const Tensor one = wrap(self.context, first, 30, 100), two = wrap(self.context, second, 1, 700);
    const std::vector<lpt_tensor *> tensors = {one.get(), two.get()};
    lpt_reduce_options options = LPT_REDUCE_OPTIONS_INIT, outer = LPT_REDUCE_OPTIONS_INIT;
    lpt_comm_codec codec = whole_codec();
    options.outer_comm = levels.outer.get();
    options.outer = &outer;
    outer.codec = &codec;
    const Buckets buckets = make_buckets(inside, tensors, LPT_GRADIENT_BUCKETS_OPTIONS_INIT);
    ASSERT_TRUE(self.ok(begin(inside, buckets, 1, &options)));
    options.wire = outer.wire = LPT_FORMAT_MXFP4;
    outer.factor = 5.0;
    codec.decode = nullptr;
    ASSERT_TRUE(self.ok(ready(inside, buckets, 1)));
    ASSERT_TRUE(self.ok(ready(inside, buckets, 0)));
    ASSERT_TRUE(self.ok(wait_for(inside, buckets)));
    EXPECT_EQ(summed_by_levels(a, size), first) << "in groups of " << size;
    EXPECT_EQ(summed_by_levels(b, size), second) << "in groups of " << size;
  }
}

// Shards in a group, with gradients of all groups: the parameters of all ranks are equal.
void steps_shards_of_a_group(const Rank &self) {
  constexpr int64_t kCount = 20000;
  for (const int32_t size : sizes_of(self.ranks)) {
    const Levels levels(self, size);
    const std::vector<Numbers> all = numbers_of_all(self.ranks, 1110, kCount);
    Numbers parameters(kCount, 1.0f);
    const Tensor gradient = wrap(self.context, of(self, all), 1, kCount),
                 values = wrap(self.context, parameters, 1, kCount);
    lpt_optimizer_options kind = LPT_OPTIMIZER_OPTIONS_INIT;
    kind.method = LPT_OPTIMIZER_METHOD_SGD;
    lpt_optimizer *raw = nullptr;
    ASSERT_TRUE(self.ok(lpt_optimizer_create(self.context, &kind, &raw)));
    const Owned<lpt_optimizer> optimizer(raw);
    lpt_optimizer_parameter parameter = LPT_OPTIMIZER_PARAMETER_INIT;
    parameter.elements = kCount;
    const lpt_optimizer_parameter *const request = &parameter;
    int64_t index = -1;
    ASSERT_TRUE(self.ok(lpt_optimizer_add_shards(self.context, levels.inner.get(), raw, nullptr, &request, 1, &index)));
    lpt_reduce_options reduce = LPT_REDUCE_OPTIONS_INIT;
    reduce.outer_comm = levels.outer.get();
    lpt_optimizer_shard_options shards = LPT_OPTIMIZER_SHARD_OPTIONS_INIT;
    shards.reduce = &reduce;
    lpt_optimizer_step_options step = LPT_OPTIMIZER_STEP_OPTIONS_INIT;
    step.learning_rate = 0.5;
    const lpt_tensor *const from = gradient.get();
    lpt_tensor *const to = values.get();
    ASSERT_TRUE(self.ok(
        lpt_optimizer_step_shards(self.context, levels.inner.get(), raw, &index, 1, &from, &step, &shards, &to)));
    const Numbers sums = summed_by_levels(all, size);
    for (size_t i = 0; i < sums.size(); ++i)
      ASSERT_EQ(1.0f - 0.5f * sums[i], parameters[i]) << i << ", groups of " << size;
  }
}

void rejects_levels_that_do_not_fit(const Rank &self) {
  const Levels levels(self, 1);
  Numbers numbers(1000, 1.0f);
  const Tensor both = wrap(self.context, numbers, 1, 1000);
  lpt_reduce_options outer = LPT_REDUCE_OPTIONS_INIT, good = LPT_REDUCE_OPTIONS_INIT;
  good.outer_comm = levels.outer.get();
  good.outer = &outer;
  const auto rejected = [&](lpt_status status, const lpt_reduce_options &options, const char *words) {
    EXPECT_EQ(status, lpt_all_reduce(self.context, levels.inner.get(), both.get(), &options, both.get(), nullptr));
    expect_words({words}, lpt_context_error(self.context));
  };
  lpt_reduce_options options = good;
  options.outer_comm = nullptr;
  rejected(LPT_INVALID_ARGUMENT, options, "options->outer is set: expected NULL without an outer_comm");
  options.outer_comm = levels.inner.get();
  rejected(LPT_INVALID_ARGUMENT, options, "options->outer_comm is comm");
  options.outer_comm = reinterpret_cast<lpt_comm *>(self.context);
  rejected(LPT_INVALID_ARGUMENT, options, "options->outer_comm");
  options = good;
  options.outer = &options;
  rejected(LPT_INVALID_ARGUMENT, options, "expected at most 8 levels");
  options = good;
  options.algorithm = LPT_REDUCE_ALGORITHM_ONE_SHOT;
  options.wire = LPT_FORMAT_INT8_1X32;
  rejected(LPT_UNSUPPORTED, options, "options->algorithm is 1 with an outer comm: expected AUTO or TWO_SHOT");
  options = good;
  options.reduction = LPT_REDUCTION_MAXIMUM;
  rejected(LPT_INVALID_ARGUMENT, options, "options->outer->reduction is 0: expected 2, as options->reduction");
  outer.flags = LPT_CHECK_ONLY;
  rejected(LPT_INVALID_ARGUMENT, good, "options->outer->flags is not 0");
  outer = LPT_REDUCE_OPTIONS_INIT;
  outer.factor = HUGE_VAL;
  rejected(LPT_INVALID_ARGUMENT, good, "options->outer: options->factor is inf");
  outer = LPT_REDUCE_OPTIONS_INIT;
  outer.wire = LPT_FORMAT_INT4;
  rejected(LPT_UNSUPPORTED, good, "options->outer: options->wire");
  outer = LPT_REDUCE_OPTIONS_INIT;
  outer.struct_size = 3;
  rejected(LPT_INVALID_ARGUMENT, good, "options->outer->struct_size is 3");
  EXPECT_EQ(1.0f, numbers[0]);
}

}  // namespace

std::vector<Case> level_cases() {
  return {{"ReducesPartsOverGroups", reduces_parts_over_groups, true},
          {"DrawsByTheIndexOfAnElement", draws_by_the_index_of_an_element, true},
          {"FinishesAtEachLevel", finishes_at_each_level, true},
          {"RoundsBf16BetweenLevels", rounds_bf16_between_levels, true},
          {"ReducesByManyLevels", reduces_by_many_levels, true},
          {"EncodesPartsByCodecs", encodes_parts_by_codecs, true},
          {"SendsPartsOverTheOuterComm", sends_parts_over_the_outer_comm, true},
          {"ScattersPartsOfGroups", scatters_parts_of_groups, true},
          {"ReducesBucketsByLevels", reduces_buckets_by_levels, true},
          {"StepsShardsOfAGroup", steps_shards_of_a_group, true},
          {"RejectsLevelsThatDoNotFit", rejects_levels_that_do_not_fit, true}};
}

}  // namespace lpt::test
