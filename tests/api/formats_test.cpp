// Formats in the public header: their text, and tensors with packed elements and with zero points.
#include <cstring>
#include <string>

#include "tests/api/support.hpp"

namespace lpt::test {
namespace {

std::vector<lpt_format> all_presets() {
  std::vector<lpt_format> formats;
  for (int64_t i = 0; i < lpt_format_count(); ++i) formats.push_back(lpt_format_at(i));
  return formats;
}

std::string text_of(lpt_format format) {
  size_t needed = 0;
  EXPECT_EQ(LPT_OK, lpt_format_write_text(nullptr, format, nullptr, 0, &needed));
  std::vector<char> space(needed);
  EXPECT_EQ(LPT_OK, lpt_format_write_text(nullptr, format, space.data(), space.size(), nullptr));
  EXPECT_EQ(needed, std::strlen(space.data()) + 1) << name_of(format);
  return space.data();
}

bool mentions(const std::string &text, const std::string &word) { return text.find(word) != std::string::npos; }

// The list.

TEST(FormatList, HasEveryNumberThatIsAPreset) {
  std::vector<lpt_format> expected;
  for (lpt_format id = -10; id < 70000; ++id) {
    const char *const name = lpt_format_name(id);
    EXPECT_EQ(lpt_format_write_name(nullptr, id, nullptr, 0, nullptr) == LPT_OK, name != nullptr) << id;
    if (name == nullptr) continue;
    EXPECT_EQ(name_of(id), name);
    EXPECT_EQ(id, format_named(name));
    expected.push_back(id);
  }
  EXPECT_EQ(expected, all_presets());
  EXPECT_GT(expected.size(), 60u);
  EXPECT_EQ(LPT_FORMAT_NONE, lpt_format_at(-1));
  EXPECT_EQ(LPT_FORMAT_NONE, lpt_format_at(lpt_format_count()));
  EXPECT_EQ(nullptr, lpt_format_name(format_named("int8/1x1/f32")));
}

// The text.

TEST(FormatText, MentionsEveryPartOfAFormat) {
  std::vector<lpt_format> formats = all_presets();
  for (const char *name : {"e4m2b9-finite", "ue4m3b7-nan/8x8/f32/f32", "uint8/row/f32/uint8", "e5m2/column/e8m0fnu"}) {
    formats.push_back(format_named(name));
  }
  for (const lpt_format format : formats) {
    const lpt_format_description is = describe(format);
    const std::string text = text_of(format);
    SCOPED_TRACE(text);
    EXPECT_EQ(0u, text.find(name_of(format) + "\n"));
    EXPECT_TRUE(mentions(text, "element " + name_of(is.element) + ", " + std::to_string(is.element_bits) + " bits"));
    EXPECT_TRUE(mentions(text, "packing: "));
    EXPECT_EQ(is.block_scale != LPT_FORMAT_NONE, mentions(text, " * block scale"));
    EXPECT_EQ(is.tensor_scale != LPT_FORMAT_NONE, mentions(text, " * tensor scale"));
    EXPECT_EQ(is.zero_point != LPT_FORMAT_NONE, mentions(text, "(element - zero point)"));
    if (is.block_scale != LPT_FORMAT_NONE) {
      EXPECT_TRUE(mentions(text, "scale: one " + name_of(is.block_scale)));
    }
    const bool has_nan = is.special == LPT_ELEMENT_SPECIAL_IEEE || is.special == LPT_ELEMENT_SPECIAL_NAN_ONES ||
                         is.special == LPT_ELEMENT_SPECIAL_FNUZ;
    EXPECT_EQ(has_nan, mentions(text, "NaN"));
    EXPECT_EQ('\n', text.back());
  }
}

TEST(FormatText, OfNvfp4IsThis) {
  EXPECT_EQ(
      "nvfp4\n"
      "  element e2m1fn, 4 bits, largest 6\n"
      "  code: bit 3 sign, bits 2-1 exponent, bit 0 mantissa; value (-1)^sign (1 + mantissa / 2) 2^(exponent - 1), "
      "exponent 0: mantissa 2^-1\n"
      "  specials: none, every code is a finite number\n"
      "  packing: 2 in 1 byte, element i at bits i * 4 and up, the first one lowest; rows begin on a byte\n"
      "  scale: one e4m3fn for 1 row x 16 columns\n"
      "  scale: one f32 for the tensor\n"
      "  value: element * block scale * tensor scale\n",
      text_of(LPT_FORMAT_NVFP4));
}

TEST(FormatText, OfF64HasItsWideBits) {
  const std::string text = text_of(LPT_FORMAT_F64);
  EXPECT_TRUE(mentions(text, "mantissa / 4503599627370496")) << text;
  EXPECT_TRUE(mentions(text, "infinity 0x7FF0000000000000")) << text;
  EXPECT_TRUE(mentions(text_of(LPT_FORMAT_F32), "infinity 0x7F800000"));
}

TEST(FormatText, IsCutToTheSpaceGiven) {
  const std::string whole = text_of(LPT_FORMAT_UINT4_1X32);
  for (size_t space = 1; space <= whole.size() + 3; ++space) {
    std::vector<char> buffer(space + 1, '#');
    size_t needed = 0;
    ASSERT_EQ(LPT_OK, lpt_format_write_text(nullptr, LPT_FORMAT_UINT4_1X32, buffer.data(), space, &needed));
    EXPECT_EQ(whole.size() + 1, needed);
    EXPECT_EQ(whole.substr(0, space - 1), buffer.data());
    EXPECT_EQ('#', buffer.back());
  }
}

TEST(FormatText, RejectsWhatIsNoFormatAndNoBuffer) {
  char buffer[8];
  for (const lpt_format none : {int64_t{0}, int64_t{-1}, int64_t{63}, INT64_MAX, INT64_MIN}) {
    EXPECT_EQ(LPT_INVALID_ARGUMENT, lpt_format_write_text(nullptr, none, buffer, sizeof buffer, nullptr)) << none;
  }
  EXPECT_EQ(LPT_INVALID_ARGUMENT, lpt_format_write_text(nullptr, LPT_FORMAT_F32, nullptr, 8, nullptr));
}

// Tensors.

struct Pack {
  lpt_format plain;
  int64_t elements, bytes;
};
constexpr Pack kPacks[] = {{LPT_FORMAT_E3M2FN, 4, 3}, {LPT_FORMAT_E2M3FN, 4, 3},  {LPT_FORMAT_INT4, 2, 1},
                           {LPT_FORMAT_INT2, 4, 1},   {LPT_FORMAT_TERNARY, 5, 1}, {LPT_FORMAT_NF4, 2, 1}};

// Returns values that every element of kPacks except nf4 represents.
std::vector<double> signs(int64_t count) {
  std::vector<double> numbers;
  for (int64_t i = 0; i < count; ++i) numbers.push_back(static_cast<double>(i * i % 3 - 1));
  return numbers;
}

TEST(PackedTensor, HasDenseRowsThatBeginOnPacks) {
  const Context context = make_context();
  for (const Pack &pack : kPacks) {
    for (const int64_t columns : {0, 1, 3, 4, 5, 7, 10, 20, 33}) {
      const Tensor tensor = make_tensor(context.get(), pack.plain, 3, columns);
      const int64_t packs = (columns + pack.elements - 1) / pack.elements;
      EXPECT_EQ(packs * pack.elements, describe(context.get(), tensor.get()).strides[0]) << name_of(pack.plain);
      size_t bytes = 0;
      ASSERT_EQ(LPT_OK, lpt_tensor_size(context.get(), tensor.get(), &bytes));
      EXPECT_EQ(3u * static_cast<size_t>((columns * pack.bytes + pack.elements - 1) / pack.elements), bytes)
          << name_of(pack.plain) << " " << columns;
    }
  }
}

TEST(PackedTensor, KeepsItsNumbers) {
  const Context context = make_context();
  for (const Pack &pack : kPacks) {
    for (const int64_t columns : {1, 4, 5, 7, 10, 33}) {
      const Tensor tensor = tensor_of(context.get(), pack.plain, 3, columns, signs(3 * columns));
      EXPECT_EQ(signs(3 * columns), numbers_of(context.get(), tensor.get())) << name_of(pack.plain) << " " << columns;
    }
  }
}

TEST(PackedTensor, IsWrappedWithRowsOnPacks) {
  const Context context = make_context();
  std::vector<uint8_t> memory(1000, 0);
  for (const Pack &pack : kPacks) {
    const int64_t stride = 8 * pack.elements;
    const Tensor tensor = wrap(context.get(), pack.plain, memory.data(), 4, 2 * pack.elements + 1, stride);
    EXPECT_EQ(stride, describe(context.get(), tensor.get()).strides[0]);
    const std::vector<double> numbers = signs(4 * (2 * pack.elements + 1));
    const Tensor source = wrap(context.get(), numbers, 4, 2 * pack.elements + 1);
    std::fill(memory.begin(), memory.end(), uint8_t{0xC7});
    ASSERT_TRUE(ok(context.get(), lpt_quantize(context.get(), source.get(), nullptr, tensor.get(), nullptr)));
    for (size_t i = 0; i < static_cast<size_t>(4 * 8 * pack.bytes); ++i) {
      const size_t in_row = i % static_cast<size_t>(8 * pack.bytes);
      const bool is_used = in_row < static_cast<size_t>(packed_bytes(pack.plain, 2 * pack.elements + 1));
      EXPECT_EQ(!is_used, memory[i] == 0xC7) << name_of(pack.plain) << " byte " << i;
    }
    Tensor rejected;
    EXPECT_EQ(LPT_INVALID_ARGUMENT, lpt_tensor_wrap_matrix(context.get(), pack.plain, memory.data(), 4, 3,
                                                           8 * pack.elements + 1, out(rejected)));
    EXPECT_NE(nullptr, std::strstr(lpt_context_error(context.get()), name_of(pack.plain).c_str()));
  }
}

TEST(PackedTensor, IsViewedFromPackToAnyColumn) {
  const Context context = make_context();
  for (const Pack &pack : kPacks) {
    const int64_t columns = 4 * pack.elements;
    const std::vector<double> numbers = signs(5 * columns);
    const Tensor tensor = tensor_of(context.get(), pack.plain, 5, columns, numbers);
    for (int64_t begin = 0; begin < columns; ++begin) {
      const int64_t begins[] = {1, begin}, extents[] = {3, columns - begin - (begin + 1 < columns ? 1 : 0)};
      Tensor part;
      const lpt_status status = lpt_tensor_view(context.get(), tensor.get(), begins, extents, out(part));
      EXPECT_EQ(begin % pack.elements == 0 ? LPT_OK : LPT_INVALID_ARGUMENT, status) << name_of(pack.plain) << begin;
      if (status != LPT_OK) continue;
      const std::vector<double> found = numbers_of(context.get(), part.get());
      for (int64_t i = 0; i < 3 * extents[1]; ++i) {
        const auto from = static_cast<size_t>((1 + i / extents[1]) * columns + begin + i % extents[1]);
        ASSERT_EQ(numbers[from], found[static_cast<size_t>(i)]) << name_of(pack.plain) << " " << begin << " " << i;
      }
    }
  }
}

// The payload as bytes and the scales combine to the same tensor.
TEST(PackedTensor, IsCombinedOfBytesAndScales) {
  const Context context = make_context();
  for (const lpt_format format : std::vector<lpt_format>{
           LPT_FORMAT_MXFP6_E3M2, LPT_FORMAT_MXFP6_E2M3, LPT_FORMAT_INT4_1X32, LPT_FORMAT_TERNARY_TENSOR,
           LPT_FORMAT_NF4_1X64, LPT_FORMAT_UINT4_1X32, LPT_FORMAT_NVFP4_16X16, format_named("int2/1x32/f32")}) {
    const lpt_format plain = describe(format).element;
    for (const int64_t columns : {40, 63, 65}) {
      const std::vector<double> numbers = draw_normal(80, 3 * columns);
      const Tensor whole = tensor_of(context.get(), format, 3, columns, numbers);
      const std::vector<uint8_t> payload =
          plain_bytes(context.get(), part_of(context.get(), whole.get(), LPT_TENSOR_PART_PAYLOAD).get());
      const int64_t row = packed_bytes(plain, columns);
      // Rows of bytes begin at packs: four 6-bit elements have three bytes.
      const int64_t stride = plain == LPT_FORMAT_E3M2FN || plain == LPT_FORMAT_E2M3FN ? (row + 2) / 3 * 3 : row;
      std::vector<uint8_t> rows(static_cast<size_t>(3 * stride), 0);
      for (int64_t r = 0; r < 3; ++r)
        std::memcpy(&rows[static_cast<size_t>(r * stride)], &payload[static_cast<size_t>(r * row)],
                    static_cast<size_t>(row));
      const Tensor bytes = wrap(context.get(), LPT_FORMAT_UINT8, rows.data(), 3, row, stride);
      Tensor taken[4];
      const lpt_tensor *parts[4] = {bytes.get()};
      const lpt_format_description is = describe(format);
      const bool has[] = {true, is.block_scale != 0, is.tensor_scale != 0, is.zero_point != 0};
      for (lpt_tensor_part part = 1; part < 4; ++part) {
        if (!has[part]) continue;
        taken[part] = part_of(context.get(), whole.get(), part);
        parts[part] = taken[part].get();
      }
      Tensor combined;
      ASSERT_TRUE(ok(context.get(), lpt_tensor_combine(context.get(), format, 3, columns, parts, 4, out(combined))))
          << name_of(format) << " " << columns;
      EXPECT_EQ(numbers_of(context.get(), whole.get()), numbers_of(context.get(), combined.get())) << name_of(format);
      EXPECT_EQ(bytes_of(context.get(), whole.get()), bytes_of(context.get(), combined.get())) << name_of(format);
      // A required part is missing, or a part is present that the format lacks.
      for (int part = 1; part < 4; ++part) {
        const lpt_tensor *const kept = parts[part];
        parts[part] = has[part] ? nullptr : bytes.get();
        Tensor rejected;
        EXPECT_EQ(LPT_INVALID_ARGUMENT, lpt_tensor_combine(context.get(), format, 3, columns, parts, 4, out(rejected)));
        EXPECT_NE(nullptr,
                  std::strstr(lpt_context_error(context.get()), ("parts[" + std::to_string(part) + "]").c_str()))
            << lpt_context_error(context.get());
        parts[part] = kept;
      }
    }
  }
}

TEST(ZeroPoints, AreZeroInANewTensorAndScalesOne) {
  const Context context = make_context();
  const Tensor tensor = make_tensor(context.get(), LPT_FORMAT_UINT4_1X32, 2, 70);
  const Tensor zeros = part_of(context.get(), tensor.get(), LPT_TENSOR_PART_ZERO_POINTS);
  const lpt_tensor_description is = describe(context.get(), zeros.get());
  EXPECT_EQ(LPT_FORMAT_UINT8, is.format);
  ASSERT_EQ(2, is.rank);
  EXPECT_EQ(2, is.extents[0]);
  EXPECT_EQ(3, is.extents[1]);
  EXPECT_EQ(std::vector<uint8_t>(6, 0), plain_bytes(context.get(), zeros.get()));
  const Tensor scales = part_of(context.get(), tensor.get(), LPT_TENSOR_PART_BLOCK_SCALES);
  EXPECT_EQ(std::vector<double>(6, 1.0), numbers_of(context.get(), scales.get()));
  size_t bytes = 0;
  ASSERT_EQ(LPT_OK, lpt_tensor_size(context.get(), tensor.get(), &bytes));
  EXPECT_EQ(2u * 35 + 6 * 4 + 6, bytes);
}

TEST(ZeroPoints, AreMissingInOtherFormats) {
  const Context context = make_context();
  for (const lpt_format format : {LPT_FORMAT_INT4_1X32, LPT_FORMAT_NVFP4, LPT_FORMAT_F32}) {
    const Tensor tensor = make_tensor(context.get(), format, 2, 70);
    Tensor part;
    EXPECT_EQ(LPT_INVALID_ARGUMENT,
              lpt_tensor_view_part(context.get(), tensor.get(), LPT_TENSOR_PART_ZERO_POINTS, out(part)));
  }
}

TEST(ZeroPoints, GoWithAView) {
  const Context context = make_context();
  const Tensor tensor = make_tensor(context.get(), LPT_FORMAT_UINT4_1X32, 3, 96);
  const Tensor zeros = part_of(context.get(), tensor.get(), LPT_TENSOR_PART_ZERO_POINTS);
  auto *const numbers = static_cast<uint8_t *>(describe(context.get(), zeros.get()).data);
  for (uint8_t i = 0; i < 9; ++i) numbers[i] = i;
  const Tensor part = view(context.get(), tensor.get(), {1, 32}, {2, 40 - 8});
  const Tensor its_zeros = part_of(context.get(), part.get(), LPT_TENSOR_PART_ZERO_POINTS);
  EXPECT_EQ((std::vector<uint8_t>{4, 7}), plain_bytes(context.get(), its_zeros.get()));
  EXPECT_EQ(-4.0, numbers_of(context.get(), part.get())[0]);
  EXPECT_EQ(-7.0, numbers_of(context.get(), part.get())[32]);
}

// The handles of the parts are destroyed before the read. The address sanitizer reports memory that the tensor did not keep.
TEST(ZeroPoints, LiveOnInACombinedTensor) {
  const Context context = make_context();
  std::vector<double> numbers;
  Tensor combined;
  {
    const Tensor whole = tensor_of(context.get(), LPT_FORMAT_UINT4_1X32, 3, 64, draw_normal(82, 192));
    numbers = numbers_of(context.get(), whole.get());
    // Each part has separate memory.
    const Tensor parts[4] = {make_tensor(context.get(), LPT_FORMAT_UINT4, 3, 64),
                             make_tensor(context.get(), LPT_FORMAT_F32, 3, 2), Tensor(),
                             make_tensor(context.get(), LPT_FORMAT_UINT8, 3, 2)};
    for (const lpt_tensor_part part :
         {LPT_TENSOR_PART_PAYLOAD, LPT_TENSOR_PART_BLOCK_SCALES, LPT_TENSOR_PART_ZERO_POINTS}) {
      const std::vector<uint8_t> bytes = plain_bytes(context.get(), part_of(context.get(), whole.get(), part).get());
      std::memcpy(describe(context.get(), parts[part].get()).data, bytes.data(), bytes.size());
    }
    const lpt_tensor *given[4] = {parts[0].get(), parts[1].get(), nullptr, parts[3].get()};
    ASSERT_TRUE(
        ok(context.get(), lpt_tensor_combine(context.get(), LPT_FORMAT_UINT4_1X32, 3, 64, given, 4, out(combined))));
  }
  EXPECT_EQ(numbers, numbers_of(context.get(), combined.get()));
}

TEST(ZeroPoints, LiveAsLongAsAnyPart) {
  const Context context = make_context();
  Tensor zeros;
  {
    const Tensor tensor = tensor_of(context.get(), LPT_FORMAT_UINT4_1X32, 1, 32, draw_normal(81, 32));
    zeros = part_of(context.get(), tensor.get(), LPT_TENSOR_PART_ZERO_POINTS);
  }
  EXPECT_GT(plain_bytes(context.get(), zeros.get())[0], 0);
}

}  // namespace
}  // namespace lpt::test
