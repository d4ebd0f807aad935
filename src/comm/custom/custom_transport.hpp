// Transport over functions of the caller. They transfer exact byte counts between two ranks: headers are padded, and a receive
// from any rank is one receive per rank.
#pragma once

#include <memory>

#include "src/comm/custom/custom_functions.hpp"
#include "src/comm/endpoint.hpp"

namespace lpt {

// Opens the endpoint of `rank` among `ranks` ranks.
std::unique_ptr<Endpoint> open_custom_endpoint(std::shared_ptr<CustomFunctions> functions, int32_t rank, int32_t ranks);

}  // namespace lpt
