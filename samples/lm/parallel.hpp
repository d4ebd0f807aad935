// Which part of the work this rank does. Every loader and model takes it.
#pragma once

#include <cstdint>

namespace lm {

class DataRanks;
class TensorRanks;

struct Parallel {
  int64_t rank = 0;   // from 0 to ranks - 1
  int64_t ranks = 1;  // that train one model on shares of the same batch

  // What they say to each other; nullptr: there is one. Borrowed.
  DataRanks *data = nullptr;      // ranks of the same shards, which share the batch
  TensorRanks *tensor = nullptr;  // ranks that share every layer
};

}  // namespace lm
