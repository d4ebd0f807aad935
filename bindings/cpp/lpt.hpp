/**
 * @file lpt.hpp
 * @brief LPT for C++20: owning handles, spans, and exceptions with the error text of the library. Header only.
 *
 * Every function calls the C function of the same name, with the same contract, ownership and thread safety. Options
 * are the C structs, such as `lpt_gemm_options options = LPT_GEMM_OPTIONS_INIT;`. NULL selects their defaults. Call
 * other functions of lpt.h with get(): lpt::check(context, lpt_hadamard(context.get(), …)).
 *
 * This header is compiled into the program; the guarantee of a stable binary interface does not include it. It requires
 * C++20.
 */
#ifndef LPT_HPP
#define LPT_HPP

#if __cplusplus < 201709L /* the value of GCC 10 for -std=c++20 */
#error "lpt.hpp requires C++20: compile with -std=c++20, or include lpt.h, which is C"
#endif

#include <lpt/research.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <ranges>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace lpt {

/** @brief Error of a call: the status, and the error text of the library as what(). */
class Error : public std::runtime_error {
 public:
  Error(lpt_status status, const std::string &text)
      : std::runtime_error(text.empty() ? lpt_status_string(status) : text), status_(status) {}
  lpt_status status() const noexcept { return status_; }

 private:
  lpt_status status_;
};

/** @brief Owns a handle of the library. It can be moved, not copied. Handles can be destroyed in any order. */
template <typename T, void (*destroy)(T *)>
class Handle {
 public:
  Handle() = default;
  /** Takes the ownership of the handle. */
  explicit Handle(T *raw) noexcept : raw_(raw) {}
  T *get() const noexcept { return raw_.get(); }
  explicit operator bool() const noexcept { return raw_ != nullptr; }

 private:
  struct Destroy {
    void operator()(T *raw) const noexcept { destroy(raw); }
  };
  std::unique_ptr<T, Destroy> raw_;
};

using Tensor = Handle<lpt_tensor, lpt_tensor_destroy>;
using Scaler = Handle<lpt_scaler, lpt_scaler_destroy>;
using Statistics = Handle<lpt_statistics, lpt_statistics_destroy>;
using Plan = Handle<lpt_gemm_plan, lpt_gemm_plan_destroy>;
using KvCache = Handle<lpt_kv_cache, lpt_kv_cache_destroy>;
using LossScaler = Handle<lpt_loss_scaler, lpt_loss_scaler_destroy>;
using Recipe = Handle<lpt_recipe, lpt_recipe_destroy>;
using Linear = Handle<lpt_linear, lpt_linear_destroy>;
using Optimizer = Handle<lpt_optimizer, lpt_optimizer_destroy>;
using CommGroup = Handle<lpt_comm_group, lpt_comm_group_destroy>;
using Comm = Handle<lpt_comm, lpt_comm_destroy>;
using Future = Handle<lpt_future, lpt_future_destroy>;
using Monitor = Handle<lpt_monitor, lpt_monitor_destroy>;
using PartialPlan = Handle<lpt_partial_plan, lpt_partial_plan_destroy>;
using GradientBuckets = Handle<lpt_gradient_buckets, lpt_gradient_buckets_destroy>;

/** @brief Stores the first exception of a callback, as exceptions must not pass through C code. */
class Thrown {
 public:
  /** Returns call(), or `otherwise` if it throws. Threads may call it at the same time. */
  template <typename Result, typename Call>
  Result guard(Result otherwise, Call &&call) noexcept {
    try {
      return call();
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!problem_) problem_ = std::current_exception();
      return otherwise;
    }
  }
  /** Throws the stored exception once. */
  void rethrow() {
    std::unique_lock lock(mutex_);
    const std::exception_ptr problem = std::exchange(problem_, nullptr);
    lock.unlock();
    if (problem) std::rethrow_exception(problem);
  }

 private:
  std::mutex mutex_;
  std::exception_ptr problem_;
};

using Log = std::function<void(lpt_log_level level, std::string_view text)>;
using Progress = std::function<bool(std::int64_t done, std::int64_t total)>;

/** @brief Runs operations, one call at a time; a second call fails with LPT_BUSY. Handles may outlive the context. */
class Context : public Handle<lpt_context, lpt_context_destroy> {
 public:
  /** @brief Creates a context. `error_text` of the options is ignored; an Error has the text. */
  explicit Context(lpt_context_options options = LPT_CONTEXT_OPTIONS_INIT) : Handle(create(options)) {}
  std::string explanation() const { return lpt_context_explanation(get()); }

  /**
   * @brief Sets the log function, which receives lines up to a level on the calling thread.
   *
   * An empty function disables the log. If the function throws, the operation completes, and then throws the exception.
   */
  void set_log(lpt_log_level level, Log log) {
    check(lpt_context_set_log(get(), level, log ? call_log : nullptr, callbacks_.get()));
    callbacks_->log = std::move(log);
  }

