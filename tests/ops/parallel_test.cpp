// The thread pool runs every index of a loop exactly once, for any number of loops, threads and indices.
#include "src/base/parallel.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <set>

namespace lpt {
namespace {

struct Count {
  explicit Count(int64_t count) : hits(static_cast<size_t>(count)) {}
  std::vector<std::atomic<int32_t>> hits;
  static void task(void *argument, int64_t index) {
    ++static_cast<Count *>(argument)->hits[static_cast<size_t>(index)];
  }
};

TEST(ThreadPool, RunsEveryIndexOnce) {
  for (const int32_t threads : {1, 2, 3, 8}) {
    ThreadPool pool(threads);
    EXPECT_EQ(threads, pool.thread_count());
    for (const int64_t count : {0, 1, 2, 7, 1000}) {
      Count loop(count);
      pool.run(count, Count::task, &loop);
      for (const std::atomic<int32_t> &hits : loop.hits) ASSERT_EQ(1, hits) << threads << " threads, " << count;
    }
  }
}

TEST(ThreadPool, EndsALoopBeforeItReturns) {
  ThreadPool pool(4);
  struct Slow {
    std::atomic<int64_t> done{0};
    static void task(void *argument, int64_t index) {
      if (index % 3 == 0) std::this_thread::sleep_for(std::chrono::microseconds(300));
      ++static_cast<Slow *>(argument)->done;
    }
  };
  for (int loop = 0; loop < 50; ++loop) {
    Slow slow;
    pool.run(9, Slow::task, &slow);
    ASSERT_EQ(9, slow.done);
  }
}

// Threads poll for the next loop and then sleep, so there are short and long gaps between loops. Pools with more threads than
// cores do not poll.
TEST(ThreadPool, RunsManyShortLoops) {
  for (const int32_t threads : {2, 4, 64}) {
    ThreadPool pool(threads);
    std::atomic<int64_t> sum{0};
    const lpt_task_function add = [](void *argument, int64_t index) {
      *static_cast<std::atomic<int64_t> *>(argument) += index;
    };
    int64_t expected = 0;
    for (int64_t loop = 0; loop < 5000; ++loop) {
      if (loop % 100 == 0) std::this_thread::sleep_for(std::chrono::microseconds(loop / 10));
      const int64_t count = loop % 13;
      pool.run(count, add, &sum);
      expected += count * (count - 1) / 2;
      ASSERT_EQ(expected, sum) << threads << " threads, loop " << loop;
    }
  }
}

TEST(ThreadPool, RunsOnTheCallerAloneWithOneThread) {
  ThreadPool pool(1);
  std::set<std::thread::id> ids;
  pool.run(
      100,
      [](void *argument, int64_t) {
        static_cast<std::set<std::thread::id> *>(argument)->insert(std::this_thread::get_id());
      },
      &ids);
  EXPECT_EQ((std::set<std::thread::id>{std::this_thread::get_id()}), ids);
}

TEST(ThreadPool, RunsASingleIndexOnTheCaller) {
  ThreadPool pool(4);
  std::thread::id id;
  pool.run(
      1, [](void *argument, int64_t) { *static_cast<std::thread::id *>(argument) = std::this_thread::get_id(); }, &id);
  EXPECT_EQ(std::this_thread::get_id(), id);
}

TEST(ThreadPool, SharesTheWorkAmongItsThreads) {
  ThreadPool pool(3);
  struct Rendezvous {
    std::atomic<int32_t> present{0};
    std::atomic<bool> are_concurrent{false};
    // The first task waits for the second one, or for a timeout.
    static void task(void *argument, int64_t) {
      auto &self = *static_cast<Rendezvous *>(argument);
      if (self.present++ > 0) return;
      for (int i = 0; i < 2000 && self.present < 2; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      self.are_concurrent = self.present == 2;
    }
  };
  for (const int milliseconds : {0, 50}) {  // after the longer gap the threads are asleep
    std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
    Rendezvous rendezvous;
    pool.run(2, Rendezvous::task, &rendezvous);
    EXPECT_TRUE(rendezvous.are_concurrent) << "after " << milliseconds << " ms";
  }
}

TEST(ThreadPool, EndsWithoutEverHavingWorked) {
  for (int i = 0; i < 100; ++i) ThreadPool pool(8);
}

TEST(ThreadPool, StartsAndEndsManyTimes) {
  for (int i = 0; i < 100; ++i) {
    ThreadPool pool(3);
    Count loop(10);
    pool.run(10, Count::task, &loop);
    for (const std::atomic<int32_t> &hits : loop.hits) ASSERT_EQ(1, hits);
  }
}

}  // namespace
}  // namespace lpt
