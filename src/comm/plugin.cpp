#include "src/comm/plugin.hpp"

#include <algorithm>
#include <cstdlib>
#include <iterator>

#include "src/base/plugin.hpp"

namespace lpt {
namespace {

struct Mpi {
  const char *name;
  std::vector<const char *> signs;  // environment variables that its launcher sets
};

std::vector<Mpi> known_mpis() {
  return {{"openmpi", {"OMPI_COMM_WORLD_SIZE"}}, {"mpich", {"PMI_RANK", "PMI_SIZE", "HYDI_CONTROL_FD"}}};
}

bool has_launched(const Mpi &mpi) {
  return std::any_of(mpi.signs.begin(), mpi.signs.end(), [](const char *sign) { return variable(sign) != nullptr; });
}

// Collects the MPI that LPT_MPI names; otherwise those whose launcher has set its variables; otherwise all.
Status candidates(std::vector<Mpi> &out_mpis) {
  const std::vector<Mpi> all = known_mpis();
  if (const char *const requested = variable("LPT_MPI")) {
    std::copy_if(all.begin(), all.end(), std::back_inserter(out_mpis),
                 [&](const Mpi &m) { return m.name == text(requested); });
    if (!out_mpis.empty()) return {};
    return unsupported("LPT_MPI is %s: expected openmpi or mpich", requested);
  }
  std::copy_if(all.begin(), all.end(), std::back_inserter(out_mpis), has_launched);
  if (out_mpis.empty()) out_mpis = all;
  return {};
}

}  // namespace

Status open_mpi(const std::string &path, const lpt_transport_table **out_table) {
  void *entry = nullptr;
  LPT_TRY(open_plugin(path, &entry));
  const lpt_transport_table *const table = reinterpret_cast<lpt_wire_entry>(entry)(LPT_WIRE_ABI);
  if (table == nullptr || table->abi != LPT_WIRE_ABI || table->struct_size < sizeof(lpt_transport_table)) {
    return plugin_rejected(path, text("it has another interface than %d of this library", LPT_WIRE_ABI));
  }
  *out_table = table;
  return {};
}

Status find_mpi(const lpt_transport_table **out_table) {
  const char *const given = variable("LPT_PLUGIN_PATH");
  if (given != nullptr && !is_folder(given)) return open_mpi(given, out_table);
  std::vector<Mpi> mpis;
  LPT_TRY(candidates(mpis));
  std::string words;
  for (const Mpi &mpi : mpis) {
    const Status status = open_mpi(plugin_path(text("liblpt_%s.so", mpi.name).c_str()), out_table);
    if (status.is_ok()) return {};
    words += (words.empty() ? "" : "; ") + status.message();
  }
  return Status(LPT_UNSUPPORTED, words);
}

Status check_world(const lpt_transport_table &table, int32_t world_ranks) {
  for (const char *const name : {"LPT_WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}) {
    const char *const reported = variable(name);
    if (reported == nullptr || std::strtol(reported, nullptr, 10) == world_ranks) continue;
    return unsupported("%s is %s, but %s finds %d: expected the launcher of the same MPI, or another LPT_MPI", name,
                       reported, table.name, world_ranks);
  }
  return {};
}

}  // namespace lpt
