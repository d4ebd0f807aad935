// Every kernel of kernels/reduce, bit for bit against the definition.
#include <gtest/gtest.h>

#include <string>

#include "src/base/status.hpp"
#include "tests/kernels/reduce_model.hpp"
#include "tests/support/guarded.hpp"
#include "tests/support/kernels.hpp"
#include "tests/support/sanitized.hpp"
#include "tests/support/shapes.hpp"

namespace lpt::test {
namespace {

constexpr lpt_format kF64 = LPT_FORMAT_F64, kF32 = LPT_FORMAT_F32, kBf16 = LPT_FORMAT_BF16, kF16 = LPT_FORMAT_F16;
constexpr struct {
  lpt_format source, target;
} kFormatPairs[] = {{kF64, kF64},   {kF32, kF32},  {kF32, kBf16}, {kF32, kF16},  {kBf16, kF32},
                    {kBf16, kBf16}, {kBf16, kF16}, {kF16, kF32},  {kF16, kBf16}, {kF16, kF16}};
constexpr Reduction kReductions[] = {Reduction::kSum, Reduction::kAverage, Reduction::kMaximum, Reduction::kMinimum};

struct ReduceCase {
  lpt_format format = kF32, target_format = kF32;
  Reduction reduction = Reduction::kSum;
  int32_t source_count = 1, target_count = 1;
  double factor = 1;
  int64_t elements = 1;
  bool is_streamed = false;
  uint64_t in_place = 0;  // bit t: target t is source t
};

std::string text_of(const ReduceCase &c) {
  return text("%s to %s reduction %d, %d to %d in place %llx, factor %a, %lld elements, streamed %d",
              format_name(c.format).c_str(), format_name(c.target_format).c_str(), static_cast<int>(c.reduction),
              c.source_count, c.target_count, static_cast<unsigned long long>(c.in_place), c.factor,
              static_cast<long long>(c.elements), c.is_streamed);
}

// The memory of one case. Shifts are byte offsets from a cache line.
class ReduceRun {
 public:
  explicit ReduceRun(const ReduceCase &given) : c(given), from(fields_of(c.format)), to(fields_of(c.target_format)) {
    memory_.reserve(static_cast<std::size_t>(c.source_count + c.target_count));
  }

  uint8_t *add_source(std::size_t shift) {
    memory_.emplace_back(static_cast<std::size_t>(c.elements * from.bytes), shift);
    sources_.push_back(memory_.back().data());
    return memory_.back().data();
  }
  void add_target(std::size_t shift) {
    const std::size_t place = targets_.size();
    if (is_in_place(place)) return targets_.push_back(memory_[place].data());
    memory_.emplace_back(static_cast<std::size_t>(c.elements * to.bytes), shift);
    targets_.push_back(memory_.back().data());
  }
  ReduceRequest request() const {
    return {.format = c.format,
            .target_format = c.target_format,
            .reduction = c.reduction,
            .source_count = c.source_count,
            .target_count = c.target_count,
            .factor = c.factor,
            .elements = c.elements,
            .sources = sources_.data(),
            .targets = targets_.data(),
            .is_streamed = c.is_streamed};
  }

  // Runs the case and compares every target. Returns an empty string on success.
  std::string fault_of(const KernelEntry<ReduceRequest> &kernel) {
    std::vector<uint64_t> expected;
    std::vector<double> numbers(sources_.size());
    for (int64_t i = 0; i < c.elements; ++i) {
      for (std::size_t s = 0; s < numbers.size(); ++s)
        numbers[s] = number_of(from, code_at(from, byte(sources_[s]), i));
      expected.push_back(expected_code(request(), numbers));
    }
    std::vector<std::vector<uint8_t>> bytes_before;
    for (const Guarded &one : memory_) bytes_before.emplace_back(one.data(), one.data() + one.bytes());
    kernel.run(request());
    for (std::size_t t = 0; t < targets_.size(); ++t) {
      for (int64_t i = 0; i < c.elements; ++i) {
        const uint64_t code = code_at(to, byte(targets_[t]), i);
        const uint64_t oracle = expected[static_cast<std::size_t>(i)];
        if (code == oracle) continue;
        return text("target %zu, element %lld: %llx, not %llx, ", t, static_cast<long long>(i),
                    static_cast<unsigned long long>(code), static_cast<unsigned long long>(oracle)) +
               text_of(c);
      }
    }
    for (std::size_t m = 0; m < memory_.size(); ++m) {
      if (!memory_[m].is_intact()) return "bytes beside an array were written, " + text_of(c);
      const bool is_read_only = m < sources_.size() && !is_in_place(m);
      if (is_read_only && !std::equal(bytes_before[m].begin(), bytes_before[m].end(), memory_[m].data())) {
        return "a source was written, " + text_of(c);
      }
    }
    return "";
  }

  ReduceCase c;
  Fields from, to;

 private:
  bool is_in_place(std::size_t place) const { return place < 64 && (c.in_place >> place & 1) != 0; }
  static const uint8_t *byte(const void *data) { return static_cast<const uint8_t *>(data); }

