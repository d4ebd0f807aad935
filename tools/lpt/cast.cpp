#include "cast.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "text.hpp"

namespace tool {

namespace {

float reciprocal(float value) { return 1.0f / value; }

// With `keeps_tensor_scale` the tensor scale of `quantized` is used.
void quantize(lpt_context *context, const lpt_tensor *source, bool keeps_tensor_scale, lpt_tensor *quantized) {
  lpt_quantize_options options = LPT_QUANTIZE_OPTIONS_INIT;
  options.flags = keeps_tensor_scale ? LPT_QUANTIZE_KEEP_TENSOR_SCALE : 0;
  check(context, lpt_quantize(context, source, &options, quantized, nullptr));
}

}  // namespace

NumberReader::NumberReader(lpt_context *context, const Checkpoint &file, const StoredTensor &tensor)
    : context_(context), file_(file), tensor_(tensor), format_(format_of(*tensor.dtype)) {
  if (format_ == LPT_FORMAT_NONE) {
    throw Error(fmt::format("tensor {}: this library does not know {}", in_quotes(tensor.name), tensor.dtype->name));
  }
}

void NumberReader::read(int64_t first, std::span<float> numbers, Digest *digest) {
  const Dtype &dtype = *tensor_.dtype;
  const bool is_f32 = format_ == LPT_FORMAT_F32 && !dtype.is_block();
  if (!is_f32) raw_.resize(dtype.bytes_of(numbers.size()));
  const std::span<std::byte> bytes = is_f32 ? std::as_writable_bytes(numbers) : std::span<std::byte>(raw_);
  file_.read(tensor_, dtype.bytes_of(static_cast<uint64_t>(first)), bytes);
  if (digest != nullptr) digest->add(bytes);
  if (is_f32 || numbers.empty()) return;
  if (dtype.coding != nullptr) return decode_blocks(numbers);
  const auto count = static_cast<int64_t>(numbers.size());
  const Tensor target = wrap_matrix(context_, LPT_FORMAT_F32, numbers.data(), 1, count);
  const Tensor source = dtype.is_block() ? make_matrix(context_, format_, 1, count)
                                         : wrap_matrix(context_, format_, raw_.data(), 1, count);
  if (dtype.is_block()) import_blocks(first, source.get());
  check(context_, lpt_dequantize(context_, source.get(), nullptr, target.get()));
}

void NumberReader::decode_blocks(std::span<float> numbers) const {
  const auto block = static_cast<size_t>(tensor_.dtype->block);
  const auto *bytes = reinterpret_cast<const uint8_t *>(raw_.data());
  for (size_t i = 0; i < numbers.size() / block; ++i) {
    tensor_.dtype->coding->decode(bytes + tensor_.dtype->bytes_of(i * block), numbers.subspan(i * block, block));
  }
}

void NumberReader::import_blocks(int64_t first, lpt_tensor *target) {
  try {
    check(context_, lpt_foreign_layout_import(context_, raw_.data(), raw_.size(), tensor_.dtype->layout, target));
  } catch (const Error &error) {
    // The library counts the columns from the first element of this call.
    throw Error(fmt::format("{}, counted from element {}", error.what(), first));
  }
}

float amax_of(std::span<const float> numbers) {
  float amax = 0.0f;
  for (const float number : numbers) {
    const float magnitude = std::fabs(number);
    // False for NaN; infinity is excluded.
    if (magnitude > amax && magnitude <= std::numeric_limits<float>::max()) amax = magnitude;
  }
  return amax;
}

int64_t RowCast::row_granule(const lpt_format_description &description) {
  if (description.block_scale == LPT_FORMAT_NONE) return 1;
  return description.block_rows == LPT_BLOCK_EXTENT_FULL ? 0 : description.block_rows;
}

RowCast::RowCast(lpt_context *context, lpt_format format, float amax) : context_(context), format_(format) {
  const lpt_format_description description = describe(format);
  if (description.tensor_scale != LPT_FORMAT_NONE) {
    tensor_scale_ = scale_of(amax);
    // A file stores the inverse of this scale. A scale that is inverted twice is unchanged by two more inversions, so the scale
    // read back equals that of the cast bit for bit.
    if (description.block_scale != LPT_FORMAT_NONE) tensor_scale_ = reciprocal(reciprocal(*tensor_scale_));
  }
}

// Returns the tensor scale that the library selects for an amax.
float RowCast::scale_of(float amax) const {
  const Tensor number = wrap_matrix(context_, LPT_FORMAT_F32, &amax, 1, 1);
  const Tensor probe = make_matrix(context_, format_, 1, 1);
  quantize(context_, number.get(), false, probe.get());
  float scale = 0.0f;
  std::memcpy(&scale, part_of(context_, probe.get(), LPT_TENSOR_PART_TENSOR_SCALE)->data, sizeof scale);
  return scale;
}

lpt_tensor *RowCast::empty(int64_t rows, int64_t columns) {
  if (rows != rows_ || columns != columns_) {
    tensor_.reset();  // before the next one is created, so that only one is in memory
    tensor_ = make_matrix(context_, format_, rows, columns);
    rows_ = rows;
    columns_ = columns;
  }
  return tensor_.get();
}

const lpt_tensor *RowCast::encode(std::span<const float> numbers, int64_t rows, int64_t columns) {
  // LPT does not write to a source.
  const Tensor source = wrap_matrix(context_, LPT_FORMAT_F32, const_cast<float *>(numbers.data()), rows, columns);
  lpt_tensor *target = empty(rows, columns);
  if (tensor_scale_) {
    std::memcpy(part_of(context_, target, LPT_TENSOR_PART_TENSOR_SCALE)->data, &*tensor_scale_, sizeof *tensor_scale_);
  }
  quantize(context_, source.get(), tensor_scale_.has_value(), target);
  return target;
}

void RowCast::decode(std::span<float> numbers) {
  const Tensor target = wrap_matrix(context_, LPT_FORMAT_F32, numbers.data(), rows_, columns_);
  check(context_, lpt_dequantize(context_, tensor_.get(), nullptr, target.get()));
}

void CastError::add(std::span<const float> numbers, std::span<const float> decoded) {
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (!std::isfinite(numbers[i])) {
      made_finite += std::isfinite(decoded[i]) ? 1 : 0;
      continue;
    }
    if (!std::isfinite(decoded[i])) {
      ++lost;
      continue;
    }
    const double number = numbers[i];
    const double change = number - static_cast<double>(decoded[i]);
    signal += number * number;
    noise += change * change;
    largest = std::max(largest, std::fabs(change));
  }
  elements += numbers.size();
}

void CastError::add(const CastError &other) {
  signal += other.signal;
  noise += other.noise;
  largest = std::max(largest, other.largest);
  lost += other.lost;
  made_finite += other.made_finite;
  elements += other.elements;
}

}  // namespace tool
