// Packed weights: GEMMs equal to those of the source rows, slices, orders, and saved states.
#include <array>
#include <cstdlib>

#include "tests/api/gemm.hpp"

namespace lpt::test {
namespace {

// One format of each kind of panel: with row scales, blocks along k, blocks of many rows, and zero points; and custom
// elements of each number of bits.
std::vector<lpt_format> formats() {
  std::vector<lpt_format> formats = {
      LPT_FORMAT_F32,           LPT_FORMAT_BF16,       LPT_FORMAT_F16,          LPT_FORMAT_E4M3FN,
      LPT_FORMAT_E4M3FN_TENSOR, LPT_FORMAT_E5M2_ROW,   LPT_FORMAT_E4M3FN_1X128, LPT_FORMAT_E4M3FN_128X128,
      LPT_FORMAT_MXFP8_E4M3,    LPT_FORMAT_MXFP6_E2M3, LPT_FORMAT_MXFP4,        LPT_FORMAT_NVFP4,
      LPT_FORMAT_NVFP4_16X16,   LPT_FORMAT_INT8_ROW,   LPT_FORMAT_INT8_1X32,    LPT_FORMAT_INT4_1X128,
      LPT_FORMAT_INT4_1X32,     LPT_FORMAT_UINT4_1X64, LPT_FORMAT_NF4_1X64,     LPT_FORMAT_TERNARY_TENSOR,
      LPT_FORMAT_E3M0_TENSOR,   LPT_FORMAT_MXINT8};
  for (const char *name : {"ue1m0b1-finite", "int2/1x16/f32", "e2m0b1-finite", "ue2m2b1-finite", "e2m2b1-nan/1x16/f32",
                           "e3m2b3-ieee", "e4m2b9-finite", "ue4m4b7-finite", "e6m1b31-ieee"}) {
    formats.push_back(format_named(name));
  }
  return formats;
}

TEST(Weights, GiveTheGemmsOfTheirRows) {
  const Context context = make_context(2);
  for (const lpt_format format : formats()) {
    for (const auto &[m, n, k] : {std::array<int64_t, 3>{1, 31, 7}, {3, 33, 130}, {17, 64, 256}, {40, 100, 333}}) {
      SCOPED_TRACE(name_of(format) + " " + std::to_string(m) + "×" + std::to_string(n) + "×" + std::to_string(k));
      const Tensor weights = tensor_of(context.get(), format, n, k, draw_normal(501, n * k));
      const std::vector<double> right = transposed(numbers_of(context.get(), weights.get()), n, k);
      const Tensor packed = pack(context.get(), weights.get());
      for (const lpt_format a_format :
           {LPT_FORMAT_F32, LPT_FORMAT_BF16, LPT_FORMAT_E4M3FN_ROW, LPT_FORMAT_MXFP4, LPT_FORMAT_INT8_ROW}) {
        const Tensor a = tensor_of(context.get(), a_format, m, k, draw_normal(502, m * k));
        expect_gemm(multiply(numbers_of(context.get(), a.get()), right, m, n, k),
                    gemm_of(context.get(), a.get(), packed.get(), m, n), k);
      }
    }
  }
}

TEST(Weights, AreUnpackedToTheSameCodesAndScales) {
  const Context context = make_context(2);
  const int64_t n = 70, k = 150;
  for (const lpt_format format : formats()) {
    const lpt_format_description description = describe(format);
    if (description.block_scale != LPT_FORMAT_NONE && description.block_rows != 1) continue;
    const Tensor weights = tensor_of(context.get(), format, n, k, draw_normal(503, n * k));
    const Tensor packed = pack(context.get(), weights.get());
    const Tensor back = make_tensor(context.get(), format, n, k);
    ASSERT_TRUE(ok(context.get(), lpt_weights_unpack(context.get(), packed.get(), back.get()))) << name_of(format);
    EXPECT_EQ(bytes_of(context.get(), weights.get()), bytes_of(context.get(), back.get())) << name_of(format);
  }
}

// A prefix of the rows has the same bits as these rows packed separately.
TEST(Weights, AreCutAlongTheirRows) {
  const Context context = make_context(1);
  const int64_t m = 5, n = 130, k = 96;
  for (const lpt_format format : {LPT_FORMAT_E4M3FN_ROW, LPT_FORMAT_NVFP4, LPT_FORMAT_INT4_1X32, LPT_FORMAT_BF16}) {
    const Tensor weights = tensor_of(context.get(), format, n, k, draw_normal(504, n * k));
    const Tensor a = tensor_of(context.get(), LPT_FORMAT_BF16, m, k, draw_normal(505, m * k));
    const Tensor packed = pack(context.get(), weights.get());
    for (const auto &[begin, rows] : {std::array<int64_t, 2>{0, 130}, {0, 40}, {0, 32}, {32, 64}, {96, 34}, {64, 0}}) {
      SCOPED_TRACE(name_of(format) + " rows " + std::to_string(begin) + " + " + std::to_string(rows));
      const Tensor slice = view(context.get(), packed.get(), {begin, 0}, {rows, k});
      const Tensor alone = pack(context.get(), view(context.get(), weights.get(), {begin, 0}, {rows, k}).get());
      EXPECT_EQ(gemm_of(context.get(), a.get(), alone.get(), m, rows),
                gemm_of(context.get(), a.get(), slice.get(), m, rows));
    }
  }
  const Tensor packed = pack(context.get(), make_tensor(context.get(), LPT_FORMAT_BF16, n, k).get());
  const auto cut = [&](std::vector<int64_t> begins, std::vector<int64_t> extents) {
    Tensor part;
    return lpt_tensor_view(context.get(), packed.get(), begins.data(), extents.data(), out(part));
  };
  EXPECT_EQ(LPT_INVALID_ARGUMENT, cut({1, 0}, {32, k}));
  expect_words({"begins[0] is 1", "multiples of 32"}, lpt_context_error(context.get()));
  EXPECT_EQ(LPT_INVALID_ARGUMENT, cut({0, 0}, {32, 32}));
  expect_words({"axis 1", "all of its 96 columns"}, lpt_context_error(context.get()));
}

// A layer packed with the input order of the next layer writes its output in that order: no permutation is needed.
TEST(Weights, TakeTheOrderOfTheNextLayer) {
  const Context context = make_context(1);
  const int64_t m = 3, n = 64, k = 128;
  std::vector<int32_t> rows(static_cast<size_t>(n)), columns(static_cast<size_t>(k));
  for (int64_t i = 0; i < n; ++i) rows[static_cast<size_t>(i)] = static_cast<int32_t>((i * 37 + 5) % n);
  // Blocks of 32 are permuted, and elements inside a block are reversed.
  for (int64_t p = 0; p < k; ++p)
    columns[static_cast<size_t>(p)] = static_cast<int32_t>((p / 32 * 32 + 64) % k + 31 - p % 32);
  const Tensor weights = tensor_of(context.get(), LPT_FORMAT_INT4_1X32, n, k, draw_normal(506, n * k));
  const std::vector<double> numbers = numbers_of(context.get(), weights.get());
  lpt_weights_options options = LPT_WEIGHTS_OPTIONS_INIT;
  options.output_order = rows.data();
  options.input_order = columns.data();
  const Tensor packed = pack(context.get(), weights.get(), &options);
  const std::vector<double> a = draw_normal(507, m * k);
  std::vector<double> right(static_cast<size_t>(k * n));
  for (size_t j = 0; j < rows.size(); ++j) {
    for (size_t p = 0; p < columns.size(); ++p) {
      right[p * rows.size() + j] =
          numbers[static_cast<size_t>(rows[j]) * columns.size() + static_cast<size_t>(columns[p])];
    }
  }
  const Tensor left = tensor_of(context.get(), LPT_FORMAT_F32, m, k, a);
  expect_gemm(multiply(a, right, m, n, k), gemm_of(context.get(), left.get(), packed.get(), m, n), k);
  std::swap(columns[0], columns[40]);
  Tensor mixed;
  EXPECT_EQ(LPT_INVALID_ARGUMENT, lpt_weights_pack(context.get(), weights.get(), &options, out(mixed)));
  expect_words({"input_order[1]", "mixes columns of blocks"}, lpt_context_error(context.get()));
}

std::vector<uint8_t> saved(lpt_context *context, const lpt_tensor *packed) {
  size_t bytes = 0;
  EXPECT_TRUE(ok(context, lpt_weights_state_size(context, packed, &bytes)));
  std::vector<uint8_t> state(bytes);
  EXPECT_TRUE(ok(context, lpt_weights_state_save(context, packed, state.data(), state.size())));
  return state;
}

// Experts 1 and 2, rows 32 to 69, of three times 70 rows.
TEST(Weights, OfExpertsAreCutAlongBothAxes) {
  const Context context = make_context(2);
  lpt_context *const c = context.get();
  const int64_t m = 3, n = 70, k = 96, begin = 32, rows = n - begin;
  for (const lpt_format format : {LPT_FORMAT_UINT4_1X32, LPT_FORMAT_NVFP4, LPT_FORMAT_INT8_ROW, LPT_FORMAT_BF16}) {
    SCOPED_TRACE(name_of(format));
    const Tensor weights = tensor_of(c, format, {3, n, k}, draw_normal(512, 3 * n * k));
    const Tensor packed = pack(c, weights.get());
    const Tensor slice = view(c, packed.get(), {1, begin, 0}, {2, rows, k});
    const Tensor a = tensor_of(c, LPT_FORMAT_BF16, {2, m, k}, draw_normal(513, 2 * m * k));
    const Tensor result = make_tensor(c, LPT_FORMAT_F32, {2, m, rows});
    const lpt_gemm_options options = transposed_b();
    ASSERT_TRUE(ok(c, lpt_gemm(c, a.get(), slice.get(), &options, result.get())));
    const std::vector<double> left = numbers_of(c, a.get()), right = numbers_of(c, weights.get());
    const std::vector<double> given = numbers_of(c, result.get());
    for (int64_t e = 0; e < 2; ++e) {
      const std::vector<double> matrix = part(right, ((e + 1) * n + begin) * k, rows * k);
      expect_gemm(multiply(part(left, e * m * k, m * k), transposed(matrix, rows, k), m, rows, k),
                  part(given, e * m * rows, m * rows), k);
    }
    // A slice is saved and loaded without the surrounding panels. It has the reported size and gives the same bits.
    const std::vector<uint8_t> state = saved(c, slice.get());
    Tensor loaded;
    ASSERT_TRUE(ok(c, lpt_weights_state_load(c, state.data(), state.size(), out(loaded))));
    const Tensor again = make_tensor(c, LPT_FORMAT_F32, {2, m, rows});
    ASSERT_TRUE(ok(c, lpt_gemm(c, a.get(), loaded.get(), &options, again.get())));
    EXPECT_EQ(given, numbers_of(c, again.get()));
    size_t sizes[2] = {};
    ASSERT_TRUE(ok(c, lpt_tensor_size(c, slice.get(), &sizes[0])));
    ASSERT_TRUE(ok(c, lpt_tensor_size(c, loaded.get(), &sizes[1])));
    EXPECT_EQ(sizes[0], sizes[1]);
    // Unpacking returns the source.
    const Tensor back = make_tensor(c, format, {3, n, k});
    ASSERT_TRUE(ok(c, lpt_weights_unpack(c, packed.get(), back.get())));
    EXPECT_EQ(bytes_of(c, weights.get()), bytes_of(c, back.get()));
  }
}

TEST(Weights, AreSavedAndLoaded) {
  const Context context = make_context(1);
  const int64_t m = 4, n = 70, k = 130;
  const Tensor a = tensor_of(context.get(), LPT_FORMAT_BF16, m, k, draw_normal(508, m * k));
  for (const lpt_format format : formats()) {
    const Tensor weights = tensor_of(context.get(), format, n, k, draw_normal(509, n * k));
    const Tensor packed = pack(context.get(), weights.get());
    // A view is saved without the panels after it.
    const Tensor slice = view(context.get(), packed.get(), {0, 0}, {40, k});
    for (const lpt_tensor *source : {packed.get(), slice.get()}) {
      const int64_t rows = describe(context.get(), source).extents[0];
      const std::vector<uint8_t> state = saved(context.get(), source);
      Tensor loaded;
      ASSERT_TRUE(ok(context.get(), lpt_weights_state_load(context.get(), state.data(), state.size(), out(loaded))));
      EXPECT_EQ(saved(context.get(), loaded.get()), state) << name_of(format);
      EXPECT_EQ(gemm_of(context.get(), a.get(), source, m, rows),
                gemm_of(context.get(), a.get(), loaded.get(), m, rows))
          << name_of(format);
    }
  }
}

TEST(Weights, RejectDamagedStates) {
  const Context context = make_context(1);
  const Tensor packed =
      pack(context.get(), tensor_of(context.get(), LPT_FORMAT_NVFP4, 40, 64, draw_normal(510, 40 * 64)).get());
  const std::vector<uint8_t> state = saved(context.get(), packed.get());
  for (size_t length = 0; length < state.size(); length += 1 + length / 8) {
    Tensor loaded;
    EXPECT_EQ(LPT_INVALID_STATE, lpt_weights_state_load(context.get(), state.data(), length, out(loaded))) << length;
  }
  for (size_t at = 0; at < 80; ++at) {
    std::vector<uint8_t> damaged = state;
    damaged[at] = static_cast<uint8_t>(damaged[at] ^ 0x55);
    Tensor loaded;
    EXPECT_EQ(LPT_INVALID_STATE, lpt_weights_state_load(context.get(), damaged.data(), damaged.size(), out(loaded)))
        << at;
  }
}

// Returns a state of `payload` zero bytes whose header, with a matching checksum, announces these extents of a format.
std::vector<uint8_t> announced(lpt_context *context, lpt_format format, const std::vector<int64_t> &extents,
                               size_t payload, lpt_weights_storage storage = LPT_WEIGHTS_STORAGE_ALL) {
  const Tensor small = pack(context, make_tensor(context, LPT_FORMAT_BF16, 1, 1).get());
  std::vector<uint8_t> state = saved(context, small.get());
  state.resize(32);
  const auto put = [&](uint64_t number, int bytes) {
    for (int i = 0; i < bytes; ++i) state.push_back(static_cast<uint8_t>(number >> (8 * i)));
  };
  put(static_cast<uint64_t>(format), 8);
  put(extents.size() | static_cast<uint64_t>(storage) << 8, 4);
  for (const int64_t extent : extents) put(static_cast<uint64_t>(extent), 8);
  state.resize(state.size() + payload);
  uint32_t crc = 0xFFFFFFFFu;
  for (size_t at = 32; at < state.size(); ++at) {
    crc ^= state[at];
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ ((crc & 1) != 0 ? 0xEDB88320u : 0);
  }
  const uint64_t header[] = {state.size() - 32, ~crc};
  std::memcpy(&state[16], &header[0], 8);
  std::memcpy(&state[24], &header[1], 4);
  return state;
}

// Records the largest single allocation of a context.
struct Largest {
  size_t bytes = 0;