  std::vector<Guarded> memory_;  // the sources, then the targets that are not in place
  std::vector<const void *> sources_;
  std::vector<void *> targets_;
};

void fill(Random &random, Values values, const Fields &fields, uint8_t *data, int64_t elements) {
  const std::vector<float> numbers = draw(random, values, elements);
  for (int64_t i = 0; i < elements; ++i) {
    const auto number = static_cast<double>(numbers[static_cast<std::size_t>(i)]);
    const double finer = values == Values::kNormal ? number * (1 + random.uniform()) : number;
    place_code(fields, data, i, values == Values::kBits ? random.bits() : code_of(fields, finer));
  }
}

// Mostly cache-line alignment, for streaming stores; then element alignment; then any address.
std::size_t drawn_shift(Random &random, int bytes) {
  const int64_t kind = random.below(4);
  if (kind < 2) return 0;
  return static_cast<std::size_t>(kind == 2 ? bytes * random.below(64 / bytes) : random.below(64));
}

uint64_t drawn_places(Random &random, const ReduceCase &c) {
  if (fields_of(c.format).bytes != fields_of(c.target_format).bytes || random.below(3) != 0) return 0;
  return random.bits() & ((uint64_t{1} << std::min(c.source_count, c.target_count)) - 1);
}

class ReduceKernel : public KernelTest<ReduceRequest> {
 protected:
  void draw_rest(Random &random, ReduceCase &c) {
    static constexpr double kFactors[] = {1, 1, 1, 0.5, 1.0 / 3, -1, 0x1p-130, 0x1p120, 0, 1e-45, 3.7};
    c.target_count = static_cast<int32_t>(1 + random.below(4));
    c.factor = random.of(kFactors);
    c.is_streamed = random.chance(0.5);
    c.in_place = drawn_places(random, c);
  }
  std::string fault_of(Random &random, const ReduceCase &c) {
    ReduceRun run(c);
    const Values values = random.of(kAllValues);
    for (int32_t i = 0; i < c.source_count; ++i) {
      uint8_t *const data = run.add_source(drawn_shift(random, run.from.bytes));
      fill(random, values, run.from, data, c.elements);
    }
    const bool is_alike = random.chance(0.5);
    const std::size_t shift = drawn_shift(random, run.to.bytes);
    for (int32_t i = 0; i < c.target_count; ++i) {
      run.add_target(is_alike ? shift : drawn_shift(random, run.to.bytes));
    }
    const std::string fault = run.fault_of(*GetParam());
    return fault.empty() ? fault : fault + " of " + name_of(values);
  }
  // One element of f32 or f64 per source, repeated over several steps and their edges.
  void expect_everywhere(const ReduceCase &given, const std::vector<double> &numbers, uint64_t expected) {
    ReduceCase c = given;
    c.source_count = static_cast<int32_t>(numbers.size());
    c.elements = 211;
    ReduceRun run(c);
    for (const double number : numbers) {
      uint8_t *const data = run.add_source(0);
      for (int64_t i = 0; i < c.elements; ++i) place_code(run.from, data, i, code_of(run.from, number));
    }
    run.add_target(0);
    const ReduceRequest request = run.request();
    GetParam()->run(request);
    for (int64_t i = 0; i < c.elements; ++i) {
      ASSERT_EQ(code_at(run.to, static_cast<const uint8_t *>(request.targets[0]), i), expected)
          << text_of(c) << " at " << i;
    }
  }
};

TEST_P(ReduceKernel, EqualsItsDefinition) {
  constexpr int32_t kCounts[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 16};
  std::vector<int64_t> lengths(std::begin(kSimdEdges), std::end(kSimdEdges));
  lengths.insert(lengths.end(), std::begin(kPrimes), std::end(kPrimes));
  lengths.push_back(1009);
  Random random(611);
  for (const auto &[format, target_format] : kFormatPairs) {
    for (const Reduction reduction : kReductions) {
      for (const int32_t source_count : kCounts) {
        for (const int64_t elements : lengths) {
          if (!is_taken(random, 8)) continue;
          ReduceCase c = {format, target_format, reduction, source_count};
          c.elements = elements;
          draw_rest(random, c);
          ASSERT_EQ(fault_of(random, c), "");
        }
      }
    }
  }
}

TEST_P(ReduceKernel, TakesAnyNumberOfArrays) {
  Random random(613);
  for (const auto &[format, target_format] : kFormatPairs) {
    ReduceCase c = {format, target_format, random.of(kReductions), 300};
    c.target_count = 67;
    c.elements = 143;
    c.is_streamed = true;
    ASSERT_EQ(fault_of(random, c), "");
  }
}

// Hand-computed: added to 2^24 a one is lost, and the sum of two ones is not. In f64 the value is 2^53.
TEST_P(ReduceKernel, AddsInTheOrderOfTheSources) {
  for (const lpt_format format : {kF32, kF64}) {
    const double large = format == kF32 ? 0x1p24 : 0x1p53;
    const Fields fields = fields_of(format);
    ReduceCase c = {format, format};
    for (int zeros = 0; zeros < 9; ++zeros) {  // covers every number of sources
      std::vector<double> late = {large, 1, 1, -large}, early = {1, 1, large, -large};
      late.insert(late.end(), static_cast<std::size_t>(zeros), 0.0);
      early.insert(early.end(), static_cast<std::size_t>(zeros), 0.0);
      expect_everywhere(c, late, code_of(fields, 0));
      expect_everywhere(c, early, code_of(fields, 2));
    }
    expect_everywhere(c, {large, 1}, code_of(fields, large));
  }
}

TEST_P(ReduceKernel, DividesBeforeItMultiplies) {
  ReduceCase c = {kF32, kF32, Reduction::kAverage};
  c.factor = 0x1p100;
  expect_everywhere(c, {0x1p-149, 0, 0, 0}, 0);             // a quarter of the smallest value rounds to zero
  expect_everywhere(c, {0x1p-149, 0x1p-149, 0, 0}, 0);      // half of it ties to zero
  expect_everywhere(c, {0x1.8p-148, 0, 0, 0}, 0x27000000);  // three quarters round to it: 2^-149 · 2^100
  c.factor = 1;
  expect_everywhere(c, {5, 0, 0}, 0x3FD55555);  // 5 · (1 / 3) yields the next value
  expect_everywhere(c, {3, 0, 0, 0, 0, 0, 0}, 0x3EDB6DB7);
}

TEST_P(ReduceKernel, ExtremesTellZerosApartAndKeepNothingOfANan) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const auto &[format, target_format] : kFormatPairs) {
    if (format != kF32 && format != kF64) continue;
    const Fields to = fields_of(target_format);
    const uint64_t minus_zero = uint64_t{1} << (8 * to.bytes - 1);
    ReduceCase largest = {format, target_format, Reduction::kMaximum};
    ReduceCase smallest = {format, target_format, Reduction::kMinimum};
    for (const std::vector<double> &zeros : {std::vector<double>{0.0, -0.0}, {-0.0, 0.0}, {-0.0, -0.0, 0.0}}) {
      expect_everywhere(largest, zeros, 0);
      expect_everywhere(smallest, zeros, minus_zero);
    }
    expect_everywhere(largest, {-0.0, -0.0}, minus_zero);
    expect_everywhere(smallest, {0.0, 0.0}, 0);
    for (const std::vector<double> &some :
         {std::vector<double>{nan, 1.0}, {-1.0, -nan}, {INFINITY, nan, 3.0}, {-INFINITY, 2.0, -nan}, {-nan}}) {
      expect_everywhere(largest, some, to.plain_nan());
      expect_everywhere(smallest, some, to.plain_nan());
      expect_everywhere({format, target_format}, some, to.plain_nan());
    }
    expect_everywhere({format, target_format}, {INFINITY, -INFINITY}, to.plain_nan());
    expect_everywhere({format, target_format}, {-0.0, -0.0}, minus_zero);
    expect_everywhere({format, target_format}, {-0.0, 0.0}, 0);
  }
}

