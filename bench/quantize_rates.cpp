#include "bench/quantize_rates.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <memory>
#include <stdexcept>

#include "bench/peaks.hpp"

namespace lpt::bench {
namespace {

constexpr int64_t kColumns = 4096;
constexpr int64_t kColumnsInCache = 1024;
constexpr double kLongRun = 1e-3;  // seconds: longer runs are timed one by one, to limit disturbance by other processes

constexpr double kBytesBarOfNearest = 0.90;
constexpr double kBytesBarOfStochastic8 = 0.75;
constexpr double kBytesBarOfStochastic16 = 0.65;
constexpr double kBytesBarOfBlocks = 0.55;
constexpr double kBytesBarOfDecoding[] = {0.88, 0.95};  // to f32, to bf16
constexpr double kBarOfStochastic8InCache = 0.36;       // of the elements of the nearest cast
constexpr double kBarOfBlocksInCache = 0.18;            // of the elements of memcpy
constexpr double kBarOfBoth = 1.6;                      // of the time of rows alone
constexpr double kBarOfAvx2 = 0.5;                      // of the elements of AVX-512

// A cast of the table.
struct Case {
  const char *name;
  lpt_format format;
  int32_t stochastic_bits = 0;  // 0: nearest
  bool keeps_tensor_scale = false;
  bool has_statistics = false;
  lpt_scale_rule rule = LPT_SCALE_RULE_DEFAULT;
};

constexpr Case kNearest[] = {
    {"e4m3fn", LPT_FORMAT_E4M3FN}, {"e5m2", LPT_FORMAT_E5M2}, {"bf16", LPT_FORMAT_BF16}, {"int8", LPT_FORMAT_INT8}};
constexpr size_t kFloatsOf8Bits = 2;  // the first ones of them
constexpr Case kOfOwnAmax[] = {{"e4m3fn_tensor, amax first", LPT_FORMAT_E4M3FN_TENSOR},
                               {"int8_tensor, amax first", LPT_FORMAT_INT8_TENSOR},
                               {"e4m3fn with statistics", LPT_FORMAT_E4M3FN, 0, false, true},
                               {"nvfp4 kept, with statistics", LPT_FORMAT_NVFP4, 0, true, true}};
constexpr Case kStochastic8[] = {{"e4m3fn, 8 random bits", LPT_FORMAT_E4M3FN, 8},
                                 {"e4m3fn_tensor kept, 8 random bits", LPT_FORMAT_E4M3FN_TENSOR, 8, true}};
constexpr Case kStochastic16[] = {{"e4m3fn, 16 random bits", LPT_FORMAT_E4M3FN, 16},
                                  {"e4m3fn_tensor kept, 16 random bits", LPT_FORMAT_E4M3FN_TENSOR, 16, true}};
constexpr Case kOtherStochastic[] = {{"bf16, 16 random bits", LPT_FORMAT_BF16, 16}};
constexpr Case kBlocks[] = {{"nvfp4 kept", LPT_FORMAT_NVFP4, 0, true},
                            {"mxfp4", LPT_FORMAT_MXFP4},
                            {"mxfp6_e3m2", LPT_FORMAT_MXFP6_E3M2},
                            {"mxfp6_e2m3", LPT_FORMAT_MXFP6_E2M3},
                            {"mxfp8_e4m3", LPT_FORMAT_MXFP8_E4M3}};
constexpr Case kOtherBlocks[] = {{"nvfp4_16x16 kept", LPT_FORMAT_NVFP4_16X16, 0, true},
                                 {"nvfp4 kept, 16 random bits", LPT_FORMAT_NVFP4, 16, true},
                                 {"e4m3fn_row", LPT_FORMAT_E4M3FN_ROW},
                                 {"e4m3fn_1x128", LPT_FORMAT_E4M3FN_1X128},
                                 {"int4_1x128", LPT_FORMAT_INT4_1X128},
                                 {"uint4_1x128", LPT_FORMAT_UINT4_1X128}};
constexpr Case kLists[] = {{"nf4_1x64", LPT_FORMAT_NF4_1X64}, {"bnb_fp4_1x64", LPT_FORMAT_BNB_FP4_1X64}};
constexpr const char *kOwn[] = {"e2m0b1-finite", "e2m2b1-nan", "e4m2b9-finite", "e6m1b31-ieee"};  // 3, 5, 7, 8 bits
constexpr Case kSearched[] = {{"nvfp4 kept, MSE", LPT_FORMAT_NVFP4, 0, true, false, LPT_SCALE_RULE_MSE},
                              {"mxfp4, MSE", LPT_FORMAT_MXFP4, 0, false, false, LPT_SCALE_RULE_MSE},
                              {"e4m3fn_1x128, MSE", LPT_FORMAT_E4M3FN_1X128, 0, false, false, LPT_SCALE_RULE_MSE},
                              {"int4_1x128, MSE", LPT_FORMAT_INT4_1X128, 0, false, false, LPT_SCALE_RULE_MSE},
                              {"nf4_1x64, MSE", LPT_FORMAT_NF4_1X64, 0, false, false, LPT_SCALE_RULE_MSE},
                              {"e4m3fn_tensor, MSE", LPT_FORMAT_E4M3FN_TENSOR, 0, false, false, LPT_SCALE_RULE_MSE}};
constexpr Case kBoth[] = {{"e4m3fn_tensor kept", LPT_FORMAT_E4M3FN_TENSOR, 0, true},
                          {"mxfp8_e4m3", LPT_FORMAT_MXFP8_E4M3},
                          {"nvfp4_16x16 kept", LPT_FORMAT_NVFP4_16X16, 0, true},
                          {"nvfp4 kept", LPT_FORMAT_NVFP4, 0, true}};

class Table {
 public:
  explicit Table(const QuantizeRateOptions &options) : options_(options) {
    columns_ = options.is_in_cache ? kColumnsInCache : kColumns;
    rows_ = std::max<int64_t>(options.source_bytes / 4 / columns_, 1);
    numbers_.resize(static_cast<size_t>(elements()));
    copy_.resize(numbers_.size());
    uint32_t state = 1;
    for (float &number : numbers_) {
      state = state * 1664525u + 1013904223u;
      number = static_cast<float>(static_cast<int32_t>(state)) * 0x1p-30f;
    }
    fast_ = make_context(options.isa);
    check(fast_, lpt_tensor_wrap_matrix(fast_, LPT_FORMAT_F32, numbers_.data(), rows_, columns_, 0, &source_));
  }
  ~Table() {
    lpt_tensor_destroy(source_);
    for (lpt_context *context : contexts_) lpt_context_destroy(context);
  }
  Table(const Table &) = delete;
  Table &operator=(const Table &) = delete;

