#include "src/plugins/cublas_lt.hpp"

#include <dlfcn.h>

#include "src/base/environment.hpp"
#include "src/plugins/finder.hpp"

namespace lpt::cublas {
namespace {

// File names with the major version: libcublasLt.so may be the import library of the toolkit, which has no code.
constexpr char kFile[] = "libcublasLt.so.13", kOlderFile[] = "libcublasLt.so.12";
constexpr size_t kLeastVersion = 120000;

// Opens the file that LPT_CUBLASLT names, otherwise the newest version that exists. Never closed, like CUDA. On failure it
// returns NULL and the reason in out_error.
void *open_file(std::string &out_file, std::string &out_error) {
  const char *const named = variable("LPT_CUBLASLT");
  out_file = named != nullptr ? named : kFile;
  if (is_no_regular_file(out_file)) {
    out_error = out_file + " is no regular file";
    return nullptr;
  }
  void *library = dlopen(out_file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) out_error = dlerror();
  if (library != nullptr || named != nullptr) return library;
  library = dlopen(kOlderFile, RTLD_NOW | RTLD_LOCAL);
  if (library != nullptr) out_file = kOlderFile;
  return library;
}

const char *find_all(void *library, Functions &functions) {
  Finder finder(library);
  finder.find("cublasLtGetVersion", functions.version);
  finder.find("cublasLtGetStatusName", functions.status_name);
  finder.find("cublasLtCreate", functions.create);
  finder.find("cublasLtDestroy", functions.destroy);
  finder.find("cublasLtMatmulDescCreate", functions.create_description);
  finder.find("cublasLtMatmulDescDestroy", functions.destroy_description);
  finder.find("cublasLtMatmulDescSetAttribute", functions.describe);
  finder.find("cublasLtMatrixLayoutCreate", functions.create_layout);
  finder.find("cublasLtMatrixLayoutDestroy", functions.destroy_layout);
  finder.find("cublasLtMatmulPreferenceCreate", functions.create_preference);
  finder.find("cublasLtMatmulPreferenceDestroy", functions.destroy_preference);
  finder.find("cublasLtMatmulPreferenceSetAttribute", functions.prefer);
  finder.find("cublasLtMatmulAlgoGetHeuristic", functions.find);
  finder.find("cublasLtMatmulAlgoCheck", functions.check);
  finder.find("cublasLtMatmul", functions.multiply);
  return finder.missing();
}

}  // namespace

int32_t type_of(lpt_format element) {
  switch (element) {
    case LPT_FORMAT_F16:
      return kF16;
    case LPT_FORMAT_BF16:
      return kBf16;
    case LPT_FORMAT_E4M3FN:
      return kE4m3fn;
    case LPT_FORMAT_E5M2:
      return kE5m2;
    case LPT_FORMAT_E2M1FN:
      return kE2m1fn;
    case LPT_FORMAT_INT8:
      return kInt8;
    default:
      return kF32;
  }
}

std::string open(Functions &out_functions) {
  std::string file, error;
  void *const library = open_file(file, error);
  if (library == nullptr) return error;
  if (const char *missing = find_all(library, out_functions)) return file + " has no " + missing;
  const size_t version = out_functions.version();
  if (version >= kLeastVersion) return {};
  return file + " is of version " + std::to_string(version) + ": expected " + std::to_string(kLeastVersion) +
         " or later";
}

}  // namespace lpt::cublas
