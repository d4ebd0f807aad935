// GEMM in the arithmetic of other hardware. All four kernels read elements without scales. Scales that vary along k multiply
// the sum of each span of k that they cover. The scale of a lane multiplies the total sum.
#include "kernels/gemm/emulated.hpp"
#include "kernels/gemm/kernels.hpp"
#include "kernels/gemm/reference.hpp"

namespace lpt {
namespace {

int64_t min_i64(int64_t a, int64_t b) { return a < b ? a : b; }

// Returns the maximum number of mantissa bits of the elements.
int32_t mantissa_bits_of(lpt_format plain) {
  if (plain == LPT_FORMAT_F32) return 23;
  const Element element = element_of(plain);
  if (element.levels != nullptr) return 23;
  if (!element.is_integer) return element.mantissa_bits;
  return 31 - __builtin_clz(element.max_code);  // the minimum of a signed integer is a power of two
}

// An arithmetic converts operands to Words. Its sum() adds `count` products of a row and a column. Words of a are adjacent;
// words of b are kReferenceColumns apart.

template <bool kIsLMul>
struct Fields {
  using Word = uint32_t;

  explicit Fields(const GemmRequest &request) {
    if (!kIsLMul) return;
    const int32_t a_bits = mantissa_bits_of(request.a.format.element);
    const int32_t b_bits = mantissa_bits_of(request.b.format.element);
    bits = request.arithmetic_bits != 0 ? request.arithmetic_bits : a_bits > b_bits ? a_bits : b_bits;
    offset = l_mul_offset(bits);
  }

  Word a_word(float value) const { return cut_field(value, bits); }
  Word b_word(float value) const { return cut_field(value, bits); }

  float sum(const Word *a, const Word *b, int64_t count) const {
    float total = 0;
    for (int64_t p = 0; p < count; ++p) total += add_fields(a[p], b[p * kReferenceColumns], offset);
    return total;
  }

  int32_t bits = 23;
  int32_t offset = 0;
};

struct Shift {
  using Word = int32_t;

  explicit Shift(const GemmRequest &request)
      : a(element_of(request.a.format.element)), b(element_of(request.b.format.element)) {
    unit = std::ldexp(1.0f, a.min_exponent + b.min_exponent - a.mantissa_bits - b.mantissa_bits);
  }

  Word a_word(float value) const { return word(a, value); }
  Word b_word(float value) const { return word(b, value); }

  float sum(const Word *a_words, const Word *b_words, int64_t count) const {
    int64_t total = 0;
    for (int64_t p = 0; p < count; ++p) {
      const int32_t left = a_words[p], right = b_words[p * kReferenceColumns];
      total += a.is_integer ? shifted(left, right) : shifted(right, left);
    }
    return static_cast<float>(total) * unit;
  }

  // Returns an integer in units of its last place, or the signed code of a power of two.
  static Word word(const Element &element, float value) {
    if (element.is_integer) return static_cast<Word>(std::ldexp(value, element.mantissa_bits));
    if (value == 0) return 0;
    const int32_t code = std::ilogb(value) - element.min_exponent + 1;
    return value < 0 ? -code : code;
  }

  Element a, b;
  float unit;
};

struct TensorCore {
  using Word = CoreNumber;

  explicit TensorCore(const GemmRequest &request)
      : a(element_of(request.a.format.element)),
        b(element_of(request.b.format.element)),
        fraction_bits((request.arithmetic_bits != 0 ? request.arithmetic_bits : 14) - 1) {}

  Word a_word(float value) const { return core_number(a, value); }
  Word b_word(float value) const { return core_number(b, value); }

  float sum(const Word *a_words, const Word *b_words, int64_t count) const {
    float total = 0;
    for (int64_t p = 0; p < count; p += kCorePromotion) {
      total += sum_to_promotion(a_words + p, b_words + p * kReferenceColumns, min_i64(count - p, kCorePromotion));
    }
    return total;
  }

  float sum_to_promotion(const Word *a_words, const Word *b_words, int64_t count) const {
    CoreSum sum;
    for (int64_t p = 0; p < count; p += kCoreGroup) {
      sum = add_group(sum, a_words + p, b_words + p * kReferenceColumns, kReferenceColumns,
                      min_i64(count - p, kCoreGroup), a.mantissa_bits + b.mantissa_bits, fraction_bits);
      if (is_special(sum.exponent)) return sum_of_specials(a_words, b_words, count);
    }
    return std::ldexp(static_cast<float>(sum.fraction), sum.exponent - fraction_bits);
  }

