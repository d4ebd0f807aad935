// A library that no program must open.
#include <cstdio>

namespace {

struct Planted {
  Planted() { std::printf("the planted plugin was opened\n"), std::fflush(stdout); }
} planted;

}  // namespace
