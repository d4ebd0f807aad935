// Which way the numbers of a reduction go.
#pragma once

#include "src/ranks/codec_reducing.hpp"
#include "src/ranks/wire_reducing.hpp"

namespace lpt {

enum class ReductionPath : uint8_t { kPlain, kOneShot, kTwoShots, kCodec, kNative };

// Checks what options say of a wire, and chooses the way, reported in the context's explanation. `reducing` has been checked; the
// shares of one that is not plain are those of `out_wired`.
Status select_path(Context &context, const lpt_reduce_options &options, const ReductionPlan &reducing, int32_t ranks,
                   bool is_to_all, ReductionPath &out_path, WireReductionPlan &out_wired);

// A reduction and the way that was chosen for it.
struct SelectedReduction {
  ReductionPath path;
  ReductionPlan plain;
  WireReductionPlan wired;
  CodecMoving coded;
};

// Selects the kernel of a reduction whose views, reduction and factor are set.
Status choose_reduction(Context &context, int32_t ranks, ReductionPlan &reducing);

// select_path(), and the kernels of that way. `reducing` has its shares.
Status select_reduction(Context &context, const lpt_reduce_options &options, const ReductionPlan &reducing,
                        int32_t ranks, bool is_to_all, SelectedReduction &out_chosen);

Status run_to_all(Context &worker, Engine &engine, const SelectedReduction &chosen);
Status run_to_parts(Context &worker, Engine &engine, const SelectedReduction &chosen);

}  // namespace lpt
