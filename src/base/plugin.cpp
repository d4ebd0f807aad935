#include "src/base/plugin.hpp"

#include <dlfcn.h>
#include <elf.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <memory>

namespace lpt {
namespace {

// Returns the directory of the file that contains this code: the library, or a program that links it statically. It reads the
// kernel's list of mappings, since dladdr() returns the name by which the file was opened. The caller of a program chooses this
// name, which may lack a directory. Without /proc the result is the root directory, where only root can write.
std::string library_directory() {
  const auto self = reinterpret_cast<uintptr_t>(&library_directory);
  std::ifstream mappings("/proc/self/maps");
  for (std::string line; std::getline(mappings, line);) {
    unsigned long begin = 0, end = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx", &begin, &end) != 2 || self < begin || self >= end) continue;
    const size_t first = line.find('/');
    return first == std::string::npos ? "" : line.substr(first, line.rfind('/') - first);
  }
  return "";
}

// Returns true if a file ends before its section table does, which is last. The system maps the missing part too, and the first
// access to it ends the process.
bool is_truncated(const std::string &path) {
  struct Close {
    void operator()(FILE *file) const { std::fclose(file); }
  };
  const std::unique_ptr<FILE, Close> file(std::fopen(path.c_str(), "rb"));
  Elf64_Ehdr head;
  if (file == nullptr || std::fread(&head, sizeof head, 1, file.get()) != 1) return false;
  if (std::string(reinterpret_cast<const char *>(head.e_ident), SELFMAG) != ELFMAG) return false;
  struct stat facts;
  const uint64_t end = head.e_shoff + uint64_t{head.e_shentsize} * head.e_shnum;
  return fstat(fileno(file.get()), &facts) == 0 && end > static_cast<uint64_t>(facts.st_size);
}

}  // namespace

bool is_folder(const std::string &path) {
  struct stat facts;
  return stat(path.c_str(), &facts) == 0 && S_ISDIR(facts.st_mode);
}

std::string plugin_path(const char *file) {
  const std::string beside = library_directory() + "/" + file;
  const char *const folder = variable("LPT_PLUGIN_PATH");
  if (folder == nullptr || !is_folder(folder)) return beside;
  const std::string there = std::string(folder) + "/" + file;
  return access(there.c_str(), F_OK) == 0 || access(beside.c_str(), F_OK) != 0 ? there : beside;
}

Status plugin_rejected(const std::string &path, const std::string &why) {
  return Status(LPT_UNSUPPORTED, text("plugin %s: %s", path.c_str(), why.c_str()));
}

Status open_plugin(const std::string &path, void **out_entry) {
  if (is_no_regular_file(path)) return plugin_rejected(path, "it is no regular file");
  if (is_truncated(path)) return plugin_rejected(path, "the file is cut short");
  // RTLD_LOCAL, as plugins may have the same symbols. Never closed: MPI and CUDA cannot be unloaded.
  void *const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return plugin_rejected(path, dlerror());
  *out_entry = dlsym(library, "lpt_plugin_entry");
  return *out_entry == nullptr ? plugin_rejected(path, dlerror()) : Status();
}

}  // namespace lpt
