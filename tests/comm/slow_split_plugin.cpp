// Wraps the plugin that LPT_REAL_PLUGIN names. Its last rank delays a split by two seconds.
#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>

#include "lpt.h"
#include "src/comm/transport.hpp"

namespace {

const lpt_transport_table *real = nullptr;
lpt_transport_table slow;
bool is_last = false;

int32_t open_link(const int32_t *fortran_handle, void **out_link, int32_t *out_rank, int32_t *out_ranks,
                  int32_t *out_world_ranks, char *error, size_t error_bytes) {
  const int32_t code = real->open(fortran_handle, out_link, out_rank, out_ranks, out_world_ranks, error, error_bytes);
  is_last = code == LPT_OK && *out_rank == *out_ranks - 1;
  return code;
}

int32_t split(void *link, const int32_t *members, int32_t count, int64_t number, double seconds, void **out_link,
              char *error, size_t error_bytes) {
  if (is_last) sleep(2);
  return real->split(link, members, count, number, seconds, out_link, error, error_bytes);
}

}  // namespace

extern "C" LPT_API const lpt_transport_table *lpt_plugin_entry(uint32_t abi) {
  void *const library = dlopen(std::getenv("LPT_REAL_PLUGIN"), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return nullptr;
  real = reinterpret_cast<lpt_wire_entry>(dlsym(library, "lpt_plugin_entry"))(abi);
  slow = *real;
  slow.open = open_link;
  slow.split = split;
  return &slow;
}
