// Communicator plugins: finds the one that belongs to the MPI at work, and opens it.
#pragma once

#include <string>
#include <vector>

#include "src/base/status.hpp"
#include "src/comm/transport.hpp"

namespace lpt {

// The table of the plugin at a path.
Status open_mpi(const std::string &path, const lpt_transport_table **out_table);

// The file that LPT_PLUGIN_PATH names; else LPT_MPI decides; else who launched this process; else the first that opens.
Status find_mpi(const lpt_transport_table **out_table);

// Rejects where the environment tells of another number of processes than MPI: under the wrong launcher, each process is all
// alone, and thinks itself right.
Status check_world(const lpt_transport_table &table, int32_t world_ranks);

}  // namespace lpt
