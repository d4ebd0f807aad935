// Number of masks of a pattern, and selection of the pattern of a pruned model.
#include <cmath>
#include <map>
#include <vector>

#include "src/call/operation.hpp"
#include "src/sparse/parts.hpp"

namespace lpt {
namespace {

constexpr int32_t kLargestCountedTile = 8;

double binomial(int32_t n, int32_t k) {
  double result = 1.0;
  for (int32_t i = 1; i <= k; ++i) result = result * (n - k + i) / i;
  return std::round(result);
}

// Counts square 0/1 matrices whose rows and columns all sum to N, row by row. The state is the number of columns for each
// number of missing ones. All intermediate values are integers below 2^53.
class TileCounter {
 public:
  TileCounter(int32_t kept, int32_t of) : kept_(kept), wanting_(static_cast<size_t>(kept) + 1) {
    wanting_[static_cast<size_t>(kept)] = of;
  }
  double count() { return matrices(wanting_); }

 private:
  using MissingOnes = std::vector<int32_t>;  // number of columns by number of missing ones

  double matrices(const MissingOnes &wanting) {
    bool is_done = true;
    for (size_t ones = 1; ones < wanting.size(); ++ones) is_done = is_done && wanting[ones] == 0;
    if (is_done) return 1.0;
    const auto found = known_.find(wanting);
    if (found != known_.end()) return found->second;
    const double result = rows(wanting, wanting, 1, kept_);
    known_.emplace(wanting, result);
    return result;
  }

  // Returns the number of ways to place `left` ones of a row in columns with at least `ones` missing ones, and to complete
  // the matrix.
  double rows(const MissingOnes &before, const MissingOnes &after, size_t ones, int32_t left) {
    if (ones == before.size()) return left == 0 ? matrices(after) : 0.0;
    double result = 0.0;
    for (int32_t taken = 0; taken <= std::min(left, before[ones]); ++taken) {
      MissingOnes next = after;
      next[ones] -= taken;
      next[ones - 1] += taken;
      result += binomial(before[ones], taken) * rows(before, next, ones + 1, left - taken);
    }
    return result;
  }

  int32_t kept_;
  MissingOnes wanting_;
  std::map<MissingOnes, double> known_;
};

double log2_factorial(int32_t n) {
  double result = 0.0;
  for (int32_t i = 2; i <= n; ++i) result += std::log2(static_cast<double>(i));
  return result;
}

double published_bits(int32_t kept, int32_t of) {
  double result = 0.0;
  for (int32_t i = 0; i < kept; ++i) result += log2_factorial(of - i);
  return result;
}

}  // namespace

Status count_sparse_masks(int32_t kept, int32_t of, lpt_sparse_direction direction, lpt_sparse_count count,
                          double *out_bits) {
  LPT_TRY(check_sparse_group(kept, of, of));
  LPT_TRY(check_choice("direction", direction, LPT_SPARSE_DIRECTION_BOTH));
  LPT_TRY(check_choice("count", count, LPT_SPARSE_COUNT_PUBLISHED));
  if (direction != LPT_SPARSE_DIRECTION_BOTH) {
    *out_bits = (log2_factorial(of) - log2_factorial(kept) - log2_factorial(of - kept)) / of;
    return {};
  }
  const double elements = static_cast<double>(of) * of;
  if (count == LPT_SPARSE_COUNT_PUBLISHED) {
    *out_bits = published_bits(kept, of) / elements;
    return {};
  }
  if (of > kLargestCountedTile) {
    return unsupported("of is %d: transposable masks are counted up to %d", of, kLargestCountedTile);
  }
  *out_bits = std::log2(TileCounter(kept, of).count()) / elements;
  return {};
}

Status choose_kept(double zero_share, int32_t of, double confidence, int32_t *out_kept) {
  LPT_TRY(check_finite("zero_share", zero_share, 0.0, 1.0));
  LPT_TRY(check_sparse_group(1, of, of));
  if (!(confidence > 0.0 && confidence < 1.0)) {
    return invalid("confidence is %g: expected more than 0 and less than 1", confidence);
  }
  // Sum the probability of at least `zeros` zeros, from `of` down, until it exceeds the confidence.
  double probability = 0.0;
  for (int32_t zeros = of; zeros > 0; --zeros) {
    probability += binomial(of, zeros) * std::pow(zero_share, zeros) * std::pow(1.0 - zero_share, of - zeros);
    if (probability <= confidence) continue;
    *out_kept = std::max(of - zeros, 1);
    return {};
  }
  *out_kept = of;
  return {};
}

}  // namespace lpt