  /**
   * @brief Sets the progress function, which casts and GEMMs call on the calling thread; an empty function disables it.
   *
   * It receives the completed and the total number of elements. If it returns true, the call fails with LPT_CANCELLED.
   * If it throws, the call throws the exception. Outputs are incomplete in both cases.
   */
  void set_progress(Progress is_cancelled) {
    check(lpt_context_set_progress(get(), is_cancelled ? call_progress : nullptr, callbacks_.get()));
    callbacks_->progress = std::move(is_cancelled);
  }

  /** @brief Throws the exception of a callback in the last call, or an Error unless `status` is LPT_OK. */
  void check(lpt_status status) const {
    if (status == LPT_BUSY) throw Error(status, {});  // the error text belongs to the call that is running
    if (callbacks_ != nullptr) callbacks_->thrown.rethrow();
    if (status != LPT_OK) throw Error(status, lpt_context_error(get()));
  }

 private:
  struct Callbacks {
    Log log;
    Progress progress;
    Thrown thrown;
  };

  static void call_log(void *user, lpt_log_level level, const char *text) {
    auto &callbacks = *static_cast<Callbacks *>(user);
    callbacks.thrown.guard(0, [&] { return callbacks.log(level, text), 0; });
  }

  static std::int32_t call_progress(void *user, std::int64_t done, std::int64_t total) {
    auto &callbacks = *static_cast<Callbacks *>(user);
    return callbacks.thrown.guard(1, [&] { return callbacks.progress(done, total) ? 1 : 0; });
  }

  static lpt_context *create(lpt_context_options options) {
    std::array<char, 256> text{};
    lpt_context *raw = nullptr;
    options.error_text = text.data();
    options.error_text_bytes = text.size();
    if (const lpt_status status = lpt_context_create(&options, &raw)) throw Error(status, text.data());
    return raw;
  }

  // On the heap, because the library keeps its address when the context moves. The destructor calls no callback.
  std::unique_ptr<Callbacks> callbacks_ = std::make_unique<Callbacks>();
};

/** @brief Throws the error of a call with this context, unless `status` is LPT_OK. */
inline void check(const Context &context, lpt_status status) { context.check(status); }

/** @brief Describes a device. A missing device is not an error: `is_usable` is 0, and `reason` contains the reason. */
inline lpt_device_info device_describe(lpt_device device, std::int32_t index = 0) {
  lpt_device_info description = LPT_DEVICE_INFO_INIT;
  if (const lpt_status status = lpt_device_describe(nullptr, device, index, &description))
    throw Error(status,
                "device is " + std::to_string(device) + ", index " + std::to_string(index) + ": expected a device");
  return description;
}

/* ---------------------------------------------------------------- formats and tensors ------------------------------ */

/** @brief Format of a C++ type. */
template <typename T>
inline constexpr lpt_format format_of = LPT_FORMAT_NONE;
template <>
inline constexpr lpt_format format_of<double> = LPT_FORMAT_F64;
template <>
inline constexpr lpt_format format_of<float> = LPT_FORMAT_F32;
template <>
inline constexpr lpt_format format_of<std::int8_t> = LPT_FORMAT_INT8;
template <>
inline constexpr lpt_format format_of<std::uint8_t> = LPT_FORMAT_UINT8;
template <>
inline constexpr lpt_format format_of<std::int16_t> = LPT_FORMAT_INT16;
template <>
inline constexpr lpt_format format_of<std::int32_t> = LPT_FORMAT_INT32;
template <>
inline constexpr lpt_format format_of<std::int64_t> = LPT_FORMAT_INT64;

/** @brief Returns the format of a name such as "mxfp8_e4m3". */
inline lpt_format format_from_name(const std::string &name) {
  lpt_format format = LPT_FORMAT_NONE;
  if (const lpt_status status = lpt_format_from_name(nullptr, name.c_str(), &format))
    throw Error(status, "name is '" + name + "': expected a format");
  return format;
}

inline std::string format_name(lpt_format format) {
  std::size_t bytes = 0;
  if (const lpt_status status = lpt_format_write_name(nullptr, format, nullptr, 0, &bytes);
      status != LPT_OK && bytes == 0)
    throw Error(status, "format is " + std::to_string(format) + ": expected a format");
  std::string name(bytes, '\0');
  if (const lpt_status status = lpt_format_write_name(nullptr, format, name.data(), name.size(), &bytes))
    throw Error(status, "format is " + std::to_string(format) + ": expected a format");
  name.resize(std::strlen(name.c_str()));
  return name;
}

inline Tensor tensor_create(const Context &context, lpt_format format, std::span<const std::int64_t> extents) {
  lpt_tensor *raw = nullptr;
  check(context,
        lpt_tensor_create(context.get(), format, static_cast<std::int32_t>(extents.size()), extents.data(), &raw));
  return Tensor(raw);
}

