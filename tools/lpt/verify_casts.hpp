// Conformance vectors of complete casts: blocks with scales, and random bits.
#pragma once

#include <string>

#include "handles.hpp"
#include "vectors.hpp"

namespace tool {

// `sources` has the values that the rows cast. Each row is cast separately, and together with all others of its format and rule
// as rows of one matrix if the scales allow it. Both are repeated as the transposed output.
void verify_casts(lpt_context *context, const std::string &name, const Vectors &vectors, const Vectors &sources,
                  Report &report);

// Compares digests of casts of large sets. For a wrong digest, the first difference from the reference kernels is reported if
// these are right.
void verify_cast_digests(lpt_context *context, const std::string &name, const Vectors &vectors, Report &report);

}  // namespace tool
