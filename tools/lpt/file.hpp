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

  static File open_to_read(const std::string &path);  // a regular file
  // A regular file of this user that has no second name: a link that somebody else planted is an Error.
  static File open_own(const std::string &path);
  static File create_new(const std::string &path);  // an Error if the name exists, even as a link
  // A new file that will replace `path`, under another name; errors name `path`.
  static File create_beside(const std::string &path);

  const std::string &path() const { return path_; }
  uint64_t size() const;

  void read(uint64_t offset, std::span<std::byte> bytes) const;  // all of them, or an Error
  void write(uint64_t offset, std::span<const std::byte> bytes);
  void sync();
  void close();  // reports what a file system rejects only here
  void truncate(uint64_t bytes);
  bool try_lock();  // false when another process holds the lock

 private:
  File(int descriptor, std::string path) : descriptor_(descriptor), path_(std::move(path)) {}

  int descriptor_ = -1;
  std::string path_;
};

bool file_exists(const std::string &path);  // also as a link that leads nowhere
void remove_file(const std::string &path);
void rename_file(const std::string &from, const std::string &to);  // and makes it last: the folder is synced
std::string read_text(const std::string &path);

// Replaces a regular file in one step, or writes into a device or pipe. A symbolic link to a file is an Error.
void write_text(const std::string &path, const std::string &text);
// Throws what write_text() would throw, before any work is done, or if `path` is `input`. An empty path is no target.
void check_text_target(const std::string &path, const std::string &input = "");

}  // namespace tool
