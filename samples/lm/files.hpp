// Whole files in and out.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace lm {

// Throws Error when the file is missing or cannot be read; `what` says what it is to be, such as "checkpoint".
std::vector<uint8_t> read_file(const std::string &what, const std::string &path);

// Writes beside `path` first and renames at the end: the old file or the new one is there, whole, at every moment.
void write_file(const std::string &path, std::span<const uint8_t> bytes);
void write_file(const std::string &path, const std::string &text);

// Writes all of it to standard output. Throws Error where that fails, such as on a full disk.
void write_out(const std::string &text);

}  // namespace lm
