// Every row that compresses and writes out 2:4 matrices, against the reference byte for byte.
#include "kernels/sparse_pack/sparse_pack.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/guarded.hpp"
#include "tests/support/rows.hpp"

namespace lpt::test {
namespace {

// f64, whose codes Matrix does not hold, goes there and back in tests/api/sparse_pack_test.cpp.
constexpr lpt_format kElements[] = {LPT_FORMAT_F32,  LPT_FORMAT_BF16,   LPT_FORMAT_F16,    LPT_FORMAT_E4M3FN,
                                    LPT_FORMAT_INT8, LPT_FORMAT_E2M1FN, LPT_FORMAT_E3M2FN, LPT_FORMAT_TERNARY};
constexpr int64_t kColumns[] = {1, 3, 4, 5, 63, 64, 511, 512, 513, 518, 1024, 1537};
constexpr int64_t kRows = 5;

// Any codes, and a mask of at most two of four, some of them none.
struct Packed {
  Packed(lpt_format element, int64_t columns, Random &random)
      : source(element, kRows, columns, 3),
        mask(LPT_FORMAT_UINT8, kRows, columns, 5),
        stored(element, kRows, (columns + 3) / 4 * 2, 1),
        index_stride(index_bytes(columns) + 2),
        indices(static_cast<size_t>(kRows * index_stride)),
        target(element, kRows, columns, 2) {
    const int32_t bits = element_bits(element);
    for (int64_t r = 0; r < kRows; ++r) {
      for (int64_t c = 0; c < columns; ++c) {
        const uint32_t code = static_cast<uint32_t>(random.bits()) & (bits >= 32 ? ~0u : (1u << bits) - 1);
        source.set_code(r, c, element == LPT_FORMAT_TERNARY ? code % 3 : code);
        mask.set_code(r, c, 0);
      }
      for (int64_t begin = 0; begin < columns; begin += 4) {
        for (int64_t kept = random.below(3); kept > 0; --kept) {
          const int64_t place = begin + random.below(4);
          if (place < columns) mask.set_code(r, place, static_cast<uint32_t>(1 + random.below(255)));
        }
      }
    }
  }

  Matrix source, mask, stored;
  int64_t index_stride;
  Guarded indices;
  Matrix target;

  CompressRequest compress() { return {source.view(), mask.view(), stored.view(), indices.data(), index_stride}; }
  DecompressRequest decompress() { return {stored.view(), indices.data(), index_stride, target.view()}; }
};

template <typename Request>
const Row<Request> *find_row(std::span<const Row<Request>> rows, const char *name) {
  for (const Row<Request> &row : rows) {
    if (std::string(row.name) == name) return &row;
  }
  return nullptr;
}

TEST(SparsePackRows, CompressToTheBytesOfTheReference) {
  for (const Row<CompressRequest> &row : compress_kernels()) {
    if (!can_run(row)) continue;
    for (const lpt_format element : kElements) {
      for (const int64_t columns : kColumns) {
        Random one(611);
        Random other(611);
        Packed expected(element, columns, one);
        Packed found(element, columns, other);
        if (row.refuses != nullptr && row.refuses(found.compress()) != nullptr) continue;
        compress_kernels().back().run(expected.compress());
        row.run(found.compress());
        EXPECT_TRUE(found.stored.equals(expected.stored)) << row.name << " " << format_name(element) << " " << columns;
        EXPECT_TRUE(found.indices.equals(expected.indices)) << row.name << " " << columns;
        EXPECT_TRUE(found.stored.is_intact() && found.indices.is_intact()) << row.name << " " << columns;
      }
    }
  }
}

TEST(SparsePackRows, WriteOutWhatTheMaskKept) {
  for (const Row<DecompressRequest> &row : decompress_kernels()) {
    if (!can_run(row)) continue;
    for (const lpt_format element : kElements) {
      for (const int64_t columns : kColumns) {
        Random random(612);
        Packed packed(element, columns, random);
        if (row.refuses != nullptr && row.refuses(packed.decompress()) != nullptr) continue;
        compress_kernels().back().run(packed.compress());
        row.run(packed.decompress());
        for (int64_t r = 0; r < kRows; ++r) {
          for (int64_t c = 0; c < columns; ++c) {
            const uint32_t expected = packed.mask.code(r, c) != 0 ? packed.source.code(r, c) : 0;
            ASSERT_EQ(expected, packed.target.code(r, c)) << row.name << " " << format_name(element) << " " << columns;
          }
        }
        EXPECT_TRUE(packed.target.is_intact()) << row.name << " " << columns;
      }
    }
  }
}

// Rows of whole lines may be written past the caches: the bytes are the same.
TEST(SparsePackRows, WritePastTheCaches) {
  const Row<CompressRequest> *compress = &compress_kernels().front();
  const Row<DecompressRequest> *decompress = &decompress_kernels().front();
  if (!can_run(*compress) || !can_run(*decompress)) GTEST_SKIP() << "needs AVX-512";
  for (const lpt_format element : {LPT_FORMAT_F32, LPT_FORMAT_BF16, LPT_FORMAT_INT8}) {
    Random random(614);
    Packed filled(element, 1152, random);
    Matrix stored(element, kRows, 640);
    Matrix expected(element, kRows, 640);
    Matrix target(element, kRows, 1152);
    CompressRequest request = filled.compress();
    request.stored = expected.view();
    compress_kernels().back().run(request);
    request.stored = stored.view();
    request.is_streamed = true;
    compress->run(request);
    EXPECT_TRUE(stored.equals(expected) && stored.is_intact()) << format_name(element);
    decompress->run({stored.view(), request.indices, request.index_stride, target.view(), true});
    for (int64_t r = 0; r < kRows; ++r) {
      for (int64_t c = 0; c < 1152; ++c) {
        ASSERT_EQ(filled.mask.code(r, c) != 0 ? filled.source.code(r, c) : 0, target.code(r, c));
      }
    }
  }
}

TEST(SparsePackRows, SayWhyTheyRefuse) {
  Random random(613);
  const Row<CompressRequest> *row = find_row(compress_kernels(), "compress_bytes_x86_avx512_vnni");
  if (row == nullptr) GTEST_SKIP() << "not compiled: AVX-512";
  Packed small(LPT_FORMAT_E2M1FN, 8, random);
  EXPECT_STREQ("elements are not of 1, 2 or 4 bytes", row->refuses(small.compress()));
  Packed bytes(LPT_FORMAT_INT8, 8, random);
  CompressRequest turned = bytes.compress();
  turned.mask.column_stride = 8;
  EXPECT_STREQ("columns of mask are not adjacent", row->refuses(turned));
}

}  // namespace
}  // namespace lpt::test