inline Tensor tensor_create(const Context &context, lpt_format format, std::int64_t rows, std::int64_t columns) {
  return tensor_create(context, format, std::array{rows, columns});
}

/** @brief A read-only tensor in const memory. It converts to `const Tensor &`. */
class ReadOnly {
 public:
  explicit ReadOnly(Tensor tensor) noexcept : tensor_(std::move(tensor)) {}
  operator const Tensor &() const noexcept { return tensor_; }
  const lpt_tensor *get() const noexcept { return tensor_.get(); }

 private:
  Tensor tensor_;
};

/**
 * @brief Creates a matrix in memory of the caller, such as a span, vector or array, which must outlive it.
 *
 * Returns a ReadOnly for const elements, else a Tensor. Temporary containers are rejected at compile time. An Error is
 * thrown if `numbers` has too few elements.
 */
template <std::ranges::contiguous_range Numbers>
requires std::ranges::sized_range<Numbers> && std::ranges::borrowed_range<Numbers>
auto matrix_wrap(const Context &context, Numbers &&numbers, std::int64_t rows, std::int64_t columns,
                 std::int64_t row_stride = 0) {
  using Number = std::remove_reference_t<std::ranges::range_reference_t<Numbers>>;
  constexpr lpt_format kFormat = format_of<std::remove_const_t<Number>>;
  static_assert(kFormat != LPT_FORMAT_NONE, "wrap other element types by lpt_tensor_wrap_matrix() with their format");
  const std::int64_t stride = row_stride ? row_stride : columns;
  const auto size = static_cast<std::int64_t>(std::ranges::size(numbers));
  // Division instead of multiplication, to avoid overflow.
  if (rows > 0 && columns > 0 && (columns > size || (rows - 1 > 0 && stride > (size - columns) / (rows - 1)))) {
    throw Error(LPT_INVALID_ARGUMENT, "numbers has " + std::to_string(size) + " elements: expected " +
                                          std::to_string(rows) + " rows of " + std::to_string(columns));
  }
  // ReadOnly keeps const memory from being written.
  auto *const data = const_cast<std::remove_const_t<Number> *>(std::ranges::data(numbers));
  lpt_tensor *raw = nullptr;
  check(context, lpt_tensor_wrap_matrix(context.get(), kFormat, data, rows, columns, row_stride, &raw));
  if constexpr (std::is_const_v<Number>) {
    return ReadOnly(Tensor(raw));
  } else {
    return Tensor(raw);
  }
}

/** @brief Returns a part of a tensor, which shares its memory. */
inline Tensor tensor_part(const Context &context, const Tensor &tensor, lpt_tensor_part part) {
  lpt_tensor *raw = nullptr;
  check(context, lpt_tensor_view_part(context.get(), tensor.get(), part, &raw));
  return Tensor(raw);
}

inline ReadOnly tensor_part(const Context &context, const ReadOnly &tensor, lpt_tensor_part part) {
  return ReadOnly(tensor_part(context, static_cast<const Tensor &>(tensor), part));
}

/** @brief Returns a view of a range of each axis of a tensor, which shares its memory. */
inline Tensor tensor_view(const Context &context, const Tensor &tensor, std::span<const std::int64_t> begins,
                          std::span<const std::int64_t> extents) {
  if (begins.size() != extents.size())
    throw Error(LPT_INVALID_ARGUMENT, "begins has " + std::to_string(begins.size()) +
                                          " elements: expected as many as extents, " + std::to_string(extents.size()));
  lpt_tensor *raw = nullptr;
  check(context, lpt_tensor_view(context.get(), tensor.get(), begins.data(), extents.data(), &raw));
  return Tensor(raw);
}

inline ReadOnly tensor_view(const Context &context, const ReadOnly &tensor, std::span<const std::int64_t> begins,
                            std::span<const std::int64_t> extents) {
  return ReadOnly(tensor_view(context, static_cast<const Tensor &>(tensor), begins, extents));
}

/** @brief Returns the format, extents, strides and address; the arrays are valid as long as the tensor. */
inline lpt_tensor_description tensor_describe(const Context &context, const Tensor &tensor) {
  lpt_tensor_description description = LPT_TENSOR_DESCRIPTION_INIT;
  check(context, lpt_tensor_describe(context.get(), tensor.get(), &description));
  return description;
}

/** @brief Returns the number of bytes of elements, scales and other parts, without gaps between rows. */
inline std::size_t tensor_size(const Context &context, const Tensor &tensor) {
  std::size_t bytes = 0;
  check(context, lpt_tensor_size(context.get(), tensor.get(), &bytes));
  return bytes;
}

