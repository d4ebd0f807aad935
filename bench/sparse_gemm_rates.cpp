#include "bench/sparse_gemm_rates.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "bench/peaks.hpp"

namespace lpt::bench {
namespace {

struct Destroy {
  void operator()(lpt_context *handle) const { lpt_context_destroy(handle); }
  void operator()(lpt_tensor *handle) const { lpt_tensor_destroy(handle); }
};
using Context = std::unique_ptr<lpt_context, Destroy>;
using Tensor = std::unique_ptr<lpt_tensor, Destroy>;

void check(lpt_context *context, lpt_status status) {
  if (status == LPT_OK) return;
  std::fprintf(stderr, "sparse_bench: %s\n", lpt_context_error(context));
  std::exit(1);
}

Tensor make(lpt_context *context, const std::string &name, int64_t rows, int64_t columns) {
  lpt_format format = LPT_FORMAT_NONE;
  lpt_tensor *tensor = nullptr;
  const int64_t extents[2] = {rows, columns};
  check(context, lpt_format_from_name(nullptr, name.c_str(), &format));
  check(context, lpt_tensor_create(context, format, 2, extents, &tensor));
  return Tensor(tensor);
}

Tensor random_numbers(lpt_context *context, int64_t rows, int64_t columns) {
  Tensor tensor = make(context, "f32", rows, columns);
  lpt_tensor_description description = LPT_TENSOR_DESCRIPTION_INIT;
  check(context, lpt_tensor_describe(context, tensor.get(), &description));
  uint32_t state = 7;
  for (int64_t i = 0; i < rows * columns; ++i) {
    state = state * 1664525 + 1013904223;
    static_cast<float *>(description.data)[i] = static_cast<float>(state >> 8) * 0x1p-23f - 1.0f;
  }
  return tensor;
}

Tensor cast(lpt_context *context, const lpt_tensor *source, const std::string &name, int64_t rows, int64_t columns) {
  Tensor result = make(context, name, rows, columns);
  check(context, lpt_quantize(context, source, nullptr, result.get(), nullptr));
  return result;
}

// One weight in three storages.
struct Weights {
  Weights(lpt_context *context, const std::string &name, int64_t n, int64_t k) {
    const Tensor numbers = random_numbers(context, n, k);
    check(context, lpt_sparse_mask_select(context, numbers.get(), nullptr, nullptr, numbers.get(), nullptr));
    dense = cast(context, numbers.get(), name, n, k);
    sparse = make(context, name + "/2:4", n, k);
    check(context, lpt_sparse_compress(context, dense.get(), nullptr, sparse.get(), nullptr));
    lpt_tensor *handle = nullptr;
    check(context, lpt_weights_pack(context, dense.get(), nullptr, &handle));
    packed.reset(handle);
  }
  Tensor dense, sparse, packed;
};

double multiply(lpt_context *context, const lpt_tensor *a, const lpt_tensor *b, lpt_tensor *c) {
  lpt_gemm_options options = LPT_GEMM_OPTIONS_INIT;
  options.is_b_transposed = 1;
  const double begin = now();
  check(context, lpt_gemm(context, a, b, &options, c));
  return now() - begin;
}

// A GEMM with a sparse weight, interleaved with that of the packed dense weight.
SparseRate beside_dense(lpt_context *context, const std::string &name, const std::string &kind,
                        const lpt_tensor *packed, const lpt_tensor *sparse, int64_t m, int64_t n, int64_t k,
                        double bar) {
  const Tensor numbers = random_numbers(context, m, k);
  const Tensor a = cast(context, numbers.get(), name, m, k);
  const Tensor c = make(context, "f32", m, n);
  double dense = 1e9;
  SparseRate rate = {name + kind + ", GEMM of " + std::to_string(m) + " rows", "", "times the dense GEMM's speed"};
  rate.seconds = 1e9;
  for (int round = 0; round < 9; ++round) {
    dense = std::min(dense, multiply(context, a.get(), packed, c.get()));
    rate.seconds = std::min(rate.seconds, multiply(context, a.get(), sparse, c.get()));
  }
  const std::string reported = lpt_context_explanation(context);
  const size_t at = reported.rfind("gemm: ");
  rate.row = reported.substr(at + 6, reported.find('\n', at) - at - 6);
  size_t bytes = 0;
  check(context, lpt_tensor_size(context, sparse, &bytes));
  rate.gigaelements = static_cast<double>(n * k) / rate.seconds * 1e-9;
  rate.gigabytes = static_cast<double>(bytes) / rate.seconds * 1e-9;
  rate.ratio = dense / rate.seconds;
  rate.bar = bar;
  return rate;
}

// Four fifths of the elements are zero: single elements, or tiles of 64 × 64.
Tensor with_zeros(lpt_context *context, const std::string &name, int64_t n, int64_t k, int64_t side) {
  const Tensor numbers = random_numbers(context, n, k);
  lpt_tensor_description description = LPT_TENSOR_DESCRIPTION_INIT;
  check(context, lpt_tensor_describe(context, numbers.get(), &description));
  auto *const at = static_cast<float *>(description.data);
  std::vector<bool> is_zero(static_cast<size_t>((n / side) * (k / side)));
  uint32_t state = 11;
  for (size_t i = 0; i < is_zero.size(); ++i) {
    state = state * 1664525 + 1013904223;
    is_zero[i] = (state >> 8) % 5 != 0;
  }
  for (int64_t r = 0; r < n; ++r) {
    for (int64_t p = 0; p < k; ++p) {
      if (is_zero[static_cast<size_t>(r / side * (k / side) + p / side)]) at[r * k + p] = 0.0f;
    }
  }
  return cast(context, numbers.get(), name, n, k);
}

Tensor pack(lpt_context *context, const lpt_tensor *weights, lpt_weights_storage storage) {
  lpt_weights_options options = LPT_WEIGHTS_OPTIONS_INIT;
  options.storage = storage;
  lpt_tensor *packed = nullptr;
  check(context, lpt_weights_pack(context, weights, &options, &packed));
  return Tensor(packed);
}

void add_sparse_rates(lpt_context *context, const std::string &name, std::vector<SparseRate> &rates) {
  constexpr int64_t kSide = 8192;
  for (const lpt_weights_storage storage : {LPT_WEIGHTS_STORAGE_BITMASK, LPT_WEIGHTS_STORAGE_BLOCK_SPARSE}) {
    const bool has_tiles = storage == LPT_WEIGHTS_STORAGE_BLOCK_SPARSE;
    const Tensor weights = with_zeros(context, name, kSide, kSide, has_tiles ? 64 : 1);
    const Tensor packed = pack(context, weights.get(), LPT_WEIGHTS_STORAGE_ALL);
    const Tensor sparse_packed = pack(context, weights.get(), storage);
    for (const int64_t m : {1, 16, 512}) {
      rates.push_back(beside_dense(context, name, has_tiles ? " in tiles, 80 % zeros" : " bitmask, 80 % zeros",
                                   packed.get(), sparse_packed.get(), m, kSide, kSide, 0.0));
    }
  }
}

}  // namespace

std::vector<SparseRate> gemm_rates() {
  lpt_context_options options = LPT_CONTEXT_OPTIONS_INIT;
  options.thread_count = 1;
  lpt_context *handle = nullptr;
  if (lpt_context_create(&options, &handle) != LPT_OK) return {};
  const Context context(handle);
  std::vector<SparseRate> rates;
  const struct {
    const char *name;
    int64_t n, k;
    double bar;
  } kWeights[] = {{"int8_row", 16384, 8192, 1.4}, {"bf16", 8192, 8192, 1.5}};
  for (const auto &given : kWeights) {
    const Weights weights(context.get(), given.name, given.n, given.k);
    for (const int64_t m : {1, 4, 16, 512}) {
      rates.push_back(beside_dense(context.get(), given.name, " 2:4", weights.packed.get(), weights.sparse.get(), m,
                                   given.n, given.k, m == 1 ? given.bar : 0.0));
    }
  }
  for (const char *name : {"int8_row", "bf16"}) add_sparse_rates(context.get(), name, rates);
  return rates;
}

}  // namespace lpt::bench
