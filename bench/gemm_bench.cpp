// lpt_gemm beside oneDNN, one thread, as GFLOP/s and as a share of the machine's own peak of the same run.
//
//   gemm_bench [--json]
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bench/peaks.hpp"
#include "lpt.h"

#if defined(LPT_BENCH_ONEDNN)
#include <omp.h>

#include <oneapi/dnnl/dnnl.hpp>
#endif

namespace lpt::bench {
namespace {

constexpr int kLeastRuns = 7;
constexpr double kSecondsEach = 0.3;

struct Shape {
  const char *name;
  int64_t m, n, k;
  bool is_a_transposed, is_b_transposed;
};

// A linear layer of 128 inputs and 352 outputs on 2048 tokens, and the squares.
constexpr Shape kShapes[] = {
    {"512", 512, 512, 512, false, true},
    {"1024", 1024, 1024, 1024, false, true},
    {"2048", 2048, 2048, 2048, false, true},
    {"1024 nn", 1024, 1024, 1024, false, false},
    {"1024 tn", 1024, 1024, 1024, true, false},
    {"layer output", 2048, 352, 128, false, true},
    {"layer input gradient", 2048, 128, 352, false, false},
    {"layer weight gradient", 352, 128, 2048, true, false},
    {"16 rows", 16, 1024, 1024, false, true},
};

// What a contender is judged by.
enum class Peak { kF32, kBf16, kInt8 };

double peak_of(const Peaks &peaks, Peak peak) {
  if (peak == Peak::kInt8 && peaks.int8_gflops > 0) return peaks.int8_gflops;
  return peak == Peak::kBf16 && peaks.bf16_gflops > 0 ? peaks.bf16_gflops : peaks.f32_gflops;
}

struct OurFormat {
  const char *name;
  lpt_format format;
  Peak peak;
};
constexpr OurFormat kFormats[] = {
    {"e4m3fn_tensor", LPT_FORMAT_E4M3FN_TENSOR, Peak::kBf16},
    {"mxfp8_e4m3", LPT_FORMAT_MXFP8_E4M3, Peak::kBf16},
    {"nvfp4", LPT_FORMAT_NVFP4, Peak::kBf16},
    {"bf16", LPT_FORMAT_BF16, Peak::kBf16},
    {"int8_tensor", LPT_FORMAT_INT8_TENSOR, Peak::kInt8},
    {"f32", LPT_FORMAT_F32, Peak::kF32},
};

// One way to compute a shape, and its best time so far.
struct Contender {
  std::string name;
  Peak peak;
  std::function<void()> run;
  double seconds = 1e9;
};

void require(lpt_context *context, lpt_status status) {
  if (status == LPT_OK) return;
  std::fprintf(stderr, "gemm_bench: %s: %s\n", lpt_status_string(status), lpt_context_error(context));
  std::exit(1);
}

// Owns a tensor of a shape's operand, filled with numbers of a normal-like spread.
class Operand {
 public:
  Operand(lpt_context *context, lpt_format format, int64_t rows, int64_t columns) {
    const int64_t extents[] = {rows, columns};
    require(context, lpt_tensor_create(context, format, 2, extents, &tensor_));
    std::vector<float> numbers(static_cast<size_t>(rows * columns));
    uint32_t state = 1;
    for (float &number : numbers) {
      state = state * 1664525u + 1013904223u;
      number = static_cast<float>(static_cast<int32_t>(state)) * 0x1p-31f;
    }
    lpt_tensor *source = nullptr;
    require(context, lpt_matrix_wrap(context, LPT_FORMAT_F32, numbers.data(), rows, columns, 0, &source));
    require(context, lpt_quantize(context, source, nullptr, tensor_, nullptr));
    lpt_tensor_destroy(source);
  }
  ~Operand() { lpt_tensor_destroy(tensor_); }
  Operand(const Operand &) = delete;
  Operand &operator=(const Operand &) = delete;

  lpt_tensor *get() const { return tensor_; }