/** @brief Returns the bytes of a dense tensor without scales, such as a part; they are valid as long as the tensor. */
inline std::span<std::byte> tensor_bytes(const Context &context, const Tensor &tensor) {
  const lpt_tensor_description description = tensor_describe(context, tensor);
  if (description.device != LPT_DEVICE_CPU)
    throw Error(LPT_INVALID_ARGUMENT, "tensor is on another device: expected the CPU, see tensor_copy()");
  std::int64_t dense = 1;
  for (std::int32_t axis = description.rank; axis-- > 0; dense *= description.extents[axis]) {
    if (description.extents[axis] > 1 && description.strides[axis] != dense)
      throw Error(LPT_INVALID_ARGUMENT, "tensor has gaps: expected a dense one");
  }
  return {static_cast<std::byte *>(description.data), tensor_size(context, tensor)};
}

inline std::span<const std::byte> tensor_bytes(const Context &context, const ReadOnly &tensor) {
  return tensor_bytes(context, static_cast<const Tensor &>(tensor));
}

/** @brief Copies all parts between devices or within one; complete on return. */
inline void tensor_copy(const Context &context, const Tensor &source, Tensor &target) {
  check(context, lpt_tensor_copy(context.get(), source.get(), target.get()));
  check(context, lpt_context_synchronize(context.get()));
}

/* ---------------------------------------------------------------- casts -------------------------------------------- */

inline void quantize(const Context &context, const Tensor &source, Tensor &quantized,
                     const lpt_quantize_options *options = nullptr) {
  check(context, lpt_quantize(context.get(), source.get(), options, quantized.get(), nullptr));
}

/** @brief Casts a matrix and its transpose in one pass; `transposed` has the transposed shape. */
inline void quantize(const Context &context, const Tensor &source, Tensor &quantized, Tensor &transposed,
                     const lpt_quantize_options *options = nullptr) {
  check(context, lpt_quantize(context.get(), source.get(), options, quantized.get(), transposed.get()));
}

inline void dequantize(const Context &context, const Tensor &source, Tensor &output,
                       const lpt_dequantize_options *options = nullptr) {
  check(context, lpt_dequantize(context.get(), source.get(), options, output.get()));
}

/* ---------------------------------------------------------------- GEMM --------------------------------------------- */

inline void gemm(const Context &context, const Tensor &a, const Tensor &b, Tensor &c,
                 const lpt_gemm_options *options = nullptr) {
  check(context, lpt_gemm(context.get(), a.get(), b.get(), options, c.get()));
}

inline Tensor weights_pack(const Context &context, const Tensor &weights,
                           const lpt_weights_options *options = nullptr) {
  lpt_tensor *raw = nullptr;
  check(context, lpt_weights_pack(context.get(), weights.get(), options, &raw));
  return Tensor(raw);
}

inline void weights_unpack(const Context &context, const Tensor &packed, Tensor &weights) {
  check(context, lpt_weights_unpack(context.get(), packed.get(), weights.get()));
}

inline std::vector<std::byte> weights_state_save(const Context &context, const Tensor &packed) {
  std::size_t bytes = 0;
  check(context, lpt_weights_state_size(context.get(), packed.get(), &bytes));
  std::vector<std::byte> state(bytes);
  check(context, lpt_weights_state_save(context.get(), packed.get(), state.data(), bytes));
  return state;
}

inline Tensor weights_state_load(const Context &context, std::span<const std::byte> state) {
  lpt_tensor *raw = nullptr;
  check(context, lpt_weights_state_load(context.get(), state.data(), state.size(), &raw));
  return Tensor(raw);
}

/* ---------------------------------------------------------------- layers ------------------------------------------- */

inline Recipe recipe_create(const Context &context, const std::string &name) {
  lpt_recipe *raw = nullptr;
  check(context, lpt_recipe_create(context.get(), name.c_str(), &raw));
  return Recipe(raw);
}

inline Linear linear_create(const Context &context, const Recipe &recipe, std::int64_t input_columns,
                            std::int64_t output_columns) {
  lpt_linear_shape shape = LPT_LINEAR_SHAPE_INIT;
  shape.input_columns = input_columns;
  shape.output_columns = output_columns;
  lpt_linear *raw = nullptr;
  check(context, lpt_linear_create(context.get(), recipe.get(), &shape, &raw));
  return Linear(raw);
}

inline void linear_prepare(const Context &context, Linear &linear, const Tensor &weight,
                           const lpt_linear_options *options = nullptr) {
  check(context, lpt_linear_prepare(context.get(), linear.get(), weight.get(), options));
}

/** @brief Creates a vector for the data that forward saves of `rows` rows; each micro-batch in flight requires one. */
inline Tensor linear_saved_create(const Context &context, const Linear &linear, std::int64_t rows) {
  std::size_t bytes = 0;
  check(context, lpt_linear_saved_size(context.get(), linear.get(), rows, &bytes));
  return tensor_create(context, LPT_FORMAT_UINT8, std::array{static_cast<std::int64_t>(bytes)});
}