  std::vector<QuantizeRate> run() {
    nearest();
    beside_memcpy(kOfOwnAmax, 0);
    stochastic();
    blocks();
    decoding();
    if (options_.is_in_cache) others();
    for (const Case &one : kBoth) both(one);
    if (options_.is_in_cache && options_.isa == LPT_ISA_AUTO) avx2();
    return std::move(rates_);
  }

 private:
  // One contender of a race.
  struct Runner {
    QuantizeRate rate;
    std::function<void()> run;
  };

  int64_t elements() const { return rows_ * columns_; }

  static void check(lpt_context *context, lpt_status status) {
    if (status != LPT_OK) throw std::runtime_error(lpt_context_error(context));
  }

  lpt_context *make_context(lpt_isa isa) {
    lpt_context_options options = LPT_CONTEXT_OPTIONS_INIT;
    options.thread_count = 1;
    options.isa = isa;
    lpt_context *context = nullptr;
    check(nullptr, lpt_context_create(&options, &context));
    contexts_.push_back(context);
    return context;
  }

  // Owns a tensor or statistics of a runner. The last copy destroys it.
  template <typename Handle>
  static std::shared_ptr<Handle> owned(Handle *handle, void (*destroy)(Handle *)) {
    return std::shared_ptr<Handle>(handle, destroy);
  }

  std::shared_ptr<lpt_tensor> make_matrix(lpt_format format, bool is_transposed) {
    const int64_t extents[2] = {is_transposed ? columns_ : rows_, is_transposed ? rows_ : columns_};
    lpt_tensor *tensor = nullptr;
    check(fast_, lpt_tensor_create(fast_, format, 2, extents, &tensor));
    return owned(tensor, lpt_tensor_destroy);
  }

  double bytes_of(lpt_tensor *tensor) {
    size_t bytes = 0;
    check(fast_, lpt_tensor_size(fast_, tensor, &bytes));
    return static_cast<double>(bytes);
  }

  // A cast along rows, and also along columns if `has_columns`.
  Runner runner(lpt_context *context, const Case &one, bool has_columns) {
    const auto target = make_matrix(one.format, false);
    const auto transposed = has_columns ? make_matrix(one.format, true) : nullptr;
    lpt_quantize_options options = LPT_QUANTIZE_OPTIONS_INIT;
    std::shared_ptr<lpt_statistics> statistics;
    if (one.has_statistics) {
      lpt_statistics *made = nullptr;
      check(context, lpt_statistics_create(context, &made));
      statistics = owned(made, lpt_statistics_destroy);
    }
    if (one.keeps_tensor_scale) {
      check(context, lpt_quantize(context, source_, &options, target.get(), transposed.get()));
      options.flags = LPT_QUANTIZE_KEEP_TENSOR_SCALE;
    }
    options.scale_rule = one.rule;
    if (one.stochastic_bits != 0) {
      options.rounding = LPT_ROUNDING_STOCHASTIC;
      options.stochastic_bits = one.stochastic_bits;
    }
    Runner result;
    result.rate.name = one.name;
    result.rate.elements = static_cast<double>(elements());
    result.rate.bytes = 4 * result.rate.elements + bytes_of(target.get());
    if (has_columns) result.rate.bytes += bytes_of(transposed.get());
    lpt_tensor *source = source_;
    result.run = [=]() mutable {
      options.statistics = statistics.get();
      check(context, lpt_quantize(context, source, &options, target.get(), transposed.get()));
    };
    return result;
  }

