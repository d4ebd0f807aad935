#include "src/plugins/cublas_lt.hpp"

#include <dlfcn.h>

#include "src/base/environment.hpp"
#include "src/plugins/finder.hpp"

namespace lpt::cublas {
namespace {

// With its number: a bare name may be a stub of the toolkit.
constexpr char kFile[] = "libcublasLt.so.13";
constexpr size_t kLeastVersion = 120000;

const char *file_name() {
  const char *const named = variable("LPT_CUBLASLT");
  return named == nullptr ? kFile : named;
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
  const std::string file = file_name();
  if (is_no_regular_file(file)) return file + " is no regular file";
  void *const library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);  // never closed, as CUDA is not
  if (library == nullptr) return dlerror();
  if (const char *missing = find_all(library, out_functions)) return file + " has no " + missing;
  const size_t version = out_functions.version();
  if (version >= kLeastVersion) return {};
  return file + " is of version " + std::to_string(version) + ": expected " + std::to_string(kLeastVersion) +
         " or later";
}

}  // namespace lpt::cublas
