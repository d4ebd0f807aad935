#include "src/calibration/calibration.hpp"

#include <bit>
#include <cmath>
#include <memory>

#include "src/calibration/fit.hpp"
#include "src/cast/cast.hpp"
#include "src/tensor/checks.hpp"

namespace lpt {
namespace {

constexpr int64_t kRowsAtOnce = 512;    // whose products are summed in f32
constexpr float kLargestInput = 1e17f;  // the sum of squares of kRowsAtOnce inputs is finite in f32
constexpr int kCountedBits = 19;  // bits of a magnitude that are not counted: f32 keeps its exponent and four more
constexpr size_t kBins = size_t{1} << 12;   // of counts
constexpr size_t kNumbersAtOnce = 1 << 16;  // that ranks exchange

const float *row_at(const MatrixView &matrix, int64_t row) {
  return static_cast<const float *>(matrix.data) + row * matrix.row_stride;
}

// Batches of a call as f32: scratch of kRowsAtOnce rows.
struct Batch {
  MatrixView whole, rows;

  Status open(Context &context) {
    return take_matrix(context, LPT_FORMAT_F32, std::min(whole.rows, kRowsAtOnce), whole.columns, false, rows);
  }
  Status read(Context &context, int64_t begin) {
    const Arena::Mark mark = context.host_scratch->mark();
    rows.rows = std::min(kRowsAtOnce, whole.rows - begin);
    LPT_TRY(widen_matrix(context, cut_rows(whole, begin, rows.rows), rows, false));
    context.host_scratch->give_back(mark);
    return {};
  }
};

Status check_values(Context &context, Batch &batch, const char *name) {
  for (int64_t begin = 0; begin < batch.whole.rows; begin += kRowsAtOnce) {
    LPT_TRY(batch.read(context, begin));
    for (int64_t r = 0; r < batch.rows.rows; ++r) {
      const float *numbers = row_at(batch.rows, r);
      for (int64_t c = 0; c < batch.rows.columns; ++c) {
        if (std::fabs(numbers[c]) <= kLargestInput) continue;
        return invalid("%s[%lld][%lld] is %g: expected a finite number, at most 1e17 in magnitude", name,
                       number(begin + r), number(c), static_cast<double>(numbers[c]));
      }
    }
  }
  return {};
}

// Adds leftᵀ · right.
Status add_products(Context &context, const MatrixView &left, const MatrixView &right, const MatrixView &products,
                    ExactSums &sums) {
  LPT_TRY(multiply(context, left, right, products, TransposedOperand::kA));
  const int64_t columns = products.columns;
  parallel_parts(context, products.rows, columns, [&](int64_t begin, int64_t count) {
    for (int64_t r = begin; r < begin + count; ++r) {
      const float *numbers = row_at(products, r);
      for (int64_t c = 0; c < columns; ++c) {
        sums.add(static_cast<size_t>(r * columns + c), static_cast<double>(numbers[c]));
      }
    }
  });
  return {};
}

// Adds maxima, counts and sums of columns.
void add_columns(const MatrixView &rows, Calibration &calibration) {
  const auto columns = static_cast<size_t>(rows.columns);
  std::vector<double> sums(columns), squares(columns);
  for (int64_t r = 0; r < rows.rows; ++r) {
    const float *numbers = row_at(rows, r);
    for (size_t c = 0; c < columns; ++c) {
      const auto x = static_cast<double>(numbers[c]);
      sums[c] += x;
      squares[c] += x * x;
      calibration.maxima[c] = std::max(calibration.maxima[c], std::fabs(x));
      ++calibration.counts[std::bit_cast<uint32_t>(std::fabs(numbers[c])) >> kCountedBits];
    }
  }
  for (size_t c = 0; c < columns; ++c) {
    calibration.sums.add(c, sums[c]);
    calibration.squares.add(c, squares[c]);
  }
  calibration.rows += rows.rows;
}

// Numbers that ranks add, with or without an error beside them, or of which they take the maximum.
struct RankNumbers {
  std::vector<double> *high;
  std::vector<double> *low = nullptr;
  bool is_maximum = false;
};

// Combines the numbers begin to begin + count of all ranks, in the order of ranks.
Status combine(Engine &engine, const Signature &signature, const RankNumbers &numbers, size_t begin, size_t count) {
  const auto ranks = static_cast<size_t>(engine.ranks()), self = static_cast<size_t>(engine.rank());
  const size_t length = numbers.low != nullptr ? 2 * count : count;
  std::vector<double> mine(length), all(ranks * length);
  std::copy_n(numbers.high->begin() + static_cast<ptrdiff_t>(begin), count, mine.begin());
  if (numbers.low != nullptr) {
    std::copy_n(numbers.low->begin() + static_cast<ptrdiff_t>(begin), count,
                mine.begin() + static_cast<ptrdiff_t>(count));
  }
  const auto bytes_of = [&](double *data) {
    return Bytes{reinterpret_cast<std::byte *>(data), static_cast<int64_t>(length * sizeof(double))};
  };
  std::vector<Bytes> incoming;
  for (size_t q = 0; q < ranks; ++q) incoming.push_back(bytes_of(all.data() + q * length));
  const std::vector<Bytes> outgoing(ranks, bytes_of(mine.data()));
  const ExchangeGuard guard(engine);
  LPT_TRY(engine.all_to_all_v(signature, outgoing.data(), incoming.data()));
  incoming[self] = outgoing[self];
  ExactSums sums;
  sums.resize(static_cast<int64_t>(count));
  for (size_t q = 0; q < ranks; ++q) {
    const auto *from = reinterpret_cast<const double *>(incoming[q].data);
    for (size_t i = 0; i < count; ++i) {
      if (numbers.is_maximum) {
        sums.high[i] = std::max(sums.high[i], from[i]);
        continue;
      }
      sums.add(i, from[i]);
      if (numbers.low != nullptr) sums.add(i, from[count + i]);
    }
  }
  std::copy_n(sums.high.begin(), count, numbers.high->begin() + static_cast<ptrdiff_t>(begin));
  if (numbers.low != nullptr)
    std::copy_n(sums.low.begin(), count, numbers.low->begin() + static_cast<ptrdiff_t>(begin));
  return engine.release();
}

// Returns the numbers of a value, divided by `divisor`.
Status find_value(const Calibration &calibration, lpt_calibration_value value, const std::vector<double> **out_numbers,
                  double &out_divisor) {
  const std::vector<double> *const values[] = {&calibration.gram.high, &calibration.cross_gram.high,
                                               &calibration.maxima, &calibration.sums.high, &calibration.squares.high};
  LPT_TRY(check_choice("value", value, LPT_CALIBRATION_VALUE_MEAN_SQUARES));
  const bool is_mean = value == LPT_CALIBRATION_VALUE_MEANS || value == LPT_CALIBRATION_VALUE_MEAN_SQUARES;
  *out_numbers = values[value];
  out_divisor = is_mean ? static_cast<double>(std::max<int64_t>(calibration.rows, 1)) : 1.0;
  if (!values[value]->empty()) return {};
  return invalid("value is %d: calibration does not collect it, see lpt_calibration_options", value);
}

}  // namespace

Status create_calibration(int64_t columns, const lpt_calibration_options &options, Calibration **out_calibration) {
  constexpr int64_t kMostColumns = int64_t{1} << 24;
  LPT_TRY(check_flags("flags", options.flags, 0));
  LPT_TRY(check_choice("has_gram", options.has_gram, 1));
  LPT_TRY(check_choice("has_cross_gram", options.has_cross_gram, 1));
  if (columns < 1 || columns > kMostColumns) {
    return invalid("columns is %lld: expected 1 to %lld", number(columns), number(kMostColumns));
  }
  auto calibration = std::make_unique<Calibration>();
  calibration->columns = columns;
  calibration->maxima.resize(static_cast<size_t>(columns));
  calibration->counts.resize(kBins);
  calibration->sums.resize(columns);
  calibration->squares.resize(columns);
  if (options.has_gram != 0) calibration->gram.resize(columns * columns);
  if (options.has_cross_gram != 0) calibration->cross_gram.resize(columns * columns);
  *out_calibration = calibration.release();
  return {};
}

Status add_inputs(Context &context, Calibration &calibration, const Tensor *inputs, const Tensor *reference) {
  const bool has_gram = !calibration.gram.high.empty(), has_cross_gram = !calibration.cross_gram.high.empty();
  const int64_t columns = calibration.columns;
  Batch batch, other;
  LPT_TRY(check_wide_matrix(inputs, "inputs", true, batch.whole));
  if (batch.whole.columns != columns) {
    return invalid("inputs is %s: expected %lld columns, those of calibration", tensor_text(*inputs).c_str(),
                   number(columns));
  }
  if ((reference != nullptr) != has_cross_gram) {
    return invalid("reference is %s: expected %s", has_cross_gram ? "NULL" : "given",
                   has_cross_gram ? "the inputs of the model that is not quantized" : "NULL without has_cross_gram");
  }
  const SuppressProgress progress(context);
  LPT_TRY(batch.open(context));
  LPT_TRY(check_values(context, batch, "inputs"));
  if (has_cross_gram) {
    LPT_TRY(check_wide_matrix(reference, "reference", true, other.whole));
    LPT_TRY(check_shape(other.whole, "reference", batch.whole.rows, columns, "inputs"));
    LPT_TRY(other.open(context));
    LPT_TRY(check_values(context, other, "reference"));
  }
  MatrixView products;
  LPT_TRY(take_matrix(context, LPT_FORMAT_F32, columns, has_gram || has_cross_gram ? columns : 0, false, products));
  for (int64_t begin = 0; begin < batch.whole.rows; begin += kRowsAtOnce) {
    LPT_TRY(batch.read(context, begin));
    add_columns(batch.rows, calibration);
    if (has_gram) LPT_TRY(add_products(context, batch.rows, batch.rows, products, calibration.gram));
    if (!has_cross_gram) continue;
    LPT_TRY(other.read(context, begin));
    LPT_TRY(add_products(context, other.rows, batch.rows, products, calibration.cross_gram));
  }
  return {};
}

Status all_reduce_calibration(Context &context, Comm &comm, Calibration &calibration) {
  const int64_t collected = (calibration.gram.high.empty() ? 0 : 1) + (calibration.cross_gram.high.empty() ? 0 : 2);
  const Signature signature{"calibration_all_reduce", LPT_FORMAT_F64, collected, calibration.columns, 0};
  return run_collective(
      context, comm,
      [&](Context &, Engine &engine) -> Status {
        std::vector<double> rows = {static_cast<double>(calibration.rows)};
        std::vector<RankNumbers> all = {{&rows}, {&calibration.counts}, {&calibration.maxima, nullptr, true}};
        for (ExactSums *sums : {&calibration.sums, &calibration.squares, &calibration.gram, &calibration.cross_gram}) {
          all.push_back({&sums->high, &sums->low});
        }
        for (const RankNumbers &numbers : all) {
          for (size_t begin = 0; begin < numbers.high->size(); begin += kNumbersAtOnce) {
            const size_t count = std::min(kNumbersAtOnce, numbers.high->size() - begin);
            LPT_TRY(combine(engine, signature, numbers, begin, count));
          }
        }
        calibration.rows = static_cast<int64_t>(rows[0]);
        return {};
      },
      nullptr);
}

Status read_calibration(const Calibration &calibration, lpt_calibration_value value, const Tensor *output) {
  const std::vector<double> *numbers = nullptr;
  double divisor = 1.0;
  LPT_TRY(find_value(calibration, value, &numbers, divisor));
  const bool is_matrix = value == LPT_CALIBRATION_VALUE_GRAM || value == LPT_CALIBRATION_VALUE_CROSS_GRAM;
  const int64_t columns = calibration.columns, rows = is_matrix ? columns : 1;
  MatrixView view;
  LPT_TRY(check_matrix(output, "output", true, view));
  if (view.format.id != LPT_FORMAT_F64 && view.format.id != LPT_FORMAT_F32) {
    return unsupported("output is %s: expected f64 or f32", tensor_text(*output).c_str());
  }
  LPT_TRY(check_shape(view, "output", rows, columns, "the value"));
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < columns; ++c) {
      const double x = (*numbers)[static_cast<size_t>(r * columns + c)] / divisor;
      const int64_t at = r * view.row_stride + c;
      if (view.format.id == LPT_FORMAT_F64) {
        static_cast<double *>(view.data)[at] = x;
      } else {
        static_cast<float *>(view.data)[at] = static_cast<float>(x);
      }
    }
  }
  return {};
}

