// The wire among threads of one process: messages go through a team's mailboxes, over links that may be emulated.
#pragma once

#include <memory>

#include "src/comm/link.hpp"
#include "src/comm/team.hpp"

namespace lpt {

std::unique_ptr<Link> open_local_link(std::shared_ptr<Team> team, int32_t rank, const EngineOptions &options);

}  // namespace lpt
