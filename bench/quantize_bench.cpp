// How fast casts are beside memcpy, beside oneDNN and ml_dtypes, and beside each other; with the bars that they shall
// reach. One thread.
//
//   quantize_bench [MEBIBYTES [ML_DTYPES]]
//
// MEBIBYTES is the size of the f32 source out of cache: 256 if none is given, 0 leaves that half out. ML_DTYPES is the
// rate of ml_dtypes in elements per second, as bench/ml_dtypes_rate.py prints it. Each figure is the fastest of several
// runs in turn with a memcpy of the source.
#include <cstdio>
#include <cstdlib>
#include <string>

#include "bench/peaks.hpp"
#include "bench/quantize_rates.hpp"

#if defined(LPT_BENCH_ONEDNN)
#include <omp.h>

#include <oneapi/dnnl/dnnl.hpp>
#endif

namespace lpt::bench {
namespace {

constexpr int64_t kBytesInCache = int64_t{512} << 10;
constexpr double kBarOfOnednn = 0.35;
constexpr double kBarOfMlDtypes = 90;

void print(const QuantizeRate &rate) {
  std::printf("  %-40s %9.3f ms %7.2f Gelem/s %7.2f GB/s  memcpy %7.2f GB/s", rate.name.c_str(), rate.seconds * 1e3,
              rate.gigaelements(), rate.gigabytes(), rate.copy_gigabytes());
  if (!rate.measure.empty()) std::printf("  %7.2f %s", rate.ratio, rate.measure.c_str());
  if (rate.bar != 0) {
    std::printf(" (%s %.2f: %s)", rate.is_ceiling ? "at most" : "bar", rate.bar,
                rate.is_reached() ? "reached" : "not reached");
  }
  std::printf("\n");
  std::fflush(stdout);
}

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

bool run(const char *title, QuantizeRateOptions options) {
  std::printf("%s: f32 source of %lld KiB\n", title, static_cast<long long>(options.source_bytes >> 10));
  int bars = 0, reached = 0;
  options.on_rate = [&](const QuantizeRate &rate) {
    print(rate);
    bars += rate.bar != 0;
    reached += rate.bar != 0 && rate.is_reached();
  };
  std::string error;
  if (quantize_rates(options, error).empty()) {
    std::fprintf(stderr, "quantize_bench: %s\n", error.c_str());
    return false;
  }
  std::printf("  %d of %d bars reached\n", reached, bars);
  return true;
}

int main_of(long long mebibytes, double ml_dtypes) {
  pin_thread();
  std::printf("one thread, load average %.1f; %s\n", load_average(), lpt_build_info());
  QuantizeRateOptions out_of_cache;
  out_of_cache.source_bytes = mebibytes << 20;
  if (mebibytes > 0 && !run("out of cache", out_of_cache)) return 1;
  QuantizeRateOptions in_cache;
  in_cache.source_bytes = kBytesInCache;
  in_cache.is_in_cache = true;
#if defined(LPT_BENCH_ONEDNN)
  omp_set_num_threads(1);
  in_cache.peers.push_back(onednn());
#endif
  if (ml_dtypes > 0) in_cache.given_peers.push_back({"ml_dtypes", ml_dtypes, kBarOfMlDtypes});
  return run("in cache", in_cache) ? 0 : 1;
}

}  // namespace
}  // namespace lpt::bench

int main(int count, char **arguments) {
  const long long mebibytes = count > 1 ? std::atoll(arguments[1]) : 256;
  const double ml_dtypes = count > 2 ? std::atof(arguments[2]) : 0;
  if (count > 3 || mebibytes < 0) {
    std::fprintf(stderr, "usage: quantize_bench [MEBIBYTES [ML_DTYPES]]\n");
    return 2;
  }
  return lpt::bench::main_of(mebibytes, ml_dtypes);
}
