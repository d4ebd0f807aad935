// Errors of MPI processes if one of them does not continue. Exit status 0: as expected; 3: the comm was rejected, with its
// text.
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "tests/comm/suite.hpp"

namespace lpt::test {
namespace {

int say(const Rank &self, lpt_status status) {
  std::printf("rank %d: %d: %s\n", self.rank, status, lpt_context_error(self.context));
  return 0;
}

lpt_status sum_floats(const Rank &self) {
  std::vector<float> numbers(100000, 1.0f);
  const Tensor both = wrap(self.context, numbers, 1, 100000);
  return lpt_all_reduce(self.context, self.comm, both.get(), nullptr, both.get(), nullptr);
}

// Stops the last rank until its child process resumes it, long after the timeout of the others.
int stop(const Rank &self) {
  if (self.rank == self.ranks - 1) {
    const pid_t parent = getpid();
    if (fork() == 0) {
      sleep(3);
      kill(parent, SIGCONT);
      _exit(0);
    }
    raise(SIGSTOP);
  }
  const lpt_status status = sum_floats(self);
  return status == LPT_TIMEOUT ? say(self, status) : 1;
}

// The last rank sleeps while the others send bytes to it. Prints the status of this comm and of another comm.
int leave(const Rank &self) {
  std::vector<float> numbers(1 << 20, 1.0f);
  const Tensor mail = wrap(self.context, numbers, 1, 1 << 20);
  lpt_comm *part = nullptr;
  if (lpt_comm_split(self.context, self.comm, 0, 0, &part) != LPT_OK) return 1;
  const Comm other(part);
  const int32_t last = self.ranks - 1;
  if (self.rank == last) sleep(2);
  if (self.rank != last && lpt_send(self.context, self.comm, mail.get(), last, 7, nullptr) != LPT_OK) return 1;
  say(self, lpt_barrier(self.context, self.comm));
  say(self, lpt_barrier(self.context, part));
  // A process that exits without MPI_Finalize ends the other processes. The sleep lets them print first.
  std::fflush(stdout);
  sleep(3);
  return 0;
}

int die(const Rank &self) {
  if (self.rank == self.ranks - 1) raise(SIGKILL);
  return say(self, sum_floats(self));
}

// Runs reductions until one fails. Prints the duration of the last call, and the status of another comm.
int go_on(const Rank &self) {
  using Clock = std::chrono::steady_clock;
  std::vector<float> numbers(1 << 20, 1.0f);
  const Tensor both = wrap(self.context, numbers, 1, 1 << 20);
  lpt_comm *part = nullptr;
  if (lpt_comm_split(self.context, self.comm, 0, 0, &part) != LPT_OK) return 1;
  const Comm other(part);
  lpt_status status = LPT_OK;
  Clock::time_point begin;
  for (int i = 0; status == LPT_OK; ++i) {
    if (i == 10 && self.rank == 0) std::printf("under way\n"), std::fflush(stdout);
    begin = Clock::now();
    status = lpt_all_reduce(self.context, self.comm, both.get(), nullptr, both.get(), nullptr);
  }
  const std::chrono::duration<double> seconds = Clock::now() - begin;
  std::printf("rank %d after %.2f s: %d: %s\n", self.rank, seconds.count(), status, lpt_context_error(self.context));
  say(self, lpt_barrier(self.context, part));
  std::fflush(stdout);
  sleep(8);  // as in leave()
  return status == LPT_TIMEOUT ? 0 : 1;
}

// The other ranks exit without notice while the first rank waits in MPI for a message that never arrives.
int end_late(const Rank &self) {
  if (self.rank != 0) std::exit(0);
  std::vector<float> numbers(1);
  const Tensor one = wrap(self.context, numbers, 1, 1);
  const lpt_status status = lpt_receive(self.context, self.comm, one.get(), 1, 7, nullptr);
  return status == LPT_TIMEOUT ? say(self, status) : 1;
}

// The last rank is late for the MPI call of a split: see slow_split_plugin.cpp.
int split(const Rank &self) {
  lpt_comm *part = nullptr;
  const lpt_status status = lpt_comm_split(self.context, self.comm, self.rank % 2, 0, &part);
  lpt_comm_destroy(part);
  say(self, status);
  return status == LPT_TIMEOUT || self.rank == self.ranks - 1 ? 0 : 1;
}

// One bit of one header of rank 1 is flipped: see flipping_plugin.cpp. Each bit has a separate comm, which fails on every rank.
lpt_status sum_until_broken(lpt_context *context) {
  lpt_comm *raw = nullptr;
  lpt_comm_options options = LPT_COMM_OPTIONS_INIT;
  options.timeout_seconds = 20.0;
  lpt_status status = lpt_comm_create_mpi(context, &options, &raw);
  const Comm comm(raw);
  std::vector<float> numbers(10, 1.0f);
  const Tensor both = wrap(context, numbers, 1, 10);
  for (int i = 0; i < 6 && status == LPT_OK; ++i) {
    status = lpt_all_reduce(context, raw, both.get(), nullptr, both.get(), nullptr);
  }
  return status;
}

int damage(const Context &context) {
  constexpr uint32_t kSeed = 20261124;
  std::printf("seed %u\n", kSeed);
  std::mt19937 random(kSeed);
  bool are_found = true;
  for (int i = 0; i < 24; ++i) {
    const uint32_t bit = random() % (8 * 136);
    setenv("LPT_FLIP", std::to_string(bit).c_str(), 1);
    const lpt_status status = sum_until_broken(context.get());
    std::printf("bit %u: %d: %s\n", bit, status, lpt_context_error(context.get()));
    are_found = are_found && (status == LPT_MISMATCH || status == LPT_ABORTED);
  }
  return are_found ? 0 : 1;
}

int join(const Rank &self) { return lpt_barrier(self.context, self.comm) == LPT_OK ? say(self, LPT_OK) : 1; }

// Timeouts. Jobs that can be late without a fault have three seconds: on a loaded machine a reduction takes up to a second.
double limit_of(const std::string &job) {
  if (job == "stopped" || job == "slow_split" || job == "left") return 0.5;
  return job == "unplugged" || job == "late_end" ? 3.0 : 60.0;
}

int run(const std::string &job) {
  const Context context = make_context(1);
  if (job == "damaged") return damage(context);
  lpt_comm_options options = LPT_COMM_OPTIONS_INIT;
  options.timeout_seconds = limit_of(job);
  lpt_comm *raw = nullptr;
  if (lpt_comm_create_mpi(context.get(), &options, &raw) != LPT_OK) {
    std::printf("rejected: %s\n", lpt_context_error(context.get()));
    return 3;
  }
  const Comm comm(raw);
  lpt_comm_info values = LPT_COMM_INFO_INIT;
  lpt_comm_read(context.get(), raw, &values);
  const Rank self{context.get(), raw, values.rank, values.rank_count};
  if (job == "stopped") return stop(self);
  if (job == "left") return leave(self);
  if (job == "killed") return die(self);
  if (job == "slow_split") return split(self);
  if (job == "unplugged") return go_on(self);
  if (job == "late_end") return end_late(self);
  return join(self);
}

}  // namespace
}  // namespace lpt::test

int main(int argc, char **argv) { return argc == 2 ? lpt::test::run(argv[1]) : 2; }
