#include "src/linear/monitor.hpp"

#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "kernels/monitor/monitor.hpp"
#include "src/tensor/checks.hpp"

namespace lpt {
namespace {

// Rows are summed in runs of this many elements, which are added in order. Sums do not depend on the number of threads.
constexpr int64_t kRun = 4096;

Status check_name(const char *name) {
  if (name != nullptr && *name != '\0') return {};
  return invalid("name is %s: expected a name", name == nullptr ? "NULL" : "empty");
}

Status check_pair(const Tensor *first, const std::string &first_name, const Tensor *second,
                  const std::string &second_name, bool needs_data, MatrixView &out_first, MatrixView &out_second) {
  LPT_TRY(check_wide_matrix(first, first_name.c_str(), needs_data, out_first));
  LPT_TRY(check_wide_matrix(second, second_name.c_str(), needs_data, out_second));
  return check_shape(out_second, second_name.c_str(), out_first.rows, out_first.columns, first_name.c_str());
}

Status choose_sums(Context &context, const MatrixView &first, const MatrixView &second, PairSumsRequest &out_request,
                   const KernelEntry<PairSumsRequest> **out_kernel) {
  out_request = {0, nullptr, first.format.id, nullptr, second.format.id, nullptr};
  return select_kernel(context, "pair_sums", pair_sums_kernels(), out_request, {first.format.id, second.format.id},
                       out_kernel);
}

void *place(const MatrixView &view, int64_t row, int64_t column) {
  const int64_t index = row * view.row_stride + column;
  return static_cast<std::byte *>(view.data) + row_bytes(view.format.element, index);
}

void add(PairSums &sums, const PairSums &more) {
  sums.first_squares += more.first_squares;
  sums.second_squares += more.second_squares;
  sums.dots += more.dots;
  sums.squared_differences += more.squared_differences;
  sums.nonfinite_count += more.nonfinite_count;
}

// Computes the sums of each row: the sums of its runs, added in order.
void sum_rows(Context &context, const KernelEntry<PairSumsRequest> &kernel, const PairSumsRequest &formats,
              const MatrixView &first, const MatrixView &second, std::vector<PairSums> &out_sums) {
  const ProfileScope measure(context, "pair_sums", kernel.name, view_bytes(first) + view_bytes(second));
  const int64_t runs = (first.columns + kRun - 1) / kRun;
  std::vector<PairSums> partial(static_cast<size_t>(first.rows * runs));
  parallel_parts(context, first.rows * runs, std::min(first.columns, kRun), [&](int64_t begin, int64_t count) {
    for (int64_t i = begin; i < begin + count; ++i) {
      const int64_t column = i % runs * kRun;
      PairSumsRequest request = formats;
      request.count = std::min(kRun, first.columns - column);
      request.first = place(first, i / runs, column);
      request.second = place(second, i / runs, column);
      request.sums = &partial[static_cast<size_t>(i)];
      kernel.run(request);
    }
  });
  out_sums.assign(static_cast<size_t>(first.rows), PairSums{});
  for (size_t i = 0; i < partial.size(); ++i) add(out_sums[i / static_cast<size_t>(runs)], partial[i]);
}

// Computes both norms from sums over gradients and the same gradients with noise, or over two draws of the noise. For two
// draws, E|a - b|² = 2 σ² and E(a·b) = |gradient|².
lpt_noise_info noise_values(lpt_noise_kind kind, const PairSums &sums) {
  lpt_noise_info values = LPT_NOISE_INFO_INIT;
  const bool is_drawn_twice = kind == LPT_NOISE_KIND_TWO_DRAWS;
  const double gradient = is_drawn_twice ? std::max(sums.dots, 0.0) : sums.first_squares;
  const double noise = is_drawn_twice ? sums.squared_differences / 2.0 : sums.squared_differences;
  values.gradient_norm = std::sqrt(gradient);
  values.noise_norm = std::sqrt(noise);
  values.ratio = noise > 0.0 ? values.gradient_norm / values.noise_norm : HUGE_VAL;
  values.nonfinite_count = sums.nonfinite_count;
  values.is_noisy = values.ratio < std::sqrt(3.0) ? 1 : 0;
  return values;
}

// Returns a field of a CSV file (RFC 4180). Fields with special characters are quoted, and their quotes are doubled.
std::string csv_field(std::string_view field) {
  if (field.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(field);
  std::string quoted = "\"";
  for (const char c : field) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

}  // namespace

Status measure_noise(Context &context, const Tensor *const *gradients, const Tensor *const *noisy, int64_t count,
                     const lpt_noise_options &options, lpt_noise_info &out_info) {
  const bool needs_data = !is_check_only(options.flags);
  LPT_TRY(check_flags("flags", options.flags));
  LPT_TRY(check_choice("kind", options.kind, LPT_NOISE_KIND_TWO_DRAWS));
  if (options.reserved != 0) return unsupported("reserved is %d: expected 0", options.reserved);
  if (count < 0) return invalid("count is %lld: expected at least 0", static_cast<long long>(count));
  if (count > 0 && gradients == nullptr) return invalid("gradients is NULL: expected an array of tensors");
  if (count > 0 && noisy == nullptr) return invalid("noisy is NULL: expected an array of tensors");
  for (int64_t i = 0; i < count; ++i) {
    MatrixView first, second;
    LPT_TRY(check_pair(gradients[i], item("gradients", i), noisy[i], item("noisy", i), needs_data, first, second));
  }
  PairSums sums;
  for (int64_t i = 0; i < count; ++i) {
    MatrixView first, second;
    PairSumsRequest request;
    const KernelEntry<PairSumsRequest> *kernel = nullptr;
    std::vector<PairSums> rows;
    LPT_TRY(check_pair(gradients[i], item("gradients", i), noisy[i], item("noisy", i), needs_data, first, second));
    LPT_TRY(choose_sums(context, first, second, request, &kernel));
    if (!needs_data) continue;
    sum_rows(context, *kernel, request, first, second, rows);
    for (const PairSums &more : rows) add(sums, more);
  }
  out_info = noise_values(options.kind, sums);
  return {};
}

Status measure_alignment(Context &context, const Tensor *gate_weight, const Tensor *up_weight, Tensor *cosines,
                         lpt_swiglu_alignment_info &out_info) {
  MatrixView gate, up;
  LPT_TRY(check_pair(gate_weight, "gate_weight", up_weight, "up_weight", true, gate, up));
  void *numbers = nullptr;
  if (cosines != nullptr) {
    LPT_TRY(check_vector(cosines, "cosines", LPT_FORMAT_F32, gate.rows, true, &numbers));
    const MatrixView view = vector_view(LPT_FORMAT_F32, numbers, gate.rows);
    LPT_TRY(check_no_overlap(view, "cosines", gate, "gate_weight"));
    LPT_TRY(check_no_overlap(view, "cosines", up, "up_weight"));
  }
  PairSumsRequest request;
  const KernelEntry<PairSumsRequest> *kernel = nullptr;
  LPT_TRY(choose_sums(context, gate, up, request, &kernel));
  std::vector<PairSums> rows;
  sum_rows(context, *kernel, request, gate, up, rows);
  double sum = 0.0, magnitudes = 0.0;
  for (size_t i = 0; i < rows.size(); ++i) {
    const double size = std::sqrt(rows[i].first_squares) * std::sqrt(rows[i].second_squares);
    const double cosine = size > 0.0 ? rows[i].dots / size : 0.0;
    if (numbers != nullptr) static_cast<float *>(numbers)[i] = static_cast<float>(cosine);
    sum += cosine;
    magnitudes += std::abs(cosine);
    if (out_info.largest_channel < 0 || std::abs(cosine) > std::abs(out_info.largest)) {
      out_info.largest = cosine;
      out_info.largest_channel = static_cast<int64_t>(i);
    }
  }
  if (!rows.empty()) {
    out_info.mean = sum / static_cast<double>(rows.size());
    out_info.mean_magnitude = magnitudes / static_cast<double>(rows.size());
  }
  return {};
}

Status record_number(Monitor &monitor, int64_t step, const char *name, double value) {
  LPT_TRY(check_name(name));
  monitor.entries.push_back({step, name, value});
  return {};
}

namespace {

Status record_sums(Monitor &monitor, int64_t step, const char *name, const CastStatistics &sums) {
  const lpt_statistics_info values = statistics_values(sums);
  const auto share = [&](int64_t count) {
    return values.element_count == 0 ? 0.0 : static_cast<double>(count) / static_cast<double>(values.element_count);
  };
  const struct {
    const char *what;
    double value;
  } entries[] = {{"amax", values.amax},
                 {"clipped", share(values.clipped_count)},
                 {"underflow", share(values.underflow_count)},
                 {"nan", share(values.nan_count)},
                 {"relative_error", values.squared_sum > 0.0 ? values.squared_error / values.squared_sum : 0.0}};
  for (const auto &[what, value] : entries) {
    LPT_TRY(record_number(monitor, step, text("%s/%s", name, what).c_str(), value));
  }
  return {};
}

}  // namespace

Status record_linear(Context &context, Monitor &monitor, int64_t step, const char *name, const Linear &linear) {
  static constexpr const char *kOperands[kOperandCount] = {"input", "weight", "gradient"};
  static constexpr const char *kCasts[kCastCount] = {"forward_input", "forward_weight", "dgrad_gradient",
                                                     "dgrad_weight",  "wgrad_gradient", "wgrad_input"};
  LPT_TRY(check_name(name));
  LPT_TRY(check_place(context, linear));
  for (int i = 0; i < kOperandCount; ++i) {
    Scaler here;
    LPT_TRY(fetch_scaler(context, linear.scalers[i], here));
    const double amax = static_cast<double>(scaler_values(here).amax);
    LPT_TRY(record_number(monitor, step, text("%s/%s/amax", name, kOperands[i]).c_str(), amax));
  }
  for (int i = 0; i < kCastCount; ++i) {
    if (linear.sums[i].elements == 0) continue;  // not watched, or the cast did not run
    LPT_TRY(record_sums(monitor, step, text("%s/%s", name, kCasts[i]).c_str(), linear.sums[i]));
  }
  return {};
}

Status record_statistics(Context &context, Monitor &monitor, int64_t step, const char *name,
                         const lpt_statistics &statistics) {
  CastStatistics sums;
  LPT_TRY(check_name(name));
  LPT_TRY(read_statistics(context, statistics, sums));
  return record_sums(monitor, step, name, sums);
}

Status save_monitor(const Monitor &monitor, const char *path) {
  if (path == nullptr) return invalid("path is NULL: expected a file's name");
  std::FILE *file = std::fopen(path, "w");
  if (file == nullptr) return invalid("path '%s' cannot be written: %s", path, std::strerror(errno));
  std::fputs("step,name,value\n", file);
  for (const Monitor::MonitorEntry &entry : monitor.entries) {
    std::fprintf(file, "%lld,%s,%.17g\n", static_cast<long long>(entry.step), csv_field(entry.name).c_str(),
                 entry.value);
  }
  const bool is_bad = std::ferror(file) != 0;
  if (std::fclose(file) != 0 || is_bad) return invalid("path '%s' cannot be written: %s", path, std::strerror(errno));
  return {};
}

}  // namespace lpt
