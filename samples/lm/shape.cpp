#include "shape.hpp"

#include <fmt/format.h>

#include "handles.hpp"

namespace lm {

namespace {

void check_positive(const char *name, int64_t value) {
  if (value < 1) {
    throw Error(fmt::format("{} is {}, expected at least 1", name, value));
  }
}

void check_shared(const char *name, int64_t value, int64_t ranks) {
  if (value % ranks != 0) {
    throw Error(fmt::format("{} is {}, expected a multiple of {} ranks, which share every layer", name, value, ranks));
  }
}

}  // namespace

void check_shape(const ModelShape &shape, int64_t ranks) {
  check_positive("width", shape.width);
  check_positive("layers", shape.layers);
  check_positive("heads", shape.heads);
  check_positive("hidden", shape.hidden);
  check_positive("sequence", shape.sequence);
  if (shape.width % (2 * shape.heads) != 0) {
    throw Error(fmt::format("width is {}, expected a multiple of 2 x heads = {}: rotary positions rotate pairs",
                            shape.width, 2 * shape.heads));
  }
  check_shared("heads", shape.heads, ranks);
  check_shared("hidden", shape.hidden, ranks);
  check_shared("bytes", kVocabulary, ranks);
}

}  // namespace lm
