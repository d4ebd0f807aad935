// How a process leaves MPI.
#pragma once

#include <mpi.h>

#include <chrono>
#include <thread>
#include <vector>

#include "src/comm/backoff.hpp"

namespace lpt {

// MPI_Finalize of MPICH before 4.2 over UCX's TCP: each rank queries every other one whether all has arrived, goes on when all have
// answered, and then answers no more. A rank that queries after that waits forever. No one can be too late if none answers before it has
// requested, that is, if none enters MPI between the moment when the first one queries and its own MPI_Finalize.
#if defined(MPICH_NUMVERSION) && MPICH_NUMVERSION < 40200300
constexpr bool kReachesBeforeEnd = true;
#else
constexpr bool kReachesBeforeEnd = false;
#endif

// From each rank to each other one: who has sent nothing to a rank does not query it, and would be gone when that one queries.
inline std::vector<MPI_Request> words_of_parting() {
  constexpr int kTag = 32767;  // the largest that every MPI has
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

// Who has heard all may have been the first to: the others are given the length of a rest to hear theirs.
inline void synchronize_before_end() {
  constexpr std::chrono::milliseconds kRest{500};
  std::vector<MPI_Request> words = words_of_parting();
  int are_all_present = 0;
  for (Backoff backoff; are_all_present == 0; backoff.pause(false))
    MPI_Testall(static_cast<int>(words.size()), words.data(), &are_all_present, MPI_STATUSES_IGNORE);
  if (!words.empty()) std::this_thread::sleep_for(kRest);
}

inline void end_mpi() {
  if (kReachesBeforeEnd) synchronize_before_end();
  MPI_Finalize();
}

}  // namespace lpt
