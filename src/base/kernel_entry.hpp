// One list per family: everything that can run is a row, fastest first, the reference last.
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
  const char *(*unsupported_reason)(const Request &);  // a phrase, or nullptr: it will run
  void (*run)(const Request &);
};

}  // namespace lpt
