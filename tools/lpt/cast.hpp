// Casts rows of values to a format and back. A matrix may be cast in slices of rows. The slices equal the cast of the full
// matrix, because a tensor scale is derived from a given amax.
#pragma once

#include <optional>
#include <span>

#include "checkpoint.hpp"
#include "digest.hpp"
#include "handles.hpp"

namespace tool {

// Reads elements of a tensor, in the order of its bytes, as f32. f64 is rounded to f32, as a cast by LPT does first.
class NumberReader {
 public:
  NumberReader(lpt_context *context, const Checkpoint &file, const StoredTensor &tensor);

  // `digest`, if not null, receives the bytes of the file. Elements are read in full blocks.
  void read(int64_t first, std::span<float> numbers, Digest *digest);

 private:
  void decode_blocks(std::span<float> numbers) const;
  void import_blocks(int64_t first, lpt_tensor *target);

  lpt_context *context_;
  const Checkpoint &file_;
  const StoredTensor &tensor_;
  lpt_format format_;
  std::vector<std::byte> raw_;
};

// Returns the largest finite magnitude.
float amax_of(std::span<const float> numbers);

class RowCast {
 public:
  // `amax` is that of the full matrix. It is used if the format has a tensor scale.
  RowCast(lpt_context *context, lpt_format format, float amax);

  // All slices except the last have a multiple of this many rows; 0: the matrix cannot be divided.
  static int64_t row_granule(const lpt_format_description &description);

  // The tensor is valid until the next call.
  const lpt_tensor *encode(std::span<const float> numbers, int64_t rows, int64_t columns);
  // Returns a tensor of the format with this many rows, to be filled from a file and decoded.
  lpt_tensor *empty(int64_t rows, int64_t columns);
  void decode(std::span<float> numbers);

 private:
  float scale_of(float amax) const;

  lpt_context *context_;
  lpt_format format_;
  std::optional<float> tensor_scale_;
  Tensor tensor_;
  int64_t rows_ = -1;
  int64_t columns_ = -1;
};

// Sums of squares of values and of cast errors. Values that are not finite are counted separately.
struct CastError {
  double signal = 0.0;
  double noise = 0.0;
  double largest = 0.0;      // largest change
  uint64_t lost = 0;         // finite values that became non-finite, as in a block whose scale is NaN
  uint64_t made_finite = 0;  // infinities and NaN that became finite, as in formats without them
  uint64_t elements = 0;

  void add(std::span<const float> numbers, std::span<const float> decoded);
  void add(const CastError &other);
};

}  // namespace tool