/** @brief Computes y = x · wᵀ + bias, and saves the data that backward needs; `saved` NULL: inference. */
inline void linear_forward(const Context &context, Linear &linear, const Tensor &input, Tensor *saved, Tensor &output,
                           const lpt_linear_options *options = nullptr) {
  check(context, lpt_linear_forward(context.get(), linear.get(), input.get(), options, saved ? saved->get() : nullptr,
                                    output.get()));
}

/** @brief Computes the gradients that are not NULL. */
inline void linear_backward(const Context &context, Linear &linear, const Tensor &saved, const Tensor &output_gradient,
                            Tensor *input_gradient, Tensor *weight_gradient, Tensor *bias_gradient = nullptr,
                            const lpt_linear_options *options = nullptr) {
  const auto raw = [](Tensor *tensor) { return tensor ? tensor->get() : nullptr; };
  check(context, lpt_linear_backward(context.get(), linear.get(), saved.get(), output_gradient.get(), options,
                                     raw(input_gradient), raw(weight_gradient), raw(bias_gradient)));
}

/** @brief Completes an optimizer step for the scalers of one layer. */
inline void linear_update(const Context &context, Linear &linear) {
  lpt_linear *raw = linear.get();
  check(context, lpt_linear_update_scalers(context.get(), &raw, 1));
}

/* ---------------------------------------------------------------- optimizer ---------------------------------------- */

inline Optimizer optimizer_create(const Context &context, const lpt_optimizer_options *options = nullptr) {
  lpt_optimizer *raw = nullptr;
  check(context, lpt_optimizer_create(context.get(), options, &raw));
  return Optimizer(raw);
}

inline std::int64_t optimizer_add(const Context &context, Optimizer &optimizer,
                                  const lpt_optimizer_parameter &parameter, const char *name = nullptr) {
  std::int64_t index = -1;
  check(context, lpt_optimizer_add(context.get(), optimizer.get(), name, &parameter, &index));
  return index;
}

inline std::int64_t optimizer_find(const Context &context, const Optimizer &optimizer, const char *name) {
  std::int64_t index = -1;
  check(context, lpt_optimizer_find(context.get(), optimizer.get(), name, &index));
  return index;
}

/** @brief Steps one parameter. Parameters that share a gradient norm are passed together, see below. */
inline void optimizer_step(const Context &context, Optimizer &optimizer, std::int64_t index, const Tensor &gradient,
                           Tensor &parameter, const lpt_optimizer_step_options *options = nullptr) {
  const lpt_tensor *gradients = gradient.get();
  lpt_tensor *parameters = parameter.get();
  check(context, lpt_optimizer_step(context.get(), optimizer.get(), &index, 1, &gradients, options, &parameters));
}

namespace detail {

/** @brief Arrays of gradients and parameters for C, with as many elements as indices. */
struct Operands {
  Operands(std::span<const std::int64_t> indices, std::span<const Tensor> gradients, std::span<Tensor> parameters)
      : count(static_cast<std::int64_t>(indices.size())) {
    if (gradients.size() != indices.size() || parameters.size() != indices.size())
      throw Error(LPT_INVALID_ARGUMENT, "gradients has " + std::to_string(gradients.size()) +
                                            " elements, parameters has " + std::to_string(parameters.size()) +
                                            ": expected as many as indices, " + std::to_string(indices.size()));
    for (const Tensor &gradient : gradients) read.push_back(gradient.get());
    for (const Tensor &parameter : parameters) written.push_back(parameter.get());
  }
  std::int64_t count;
  std::vector<const lpt_tensor *> read;
  std::vector<lpt_tensor *> written;
};

}  // namespace detail

/** @brief Steps many parameters; clipping and skipping apply to all of them together. */
inline void optimizer_step(const Context &context, Optimizer &optimizer, std::span<const std::int64_t> indices,
                           std::span<const Tensor> gradients, std::span<Tensor> parameters,
                           const lpt_optimizer_step_options *options = nullptr) {
  const detail::Operands operands(indices, gradients, parameters);
  check(context, lpt_optimizer_step(context.get(), optimizer.get(), indices.data(), operands.count,
                                    operands.read.data(), options, operands.written.data()));
}

inline std::vector<std::byte> optimizer_state_save(const Context &context, const Optimizer &optimizer,
                                                   std::int64_t index) {
  std::size_t bytes = 0;
  check(context, lpt_optimizer_state_size(context.get(), optimizer.get(), index, &bytes));
  std::vector<std::byte> state(bytes);
  check(context, lpt_optimizer_state_save(context.get(), optimizer.get(), index, state.data(), bytes));
  return state;
}

inline void optimizer_state_load(const Context &context, Optimizer &optimizer, std::int64_t index,
                                 std::span<const std::byte> state) {
  check(context, lpt_optimizer_state_load(context.get(), optimizer.get(), index, state.data(), state.size()));
}

