// Files with positional reads and writes. No contents are kept in memory, and every error names the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tool {

class File {
 public:
  File() = default;
  File(File &&other) noexcept;
  File &operator=(File &&other) noexcept;
  ~File();

  static File open_to_read(const std::string &path);  // a regular file
  // Opens a regular file of this user with a single name. A link created by another user is an Error.
  static File open_own(const std::string &path);
  static File create_new(const std::string &path);  // an Error if the name exists, even as a link
  // Creates a new file with another name that will replace `path`. Errors name `path`.
  static File create_beside(const std::string &path);

  const std::string &path() const { return path_; }
  uint64_t size() const;

  void read(uint64_t offset, std::span<std::byte> bytes) const;  // all of them, or an Error
  void write(uint64_t offset, std::span<const std::byte> bytes);
  void sync();
  void close();  // reports errors that a file system returns only on close
  void truncate(uint64_t bytes);
  bool try_lock();  // false if another process has the lock

 private:
  File(int descriptor, std::string path) : descriptor_(descriptor), path_(std::move(path)) {}

  int descriptor_ = -1;
  std::string path_;
};

bool file_exists(const std::string &path);  // also for a dangling link
void remove_file(const std::string &path);
void rename_file(const std::string &from, const std::string &to);  // durable: syncs the folder
std::string read_text(const std::string &path);

// Replaces a regular file atomically, or writes to a device or pipe. A symbolic link to a file is an Error.
void write_text(const std::string &path, const std::string &text);
// Throws the errors of write_text() before any work, or if `path` is one of `inputs`. An empty path is no target.
void check_text_target(const std::string &path, const std::vector<std::string> &inputs = {});
// Throws Error if `path` is one of `inputs`, which may be links.
void check_no_input(const std::string &path, const std::vector<std::string> &inputs);

}  // namespace tool
