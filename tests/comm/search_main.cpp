// A program with the static library. It searches for the plugins of MPI and CUDA and prints the searched paths.
#include <cstdio>

#include "lpt.h"

int main() {
  lpt_context *context = nullptr;
  if (lpt_context_create(nullptr, &context) != LPT_OK) return 1;
  lpt_comm *comm = nullptr;
  lpt_comm_create_mpi(context, nullptr, &comm);
  std::printf("%s\n", lpt_context_error(context));
  lpt_device_info description = LPT_DEVICE_INFO_INIT;
  lpt_device_describe(nullptr, LPT_DEVICE_CUDA, 0, &description);
  std::printf("%s\n", description.reason);
  lpt_comm_destroy(comm);
  lpt_context_destroy(context);
  return 0;
}
