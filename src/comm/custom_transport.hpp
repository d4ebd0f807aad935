// The transport over functions of the caller. They send exact numbers of bytes between two ranks, so headers are padded, and
// a receive from any rank is one receive from each.
#pragma once

#include <memory>

#include "src/comm/custom_functions.hpp"
#include "src/comm/endpoint.hpp"

namespace lpt {

// The endpoint of one of `ranks`.
std::unique_ptr<Endpoint> open_custom_endpoint(std::shared_ptr<CustomFunctions> functions, int32_t rank, int32_t ranks);

}  // namespace lpt
