#include "src/backends/cuda/nccl_library.hpp"

#include <dlfcn.h>

#include "src/base/environment.hpp"

namespace lpt {
namespace {

// File name with the major version: without it, the link library of a toolkit may be found.
constexpr const char *kSoname = "libnccl.so.2";

struct Symbol {
  const char *name;
  void **place;
};

std::string version_text(int version) { return text("%d.%d.%d", version / 10000, version / 100 % 100, version % 100); }

Status rejected(const char *file, const std::string &why) {
  return unsupported("%s: %s; LPT_NCCL may name another file", file, why.c_str());
}

template <typename Function>
Symbol symbol(const char *name, Function &function) {
  return {name, reinterpret_cast<void **>(&function)};
}

Status find_symbols(const char *file, void *library, Nccl &nccl) {
  const Symbol symbols[] = {symbol("ncclGetUniqueId", nccl.get_unique_id),
                            symbol("ncclCommInitRankConfig", nccl.init),
                            symbol("ncclCommSplit", nccl.split),
                            symbol("ncclCommFinalize", nccl.finalize),
                            symbol("ncclCommDestroy", nccl.destroy),
                            symbol("ncclCommAbort", nccl.abort),
                            symbol("ncclCommGetAsyncError", nccl.get_async_error),
                            symbol("ncclCommCount", nccl.count),
                            symbol("ncclCommUserRank", nccl.user_rank),
                            symbol("ncclCommCuDevice", nccl.device),
                            symbol("ncclSend", nccl.send),
                            symbol("ncclRecv", nccl.receive),
                            symbol("ncclAllReduce", nccl.all_reduce),
                            symbol("ncclReduceScatter", nccl.reduce_scatter),
                            symbol("ncclGroupStart", nccl.group_start),
                            symbol("ncclGroupEnd", nccl.group_end),
                            symbol("ncclGetErrorString", nccl.error_string),
                            symbol("ncclGetLastError", nccl.last_error)};
  for (const Symbol &requested : symbols) {
    *requested.place = dlsym(library, requested.name);
    if (*requested.place == nullptr) return rejected(file, text("it has no %s", requested.name));
  }
  return {};
}

}  // namespace

Status find_nccl(Nccl &out_nccl) {
  const char *const given = variable("LPT_NCCL");
  const char *const file = given == nullptr ? kSoname : given;
  if (is_no_regular_file(file)) return rejected(file, "it is no regular file");
  // Never closed, as it owns threads and memory of the driver. dlopen() finds a copy that the program has loaded by its soname.
  void *const library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return rejected(file, dlerror());
  *reinterpret_cast<void **>(&out_nccl.get_version) = dlsym(library, "ncclGetVersion");
  if (out_nccl.get_version == nullptr) return rejected(file, "it has no ncclGetVersion");
  int version = 0;
  if (out_nccl.get_version(&version) != kNcclSuccess || version < kLeastNccl) {
    return rejected(file, text("it is NCCL %s: expected %s or later", version_text(version).c_str(),
                               version_text(kLeastNccl).c_str()));
  }
  return find_symbols(file, library, out_nccl);
}

}  // namespace lpt
