#include "bench/transposable_rates.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "bench/peaks.hpp"
#include "kernels/transposable_mask/transposable_mask.hpp"

namespace lpt::bench {
namespace {

constexpr int64_t kColumns = 4096;
constexpr int64_t kPlainElements = 64 * kColumns;  // size for slow searches
constexpr int kRounds = 7;

struct Rule {
  const char *name;
  int32_t kept, of;
  lpt_sparse_solver solver;
  double read_bar, plain_bar;  // of the fastest kernel, on f32 out of cache
};
constexpr Rule kRules[] = {{"2:4 exact", 2, 4, LPT_SPARSE_SOLVER_EXACT, 0.55, 100},
                           {"4:8 greedy", 4, 8, LPT_SPARSE_SOLVER_GREEDY, 0, 20},
                           {"4:8 search", 4, 8, LPT_SPARSE_SOLVER_SEARCH, 0, 0}};

// Sums of two uniform values, and their upper halves.
struct Source {
  explicit Source(int64_t elements) : f32(static_cast<size_t>(elements)), bf16(f32.size()), mask(f32.size()) {
    uint32_t state = 1;
    const auto uniform = [&] {
      state = state * 1664525u + 1013904223u;
      return static_cast<float>(static_cast<int32_t>(state)) * 0x1p-31f;
    };
    for (size_t i = 0; i < f32.size(); ++i) {
      f32[i] = uniform() + uniform();
      bf16[i] = static_cast<uint16_t>(std::bit_cast<uint32_t>(f32[i]) >> 16);
    }
  }
  std::vector<float> f32;
  std::vector<uint16_t> bf16;
  std::vector<uint8_t> mask;
};

TransposableMaskRequest request_of(Source &source, const Rule &rule, lpt_format plain, int64_t elements) {
  TransposableMaskRequest request{};
  find_format(plain, request.source.format);
  find_format(LPT_FORMAT_UINT8, request.mask.format);
  request.source.data = plain == LPT_FORMAT_F32 ? static_cast<void *>(source.f32.data()) : source.bf16.data();
  request.mask.data = source.mask.data();
  for (MatrixView *view : {&request.source, &request.mask}) {
    view->rows = elements / kColumns;
    view->columns = view->row_stride = kColumns;
  }
  request.kept = rule.kept;
  request.of = rule.of;
  request.solver = rule.solver;
  return request;
}

std::vector<uint32_t> all_patterns() {
  std::vector<uint32_t> result;
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    bool is_pattern = true;
    for (int line = 0; line < 4; ++line) {
      is_pattern =
          is_pattern && std::popcount(bits >> 4 * line & 0xFu) == 2 && std::popcount(bits >> line & 0x1111u) == 2;
    }
    if (is_pattern) result.push_back(bits);
  }
  return result;
}

// The straightforward search: all 90 sums.
void search_patterns(Source &source, int64_t elements) {
  static const std::vector<uint32_t> patterns = all_patterns();
  for (int64_t tile = 0; tile < elements / 16; ++tile) {
    const int64_t begin = tile / (kColumns / 4) * 4 * kColumns + tile % (kColumns / 4) * 4;
    float best_sum = -1;
    uint32_t best = 0;
    for (const uint32_t bits : patterns) {
      float sum = 0;
      for (int i = 0; i < 16; ++i) {
        if ((bits >> i & 1) != 0) sum += std::fabs(source.f32[static_cast<size_t>(begin + i / 4 * kColumns + i % 4)]);
      }
      if (sum > best_sum) {
        best_sum = sum;
        best = bits;
      }
    }
    for (int i = 0; i < 16; ++i) {
      source.mask[static_cast<size_t>(begin + i / 4 * kColumns + i % 4)] = static_cast<uint8_t>(best >> i & 1);
    }
  }
}

template <typename Run>
double fastest(int rounds, const Run &run) {
  double best = 1e9;
  for (int i = 0; i < rounds; ++i) {
    const double begin = now();
    run();
    best = std::min(best, now() - begin);
  }
  return best;
}

// Returns the seconds per element of the reference for the kernels of the rule.
double plain_seconds(Source &source, const Rule &rule, lpt_format plain, int64_t elements) {
  const int64_t few = std::min(elements, kPlainElements);
  const TransposableMaskRequest request = request_of(source, rule, plain, few);
  const auto &row = transposable_mask_kernels().back();
  const bool is_exact = rule.solver == LPT_SPARSE_SOLVER_EXACT;
  return fastest(3, [&] { is_exact ? search_patterns(source, few) : row.run(request); }) / static_cast<double>(few);
}

void measure(Source &source, const Rule &rule, lpt_format plain, std::vector<TransposableRate> &rates) {
  const auto elements = static_cast<int64_t>(source.f32.size());
  const double plain_row = plain_seconds(source, rule, plain, elements);
  const TransposableMaskRequest request = request_of(source, rule, plain, elements);
  const size_t bytes = source.f32.size() * (plain == LPT_FORMAT_F32 ? 4 : 2);
  bool is_first = plain == LPT_FORMAT_F32;
  for (const auto &row : transposable_mask_kernels()) {
    if (row.needs.cpu == 0 || (row.needs.cpu & ~cpu_features()) != 0 || row.unsupported_reason(request) != nullptr)
      continue;
    double read = 1e9, run = 1e9;
    for (int i = 0; i < kRounds; ++i) {
      read = std::min(read, read_seconds(request.source.data, bytes));
      run = std::min(run, fastest(1, [&] { row.run(request); }));
    }
    TransposableRate rate;
    rate.name = std::string(rule.name) + (plain == LPT_FORMAT_F32 ? " of f32" : " of bf16");
    rate.row = row.name;
    rate.seconds_per_element = run / static_cast<double>(elements);
    rate.of_read = read / run;
    rate.of_plain = plain_row / rate.seconds_per_element;
    if (is_first) {
      rate.read_bar = rule.read_bar;
      rate.plain_bar = rule.plain_bar;
    }
    is_first = false;
    rates.push_back(rate);
  }
}

}  // namespace

std::vector<TransposableRate> transposable_rates(int64_t elements) {
  Source source(elements);
  std::vector<TransposableRate> rates;
  for (const Rule &rule : kRules) {
    for (const lpt_format plain : {LPT_FORMAT_F32, LPT_FORMAT_BF16}) measure(source, rule, plain, rates);
  }
  return rates;
}

}  // namespace lpt::bench
