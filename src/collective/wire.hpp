// Selection of the path of a reduction: plain, with a wire format, with a codec, or by the engine.
#pragma once

#include "src/ranks/codec_reducing.hpp"
#include "src/ranks/wire_reducing.hpp"

namespace lpt {

enum class ReductionPath : uint8_t { kPlain, kOneShot, kTwoShots, kCodec, kNative };

// Checks the wire options and selects the path, which the context's explanation reports. `reducing` has been checked. Paths
// with a wire format use the slices of `out_wired`.
Status select_path(Context &context, const lpt_reduce_options &options, const ReductionPlan &reducing, int32_t ranks,
                   bool is_to_all, ReductionPath &out_path, WireReductionPlan &out_wired);

// A reduction and its selected path.
struct SelectedReduction {
  ReductionPath path;
  ReductionPlan plain;
  WireReductionPlan wired;
  CodecPlan coded;
};

// Selects the kernel of a reduction whose views, reduction and factor are set.
Status choose_reduction(Context &context, int32_t ranks, ReductionPlan &reducing);

// Runs select_path() and selects the kernels of that path. The slices of `reducing` are set.
Status select_reduction(Context &context, const lpt_reduce_options &options, const ReductionPlan &reducing,
                        int32_t ranks, bool is_to_all, SelectedReduction &out_chosen);

Status run_to_all(Context &worker, Engine &engine, const SelectedReduction &chosen);
Status run_to_parts(Context &worker, Engine &engine, const SelectedReduction &chosen);

}  // namespace lpt
