#include "file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <utility>

#include "error.hpp"

namespace tool {

namespace {

constexpr mode_t kMode = 0644;
constexpr size_t kMostPerCall = size_t{1} << 30;  // Linux transfers at most 2 GiB per call

[[noreturn]] void reject(const std::string &path, const char *what) {
  throw Error(fmt::format("{}: {}: {}", path, what, std::strerror(errno)));
}

int open_or_reject(const std::string &path, int flags) {
  const int descriptor = ::open(path.c_str(), flags | O_CLOEXEC, kMode);
  if (descriptor < 0) reject(path, "cannot be opened");
  return descriptor;
}

// Returns whether text is written directly, as to /dev/stdout or a pipe, instead of to a new file that replaces the path.
bool is_device(const std::string &path) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) return false;
  const bool is_link = S_ISLNK(status.st_mode);
  if (is_link && ::stat(path.c_str(), &status) != 0) status.st_mode = S_IFREG;
  if (S_ISDIR(status.st_mode)) throw Error(fmt::format("{}: is a folder: expected the name of a file", path));
  if (!S_ISREG(status.st_mode)) return true;
  // Neither the link nor its target is replaced.
  if (is_link) throw Error(fmt::format("{}: is a symbolic link: expected the name of a file", path));
  return false;
}

void write_to_device(const std::string &path, std::span<const std::byte> bytes) {
  const int descriptor = open_or_reject(path, O_WRONLY);
  ssize_t put = 0;
  while (!bytes.empty()) {
    put = ::write(descriptor, bytes.data(), std::min(bytes.size(), kMostPerCall));
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) break;
    bytes = bytes.subspan(static_cast<size_t>(put));
  }
  const int reason = errno;
  const bool is_closed = ::close(descriptor) == 0;
  if (!bytes.empty()) errno = reason;
  if (!bytes.empty() || !is_closed) reject(path, "cannot be written");
}

std::string name_beside(const std::string &path) { return fmt::format("{}.{}.new", path, ::getpid()); }

}  // namespace

File::File(File &&other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)), path_(std::move(other.path_)) {}

File &File::operator=(File &&other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(path_, other.path_);
  return *this;
}

File::~File() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

File File::open_to_read(const std::string &path) {
  // Without O_NONBLOCK opening a pipe would wait for a writer.
  File file(open_or_reject(path, O_RDONLY | O_NONBLOCK), path);
  struct stat status {};
  if (::fstat(file.descriptor_, &status) != 0) reject(path, "cannot be looked at");
  if (!S_ISREG(status.st_mode)) throw Error(fmt::format("{}: is no regular file", path));
  return file;
}

File File::open_own(const std::string &path) {
  if (std::filesystem::is_symlink(path)) {
    throw Error(fmt::format("{}: is a symbolic link: expected a regular file", path));
  }
  File file(open_or_reject(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK), path);
  struct stat status {};
  if (::fstat(file.descriptor_, &status) != 0) reject(path, "cannot be inspected");
  if (!S_ISREG(status.st_mode)) throw Error(fmt::format("{}: is not a regular file: expected one", path));
  if (status.st_uid != ::geteuid()) {
    throw Error(fmt::format("{}: belongs to user {}: expected {}", path, status.st_uid, ::geteuid()));
  }
  if (status.st_nlink != 1) throw Error(fmt::format("{}: has {} names: expected one", path, status.st_nlink));
  return file;
}

File File::create_new(const std::string &path) {
  return File(open_or_reject(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW), path);
}

File File::create_beside(const std::string &path) {
  const std::string beside = name_beside(path);
  const int descriptor = ::open(beside.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, kMode);
  if (descriptor < 0) reject(errno == EEXIST ? beside : path, "cannot be written");
  return File(descriptor, path);
}

uint64_t File::size() const {
  struct stat status {};
  if (::fstat(descriptor_, &status) != 0) reject(path_, "cannot be looked at");
  return static_cast<uint64_t>(status.st_size);
}

void File::read(uint64_t offset, std::span<std::byte> bytes) const {
  while (!bytes.empty()) {
    const ssize_t got =
        ::pread(descriptor_, bytes.data(), std::min(bytes.size(), kMostPerCall), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) reject(path_, "cannot be read");
    if (got == 0) {
      throw Error(fmt::format("{}: ends before byte {}: another program shortened it while it was read", path_,
                              offset + bytes.size()));
    }
    bytes = bytes.subspan(static_cast<size_t>(got));
    offset += static_cast<uint64_t>(got);
  }
}

void File::write(uint64_t offset, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t put =
        ::pwrite(descriptor_, bytes.data(), std::min(bytes.size(), kMostPerCall), static_cast<off_t>(offset));
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) reject(path_, "cannot be written");
    bytes = bytes.subspan(static_cast<size_t>(put));
    offset += static_cast<uint64_t>(put);
  }
}

void File::sync() {
  if (::fsync(descriptor_) != 0) reject(path_, "cannot be written");
}

void File::close() {
  const int descriptor = std::exchange(descriptor_, -1);
  if (descriptor >= 0 && ::close(descriptor) != 0) reject(path_, "cannot be written");
}

void File::truncate(uint64_t bytes) {
  if (::ftruncate(descriptor_, static_cast<off_t>(bytes)) != 0) reject(path_, "cannot be written");
}

bool File::try_lock() {
  if (::flock(descriptor_, LOCK_EX | LOCK_NB) == 0) return true;
  if (errno == EWOULDBLOCK) return false;
  reject(path_, "cannot be locked");
}

bool file_exists(const std::string &path) {
  std::error_code ignored;
  return std::filesystem::exists(std::filesystem::symlink_status(path, ignored));
}

void remove_file(const std::string &path) {
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) reject(path, "cannot be removed");
}

void rename_file(const std::string &from, const std::string &to) {
  if (::rename(from.c_str(), to.c_str()) != 0) reject(to, "cannot be written");
  const std::filesystem::path folder = std::filesystem::absolute(to).parent_path();
  const int descriptor = open_or_reject(folder.string(), O_RDONLY | O_DIRECTORY);
  // Some folders do not support fsync().
  const bool is_synced = ::fsync(descriptor) == 0 || errno == EINVAL || errno == ENOTSUP;
  const int reason = errno;
  ::close(descriptor);
  errno = reason;
  if (!is_synced) reject(folder.string(), "cannot be written");
}

std::string read_text(const std::string &path) {
  const File file = File::open_to_read(path);
  std::string text(file.size(), '\0');
  file.read(0, std::as_writable_bytes(std::span(text)));
  return text;
}

void write_text(const std::string &path, const std::string &text) {
  const auto bytes = std::as_bytes(std::span(text));
  if (is_device(path)) return write_to_device(path, bytes);
  const std::string beside = name_beside(path);
  File file = File::create_beside(path);
  try {
    file.write(0, bytes);
    file.sync();
    file.close();
    rename_file(beside, path);
  } catch (const Error &) {
    ::unlink(beside.c_str());
    throw;
  }
}

void check_no_input(const std::string &path, const std::vector<std::string> &inputs) {
  for (const std::string &input : inputs) {
    std::error_code ignored;
    if (std::filesystem::equivalent(path, input, ignored)) {
      throw Error(fmt::format("{}: is the input: expected another file", path));
    }
  }
}

void check_text_target(const std::string &path, const std::vector<std::string> &inputs) {
  if (path.empty()) return;
  check_no_input(path, inputs);
  if (is_device(path)) {
    if (::access(path.c_str(), W_OK) != 0) reject(path, "cannot be written");
    return;
  }
  File::create_beside(path).close();
  remove_file(name_beside(path));
}

}  // namespace tool
