// 2:4 matrices through the C interface: bytes derived by hand, round trips in every format, and rejections.
#include <algorithm>
#include <cmath>

#include "tests/api/sparse.hpp"
#include "tests/support/random.hpp"

namespace lpt::test {
namespace {

// All kinds of formats: each packing without scales, and scales of each shape.
constexpr const char *kFormats[] = {
    "f64",        "f32",   "bf16",  "f16",         "e4m3fn",    "e5m2",          "e2m1fn",         "e3m2fn",
    "int8",       "int4",  "int2",  "int3",        "ternary",   "e4m3fn_tensor", "int8_row",       "mxfp8_e4m3",
    "mxfp6_e2m3", "mxfp4", "nvfp4", "nvfp4_16x16", "int4_1x32", "e4m3fn_1x128",  "e4m3fn_128x128", "int8/column/f32"};

lpt_format sparse_named(const std::string &name) { return format_named((name + "/2:4").c_str()); }

// A 2:4 matrix in dense form, with its mask.
struct Dense {
  Tensor tensor;
  std::vector<uint8_t> mask;
  Tensor mask_tensor;
};

Dense make_dense(lpt_context *context, lpt_format format, int64_t rows, int64_t columns,
                 lpt_sparse_direction direction = LPT_SPARSE_DIRECTION_ROW) {
  Dense dense;
  const Tensor source = tensor_of(context, LPT_FORMAT_F32, rows, columns, draw_normal(521, rows * columns));
  dense.mask = selected(context, source.get(), selection(2, 4, direction));
  dense.mask_tensor = mask_of(context, rows, columns, dense.mask);
  EXPECT_TRUE(ok(context, lpt_sparse_mask_apply(context, source.get(), dense.mask_tensor.get(), source.get())));
  dense.tensor = tensor_of(context, format, rows, columns, numbers_of(context, source.get()));
  return dense;
}

TEST(SparsePack, HasTheBytesThatAreDocumented) {
  const Context context = make_context();
  const std::vector<float> numbers = {0, 2, 0, 4, 5, 6, 0, 0, 0, 0, 0, 7, 0, 0, 0, 0, 8, 9};
  const Tensor source = wrap(context.get(), numbers, 1, 18);
  const Tensor compressed = make_tensor(context.get(), sparse_named("f32"), 1, 18);
  ASSERT_TRUE(ok(context.get(), lpt_sparse_compress(context.get(), source.get(), nullptr, compressed.get(), nullptr)));
  const Tensor stored = part_of(context.get(), compressed.get(), LPT_TENSOR_PART_PAYLOAD);
  EXPECT_EQ((std::vector<double>{2, 4, 5, 6, 0, 7, 0, 0, 8, 9}), numbers_of(context.get(), stored.get()));
  // Indices 1,3 and 0,1; 0,3 and 0,1; 0,1 and no group.
  const Tensor indices = part_of(context.get(), compressed.get(), LPT_TENSOR_PART_SPARSE_INDICES);
  EXPECT_EQ((std::vector<uint8_t>{0x4D, 0x4C, 0x44}), plain_bytes(context.get(), indices.get()));
  size_t bytes = 0;
  ASSERT_TRUE(ok(context.get(), lpt_tensor_size(context.get(), compressed.get(), &bytes)));
  EXPECT_EQ(10 * 4 + 3u, bytes);
}

TEST(SparsePack, GoesThereAndBackInEveryFormat) {
  const Context context = make_context(2);
  for (const char *name : kFormats) {
    for (const int64_t columns : {0, 1, 4, 7, 8, 64, 131, 530}) {
      const int64_t rows = 19;
      const lpt_format format = format_named(name);
      const Dense dense = make_dense(context.get(), format, rows, columns);
      const Tensor compressed = make_tensor(context.get(), sparse_named(name), rows, columns);
      const Tensor back = make_tensor(context.get(), format, rows, columns);
      for (const lpt_tensor *mask :
           {static_cast<const lpt_tensor *>(dense.mask_tensor.get()), static_cast<const lpt_tensor *>(nullptr)}) {
        ASSERT_TRUE(
            ok(context.get(), lpt_sparse_compress(context.get(), dense.tensor.get(), mask, compressed.get(), nullptr)))
            << name;
        ASSERT_TRUE(ok(context.get(), lpt_sparse_decompress(context.get(), compressed.get(), back.get())));
        const std::vector<double> expected = numbers_of(context.get(), dense.tensor.get());
        const std::vector<double> found = numbers_of(context.get(), back.get());
        for (size_t i = 0; i < expected.size(); ++i) ASSERT_EQ(expected[i], found[i]) << name << " " << columns;
      }
    }
  }
}

TEST(SparsePack, TransposedIsTheTransposeCompressed) {
  const Context context = make_context(2);
  const struct {
    const char *name;
    int64_t rows, columns;
  } cases[] = {{"f32", 36, 52},
               {"bf16", 36, 52},
               {"e4m3fn", 36, 52},
               {"e2m1fn", 36, 52},
               {"int8_tensor", 36, 52},
               {"nvfp4_16x16", 36, 52},
               {"f64", 12, 20},
               {"ternary", 300, 28},
               {"int4", 300, 530},  // several squares
               {"nvfp4_16x16", 528, 272},
               {"e4m3fn_128x128", 384, 520},
               {"int8/512x512/f32", 600, 1040}};
  for (const auto &[name, rows, columns] : cases) {
    const lpt_format format = format_named(name);
    const Dense dense = make_dense(context.get(), format, rows, columns, LPT_SPARSE_DIRECTION_BOTH);
    const Tensor compressed = make_tensor(context.get(), sparse_named(name), rows, columns);
    const Tensor transposed_copy = make_tensor(context.get(), sparse_named(name), columns, rows);
    ASSERT_TRUE(ok(context.get(), lpt_sparse_compress(context.get(), dense.tensor.get(), dense.mask_tensor.get(),
                                                      compressed.get(), transposed_copy.get())));
    const Tensor back = make_tensor(context.get(), format, rows, columns);
    const Tensor transposed_back = make_tensor(context.get(), format, columns, rows);
    ASSERT_TRUE(ok(context.get(), lpt_sparse_decompress(context.get(), compressed.get(), back.get())));
    ASSERT_TRUE(ok(context.get(), lpt_sparse_decompress(context.get(), transposed_copy.get(), transposed_back.get())));
    const std::vector<double> numbers = numbers_of(context.get(), dense.tensor.get());
    EXPECT_EQ(numbers, numbers_of(context.get(), back.get())) << name;
    EXPECT_EQ(transposed(numbers, rows, columns), numbers_of(context.get(), transposed_back.get())) << name;
  }
}

// The error names the first group with too many elements, at any index and for any nonzero mask bytes.
TEST(SparsePack, NamesTheFirstGroupThatKeepsTooMany) {
  const Context context = make_context(2);
  Random random(525);
  for (const int64_t columns : {3, 4, 5, 8, 23, 64, 131}) {
    const int64_t rows = 40;
    const Tensor source = tensor_of(context.get(), LPT_FORMAT_F32, rows, columns, draw_normal(526, rows * columns));
    const Tensor compressed = make_tensor(context.get(), sparse_named("f32"), rows, columns);
    for (int trial = 0; trial < 30; ++trial) {
      std::vector<uint8_t> mask(static_cast<size_t>(rows * columns));
      for (int64_t r = 0; r < rows; ++r) {
        for (int64_t c = 0; c < columns; c += 4) {
          for (int i = 0; i < 2 && c + i < columns; ++i) {
            mask[static_cast<size_t>(r * columns + c + i)] = static_cast<uint8_t>(random.below(256));
          }
        }
      }
      int64_t first = rows * columns;
      for (int64_t count = random.below(3); count > 0; --count) {
        const int64_t group = random.below(columns / 4 + 1) * 4, row = random.below(rows);
        if (group + 3 > columns) continue;
        for (int i = 0; i < 3; ++i) {
          mask[static_cast<size_t>(row * columns + group + i)] = static_cast<uint8_t>(1 + random.below(255));
        }
        first = std::min(first, row * columns + group);
      }
      const Tensor given = mask_of(context.get(), rows, columns, mask);
      const lpt_status status =
          lpt_sparse_compress(context.get(), source.get(), given.get(), compressed.get(), nullptr);
      ASSERT_EQ(first == rows * columns ? LPT_OK : LPT_INVALID_ARGUMENT, status)
          << columns << " trial " << trial << ": " << lpt_context_error(context.get());
      if (status == LPT_OK) continue;
      const std::string words =
          "from " + std::to_string(first % columns) + " of row " + std::to_string(first / columns);
      expect_words({words.c_str()}, lpt_context_error(context.get()));
    }
  }
}

TEST(SparsePack, WhatTheMaskDropsIsNotStored) {
  const Context context = make_context();
  const std::vector<float> numbers = {1, 2, 3, 4};
  const Tensor source = wrap(context.get(), numbers, 1, 4);
  const Tensor mask = mask_of(context.get(), 1, 4, {0, 0, 1, 0});
  const Tensor compressed = make_tensor(context.get(), sparse_named("f32"), 1, 4);
  const Tensor back = make_tensor(context.get(), LPT_FORMAT_F32, 1, 4);
  ASSERT_TRUE(
      ok(context.get(), lpt_sparse_compress(context.get(), source.get(), mask.get(), compressed.get(), nullptr)));
  ASSERT_TRUE(ok(context.get(), lpt_sparse_decompress(context.get(), compressed.get(), back.get())));
  EXPECT_EQ((std::vector<double>{0, 0, 3, 0}), numbers_of(context.get(), back.get()));
}

TEST(SparsePack, ANewTensorIsZeroAndPartsMakeIt) {
  const Context context = make_context();
  const lpt_format format = sparse_named("nvfp4");
  const Tensor empty = make_tensor(context.get(), format, 5, 40);
  const Tensor back = make_tensor(context.get(), LPT_FORMAT_NVFP4, 5, 40);
  ASSERT_TRUE(ok(context.get(), lpt_sparse_decompress(context.get(), empty.get(), back.get())));
  for (const double number : numbers_of(context.get(), back.get())) ASSERT_EQ(0.0, number);

  const Dense dense = make_dense(context.get(), LPT_FORMAT_NVFP4, 5, 40);
  ASSERT_TRUE(ok(context.get(), lpt_sparse_compress(context.get(), dense.tensor.get(), nullptr, empty.get(), nullptr)));
  std::vector<Tensor> parts(5);
  for (const lpt_tensor_part part : {0, 1, 2, 4})
    parts[static_cast<size_t>(part)] = part_of(context.get(), empty.get(), part);
  const lpt_tensor *handles[] = {parts[0].get(), parts[1].get(), parts[2].get(), nullptr, parts[4].get()};
  Tensor combined;
  ASSERT_TRUE(ok(context.get(), lpt_tensor_combine(context.get(), format, 5, 40, handles, 5, out(combined))));
  EXPECT_EQ(bytes_of(context.get(), empty.get()), bytes_of(context.get(), combined.get()));
  handles[4] = nullptr;
  EXPECT_EQ(LPT_INVALID_ARGUMENT, lpt_tensor_combine(context.get(), format, 5, 40, handles, 4, out(combined)));
  expect_words({"parts[4], the sparse indices", "missing"}, lpt_context_error(context.get()));
}

TEST(SparsePack, ViewsBeginOnBytesOfIndices) {
  const Context context = make_context();
  const Dense dense = make_dense(context.get(), LPT_FORMAT_MXFP8_E4M3, 6, 96);
  const Tensor compressed = make_tensor(context.get(), sparse_named("mxfp8_e4m3"), 6, 96);
  ASSERT_TRUE(
      ok(context.get(), lpt_sparse_compress(context.get(), dense.tensor.get(), nullptr, compressed.get(), nullptr)));
  const Tensor part = view(context.get(), compressed.get(), {2, 32}, {3, 64});
  const Tensor expected = view(context.get(), dense.tensor.get(), {2, 32}, {3, 64});
  const Tensor back = make_tensor(context.get(), LPT_FORMAT_MXFP8_E4M3, 3, 64);
  ASSERT_TRUE(ok(context.get(), lpt_sparse_decompress(context.get(), part.get(), back.get())));
  EXPECT_EQ(numbers_of(context.get(), expected.get()), numbers_of(context.get(), back.get()));
  const Tensor plain = make_tensor(context.get(), sparse_named("f32"), 4, 32);
  const int64_t begins[] = {0, 4};
  const int64_t extents[] = {4, 8};
  Tensor cut;
  EXPECT_EQ(LPT_INVALID_ARGUMENT, lpt_tensor_view(context.get(), plain.get(), begins, extents, out(cut)));
  expect_words({"columns 4 to 12", "multiples of 8"}, lpt_context_error(context.get()));
}

TEST(SparsePack, NamesAndDescriptionsSayIt) {
  for (const char *name : kFormats) {
    const lpt_format format = sparse_named(name);
    const lpt_format_description description = describe(format);
    EXPECT_EQ(2, description.sparse_kept);
    EXPECT_EQ(4, description.sparse_of);
    EXPECT_EQ(std::string(name) + "/2:4", name_of(format));
    lpt_format again = LPT_FORMAT_NONE;
    ASSERT_EQ(LPT_OK, lpt_format_from_description(nullptr, &description, &again)) << name;
    EXPECT_EQ(format, again);
    EXPECT_EQ(0, describe(format_named(name)).sparse_of);
  }
  lpt_format format = LPT_FORMAT_NONE;
  for (const char *name : {"nf4/2:4", "e8m0fnu/2:4", "uint4_1x32/2:4", "f32/2:4/2:4", "/2:4"}) {
    EXPECT_EQ(LPT_INVALID_ARGUMENT, lpt_format_from_name(nullptr, name, &format)) << name;
  }
  lpt_format_description odd = describe(LPT_FORMAT_BF16);
  odd.sparse_kept = 1;
  odd.sparse_of = 4;
  EXPECT_EQ(LPT_INVALID_ARGUMENT, lpt_format_from_description(nullptr, &odd, &format));
}

}  // namespace
}  // namespace lpt::test
