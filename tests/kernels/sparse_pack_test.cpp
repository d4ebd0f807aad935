// Every kernel that compresses or decompresses 2:4 matrices against the reference kernel, byte for byte.
#include "kernels/sparse_pack/sparse_pack.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/support/guarded.hpp"
#include "tests/support/kernels.hpp"

namespace lpt::test {
namespace {

// Matrix does not support f64 codes; tests/api/sparse_pack_test.cpp tests their round trip.
constexpr lpt_format kElements[] = {LPT_FORMAT_F32,    LPT_FORMAT_BF16,   LPT_FORMAT_F16,    LPT_FORMAT_E4M3FN,
                                    LPT_FORMAT_INT8,   LPT_FORMAT_INT4,   LPT_FORMAT_E2M1FN, LPT_FORMAT_E3M0,
                                    LPT_FORMAT_E3M2FN, LPT_FORMAT_TERNARY};
constexpr int64_t kRows = 3;

// Parts of registers, and widths around the ends of steps of 256 and of 512 columns.
std::vector<int64_t> widths() {
  std::vector<int64_t> all;
  const auto add = [&](int64_t first, int64_t last) {
    for (int64_t width = first; width <= last; ++width) all.push_back(width);
  };
  add(1, 40);
  for (const int64_t width : {63, 64, 127, 133, 255, 256, 257, 259}) all.push_back(width);
  add(511, 530);
  for (const int64_t width : {767, 1024, 1025, 1027, 1537}) all.push_back(width);
  return all;
}

uint32_t draw_code(lpt_format element, Random &random) {
  const int32_t bits = element_bits(element);
  const uint32_t code = static_cast<uint32_t>(random.bits()) & (bits >= 32 ? ~0u : (1u << bits) - 1);
  return element == LPT_FORMAT_TERNARY ? code % 3 : code;
}

// Any codes, and a mask that keeps at most two of four; some groups keep none.
struct Packed {
  Packed(lpt_format element, int64_t columns, Random &random)
      : source(element, kRows, columns, 3, 4),
        mask(LPT_FORMAT_UINT8, kRows, columns, 5),
        stored(element, kRows, (columns + 3) / 4 * 2, 1, 8),
        index_stride(index_bytes(columns) + 2),
        indices(static_cast<size_t>(kRows * index_stride)),
        target(element, kRows, columns, 2, 12) {
    for (int64_t r = 0; r < kRows; ++r) {
      for (int64_t c = 0; c < columns; ++c) {
        source.set_code(r, c, draw_code(element, random));
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

  // Fills any codes at any two indices of each group, including indices beyond the last column.
  void fill_stored(lpt_format element, Random &random) {
    constexpr uint32_t kLegal[] = {0x4, 0x8, 0x9, 0xC, 0xD, 0xE};
    for (int64_t r = 0; r < kRows; ++r) {
      for (int64_t c = 0; c < stored.columns(); ++c) stored.set_code(r, c, draw_code(element, random));
      for (int64_t i = 0; i < index_bytes(target.columns()); ++i) {
        const uint32_t byte = kLegal[random.below(6)] | kLegal[random.below(6)] << 4;
        indices.data()[r * index_stride + i] = static_cast<uint8_t>(byte);
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
const KernelEntry<Request> *find_kernel(std::span<const KernelEntry<Request>> kernels, const char *name) {
  for (const KernelEntry<Request> &kernel : kernels) {
    if (std::string(kernel.name) == name) return &kernel;
  }
  return nullptr;
}

TEST(SparsePackKernels, CompressToTheBytesOfTheReference) {
  for (const KernelEntry<CompressRequest> &kernel : compress_kernels()) {
    if (!can_run(kernel)) continue;
    for (const lpt_format element : kElements) {
      for (const int64_t columns : widths()) {
        Random one(611);
        Random other(611);
        Packed expected(element, columns, one);
        Packed found(element, columns, other);
        if (!takes(kernel, found.compress())) continue;
        compress_kernels().back().run(expected.compress());
        kernel.run(found.compress());
        EXPECT_TRUE(found.stored.equals(expected.stored))
            << kernel.name << " " << format_name(element) << " " << columns;
        EXPECT_TRUE(found.indices.equals(expected.indices)) << kernel.name << " " << columns;
        EXPECT_TRUE(found.stored.is_intact() && found.indices.is_intact()) << kernel.name << " " << columns;
      }
    }
  }
}

TEST(SparsePackKernels, WriteOutWhatTheMaskKept) {
  for (const KernelEntry<DecompressRequest> &kernel : decompress_kernels()) {
    if (!can_run(kernel)) continue;
    for (const lpt_format element : kElements) {
      for (const int64_t columns : widths()) {
        Random random(612);
        Packed packed(element, columns, random);
        if (!takes(kernel, packed.decompress())) continue;
        compress_kernels().back().run(packed.compress());
        kernel.run(packed.decompress());
        for (int64_t r = 0; r < kRows; ++r) {
          for (int64_t c = 0; c < columns; ++c) {
            const uint32_t expected = packed.mask.code(r, c) != 0 ? packed.source.code(r, c) : 0;
            ASSERT_EQ(expected, packed.target.code(r, c))
                << kernel.name << " " << format_name(element) << " " << columns;
          }
        }
        EXPECT_TRUE(packed.target.is_intact()) << kernel.name << " " << columns;
      }
    }
  }
}

TEST(SparsePackKernels, WriteOutToTheBytesOfTheReference) {
  for (const KernelEntry<DecompressRequest> &kernel : decompress_kernels()) {
    if (!can_run(kernel)) continue;
    for (const lpt_format element : kElements) {
      for (const int64_t columns : widths()) {
        Random one(615);
        Random other(615);
        Packed expected(element, columns, one);
        Packed found(element, columns, other);
        if (!takes(kernel, found.decompress())) continue;
        expected.fill_stored(element, one);
        found.fill_stored(element, other);
        decompress_kernels().back().run(expected.decompress());
        kernel.run(found.decompress());
        EXPECT_TRUE(found.target.equals(expected.target))
            << kernel.name << " " << format_name(element) << " " << columns;
        EXPECT_TRUE(found.target.is_intact()) << kernel.name << " " << columns;
      }
    }
  }
}

// Rows aligned to cache lines permit streaming stores, others do not: the bytes are the same.
constexpr lpt_format kStreamed[] = {LPT_FORMAT_F32, LPT_FORMAT_BF16, LPT_FORMAT_INT8, LPT_FORMAT_E2M1FN};
constexpr size_t kShifts[] = {0, 8, 32};

TEST(SparsePackKernels, CompressPastTheCaches) {
  for (const KernelEntry<CompressRequest> &kernel : compress_kernels()) {
    if (!can_run(kernel)) continue;
    for (const lpt_format element : kStreamed) {
      for (const size_t shift : kShifts) {
        Random random(614);
        Packed filled(element, 1152, random);
        Matrix stored(element, kRows, 640, 0, shift);
        Matrix expected(element, kRows, 640);
        CompressRequest request = filled.compress();
        request.stored = expected.view();
        compress_kernels().back().run(request);
        request.stored = stored.view();
        request.is_streamed = true;
        kernel.run(request);
        EXPECT_TRUE(stored.equals(expected) && stored.is_intact()) << kernel.name << " " << format_name(element);
      }
    }
  }
}

TEST(SparsePackKernels, WriteOutPastTheCaches) {
  for (const KernelEntry<DecompressRequest> &kernel : decompress_kernels()) {
    if (!can_run(kernel)) continue;
    for (const lpt_format element : kStreamed) {
      for (const size_t shift : kShifts) {
        Random random(616);
        Packed filled(element, 1152, random);
        filled.fill_stored(element, random);
        Matrix target(element, kRows, 1152, 0, shift);
        Matrix expected(element, kRows, 1152);
        DecompressRequest request = filled.decompress();
        request.target = expected.view();
        decompress_kernels().back().run(request);
        request.target = target.view();
        request.is_streamed = true;
        kernel.run(request);
        EXPECT_TRUE(target.equals(expected) && target.is_intact()) << kernel.name << " " << format_name(element);
      }
    }
  }
}

// An element and its zero codes, by the definition of its format.
struct Zeros {
  const char *format;
  std::vector<uint32_t> codes;
};

const Zeros kZeros[] = {{"f32", {0, 0x80000000}},
                        {"bf16", {0, 0x8000}},
                        {"f16", {0, 0x8000}},
                        {"int16", {0}},
                        {"int8", {0}},
                        {"uint8", {0}},
                        {"q1_6", {0}},
                        {"e4m3fn", {0, 0x80}},
                        {"e4m3", {0, 0x80}},
                        {"e5m2", {0, 0x80}},
                        {"e3m4", {0, 0x80}},
                        {"e4m3fnuz", {0}},
                        {"e5m2fnuz", {0}},
                        {"e4m3b11fnuz", {0}},
                        {"e8m0fnu", {}},
                        {"e2m1fn", {0, 8}},
                        {"e3m0", {0, 8}},
                        {"int4", {0}},
                        {"uint4", {0}},
                        {"nf4", {7}},
                        {"bnb_fp4", {0, 8}},
                        {"e3m2fn", {0, 0x20}},
                        {"e2m3fn", {0, 0x20}},
                        {"int2", {0}},
                        {"int3", {0}},
                        {"ternary", {0}},
                        {"ue4m4b7-finite", {0}},
                        {"e2m1b1-fnuz", {0}},
                        {"e4m3b9-fnuz", {0}},
                        {"e1m2b1-finite", {0, 8}},
                        {"e4m2b9-finite", {0, 0x40}}};

void expect_nonzero(const KernelEntry<NonzeroRequest> &kernel, const Zeros &zeros, Matrix &source, const Matrix &mask) {
  for (int64_t r = 0; r < source.rows(); ++r) {
    for (int64_t c = 0; c < source.columns(); ++c) {
      const uint32_t code = source.code(r, c);
      const bool is_zero = std::find(zeros.codes.begin(), zeros.codes.end(), code) != zeros.codes.end();
      ASSERT_EQ(is_zero ? 0u : 1u, mask.code(r, c)) << kernel.name << " " << zeros.format << " code " << code;
    }
  }
  EXPECT_TRUE(mask.is_intact()) << kernel.name << " " << zeros.format << " " << source.columns();
}

// All codes up to 16 bits; for 32 bits, single bits and their neighbors.
TEST(SparsePackKernels, TellEveryCodeThatIsZero) {
  for (const KernelEntry<NonzeroRequest> &kernel : nonzero_kernels()) {
    if (!can_run(kernel)) continue;
    for (const Zeros &zeros : kZeros) {
      lpt_format element = LPT_FORMAT_NONE;
      ASSERT_TRUE(format_from_name(zeros.format, element).is_ok()) << zeros.format;
      const int32_t bits = std::min(element_bits(element), 16);
      Matrix source(element, 1, int64_t{1} << bits);
      Matrix mask(LPT_FORMAT_UINT8, 1, source.columns());
      if (!takes(kernel, NonzeroRequest{source.view(), mask.view()})) continue;
      for (int64_t c = 0; c < source.columns(); ++c) {
        const auto code = static_cast<uint32_t>(c);
        source.set_code(0, c,
                        element == LPT_FORMAT_F32       ? code << (c % 17)
                        : element == LPT_FORMAT_TERNARY ? code % 3
                                                        : code);
      }
      kernel.run({source.view(), mask.view()});
      expect_nonzero(kernel, zeros, source, mask);
    }
  }
}

TEST(SparsePackKernels, TellZerosInRowsOfAnyWidth) {
  for (const KernelEntry<NonzeroRequest> &kernel : nonzero_kernels()) {
    if (!can_run(kernel)) continue;
    for (const Zeros &zeros : kZeros) {
      lpt_format element = LPT_FORMAT_NONE;
      ASSERT_TRUE(format_from_name(zeros.format, element).is_ok()) << zeros.format;
      for (const int64_t columns : widths()) {
        Random random(617);
        Matrix source(element, kRows, columns, 3, 4);
        Matrix mask(LPT_FORMAT_UINT8, kRows, columns, 5);
        if (!takes(kernel, NonzeroRequest{source.view(), mask.view()})) continue;
        for (int64_t r = 0; r < kRows; ++r) {
          for (int64_t c = 0; c < columns; ++c) {
            const auto count = static_cast<int64_t>(zeros.codes.size());
            const int64_t place = random.below(2 * count + 1);
            const bool is_zero = place < count;
            source.set_code(r, c, is_zero ? zeros.codes[static_cast<size_t>(place)] : draw_code(element, random));
          }
        }
        kernel.run({source.view(), mask.view()});
        expect_nonzero(kernel, zeros, source, mask);
      }
    }
  }
}

template <typename Request>
void expect_rejection(const char *reason, const KernelEntry<Request> *kernel, const Request &request) {
  if (kernel == nullptr) return;  // not compiled
  EXPECT_STREQ(reason, kernel->unsupported_reason(request)) << kernel->name;
}

TEST(SparsePackKernels, SayWhyTheyReject) {
  Random random(613);
  Packed small(LPT_FORMAT_E3M2FN, 8, random);
  Packed bytes(LPT_FORMAT_INT8, 8, random);
  CompressRequest transposed_copy = bytes.compress();
  transposed_copy.mask.column_stride = 8;
  Matrix scales(LPT_FORMAT_E8M0FNU, 1, 8);
  Matrix listed(LPT_FORMAT_NF4, 1, 8);
  Matrix mask(LPT_FORMAT_UINT8, 1, 8);
  NonzeroRequest columns = {bytes.source.view(), mask.view()};
  columns.mask.column_stride = 8;
  constexpr const char *kWidth = "codes are not of 4, 8, 16 or 32 bits";
  constexpr const char *kMask = "columns of mask are not adjacent";
  constexpr const char *kZero = "no bits of a code tell whether it is zero";
  for (const char *name : {"compress_x86_avx512_vnni", "compress_x86_avx2"}) {
    expect_rejection(kWidth, find_kernel(compress_kernels(), name), small.compress());
    expect_rejection(kMask, find_kernel(compress_kernels(), name), transposed_copy);
    expect_rejection<CompressRequest>(nullptr, find_kernel(compress_kernels(), name), bytes.compress());
  }
  for (const char *name : {"decompress_x86_avx512_vnni", "decompress_x86_avx2"}) {
    expect_rejection(kWidth, find_kernel(decompress_kernels(), name), small.decompress());
  }
  for (const char *name : {"nonzero_x86_avx512", "nonzero_x86_avx2"}) {
    expect_rejection(kWidth, find_kernel(nonzero_kernels(), name), {small.source.view(), mask.view()});
    expect_rejection(kZero, find_kernel(nonzero_kernels(), name), {scales.view(), mask.view()});
    expect_rejection(kZero, find_kernel(nonzero_kernels(), name), {listed.view(), mask.view()});
    expect_rejection(kMask, find_kernel(nonzero_kernels(), name), columns);
  }
}

}  // namespace
}  // namespace lpt::test
