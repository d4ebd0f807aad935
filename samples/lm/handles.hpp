// LPT handles as C++ objects that own them. A status other than LPT_OK becomes an exception.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>

#include "lpt/research.h"

namespace lm {

// An error that a user can cause: an invalid number, a missing file, a damaged checkpoint. The text is one line.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

template <auto destroy>
struct Destroy {
  template <typename Handle>
  void operator()(Handle *handle) const {
    destroy(handle);
  }
};

using Context = std::unique_ptr<lpt_context, Destroy<lpt_context_destroy>>;
using Tensor = std::unique_ptr<lpt_tensor, Destroy<lpt_tensor_destroy>>;
using Recipe = std::unique_ptr<lpt_recipe, Destroy<lpt_recipe_destroy>>;
using LinearHandle = std::unique_ptr<lpt_linear, Destroy<lpt_linear_destroy>>;
using Autopilot = std::unique_ptr<lpt_autopilot, Destroy<lpt_autopilot_destroy>>;
using Monitor = std::unique_ptr<lpt_monitor, Destroy<lpt_monitor_destroy>>;
using Optimizer = std::unique_ptr<lpt_optimizer, Destroy<lpt_optimizer_destroy>>;
using LossScaler = std::unique_ptr<lpt_loss_scaler, Destroy<lpt_loss_scaler_destroy>>;

// Throws Error with the error text of the context if the status is not LPT_OK.
void check(const lpt_context *context, lpt_status status);

Context make_context(int32_t thread_count);
Recipe make_recipe(lpt_context *context, const char *name);
Monitor make_monitor(lpt_context *context);

// Creates a tensor with separate memory.
Tensor make_tensor(lpt_context *context, lpt_format format, int64_t rows, int64_t columns);

// Creates a vector of bytes, in which lpt_linear_forward() saves its input.
Tensor make_bytes(lpt_context *context, size_t bytes);

// Returns a region of a matrix. It shares the memory.
Tensor matrix_view(lpt_context *context, const lpt_tensor *matrix, int64_t row, int64_t column, int64_t rows,
                   int64_t columns);

// Returns one part of a tensor. It shares the memory.
Tensor tensor_part(lpt_context *context, const lpt_tensor *tensor, lpt_tensor_part part);

// Returns the address of the payload, and the bytes of the full tensor.
void *tensor_data(lpt_context *context, const lpt_tensor *tensor);
size_t tensor_bytes(lpt_context *context, const lpt_tensor *tensor);

template <typename T>
inline constexpr lpt_format kFormatOf = LPT_FORMAT_NONE;
template <>
inline constexpr lpt_format kFormatOf<float> = LPT_FORMAT_F32;
template <>
inline constexpr lpt_format kFormatOf<double> = LPT_FORMAT_F64;

// A dense matrix of floats or doubles for both LPT calls and loops.
template <typename T>
class Matrix {
 public:
  Matrix() = default;
  Matrix(lpt_context *context, int64_t rows, int64_t columns)
      : rows_(rows),
        columns_(columns),
        tensor_(make_tensor(context, kFormatOf<T>, rows, columns)),
        data_(static_cast<T *>(tensor_data(context, tensor_.get()))) {}

  int64_t rows() const { return rows_; }
  int64_t columns() const { return columns_; }
  T *row(int64_t index) const { return data_ + index * columns_; }
  std::span<T> values() const { return {data_, static_cast<size_t>(rows_ * columns_)}; }
  lpt_tensor *tensor() const { return tensor_.get(); }

 private:
  int64_t rows_ = 0;
  int64_t columns_ = 0;
  Tensor tensor_;
  T *data_ = nullptr;
};

}  // namespace lm
