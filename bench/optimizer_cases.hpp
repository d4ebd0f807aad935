// Steps of one parameter on kernels of kernels/optimizer, for the optimizer benchmark.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kernels/optimizer/optimizer.hpp"

namespace lpt::bench {

struct StateCase {
  lpt_format element;
  int64_t block = 0;
  bool is_expanded = false;
};

struct OptimizerCase {
  std::string name;
  lpt_optimizer_method method;
  StateCase first, second;
  lpt_format parameter = LPT_FORMAT_F32, gradient = LPT_FORMAT_F32;
  int32_t random_bits = 0;  // of the rounding of the parameter; 0: nearest
  bool is_compensated = false;
  lpt_optimizer_underflow underflow = LPT_OPTIMIZER_UNDERFLOW_CLAMP;
  bool keeps_amax = false;  // required by delayed scales of full arrays
};

// Arrays of one case with plausible contents, and the kernel that supports it.
class OptimizerRun {
 public:
  // Throws std::runtime_error if no kernel of this instruction set (0: any) supports it.
  OptimizerRun(const OptimizerCase &given, int64_t count, CpuFeatures isa);

  // Processes all elements, in one slice per thread.
  void run(int threads);

  // Returns the bytes read and written per parameter.
  double bytes_per_parameter() const { return bytes_; }
  const char *row_name() const { return kernel_->name; }

 private:
  void place(StateArray &array, const StateCase &state, uint8_t zero);
  void *allocate(int64_t bytes, uint8_t fill);

  int64_t count_;
  double bytes_ = 0;
  StepRequest request_ = {};
  const KernelEntry<StepRequest> *kernel_ = nullptr;
  std::vector<std::unique_ptr<uint8_t, void (*)(void *)>> memory_;
};

// Reads four f32 arrays and writes three of them back, like f32 AdamW, with minimal computation.
void read_modify_write(const float *gradient, float *const (&arrays)[3], int64_t count, int threads);

// Copies the same number of bytes between two arrays.
void copy_bytes(const uint8_t *from, uint8_t *to, int64_t bytes, int threads);

}  // namespace lpt::bench