/** @brief Restores the state of a parameter or a shard from saved shards with other cuts, in any order. */
inline void optimizer_state_load_many(const Context &context, Optimizer &optimizer, std::int64_t index,
                                      std::span<const std::vector<std::byte>> states) {
  std::vector<const void *> buffers;
  std::vector<std::size_t> sizes;
  for (const std::vector<std::byte> &state : states) {
    buffers.push_back(state.data());
    sizes.push_back(state.size());
  }
  check(context, lpt_optimizer_state_load_many(context.get(), optimizer.get(), index, buffers.data(), sizes.data(),
                                               static_cast<std::int64_t>(states.size())));
}

/* ---------------------------------------------------------------- sparse ------------------------------------------- */

/** @brief Selects N of every M elements; `masked` NULL: only the mask is computed. */
inline lpt_sparse_info sparse_mask_select(const Context &context, const Tensor &source, Tensor &mask,
                                          Tensor *masked = nullptr, const lpt_sparse_options *options = nullptr) {
  lpt_sparse_info values = LPT_SPARSE_INFO_INIT;
  check(context, lpt_sparse_mask_select(context.get(), source.get(), options, mask.get(),
                                        masked ? masked->get() : nullptr, &values));
  return values;
}

/** @brief Counts the groups of `of` elements that keep more than `kept`. */
inline std::int64_t sparse_mask_check(const Context &context, const Tensor &mask, std::int32_t kept, std::int32_t of,
                                      lpt_sparse_direction direction) {
  std::int64_t count = -1;
  check(context, lpt_sparse_mask_check(context.get(), mask.get(), kept, of, direction, &count));
  return count;
}

/* ---------------------------------------------------------------- ranks -------------------------------------------- */

inline CommGroup comm_group_create(std::int32_t rank_count) {
  lpt_comm_group *raw = nullptr;
  if (const lpt_status status = lpt_comm_group_create(nullptr, rank_count, &raw))
    throw Error(status, "rank_count is " + std::to_string(rank_count) + ": cannot create a group");
  return CommGroup(raw);
}

inline Comm comm_create_local(const Context &context, const CommGroup &group, std::int32_t rank,
                              const lpt_comm_options *options = nullptr) {
  lpt_comm *raw = nullptr;
  check(context, lpt_comm_create_local(context.get(), group.get(), rank, options, &raw));
  return Comm(raw);
}

/** @brief Creates the communicator of this process, a rank of an MPI job. */
inline Comm comm_create_mpi(const Context &context, const lpt_comm_options *options = nullptr) {
  lpt_comm *raw = nullptr;
  check(context, lpt_comm_create_mpi(context.get(), options, &raw));
  return Comm(raw);
}

/** @brief Creates one rank of a communicator over functions of the caller, which get `user` as their first argument. */
inline Comm comm_create_custom(const Context &context, const lpt_comm_functions &functions, void *user,
                               std::int32_t rank, std::int32_t rank_count, const lpt_comm_options *options = nullptr) {
  lpt_comm *raw = nullptr;
  check(context, lpt_comm_create_custom(context.get(), &functions, user, rank, rank_count, options, &raw));
  return Comm(raw);
}

/** @brief Returns rank, number of ranks, engine and counters of traffic. */
inline lpt_comm_info comm_read(const Context &context, const Comm &comm) {
  lpt_comm_info values = LPT_COMM_INFO_INIT;
  check(context, lpt_comm_read(context.get(), comm.get(), &values));
  return values;
}

namespace detail {

/** @brief Returns the array of counts for C, one for each rank; NULL if `counts` is empty. */
inline const std::int64_t *counts_of(const Context &context, const Comm &comm, std::span<const std::int64_t> counts) {
  if (counts.empty()) return nullptr;
  const auto ranks = static_cast<std::size_t>(comm_read(context, comm).rank_count);
  if (counts.size() != ranks)
    throw Error(LPT_INVALID_ARGUMENT, "counts has " + std::to_string(counts.size()) +
                                          " elements: expected one for each rank, " + std::to_string(ranks));
  return counts.data();
}

}  // namespace detail

inline void barrier(const Context &context, Comm &comm) { check(context, lpt_barrier(context.get(), comm.get())); }

/** @brief Copies the tensor of the rank `root` to all ranks, in place. */
inline void broadcast(const Context &context, Comm &comm, std::int32_t root, Tensor &tensor) {
  check(context, lpt_broadcast(context.get(), comm.get(), root, tensor.get(), nullptr));
}

