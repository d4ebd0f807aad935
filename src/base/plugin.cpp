#include "src/base/plugin.hpp"

#include <dlfcn.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

namespace lpt {
namespace {

// Where the library itself lies.
std::string own_folder() {
  Dl_info facts{};
  if (dladdr(reinterpret_cast<const void *>(&own_folder), &facts) == 0 || facts.dli_fname == nullptr) return ".";
  const std::string path = facts.dli_fname;
  const size_t end = path.rfind('/');
  return end == std::string::npos ? "." : path.substr(0, end);
}

}  // namespace

const char *variable(const char *name) {
  const char *const value = std::getenv(name);
  return value == nullptr || *value == '\0' ? nullptr : value;
}

bool is_folder(const std::string &path) {
  struct stat facts;
  return stat(path.c_str(), &facts) == 0 && S_ISDIR(facts.st_mode);
}

std::string plugin_path(const char *file) {
  const std::string beside = own_folder() + "/" + file;
  const char *const folder = variable("LPT_PLUGIN_PATH");
  if (folder == nullptr || !is_folder(folder)) return beside;
  const std::string there = std::string(folder) + "/" + file;
  return access(there.c_str(), F_OK) == 0 || access(beside.c_str(), F_OK) != 0 ? there : beside;
}

Status plugin_refused(const std::string &path, const std::string &why) {
  return Status(LPT_UNSUPPORTED, text("plugin %s: %s", path.c_str(), why.c_str()));
}

Status open_plugin(const std::string &path, void **out_entry) {
  // Local: plugins may have the same symbols. Never closed: neither MPI nor CUDA survives it.
  void *const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return plugin_refused(path, dlerror());
  *out_entry = dlsym(library, "lpt_plugin_entry");
  return *out_entry == nullptr ? plugin_refused(path, dlerror()) : Status();
}

}  // namespace lpt