// All 16-bit codes to all formats.
TEST_P(ReduceKernel, ReadsEveryCode) {
  for (const auto &[format, target_format] : kFormatPairs) {
    if (fields_of(format).bytes != 2) continue;
    ReduceCase c = {format, target_format};
    c.elements = 65536;
    ReduceRun run(c);
    uint8_t *const data = run.add_source(0);
    for (int64_t i = 0; i < c.elements; ++i) place_code(run.from, data, i, static_cast<uint64_t>(i));
    run.add_target(0);
    ASSERT_EQ(run.fault_of(*GetParam()), "");
  }
}

// The midpoint of each 16-bit code and the next, and the adjacent f32 on both sides.
TEST_P(ReduceKernel, RoundsEveryHalf) {
  for (const lpt_format target_format : {kBf16, kF16}) {
    const Fields to = fields_of(target_format), f32 = fields_of(kF32);
    ReduceCase c = {kF32, target_format};
    c.elements = 3 * 65536;
    ReduceRun run(c);
    uint8_t *const data = run.add_source(4);
    for (int64_t code = 0; code < 65536; ++code) {
      const double low = number_of(to, static_cast<uint64_t>(code)),
                   high = number_of(to, static_cast<uint64_t>(code + 1));
      const bool is_last = std::isinf(high) && !std::isinf(low);  // as if another code existed
      const double half = is_last ? low + (low - number_of(to, static_cast<uint64_t>(code - 1))) / 2 : (low + high) / 2;
      for (int64_t i = 0; i < 3; ++i) {
        place_code(f32, data, 3 * code + i, code_of(f32, half) + static_cast<uint64_t>(i) - 1);
      }
    }
    run.add_target(0);
    ASSERT_EQ(run.fault_of(*GetParam()), "");
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, ReduceKernel, testing::ValuesIn(all_kernels(reduce_kernels())),
                         kernel_name<ReduceRequest>);

}  // namespace
}  // namespace lpt::test
