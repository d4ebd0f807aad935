// Transport between threads of one process: messages pass through the queues of a group, over links that may be emulated.
#pragma once

#include <memory>

#include "src/comm/endpoint.hpp"
#include "src/comm/local/local_group.hpp"

namespace lpt {

std::unique_ptr<Endpoint> open_local_endpoint(std::shared_ptr<LocalGroup> group, int32_t rank,
                                              const EngineOptions &options);

}  // namespace lpt
