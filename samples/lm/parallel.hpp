// The rank of a process or thread in data, tensor and sequence parallelism. Every loader and model uses it.
#pragma once

#include <cstdint>

namespace lm {

class DataRanks;
class SequenceRanks;
class TensorRanks;

struct Parallel {
  int64_t rank = 0;   // from 0 to ranks - 1
  int64_t ranks = 1;  // that train one model on slices of the same batch

  // Communicators; nullptr: a single rank. Must outlive their users.
  DataRanks *data = nullptr;          // ranks with the same shards, which share the batch
  TensorRanks *tensor = nullptr;      // ranks that share every layer
  SequenceRanks *sequence = nullptr;  // those of `data` that divide the same windows by positions
};

}  // namespace lm