  // Runs interleaved rounds of all runners and of a memcpy, so that a drifting clock affects all of them.
  void race(std::vector<Runner> &runners) {
    const int rounds = options_.is_in_cache ? 60 : 7;
    const int repeats = options_.is_in_cache ? 8 : 1;
    double copy_seconds = 1e9;
    for (Runner &runner : runners) runner.rate.seconds = 1e9;
    const auto fastest = [&](double &best, const auto &run) {
      const int count = best < kLongRun ? repeats : 1;
      const double begin = now();
      for (int i = 0; i < count; ++i) run();
      best = std::min(best, (now() - begin) / count);
    };
    for (int round = 0; round < rounds; ++round) {
      fastest(copy_seconds, [&] { std::memcpy(copy_.data(), numbers_.data(), numbers_.size() * sizeof(float)); });
      for (Runner &runner : runners) fastest(runner.rate.seconds, runner.run);
    }
    for (Runner &runner : runners) runner.rate.copy_seconds = copy_seconds;
  }

  void add(const QuantizeRate &rate) {
    rates_.push_back(rate);
    if (options_.on_rate) options_.on_rate(rate);
  }

  void add(QuantizeRate rate, const std::string &measure, double ratio, double bar) {
    rate.measure = measure;
    rate.ratio = ratio;
    rate.bar = bar;
    add(rate);
  }

  void add_beside_memcpy(const QuantizeRate &rate, double bar) {
    add(rate, "of memcpy's bytes", rate.gigabytes() / rate.copy_gigabytes(), bar);
  }

  template <size_t count>
  std::vector<Runner> runners(const Case (&cases)[count]) {
    std::vector<Runner> result;
    for (const Case &one : cases) result.push_back(runner(fast_, one, false));
    return result;
  }

  // Targets relative to memcpy apply out of cache.
  template <size_t count>
  void beside_memcpy(const Case (&cases)[count], double bar) {
    std::vector<Runner> racing = runners(cases);
    race(racing);
    for (const Runner &each : racing) add_beside_memcpy(each.rate, options_.is_in_cache ? 0 : bar);
  }

  void nearest() {
    if (!options_.is_in_cache) return beside_memcpy(kNearest, kBytesBarOfNearest);
    std::vector<Runner> racing = runners(kNearest);
    const size_t ours = racing.size();
    for (const QuantizePeer &peer : options_.peers) {
      Runner other;
      other.rate.name = peer.name;
      other.rate.elements = static_cast<double>(elements());
      other.rate.bytes = 5 * other.rate.elements;
      other.run = [&peer, this] { peer.run(numbers_.data(), copy_.data(), elements()); };
      racing.push_back(other);
    }
    race(racing);
    for (size_t i = ours; i < racing.size(); ++i) add(racing[i].rate);
    for (size_t i = 0; i < ours; ++i) {
      if (options_.peers.empty() && options_.given_peers.empty()) add_beside_memcpy(racing[i].rate, 0);
      for (size_t j = ours; j < racing.size(); ++j) {
        const QuantizePeer &peer = options_.peers[j - ours];
        add(racing[i].rate, "of " + peer.name, racing[j].rate.seconds / racing[i].rate.seconds, peer.bar);
      }
      if (i >= kFloatsOf8Bits) continue;
      for (const QuantizeGivenPeer &peer : options_.given_peers) {
        add(racing[i].rate, "of " + peer.name, racing[i].rate.gigaelements() * 1e9 / peer.elements_per_second,
            peer.bar);
      }
    }
  }

  void stochastic() {
    if (!options_.is_in_cache) {
      beside_memcpy(kStochastic8, kBytesBarOfStochastic8);
      beside_memcpy(kStochastic16, kBytesBarOfStochastic16);
      return beside_memcpy(kOtherStochastic, 0);
    }
    std::vector<Runner> racing = {runner(fast_, kNearest[0], false)};
    for (const Case &one : kStochastic8) racing.push_back(runner(fast_, one, false));
    for (const Case &one : kStochastic16) racing.push_back(runner(fast_, one, false));
    for (const Case &one : kOtherStochastic) racing.push_back(runner(fast_, one, false));
    race(racing);
    for (size_t i = 1; i < racing.size(); ++i) {
      add(racing[i].rate, "of e4m3fn to nearest", racing[0].rate.seconds / racing[i].rate.seconds,
          i <= std::size(kStochastic8) ? kBarOfStochastic8InCache : 0);
    }
  }

