// Conformance vectors of whole casts: blocks with scales, and random bits.
#pragma once

#include <string>

#include "handles.hpp"
#include "vectors.hpp"

namespace tool {

// `sources` names the numbers that the rows cast. Each is cast alone, and with all others of its format and rule as the
// rows of one matrix where the scales allow it; both again as the transposed output.
void verify_casts(lpt_context *context, const std::string &name, const Vectors &vectors, const Vectors &sources,
                  Report &report);

// Digests of what large sets become. Where one is wrong, the plain rows say what the first difference is, if they are
// right.
void verify_cast_digests(lpt_context *context, const std::string &name, const Vectors &vectors, Report &report);

}  // namespace tool
