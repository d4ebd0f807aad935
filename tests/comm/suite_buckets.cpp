// Gradients become ready in a different order on each rank, and end as the sums over all ranks.
#include "tests/comm/buckets.hpp"

namespace lpt::test {
namespace {

constexpr int64_t kSizes[] = {700, 3, 0, 5000, 64, 1, 2048, 333, 17, 900, 40};
constexpr size_t kCount = std::size(kSizes);

// Returns the i-th gradient. The order depends on the rank and the pass.
size_t in_order(size_t i, int32_t rank, size_t pass) {
  return (i * (pass % 2 == 0 ? 4 : 7) + static_cast<size_t>(rank) * 3 + pass) % kCount;
}

// Integers up to 2048 are exact in f16.
uint16_t f16_of(int32_t number) {
  if (number == 0) return 0;
  int32_t exponent = 0;
  while (number >> (exponent + 1) != 0) ++exponent;
  return static_cast<uint16_t>((exponent + 15) << 10 | ((number << (10 - exponent)) & 0x3FF));
}

int32_t whole_number(int32_t rank, size_t i) { return static_cast<int32_t>((i * 7 + 13) % 97) + rank; }

// A gradient in one of three formats, its initial values, and its expected result.
class Gradient {
 public:
  Gradient(const Rank &self, size_t index) : self_(self), index_(index), count_(static_cast<size_t>(kSizes[index])) {
    const int64_t columns = kSizes[index];
    if (format() == 0)
      tensor = wrap(self.context, LPT_FORMAT_F32, (floats_.resize(count_), floats_.data()), 1, columns);
    if (format() == 1)
      tensor = wrap(self.context, LPT_FORMAT_BF16, (halves_.resize(count_), halves_.data()), 1, columns);
    if (format() == 2)
      tensor = wrap(self.context, LPT_FORMAT_F16, (halves_.resize(count_), halves_.data()), 1, columns);
  }

  void fill(uint64_t place) {
    place_ = place + index_;
    const std::vector<float> numbers = numbers_of(self_.rank, place_, kSizes[index_]);
    if (format() == 0) std::copy(numbers.begin(), numbers.end(), floats_.begin());
    const std::vector<uint16_t> halves = halves_of(numbers);
    if (format() == 1) std::copy(halves.begin(), halves.end(), halves_.begin());
    for (size_t i = 0; i < count_ && format() == 2; ++i) halves_[i] = f16_of(whole_number(self_.rank, i));
  }

  // `factor` is a power of two, so that the scaling does not round.
  void expect_sums(float factor) const {
    const auto all = numbers_of_all(self_.ranks, place_, kSizes[index_]);
    for (size_t i = 0; i < count_; ++i) {
      int32_t whole = 0;
      for (int32_t q = 0; q < self_.ranks; ++q) whole += whole_number(q, i);
      if (format() == 0) {
        ASSERT_EQ(factor * sum_of(all, i), floats_[i]) << index_ << ": " << i;
      } else if (format() == 1) {
        ASSERT_EQ(bf16_of(factor * sum_of_halves(all, i)), halves_[i]) << index_ << ": " << i;
      } else if (factor == 1.0f) {
        ASSERT_EQ(f16_of(whole), halves_[i]) << index_ << ": " << i;
      }
    }
  }

  Tensor tensor;

 private:
  size_t format() const { return index_ % 3; }

  static float sum_of_halves(const std::vector<std::vector<float>> &all, size_t i) {
    float sum = 0.0f;
    for (size_t q = 0; q < all.size(); ++q) {
      const uint32_t bits = static_cast<uint32_t>(halves_of({all[q][i]})[0]) << 16;
      float number;
      std::memcpy(&number, &bits, sizeof number);
      sum = q == 0 ? number : sum + number;
    }
    return sum;
  }

