// Which way the numbers of a reduction go.
#pragma once

#include "src/ops/codec_reducing.hpp"
#include "src/ops/wire_reducing.hpp"

namespace lpt {

enum class Way : uint8_t { kPlain, kOneShot, kTwoShots, kCodec, kNative };

// Checks what options say of a wire, and chooses the way, told in the context's explanation. `reducing` has been checked; the
// shares of one that is not plain are those of `out_wired`.
Status choose_way(Context &context, const lpt_reduce_options &options, const Reducing &reducing, int32_t ranks,
                  bool is_to_all, Way &out_way, WireReducing &out_wired);

// A reduction and the way that was chosen for it.
struct ChosenReducing {
  Way way;
  Reducing plain;
  WireReducing wired;
  CodecMoving coded;
};

// choose_way(), and the kernels of that way. `reducing` has its shares.
Status choose_reducing(Context &context, const lpt_reduce_options &options, const Reducing &reducing, int32_t ranks,
                       bool is_to_all, ChosenReducing &out_chosen);

Status run_to_all(Context &worker, Engine &engine, const ChosenReducing &chosen);
Status run_to_parts(Context &worker, Engine &engine, const ChosenReducing &chosen);

}  // namespace lpt
