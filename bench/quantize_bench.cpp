// How fast casts are beside memcpy, through lpt.h on one thread.
//
//   quantize_bench [MEBIBYTES]    size of the f32 source; 256 is far beyond any cache
//
// Each figure is the fastest of several runs; every run is preceded by a memcpy of the source, and the ratio compares
// the two bests. Bytes are what must be read and written once: source and output. A cast with a scale of its own amax
// reads its source twice; that counts once.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "bench/peaks.hpp"
#include "lpt.h"

namespace {

using lpt::bench::now;

constexpr int64_t kColumns = 4096;

void check(lpt_context *context, lpt_status status) {
  if (status == LPT_OK) return;
  std::fprintf(stderr, "quantize_bench: %s\n", lpt_context_error(context));
  std::exit(1);
}

lpt_context *make_context(lpt_isa isa) {
  lpt_context_options options = LPT_CONTEXT_OPTIONS_INIT;
  options.thread_count = 1;
  options.isa = isa;
  lpt_context *context = nullptr;
  if (lpt_context_create(&options, &context) != LPT_OK) std::exit(1);
  return context;
}

lpt_tensor *make_matrix(lpt_context *context, lpt_format format, int64_t rows) {
  const int64_t extents[2] = {rows, kColumns};
  lpt_tensor *tensor = nullptr;
  check(context, lpt_tensor_create(context, format, 2, extents, &tensor));
  return tensor;
}

struct Bench {
  lpt_tensor *source;
  int64_t rows;
  std::vector<float> copy_from, copy_to;
};

struct Best {
  double cast = 1e9, copy = 1e9;
};

template <typename Cast>
Best best_of(int runs, Bench &bench, const Cast &cast) {
  Best best;
  for (int run = 0; run < runs; ++run) {
    const double begin = now();
    std::memcpy(bench.copy_to.data(), bench.copy_from.data(), bench.copy_from.size() * sizeof(float));
    const double middle = now();
    cast();
    const double end = now();
    if (middle - begin < best.copy) best.copy = middle - begin;
    if (end - middle < best.cast) best.cast = end - middle;
  }
  return best;
}

void print(const char *name, double elements, double bytes, const Best &best) {
  const double copy_rate = 2 * 4 * elements / best.copy;
  std::printf("%-34s %8.2f ms  %7.2f Gelem/s  %7.2f GB/s  memcpy %7.2f GB/s  ratio %.2f\n", name, best.cast * 1e3,
              elements / best.cast * 1e-9, bytes / best.cast * 1e-9, copy_rate * 1e-9, bytes / best.cast / copy_rate);
  std::fflush(stdout);
}

void bench_quantize(lpt_context *context, Bench &bench, const char *name, lpt_format format, lpt_rounding rounding,
                    int runs) {
  lpt_tensor *target = make_matrix(context, format, bench.rows);
  lpt_quantize_options options = LPT_QUANTIZE_OPTIONS_INIT;
  options.rounding = rounding;
  std::size_t target_bytes = 0;
  check(context, lpt_tensor_size(context, target, &target_bytes));
  const Best best = best_of(runs, bench, [&] {
    check(context, lpt_quantize(context, bench.source, &options, target, nullptr));
  });
  const double elements = static_cast<double>(bench.rows * kColumns);
  print(name, elements, 4 * elements + static_cast<double>(target_bytes), best);
  lpt_tensor_destroy(target);
}

// One read: the scale comes from the past, and amax is taken on the way.
void bench_delayed(lpt_context *context, Bench &bench, int runs) {
  lpt_scaler_options scaler_options = LPT_SCALER_OPTIONS_INIT;
  scaler_options.kind = LPT_SCALER_DELAYED;
  scaler_options.history_length = 4;
  lpt_scaler *scaler = nullptr;
  check(context, lpt_scaler_create(context, &scaler_options, &scaler));
  lpt_tensor *target = make_matrix(context, LPT_FORMAT_E4M3FN_TENSOR, bench.rows);
  lpt_quantize_options options = LPT_QUANTIZE_OPTIONS_INIT;
  options.scaler = scaler;
  check(context, lpt_quantize(context, bench.source, &options, target, nullptr));
  check(context, lpt_scaler_update(context, &scaler, 1));
  const Best best = best_of(runs, bench, [&] {
    check(context, lpt_quantize(context, bench.source, &options, target, nullptr));
  });
  const double elements = static_cast<double>(bench.rows * kColumns);
  print("e4m3fn_tensor, delayed (one read)", elements, 5 * elements, best);
  lpt_tensor_destroy(target);
  lpt_scaler_destroy(scaler);
}

void bench_dequantize(lpt_context *context, Bench &bench, const char *name, lpt_format format, int runs) {
  lpt_tensor *quantized = make_matrix(context, format, bench.rows);
  lpt_tensor *output = make_matrix(context, LPT_FORMAT_F32, bench.rows);
  check(context, lpt_quantize(context, bench.source, nullptr, quantized, nullptr));
  std::size_t source_bytes = 0;
  check(context, lpt_tensor_size(context, quantized, &source_bytes));
  const Best best = best_of(runs, bench, [&] {
    check(context, lpt_dequantize(context, quantized, nullptr, output));
  });
  const double elements = static_cast<double>(bench.rows * kColumns);
  print(name, elements, 4 * elements + static_cast<double>(source_bytes), best);
  lpt_tensor_destroy(output);
  lpt_tensor_destroy(quantized);
}

}  // namespace

