// Layers on a device: the rows of its plugin, queued one after the other. Views are checked; with `is_check_only` rows are
// chosen and no work is queued.
#pragma once

#include <functional>
#include <vector>

#include "kernels/activation/cuda_steps.hpp"
#include "src/call/operation.hpp"

namespace lpt {

// `factors`: a byte for each column, written where `is_smoothed`.
Status swiglu_forward_on_device(Context &context, SwigluForwardRequest whole, bool is_smoothed, uint8_t *factors,
                                bool is_check_only);

// `gate` and `up` may be codes; `whole` has all else.
Status swiglu_backward_on_device(Context &context, const MatrixView &gate, const MatrixView &up,
                                 const SwigluBackwardRequest &whole, bool is_check_only);

Status rmsnorm_forward_on_device(Context &context, const RmsnormForwardRequest &whole, bool is_check_only);
Status rmsnorm_forward_sum_on_device(Context &context, const RmsnormSumRequest &whole, bool is_check_only);

struct WeightGradient {
  bool is_requested;
  void *data;  // f32
  bool is_accumulated;
};

// `input` may be codes; `whole` has all else.
Status rmsnorm_backward_on_device(Context &context, const MatrixView &input, const RmsnormBackwardRequest &whole,
                                  const WeightGradient &gradient, bool is_check_only);

Status softmax_forward_on_device(Context &context, const SoftmaxForwardRequest &whole, bool is_check_only);
Status softmax_exaq_on_device(Context &context, const SoftmaxExaqRequest &whole, bool is_check_only);
Status softmax_backward_on_device(Context &context, const SoftmaxBackwardRequest &whole, bool is_check_only);

// ---- device_cross_entropy.cpp

struct DeviceLoss {
  MatrixView logits;
  const std::vector<int64_t> &places;  // of targets; kUncounted: the row does not count
  double label_smoothing;
  bool is_for_rows;  // every row keeps its loss
  double divisor;    // of their sum; 0: none
  bool is_check_only;
  int64_t classes = 0;  // of all ranks
  int64_t rank = 0, ranks = 1;
  std::function<Status(RowSums *)> share = nullptr;  // gives all ranks the sums of each; NULL: there are no others
};

Status cross_entropy_forward_on_device(Context &context, const DeviceLoss &loss, const MatrixView &out,
                                       double *log_sums);
Status cross_entropy_backward_on_device(Context &context, const DeviceLoss &loss, const double *log_sums,
                                        const MatrixView &loss_gradient, const MatrixView &gradient);

}  // namespace lpt
