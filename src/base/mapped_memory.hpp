// Memory in a file without a name: shared with no one, gone with the mapping, and for its owner to let go page by page.
#pragma once

#include <cstddef>
#include <memory>
#include <new>

#include "src/base/status.hpp"

namespace lpt {

class MappedMemory {
 public:
  // Zeroed, with all its disk space allocated.
  static Status create(const char *directory, size_t bytes, std::shared_ptr<MappedMemory> &out_memory);
  ~MappedMemory();
  MappedMemory(const MappedMemory &) = delete;
  MappedMemory &operator=(const MappedMemory &) = delete;

  std::byte *data() const { return data_; }

  // Hints about [begin, end); none changes what is read. They may fail in silence.
  void will_need(size_t begin, size_t end) const;      // it will be used soon
  void start_writing(size_t begin, size_t end) const;  // it will not be written again soon
  void dont_need(size_t begin, size_t end) const;      // it need not stay in memory; waits until it is written

 private:
  MappedMemory(int file, size_t bytes) : file_(file), bytes_(bytes) {}
  Status map();

  int file_;
  size_t bytes_;
  std::byte *data_ = nullptr;
};

}  // namespace lpt
