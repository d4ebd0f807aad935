// Communicator plugins: finds and opens the plugin of the MPI that launched the process.
#pragma once

#include <string>
#include <vector>

#include "src/base/status.hpp"
#include "src/comm/transport.hpp"

namespace lpt {

// Opens the plugin at `path` and returns its table.
Status open_mpi(const std::string &path, const lpt_transport_table **out_table);

// Opens the file that LPT_PLUGIN_PATH names. Otherwise opens the plugin that LPT_MPI names, that of the launcher, or the first
// that opens.
Status find_mpi(const lpt_transport_table **out_table);

// Rejects a number of processes that differs from the environment. Under the launcher of another MPI each process is a world of
// one rank.
Status check_world(const lpt_transport_table &table, int32_t world_ranks);

}  // namespace lpt