  void blocks() {
    if (!options_.is_in_cache) {
      beside_memcpy(kBlocks, kBytesBarOfBlocks);
      return beside_memcpy(kOtherBlocks, 0);
    }
    std::vector<Runner> racing = runners(kBlocks);
    for (const Case &one : kOtherBlocks) racing.push_back(runner(fast_, one, false));
    race(racing);
    for (size_t i = 0; i < racing.size(); ++i) {
      const QuantizeRate &rate = racing[i].rate;
      add(rate, "of memcpy's elements", rate.copy_seconds / rate.seconds,
          i < std::size(kBlocks) ? kBarOfBlocksInCache : 0);
    }
  }

  void decoding() {
    std::vector<Runner> racing;
    for (const lpt_format wide : {LPT_FORMAT_F32, LPT_FORMAT_BF16}) racing.push_back(decoder(kNearest[0], wide));
    race(racing);
    for (size_t i = 0; i < racing.size(); ++i) {
      add_beside_memcpy(racing[i].rate, options_.is_in_cache ? 0 : kBytesBarOfDecoding[i]);
    }
  }

  // Casts to lists and custom elements and back, and casts that search their scales.
  void others() {
    std::vector<Case> cases(std::begin(kLists), std::end(kLists));
    for (const char *name : kOwn) {
      Case own = {name, LPT_FORMAT_NONE};
      check(fast_, lpt_format_from_name(nullptr, name, &own.format));
      cases.push_back(own);
    }
    std::vector<Runner> racing;
    for (const Case &one : cases) racing.push_back(runner(fast_, one, false));
    for (const Case &one : cases) racing.push_back(decoder(one, LPT_FORMAT_F32));
    for (const Case &one : kSearched) racing.push_back(runner(fast_, one, false));
    race(racing);
    for (const Runner &each : racing) {
      add(each.rate, "of memcpy's elements", each.rate.copy_seconds / each.rate.seconds, 0);
    }
  }

  Runner decoder(const Case &one, lpt_format wide) {
    const auto codes = make_matrix(one.format, false), numbers = make_matrix(wide, false);
    check(fast_, lpt_quantize(fast_, source_, nullptr, codes.get(), nullptr));
    Runner result;
    result.rate.name = std::string(one.name) + (wide == LPT_FORMAT_F32 ? " to f32" : " to bf16");
    result.rate.elements = static_cast<double>(elements());
    result.rate.bytes = bytes_of(codes.get()) + bytes_of(numbers.get());
    result.run = [=, this] { check(fast_, lpt_dequantize(fast_, codes.get(), nullptr, numbers.get())); };
    return result;
  }

  void both(const Case &one) {
    std::vector<Runner> racing = {runner(fast_, one, false), runner(fast_, one, true)};
    race(racing);
    QuantizeRate rate = racing[1].rate;
    rate.name += ", rows and columns";
    rate.is_ceiling = true;
    add(rate, "of the time of rows", rate.seconds / racing[0].rate.seconds, kBarOfBoth);
  }

  void avx2() {
    lpt_context *const slow = make_context(LPT_ISA_X86_AVX2);
    for (const Case &one : {kNearest[0], kNearest[1], kNearest[2], kNearest[3], kStochastic8[0], kStochastic16[0],
                            kBlocks[0], kBlocks[1], kBlocks[2], kBlocks[3], kBlocks[4]}) {
      std::vector<Runner> racing = {runner(fast_, one, false), runner(slow, one, false)};
      race(racing);
      QuantizeRate rate = racing[1].rate;
      rate.name += ", AVX2";
      add(rate, "of AVX-512", racing[0].rate.seconds / rate.seconds, kBarOfAvx2);
    }
  }

  const QuantizeRateOptions &options_;
  int64_t rows_ = 0, columns_ = 0;
  std::vector<float> numbers_, copy_;
  std::vector<lpt_context *> contexts_;
  lpt_context *fast_ = nullptr;
  lpt_tensor *source_ = nullptr;
  std::vector<QuantizeRate> rates_;
};

}  // namespace

std::vector<QuantizeRate> quantize_rates(const QuantizeRateOptions &options, std::string &error) {
  try {
    return Table(options).run();
  } catch (const std::runtime_error &failure) {
    error = failure.what();
    return {};
  }
}

}  // namespace lpt::bench
