// Speed of casts relative to memcpy, to oneDNN and ml_dtypes, and to each other, with their targets. One thread.
//
//   quantize_bench [MEBIBYTES] [ML_DTYPES] [--json FILE]
//
// MEBIBYTES is the size of the f32 source out of cache: the default is 256, 0 omits this half. ML_DTYPES is the rate of
// ml_dtypes in elements per second, as bench/ml_dtypes_rate.py prints it. Each result is the fastest of several runs,
// interleaved with a memcpy of the source.
#include <cstdio>
#include <string>

#include "bench/peaks.hpp"
#include "bench/quantize_rates.hpp"
#include "bench/report.hpp"

#if defined(LPT_BENCH_ONEDNN)
#include <omp.h>

#include <oneapi/dnnl/dnnl.hpp>
#endif

namespace lpt::bench {
namespace {

constexpr int64_t kBytesInCache = int64_t{512} << 10;
constexpr double kBarOfOnednn = 0.35;
constexpr double kBarOfMlDtypes = 90;

#if defined(LPT_BENCH_ONEDNN)
QuantizePeer onednn() {
  const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  dnnl::stream stream(engine);
  const auto run = [=](const float *from, void *to, int64_t count) mutable {
    using dnnl::memory;
    const auto line = [&](memory::data_type type) { return memory::desc({count}, type, memory::format_tag::a); };
    memory source(line(memory::data_type::f32), engine, const_cast<float *>(from));
    memory target(line(memory::data_type::s8), engine, to);
    static const dnnl::reorder reorder(source, target);
    reorder.execute(stream, source, target);
    stream.wait();
  };
  return {"oneDNN's f32 to s8", run, kBarOfOnednn};
}
#endif

bool run(const char *name, QuantizeRateOptions options, Report &report) {
  report.begin(name, 1, "those of an f32 source of " + std::to_string(options.source_bytes >> 10) + " KiB",
               with_ratio({{"cast", -40}, {"ms", 9}, {"Gelem/s"}, {"GB/s", 7}, {"memcpy, GB/s"}}));
  options.on_rate = [&](const QuantizeRate &rate) {
    report.add({rate.name, fixed(rate.seconds * 1e3, 3), fixed(rate.gigaelements(), 2), fixed(rate.gigabytes(), 2),
                fixed(rate.copy_gigabytes(), 2)},
               rate.ratio, rate.measure, rate.bar, rate.is_ceiling);
  };
  std::string error;
  if (!quantize_rates(options, error).empty()) return true;
  std::fprintf(stderr, "quantize_bench: %s\n", error.c_str());
  return false;
}

int main_of(int64_t mebibytes, double ml_dtypes, Report &report) {
  pin_thread();
  QuantizeRateOptions out_of_cache;
  out_of_cache.source_bytes = mebibytes << 20;
  if (mebibytes > 0 && !run("out-of-cache", out_of_cache, report)) return 1;
  QuantizeRateOptions in_cache;
  in_cache.source_bytes = kBytesInCache;
  in_cache.is_in_cache = true;
#if defined(LPT_BENCH_ONEDNN)
  omp_set_num_threads(1);
  in_cache.peers.push_back(onednn());
#endif
  if (ml_dtypes > 0) in_cache.given_peers.push_back({"ml_dtypes", ml_dtypes, kBarOfMlDtypes});
  return run("in-cache", in_cache, report) ? report.end() : 1;
}

}  // namespace
}  // namespace lpt::bench

int main(int count, char **words) {
  double mebibytes = 256, ml_dtypes = 0;
  lpt::bench::Report report(count, words, "Casts relative to memcpy and to other libraries, on one thread",
                            {{"MEBIBYTES", "Size of the f32 source out of cache; 0: only in cache", &mebibytes},
                             {"ML_DTYPES", "Elements per second of bench/ml_dtypes_rate.py", &ml_dtypes}});
  return lpt::bench::main_of(static_cast<int64_t>(mebibytes), ml_dtypes, report);
}
