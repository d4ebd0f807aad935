// Finds an order of columns that increases the energy that N:M masks along rows keep.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "src/cast/quantize.hpp"
#include "src/sparse/parts.hpp"
#include "src/tensor/checks.hpp"

namespace lpt {
namespace {

constexpr int64_t kTrialsOfAColumn = 20;
constexpr int64_t kBlock = 64;  // rows whose largest squares are computed together

// The squares of a weight in column order, and the assignment of columns to groups.
class Ordering {
 public:
  Ordering(const MatrixView &weight, int32_t kept, int32_t of)
      : rows_(weight.rows),
        columns_(weight.columns),
        kept_(kept),
        of_(of),
        squares_(static_cast<size_t>(rows_ * columns_)) {
    for (int64_t r = 0; r < rows_; ++r) {
      const float *numbers = static_cast<const float *>(weight.data) + r * weight.row_stride;
      for (int64_t c = 0; c < columns_; ++c) {
        const float square = numbers[c] * numbers[c];
        squares_[static_cast<size_t>(c * rows_ + r)] = std::isfinite(square) ? square : 0.0f;
      }
    }
  }

  void set(std::vector<int32_t> order) {
    order_ = std::move(order);
    kept_energy_.assign(static_cast<size_t>((columns_ + of_ - 1) / of_), 0.0);
    for (size_t group = 0; group < kept_energy_.size(); ++group) kept_energy_[group] = energy_of(group);
  }
  double kept_energy() const { return std::accumulate(kept_energy_.begin(), kept_energy_.end(), 0.0); }
  double energy() const { return std::accumulate(squares_.begin(), squares_.end(), 0.0); }
  const std::vector<int32_t> &order() const { return order_; }

  // Returns the columns sorted by descending norm and distributed to the groups in serpentine order.
  std::vector<int32_t> serpentine_order() const {
    std::vector<double> norms(static_cast<size_t>(columns_));
    for (int64_t c = 0; c < columns_; ++c) {
      for (int64_t r = 0; r < rows_; ++r) {
        norms[static_cast<size_t>(c)] += static_cast<double>(squares_[static_cast<size_t>(c * rows_ + r)]);
      }
    }
    std::vector<int32_t> sorted(norms.size());
    std::iota(sorted.begin(), sorted.end(), 0);
    std::stable_sort(sorted.begin(), sorted.end(), [&](int32_t a, int32_t b) {
      return norms[static_cast<size_t>(a)] > norms[static_cast<size_t>(b)];
    });
    const int64_t groups = columns_ / of_;  // an incomplete last group keeps the smallest
    std::vector<int32_t> result = sorted;
    for (int64_t i = 0; i < groups * of_; ++i) {
      const int64_t round = i / groups;
      const int64_t group = round % 2 == 0 ? i % groups : groups - 1 - i % groups;
      result[static_cast<size_t>(group * of_ + round)] = sorted[static_cast<size_t>(i)];
    }
    return result;
  }

  // Exchanges the columns at two positions if this increases the kept energy.
  void try_exchange(int64_t a, int64_t b) {
    const auto first = static_cast<size_t>(a / of_);
    const auto second = static_cast<size_t>(b / of_);
    if (first == second) return;
    std::swap(order_[static_cast<size_t>(a)], order_[static_cast<size_t>(b)]);
    const double first_energy = energy_of(first);
    const double second_energy = energy_of(second);
    if (first_energy + second_energy > kept_energy_[first] + kept_energy_[second]) {
      kept_energy_[first] = first_energy;
      kept_energy_[second] = second_energy;
    } else {
      std::swap(order_[static_cast<size_t>(a)], order_[static_cast<size_t>(b)]);
    }
  }

 private:
  // Returns the sum over rows of the `kept` largest squares of a group.
  double energy_of(size_t group) const {
    const int64_t begin = static_cast<int64_t>(group) * of_;
    const int64_t end = std::min<int64_t>(begin + of_, columns_);
    double sum = 0.0;
    for (int64_t row = 0; row < rows_; row += kBlock) {
      sum += largest_of(begin, end, row, std::min(kBlock, rows_ - row));
    }
    return sum;
  }

