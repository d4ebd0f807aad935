// Ways of cuBLASLt that were found fastest, kept in a file of the folder that LPT_GEMM_CHOICES names: one for each GPU and
// version of the library, since a way means nothing to another. Without the variable nothing is read or written.
#pragma once

#include <map>
#include <string>

#include "kernels/gemm/library.hpp"
#include "src/plugins/cublas_lt.hpp"

namespace lpt::cublas {

class Choices {
 public:
  // Reads what is there for the current device; lines that are none are passed over.
  void open(int64_t version);

  bool find(const LibraryGemm &gemm, Algorithm &out_algorithm) const;

  // Adds a line to the file. One that cannot be written is found again next time.
  void keep(const LibraryGemm &gemm, const Algorithm &algorithm);

 private:
  std::string path_;  // empty: none
  std::map<std::string, Algorithm> known_;
};

}  // namespace lpt::cublas
