// Files by position: nothing is held in memory, and every failure names the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace tool {

class File {
 public:
  File() = default;
  File(File &&other) noexcept;
  File &operator=(File &&other) noexcept;
  ~File();

  static File open_to_read(const std::string &path);   // a regular file
  static File open_to_write(const std::string &path);  // made if missing; kept as it is if there
  static File create(const std::string &path);         // emptied if there

  const std::string &path() const { return path_; }
  uint64_t size() const;

  void read(uint64_t offset, std::span<std::byte> bytes) const;  // all of them, or an Error
  void write(uint64_t offset, std::span<const std::byte> bytes);
  void sync();
  void truncate(uint64_t bytes);
  bool try_lock();  // false when another process holds the lock

 private:
  File(int descriptor, std::string path) : descriptor_(descriptor), path_(std::move(path)) {}

  int descriptor_ = -1;
  std::string path_;
};

bool file_exists(const std::string &path);
void remove_file(const std::string &path);
void rename_file(const std::string &from, const std::string &to);  // and makes it last: the folder is synced
std::string read_text(const std::string &path);
void write_text(const std::string &path, const std::string &text);  // beside first, then renamed

}  // namespace tool
