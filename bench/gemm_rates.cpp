#include "bench/gemm_rates.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <memory>
#include <stdexcept>
#include <thread>

#include "bench/peaks.hpp"

namespace lpt::bench {
namespace {

constexpr int kLeastRounds = 5;
constexpr size_t kBytesAtOnce = size_t{3} << 30;  // of weights in one race
constexpr double kVisitSeconds = 5e-3;
constexpr double kLongRun = 20e-3;   // longer runs need no warm-up
constexpr double kShortRun = 50e-6;  // shorter ones are timed several at a time
constexpr double kOtherLoad = 0.3;   // in addition to the load of this process

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 != 0) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

std::string isa_name(lpt_isa isa) {
  switch (isa) {
    case LPT_ISA_REFERENCE:
      return "reference";
    case LPT_ISA_X86_AVX2:
      return "x86_avx2";
    case LPT_ISA_X86_AVX512:
      return "x86_avx512";
    case LPT_ISA_X86_AVX512_BF16:
      return "x86_avx512_bf16";
    case LPT_ISA_X86_AMX:
      return "x86_amx";
    default:
      return "auto";
  }
}

// Memory for the read benchmark, as large as the compared weights, allocated by the library like these.
class Memory {
 public:
  explicit Memory(size_t bytes) : bytes_(bytes) {
    const auto extent = static_cast<int64_t>(bytes);
    lpt_context_options options = LPT_CONTEXT_OPTIONS_INIT;
    options.thread_count = 1;
    lpt_context *context = nullptr;
    lpt_tensor_description description = LPT_TENSOR_DESCRIPTION_INIT;
    if (lpt_context_create(&options, &context) == LPT_OK &&
        lpt_tensor_create(context, LPT_FORMAT_UINT8, 1, &extent, &tensor_) == LPT_OK &&
        lpt_tensor_describe(context, tensor_, &description) == LPT_OK) {
      data_ = static_cast<char *>(description.data);
    }
    lpt_context_destroy(context);
    if (data_ == nullptr) throw std::runtime_error("no memory to read");
    std::memset(data_, 1, bytes_);
  }
  ~Memory() { lpt_tensor_destroy(tensor_); }
  Memory(const Memory &) = delete;
  Memory &operator=(const Memory &) = delete;

  // Returns the best rate in GB/s of reading the first `bytes` on several threads, over `times` runs.
  double rate(size_t bytes, int threads, int times) const {
    double best = 0;
    for (int i = 0; i < times; ++i) {
      const size_t part = bytes / static_cast<size_t>(threads);
      std::vector<double> rates(static_cast<size_t>(threads));
      const auto read = [&](size_t index) {
        rates[index] = static_cast<double>(part) / read_seconds(data_ + index * part, part) * 1e-9;
      };
      std::vector<std::thread> others;
      for (size_t index = 1; index < rates.size(); ++index) others.emplace_back(read, index);
      read(0);
      for (std::thread &other : others) other.join();
      best = std::max(best, *std::min_element(rates.begin(), rates.end()) * threads);
    }
    return best;
  }

 private:
  size_t bytes_;
  lpt_tensor *tensor_ = nullptr;
  char *data_ = nullptr;
};

// One contender on one number of threads, and its times.
struct Lane {
  const GemmContender *contender = nullptr;
  size_t run = 0;
  int threads = 1;
  double estimate = 0;          // seconds of one run
  std::vector<double> seconds;  // of all runs
  std::vector<double> shares;   // of the rounds
  GemmLimit limit = GemmLimit::kRead;
  double best_limit = 0;
};

struct Ceiling {
  GemmLimit limit;
  double rate;
};

class Rates {
 public:
  Rates(const GemmRateOptions &options, GemmReport &report) : options_(options), report_(report) {}

  void run() {
    for (shape_index_ = 0; shape_index_ < options_.shapes.size(); ++shape_index_) {
      const size_t first = report_.rates.size();
      measure(options_.shapes[shape_index_]);
      see_load();
      if (options_.on_shape) {
        options_.on_shape({report_.rates.begin() + static_cast<std::ptrdiff_t>(first), report_.rates.end()},
                          report_.is_judged);
      }
    }
  }

  void see_load() {
    report_.load = std::max(report_.load, load_average());
    report_.is_judged = report_.load <= load_limit(options_.threads);
  }

