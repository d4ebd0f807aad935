// Common parts of the tests of the C interface: owners of handles, and values of tensors. Includes only lpt.h.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "lpt/research.h"
#include "tests/support/random.hpp"

namespace lpt::test {

struct Destroy {
  void operator()(lpt_context *handle) const { lpt_context_destroy(handle); }
  void operator()(lpt_tensor *handle) const { lpt_tensor_destroy(handle); }
  void operator()(lpt_scaler *handle) const { lpt_scaler_destroy(handle); }
  void operator()(lpt_recipe *handle) const { lpt_recipe_destroy(handle); }
  void operator()(lpt_linear *handle) const { lpt_linear_destroy(handle); }
  void operator()(lpt_optimizer *handle) const { lpt_optimizer_destroy(handle); }
  void operator()(lpt_comm_group *handle) const { lpt_comm_group_destroy(handle); }
  void operator()(lpt_comm *handle) const { lpt_comm_destroy(handle); }
  void operator()(lpt_future *handle) const { lpt_future_destroy(handle); }
  void operator()(lpt_autopilot *handle) const { lpt_autopilot_destroy(handle); }
  void operator()(lpt_loss_scaler *handle) const { lpt_loss_scaler_destroy(handle); }
  void operator()(lpt_kv_cache *handle) const { lpt_kv_cache_destroy(handle); }
  void operator()(lpt_topology *handle) const { lpt_topology_destroy(handle); }
  void operator()(lpt_schedule *handle) const { lpt_schedule_destroy(handle); }
  void operator()(lpt_lossy_link *handle) const { lpt_lossy_link_destroy(handle); }
};

template <typename Handle>
using Owned = std::unique_ptr<Handle, Destroy>;
using Context = Owned<lpt_context>;
using Tensor = Owned<lpt_tensor>;
using Scaler = Owned<lpt_scaler>;
using Recipe = Owned<lpt_recipe>;
using Linear = Owned<lpt_linear>;
using Optimizer = Owned<lpt_optimizer>;
using Group = Owned<lpt_comm_group>;
using Comm = Owned<lpt_comm>;
using Future = Owned<lpt_future>;
using Autopilot = Owned<lpt_autopilot>;
using LossScaler = Owned<lpt_loss_scaler>;
using KvCache = Owned<lpt_kv_cache>;
using Topology = Owned<lpt_topology>;
using Schedule = Owned<lpt_schedule>;
using LossyLink = Owned<lpt_lossy_link>;

// Receives an out-parameter, and passes it to the owner at the end of the full expression.
template <typename Handle>
class Out {
 public:
  explicit Out(Owned<Handle> &owner) : owner_(owner) {}
  ~Out() { owner_.reset(raw_); }
  Out(const Out &) = delete;
  Out &operator=(const Out &) = delete;
  operator Handle **() { return &raw_; }

