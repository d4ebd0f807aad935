// Memory of an unnamed file: not shared, freed with the mapping, and evicted by its owner page by page.
#pragma once

#include <cstddef>
#include <memory>
#include <new>

#include "src/base/status.hpp"

namespace lpt {

class MappedMemory {
 public:
  // Creates zeroed memory with all its disk space allocated.
  static Status create(const char *directory, size_t bytes, std::shared_ptr<MappedMemory> &out_memory);
  ~MappedMemory();
  MappedMemory(const MappedMemory &) = delete;
  MappedMemory &operator=(const MappedMemory &) = delete;

  std::byte *data() const { return data_; }

  // Hints about [begin, end). They do not change the content, and their errors are ignored.
  void will_need(size_t begin, size_t end) const;      // the range will be used soon
  void start_writing(size_t begin, size_t end) const;  // the range will not be written soon
  void dont_need(size_t begin, size_t end) const;      // the range is not needed in memory; waits until it is written

 private:
  MappedMemory(int file, size_t bytes) : file_(file), bytes_(bytes) {}
  Status map();

  int file_;
  size_t bytes_;
  std::byte *data_ = nullptr;
};

}  // namespace lpt
