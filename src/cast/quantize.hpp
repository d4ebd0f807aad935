// lpt_quantize(), lpt_fake_quantize(), lpt_dequantize() and lpt_hadamard(): options and tensors become casts.
#pragma once

#include "src/cast/cast.hpp"
#include "src/tensor/tensor.hpp"

struct lpt_statistics {
  lpt::HandleKind kind = lpt::HandleKind::kStatistics;
  lpt::CastStatistics sums;
  lpt::Device device;                // where casts are counted
  std::shared_ptr<std::byte> there;  // on a GPU: the sums, which those above are not then
};

namespace lpt {

// Numbers of lpt_quantize_options, in range.
Status check_cast_options(const lpt_quantize_options &options);

Status quantize(Context &context, const Tensor *source, const lpt_quantize_options &options, Tensor *quantized,
                Tensor *transposed);
Status fake_quantize(Context &context, const Tensor *source, lpt_format format, const lpt_quantize_options &options,
                     Tensor *output);
Status dequantize(Context &context, const Tensor *source, const lpt_dequantize_options &options, Tensor *output);
Status hadamard(Context &context, const Tensor *source, const lpt_hadamard_options &options, Tensor *output);
Status random_signs(Context &context, const lpt_random &random, Tensor *signs);

// Statistics of casts of the context's device.
Status create_statistics(Context &context, lpt_statistics **out_statistics);
Status read_statistics(Context &context, const lpt_statistics &statistics,
                       CastStatistics &out_sums);  // of a GPU: waits
Status reset_statistics(Context &context, lpt_statistics &statistics);

// Where casts of the context add to them; on a GPU in its memory.
Status sums_of(const Context &context, lpt_statistics &statistics, CastStatistics **out_sums);

lpt_statistics_info statistics_values(const CastStatistics &sums);

}  // namespace lpt
