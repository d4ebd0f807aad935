#include "bench/sparse_cases.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace lpt::bench {
namespace {

int64_t element_bytes(const SparseCase &given) { return given.format == LPT_FORMAT_F32 ? 4 : 2; }

// Approximately normal: the sum of four uniform values.
float number_at(uint64_t index) {
  const PhiloxBlock block = philox({{static_cast<uint32_t>(index), static_cast<uint32_t>(index >> 32), 0, 0}}, 1, 7);
  float sum = -2.0f;
  for (const uint32_t word : block.word) sum += static_cast<float>(word >> 8) * 0x1p-24f;
  return sum;
}

}  // namespace

SparseMatrix::SparseMatrix(int64_t rows, int64_t columns, bool is_streamed)
    : rows_(rows), columns_(columns), is_streamed_(is_streamed) {
  const auto count = static_cast<size_t>(elements());
  numbers_.resize(count);
  masked_.resize(count, 1.0f);
  copy_.resize(count, 1.0f);
  mask_.resize(count, 1);
  for (size_t i = 0; i < count; ++i) numbers_[i] = number_at(i);
}

SparseMaskRequest SparseMatrix::request(const SparseCase &given) {
  SparseMaskRequest request{};
  MatrixView &source = request.source;
  find_format(given.format, source.format);
  source.data = numbers_.data();
  source.rows = given.is_transposed ? columns_ : rows_;
  source.columns = given.is_transposed ? rows_ : columns_;
  source.row_stride = given.is_transposed ? 1 : columns_;
  source.column_stride = given.is_transposed ? columns_ : 1;
  request.mask = request.masked = source;
  find_format(LPT_FORMAT_UINT8, request.mask.format);
  request.mask.data = given.wants_mask ? mask_.data() : nullptr;
  request.masked.data = !given.wants_masked ? nullptr : given.is_in_place ? numbers_.data() : masked_.data();
  request.kept = given.kept;
  request.of = given.of;
  request.rule = given.rule;
  request.is_streamed = is_streamed_;
  request.random = {1, 0, 0, random_stream(RandomDomain::kSparse, 1, 0), 9, given.rounds, 16};
  request.row_draws = given.is_transposed ? 1 : static_cast<uint64_t>((columns_ + given.of - 1) / given.of);
  request.group_draws = given.is_transposed ? static_cast<uint64_t>(columns_) : 1;
  return request;
}

void SparseMatrix::copy() { std::memcpy(copy_.data(), numbers_.data(), numbers_.size() * sizeof(float)); }

double bytes_of(const SparseCase &given) {
  const auto each = static_cast<double>(element_bytes(given));
  return each + (given.wants_masked ? each : 0) + (given.wants_mask ? 1 : 0);
}

const KernelEntry<SparseMaskRequest> *row_for(const SparseMaskRequest &request, CpuFeatures isa) {
  for (const auto &row : sparse_mask_kernels()) {
    const bool is_requested = isa == 0 || row.needs.cpu == isa;
    const bool can_run = (row.needs.cpu & ~cpu_features()) == 0;
    if (is_requested && can_run && (row.unsupported_reason == nullptr || row.unsupported_reason(request) == nullptr))
      return &row;
  }
  return nullptr;
}

}  // namespace lpt::bench
