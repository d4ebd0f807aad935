// Device kernels on the CPU, in every order of threads, compared with the reference kernel bit for bit.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <span>
#include <string>

#include "kernels/common/launch.hpp"
#include "src/base/kernel_entry.hpp"

namespace lpt::test {

constexpr simt::Order kOrders[] = {simt::Order::kForward, simt::Order::kBackward, simt::Order::kShuffled};

// Selects the thread order of a case: all orders are used, and each case runs once.
inline void take_next_order() {
  static std::size_t next = 0;
  simt::set_order(kOrders[next++ % std::size(kOrders)]);
}

// Counts the runs of each kernel, to detect kernels that no test runs.
class Tally {
 public:
  template <typename Request>
  explicit Tally(std::span<const KernelEntry<Request>> kernels) {
    for (const KernelEntry<Request> &kernel : kernels) runs_[kernel.name] = 0;
  }
  void add(const char *kernel) { ++runs_[kernel]; }
  void expect_all_at_least(int runs) const {
    for (const auto &[row, count] : runs_) EXPECT_GE(count, runs) << row;
  }

 private:
  std::map<std::string, int> runs_;
};

}  // namespace lpt::test