/** @brief Encoding of a Codec. Threads of a context call the functions at the same time. */
class Compression {
 public:
  virtual ~Compression() = default;
  /**
   * @brief Returns the number of bytes that encode `count` elements, the same on all ranks.
   *
   * The first result for each count is used for all messages.
   */
  virtual std::int64_t bytes_for(std::int64_t count) const = 0;
  /** @brief Writes all of `bytes`. If this function or decode() throws, the reduction ends and throws the exception. */
  virtual void encode(std::span<const float> numbers, std::span<std::byte> bytes) const = 0;
  /** @brief Writes all of `numbers`. */
  virtual void decode(std::span<const std::byte> bytes, std::span<float> numbers) const = 0;
};

/**
 * @brief A codec for lpt_reduce_options: `options.codec = codec.get();`.
 *
 * It must stay at its address until all futures that use it are complete.
 */
class Codec {
 public:
  /** @brief `compression` must outlive the codec. `name` has 1 to 12 bytes; the library rejects other names. */
  Codec(std::string_view name, const Compression &compression) : compression_(compression) {
    name.copy(raw_.name, sizeof raw_.name - 1);
    raw_.bytes_for = call_bytes_for;
    raw_.encode = call_encode;
    raw_.decode = call_decode;
    raw_.user = this;
  }
  Codec(const Codec &) = delete;
  Codec &operator=(const Codec &) = delete;
  const lpt_comm_codec *get() const noexcept { return &raw_; }

  /** @brief Throws the exception of the last reduction if `codec` belongs to a Codec. */
  static void rethrow(const lpt_comm_codec *codec) {
    if (codec != nullptr && codec->encode == call_encode) static_cast<Codec *>(codec->user)->thrown_.rethrow();
  }

 private:
  // The first result for a count is kept, because it determines the sizes of spans.
  std::int64_t size_for(std::int64_t count) {
    const std::lock_guard lock(mutex_);
    const auto found = sizes_.find(count);
    return found != sizes_.end() ? found->second : sizes_.emplace(count, compression_.bytes_for(count)).first->second;
  }

  static std::int64_t call_bytes_for(void *user, std::int64_t count) {
    auto &codec = *static_cast<Codec *>(user);
    return codec.thrown_.guard(std::int64_t{-1}, [&] { return codec.size_for(count); });
  }

  static std::int32_t call_encode(void *user, const float *numbers, std::int64_t count, void *bytes) {
    auto &codec = *static_cast<Codec *>(user);
    return codec.thrown_.guard(-1, [&] {
      codec.compression_.encode({numbers, static_cast<std::size_t>(count)},
                                {static_cast<std::byte *>(bytes), static_cast<std::size_t>(codec.size_for(count))});
      return 0;
    });
  }

  static std::int32_t call_decode(void *user, const void *bytes, std::int64_t count, float *numbers) {
    auto &codec = *static_cast<Codec *>(user);
    return codec.thrown_.guard(-1, [&] {
      codec.compression_.decode(
          {static_cast<const std::byte *>(bytes), static_cast<std::size_t>(codec.size_for(count))},
          {numbers, static_cast<std::size_t>(count)});
      return 0;
    });
  }

  lpt_comm_codec raw_ = LPT_COMM_CODEC_INIT;
  const Compression &compression_;
  std::mutex mutex_;
  std::map<std::int64_t, std::int64_t> sizes_;
  Thrown thrown_;
};

/** @brief Reduces a tensor over all ranks; complete on return. `output` may be the input. */
inline void all_reduce(const Context &context, Comm &comm, const Tensor &input, Tensor &output,
                       const lpt_reduce_options *options = nullptr) {
  const lpt_status status = lpt_all_reduce(context.get(), comm.get(), input.get(), options, output.get(), nullptr);
  if (options != nullptr) Codec::rethrow(options->codec);
  check(context, status);
}

/** @brief Starts a reduction. The caller must not access the tensors until future_wait() returns. */
inline Future all_reduce_start(const Context &context, Comm &comm, const Tensor &input, Tensor &output,
                               const lpt_reduce_options *options = nullptr) {
  lpt_future *raw = nullptr;
  check(context, lpt_all_reduce(context.get(), comm.get(), input.get(), options, output.get(), &raw));
  return Future(raw);
}

inline void future_wait(const Context &context, Future &future) {
  check(context, lpt_future_wait(context.get(), future.get()));
}

/**
 * @brief Gathers the slices of all ranks along the first axis, in rank order.
 *
 * Without counts, all slices are equal. With a codec, each rank encodes its slice, and all ranks decode it.
 */
inline void all_gather(const Context &context, Comm &comm, const Tensor &input, Tensor &output,
                       std::span<const std::int64_t> counts = {}, const lpt_comm_codec *codec = nullptr) {
  const std::int64_t *extents = detail::counts_of(context, comm, counts);
  lpt_all_gather_options options = LPT_ALL_GATHER_OPTIONS_INIT;
  options.codec = codec;
  const lpt_status status =
      lpt_all_gather(context.get(), comm.get(), input.get(), extents, &options, output.get(), nullptr);
  Codec::rethrow(codec);
  check(context, status);
}