int main(int count, char **arguments) {
  const long long mebibytes = count > 1 ? std::atoll(arguments[1]) : 256;
  if (mebibytes < 1) {
    std::fprintf(stderr, "usage: quantize_bench [MEBIBYTES]\n");
    return 2;
  }
  lpt_context *fast = make_context(LPT_ISA_AUTO);
  lpt_context *plain = make_context(LPT_ISA_REFERENCE);
  Bench bench;
  bench.rows = mebibytes * (1 << 20) / 4 / kColumns;
  const auto elements = static_cast<std::size_t>(bench.rows * kColumns);
  bench.copy_from.resize(elements);
  bench.copy_to.resize(elements);
  uint32_t state = 1;
  for (float &number : bench.copy_from) {
    state = state * 1664525u + 1013904223u;
    number = static_cast<float>(static_cast<int32_t>(state)) * 0x1p-30f;
  }
  check(fast, lpt_matrix_wrap(fast, LPT_FORMAT_F32, bench.copy_from.data(), bench.rows, kColumns, 0, &bench.source));

  lpt::bench::pin_thread();
  const int runs = mebibytes >= 64 ? 9 : 50;
  const lpt_rounding nearest = LPT_ROUNDING_NEAREST_EVEN, stochastic = LPT_ROUNDING_STOCHASTIC;
  std::printf("f32 source of %lld MiB, one thread, load average %.1f; %s\n", mebibytes,
              lpt::bench::load_average(), lpt_build_info());
  bench_quantize(fast, bench, "e4m3fn", LPT_FORMAT_E4M3FN, nearest, runs);
  bench_quantize(fast, bench, "e4m3fn_tensor (amax, then cast)", LPT_FORMAT_E4M3FN_TENSOR, nearest, runs);
  bench_delayed(fast, bench, runs);
  bench_quantize(fast, bench, "e4m3fn_tensor stochastic", LPT_FORMAT_E4M3FN_TENSOR, stochastic, runs);
  bench_quantize(fast, bench, "e4m3fn_row", LPT_FORMAT_E4M3FN_ROW, nearest, runs);
  bench_quantize(fast, bench, "e4m3fn_1x128", LPT_FORMAT_E4M3FN_1X128, nearest, runs);
  bench_quantize(fast, bench, "mxfp8_e4m3", LPT_FORMAT_MXFP8_E4M3, nearest, runs);
  bench_quantize(fast, bench, "mxfp4", LPT_FORMAT_MXFP4, nearest, 3);
  bench_quantize(fast, bench, "nvfp4", LPT_FORMAT_NVFP4, nearest, 3);
  bench_quantize(fast, bench, "nvfp4 stochastic", LPT_FORMAT_NVFP4, stochastic, 3);
  bench_quantize(fast, bench, "int8_tensor", LPT_FORMAT_INT8_TENSOR, nearest, runs);
  bench_quantize(fast, bench, "bf16", LPT_FORMAT_BF16, nearest, runs);
  bench_quantize(fast, bench, "f16_tensor", LPT_FORMAT_F16_TENSOR, nearest, runs);
  bench_dequantize(fast, bench, "e4m3fn_tensor to f32", LPT_FORMAT_E4M3FN_TENSOR, runs);
  bench_dequantize(fast, bench, "bf16 to f32", LPT_FORMAT_BF16, runs);
  bench_quantize(plain, bench, "e4m3fn, reference row", LPT_FORMAT_E4M3FN, nearest, 2);
  bench_dequantize(plain, bench, "e4m3fn to f32, reference row", LPT_FORMAT_E4M3FN, 2);
  lpt_tensor_destroy(bench.source);
  lpt_context_destroy(plain);
  lpt_context_destroy(fast);
}