  // Inserts each column into the sorted largest squares of every row. Rows are adjacent, so the inner loop is vectorized over
  // rows.
  double largest_of(int64_t begin, int64_t end, int64_t row, int64_t count) const {
    float largest[32][kBlock] = {};
    for (int64_t place = begin; place < end; ++place) {
      const float *squares = squares_.data() + order_[static_cast<size_t>(place)] * rows_ + row;
      float moving[kBlock] = {};
      std::copy_n(squares, count, moving);
      for (int32_t k = 0; k < kept_; ++k) {
        for (int64_t i = 0; i < kBlock; ++i) {
          const float larger = std::max(largest[k][i], moving[i]);
          moving[i] = std::min(largest[k][i], moving[i]);
          largest[k][i] = larger;
        }
      }
    }
    double sum = 0.0;
    for (int32_t k = 0; k < kept_; ++k) {
      for (int64_t i = 0; i < count; ++i) sum += static_cast<double>(largest[k][i]);
    }
    return sum;
  }

  int64_t rows_, columns_;
  int32_t kept_, of_;
  std::vector<float> squares_;
  std::vector<int32_t> order_;
  std::vector<double> kept_energy_;
};

Status check_order_options(const lpt_sparse_options &options) {
  LPT_TRY(check_flags("flags", options.flags, 0));
  LPT_TRY(check_sparse_group(options.kept, options.of, options.of - 1));
  if (options.rule != LPT_SPARSE_RULE_MAGNITUDE || options.direction != LPT_SPARSE_DIRECTION_ROW) {
    return unsupported("rule is %d and direction %d: expected MAGNITUDE and ROW", options.rule, options.direction);
  }
  if (options.iterations < 0) return invalid("iterations is %d: expected 0 or more", options.iterations);
  if (options.importance != nullptr) return unsupported("importance is given: expected NULL");
  return {};
}

Status exchange_columns(Context &context, int64_t trials, const RandomSource &random, int64_t columns,
                        Ordering &ordering) {
  constexpr int64_t kReported = 1024;
  for (int64_t trial = 0; trial < trials; ++trial) {
    const PhiloxBlock block = random_block(random, static_cast<uint64_t>(trial));
    const auto count = static_cast<uint64_t>(columns);
    ordering.try_exchange(static_cast<int64_t>(block.word[0] % count), static_cast<int64_t>(block.word[1] % count));
    if (context.progress == nullptr || (trial + 1) % kReported != 0) continue;
    if (context.progress(context.progress_user, trial + 1, trials) != 0) return cancelled(trial + 1, trials);
  }
  return {};
}

}  // namespace

Status order_sparse(Context &context, const Tensor *weight, const lpt_sparse_options &options, int32_t *order,
                    lpt_sparse_info &out_info) {
  MatrixView view;
  RandomSource random{};
  LPT_TRY(check_order_options(options));
  LPT_TRY(check_wide_matrix(weight, "weight", true, view));
  LPT_TRY(make_random(options.random, RandomDomain::kSparse, 1, view.columns, 16, options.philox_rounds, random));
  MatrixView numbers;
  std::byte *memory = nullptr;
  LPT_TRY(context.host_scratch->take(static_cast<size_t>(view.rows * view.columns) * sizeof(float), &memory));
  numbers = dense_view(LPT_FORMAT_F32, memory, view.rows, view.columns);
  LPT_TRY(widen_matrix(context, view, numbers, false));
  Ordering ordering(numbers, options.kept, options.of);
  std::vector<int32_t> given(static_cast<size_t>(view.columns));
  std::iota(given.begin(), given.end(), 0);
  ordering.set(ordering.serpentine_order());
  const double dealt_energy = ordering.kept_energy();
  const std::vector<int32_t> serpentine_order = ordering.order();
  ordering.set(given);
  if (dealt_energy > ordering.kept_energy()) ordering.set(serpentine_order);
  const int64_t trials = options.iterations != 0 ? options.iterations : kTrialsOfAColumn * view.columns;
  if (view.columns > 0) LPT_TRY(exchange_columns(context, trials, random, view.columns, ordering));
  std::copy(ordering.order().begin(), ordering.order().end(), order);
  const int64_t groups = view.columns / options.of;
  const int64_t left = view.columns % options.of;
  out_info.element_count = view.rows * view.columns;
  out_info.kept_count = view.rows * (groups * options.kept + std::min<int64_t>(left, options.kept));
  out_info.energy = ordering.energy();
  out_info.kept_energy = ordering.kept_energy();
  return {};
}

}  // namespace lpt
