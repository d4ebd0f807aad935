// Safetensors files in memory, valid and invalid.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tool_tests {

// Returns the length, the given header, and the data.
std::string image(std::string_view header, std::string_view data);
std::string image(std::string_view header, size_t data_bytes);
std::string image_with_length(uint64_t length, std::string_view header, std::string_view data);

struct Matrix {
  std::string name;
  int64_t rows = 0;
  int64_t columns = 0;
  std::vector<float> numbers;
};

// Returns normal values from a seed. The deviation differs between rows.
Matrix random_matrix(const std::string &name, int64_t rows, int64_t columns, uint64_t seed);

// Returns a file of f32 tensors, an I64 vector `positions` and an f32 vector `bias`.
std::string checkpoint(const std::vector<Matrix> &matrices);

}  // namespace tool_tests
