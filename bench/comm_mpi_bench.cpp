// lpt_all_reduce over MPI compared with MPI_Allreduce, in alternation:
//   mpirun -n 2 --bind-to none build/test/bench/comm_mpi_bench [KIB] [ROUNDS] [--json FILE]
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <vector>

#include "bench/report.hpp"

namespace lpt::bench {
namespace {

// The median and the minimum of some times.
struct Summary {
  double median, least;
};

Summary summary(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  return {times[times.size() / 2], times.front()};
}

// Returns the seconds from a common start until the last rank has finished.
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

void race(int64_t kib, int rounds, int rank, Report &report) {
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
    if (i == 0) continue;  // the first run sets up pages and connections
    ours.push_back(a);
    theirs.push_back(b);
    ratios.push_back(a / b);
  }
  if (rank == 0) {
    const Summary a = summary(ours), b = summary(theirs);
    report.add({std::to_string(kib), fixed(1e3 * a.median, 3), fixed(1e3 * a.least, 3), fixed(1e3 * b.median, 3),
                fixed(1e3 * b.least, 3), fixed(summary(ratios).median, 3)});
  }
  lpt_tensor_destroy(from);
  lpt_tensor_destroy(to);
  lpt_comm_destroy(comm);
  lpt_context_destroy(context);
}

int main_of(int64_t kib, int rounds, Report &report) {
  int rank = 0, ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (rank == 0) {
    report.begin("all-reduce", ranks, "times of " + std::to_string(ranks) + " ranks in ms, and the median ratio",
                 {{"KiB", 7}, {"LPT, median"}, {"LPT, min"}, {"MPI, median"}, {"MPI, min"}, {"LPT / MPI"}});
  }
  for (const int64_t size : kib > 0 ? std::vector<int64_t>{kib} : std::vector<int64_t>{1, 16, 64, 256, 1024, 16384}) {
    race(size, rounds, rank, report);
  }
  return rank == 0 ? report.end() : 0;
}

}  // namespace
}  // namespace lpt::bench

int main(int count, char **words) {
  double kib = 0, rounds = 101;
  lpt::bench::Report report(
      count, words, "All-reduce of LPT over MPI, relative to MPI_Allreduce",
      {{"KIB", "Size of each rank; 0: several", &kib}, {"ROUNDS", "The first is not counted", &rounds, 2}});
  int level = 0;
  MPI_Init_thread(&count, &words, MPI_THREAD_MULTIPLE, &level);
  const int status = lpt::bench::main_of(static_cast<int64_t>(kib), static_cast<int>(rounds), report);
  MPI_Finalize();
  return status;
}
