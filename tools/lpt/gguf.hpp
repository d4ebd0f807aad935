// GGUF files, versions 2 and 3: metadata, the infos of the tensors, and their bytes, each aligned.
//
// https://github.com/ggml-org/ggml/blob/master/docs/gguf.md defines the format.
#pragma once

#include <string>
#include <vector>

#include "digest.hpp"
#include "file.hpp"
#include "gguf_stream.hpp"
#include "header.hpp"

namespace tool {

bool is_gguf(std::span<const std::byte> prefix);

// A part of a model that llama.cpp has split. The first part has the metadata of the model.
struct GgufPart {
  uint64_t number = 0;   // from 0
  uint64_t count = 1;    // parts of the model
  uint64_t tensors = 0;  // of all parts; 0: unknown
};

// Reads split.no, split.count and split.tensors.count. Throws Error if they are not numbers of a part.
GgufPart part_of_gguf(const std::string &file, const Header &header);

// Returns the names of all parts, as name-00002-of-00003.gguf. `first` is that of the first part.
std::vector<std::string> names_of_parts(const std::string &first, uint64_t count);

// Parses the header without a file, so that tests can pass any bytes. `file` is its name in error messages.
FileHeader parse_gguf(const std::string &file, uint64_t file_bytes, const ReadBytes &read, const HeaderMemory &memory,
                      Digest &digest);

// Reads the header of a file and adds its bytes to `digest`.
FileHeader read_gguf(const File &file, const HeaderMemory &memory, Digest &digest);

}  // namespace tool
