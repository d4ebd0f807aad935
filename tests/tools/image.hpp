// Safetensors files made in memory, good ones and bad ones.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tool_tests {

// The length, the header as it is given, and the data.
std::string image(std::string_view header, std::string_view data);
std::string image(std::string_view header, size_t data_bytes);
std::string image_with_length(uint64_t length, std::string_view header, std::string_view data);

struct Matrix {
  std::string name;
  int64_t rows = 0;
  int64_t columns = 0;
  std::vector<float> numbers;
};

// Normal numbers with a spread that differs from row to row, from a seed.
Matrix random_matrix(const std::string &name, int64_t rows, int64_t columns, uint64_t seed);

// A file of f32 tensors; an I64 vector `positions` and an f32 vector `bias` come with them.
std::string checkpoint(const std::vector<Matrix> &matrices);

}  // namespace tool_tests
