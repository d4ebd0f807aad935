#include "files.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "handles.hpp"

namespace lm {

std::vector<uint8_t> read_file(const std::string &what, const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  if (!file || std::filesystem::is_directory(path)) {
    throw Error(fmt::format("{} {} cannot be opened", what, path));
  }
  std::vector<uint8_t> bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (file.bad()) {
    throw Error(fmt::format("{} {} cannot be read", what, path));
  }
  return bytes;
}

void write_file(const std::string &path, std::span<const uint8_t> bytes) {
  const std::string beside = path + ".new";
  std::FILE *file = std::fopen(beside.c_str(), "wb");
  if (file == nullptr) {
    throw Error(fmt::format("{} cannot be written", beside));
  }
  bool is_written = std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
  is_written = std::fflush(file) == 0 && fsync(fileno(file)) == 0 && is_written;
  is_written = std::fclose(file) == 0 && is_written;
  std::error_code reason;
  if (is_written) {
    std::filesystem::rename(beside, path, reason);
  }
  if (!is_written || reason) {
    std::remove(beside.c_str());
    throw Error(fmt::format("{} cannot be written", path));
  }
}

void write_file(const std::string &path, const std::string &text) {
  write_file(path, {reinterpret_cast<const uint8_t *>(text.data()), text.size()});
}

void write_out(const std::string &text) {
  const bool is_written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
  // A network file system may report a full disk only on close. Closing a duplicate keeps stdout open.
  const int duplicate = is_written ? dup(STDOUT_FILENO) : -1;
  if (!is_written || (duplicate >= 0 && close(duplicate) != 0)) {
    throw Error(fmt::format("standard output cannot be written: {}", std::strerror(errno)));
  }
}

}  // namespace lm
