// GGUF files, versions 2 and 3: metadata, the infos of the tensors, and their bytes, each aligned.
//
// https://github.com/ggml-org/ggml/blob/master/docs/gguf.md defines the format.
#pragma once

#include <string>

#include "digest.hpp"
#include "file.hpp"
#include "gguf_stream.hpp"
#include "header.hpp"

namespace tool {

bool is_gguf(std::span<const std::byte> prefix);

// Parses the header without a file, so that tests can pass any bytes. `file` is its name in error messages.
FileHeader parse_gguf(const std::string &file, uint64_t file_bytes, const ReadBytes &read, const HeaderMemory &memory,
                      Digest &digest);

// Reads the header of a file and adds its bytes to `digest`.
FileHeader read_gguf(const File &file, const HeaderMemory &memory, Digest &digest);

}  // namespace tool
