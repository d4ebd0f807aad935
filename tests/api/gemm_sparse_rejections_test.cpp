// Calls that do not support 2:4 matrices reject them by name and leave c unchanged. c must not overlap the parts of such a
// matrix.
#include <cstring>

#include "tests/api/gemm.hpp"
#include "tests/api/sparse.hpp"
#include "tests/api/sparse_operand.hpp"

namespace lpt::test {
namespace {

TEST(SparseGemmRejections, GroupsRejectSparseMatricesByName) {
  const Context context = make_context();
  lpt_context *const c = context.get();
  const std::vector<int64_t> ends = {8, 16};
  const std::vector<double> sevens(2 * 24 * 24, 7.0);
  const Operand a = make_operand(c, "bf16", 16, 24, true, draw_whole(651, 16 * 24));
  const Operand b = make_operand(c, "bf16", 16, 24, true, draw_whole(652, 16 * 24));
  const Tensor experts = tensor_of(c, LPT_FORMAT_BF16, {2, 16, 24}, draw_whole(653, 2 * 16 * 24));
  const auto rejected = [&](const lpt_tensor *left, const lpt_tensor *right, bool is_along,
                            const std::vector<int64_t> &extents, std::vector<const char *> words) {
    lpt_gemm_options options = LPT_GEMM_OPTIONS_INIT;
    options.is_a_transposed = is_along;
    options.is_b_transposed = !is_along;
    int64_t count = 1;
    for (const int64_t extent : extents) count *= extent;
    const Tensor result = tensor_of(c, LPT_FORMAT_F32, extents, part(sevens, 0, count));
    const lpt_status status = lpt_gemm_grouped(c, left, right, indices_of(c, ends).get(), &options, result.get());
    EXPECT_TRUE(status == LPT_INVALID_ARGUMENT || status == LPT_UNSUPPORTED) << status;
    expect_words(words, lpt_context_error(c));
    EXPECT_EQ(part(sevens, 0, count), numbers_of(c, result.get()));
  };
  rejected(a.given(), experts.get(), false, {16, 16},
           {"a is sparse", "16 x 24", "bf16", "/2:4", "lpt_sparse_decompress"});
  rejected(a.dense.get(), b.given(), false, {16, 16}, {"b is 16 x 24", "/2:4", "3 axes"});
  rejected(a.given(), b.dense.get(), true, {2, 24, 24}, {"a is sparse"});
  rejected(a.dense.get(), b.given(), true, {2, 24, 24}, {"b is sparse"});
}

TEST(SparseGemmRejections, SparseTensorsAreMatrices) {
  const Context context = make_context();
  const int64_t extents[] = {2, 8, 16};
  Tensor tensor;
  EXPECT_EQ(LPT_INVALID_ARGUMENT, lpt_tensor_create(context.get(), format_named("bf16/2:4"), 3, extents, out(tensor)));
  expect_words({"rank is 3", "/2:4", "rank 2"}, lpt_context_error(context.get()));
}

TEST(SparseGemmRejections, OtherArgumentsRejectSparseMatricesByName) {
  const Context context = make_context();
  lpt_context *const c = context.get();
  const std::vector<double> sevens(16 * 24, 7.0);
  const Tensor a = tensor_of(c, LPT_FORMAT_BF16, 16, 24, draw_whole(654, 16 * 24));
  const Tensor b = tensor_of(c, LPT_FORMAT_BF16, 24, 24, draw_whole(655, 24 * 24));
  const Operand sparse = make_operand(c, "f32", 16, 24, true, draw_whole(656, 16 * 24));
  const Operand row = make_operand(c, "f32", 1, 24, true, draw_whole(657, 24));
  const Tensor result = tensor_of(c, LPT_FORMAT_F32, 16, 24, sevens);
  const auto rejected = [&](const char *name, const lpt_gemm_options &options, lpt_tensor *target) {
    EXPECT_EQ(LPT_UNSUPPORTED, lpt_gemm(c, a.get(), b.get(), &options, target)) << name;
    expect_words({name, "sparse", "/2:4"}, lpt_context_error(c), name);
    EXPECT_EQ(sevens, numbers_of(c, result.get())) << name;
  };
  lpt_gemm_options options = LPT_GEMM_OPTIONS_INIT;
  const std::vector<uint8_t> before = bytes_of(c, sparse.given());
  rejected("c is", options, sparse.sparse.get());
  EXPECT_EQ(before, bytes_of(c, sparse.given()));
  options.bias = row.given();
  rejected("bias is", options, result.get());
  options.bias = nullptr;
  options.residual = sparse.given();
  rejected("residual is", options, result.get());
}

// Memory of a 2:4 matrix.

// A bf16/2:4 matrix in memory of the caller: rows of `stride` codes, and the indices.
struct Wrapped {
  static constexpr int64_t kRows = 4, kColumns = 32;
  alignas(64) uint16_t payload[64 + 128 + 64] = {};
  alignas(64) uint8_t places[16 + 64] = {};
  Tensor stored, indices, tensor;

