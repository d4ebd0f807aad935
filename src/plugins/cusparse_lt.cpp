#include "src/plugins/cusparse_lt.hpp"

#include "src/base/environment.hpp"
#include "src/plugins/finder.hpp"

namespace lpt::cusparse {
namespace {

constexpr char kFile[] = "libcusparseLt.so.0";

const char *file_name() {
  const char *const named = variable("LPT_CUSPARSELT");
  return named == nullptr ? kFile : named;
}

const char *find_all(void *library, Functions &functions) {
  Finder finder(library);
  finder.find("cusparseLtGetProperty", functions.property);
  finder.find("cusparseLtGetErrorName", functions.status_name);
  finder.find("cusparseLtInit", functions.create);
  finder.find("cusparseLtDestroy", functions.destroy);
  finder.find("cusparseLtDenseDescriptorInit", functions.create_dense);
  finder.find("cusparseLtStructuredDescriptorInit", functions.create_sparse);
  finder.find("cusparseLtMatDescriptorDestroy", functions.destroy_matrix);
  finder.find("cusparseLtMatmulDescriptorInit", functions.create_description);
  finder.find("cusparseLtMatmulAlgSelectionInit", functions.select);
  finder.find("cusparseLtMatmulPlanInit", functions.create_plan);
  finder.find("cusparseLtMatmulPlanDestroy", functions.destroy_plan);
  finder.find("cusparseLtMatmulGetWorkspace", functions.workspace);
  finder.find("cusparseLtSpMMACompressedSize", functions.compressed);
  finder.find("cusparseLtSpMMACompress", functions.compress);
  finder.find("cusparseLtMatmul", functions.multiply);
  const char *const missing = finder.missing();
  finder.find("cusparseLtMatmulAlgSelectionDestroy", functions.destroy_selection);
  return missing;
}

// Reads the version before structs are passed to the library: this call needs none.
std::string read_version(const std::string &file, const Functions &functions, int64_t &out_version) {
  int32_t major = 0, minor = 0, patch = 0;
  const bool is_reported = functions.property(kMajor, &major) == kSuccess &&
                           functions.property(kMinor, &minor) == kSuccess &&
                           functions.property(kPatch, &patch) == kSuccess;
  if (!is_reported) return file + " does not tell its version";
  out_version = int64_t{major} * 1000000 + minor * 100 + patch;
  if (out_version >= kLeastVersion && out_version <= kMostVersion) return {};
  return file + " is of version " + std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch) +
         ": expected 0.7 to 0.10, whose structs are known";
}

}  // namespace

std::string open(Functions &out_functions, int64_t &out_version) {
  const std::string file = file_name();
  if (is_no_regular_file(file)) return file + " is no regular file";
  void *const library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);  // never closed, like CUDA
  if (library == nullptr) return dlerror();
  const char *const missing = find_all(library, out_functions);
  if (missing != nullptr) return file + " has no " + missing;
  return read_version(file, out_functions, out_version);
}

}  // namespace lpt::cusparse
