// Algorithms of cuBLASLt that were measured as fastest, stored in a file of the directory that LPT_GEMM_CHOICES names. Each GPU
// and library version has a separate file, since algorithms are valid for one version only. Without the variable nothing is
// read or written.
#pragma once

#include <map>
#include <string>

#include "kernels/gemm/library.hpp"
#include "src/plugins/cublas_lt.hpp"

namespace lpt::cublas {

class Choices {
 public:
  // Reads the file of the current device, if it exists. Invalid lines are skipped.
  void open(int64_t version);

  bool find(const LibraryGemm &gemm, Algorithm &out_algorithm) const;

  // Appends a line to the file. An algorithm that cannot be written is measured in the next run.
  void keep(const LibraryGemm &gemm, const Algorithm &algorithm);

 private:
  std::string path_;  // empty: no file
  std::map<std::string, Algorithm> known_;
};

}  // namespace lpt::cublas