  const Rank &self_;
  size_t index_, count_;
  uint64_t place_ = 0;
  std::vector<float> floats_;
  std::vector<uint16_t> halves_;
};

struct Gradients {
  explicit Gradients(const Rank &self) {
    for (size_t i = 0; i < kCount; ++i) items.push_back(std::make_unique<Gradient>(self, i));
    for (const auto &item : items) tensors.push_back(item->tensor.get());
  }
  void fill(uint64_t place) const {
    for (const auto &item : items) item->fill(place);
  }
  void expect_sums(float factor = 1.0f) const {
    for (const auto &item : items) item->expect_sums(factor);
  }
  std::vector<std::unique_ptr<Gradient>> items;
  std::vector<lpt_tensor *> tensors;
};

lpt_gradient_buckets_options buckets_of(size_t bytes, lpt_gradient_buckets_order order) {
  lpt_gradient_buckets_options options = LPT_GRADIENT_BUCKETS_OPTIONS_INIT;
  options.bucket_bytes = bytes;
  options.order = order;
  return options;
}

void adds_gradients_in_whatever_order_they_come(const Rank &self) {
  const Gradients gradients(self);
  for (const lpt_gradient_buckets_order order :
       {LPT_GRADIENT_BUCKETS_ORDER_RECORDED, LPT_GRADIENT_BUCKETS_ORDER_REVERSED}) {
    for (const size_t bytes : {1, 1500, 6000, 0}) {
      const Buckets buckets = make_buckets(self, gradients.tensors, buckets_of(bytes, order));
      for (size_t pass = 0; pass < 3; ++pass) {
        gradients.fill(600 + 20 * pass);
        ASSERT_TRUE(self.ok(begin(self, buckets)));
        for (size_t i = 0; i < kCount; ++i) {
          ASSERT_TRUE(self.ok(ready(self, buckets, static_cast<int64_t>(in_order(i, self.rank, pass)))));
        }
        ASSERT_TRUE(self.ok(wait_for(self, buckets)));
        gradients.expect_sums();
        EXPECT_EQ(order == LPT_GRADIENT_BUCKETS_ORDER_RECORDED ? 1 : 0, read(self, buckets).is_recorded);
      }
    }
  }
}

void multiplies_sums_by_a_factor(const Rank &self) {
  const Gradients gradients(self);
  const Buckets buckets = make_buckets(self, gradients.tensors, buckets_of(2000, LPT_GRADIENT_BUCKETS_ORDER_RECORDED));
  lpt_reduce_options options = LPT_REDUCE_OPTIONS_INIT;
  options.factor = 0.25;
  gradients.fill(700);
  ASSERT_TRUE(self.ok(begin(self, buckets, 1, &options)));
  for (size_t i = kCount; i-- > 0;) ASSERT_TRUE(self.ok(ready(self, buckets, static_cast<int64_t>(i))));
  ASSERT_TRUE(self.ok(wait_for(self, buckets)));
  gradients.expect_sums(0.25f);
}

// All micro-batches except the last send nothing.
void sends_nothing_before_the_last_micro_batch(const Rank &self) {
  std::vector<float> numbers = numbers_of(self.rank, 720, 4000);
  const std::vector<float> before = numbers;
  const Tensor tensor = wrap(self.context, numbers, 1, 4000);
  const Buckets buckets = make_buckets(self, {tensor.get()}, buckets_of(0, LPT_GRADIENT_BUCKETS_ORDER_RECORDED));
  const int64_t collectives = read(self).collectives;
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(self.ok(begin(self, buckets, 0)));
    if (i == 0) {
      ASSERT_TRUE(self.ok(ready(self, buckets, 0)));
    }
    ASSERT_TRUE(self.ok(wait_for(self, buckets)));
    EXPECT_EQ(before, numbers);
    EXPECT_EQ(collectives, read(self).collectives);
    EXPECT_EQ(0, read(self, buckets).launched_count);
  }
  ASSERT_TRUE(self.ok(begin(self, buckets)));
  ASSERT_TRUE(self.ok(ready(self, buckets, 0)));
  ASSERT_TRUE(self.ok(wait_for(self, buckets)));
  const auto all = numbers_of_all(self.ranks, 720, 4000);
  for (size_t i = 0; i < numbers.size(); ++i) ASSERT_EQ(sum_of(all, i), numbers[i]) << i;
}

// A wire format casts a bucket as one tensor, like lpt_all_reduce_many(), which is the reference.
void casts_a_bucket_for_its_wire(const Rank &self) {
  constexpr int64_t kElements = 6000;
  lpt_reduce_options options = LPT_REDUCE_OPTIONS_INIT;
  options.wire = LPT_FORMAT_E4M3FN_1X128;
  options.rounding = LPT_ROUNDING_STOCHASTIC;
  options.random.seed = 5;
  std::vector<std::vector<float>> mine, expected;
  std::vector<Tensor> tensors, oracles;
  for (uint64_t i = 0; i < 4; ++i) {
    mine.push_back(numbers_of(self.rank, 730 + i, kElements));
    expected.push_back(mine.back());
  }
  std::vector<lpt_tensor *> gradients;
  for (size_t i = 0; i < 4; ++i) {
    tensors.push_back(wrap(self.context, mine[i], 1, kElements));
    oracles.push_back(wrap(self.context, expected[i], 1, kElements));
    gradients.push_back(tensors.back().get());
  }
  // Reversed order: 3 and 2 are in one bucket, then 1 and 0. The random index is the element index over all buckets.
  for (const int64_t first : {3, 1}) {
    lpt_tensor *pair[2] = {oracles[static_cast<size_t>(first)].get(), oracles[static_cast<size_t>(first - 1)].get()};
    lpt_reduce_options there = options;
    there.random.offset += first == 3 ? 0 : 2 * kElements;
    ASSERT_TRUE(self.ok(lpt_all_reduce_many(self.context, self.comm, pair, 2, &there, nullptr)));
  }
  const Buckets buckets =
      make_buckets(self, gradients, buckets_of(2 * kElements * sizeof(float), LPT_GRADIENT_BUCKETS_ORDER_REVERSED));
  ASSERT_TRUE(self.ok(begin(self, buckets, 1, &options)));
  for (const int64_t index : {1, 3, 0, 2}) ASSERT_TRUE(self.ok(ready(self, buckets, index)));
  ASSERT_TRUE(self.ok(wait_for(self, buckets)));
  EXPECT_EQ(expected, mine);
}

// Four buckets of one gradient each.
struct FourBuckets {
  FourBuckets(const Rank &self, lpt_gradient_buckets_order order) : numbers(4, std::vector<float>(100, 1.0f)) {
    for (std::vector<float> &one : numbers) tensors.push_back(wrap(self.context, one, 1, 100));
    const char *const names[] = {"embedding", "up", "down", "head"};
    lpt_gradient_buckets_options options = buckets_of(1, order);
    options.names = names;
    buckets = make_buckets(self, {tensors[0].get(), tensors[1].get(), tensors[2].get(), tensors[3].get()}, options);
  }
  std::vector<std::vector<float>> numbers;
  std::vector<Tensor> tensors;
  Buckets buckets;
};

void begins_buckets_in_their_order(const Rank &self) {
  const FourBuckets four(self, LPT_GRADIENT_BUCKETS_ORDER_REVERSED);
  ASSERT_TRUE(self.ok(begin(self, four.buckets)));
  const int64_t order[] = {2, 0, 3, 1}, launched[] = {0, 0, 2, 4};
  for (size_t i = 0; i < 4; ++i) {
    ASSERT_TRUE(self.ok(ready(self, four.buckets, order[i])));
    const lpt_gradient_buckets_info values = read(self, four.buckets);
    EXPECT_EQ(launched[i], values.launched_count) << i;
    EXPECT_EQ(static_cast<int64_t>(i) + 1, values.ready_count);
    EXPECT_EQ(4, values.bucket_count);
  }
  ASSERT_TRUE(self.ok(wait_for(self, four.buckets)));
  EXPECT_EQ(0, read(self, four.buckets).is_recorded);
}

// All ranks use the order of the first pass of rank 0 in later passes.
void records_the_order_of_rank_0(const Rank &self) {
  const FourBuckets four(self, LPT_GRADIENT_BUCKETS_ORDER_RECORDED);
  const int64_t order[] = {1, 3, 0, 2};
  for (int pass = 0; pass < 3; ++pass) {
    ASSERT_TRUE(self.ok(begin(self, four.buckets)));
    for (size_t i = 0; i < 4; ++i) {
      const bool is_other = pass == 0 && self.rank != 0;
      ASSERT_TRUE(self.ok(ready(self, four.buckets, is_other ? static_cast<int64_t>(i) : order[i])));
      const int64_t launched = read(self, four.buckets).launched_count;
      if (pass > 0) {
        EXPECT_EQ(static_cast<int64_t>(i) + 1, launched) << pass;
      }
    }
    ASSERT_TRUE(self.ok(wait_for(self, four.buckets)));
    EXPECT_EQ(1, read(self, four.buckets).is_recorded);
  }
}

// The pass continues: a missing gradient may still become ready.
void names_what_was_never_ready(const Rank &self) {
  const FourBuckets four(self, LPT_GRADIENT_BUCKETS_ORDER_RECORDED);
  ASSERT_TRUE(self.ok(begin(self, four.buckets)));
  ASSERT_TRUE(self.ok(ready(self, four.buckets, 3)));
  ASSERT_TRUE(self.ok(ready(self, four.buckets, 0)));
  EXPECT_EQ(LPT_INVALID_ARGUMENT, wait_for(self, four.buckets));
  expect_words({"gradients[1] (up)", "gradients[2] (down)", "never made ready"}, lpt_context_error(self.context));
  ASSERT_TRUE(self.ok(ready(self, four.buckets, 1)));
  ASSERT_TRUE(self.ok(ready(self, four.buckets, 2)));
  ASSERT_TRUE(self.ok(wait_for(self, four.buckets)));
  for (const std::vector<float> &one : four.numbers) EXPECT_EQ(static_cast<float>(self.ranks), one[99]);
}

void rejects_calls_out_of_order(const Rank &self) {
  const FourBuckets four(self, LPT_GRADIENT_BUCKETS_ORDER_RECORDED);
  EXPECT_EQ(LPT_INVALID_ARGUMENT, ready(self, four.buckets, 0));
  expect_words({"no pass under way"}, lpt_context_error(self.context));
  EXPECT_EQ(LPT_INVALID_ARGUMENT, wait_for(self, four.buckets));
  EXPECT_EQ(LPT_INVALID_ARGUMENT, begin(self, four.buckets, 2));
  expect_words({"is_last is 2"}, lpt_context_error(self.context));
  lpt_reduce_options options = LPT_REDUCE_OPTIONS_INIT;
  options.wire = LPT_FORMAT_F64;
  EXPECT_NE(LPT_OK, begin(self, four.buckets, 1, &options));
  ASSERT_TRUE(self.ok(begin(self, four.buckets)));
  EXPECT_EQ(LPT_INVALID_ARGUMENT, begin(self, four.buckets));
  expect_words({"a pass under way"}, lpt_context_error(self.context));
  EXPECT_EQ(LPT_INVALID_ARGUMENT, ready(self, four.buckets, 4));
  expect_words({"index is 4", "0 to 3"}, lpt_context_error(self.context));
  for (int64_t i = 0; i < 4; ++i) ASSERT_TRUE(self.ok(ready(self, four.buckets, i)));
  EXPECT_EQ(LPT_INVALID_ARGUMENT, ready(self, four.buckets, 2));
  expect_words({"index is 2", "(down)", "ready already"}, lpt_context_error(self.context));
  ASSERT_TRUE(self.ok(wait_for(self, four.buckets)));
}

void rejects_gradients_that_it_cannot_reduce(const Rank &self) {
  const Tensor one = make_tensor(self.context, LPT_FORMAT_F32, 2, 3),
               codes = make_tensor(self.context, LPT_FORMAT_E4M3FN, 2, 3);
  const auto reject = [&](const std::vector<lpt_tensor *> &gradients, const lpt_gradient_buckets_options &options,
                          const std::vector<const char *> &words) {
    lpt_gradient_buckets *buckets = nullptr;
    EXPECT_NE(LPT_OK, lpt_gradient_buckets_create(self.context, self.comm, gradients.data(),
                                                  static_cast<int64_t>(gradients.size()), &options, &buckets));
    EXPECT_EQ(nullptr, buckets);
    expect_words(words, lpt_context_error(self.context));
  };
  lpt_gradient_buckets_options options = LPT_GRADIENT_BUCKETS_OPTIONS_INIT;
  reject({one.get(), one.get()}, options, {"gradients[0] and gradients[1]", "each once"});
  reject({one.get(), codes.get()}, options, {"gradients[1]", "e4m3fn"});
  reject({nullptr}, options, {"gradients[0]"});
  const char *const names[] = {nullptr};
  options.names = names;
  reject({one.get()}, options, {"options->names[0] is NULL"});
  options = LPT_GRADIENT_BUCKETS_OPTIONS_INIT;
  options.order = 2;
  reject({one.get()}, options, {"options->order is 2"});
  options = LPT_GRADIENT_BUCKETS_OPTIONS_INIT;
  options.flags = 1;
  reject({one.get()}, options, {"options->flags"});
}

void holds_nothing(const Rank &self) {
  const Buckets buckets = make_buckets(self, {}, LPT_GRADIENT_BUCKETS_OPTIONS_INIT);
  for (int pass = 0; pass < 2; ++pass) {
    ASSERT_TRUE(self.ok(begin(self, buckets)));
    ASSERT_TRUE(self.ok(wait_for(self, buckets)));
  }
}

}  // namespace

std::vector<Case> bucket_cases() {
  return {{"AddsGradientsInWhateverOrderTheyCome", adds_gradients_in_whatever_order_they_come},
          {"MultipliesSumsByAFactor", multiplies_sums_by_a_factor},
          {"SendsNothingBeforeTheLastMicroBatch", sends_nothing_before_the_last_micro_batch},
          {"CastsABucketForItsWire", casts_a_bucket_for_its_wire},
          {"BeginsBucketsInTheirOrder", begins_buckets_in_their_order},
          {"RecordsTheOrderOfRank0", records_the_order_of_rank_0},
          {"NamesWhatWasNeverReady", names_what_was_never_ready},
          {"RejectsCallsOutOfOrder", rejects_calls_out_of_order},
          {"RejectsGradientsThatItCannotReduce", rejects_gradients_that_it_cannot_reduce},
          {"HoldsNoGradients", holds_nothing}};
}

}  // namespace lpt::test
