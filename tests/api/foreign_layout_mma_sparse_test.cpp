// The operands of mma.sp: a model of a warp multiplies the exported bytes and computes the dense GEMM.
#include "tests/api/foreign_layout_sparse.hpp"

namespace lpt::test {
namespace {

constexpr lpt_foreign_layout kMma = LPT_FOREIGN_LAYOUT_MMA_SPARSE;

constexpr Shape kShapes[] = {{16, 64}, {1, 1}, {16, 4},   {8, 68},   {9, 32},
                             {17, 33}, {5, 6}, {48, 192}, {33, 127}, {100, 260}};

int64_t blocks_of(int64_t extent, int64_t block) { return (extent + block - 1) / block; }

// Multiplies sixteen rows of an exported buffer by a factor, with the addresses that a kernel uses.
WarpD multiply_rows(const SparseElement &kind, const SparseMatrix &matrix, const Bytes &bytes, int64_t block_row,
                    const Factor &factor) {
  const int64_t across = blocks_of(matrix.columns, 64);
  const int instructions = 64 / depth_of(kind.element);
  const int64_t code_bytes = blocks_of(matrix.rows, 16) * across * instructions * 512;
  WarpD gemm{};
  for (int64_t block = 0; block < across; ++block) {
    const int64_t at = block_row * across + block;
    WarpMetadata metadata{};
    std::memcpy(metadata.data(), &bytes[static_cast<size_t>(code_bytes + at * 128)], sizeof metadata);
    for (int i = 0; i < instructions; ++i) {
      WarpA a{};
      std::memcpy(a.data(), &bytes[static_cast<size_t>((at * instructions + i) * 512)], sizeof a);
      const WarpB b = factor.fragment(kind.element, block * 64 + i * depth_of(kind.element));
      mma_sp(kind.element, a, metadata, i, b, gemm);
    }
  }
  return gemm;
}

void expect_gemms(const SparseElement &kind, const SparseMatrix &matrix, const Bytes &bytes, const Factor &factor) {
  const std::string where =
      std::string(kind.name) + ", " + std::to_string(matrix.rows) + "×" + std::to_string(matrix.columns);
  for (int64_t block = 0; block < blocks_of(matrix.rows, 16); ++block) {
    expect_gemm(matrix, factor, block * 16, multiply_rows(kind, matrix, bytes, block, factor), where);
  }
}

TEST(ForeignLayoutMmaSparse, GivesAWarpTheDenseGemm) {
  const Context context = make_context(3);
  for (const SparseElement &kind : kSparseElements) {
    for (const Shape shape : kShapes) {
      const SparseMatrix matrix = make_sparse(context.get(), kind, shape.rows, shape.columns, 640);
      const Bytes bytes = exported(context.get(), matrix.compressed.get(), kMma);
      const int64_t blocks = blocks_of(shape.rows, 16) * blocks_of(shape.columns, 64);
      ASSERT_EQ(static_cast<size_t>(blocks * (kind.element.bits * 64 + 128)), bytes.size());
      ASSERT_NO_FATAL_FAILURE(expect_gemms(kind, matrix, bytes, Factor(641, shape.columns)));
    }
  }
}

TEST(ForeignLayoutMmaSparse, TakesEveryPatternInEveryPlace) {
  const Context context = make_context();
  for (const SparseElement &kind : kSparseElements) {
    for (int64_t shift = 0; shift < 6; ++shift) {
      const SparseMatrix matrix = make_sparse(context.get(), kind, 32, 128, 642, [&](int64_t row, int64_t group) {
        return (row * 7 + group * 5 + group / 6 + shift) % 6;
      });
      const Bytes bytes = exported(context.get(), matrix.compressed.get(), kMma);
      ASSERT_NO_FATAL_FAILURE(expect_gemms(kind, matrix, bytes, Factor(643, 128)));
    }
  }
}

// Derived by hand from the tables. 17 rows give a second block of rows, 65 columns a second block of columns.
TEST(ForeignLayoutMmaSparse, HasTheBytesThatAreDocumented) {
  const Context context = make_context();
  struct Place {
    int64_t row, stored;  // a stored code
    size_t code;          // its first byte
    int64_t index_byte;   // a byte of indices
    size_t indices;       // byte offset of the indices in the buffer
  };
  // 16 bits: 2 × 2 blocks of two instructions; 4096 bytes of codes.
  const Place wide[] = {{0, 0, 0, 0, 4096},     {0, 1, 2, 1, 4097},     {0, 2, 16, 2, 4100},    {1, 0, 64, 0, 4112},
                        {8, 0, 4, 0, 4098},     {0, 8, 8, 4, 4104},     {9, 9, 78, 3, 4119},    {15, 15, 510, 5, 4219},
                        {0, 16, 512, 6, 4108},  {7, 31, 1018, 7, 4221}, {0, 32, 1024, 8, 4224}, {16, 0, 2048, 0, 4352},
                        {16, 33, 3074, 8, 4480}};
  // 8 bits: 2 × 2 blocks of one instruction; 2048 bytes of codes.
  const Place narrow[] = {{0, 0, 0, 0, 2048},    {0, 3, 3, 1, 2049},     {0, 4, 16, 2, 2050},    {1, 0, 64, 3, 2067},
                          {8, 0, 4, 0, 2052},    {0, 16, 8, 4, 2056},    {9, 17, 77, 6, 2078},   {15, 31, 511, 7, 2175},
                          {0, 32, 512, 8, 2176}, {16, 0, 1024, 0, 2304}, {16, 33, 1537, 8, 2432}};
  const auto check = [&](const char *name, int64_t element_bytes, const auto &places, size_t size) {
    const Tensor tensor = make_tensor(context.get(), sparse_named(name), 17, 65);
    auto *codes = part_data<uint8_t>(context.get(), tensor.get(), LPT_TENSOR_PART_PAYLOAD);
    auto *indices = part_data<uint8_t>(context.get(), tensor.get(), LPT_TENSOR_PART_SPARSE_INDICES);
    const Bytes empty = exported(context.get(), tensor.get(), kMma);
    ASSERT_EQ(size, empty.size());
    for (const Place &place : places) {
      uint8_t &code = codes[(place.row * 34 + place.stored) * element_bytes];
      uint8_t &index = indices[place.row * 9 + place.index_byte];
      code = 0x5A;
      index = 0x4E;
      Bytes expected = empty;
      expected[place.code] = 0x5A;
      expected[place.indices] = 0x4E;
      EXPECT_TRUE(expected == exported(context.get(), tensor.get(), kMma)) << name << " " << place.code;
      code = 0;
      index = 0x44;
    }
  };
  check("bf16", 2, wide, 4096 + 512);
  check("f16", 2, wide, 4096 + 512);
  check("int8", 1, narrow, 2048 + 512);
  check("e5m2", 1, narrow, 2048 + 512);
}

TEST(ForeignLayoutMmaSparse, ComesBackTheSame) {
  const Context context = make_context(3);
  for (const SparseElement &kind : kSparseElements) {
    for (const Shape shape : kShapes) {
      const Tensor tensor = make_tensor(context.get(), sparse_named(kind.name), shape.rows, shape.columns);
      fill_with_noise(context.get(), tensor.get(), 644);
      Bytes bytes = exported(context.get(), tensor.get(), kMma);
      const Tensor read = make_tensor(context.get(), sparse_named(kind.name), shape.rows, shape.columns);
      ASSERT_TRUE(import(context.get(), bytes, kMma, read.get()));
      EXPECT_TRUE(all_parts(context.get(), tensor.get()) == all_parts(context.get(), read.get())) << kind.name;
      EXPECT_TRUE(bytes == exported(context.get(), read.get(), kMma)) << kind.name;
    }
  }
}

TEST(ForeignLayoutMmaSparse, FillsUpWithZerosAndLegalIndicesAndDoesNotReadThem) {
  const Context context = make_context();
  for (const char *name : {"bf16", "int8"}) {
    const Tensor tensor = make_tensor(context.get(), sparse_named(name), 19, 71);
    fill_with_noise(context.get(), tensor.get(), 645);
    // The second half of a row's last byte may have no group.
    const Tensor odd = make_tensor(context.get(), sparse_named(name), 3, 4);
    auto *last = part_data<uint8_t>(context.get(), odd.get(), LPT_TENSOR_PART_SPARSE_INDICES);
    last[0] = last[1] = last[2] = 0xF9;
    const Bytes few = exported(context.get(), odd.get(), kMma);
    const size_t metadata = few.size() - 128;
    EXPECT_EQ(0x49, few[metadata]);
    EXPECT_EQ(0x44, few[metadata + 1]);
    size_t others = 0;
    for (size_t i = metadata; i < few.size(); ++i) others += few[i] == 0x44;
    EXPECT_EQ(125u, others);

    const Bytes bytes = exported(context.get(), tensor.get(), kMma);
    const size_t code_bytes = bytes.size() - 4 * 128;
    Bytes foreign(bytes.size(), kGarbage);  // 0xA5 has two invalid halves, 0x5 and 0xA
    // A byte belongs to the matrix if it changes with the codes and indices of the matrix.
    const Tensor other = make_tensor(context.get(), sparse_named(name), 19, 71);
    fill(context.get(), other.get(), LPT_TENSOR_PART_PAYLOAD,
         Bytes(part_bytes(context.get(), other.get(), LPT_TENSOR_PART_PAYLOAD).size(), 0xFF));
    fill(context.get(), other.get(), LPT_TENSOR_PART_SPARSE_INDICES,
         Bytes(part_bytes(context.get(), other.get(), LPT_TENSOR_PART_SPARSE_INDICES).size(), 0xEE));
    const Bytes full = exported(context.get(), other.get(), kMma);
    for (size_t i = 0; i < bytes.size(); ++i) {
      const bool is_matrix = full[i] != (i < code_bytes ? 0x00 : 0x44);
      if (is_matrix) {
        foreign[i] = bytes[i];
      } else {
        ASSERT_EQ(i < code_bytes ? 0x00 : 0x44, bytes[i]) << i;
      }
    }
    const Tensor read = make_tensor(context.get(), sparse_named(name), 19, 71);
    ASSERT_TRUE(import(context.get(), foreign, kMma, read.get()));
    EXPECT_TRUE(all_parts(context.get(), tensor.get()) == all_parts(context.get(), read.get())) << name;
  }
}

TEST(ForeignLayoutMmaSparse, LeavesScalesAndNeighboursOfAView) {
  const Context context = make_context();
  const Tensor whole = make_tensor(context.get(), sparse_named("mxfp8_e4m3"), 40, 320);
  fill_with_noise(context.get(), whole.get(), 646);
  fill(context.get(), whole.get(), LPT_TENSOR_PART_BLOCK_SCALES, random_bytes(649, 40 * 10));
  const Tensor part = view(context.get(), whole.get(), {3, 64}, {33, 160});
  const Bytes bytes = exported(context.get(), part.get(), kMma);
  const std::vector<Bytes> before = all_parts(context.get(), whole.get());
  const std::vector<Bytes> inside = all_parts(context.get(), part.get());

  fill_with_noise(context.get(), whole.get(), 647);
  std::vector<Bytes> expected = all_parts(context.get(), whole.get());
  ASSERT_TRUE(import(context.get(), bytes, kMma, part.get()));
  EXPECT_TRUE(inside == all_parts(context.get(), part.get()));
  const std::vector<Bytes> after = all_parts(context.get(), whole.get());
  for (size_t i = 0; i < after[0].size(); ++i) {
    const bool is_inside = i / 160 >= 3 && i / 160 < 36 && i % 160 >= 32 && i % 160 < 112;
    ASSERT_EQ(is_inside ? before[0][i] : expected[0][i], after[0][i]) << i;
  }
  for (size_t i = 0; i < after.back().size(); ++i) {
    const bool is_inside = i / 40 >= 3 && i / 40 < 36 && i % 40 >= 8 && i % 40 < 28;
    ASSERT_EQ(is_inside ? before.back()[i] : expected.back()[i], after.back()[i]) << i;
  }
  EXPECT_EQ(before[1], after[1]);
}

TEST(ForeignLayoutMmaSparse, RejectsIndicesThatAreNotLegal) {
  const Context context = make_context(3);
  for (const char *name : {"f16", "e4m3fn"}) {
    const Tensor tensor = make_tensor(context.get(), sparse_named(name), 21, 74);  // 19 groups
    fill_with_noise(context.get(), tensor.get(), 648);
    const Bytes good = exported(context.get(), tensor.get(), kMma);
    const Tensor target = make_tensor(context.get(), sparse_named(name), 21, 74);
    auto *indices = part_data<uint8_t>(context.get(), tensor.get(), LPT_TENSOR_PART_SPARSE_INDICES);
    for (const int half : {0x0, 0x1, 0x2, 0x3, 0x5, 0x6, 0x7, 0xA, 0xB, 0xF}) {
      for (const Shape at : {Shape{0, 0}, Shape{3, 1}, Shape{8, 9}, Shape{20, 18}}) {
        const int shift = at.columns % 2 == 0 ? 0 : 4;
        uint8_t &byte = indices[at.rows * 10 + at.columns / 2];
        const uint8_t before = byte;
        byte = static_cast<uint8_t>((before & ~(15 << shift)) | half << shift);
        char value[8], group[16], row[16];
        std::snprintf(value, sizeof value, "0x%X", static_cast<unsigned>(half));
        std::snprintf(group, sizeof group, "group %d", static_cast<int>(at.columns));
        std::snprintf(row, sizeof row, "row %d:", static_cast<int>(at.rows));
        expect_rejected_export(context.get(), tensor.get(), kMma,
                               {"tensor has the index", value, group, row, "0x4, 0x8"});
        byte = before;

        // The warp model finds the index bits in the buffer: rows by lanes, columns by bits.
        Bytes bad = good;
        const WarpElement element = std::string(name) == "f16" ? WarpElement{16, 5, 10} : WarpElement{8, 4, 3};
        const int block_row = static_cast<int>(at.rows / 16), block = static_cast<int>(at.columns / 16);
        const int columns = static_cast<int>(at.columns % 16 * 4), in_block = static_cast<int>(at.rows % 16);
        const size_t metadata = good.size() - 4 * 128 + static_cast<size_t>(block_row * 2 + block) * 128;
        size_t bits = 0;
        for (; bits < 1024; bits += 4) {  // the bits that the instruction reads
          WarpMetadata lanes{};
          lanes[bits / 32] = 15u << bits % 32;
          const int selector = columns / depth_of(element);
          if (indices_of(element, lanes, selector, in_block, columns % depth_of(element)) == 15) break;
        }
        ASSERT_LT(bits, 1024u);
        uint8_t &place = bad[metadata + bits / 8];
        place = static_cast<uint8_t>((place & ~(15 << bits % 8)) | half << bits % 8);
        expect_rejected_import(context.get(), bad, kMma, target.get(), {"buffer has the index", value, group, row});
      }
    }
  }
}

}  // namespace
}  // namespace lpt::test
