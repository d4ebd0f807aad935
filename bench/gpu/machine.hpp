// A context of the device, and tensors with random values on it, for the groups of gpu_bench.
#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "lpt.h"

namespace lpt::bench {

// The reason why something cannot be measured: an error text of the library.
struct Missing : std::runtime_error {
  using std::runtime_error::runtime_error;
};

template <typename Handle>
std::shared_ptr<Handle> owned(Handle *handle, void (*destroy)(Handle *)) {
  return std::shared_ptr<Handle>(handle, destroy);
}
using Tensor = std::shared_ptr<lpt_tensor>;

class Machine {
 public:
  // Throws Missing if the device does not exist. `is_tiny` selects sizes for a rehearsal without meaningful results.
  Machine(lpt_device device, bool is_tiny);

  lpt_context *context() const { return context_.get(); }
  const std::string &name() const { return name_; }
  bool is_tiny() const { return is_tiny_; }
  int64_t size(int64_t full, int64_t tiny) const { return is_tiny_ ? tiny : full; }

  // Sets an environment variable and creates a new context, which reads it.
  void enable(const char *variable);

  void check(lpt_status status) const { check(context_.get(), status); }
  void synchronize() const { check(lpt_context_synchronize(context_.get())); }

  Tensor make(lpt_format format, int64_t rows, int64_t columns) const;
  Tensor make(lpt_format format, const std::vector<int64_t> &extents) const;
  // Creates a tensor of normal values, equal in every run, in any format. The CPU casts them.
  Tensor numbers(lpt_format format, int64_t rows, int64_t columns) const;
  // Creates a 2:4 tensor of those values.
  Tensor sparse_numbers(lpt_format format, int64_t rows, int64_t columns) const;
  // Returns a view of columns [begin, begin + count) of a matrix.
  Tensor columns(const Tensor &matrix, int64_t begin, int64_t count) const;
  Tensor rows(const Tensor &matrix, int64_t begin, int64_t count) const;

  double bytes(const Tensor &tensor) const;
  void *data(const Tensor &tensor) const { return data(context_.get(), tensor); }  // of the payload

 private:
  static void check(lpt_context *context, lpt_status status);
  static void *data(lpt_context *context, const Tensor &tensor);
  Tensor made_on(lpt_context *context, lpt_format format, const std::vector<int64_t> &extents) const;
  Tensor source(int64_t rows, int64_t columns) const;
  Tensor there(const Tensor &here, lpt_format format, int64_t rows, int64_t columns) const;
  Tensor view(const Tensor &matrix, const std::vector<int64_t> &begins, const std::vector<int64_t> &extents) const;

  lpt_device device_;
  bool is_tiny_;
  std::string name_;
  std::shared_ptr<lpt_context> cpu_, context_;
  std::vector<float> pattern_;  // repeated in the sources
};

}  // namespace lpt::bench
