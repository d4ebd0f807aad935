// Wraps the plugin that LPT_REAL_PLUGIN names. Flips bit LPT_FLIP of the fifth message header of rank 1. The preceding headers
// are those of lpt_comm_create_mpi() and of one exchange.
#include <dlfcn.h>

#include <cstdlib>
#include <list>
#include <vector>

#include "lpt.h"
#include "src/comm/transport.hpp"

namespace {

const lpt_transport_table *real = nullptr;
lpt_transport_table flipping;
bool is_damaged_rank = false;
int headers = 0;
std::list<std::vector<unsigned char>> kept;  // MPI may read them until the process ends

int32_t open_link(const int32_t *fortran_handle, void **out_link, int32_t *out_rank, int32_t *out_ranks,
                  int32_t *out_world_ranks, char *error, size_t error_bytes) {
  const int32_t code = real->open(fortran_handle, out_link, out_rank, out_ranks, out_world_ranks, error, error_bytes);
  is_damaged_rank = code == LPT_OK && *out_rank == 1;
  headers = 0;
  return code;
}

int32_t send(void *link, int32_t peer, int32_t tag, const void *data, int64_t bytes, void **out_request, char *error,
             size_t error_bytes) {
  if (!is_damaged_rank || tag != 0 || ++headers != 5) {
    return real->send(link, peer, tag, data, bytes, out_request, error, error_bytes);
  }
  const auto *const first = static_cast<const unsigned char *>(data);
  std::vector<unsigned char> &copy = kept.emplace_back(first, first + bytes);
  const auto bit = static_cast<size_t>(std::atoi(std::getenv("LPT_FLIP")));
  copy[bit / 8] = static_cast<unsigned char>(copy[bit / 8] ^ (1U << bit % 8));
  return real->send(link, peer, tag, copy.data(), bytes, out_request, error, error_bytes);
}

}  // namespace

extern "C" LPT_API const lpt_transport_table *lpt_plugin_entry(uint32_t abi) {
  void *const library = dlopen(std::getenv("LPT_REAL_PLUGIN"), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return nullptr;
  real = reinterpret_cast<lpt_wire_entry>(dlsym(library, "lpt_plugin_entry"))(abi);
  flipping = *real;
  flipping.open = open_link;
  flipping.send = send;
  return &flipping;
}
