#include "verify.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <map>

#include "handles.hpp"
#include "text.hpp"
#include "vectors.hpp"
#include "verify_casts.hpp"
#include "verify_elements.hpp"

namespace tool {

namespace {

constexpr const char *kSources = "cast_sources";
constexpr const char *kExample = "mxfp8_e4m3";
constexpr int64_t kExampleExtent = 256;

using Files = std::map<std::string, std::string>;  // paths, sorted by name

Files files_in(const std::string &folder) {
  Files files;
  std::error_code problem;
  for (const auto &entry : std::filesystem::directory_iterator(folder, problem)) {
    if (entry.path().extension() == ".csv") files[entry.path().stem().string()] = entry.path().string();
  }
  if (files.empty()) {
    throw Error(fmt::format("{}: holds no conformance vectors: expected files such as e4m3fn.csv", folder));
  }
  return files;
}

// The columns determine the kind of the rows.
void replay(lpt_context *context, const std::string &name, const Files &files, Report &report) {
  const Vectors vectors = read_vectors(files.at(name));
  if (vectors.header == "code,f32_bits") return verify_codes(context, name, vectors, report);
  if (vectors.header == "element,code,f32_bits") return verify_custom_codes(context, name, vectors, report);
  if (vectors.header == "set,element,digest") return verify_digests(context, name, vectors, report);
  if (vectors.header == "format,rule,rounding,random,source,oracle,tensor_scale,scales,zero_points,codes") {
    if (!files.contains(kSources)) throw Error(fmt::format("there is no {}.csv beside {}.csv", kSources, name));
    return verify_casts(context, name, vectors, read_vectors(files.at(kSources)), report);
  }
  if (vectors.header == "format,rule,rounding,random,set,tensor_scale,scale_digest,zero_point_digest,code_digest") {
    return verify_cast_digests(context, name, vectors, report);
  }
  if (name != kSources) report.leave_out(name + ".csv");
}

// Returns the kernels of an example cast, as an indication of the selected kernels.
std::string example_rows(lpt_context *context) {
  const Tensor from = wrap_matrix(context, LPT_FORMAT_F32, nullptr, kExampleExtent, kExampleExtent);
  const Tensor to = make_matrix(context, find_format(kExample), kExampleExtent, kExampleExtent);
  lpt_quantize_options options = LPT_QUANTIZE_OPTIONS_INIT;
  options.flags = LPT_CHECK_ONLY;
  return chosen_rows(context, lpt_quantize(context, from.get(), &options, to.get(), nullptr));
}

}  // namespace

std::string installed_vectors() {
  std::error_code problem;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", problem);
  return problem ? "" : (program.parent_path().parent_path() / "share" / "lpt" / "conformance").string();
}

int64_t verify(const VerifyOptions &options) {
  const Files files = files_in(options.folder);
  const Context context = make_context(0);
  for (const NamedIsa &isa : kIsas) {
    if (options.isa == isa.name) check(context.get(), lpt_context_set_isa(context.get(), isa.isa));
  }
  print_out("{}; for {} casts by {}\n", lpt_build_info(), kExample, example_rows(context.get()));
  Report report;
  for (const auto &file : files) {
    try {
      replay(context.get(), file.first, files, report);
    } catch (const std::exception &error) {
      Tally tally;
      tally.add(false, error.what());
      report.add(file.first, tally);
    }
  }
  return report.end();
}

}  // namespace tool