 private:
  // Creates contenders until their weights reach kBytesAtOnce, then races them. `part_` is the completed fraction of the shape.
  void measure(const GemmShape &shape) {
    const size_t first = report_.rates.size();
    GemmOperands operands(shape, options_.threads, options_.isa);
    std::vector<GemmContender> contenders;
    size_t bytes = 0, made = 0;
    part_ = 0;
    const size_t count = options_.pairs.size() + options_.peers.size();
    const auto add = [&](const GemmContender &contender) {
      contenders.push_back(contender);
      bytes += contender.weight_bytes;
    };
    const auto race_if = [&](bool is_due) {
      if (!is_due || contenders.empty()) return;
      race(shape, contenders, static_cast<double>(made) / static_cast<double>(count));
      contenders.clear();
      bytes = 0;
    };
    for (const GemmPeer &peer : options_.peers) {
      ++made;
      tell(shape, part_, peer.name);
      GemmContender contender;
      contender.name = peer.name;
      contender.kind = peer.kind;
      contender.is_packed = peer.is_packed;
      contender.is_peer = true;
      if (is_requested(peer) && peer.prepare(shape, options_.threads, contender)) add(contender);
      race_if(bytes > kBytesAtOnce);
    }
    for (const GemmPair &pair : options_.pairs) {
      ++made;
      tell(shape, part_, pair.name);
      std::string reason;
      for (const GemmContender &each : operands.contenders(pair, options_.wants_plain, options_.wants_packed, reason)) {
        add(each);
      }
      if (!reason.empty()) report_.left_out.push_back(shape.name + ", " + pair.name + ": " + reason);
      race_if(bytes > kBytesAtOnce);
    }
    race_if(true);
    std::stable_partition(report_.rates.begin() + static_cast<std::ptrdiff_t>(first), report_.rates.end(),
                          [](const GemmRate &rate) { return !rate.is_peer; });
  }

  bool is_requested(const GemmPeer &peer) const {
    return std::any_of(options_.pairs.begin(), options_.pairs.end(),
                       [&](const GemmPair &pair) { return pair.limit == peer.kind; });
  }

  void tell(const GemmShape &shape, double part, const std::string &what) const {
    if (!options_.on_progress) return;
    const double whole = static_cast<double>(options_.shapes.size());
    options_.on_progress((static_cast<double>(shape_index_) + part) / whole, shape.name + ": " + what);
  }

  // Also measures the AMX tile peak where GEMMs may use tiles. Shares are not relative to it.
  void measure_tiles(GemmLimit kind) {
    if (!has_tiles_ || kind == GemmLimit::kF32) return;
    double &best = kind == GemmLimit::kBf16 ? report_.bf16_tile_gflops : report_.int8_tile_gops;
    best = std::max(best, dot_peak(kind == GemmLimit::kBf16 ? Dot::kBf16Tiles : Dot::kInt8Tiles));
  }

  // Returns the limit of a kind of GEMM in this round. For bf16 it is that of f32 without dot products, and where f32 is faster.
  Ceiling measured(GemmLimit kind) {
    const bool has_avx512 = options_.isa == LPT_ISA_AUTO || options_.isa >= LPT_ISA_X86_AVX512;
    const bool has_dots = options_.isa == LPT_ISA_AUTO || options_.isa >= LPT_ISA_X86_AVX512_BF16;
    const double f32_rate = dot_peak(Dot::kF32, has_avx512);
    if (kind == GemmLimit::kInt8 || (kind == GemmLimit::kBf16 && has_dots)) {
      const double rate = dot_peak(kind == GemmLimit::kBf16 ? Dot::kBf16 : Dot::kInt8, has_dots);
      double &best = kind == GemmLimit::kBf16 ? report_.bf16_gflops : report_.int8_gops;
      best = std::max(best, rate);
      if (rate > 0 && (kind == GemmLimit::kInt8 || rate >= f32_rate)) return {kind, rate};
    }
    report_.f32_gflops = std::max(report_.f32_gflops, f32_rate);
    return {GemmLimit::kF32, f32_rate};
  }

  void measure_ceilings(const std::vector<Lane> &lanes) {
    ceilings_.clear();
    for (const Lane &lane : lanes) {
      const GemmLimit kind = lane.contender->kind;
      if (ceilings_.count(kind) != 0) continue;
      ceilings_.emplace(kind, measured(kind));
      measure_tiles(kind);
    }
  }

  // Runs a lane several times and returns the minimum time.
  static double visit(Lane &lane) {
    const auto &run = lane.contender->runs[lane.run];
    if (lane.estimate < kLongRun) run();
    const int at_once = lane.estimate < kShortRun ? static_cast<int>(kShortRun / lane.estimate) + 1 : 1;
    const double each = lane.estimate * at_once;
    const int times = each < kLongRun ? std::max(3, static_cast<int>(kVisitSeconds / each)) : 1;
    double least = 1e9;
    for (int i = 0; i < times; ++i) {
      const double begin = now();
      for (int j = 0; j < at_once; ++j) run();
      const double seconds = (now() - begin) / at_once;
      lane.seconds.push_back(seconds);
      least = std::min(least, seconds);
    }
    lane.estimate = std::min(lane.estimate, least);
    return least;
  }