  Wrapped(lpt_context *context, int64_t stride) {
    std::memset(places, 0x44, sizeof places);
    for (uint16_t &code : payload) code = 0x3F80;
    stored = wrap(context, LPT_FORMAT_BF16, payload, kRows, kColumns / 2, stride);
    indices = wrap(context, LPT_FORMAT_UINT8, places, kRows, kColumns / 8);
    const lpt_tensor *parts[] = {stored.get(), nullptr, nullptr, nullptr, indices.get()};
    EXPECT_TRUE(
        ok(context, lpt_tensor_combine(context, format_named("bf16/2:4"), kRows, kColumns, parts, 5, out(tensor))));
  }
  Wrapped(const Wrapped &) = delete;
  Wrapped &operator=(const Wrapped &) = delete;
};

// c may be after the codes or between their rows, but must overlap neither codes nor indices.
TEST(SparseGemmRejections, CMayNotOverlapWhatIsStored) {
  const Context context = make_context();
  lpt_context *const c = context.get();
  const std::vector<double> ones(2 * Wrapped::kColumns, 1.0);
  const Tensor a = tensor_of(c, LPT_FORMAT_BF16, 2, Wrapped::kColumns, ones);
  const lpt_gemm_options options = transposed_b();
  for (const int64_t stride : {Wrapped::kColumns / 2, Wrapped::kColumns}) {
    Wrapped b(c, stride);
    struct Place {
      const char *name;
      void *data;
      int64_t stride;
      bool is_free;
    };
    const Place places[] = {
        {"behind", b.payload + 4 * stride, 4, true},
        {"between rows", b.payload + Wrapped::kColumns / 2, Wrapped::kColumns, stride == Wrapped::kColumns},
        {"on the first row", b.payload, 4, false},
        {"on the last row", b.payload + 3 * stride + 12, 4, false},
        {"on places", b.places, 4, false},
        {"on the last place", b.places + 14, 4, false},
        {"behind places", b.places + 16, 4, true},
    };
    for (const Place &place : places) {
      SCOPED_TRACE(std::string(place.name) + " stride " + std::to_string(stride));
      Wrapped whole(c, stride);
      const Tensor result = wrap(c, LPT_FORMAT_BF16, place.data, 2, 4, place.stride);
      const std::vector<uint8_t> before = plain_bytes(c, result.get());
      const lpt_status status = lpt_gemm(c, a.get(), b.tensor.get(), &options, result.get());
      if (place.is_free) {
        EXPECT_TRUE(ok(c, status));
        EXPECT_EQ(std::vector<double>(8, 16.0), numbers_of(c, result.get()));
      } else {
        EXPECT_EQ(LPT_INVALID_ARGUMENT, status);
        expect_words({"c at", "overlaps", "b at"}, lpt_context_error(c));
        EXPECT_EQ(before, plain_bytes(c, result.get()));
      }
    }
  }
}

// Parts without data are valid only with LPT_CHECK_ONLY, scales included.
TEST(SparseGemmRejections, RejectsPartsWithoutData) {
  const Context context = make_context();
  lpt_context *const c = context.get();
  const lpt_format format = format_named("nvfp4/2:4");
  const Tensor whole = make_tensor(c, format, 8, 32);
  const Tensor a = tensor_of(c, LPT_FORMAT_BF16, 2, 32, draw_whole(658, 64));
  for (const lpt_tensor_part missing : {LPT_TENSOR_PART_PAYLOAD, LPT_TENSOR_PART_BLOCK_SCALES,
                                        LPT_TENSOR_PART_TENSOR_SCALE, LPT_TENSOR_PART_SPARSE_INDICES}) {
    SCOPED_TRACE(missing);
    std::vector<Tensor> parts(5);
    const lpt_tensor *handles[5] = {};
    for (const lpt_tensor_part part : {LPT_TENSOR_PART_PAYLOAD, LPT_TENSOR_PART_BLOCK_SCALES,
                                       LPT_TENSOR_PART_TENSOR_SCALE, LPT_TENSOR_PART_SPARSE_INDICES}) {
      Tensor &own = parts[static_cast<size_t>(part)];
      own = part_of(c, whole.get(), part);
      if (part == missing) {
        lpt_tensor_description description = describe(c, own.get());
        description.data = nullptr;
        description.strides = nullptr;
        ASSERT_TRUE(ok(c, lpt_tensor_wrap(c, &description, out(own))));
      }
      handles[part] = own.get();
    }
    Tensor b;
    ASSERT_TRUE(ok(c, lpt_tensor_combine(c, format, 8, 32, handles, 5, out(b))));
    const std::vector<double> sevens(16, 7.0);
    const Tensor result = tensor_of(c, LPT_FORMAT_F32, 2, 8, sevens);
    lpt_gemm_options options = transposed_b();
    EXPECT_EQ(LPT_INVALID_ARGUMENT, lpt_gemm(c, a.get(), b.get(), &options, result.get()));
    expect_words({"b ", "data", "LPT_CHECK_ONLY"}, lpt_context_error(c));
    const Tensor dense = make_tensor(c, LPT_FORMAT_NVFP4, 8, 32);
    EXPECT_EQ(LPT_INVALID_ARGUMENT, lpt_sparse_decompress(c, b.get(), dense.get()));
    expect_words({"compressed ", "data"}, lpt_context_error(c));
    options.flags = LPT_CHECK_ONLY;
    EXPECT_TRUE(ok(c, lpt_gemm(c, a.get(), b.get(), &options, result.get())));
    EXPECT_EQ(sevens, numbers_of(c, result.get()));
  }
}

}  // namespace
}  // namespace lpt::test
