// Kernels of a table in tests. Kernels that this CPU does not support are skipped with a message.
#pragma once

#include <gtest/gtest.h>

#include <cstdio>
#include <span>
#include <string>
#include <vector>

#include "src/base/cpu.hpp"
#include "src/base/kernel_entry.hpp"

namespace lpt::test {

template <typename Kernel>
CpuFeatures missing_of(const Kernel &kernel) {
  return kernel.needs.cpu & ~cpu_features();
}

template <typename Kernel>
bool is_here(const Kernel &kernel) {
  return missing_of(kernel) == 0;
}

template <typename Kernel>
bool can_run(const Kernel &kernel) {
  if (!is_here(kernel)) std::printf("skipped %s: needs %s\n", kernel.name, feature_names(missing_of(kernel)).c_str());
  return is_here(kernel);
}

template <typename Kernel, typename Request>
bool takes(const Kernel &kernel, const Request &request) {
  return kernel.unsupported_reason == nullptr || kernel.unsupported_reason(request) == nullptr;
}

template <typename Request>
const KernelEntry<Request> &reference_of(std::span<const KernelEntry<Request>> kernels) {
  return kernels.back();
}

// One test per kernel.

template <typename Request>
class KernelTest : public testing::TestWithParam<const KernelEntry<Request> *> {
 protected:
  void SetUp() override {
    const KernelEntry<Request> &kernel = *this->GetParam();
    if (!is_here(kernel)) GTEST_SKIP() << kernel.name << " needs " << feature_names(missing_of(kernel));
  }
  bool takes(const Request &request) const { return test::takes(*this->GetParam(), request); }
};

template <typename Request>
std::vector<const KernelEntry<Request> *> all_kernels(std::span<const KernelEntry<Request>> kernels) {
  std::vector<const KernelEntry<Request> *> result;
  for (const KernelEntry<Request> &kernel : kernels) result.push_back(&kernel);
  return result;
}

// Returns all kernels except the last, which is the reference kernel.
template <typename Request>
std::vector<const KernelEntry<Request> *> fast_kernels(std::span<const KernelEntry<Request>> kernels) {
  return all_kernels(kernels.first(kernels.size() - 1));
}

template <typename Request>
std::string kernel_name(const testing::TestParamInfo<const KernelEntry<Request> *> &info) {
  return info.param->name;
}

}  // namespace lpt::test
