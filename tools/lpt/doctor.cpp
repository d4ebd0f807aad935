#include "doctor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <thread>
#include <unordered_set>

#include "handles.hpp"
#include "text.hpp"

namespace tool {

namespace {

constexpr int64_t kExtent = 256;  // full blocks in every preset

// Features that kernels of the library require, and some that later ones may require.
constexpr const char *kFeatures[] = {"avx2",     "fma",        "f16c",        "avx512f",     "avx512bw",    "avx512vl",
                                     "avx512dq", "avx512vbmi", "avx512_vnni", "avx512_bf16", "avx512_fp16", "gfni",
                                     "avx_vnni", "amx_tile",   "amx_bf16",    "amx_int8"};

// Returns the value of `key` in /proc/cpuinfo, "" if missing.
std::string cpu_field(const std::string &key) {
  std::ifstream list("/proc/cpuinfo");
  for (std::string line; std::getline(list, line);) {
    const size_t colon = line.find(':');
    if (line.starts_with(key) && colon != std::string::npos && colon + 2 <= line.size()) return line.substr(colon + 2);
  }
  return "";
}

std::string features_text() {
  std::istringstream words(cpu_field("flags"));
  std::unordered_set<std::string> there;
  for (std::string word; words >> word;) there.insert(word);
  if (there.empty()) return "unknown: /proc/cpuinfo lists none";
  std::string has, lacks;
  for (const char *feature : kFeatures) {
    std::string &text = there.contains(feature) ? has : lacks;
    text += text.empty() ? feature : std::string(" ") + feature;
  }
  return fmt::format("{}{}", has.empty() ? "none of interest" : has, lacks.empty() ? "" : "; lacks " + lacks);
}

class Choices {
 public:
  explicit Choices(lpt_context *context) : context_(context) {}

  std::string quantize(lpt_format source, lpt_format target) const {
    const Tensor from = wrap_matrix(context_, source, nullptr, kExtent, kExtent);
    const Tensor to = make_matrix(context_, target, kExtent, kExtent);
    lpt_quantize_options options = LPT_QUANTIZE_OPTIONS_INIT;
    options.flags = LPT_CHECK_ONLY;
    return chosen_rows(context_, lpt_quantize(context_, from.get(), &options, to.get(), nullptr));
  }

  std::string dequantize(lpt_format source) const {
    const Tensor from = make_matrix(context_, source, kExtent, kExtent);
    const Tensor to = wrap_matrix(context_, LPT_FORMAT_F32, nullptr, kExtent, kExtent);
    lpt_dequantize_options options = LPT_DEQUANTIZE_OPTIONS_INIT;
    options.flags = LPT_CHECK_ONLY;
    return chosen_rows(context_, lpt_dequantize(context_, from.get(), &options, to.get()));
  }

  // Input times weight as in a linear layer: both have their blocks along k.
  std::string gemm(lpt_format format) const {
    const Tensor operand = make_matrix(context_, format, kExtent, kExtent);
    const Tensor result = wrap_matrix(context_, LPT_FORMAT_F32, nullptr, kExtent, kExtent);
    lpt_gemm_options options = LPT_GEMM_OPTIONS_INIT;
    options.flags = LPT_CHECK_ONLY;
    options.is_b_transposed = 1;
    return chosen_rows(context_, lpt_gemm(context_, operand.get(), operand.get(), &options, result.get()));
  }

 private:
  lpt_context *context_;
};

std::string library_text() {
  return fmt::format(
      "library\n  release   {} (binary interface {}), this program was built for {}.{}.{}\n  build     {}\n",
      lpt_version_string(), lpt_abi_level(), LPT_VERSION_MAJOR, LPT_VERSION_MINOR, LPT_VERSION_PATCH, lpt_build_info());
}

std::string machine_text() {
  const std::string model = cpu_field("model name");
  return fmt::format("\nmachine\n  CPU {}, {} threads\n  features  {}\n", model.empty() ? "of unknown name" : model,
                     std::thread::hardware_concurrency(), features_text());
}

std::string isas_text(lpt_context *context) {
  std::string text = "\ninstruction sets with kernels of their own\n";
  for (const NamedIsa &isa : kIsas) {
    const bool is_usable = lpt_context_set_isa(context, isa.isa) == LPT_OK;
    text += fmt::format("  {:<16}  {}\n", isa.name, is_usable ? "usable" : escaped(lpt_context_error(context)));
  }
  check(context, lpt_context_set_isa(context, LPT_ISA_AUTO));
  return text;
}

std::string device_line(lpt_device device, int32_t index, const lpt_device_info &facts) {
  const std::string name = device == LPT_DEVICE_CPU ? "cpu" : fmt::format("cuda:{}", index);
  if (facts.is_usable == 0) return fmt::format("  {:<8}  not usable: {}\n", name, escaped(facts.reason));
  std::string text = fmt::format("  {:<8}  {}", name, facts.name);
  if (device != LPT_DEVICE_CPU) {
    text += fmt::format(", compute capability {}.{}", facts.capability_major, facts.capability_minor);
  }
  const char *const unit = device == LPT_DEVICE_CPU ? "cores" : "multiprocessors";
  return text + fmt::format(", {} {}, {:.1f} GiB\n", facts.processor_count, unit,
                            static_cast<double>(facts.memory_bytes) / (1 << 30));
}

std::string choices_text(lpt_context *context) {
  const Choices choices(context);
  Table table({"format", "quantize from f32", "quantize from bf16", "dequantize to f32", "gemm to f32"}, 5);
  for (int64_t i = 0; i < lpt_format_count(); ++i) {
    const lpt_format format = lpt_format_at(i);
    table.add({format_name(format), choices.quantize(LPT_FORMAT_F32, format), choices.quantize(LPT_FORMAT_BF16, format),
               choices.dequantize(format), choices.gemm(format)});
  }
  return fmt::format("\nkernels that would run, for {0} x {0} matrices; one that ends in _ref is the plain one\n{1}",
                     kExtent, table.text());
}

}  // namespace

std::string doctor_report() {
  const Context context = make_context(0);
  return library_text() + machine_text() + isas_text(context.get()) + "\ndevices\n" + devices_report() +
         choices_text(context.get());
}

std::string devices_report() {
  std::string text;
  for (const lpt_device device : {LPT_DEVICE_CPU, LPT_DEVICE_CUDA}) {
    int32_t count = 1;  // index 0 returns the number of devices, or the reason why there is none
    for (int32_t index = 0; index < count; ++index) {
      lpt_device_info facts = LPT_DEVICE_INFO_INIT;
      if (lpt_device_describe(nullptr, device, index, &facts) != LPT_OK) break;
      text += device_line(device, index, facts);
      count = facts.count;
    }
  }
  return text;
}

}  // namespace tool
