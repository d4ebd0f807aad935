// Which way the numbers of a reduction go.
#pragma once

#include "src/ops/wire_reducing.hpp"

namespace lpt {

enum class Way : uint8_t { kPlain, kOneShot, kTwoShots };

// Checks what options say of a wire, and chooses the way, told in the context's explanation. `reducing` has been checked; the
// shares of one that is not plain are those of `out_wired`.
Status choose_way(Context &context, const lpt_reduce_options &options, const Reducing &reducing, int32_t ranks,
                  bool is_to_all, Way &out_way, WireReducing &out_wired);

}  // namespace lpt