lpt_calibration_info describe_calibration(const Calibration &calibration) {
  const double elements =
      static_cast<double>(std::max<int64_t>(calibration.rows, 1)) * static_cast<double>(calibration.columns);
  lpt_calibration_info info = LPT_CALIBRATION_INFO_INIT;
  info.row_count = calibration.rows;
  for (size_t c = 0; c < calibration.maxima.size(); ++c) {
    info.amax = std::max(info.amax, calibration.maxima[c]);
    info.mean += calibration.sums.high[c] / elements;
    info.mean_square += calibration.squares.high[c] / elements;
  }
  return info;
}

Status find_percentile(const Calibration &calibration, double share, double &out_magnitude) {
  if (!(share > 0.0 && share <= 1.0)) return invalid("share is %g: expected above 0, at most 1", share);
  const double amax = describe_calibration(calibration).amax;
  const double needed = share * static_cast<double>(calibration.rows) * static_cast<double>(calibration.columns);
  double count = 0.0;
  size_t bin = 0;
  for (; bin + 1 < kBins; ++bin) {
    count += calibration.counts[bin];
    if (count >= needed) break;
  }
  const uint32_t end = static_cast<uint32_t>(bin + 1) << kCountedBits;  // the first magnitude above the bin
  out_magnitude = std::min(amax, static_cast<double>(std::bit_cast<float>(end)));
  return {};
}

}  // namespace lpt
