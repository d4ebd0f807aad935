#include "src/base/mapped_memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>

namespace lpt {
namespace {

size_t page_bytes() {
  static const auto bytes = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

// Creates an unnamed file. On file systems without unnamed files it creates a named one and unlinks it.
int open_unnamed(const char *directory) {
  const int file = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (file >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL)) return file;
  std::string path = std::string(directory) + "/lpt-state-XXXXXX";
  const int named = mkostemp(path.data(), O_CLOEXEC);
  if (named >= 0) unlink(path.c_str());
  return named;
}

int take_space(int file, size_t bytes) {
  int error = EINTR;
  while (error == EINTR) error = posix_fallocate(file, 0, static_cast<off_t>(bytes));
  return error;
}

}  // namespace

Status MappedMemory::create(const char *directory, size_t bytes, std::shared_ptr<MappedMemory> &out_memory) {
  const int file = open_unnamed(directory);
  if (file < 0) return invalid("directory '%s' takes no file: %s", directory, std::strerror(errno));
  MappedMemory *memory = new (std::nothrow) MappedMemory(file, std::max(bytes, page_bytes()));
  if (memory == nullptr) {
    close(file);
    return Status(LPT_OUT_OF_MEMORY, "out of memory");
  }
  std::shared_ptr<MappedMemory> owner(memory);  // owns it even if this throws
  if (const int error = take_space(file, memory->bytes_); error != 0) {
    return Status(LPT_OUT_OF_MEMORY, text("directory '%s' has no space for %zu bytes: %s", directory, memory->bytes_,
                                          std::strerror(error)));
  }
  LPT_TRY(memory->map());
  out_memory = std::move(owner);
  return {};
}

Status MappedMemory::map() {
  void *data = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
  if (data == MAP_FAILED) {
    return Status(LPT_OUT_OF_MEMORY, text("%zu bytes of a file cannot be mapped: %s", bytes_, std::strerror(errno)));
  }
  data_ = static_cast<std::byte *>(data);
  return {};
}

MappedMemory::~MappedMemory() {
  if (data_ != nullptr) munmap(data_, bytes_);
  close(file_);
}

void MappedMemory::will_need(size_t begin, size_t end) const {
  begin -= begin % page_bytes();
  end = std::min(end, bytes_);
  if (begin < end) madvise(data_ + begin, end - begin, MADV_WILLNEED);
}

void MappedMemory::start_writing(size_t begin, size_t end) const {
  end = std::min(end, bytes_);
  if (begin < end) {
    sync_file_range(file_, static_cast<off_t>(begin), static_cast<off_t>(end - begin), SYNC_FILE_RANGE_WRITE);
  }
}

// A page that extends beyond `end` belongs to the next range. Unwritten pages stay valid in the system's page cache:
// MADV_DONTNEED drops the mapping, not the content.
void MappedMemory::dont_need(size_t begin, size_t end) const {
  begin -= begin % page_bytes();
  end = end >= bytes_ ? bytes_ : end - end % page_bytes();
  if (begin >= end) return;
  madvise(data_ + begin, end - begin, MADV_DONTNEED);
  const auto offset = static_cast<off_t>(begin);
  const auto length = static_cast<off_t>(end - begin);
  sync_file_range(file_, offset, length,
                  SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER);
  posix_fadvise(file_, offset, length, POSIX_FADV_DONTNEED);
}

}  // namespace lpt
