// Bytes as a tensor of indices: rows of the embedding, and classes of the loss.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "handles.hpp"

namespace lm {

class Indices {
 public:
  Indices(lpt_context *context, std::span<const uint8_t> bytes) : indices_(bytes.begin(), bytes.end()) {
    check(context, lpt_tensor_wrap_const_matrix(context, LPT_FORMAT_INT32, indices_.data(), 1,
                                                static_cast<int64_t>(indices_.size()), 0, &tensor_));
  }
  ~Indices() { lpt_tensor_destroy(tensor_); }
  Indices(const Indices &) = delete;
  Indices &operator=(const Indices &) = delete;

  const lpt_tensor *tensor() const { return tensor_; }

 private:
  std::vector<int32_t> indices_;
  lpt_tensor *tensor_ = nullptr;
};

}  // namespace lm
