#include "bench/gemm_contenders.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>
#include <stdexcept>

namespace lpt::bench {
namespace {

constexpr int64_t kCheckedRows = 4, kCheckedColumns = 32;
constexpr double kMostOfPlainRows = 4e9;  // multiplications and additions: about a second

using Tensor = std::shared_ptr<lpt_tensor>;
Tensor owned(lpt_tensor *tensor) { return {tensor, lpt_tensor_destroy}; }

std::string problem_of(const lpt_context *context, lpt_status status) {
  return std::string(lpt_status_string(status)) + ": " + lpt_context_error(context);
}

void require(const lpt_context *context, lpt_status status) {
  if (status != LPT_OK) throw std::runtime_error(problem_of(context, status));
}

// Uniform in [-1, 1), equal in each run.
std::vector<float> numbers(size_t count) {
  std::vector<float> result(count);
  uint32_t state = 1;
  for (float &number : result) {
    state = state * 1664525u + 1013904223u;
    number = static_cast<float>(static_cast<int32_t>(state)) * 0x1p-31f;
  }
  return result;
}

lpt_context *make_context(int threads, lpt_isa isa) {
  char reason[256] = "";
  lpt_context_options options = LPT_CONTEXT_OPTIONS_INIT;
  options.thread_count = threads;
  options.isa = isa;
  options.error_text = reason;
  options.error_text_bytes = sizeof reason;
  lpt_context *context = nullptr;
  if (lpt_context_create(&options, &context) != LPT_OK) throw std::runtime_error(reason);
  return context;
}

Tensor matrix(lpt_context *context, lpt_format format, int64_t rows, int64_t columns) {
  const int64_t extents[] = {rows, columns};
  lpt_tensor *tensor = nullptr;
  require(context, lpt_tensor_create(context, format, 2, extents, &tensor));
  return owned(tensor);
}

Tensor wrapped(lpt_context *context, float *data, int64_t rows, int64_t columns) {
  lpt_tensor *tensor = nullptr;
  require(context, lpt_tensor_wrap_matrix(context, LPT_FORMAT_F32, data, rows, columns, 0, &tensor));
  return owned(tensor);
}

lpt_gemm_options options_of(const GemmShape &shape) {
  lpt_gemm_options options = LPT_GEMM_OPTIONS_INIT;
  options.is_a_transposed = shape.is_a_transposed;
  options.is_b_transposed = shape.is_b_transposed;
  return options;
}

}  // namespace

GemmOperands::GemmOperands(const GemmShape &shape, int threads, lpt_isa isa)
    : shape_(shape),
      isa_(isa),
      numbers_(numbers(static_cast<size_t>(std::max(shape.m, shape.n) * shape.k))),
      result_(static_cast<size_t>(shape.m * shape.n)) {
  contexts_.push_back(make_context(1, isa));
  if (threads > 1) contexts_.push_back(make_context(threads, isa));
  const int64_t extents[] = {shape.m, shape.n};
  require(contexts_[0],
          lpt_tensor_wrap_matrix(contexts_[0], LPT_FORMAT_F32, result_.data(), extents[0], extents[1], 0, &c_));
}

GemmOperands::~GemmOperands() {
  lpt_tensor_destroy(c_);
  for (lpt_context *context : contexts_) lpt_context_destroy(context);
}

std::shared_ptr<lpt_tensor> GemmOperands::quantized(lpt_format format, int64_t rows, int64_t columns) {
  const Tensor target = matrix(contexts_[0], format, rows, columns);
  const Tensor source = wrapped(contexts_[0], numbers_.data(), rows, columns);
  require(contexts_[0], lpt_quantize(contexts_[0], source.get(), nullptr, target.get(), nullptr));
  return target;
}

// Returns the selected kernels: lines of the explanation that are not indented.
std::string GemmOperands::row_of(const lpt_tensor *a, const lpt_tensor *b, const lpt_gemm_options &options) {
  lpt_gemm_options check = options;
  check.flags |= LPT_CHECK_ONLY;
  require(contexts_[0], lpt_gemm(contexts_[0], a, b, &check, c_));
  std::istringstream lines(lpt_context_explanation(contexts_[0]));
  std::string rows;
  for (std::string line; std::getline(lines, line);) {
    const size_t colon = line.find(": ");
    if (line.empty() || line.front() == ' ' || colon == std::string::npos) continue;
    rows += (rows.empty() ? "" : " + ") + line.substr(colon + 2);
  }
  return rows;
}

// Decodes the first rows of an operand: a multiple of the block height, or all rows.
std::vector<float> GemmOperands::first_rows(const lpt_tensor *tensor, lpt_format format, bool is_whole,
                                            int64_t *out_rows) {
  constexpr int64_t kRows = 128;  // a multiple of the block height
  lpt_context *const context = contexts_[0];
  lpt_tensor_description shape = LPT_TENSOR_DESCRIPTION_INIT;
  require(context, lpt_tensor_describe(context, tensor, &shape));
  lpt_format_description description = LPT_FORMAT_DESCRIPTION_INIT;
  require(context, lpt_format_describe(nullptr, format, &description));
  const bool is_cut = !is_whole && description.block_rows != LPT_BLOCK_EXTENT_FULL;
  const int64_t begins[] = {0, 0};
  const int64_t extents[] = {is_cut ? std::min(kRows, shape.extents[0]) : shape.extents[0], shape.extents[1]};
  lpt_tensor *part = nullptr;
  require(context, lpt_tensor_view(context, tensor, begins, extents, &part));
  const Tensor source = owned(part);
  std::vector<float> decoded(static_cast<size_t>(extents[0] * extents[1]));
  const Tensor target = wrapped(context, decoded.data(), extents[0], extents[1]);
  require(context, lpt_dequantize(context, source.get(), nullptr, target.get()));
  *out_rows = extents[0];
  return decoded;
}

// Checks the result of a benchmarked GEMM against the documented error bound.
void GemmOperands::check_result(const GemmPair &pair, const lpt_tensor *a, const lpt_tensor *b,
                                const std::string &what) {
  int64_t a_rows = 0, b_rows = 0;
  const std::vector<float> left = first_rows(a, pair.a, shape_.is_a_transposed, &a_rows);
  const std::vector<float> right = first_rows(b, pair.b, !shape_.is_b_transposed, &b_rows);
  const auto at = [&](const std::vector<float> &values, bool is_k_last, int64_t lane, int64_t p, int64_t lanes) {
    return static_cast<double>(values[static_cast<size_t>(is_k_last ? lane * shape_.k + p : p * lanes + lane)]);
  };
  for (int64_t i = 0; i < std::min(shape_.m, kCheckedRows); ++i) {
    for (int64_t j = 0; j < std::min(shape_.n, kCheckedColumns); ++j) {
      double sum = 0, magnitude = 0;
      for (int64_t p = 0; p < shape_.k; ++p) {
        const double gemm =
            at(left, !shape_.is_a_transposed, i, p, shape_.m) * at(right, shape_.is_b_transposed, j, p, shape_.n);
        sum += gemm;
        magnitude += std::fabs(gemm);
      }
      const double found = result_[static_cast<size_t>(i * shape_.n + j)];
      const double bound = 4 * std::sqrt(static_cast<double>(shape_.k) + 1) * 0x1p-23 * magnitude;
      if (std::fabs(found - sum) <= bound) continue;
      std::ostringstream text;
      text << what << " of " << shape_.name << " is wrong at (" << i << ", " << j << "): " << found << ", expected "
           << sum << " within " << bound;
      throw std::runtime_error(text.str());
    }
  }
}

std::vector<GemmContender> GemmOperands::contenders(const GemmPair &pair, bool wants_plain, bool wants_packed,
                                                    std::string &reason) {
  lpt_context *const context = contexts_[0];
  std::vector<GemmContender> result;
  if (!shape_.is_plain_layer() && has_wide_scales(pair)) {
    reason = "its scales would lie along k in this form";
    return result;
  }
  const Tensor a =
      quantized(pair.a, shape_.is_a_transposed ? shape_.k : shape_.m, shape_.is_a_transposed ? shape_.m : shape_.k);
  const Tensor b =
      quantized(pair.b, shape_.is_b_transposed ? shape_.n : shape_.k, shape_.is_b_transposed ? shape_.k : shape_.n);
  for (const bool is_packed : {false, true}) {
    if (is_packed ? !wants_packed || !shape_.is_b_transposed : !wants_plain) continue;
    Tensor weights = b;
    if (is_packed) {
      lpt_tensor *packed = nullptr;
      const lpt_status status = lpt_weights_pack(context, b.get(), nullptr, &packed);
      if (status != LPT_OK) {
        reason = "its weights cannot be packed: " + problem_of(context, status);
        continue;
      }
      weights = owned(packed);
    }
    GemmContender contender;
    contender.name = pair.name;
    contender.is_packed = is_packed;
    contender.kind = pair.limit;
    const lpt_gemm_options options = options_of(shape_);
    contender.row = row_of(a.get(), weights.get(), options);
    if (contender.row.find("_ref") != std::string::npos && shape_.flops() > kMostOfPlainRows) {
      reason =
          std::string(is_packed ? "packed" : "plain") + " weights: only " + contender.row + " takes it, for too long";
      continue;
    }
    contender.bar = is_packed ? bar_of(pair, shape_, isa_) : 0;
    require(context, lpt_tensor_size(context, weights.get(), &contender.weight_bytes));
    for (lpt_context *runner : contexts_) {
      contender.runs.push_back([=, c = c_] { require(runner, lpt_gemm(runner, a.get(), weights.get(), &options, c)); });
      std::fill(result_.begin(), result_.end(), NAN);
      contender.runs.back()();
      check_result(pair, a.get(), b.get(), pair.name + (is_packed ? " (packed)" : ""));
    }
    result.push_back(contender);
  }
  return result;
}

}  // namespace lpt::bench
