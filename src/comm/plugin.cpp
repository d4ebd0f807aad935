#include "src/comm/plugin.hpp"

#include <dlfcn.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>

namespace lpt {
namespace {

// NULL if it is not set, or empty.
const char *variable(const char *name) {
  const char *const value = std::getenv(name);
  return value == nullptr || *value == '\0' ? nullptr : value;
}

bool is_folder(const std::string &path) {
  struct stat facts;
  return stat(path.c_str(), &facts) == 0 && S_ISDIR(facts.st_mode);
}

// Where the library itself lies.
std::string own_folder() {
  Dl_info facts{};
  if (dladdr(reinterpret_cast<const void *>(&own_folder), &facts) == 0 || facts.dli_fname == nullptr) return ".";
  const std::string path = facts.dli_fname;
  const size_t end = path.rfind('/');
  return end == std::string::npos ? "." : path.substr(0, end);
}

struct Mpi {
  const char *name;
  std::vector<const char *> signs;  // variables that its launcher sets
};

std::vector<Mpi> known_mpis() {
  return {{"openmpi", {"OMPI_COMM_WORLD_SIZE"}}, {"mpich", {"PMI_RANK", "PMI_SIZE", "HYDI_CONTROL_FD"}}};
}

bool has_launched(const Mpi &mpi) {
  return std::any_of(mpi.signs.begin(), mpi.signs.end(), [](const char *sign) { return variable(sign) != nullptr; });
}

// In the folder that LPT_PLUGIN_PATH names, which may lack one that lies beside the library.
std::string path_of(const Mpi &mpi) {
  const std::string file = text("/liblpt_%s.so", mpi.name), beside = own_folder() + file;
  const char *const folder = variable("LPT_PLUGIN_PATH");
  if (folder == nullptr) return beside;
  const std::string there = folder + file;
  return access(there.c_str(), F_OK) == 0 || access(beside.c_str(), F_OK) != 0 ? there : beside;
}

Status refused(const std::string &path, const std::string &why) {
  return Status(LPT_UNSUPPORTED, text("plugin %s: %s", path.c_str(), why.c_str()));
}

// The one that LPT_MPI names; else those whose launcher is at work; else all.
Status candidates(std::vector<Mpi> &out_mpis) {
  const std::vector<Mpi> all = known_mpis();
  if (const char *const wanted = variable("LPT_MPI")) {
    std::copy_if(all.begin(), all.end(), std::back_inserter(out_mpis),
                 [&](const Mpi &m) { return m.name == text(wanted); });
    if (!out_mpis.empty()) return {};
    return unsupported("LPT_MPI is %s: expected openmpi or mpich", wanted);
  }
  std::copy_if(all.begin(), all.end(), std::back_inserter(out_mpis), has_launched);
  if (out_mpis.empty()) out_mpis = all;
  return {};
}

}  // namespace

Status open_plugin(const std::string &path, const lpt_wire_table **out_table) {
  // Local: two MPIs have the same symbols. Never closed: MPI does not survive it.
  void *const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return refused(path, dlerror());
  const auto entry = reinterpret_cast<lpt_wire_entry>(dlsym(library, "lpt_plugin_entry"));
  if (entry == nullptr) return refused(path, dlerror());
  const lpt_wire_table *const table = entry(LPT_WIRE_ABI);
  if (table == nullptr || table->abi != LPT_WIRE_ABI || table->struct_size < sizeof(lpt_wire_table)) {
    return refused(path, text("it has another interface than %d of this library", LPT_WIRE_ABI));
  }
  *out_table = table;
  return {};
}

Status find_mpi(const lpt_wire_table **out_table) {
  const char *const given = variable("LPT_PLUGIN_PATH");
  if (given != nullptr && !is_folder(given)) return open_plugin(given, out_table);
  std::vector<Mpi> mpis;
  LPT_TRY(candidates(mpis));
  std::string words;
  for (const Mpi &mpi : mpis) {
    const Status status = open_plugin(path_of(mpi), out_table);
    if (status.is_ok()) return {};
    words += (words.empty() ? "" : "; ") + status.message();
  }
  return Status(LPT_UNSUPPORTED, words);
}

Status check_world(const lpt_wire_table &table, int32_t world_ranks) {
  for (const char *const name : {"LPT_WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}) {
    const char *const told = variable(name);
    if (told == nullptr || std::strtol(told, nullptr, 10) == world_ranks) continue;
    return unsupported("%s is %s, but %s finds %d: expected the launcher of the same MPI, or another LPT_MPI", name,
                       told, table.name, world_ranks);
  }
  return {};
}

}  // namespace lpt
