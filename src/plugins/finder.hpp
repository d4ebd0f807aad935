// Functions of a library that was opened by its name.
#pragma once

#include <dlfcn.h>

namespace lpt {

// Finds functions by name and records the first missing name.
class Finder {
 public:
  explicit Finder(void *library) : library_(library) {}

  template <typename Function>
  void find(const char *name, Function &out_function) {
    out_function = reinterpret_cast<Function>(dlsym(library_, name));
    if (out_function == nullptr && missing_ == nullptr) missing_ = name;
  }
  const char *missing() const { return missing_; }

 private:
  void *library_;
  const char *missing_ = nullptr;
};

}  // namespace lpt
