#include "src/collective/cost.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <vector>

#include "src/call/operation.hpp"
#include "src/collective/cost_table.hpp"

namespace lpt {
namespace {

constexpr int32_t kMostRanks = 1 << 20;
constexpr double kMostSeconds = 1e9;
constexpr double kMostRate = 1e30;  // bytes per second

// Checks.

// Collects the table entries of one algorithm, or of all algorithms of the collective. An error lists the latter.
Status find_algorithms(lpt_cost_collective collective, lpt_cost_algorithm algorithm,
                       std::vector<AlgorithmEntry> &out_rows) {
  LPT_TRY(check_choice("collective", collective, LPT_COST_COLLECTIVE_ALL_TO_ALL));
  LPT_TRY(check_choice("algorithm", algorithm, LPT_COST_ALGORITHM_STAR));
  std::string known;
  for (const AlgorithmEntry &row : costs()) {
    if (row.collective != collective) continue;
    known += (known.empty() ? "" : ", ") + std::string(name_of_algorithm(row.algorithm));
    if (algorithm == LPT_COST_ALGORITHM_BEST || row.algorithm == algorithm) out_rows.push_back(row);
  }
  if (!out_rows.empty()) return {};
  return unsupported("algorithm is %s, which has no %s: expected one of best, %s", name_of_algorithm(algorithm),
                     name_of_collective(collective), known.c_str());
}

Status check_ranks(int32_t ranks) {
  if (ranks >= 1 && ranks <= kMostRanks) return {};
  return invalid("ranks is %d: expected 1 to %d", ranks, kMostRanks);
}

Status check_link(const lpt_cost_link &link) {
  LPT_TRY(check_finite("link->latency_seconds", link.latency_seconds, 0.0, kMostSeconds));
  LPT_TRY(check_finite("link->bytes_per_second", link.bytes_per_second, 0.0, kMostRate));
  return check_finite("link->reduce_bytes_per_second", link.reduce_bytes_per_second, 0.0, kMostRate);
}

Status check_rates(const lpt_cost_cast_rates &rates) {
  LPT_TRY(check_finite("rates->overhead_seconds", rates.overhead_seconds, 0.0, kMostSeconds));
  LPT_TRY(check_finite("rates->encode_bytes_per_second", rates.encode_bytes_per_second, 0.0, kMostRate));
  return check_finite("rates->decode_bytes_per_second", rates.decode_bytes_per_second, 0.0, kMostRate);
}

// Bytes of a payload format.

struct PayloadBytes {
  double each = 0.0;   // of an element, with its fraction of the scale and zero point of its block
  double whole = 0.0;  // of the scales that all elements share

  double of(double elements) const { return elements > 0.0 ? elements * each + whole : 0.0; }
};

double plain_bytes(lpt_format plain) {
  const Packing packing = packing_of(plain);
  return static_cast<double>(packing.bytes) / packing.elements;
}

// The payload is one row: a block of full rows covers all of it, a block of full columns one element.
PayloadBytes payload_bytes(const Format &format) {
  PayloadBytes bytes{plain_bytes(format.element), format.has_tensor_scale() ? plain_bytes(format.tensor_scale) : 0.0};
  if (!format.has_block_scale()) return bytes;
  const double of_block =
      plain_bytes(format.block_scale) + (format.has_zero_point() ? plain_bytes(format.zero_point) : 0.0);
  if (format.block_columns == LPT_BLOCK_EXTENT_FULL) {
    bytes.whole += of_block;
  } else {
    bytes.each += of_block / (static_cast<double>(format.block_columns) * std::max(format.block_rows, 1));
  }
  return bytes;
}

Status find_payload(const char *name, lpt_format id, PayloadBytes &out_bytes) {
  Format format;
  if (!find_format(id, format)) {
    return invalid("%s is %lld: expected one of lpt_format_values or what lpt_format_from_description() gives", name,
                   number(id));
  }
  if (format.is_sparse) {
    return unsupported("%s is %s: collectives carry no 2:4 formats", name, format_name(id).c_str());
  }
  out_bytes = payload_bytes(format);
  return {};
}

// Time.

double over(double bytes, double rate) { return rate == 0.0 ? 0.0 : bytes / rate; }

// Seconds per byte of the payload.
double seconds_per_byte(const AlgorithmCost &cost, const lpt_cost_link &link) {
  return over(cost.critical_bytes, link.bytes_per_second) + over(cost.added, link.reduce_bytes_per_second);
}

lpt_cost_info cost_of(const AlgorithmEntry &row, int32_t ranks, double bytes, const lpt_cost_link &link) {
  const AlgorithmCost cost = cost_of(row, ranks);
  lpt_cost_info values = LPT_COST_INFO_INIT;
  values.algorithm = row.algorithm;
  values.step_count = static_cast<int32_t>(cost.steps);
  values.payload_bytes = bytes;
  values.rank_bytes = cost.busiest * bytes;
  values.total_bytes = cost.total * bytes;
  values.seconds = cost.steps * link.latency_seconds + seconds_per_byte(cost, link) * bytes;
  return values;
}

bool is_better(const lpt_cost_info &a, const lpt_cost_info &b) {
  return std::tie(a.seconds, a.rank_bytes, a.step_count) < std::tie(b.seconds, b.rank_bytes, b.step_count);
}

// Break-even.

// Time in seconds as a linear function of the element count.
struct LinearCost {
  double begin, slope;