  static void *allocate(void *user, size_t bytes, size_t alignment) {
    auto &self = *static_cast<Largest *>(user);
    self.bytes = std::max(self.bytes, bytes);
    return std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  }
  static void release(void *, void *memory, size_t) { std::free(memory); }
};

// The load compares the announced sizes with the available bytes, so that a short state never causes a large allocation.
TEST(Weights, OfAStateThatAnnouncesMoreThanItHasTakeNoMemory) {
  const Context maker = make_context(1);
  struct Announced {
    const char *format;
    std::vector<int64_t> extents;
    size_t payload = 1 << 22;
    lpt_weights_storage storage = LPT_WEIGHTS_STORAGE_ALL;
  };
  const int64_t huge = int64_t{1} << 40;
  const Announced table[] = {
      {"int4/1x1/f32", {32, 1 << 18}},  // scales of eight times the elements
      {"uint4/1x2/f32/uint8", {32, 1 << 18}},
      {"int4", {1 << 18, 1}},  // k is padded to four
      {"int4/row/f32", {1 << 18, 1}},
      {"bf16", {1 << 20, 1 << 20}},
      {"f32", {3, 1 << 19, 1}},
      {"bf16", {huge, huge, huge}},
      {"bf16", {huge, 0, huge}},
      {"bf16", {huge, huge, 0}},
      {"bf16", {0, huge, huge}, 0},  // no experts, but extents that overflow
      {"bf16", {0, huge, huge}, 0, LPT_WEIGHTS_STORAGE_BITMASK},
      {"bf16", {-1, 5}},
      {"f64", {32, 32}, 8192},  // never packed
      {"bf16", {32}},
      {"bf16", {1, 1, 1, 32}},
      {"uint8", {32, 256}, 8192},  // as many bytes as int8 has
  };
  for (const Announced &one : table) {
    Largest largest;
    lpt_context_options options = LPT_CONTEXT_OPTIONS_INIT;
    options.thread_count = 1;
    options.allocate = Largest::allocate;
    options.release = Largest::release;
    options.allocator_user = &largest;
    Context context;
    ASSERT_EQ(LPT_OK, lpt_context_create(&options, out(context)));
    const std::vector<uint8_t> state =
        announced(maker.get(), format_named(one.format), one.extents, one.payload, one.storage);
    largest.bytes = 0;
    Tensor loaded;
    EXPECT_EQ(LPT_INVALID_STATE, lpt_weights_state_load(context.get(), state.data(), state.size(), out(loaded)))
        << one.format;
    EXPECT_EQ(largest.bytes, 0u) << one.format;
  }
}

TEST(Weights, TellTheirSizeAndAreNoOrdinaryTensors) {
  const Context context = make_context(1);
  const Tensor weights = tensor_of(context.get(), LPT_FORMAT_INT4_1X128, 64, 256, draw_normal(511, 64 * 256));
  const Tensor packed = pack(context.get(), weights.get());
  size_t rows_bytes = 0, packed_bytes = 0;
  ASSERT_TRUE(ok(context.get(), lpt_tensor_size(context.get(), weights.get(), &rows_bytes)));
  ASSERT_TRUE(ok(context.get(), lpt_tensor_size(context.get(), packed.get(), &packed_bytes)));
  EXPECT_EQ(rows_bytes, packed_bytes);
  const Tensor wide = make_tensor(context.get(), LPT_FORMAT_F32, 64, 256);
  EXPECT_EQ(LPT_UNSUPPORTED, lpt_dequantize(context.get(), packed.get(), nullptr, wide.get()));
  expect_words({"source is packed weights"}, lpt_context_error(context.get()));
  Tensor part;
  EXPECT_EQ(LPT_UNSUPPORTED, lpt_tensor_view_part(context.get(), packed.get(), LPT_TENSOR_PART_PAYLOAD, out(part)));
}

// Any number of empty experts: no work per expert.
TEST(Weights, OfNothingAreLoadedAtOnce) {
  const Context context = make_context(1);
  const std::vector<uint8_t> state = announced(context.get(), LPT_FORMAT_INT8_ROW, {int64_t{1} << 40, 0, 8}, 0);
  Tensor loaded;
  ASSERT_TRUE(ok(context.get(), lpt_weights_state_load(context.get(), state.data(), state.size(), out(loaded))));
  EXPECT_EQ(state, saved(context.get(), loaded.get()));
}

TEST(Weights, ArePackedInNothingWhenOnlyChecked) {
  const Context context = make_context(1);
  lpt_weights_options options = LPT_WEIGHTS_OPTIONS_INIT;
  options.flags = LPT_CHECK_ONLY;
  const Tensor weights = wrap(context.get(), LPT_FORMAT_BF16, nullptr, 40, 64);
  lpt_tensor *packed = weights.get();
  ASSERT_TRUE(ok(context.get(), lpt_weights_pack(context.get(), weights.get(), &options, &packed)));
  EXPECT_EQ(nullptr, packed);
  packed = weights.get();
  const int32_t order[40] = {};
  options.output_order = order;
  EXPECT_EQ(LPT_INVALID_ARGUMENT, lpt_weights_pack(context.get(), weights.get(), &options, &packed));
  EXPECT_EQ(weights.get(), packed);
}

}  // namespace
}  // namespace lpt::test
