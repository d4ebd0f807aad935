// Safetensors files: eight bytes with the length of a JSON header, the header, and the bytes of the tensors.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "digest.hpp"
#include "file.hpp"
#include "header.hpp"

namespace tool {

// The checks without a file, so that tests can pass any bytes. `file` is its name in error messages.
uint64_t check_header_length(const std::string &file, uint64_t file_bytes, std::span<const std::byte> prefix);
Header parse_header(const std::string &file, std::string_view text, uint64_t data_bytes,
                    const HeaderMemory &memory = {});

// Reads the header of a file and adds its bytes to `digest`.
FileHeader read_safetensors(const File &file, const HeaderMemory &memory, Digest &digest);

// Assigns offsets, the widest elements first, so that every tensor is aligned to its element. Tensors of equal width keep their
// order. Sets `begin` and `end` and returns the total bytes.
uint64_t place_tensors(std::vector<StoredTensor> &tensors);

// Returns the bytes before the first tensor: the length and the header, padded with spaces to a multiple of eight bytes.
std::string header_bytes(const std::vector<StoredTensor> &tensors, const std::map<std::string, std::string> &metadata);

}  // namespace tool