 private:
  lpt_tensor *tensor_ = nullptr;
};

Contender ours(lpt_context *context, const Shape &shape, const OurFormat &format) {
  const auto a = std::make_shared<Operand>(context, format.format, shape.is_a_transposed ? shape.k : shape.m,
                                           shape.is_a_transposed ? shape.m : shape.k);
  const auto b = std::make_shared<Operand>(context, format.format, shape.is_b_transposed ? shape.n : shape.k,
                                           shape.is_b_transposed ? shape.k : shape.n);
  const auto c = std::make_shared<Operand>(context, LPT_FORMAT_F32, shape.m, shape.n);
  lpt_gemm_options options = LPT_GEMM_OPTIONS_INIT;
  options.is_a_transposed = shape.is_a_transposed;
  options.is_b_transposed = shape.is_b_transposed;
  return {.name = std::string("lpt ") + format.name, .peak = format.peak, .run = [=] {
            require(context, lpt_gemm(context, a->get(), b->get(), &options, c->get()));
          }};
}

#if defined(LPT_BENCH_ONEDNN)
// `is_packed`: the weights are reordered beforehand, outside of the time.
Contender onednn(const dnnl::engine &engine, const Shape &shape, Peak peak, bool is_packed) {
  using dnnl::memory;
  const bool is_int8 = peak == Peak::kInt8;
  const auto type = is_int8               ? memory::data_type::s8
                    : peak == Peak::kBf16 ? memory::data_type::bf16
                                          : memory::data_type::f32;
  const auto tag = [](bool is_transposed) { return is_transposed ? memory::format_tag::ba : memory::format_tag::ab; };
  const memory::desc a_desc({shape.m, shape.k}, type, tag(shape.is_a_transposed));
  const memory::desc b_desc({shape.k, shape.n}, type, is_packed ? memory::format_tag::any : tag(shape.is_b_transposed));
  const auto c_type = is_int8 ? memory::data_type::s32 : memory::data_type::f32;
  const memory::desc c_desc({shape.m, shape.n}, c_type, memory::format_tag::ab);
#if DNNL_VERSION_MAJOR >= 3
  const dnnl::matmul::primitive_desc description(engine, a_desc, b_desc, c_desc);
#else
  const dnnl::matmul::primitive_desc description(dnnl::matmul::desc(a_desc, b_desc, c_desc), engine);
#endif
  memory a(description.src_desc(), engine), b(description.weights_desc(), engine), c(description.dst_desc(), engine);
  for (memory *operand : {&a, &b}) {
    auto *const bytes = static_cast<uint8_t *>(operand->get_data_handle());
    for (size_t i = 0; i < operand->get_desc().get_size(); ++i) bytes[i] = static_cast<uint8_t>((i * 37) & 0x3B);
  }
  const dnnl::matmul primitive(description);
  dnnl::stream stream(engine);
  return {.name = std::string("onednn ") +
                  (is_int8               ? "s8"
                   : peak == Peak::kBf16 ? "bf16"
                                         : "f32") +
                  (is_packed ? " packed" : ""),
          .peak = peak,
          .run = [=]() mutable {
            primitive.execute(stream, {{DNNL_ARG_SRC, a}, {DNNL_ARG_WEIGHTS, b}, {DNNL_ARG_DST, c}});
            stream.wait();
          }};
}
#endif

// Rounds of all contenders in turn, so that a drifting clock meets each alike.
void race(std::vector<Contender> &contenders) {
  const double start = now();
  for (int round = 0; round < kLeastRuns || now() - start < kSecondsEach * static_cast<double>(contenders.size());
       ++round) {
    for (Contender &contender : contenders) {
      const double begin = now();
      contender.run();
      contender.seconds = std::min(contender.seconds, now() - begin);
    }
  }
}

int run(bool is_json) {
  pin_thread();
  const Peaks peaks = measure_peaks();
  lpt_context_options context_options = LPT_CONTEXT_OPTIONS_INIT;
  context_options.thread_count = 1;
  lpt_context *context = nullptr;
  require(nullptr, lpt_context_create(&context_options, &context));
#if defined(LPT_BENCH_ONEDNN)
  omp_set_num_threads(1);
  const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
#endif
  std::printf(is_json ? "{\"build\": \"%s\", \"load\": %.2f, \"peaks\": {\"f32_gflops\": %.1f, \"bf16_gflops\": %.1f, "
                        "\"int8_gops\": %.1f, \"copy_gbs\": %.1f}, \"results\": ["
                      : "%s\nload %.2f; peaks of one thread: f32 %.1f GFLOP/s, bf16 %.1f GFLOP/s, int8 %.1f GOP/s, "
                        "copy %.1f GB/s\n",
              lpt_build_info(), load_average(), peaks.f32_gflops, peaks.bf16_gflops, peaks.int8_gflops, peaks.copy_gbs);
  const char *separator = "";
  for (const Shape &shape : kShapes) {
    std::vector<Contender> contenders;
    for (const OurFormat &format : kFormats) contenders.push_back(ours(context, shape, format));
#if defined(LPT_BENCH_ONEDNN)
    for (const Peak peak : {Peak::kBf16, Peak::kInt8, Peak::kF32}) {
      for (const bool is_packed : {false, true}) contenders.push_back(onednn(engine, shape, peak, is_packed));
    }
#endif
    race(contenders);
    const double flops =
        2.0 * static_cast<double>(shape.m) * static_cast<double>(shape.n) * static_cast<double>(shape.k);
    if (!is_json) {
      std::printf("\n%s: m %lld, n %lld, k %lld, %s%s\n", shape.name, static_cast<long long>(shape.m),
                  static_cast<long long>(shape.n), static_cast<long long>(shape.k), shape.is_a_transposed ? "t" : "n",
                  shape.is_b_transposed ? "t" : "n");
    }
    for (const Contender &contender : contenders) {
      const double speed = flops / contender.seconds / 1e9;
      const double peak = peak_of(peaks, contender.peak);
      const double share = peak > 0 ? speed / peak : 0;
      if (is_json) {
        std::printf(
            "%s\n{\"shape\": \"%s\", \"m\": %lld, \"n\": %lld, \"k\": %lld, \"name\": \"%s\", \"seconds\": %.3e, "
            "\"gflops\": %.1f, \"share_of_peak\": %.3f}",
            separator, shape.name, static_cast<long long>(shape.m), static_cast<long long>(shape.n),
            static_cast<long long>(shape.k), contender.name.c_str(), contender.seconds, speed, share);
        separator = ",";
      } else {
        std::printf("  %-20s %10.1f us %8.1f GFLOP/s  %5.2f of peak\n", contender.name.c_str(), contender.seconds * 1e6,
                    speed, share);
      }
    }
    std::fflush(stdout);
  }
  if (is_json) std::printf("\n]}\n");
  lpt_context_destroy(context);
  return 0;
}

}  // namespace
}  // namespace lpt::bench

int main(int count, char **arguments) {
  const bool is_json = count == 2 && std::strcmp(arguments[1], "--json") == 0;
  if (count > 1 && !is_json) {
    std::fprintf(stderr, "usage: gemm_bench [--json]\n");
    return 2;
  }
  return lpt::bench::run(is_json);
}