 private:
  Owned<Handle> &owner_;
  Handle *raw_ = nullptr;
};

template <typename Handle>
Out<Handle> out(Owned<Handle> &owner) {
  return Out<Handle>(owner);
}

// EXPECT_TRUE(ok(context, lpt_…)) prints the error text of the library.
inline testing::AssertionResult ok(const lpt_context *context, lpt_status status) {
  if (status == LPT_OK) return testing::AssertionSuccess();
  return testing::AssertionFailure() << lpt_status_string(status) << ": " << lpt_context_error(context);
}

// Checks that an error text contains all of these words. It must be ASCII, so that any locale can print it.
inline void expect_words(const std::vector<const char *> &words, const std::string &text, const char *where = "") {
  EXPECT_TRUE(std::all_of(text.begin(), text.end(), [](unsigned char c) { return c < 0x80; })) << where << ": " << text;
  for (const char *word : words) {
    EXPECT_NE(std::string::npos, text.find(word)) << where << ": no '" << word << "' in: " << text;
  }
}

inline Context make_context(int32_t thread_count = 1, lpt_isa isa = LPT_ISA_AUTO) {
  lpt_context_options options = LPT_CONTEXT_OPTIONS_INIT;
  options.thread_count = thread_count;
  options.isa = isa;
  Context context;
  EXPECT_EQ(LPT_OK, lpt_context_create(&options, out(context)));
  return context;
}

inline Tensor make_tensor(lpt_context *context, lpt_format format, const std::vector<int64_t> &extents) {
  Tensor tensor;
  EXPECT_TRUE(ok(
      context, lpt_tensor_create(context, format, static_cast<int32_t>(extents.size()), extents.data(), out(tensor))));
  return tensor;
}

inline Tensor make_tensor(lpt_context *context, lpt_format format, int64_t rows, int64_t columns) {
  return make_tensor(context, format, {rows, columns});
}

inline Tensor wrap(lpt_context *context, lpt_format format, const void *data, int64_t rows, int64_t columns,
                   int64_t row_stride = 0) {
  Tensor tensor;
  EXPECT_TRUE(ok(context, lpt_tensor_wrap_matrix(context, format, const_cast<void *>(data), rows, columns, row_stride,
                                                 out(tensor))));
  return tensor;
}

inline Tensor wrap(lpt_context *context, const std::vector<float> &data, int64_t rows, int64_t columns) {
  return wrap(context, LPT_FORMAT_F32, data.data(), rows, columns);
}

inline Tensor wrap(lpt_context *context, const std::vector<double> &data, int64_t rows, int64_t columns) {
  return wrap(context, LPT_FORMAT_F64, data.data(), rows, columns);
}

// Wraps memory of the test as a tensor with any number of axes. Without strides its rows are dense.
inline Tensor wrap_axes(lpt_context *context, lpt_format format, const void *data, const std::vector<int64_t> &extents,
                        const std::vector<int64_t> &strides = {}) {
  lpt_tensor_description description = LPT_TENSOR_DESCRIPTION_INIT;
  description.format = format;
  description.data = const_cast<void *>(data);
  description.rank = static_cast<int32_t>(extents.size());
  description.extents = extents.data();
  description.strides = strides.empty() ? nullptr : strides.data();
  Tensor tensor;
  EXPECT_TRUE(ok(context, lpt_tensor_wrap(context, &description, out(tensor))));
  return tensor;
}

// Creates a vector of indices in separate memory.
inline Tensor indices_of(lpt_context *context, const std::vector<int64_t> &indices) {
  const auto count = static_cast<int64_t>(indices.size());
  Tensor tensor;
  EXPECT_TRUE(ok(context, lpt_tensor_create_matrix(context, LPT_FORMAT_INT64, 1, count, out(tensor))));
  if (count > 0) std::memcpy(lpt_tensor_data(tensor.get()), indices.data(), indices.size() * sizeof(int64_t));
  return tensor;
}

inline Tensor view(lpt_context *context, const lpt_tensor *tensor, const std::vector<int64_t> &begins,
                   const std::vector<int64_t> &extents) {
  Tensor part;
  EXPECT_TRUE(ok(context, lpt_tensor_view(context, tensor, begins.data(), extents.data(), out(part))));
  return part;
}

inline Tensor part_of(lpt_context *context, const lpt_tensor *tensor, lpt_tensor_part part) {
  Tensor result;
  EXPECT_TRUE(ok(context, lpt_tensor_view_part(context, tensor, part, out(result))));
  return result;
}

inline lpt_tensor_description describe(lpt_context *context, const lpt_tensor *tensor) {
  lpt_tensor_description description = LPT_TENSOR_DESCRIPTION_INIT;
  EXPECT_TRUE(ok(context, lpt_tensor_describe(context, tensor, &description)));
  return description;
}

// Returns a view with other axes on the memory of a tensor without scales.
inline Tensor with_axes(lpt_context *context, const Tensor &tensor, const std::vector<int64_t> &extents,
                        const std::vector<int64_t> &strides) {
  lpt_tensor_description description = describe(context, tensor.get());
  description.rank = static_cast<int32_t>(extents.size());
  description.extents = extents.data();
  description.strides = strides.data();
  Tensor view;
  EXPECT_TRUE(ok(context, lpt_tensor_wrap(context, &description, out(view))));
  return view;
}

// Returns the memory of one part of a tensor. Rows of a new tensor have no gaps except the padding of packs.
template <typename Number>
Number *part_data(lpt_context *context, const lpt_tensor *tensor, lpt_tensor_part part) {
  return static_cast<Number *>(describe(context, part_of(context, tensor, part).get()).data);
}

inline lpt_format_description describe(lpt_format format) {
  lpt_format_description description = LPT_FORMAT_DESCRIPTION_INIT;
  EXPECT_EQ(LPT_OK, lpt_format_describe(nullptr, format, &description));
  return description;
}

// Returns the parts of a tensor of this format.
inline std::vector<lpt_tensor_part> parts_of(lpt_format format) {
  const lpt_format_description description = describe(format);
  std::vector<lpt_tensor_part> parts = {LPT_TENSOR_PART_PAYLOAD};
  if (description.block_scale != LPT_FORMAT_NONE) parts.push_back(LPT_TENSOR_PART_BLOCK_SCALES);
  if (description.tensor_scale != LPT_FORMAT_NONE) parts.push_back(LPT_TENSOR_PART_TENSOR_SCALE);
  if (description.zero_point != LPT_FORMAT_NONE) parts.push_back(LPT_TENSOR_PART_ZERO_POINTS);
  if (description.sparse_of != 0) parts.push_back(LPT_TENSOR_PART_SPARSE_INDICES);
  return parts;
}

inline lpt_format format_named(const char *name) {
  lpt_format format = LPT_FORMAT_NONE;
  EXPECT_EQ(LPT_OK, lpt_format_from_name(nullptr, name, &format)) << name;
  return format;
}

inline std::string name_of(lpt_format format) {
  char name[64] = "?";
  EXPECT_EQ(LPT_OK, lpt_format_write_name(nullptr, format, name, sizeof name, nullptr));
  return name;
}

// Rows and columns of a tensor whose leading axes are dense.
struct Shape {
  int64_t rows = 1;
  int64_t columns = 1;
};

inline Shape shape_of(lpt_context *context, const lpt_tensor *tensor) {
  const lpt_tensor_description description = describe(context, tensor);
  Shape shape;
  if (description.rank > 0) shape.columns = description.extents[description.rank - 1];
  for (int32_t i = 0; i + 1 < description.rank; ++i) shape.rows *= description.extents[i];
  return shape;
}

// Returns the bytes of `columns` packed elements that begin at a byte.
inline int64_t packed_bytes(lpt_format plain, int64_t columns) {
  return plain == LPT_FORMAT_TERNARY ? (columns + 4) / 5 : (columns * describe(plain).element_bits + 7) / 8;
}

// Clears the unused part of the last byte of `columns` elements.
inline void clear_rest(lpt_format plain, int64_t columns, uint8_t &last) {
  static constexpr int kPowersOfThree[] = {243, 3, 9, 27, 81};
  const int64_t used_bits = columns * describe(plain).element_bits % 8;
  if (plain == LPT_FORMAT_TERNARY) {
    last = static_cast<uint8_t>(last % kPowersOfThree[columns % 5]);
  } else if (used_bits != 0) {
    last = static_cast<uint8_t>(last & ((1 << used_bits) - 1));
  }
}

// Returns the bytes of a tensor without scales, row by row without gaps. The unused part of a last byte is zero.
inline std::vector<uint8_t> plain_bytes(lpt_context *context, const lpt_tensor *tensor) {
  const lpt_tensor_description description = describe(context, tensor);
  const Shape shape = shape_of(context, tensor);
  const lpt_format plain = description.format;
  const int64_t row = packed_bytes(plain, shape.columns);
  const int64_t stride = description.rank < 2 ? row : packed_bytes(plain, description.strides[description.rank - 2]);
  std::vector<uint8_t> bytes(static_cast<size_t>(shape.rows * row));
  for (int64_t r = 0; r < shape.rows && row > 0; ++r) {
    std::memcpy(&bytes[static_cast<size_t>(r * row)], static_cast<const uint8_t *>(description.data) + r * stride,
                static_cast<size_t>(row));
    clear_rest(plain, shape.columns, bytes[static_cast<size_t>((r + 1) * row - 1)]);
  }
  return bytes;
}

// Returns the concatenated bytes of all parts. Two tensors with the same bits have the same bytes.
inline std::vector<uint8_t> bytes_of(lpt_context *context, const lpt_tensor *tensor) {
  std::vector<uint8_t> bytes;
  for (const lpt_tensor_part part : parts_of(describe(context, tensor).format)) {
    const Tensor taken = part_of(context, tensor, part);
    const std::vector<uint8_t> more = plain_bytes(context, taken.get());
    bytes.insert(bytes.end(), more.begin(), more.end());
  }
  return bytes;
}

// Returns the values of a tensor, row by row.
inline std::vector<double> numbers_of(lpt_context *context, const lpt_tensor *tensor) {
  const Shape shape = shape_of(context, tensor);
  std::vector<double> numbers(static_cast<size_t>(shape.rows * shape.columns));
  if (describe(context, tensor).format == LPT_FORMAT_F64) {
    const std::vector<uint8_t> bytes = plain_bytes(context, tensor);
    if (!bytes.empty()) std::memcpy(numbers.data(), bytes.data(), bytes.size());
    return numbers;
  }
  const Tensor wide = wrap(context, numbers, shape.rows, shape.columns);
  EXPECT_TRUE(ok(context, lpt_dequantize(context, tensor, nullptr, wide.get())));
  return numbers;
}

inline float tensor_scale_of(lpt_context *context, const lpt_tensor *tensor) {
  return *part_data<float>(context, tensor, LPT_TENSOR_PART_TENSOR_SCALE);
}

// Creates a tensor from these values, rounded to its format.
inline Tensor tensor_of(lpt_context *context, lpt_format format, int64_t rows, int64_t columns,
                        const std::vector<double> &numbers) {
  Tensor tensor = make_tensor(context, format, rows, columns);
  if (format == LPT_FORMAT_F64) {
    if (!numbers.empty()) {
      std::memcpy(describe(context, tensor.get()).data, numbers.data(), numbers.size() * sizeof(double));
    }
    return tensor;
  }
  const Tensor source = wrap(context, numbers, rows, columns);
  EXPECT_TRUE(ok(context, lpt_quantize(context, source.get(), nullptr, tensor.get(), nullptr)));
  return tensor;
}

inline Tensor vector_of(lpt_context *context, lpt_format format, const std::vector<double> &numbers) {
  return tensor_of(context, format, 1, static_cast<int64_t>(numbers.size()), numbers);
}

// Returns normal values that are exact in f32.
inline std::vector<double> draw_normal(uint64_t place, int64_t count, double deviation = 1.0) {
  Random random(place);
  std::vector<double> numbers(static_cast<size_t>(count));
  for (double &number : numbers) number = static_cast<double>(static_cast<float>(deviation * random.normal()));
  return numbers;
}

inline std::vector<double> transposed(const std::vector<double> &matrix, int64_t rows, int64_t columns) {
  std::vector<double> result(matrix.size());
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < columns; ++c) {
      result[static_cast<size_t>(c * rows + r)] = matrix[static_cast<size_t>(r * columns + c)];
    }
  }
  return result;
}

