// lpt_all_reduce by the engine over MPI beside MPI_Allreduce itself, alternately:
//   mpirun -n 2 --bind-to none build/test/bench/comm_mpi_bench [KIB] [ROUNDS]
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "lpt.h"

namespace {

// The middle and the least of some times.
struct Summary {
  double median, least;
};

Summary summary(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  return {times[times.size() / 2], times.front()};
}

// From a common beginning until the last rank has ended.
template <typename Work>
double timed(const Work &work) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  work();
  const double mine = MPI_Wtime() - begin;
  double slowest = 0.0;
  MPI_Allreduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return slowest;
}

void demand(lpt_status status, const lpt_context *context) {
  if (status == LPT_OK) return;
  std::fprintf(stderr, "comm_mpi_bench: %s\n", lpt_context_error(context));
  MPI_Abort(MPI_COMM_WORLD, 1);
}

lpt_tensor *wrap(lpt_context *context, std::vector<float> &numbers) {
  lpt_tensor *tensor = nullptr;
  const auto count = static_cast<int64_t>(numbers.size());
  demand(lpt_tensor_wrap_matrix(context, LPT_FORMAT_F32, numbers.data(), 1, count, count, &tensor), context);
  return tensor;
}

void race(int64_t kib, int rounds) {
  lpt_context_options options = LPT_CONTEXT_OPTIONS_INIT;
  options.thread_count = 1;
  lpt_context *context = nullptr;
  if (lpt_context_create(&options, &context) != LPT_OK) MPI_Abort(MPI_COMM_WORLD, 1);
  lpt_comm *comm = nullptr;
  const auto world = static_cast<int32_t>(MPI_Comm_c2f(MPI_COMM_WORLD));
  demand(lpt_comm_adopt_mpi(context, world, nullptr, &comm), context);
  const auto count = static_cast<size_t>(kib << 10) / sizeof(float);
  std::vector<float> input(count, 1.0f), output(count);
  lpt_tensor *const from = wrap(context, input), *const to = wrap(context, output);
  std::vector<double> ours, theirs, ratios;
  for (int i = 0; i < rounds; ++i) {
    const double a = timed([&] { demand(lpt_all_reduce(context, comm, from, nullptr, to, nullptr), context); });
    const double b = timed([&] {
      MPI_Allreduce(input.data(), output.data(), static_cast<int>(count), MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    });
    if (i == 0) continue;  // pages and paths are set up
    ours.push_back(a);
    theirs.push_back(b);
    ratios.push_back(a / b);
  }
  int rank = 0, ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (rank == 0) {
    const Summary a = summary(ours), b = summary(theirs);
    std::printf("%d ranks, %6lld KiB: lpt %8.3f ms (least %8.3f), MPI %8.3f ms (least %8.3f), median ratio %.3f\n",
                ranks, static_cast<long long>(kib), 1e3 * a.median, 1e3 * a.least, 1e3 * b.median, 1e3 * b.least,
                summary(ratios).median);
  }
  lpt_tensor_destroy(from);
  lpt_tensor_destroy(to);
  lpt_comm_destroy(comm);
  lpt_context_destroy(context);
}

}  // namespace

int main(int argc, char **argv) {
  int level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 101;
  if (argc > 1) {
    race(std::atoll(argv[1]), rounds);
  } else {
    for (const int64_t kib : {1, 16, 64, 256, 1024, 16384}) race(kib, rounds);
  }
  MPI_Finalize();
  return 0;
}
