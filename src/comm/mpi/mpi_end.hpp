// Finalization of MPI.
#pragma once

#include <mpi.h>

#include <chrono>
#include <thread>
#include <vector>

#include "src/comm/backoff.hpp"

namespace lpt {

// MPI_Finalize of MPICH before 4.2 over UCX with TCP: each rank queries every other rank whether all messages have arrived. It
// continues when all have replied, and then replies to no further query. A rank that queries later waits without limit. No rank
// is too late if none replies before its own query. So no rank may enter MPI between the first query and its own MPI_Finalize.
#if defined(MPICH_NUMVERSION) && MPICH_NUMVERSION < 40200300
constexpr bool kSynchronizesBeforeFinalize = true;
#else
constexpr bool kSynchronizesBeforeFinalize = false;
#endif

// Starts an empty message from each rank to each other rank. A rank does not query ranks to which it has sent nothing, and
// could end before they query it.
inline std::vector<MPI_Request> start_final_messages() {
  constexpr int kTag = 32767;  // the largest tag that every MPI supports
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  std::vector<MPI_Request> words;
  for (int peer = 0; peer < ranks; ++peer) {
    if (peer == rank) continue;
    MPI_Irecv(nullptr, 0, MPI_BYTE, peer, kTag, MPI_COMM_WORLD, &words.emplace_back());
    MPI_Isend(nullptr, 0, MPI_BYTE, peer, kTag, MPI_COMM_WORLD, &words.emplace_back());
  }
  return words;
}

// A rank that has received all messages may be the first: it pauses so that the other ranks receive theirs.
inline void synchronize_before_end() {
  constexpr std::chrono::milliseconds kRest{500};
  std::vector<MPI_Request> words = start_final_messages();
  int are_all_present = 0;
  for (Backoff backoff; are_all_present == 0; backoff.pause(false))
    MPI_Testall(static_cast<int>(words.size()), words.data(), &are_all_present, MPI_STATUSES_IGNORE);
  if (!words.empty()) std::this_thread::sleep_for(kRest);
}

inline void end_mpi() {
  if (kSynchronizesBeforeFinalize) synchronize_before_end();
  MPI_Finalize();
}

}  // namespace lpt
