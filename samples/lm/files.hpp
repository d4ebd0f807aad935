// Reads and writes complete files.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace lm {

// Throws Error if the file is missing or cannot be read. `what` names the kind of file in the error, for example "checkpoint".
std::vector<uint8_t> read_file(const std::string &what, const std::string &path);

// Writes a temporary file next to `path` and renames it, so that `path` is always the complete old or new file.
void write_file(const std::string &path, std::span<const uint8_t> bytes);
void write_file(const std::string &path, const std::string &text);

// Writes the text to standard output. Throws Error on failure, for example on a full disk.
void write_out(const std::string &text);

}  // namespace lm
