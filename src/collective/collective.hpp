// Collectives on tensors: checks. Engines in src/comm transfer bytes, kernels in kernels/reduce compute sums.
#pragma once

#include <memory>
#include <vector>

#include "lpt/research/codec.h"
#include "src/ranks/comm.hpp"
#include "src/tensor/tensor.hpp"

namespace lpt {

// Options of a reduction with copies of the structs that they point to.
struct OwnedReduceOptions {
  lpt_reduce_options values = LPT_REDUCE_OPTIONS_INIT;
  std::shared_ptr<const lpt_comm_codec> codec;
  std::shared_ptr<const OwnedReduceOptions> outer;
};

// Rejects a tensor that is listed twice, such as a tied weight: its elements would be reduced twice.
Status check_each_once(const char *name, const std::vector<const Tensor *> &tensors);

Status barrier(Context &context, Comm &comm);
Status all_reduce(Context &context, Comm &comm, const Tensor *input, const lpt_reduce_options &options, Tensor *output,
                  Future **out_future);
Status all_reduce_many(Context &context, Comm &comm, Tensor *const *tensors, int64_t count,
                       const lpt_reduce_options &options, Future **out_future);
Status compare_over_ranks(Context &context, Comm &comm, const Tensor *tensor, bool &out_is_same);
Status reduce_scatter(Context &context, Comm &comm, const Tensor *input, const int64_t *counts,
                      const lpt_reduce_options &options, Tensor *output, Future **out_future);
Status all_reduce_signs(Context &context, Comm &comm, const Tensor *input, Tensor *worker_error, Tensor *server_error,
                        Tensor *output, Future **out_future);
Status signs_share(const Comm &comm, int64_t elements, int64_t *out_elements);
Status all_gather(Context &context, Comm &comm, const Tensor *input, const int64_t *counts, Tensor *output,
                  Future **out_future);
Status all_gather_by_codec(Context &context, Comm &comm, const lpt_comm_codec &codec, const Tensor *input,
                           const int64_t *counts, Tensor *output, Future **out_future);
Status all_gather_with_cast(Context &context, Comm &comm, const lpt_quantize_options &cast, const Tensor *input,
                            const int64_t *counts, Tensor *output, Future **out_future);
Status broadcast(Context &context, Comm &comm, int32_t root, Tensor *tensor, Future **out_future);
Status all_to_all(Context &context, Comm &comm, const Tensor *input, const int64_t *send_counts,
                  const int64_t *receive_counts, Tensor *output, Future **out_future);
Status send(Context &context, Comm &comm, const Tensor *tensor, int32_t peer, int32_t tag, Future **out_future);
Status receive(Context &context, Comm &comm, Tensor *tensor, int32_t peer, int32_t tag, Future **out_future);

}  // namespace lpt
