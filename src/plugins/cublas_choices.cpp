#include "src/plugins/cublas_choices.hpp"

#include <cuda_runtime_api.h>

#include <cctype>
#include <cinttypes>
#include <cstdio>
#include <fstream>
#include <sstream>

#include "src/base/environment.hpp"

namespace lpt::cublas {
namespace {

// Returns the name of the current device for file names: "NVIDIA-H200" for "NVIDIA H200".
std::string name_of_device() {
  int device = 0;
  cudaDeviceProp facts;
  if (cudaGetDevice(&device) != cudaSuccess || cudaGetDeviceProperties(&facts, device) != cudaSuccess) return {};
  std::string name = facts.name;
  for (char &character : name) character = std::isalnum(static_cast<unsigned char>(character)) != 0 ? character : '-';
  return name;
}

std::string text_of(const LibraryOperand &operand) {
  std::ostringstream words;
  words << operand.element << ',' << static_cast<int32_t>(operand.scales) << ',' << operand.rows << ','
        << operand.columns << ',' << operand.stride << ',' << operand.is_transposed << ',' << operand.boundary;
  return words.str();
}

// Returns all parameters of a GEMM as one word.
std::string text_of(const LibraryGemm &gemm) {
  std::ostringstream words;
  words << gemm.m << ',' << gemm.n << ',' << gemm.k << ';' << text_of(gemm.a) << ';' << text_of(gemm.b) << ';' << gemm.c
        << ',' << gemm.is_integer << ',' << gemm.has_factors << ',' << gemm.has_bias << ',' << gemm.reads_c << ','
        << gemm.boundary << ',' << gemm.c_stride << (gemm.is_fast ? ",fast" : "");
  return words.str();
}

bool read_line(const std::string &line, std::string &out_gemm, Algorithm &out_algorithm) {
  std::istringstream words(line);
  words >> out_gemm >> std::hex;
  for (uint64_t &word : out_algorithm.words) words >> word;
  return !words.fail();
}

}  // namespace

void Choices::open(int64_t version) {
  const char *const folder = variable("LPT_GEMM_CHOICES");
  const std::string device = name_of_device();
  if (folder == nullptr || device.empty()) return;
  path_ = std::string(folder) + "/cublaslt-" + std::to_string(version) + "-" + device + ".txt";
  if (is_no_regular_file(path_)) path_.clear();
  std::ifstream file(path_);
  std::string line, gemm;
  Algorithm algorithm;
  while (std::getline(file, line)) {
    if (read_line(line, gemm, algorithm)) known_[gemm] = algorithm;
  }
}

bool Choices::find(const LibraryGemm &gemm, Algorithm &out_algorithm) const {
  const auto known = known_.find(text_of(gemm));
  if (known == known_.end()) return false;
  out_algorithm = known->second;
  return true;
}

void Choices::keep(const LibraryGemm &gemm, const Algorithm &algorithm) {
  if (path_.empty()) return;
  known_[text_of(gemm)] = algorithm;
  std::ostringstream line;
  line << text_of(gemm) << std::hex;
  for (const uint64_t word : algorithm.words) line << ' ' << word;
  std::ofstream file(path_, std::ios::app);
  file << line.str() + '\n';
}

}  // namespace lpt::cublas