  static float sum_of_specials(const Word *a_words, const Word *b_words, int64_t count) {
    float total = 0;
    for (int64_t p = 0; p < count; ++p) total += a_words[p].value * b_words[p * kReferenceColumns].value;
    return total;
  }

  Element a, b;
  int32_t fraction_bits;
};

template <typename Arithmetic>
size_t scratch_of(const GemmRequest &request) {
  return static_cast<size_t>(request.k) * (1 + kReferenceColumns) * sizeof(typename Arithmetic::Word);
}

// Returns the sum of one row and one column, computed for each span of k that shares scales.
template <typename Arithmetic>
float sum_of(const Arithmetic &arithmetic, const GemmRequest &request, int64_t row, int64_t column,
             const typename Arithmetic::Word *a_words, const typename Arithmetic::Word *b_words) {
  const OperandMN a = rows_of_a(request), b = columns_of_b(request);
  const int64_t k = request.k;
  const int64_t steps = min_i64(a.steps_of_scale(k), b.steps_of_scale(k));
  if (steps == k) return arithmetic.sum(a_words, b_words, k);
  float total = 0;
  for (int64_t p = 0; p < k; p += steps) {
    const float a_scale = a.is_scaled_along_k(k) ? a.block_scale<float>(row, p) : 1;
    const float b_scale = b.is_scaled_along_k(k) ? b.block_scale<float>(column, p) : 1;
    const float sum = arithmetic.sum(a_words + p, b_words + p * kReferenceColumns, min_i64(k - p, steps));
    total += sum * (a_scale * b_scale);
  }
  return total;
}

template <typename Arithmetic>
void multiply(const GemmRequest &request) {
  using Word = typename Arithmetic::Word;
  const Arithmetic arithmetic(request);
  auto *const a_words = reinterpret_cast<Word *>(request.scratch);
  Word *const b_words = a_words + request.k;
  const OperandMN a = rows_of_a(request), b = columns_of_b(request);
  const int64_t k = request.k;
  const auto alpha = static_cast<float>(request.alpha);
  const auto read_columns = [&](const ColumnBlock &block) {
    for (int64_t p = 0; p < k; ++p) {
      for (int64_t j = 0; j < block.count; ++j) {
        b_words[p * kReferenceColumns + j] = arithmetic.b_word(b.element<float>(block.first + j, p));
      }
    }
  };
  const auto read_row = [&](int64_t row) {
    for (int64_t p = 0; p < k; ++p) a_words[p] = arithmetic.a_word(a.element<float>(row, p));
  };
  const auto sum_up = [&](int64_t row, const ColumnBlock &block) {
    const float row_factor = a.lane_factor(row, k);
    for (int64_t j = 0; j < block.count; ++j) {
      const int64_t column = block.first + j;
      const float sum = sum_of(arithmetic, request, row, column, a_words, b_words + j);
      store_with_terms(request, row, column, sum * row_factor * (b.lane_factor(column, k) * alpha));
    }
  };
  for_each_block(request, read_columns, read_row, sum_up);
}

}  // namespace

void gemm_l_mul_ref(const GemmRequest &request) { multiply<Fields<true>>(request); }
size_t gemm_scratch_l_mul_ref(const GemmRequest &request) { return scratch_of<Fields<true>>(request); }
void gemm_piecewise_affine_ref(const GemmRequest &request) { multiply<Fields<false>>(request); }
size_t gemm_scratch_piecewise_affine_ref(const GemmRequest &request) { return scratch_of<Fields<false>>(request); }
void gemm_shift_ref(const GemmRequest &request) { multiply<Shift>(request); }
size_t gemm_scratch_shift_ref(const GemmRequest &request) { return scratch_of<Shift>(request); }
void gemm_tensor_core_ref(const GemmRequest &request) { multiply<TensorCore>(request); }
size_t gemm_scratch_tensor_core_ref(const GemmRequest &request) { return scratch_of<TensorCore>(request); }

}  // namespace lpt