  void round(const GemmShape &shape, std::vector<Lane> &lanes, const Memory *memory) {
    if (memory == nullptr) measure_ceilings(lanes);
    for (Lane &lane : lanes) {
      const double least = visit(lane);
      double limit = 0, speed = shape.flops() / least * 1e-9;
      if (memory != nullptr) {
        const int times = lane.estimate < kLongRun ? 3 : 1;
        if (times > 1) memory->rate(lane.contender->weight_bytes, lane.threads, 1);
        limit = memory->rate(lane.contender->weight_bytes, lane.threads, times);
        speed = static_cast<double>(lane.contender->weight_bytes) / least * 1e-9;
      } else {
        const Ceiling &ceiling = ceilings_.at(lane.contender->kind);
        lane.limit = ceiling.limit;
        limit = ceiling.rate * lane.threads;
      }
      lane.best_limit = std::max(lane.best_limit, limit);
      lane.shares.push_back(limit > 0 ? speed / limit : 0);
    }
  }

  // Races contenders. After the race, `part` of the shape is complete.
  void race(const GemmShape &shape, const std::vector<GemmContender> &contenders, double part) {
    std::vector<Lane> lanes;
    size_t most_bytes = 0;
    for (const GemmContender &contender : contenders) {
      most_bytes = std::max(most_bytes, contender.weight_bytes);
      for (size_t run = 0; run < contender.runs.size(); ++run) {
        Lane lane;
        lane.contender = &contender;
        lane.run = run;
        lane.threads = run == 0 ? 1 : options_.threads;
        lanes.push_back(lane);
      }
    }
    std::unique_ptr<Memory> memory;
    if (shape.is_matrix_vector()) memory = std::make_unique<Memory>(most_bytes);
    for (Lane &lane : lanes) {
      const double begin = now();
      lane.contender->runs[lane.run]();
      lane.estimate = std::max(now() - begin, 1e-9);
    }
    const double start = now(), whole = options_.seconds * static_cast<double>(lanes.size());
    for (int rounds = 0; rounds < kLeastRounds || now() - start < whole; ++rounds) {
      const double done = std::min({1.0, rounds / static_cast<double>(kLeastRounds), (now() - start) / whole});
      tell(shape, part_ + (part - part_) * done,
           std::to_string(contenders.size()) + " contenders, round " + std::to_string(rounds + 1));
      round(shape, lanes, memory.get());
    }
    part_ = part;
    for (const GemmContender &contender : contenders) report_.rates.push_back(rate_of(shape, contender, lanes));
  }

  GemmRate rate_of(const GemmShape &shape, const GemmContender &contender, const std::vector<Lane> &lanes) const {
    GemmRate rate;
    rate.shape = shape;
    rate.name = contender.name;
    rate.is_packed = contender.is_packed;
    rate.is_peer = contender.is_peer;
    rate.row = contender.row;
    rate.kind = contender.kind;
    rate.weight_bytes = static_cast<double>(contender.weight_bytes);
    rate.bar = contender.bar;
    double alone = 0;
    for (const Lane &lane : lanes) {
      if (lane.contender != &contender) continue;
      rate.seconds = *std::min_element(lane.seconds.begin(), lane.seconds.end());
      rate.median_seconds = median(lane.seconds);
      rate.limit = lane.limit;
      rate.limit_rate = lane.best_limit;
      rate.share = median(lane.shares);
      if (lane.run == 0) alone = rate.seconds;
      if (lane.run == 1) rate.scaling = alone / rate.seconds;
    }
    if (rate.limit_rate == 0) rate.bar = 0;  // no limit to compare with
    const double speed = rate.limit == GemmLimit::kRead ? rate.weight_gigabytes() : rate.gflops();
    rate.best_share = rate.limit_rate > 0 ? speed / rate.limit_rate : 0;
    return rate;
  }

  const GemmRateOptions &options_;
  GemmReport &report_;
  size_t shape_index_ = 0;
  double part_ = 0;
  std::map<GemmLimit, Ceiling> ceilings_;  // by kind
  const bool has_tiles_ = options_.isa == LPT_ISA_AUTO || options_.isa == LPT_ISA_X86_AMX;
};

}  // namespace

double load_limit(int threads) { return threads + kOtherLoad; }

GemmReport gemm_rates(const GemmRateOptions &options, std::string &error) {
  GemmReport report;
  report.build = lpt_build_info();
  report.threads = options.threads;
  report.isa = isa_name(options.isa);
  report.missing_peers = options.missing_peers;
  try {
    Rates rates(options, report);
    rates.see_load();
    rates.run();
  } catch (const std::exception &failure) {
    error = failure.what();
    report.rates.clear();
  }
  return report;
}

}  // namespace lpt::bench