// m × k times k × n, with the sum of magnitudes that bounds the error of any summation order.
struct ExactGemm {
  std::vector<double> value;
  std::vector<double> magnitude;
};

inline ExactGemm multiply(const std::vector<double> &a, const std::vector<double> &b, int64_t m, int64_t n, int64_t k) {
  ExactGemm product{std::vector<double>(static_cast<size_t>(m * n)), std::vector<double>(static_cast<size_t>(m * n))};
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t l = 0; l < k; ++l) {
      const double factor = a[static_cast<size_t>(i * k + l)];
      for (int64_t j = 0; j < n; ++j) {
        const double term = factor * b[static_cast<size_t>(l * n + j)];
        product.value[static_cast<size_t>(i * n + j)] += term;
        product.magnitude[static_cast<size_t>(i * n + j)] += std::abs(term);
      }
    }
  }
  return product;
}

// Returns the error bound of a GEMM in f32: 4 · sqrt(k) · eps of the sum of magnitudes.
inline double gemm_bound(double magnitude, int64_t k) {
  return (4.0 * std::sqrt(static_cast<double>(k)) + 4.0) * 0x1p-24 * magnitude + 0x1p-126;
}

inline void expect_gemm(const ExactGemm &exact, const std::vector<double> &given, int64_t k) {
  ASSERT_EQ(exact.value.size(), given.size());
  for (size_t i = 0; i < given.size(); ++i) {
    ASSERT_NEAR(exact.value[i], given[i], gemm_bound(exact.magnitude[i], k)) << "element " << i;
  }
}

// Returns |a - b| / |b| over all elements.
inline double relative_error(const std::vector<double> &a, const std::vector<double> &b) {
  double difference = 0.0;
  double whole = 0.0;
  for (size_t i = 0; i < b.size(); ++i) {
    difference += (a[i] - b[i]) * (a[i] - b[i]);
    whole += b[i] * b[i];
  }
  return std::sqrt(difference / whole);
}

// Runs a GEMM that is large enough for several threads, and returns the bytes of the result.
inline std::vector<uint8_t> run_some_gemm(lpt_context *context) {
  const std::vector<double> a = draw_normal(11, 150 * 90);
  const std::vector<double> b = draw_normal(12, 90 * 170);
  const Tensor left = tensor_of(context, LPT_FORMAT_E4M3FN_ROW, 150, 90, a);
  const Tensor right = tensor_of(context, LPT_FORMAT_F32, 90, 170, b);
  const Tensor gemm = make_tensor(context, LPT_FORMAT_F32, 150, 170);
  EXPECT_TRUE(ok(context, lpt_gemm(context, left.get(), right.get(), nullptr, gemm.get())));
  return bytes_of(context, gemm.get());
}

}  // namespace lpt::test
