// What LPT uses of NCCL's C interface as it is since release 2.18: declared here, so that nothing of NCCL is needed to build, and
// found when it is requested.
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

constexpr int kLeastNccl = 21800;  // 2.18.0: communicators that are split, and do not block

// The members of that release; a newer one sees by size and version that it got no more.
struct NcclConfig {
  size_t size = sizeof(NcclConfig);
  unsigned int magic = 0xcafebeef;
  unsigned int version = kLeastNccl;
  int blocking = INT_MIN;  // INT_MIN: not chosen
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

// Opens the file that LPT_NCCL names, else libnccl.so.2 wherever the system finds it, and rejects what is older. It stays open.
Status find_nccl(Nccl &out_nccl);

}  // namespace lpt