  double at(double elements) const { return begin + slope * elements; }
};

LinearCost line_of(const AlgorithmCost &cost, const PayloadBytes &bytes, const lpt_cost_link &link) {
  const double per_byte = seconds_per_byte(cost, link);
  return {cost.steps * link.latency_seconds + per_byte * bytes.whole, per_byte * bytes.each};
}

LinearCost line_of_casts(const AlgorithmCost &cost, const PayloadBytes &plain, const lpt_cost_cast_rates &rates) {
  return {rates.overhead_seconds, plain.each * (over(cost.encoded, rates.encode_bytes_per_second) +
                                                over(cost.decoded, rates.decode_bytes_per_second))};
}

// Two payload formats, each with the time of its fastest algorithm.
class CrossoverSearch {
 public:
  void add(const LinearCost &plain, const LinearCost &cast) {
    plain_.push_back(plain);
    cast_.push_back(cast);
  }

  // Finds the element count from which cast payloads are always faster. The minimum of several lines has kinks, so the faster
  // format can change repeatedly. At each change a line of one format crosses a line of the other.
  bool find_break_even(double &out_begin) const {
    std::vector<double> edges = crossings();
    double end = edges.empty() ? 2.0 : 2.0 * edges.back() + 2.0;
    if (!is_cast_faster(end)) return false;
    for (; !edges.empty(); edges.pop_back()) {
      out_begin = edges.back();
      const double before = edges.size() > 1 ? 0.5 * (edges[edges.size() - 2] + out_begin) : 0.5 * out_begin;
      if (!is_cast_faster(before)) return true;
    }
    out_begin = 0.0;
    return true;
  }

  bool is_cast_faster(double elements) const { return least(cast_, elements) < least(plain_, elements); }

 private:
  static double least(const std::vector<LinearCost> &lines, double elements) {
    double seconds = lines.front().at(elements);
    for (const LinearCost &line : lines) seconds = std::min(seconds, line.at(elements));
    return seconds;
  }

  // In ascending order. Crossings that differ only by rounding are merged.
  std::vector<double> crossings() const {
    std::vector<double> edges;
    for (const LinearCost &plain : plain_) {
      for (const LinearCost &cast : cast_) {
        const double edge = (cast.begin - plain.begin) / (plain.slope - cast.slope);
        if (std::isfinite(edge) && edge > 0.0) edges.push_back(edge);
      }
    }
    std::sort(edges.begin(), edges.end());
    const auto are_one = [](double a, double b) { return b - a <= 1e-12 * b; };
    edges.erase(std::unique(edges.begin(), edges.end(), are_one), edges.end());
    return edges;
  }

  std::vector<LinearCost> plain_, cast_;
};

}  // namespace

Status collective_cost(lpt_cost_collective collective, lpt_cost_algorithm algorithm, int32_t ranks, int64_t elements,
                       lpt_format payload, const lpt_cost_link &link, lpt_cost_info &out_info) {
  std::vector<AlgorithmEntry> rows;
  PayloadBytes bytes;
  LPT_TRY(find_algorithms(collective, algorithm, rows));
  LPT_TRY(check_ranks(ranks));
  if (elements < 0) return invalid("elements is %lld: expected 0 or more", number(elements));
  LPT_TRY(find_payload("payload", payload, bytes));
  LPT_TRY(check_link(link));
  const double count = bytes.of(static_cast<double>(elements));
  out_info = cost_of(rows.front(), ranks, count, link);
  for (const AlgorithmEntry &row : rows) {
    const lpt_cost_info values = cost_of(row, ranks, count, link);
    if (is_better(values, out_info)) out_info = values;
  }
  return {};
}

Status break_even(const BreakEven &question, const lpt_cost_cast_rates &rates, const lpt_cost_link &link,
                  int64_t &out_elements) {
  std::vector<AlgorithmEntry> rows;
  PayloadBytes plain, payload;
  LPT_TRY(find_algorithms(question.collective, question.algorithm, rows));
  LPT_TRY(check_ranks(question.ranks));
  LPT_TRY(find_payload("plain", question.plain, plain));
  LPT_TRY(find_payload("payload", question.payload, payload));
  LPT_TRY(check_rates(rates));
  LPT_TRY(check_link(link));
  CrossoverSearch search;
  for (const AlgorithmEntry &row : rows) {
    const AlgorithmCost cost = cost_of(row, question.ranks);
    const LinearCost bytes = line_of(cost, payload, link), casts = line_of_casts(cost, plain, rates);
    search.add(line_of(cost, plain, link), {bytes.begin + casts.begin, bytes.slope + casts.slope});
  }
  double begin = 0.0;
  if (!search.find_break_even(begin) || begin >= 0x1p62) {
    out_elements = -1;
    return {};
  }
  out_elements = static_cast<int64_t>(begin) + 1;
  return {};
}

}  // namespace lpt
