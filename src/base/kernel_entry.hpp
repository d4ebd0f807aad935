// The kernels of a family are a table in order of preference; the reference kernel is the last entry.
#pragma once

#include <span>
#include <string>

#include "src/base/cpu.hpp"
#include "src/base/status.hpp"

namespace lpt {

template <typename Request>
struct KernelEntry {
  const char *name;
  CpuFeatures required_features;
  const char *(*unsupported_reason)(const Request &);  // a static text, or nullptr: the kernel runs it
  void (*run)(const Request &);
};

}  // namespace lpt
