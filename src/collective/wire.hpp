// Selection of the path of a reduction: plain, with a wire format, with a codec, or by the engine; and of its levels.
#pragma once

#include "src/ranks/codec_reducing.hpp"
#include "src/ranks/wire_reducing.hpp"

namespace lpt {

Status check_reduce_options(const lpt_reduce_options &options);

enum class ReductionPath : uint8_t { kPlain, kOneShot, kTwoShots, kCodec, kNative };

// Checks the wire options and selects the path, which the context's explanation reports. `reducing` has been checked. Paths
// with a wire format use the slices of `out_wired`.
Status select_path(Context &context, const lpt_reduce_options &options, const ReductionPlan &reducing, int32_t ranks,
                   bool is_to_all, ReductionPath &out_path, WireReductionPlan &out_wired);

struct OuterReduction;

// A reduction and its selected path.
struct SelectedReduction {
  ReductionPath path;
  ReductionPlan plain;
  WireReductionPlan wired;
  CodecPlan coded;
  std::shared_ptr<const OuterReduction> outer;  // of the next level, or NULL
};

// The reduction of a part over the ranks with the same index in other groups.
struct OuterReduction {
  Comm *comm;
  SelectedReduction reduction;
};

// Selects the kernel of a reduction whose views, reduction and factor are set.
Status choose_reduction(Context &context, int32_t ranks, ReductionPlan &reducing);

// Runs select_path() and selects the kernels of that path. The slices of `reducing` are set.
Status select_reduction(Context &context, const lpt_reduce_options &options, const ReductionPlan &reducing,
                        int32_t ranks, bool is_to_all, SelectedReduction &out_chosen);

// Selects the reduction of the next level if the options have one, after select_reduction().
Status select_outer(Context &context, const lpt_reduce_options &options, const Comm &comm, bool is_to_all,
                    SelectedReduction &chosen);

// Sets the memory of the input and of the output, which are one dense run.
void set_run(SelectedReduction &chosen, void *run);

Status run_to_all(Context &worker, Engine &engine, const SelectedReduction &chosen);
Status run_to_parts(Context &worker, Engine &engine, const SelectedReduction &chosen);

}  // namespace lpt