/** @brief Groups gradients in buckets. The gradients must outlive the buckets; `comm` must be valid during their use. */
inline GradientBuckets gradient_buckets_create(const Context &context, Comm &comm, std::span<Tensor> gradients,
                                               const lpt_gradient_buckets_options *options = nullptr) {
  std::vector<lpt_tensor *> tensors;
  for (const Tensor &gradient : gradients) tensors.push_back(gradient.get());
  lpt_gradient_buckets *raw = nullptr;
  check(context, lpt_gradient_buckets_create(context.get(), comm.get(), tensors.data(),
                                             static_cast<std::int64_t>(tensors.size()), options, &raw));
  return GradientBuckets(raw);
}

inline void gradient_buckets_begin(const Context &context, GradientBuckets &buckets, bool is_last = true,
                                   const lpt_reduce_options *options = nullptr) {
  check(context, lpt_gradient_buckets_begin(context.get(), buckets.get(), is_last ? 1 : 0, options));
}

/** @brief Marks a gradient as ready; the caller must not access it until gradient_buckets_wait(). */
inline void gradient_buckets_ready(const Context &context, GradientBuckets &buckets, std::int64_t index) {
  check(context, lpt_gradient_buckets_ready(context.get(), buckets.get(), index));
}

inline void gradient_buckets_wait(const Context &context, GradientBuckets &buckets) {
  check(context, lpt_gradient_buckets_wait(context.get(), buckets.get()));
}

/** @brief Adds this rank's shards of full parameters. All ranks add the same parameters and get the same indices. */
inline std::vector<std::int64_t> optimizer_add_shards(const Context &context, const Comm &comm, Optimizer &optimizer,
                                                      std::span<const lpt_optimizer_parameter> parameters) {
  std::vector<const lpt_optimizer_parameter *> pointers;
  for (const lpt_optimizer_parameter &parameter : parameters) pointers.push_back(&parameter);
  std::vector<std::int64_t> indices(parameters.size());
  check(context, lpt_optimizer_add_shards(context.get(), comm.get(), optimizer.get(), nullptr, pointers.data(),
                                          static_cast<std::int64_t>(pointers.size()), indices.data()));
  return indices;
}

/**
 * @brief Steps full parameters whose state is sharded over ranks; all ranks call it.
 *
 * `reduce` NULL: gradients are the same on all ranks. Otherwise the step reduces them.
 */
inline void optimizer_step_shards(const Context &context, Comm &comm, Optimizer &optimizer,
                                  std::span<const std::int64_t> indices, std::span<const Tensor> gradients,
                                  std::span<Tensor> parameters, const lpt_optimizer_step_options *options = nullptr,
                                  const lpt_reduce_options *reduce = nullptr) {
  const detail::Operands operands(indices, gradients, parameters);
  lpt_optimizer_shard_options shards = LPT_OPTIMIZER_SHARD_OPTIONS_INIT;
  shards.reduce = reduce;
  check(context, lpt_optimizer_step_shards(context.get(), comm.get(), optimizer.get(), indices.data(), operands.count,
                                           operands.read.data(), options, &shards, operands.written.data()));
}

inline PartialPlan partial_plan_create(const Context &context, const lpt_partial_plan_options &options) {
  lpt_partial_plan *raw = nullptr;
  check(context, lpt_partial_plan_create(context.get(), &options, &raw));
  return PartialPlan(raw);
}

/** @brief Sums the shared columns over all ranks, and scales this rank's private columns; `output` may be the input. */
inline void partial_all_reduce(const Context &context, Comm &comm, const PartialPlan &plan, lpt_partial_pass pass,
                               const Tensor &input, Tensor &output) {
  check(context,
        lpt_partial_all_reduce(context.get(), comm.get(), plan.get(), pass, input.get(), output.get(), nullptr));
}

/** @brief Gathers the rows of all ranks; without counts, all ranks have the same number. `plan` may be NULL. */
inline void sequence_gather(const Context &context, Comm &comm, const Tensor &input, Tensor &output,
                            std::span<const std::int64_t> row_counts = {}, const PartialPlan *plan = nullptr) {
  check(context, lpt_sequence_gather(context.get(), comm.get(), plan ? plan->get() : nullptr, input.get(),
                                     detail::counts_of(context, comm, row_counts), output.get(), nullptr));
}

/** @brief Sums the rows of all ranks, and returns this rank's rows of the sum. */
inline void sequence_scatter(const Context &context, Comm &comm, lpt_partial_pass pass, const Tensor &input,
                             Tensor &output, std::span<const std::int64_t> row_counts = {},
                             const PartialPlan *plan = nullptr) {
  check(context, lpt_sequence_scatter(context.get(), comm.get(), plan ? plan->get() : nullptr, pass, input.get(),
                                      detail::counts_of(context, comm, row_counts), output.get(), nullptr));
}

}  // namespace lpt

#endif  // LPT_HPP
