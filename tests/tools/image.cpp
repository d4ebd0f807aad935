#include "image.hpp"

#include <fmt/format.h>

#include <cmath>
#include <random>

namespace tool_tests {

std::string image_with_length(uint64_t length, std::string_view header, std::string_view data) {
  std::string bytes;
  for (int i = 0; i < 8; ++i) bytes += static_cast<char>(length >> (8 * i) & 0xFFu);
  return bytes.append(header).append(data);
}

std::string image(std::string_view header, std::string_view data) {
  return image_with_length(header.size(), header, data);
}

std::string image(std::string_view header, size_t data_bytes) { return image(header, std::string(data_bytes, '\1')); }

Matrix random_matrix(const std::string &name, int64_t rows, int64_t columns, uint64_t seed) {
  std::mt19937_64 engine(seed);
  std::normal_distribution<float> normal;
  Matrix matrix{name, rows, columns, {}};
  for (int64_t row = 0; row < rows; ++row) {
    const float spread = std::exp2(static_cast<float>(row % 7) - 5.0f);
    for (int64_t column = 0; column < columns; ++column) matrix.numbers.push_back(spread * normal(engine));
  }
  return matrix;
}

std::string checkpoint(const std::vector<Matrix> &matrices) {
  std::string header = R"({"__metadata__":{"format":"pt"},)";
  std::string data;
  for (const Matrix &matrix : matrices) {
    const size_t begin = data.size();
    data.append(reinterpret_cast<const char *>(matrix.numbers.data()), matrix.numbers.size() * sizeof(float));
    header += fmt::format(R"("{}":{{"dtype":"F32","shape":[{},{}],"data_offsets":[{},{}]}},)", matrix.name, matrix.rows,
                          matrix.columns, begin, data.size());
  }
  const size_t bias = data.size();
  const float numbers[5] = {0.5f, -1.0f, 0.0f, 2.0f, 3.0f};
  data.append(reinterpret_cast<const char *>(numbers), sizeof numbers);
  const size_t positions = data.size();
  const int64_t places[3] = {0, 1, 2};
  data.append(reinterpret_cast<const char *>(places), sizeof places);
  header += fmt::format(R"("bias":{{"dtype":"F32","shape":[5],"data_offsets":[{},{}]}},)", bias, positions);
  header +=
      fmt::format(R"("positions":{{"dtype":"I64","shape":[1,3],"data_offsets":[{},{}]}}}})", positions, data.size());
  return image(header, data);
}

}  // namespace tool_tests
