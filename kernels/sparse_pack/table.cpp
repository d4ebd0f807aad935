// Everything about 2:4 matrices that can run, fastest first, the reference last.
#include "kernels/sparse_pack/rows.hpp"

namespace lpt {
namespace {

constexpr Row<CompressRequest> kCompressRows[] = {
    {"compress_any_ref", 0, nullptr, compress_any_ref},
};

constexpr Row<DecompressRequest> kDecompressRows[] = {
    {"decompress_any_ref", 0, nullptr, decompress_any_ref},
};

constexpr Row<NonzeroRequest> kNonzeroRows[] = {
    {"nonzero_any_ref", 0, nullptr, nonzero_any_ref},
};

}  // namespace

std::span<const Row<CompressRequest>> compress_kernels() { return kCompressRows; }
std::span<const Row<DecompressRequest>> decompress_kernels() { return kDecompressRows; }
std::span<const Row<NonzeroRequest>> nonzero_kernels() { return kNonzeroRows; }

}  // namespace lpt
