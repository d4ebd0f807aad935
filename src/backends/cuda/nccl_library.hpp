// The part of NCCL's C interface, since release 2.18, that LPT uses. These declarations replace nccl.h, and the library is
// opened on first use, so that a build needs nothing of NCCL.
#pragma once

#include <climits>
#include <cstddef>
#include <cstdint>

#include "src/base/status.hpp"

namespace lpt {

using NcclComm = struct ncclComm *;
using NcclStream = struct CUstream_st *;

enum NcclResult : int { kNcclSuccess = 0, kNcclInProgress = 7 };
enum NcclType : int { kNcclUint8 = 1, kNcclFloat16 = 6, kNcclFloat32 = 7, kNcclFloat64 = 8, kNcclBfloat16 = 9 };
enum NcclOperation : int { kNcclSum = 0, kNcclMax = 2, kNcclMin = 3, kNcclAverage = 4 };

struct NcclId {
  char bytes[128];
};

constexpr int kLeastNccl = 21800;  // 2.18.0: communicators with split and nonblocking calls

// The members of release 2.18. A newer release detects them by size and version.
struct NcclConfig {
  size_t size = sizeof(NcclConfig);
  unsigned int magic = 0xcafebeef;
  unsigned int version = kLeastNccl;
  int blocking = INT_MIN;  // INT_MIN: default
  int cga_cluster_size = INT_MIN;
  int least_ctas = INT_MIN, most_ctas = INT_MIN;
  const char *net_name = nullptr;
  int split_share = INT_MIN;
};

struct Nccl {
  NcclResult (*get_version)(int *version);
  NcclResult (*get_unique_id)(NcclId *id);
  NcclResult (*init)(NcclComm *comm, int ranks, NcclId id, int rank, NcclConfig *config);
  NcclResult (*split)(NcclComm comm, int color, int key, NcclComm *part, NcclConfig *config);
  NcclResult (*finalize)(NcclComm comm);
  NcclResult (*destroy)(NcclComm comm);
  NcclResult (*abort)(NcclComm comm);
  NcclResult (*get_async_error)(NcclComm comm, NcclResult *error);
  NcclResult (*count)(NcclComm comm, int *count);
  NcclResult (*user_rank)(NcclComm comm, int *rank);
  NcclResult (*device)(NcclComm comm, int *device);
  NcclResult (*send)(const void *data, size_t count, NcclType type, int peer, NcclComm comm, NcclStream stream);
  NcclResult (*receive)(void *data, size_t count, NcclType type, int peer, NcclComm comm, NcclStream stream);
  NcclResult (*all_reduce)(const void *input, void *output, size_t count, NcclType type, NcclOperation operation,
                           NcclComm comm, NcclStream stream);
  NcclResult (*reduce_scatter)(const void *input, void *output, size_t count_of_one, NcclType type,
                               NcclOperation operation, NcclComm comm, NcclStream stream);
  NcclResult (*group_start)();
  NcclResult (*group_end)();
  const char *(*error_string)(NcclResult result);
  const char *(*last_error)(NcclComm comm);
};

// Opens the file that LPT_NCCL names, otherwise libnccl.so.2 of the system. Rejects releases before 2.18. The library is never
// closed.
Status find_nccl(Nccl &out_nccl);

}  // namespace lpt
