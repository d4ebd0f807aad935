#include "bench_comm.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <nlohmann/json.hpp>

#include "bench.hpp"
#include "bench/peaks.hpp"
#include "error.hpp"
#include "file.hpp"
#include "handles.hpp"
#include "status_line.hpp"
#include "text.hpp"

namespace tool {
namespace {

using nlohmann::json;

constexpr int64_t kLeastBytes = 64, kMostBytes = int64_t{4} << 30;
constexpr int64_t kGrowth = 4;  // ratio of adjacent sizes
constexpr int64_t kCastElements = int64_t{1} << 20, kFewElements = 64;
constexpr int kCastRounds = 7;
constexpr double kQuietLoad = 0.3;  // above the threads of all ranks

struct NamedCollective {
  lpt_cost_collective collective;
  const char *name;
};
constexpr NamedCollective kCollectives[] = {{LPT_COST_COLLECTIVE_ALL_REDUCE, "all_reduce"},
                                            {LPT_COST_COLLECTIVE_REDUCE_SCATTER, "reduce_scatter"},
                                            {LPT_COST_COLLECTIVE_ALL_GATHER, "all_gather"}};

std::string name_of(lpt_cost_collective collective) {
  for (const NamedCollective &named : kCollectives) {
    if (named.collective == collective) return named.name;
  }
  return "?";
}

std::vector<lpt_cost_collective> collectives_of(const std::vector<std::string> &names) {
  std::vector<lpt_cost_collective> result;
  for (const NamedCollective &named : kCollectives) {
    if (names.empty() || std::find(names.begin(), names.end(), named.name) != names.end()) {
      result.push_back(named.collective);
    }
  }
  return result;
}

std::vector<int64_t> sizes_of(int64_t least, int64_t most) {
  if (least < kLeastBytes || most > kMostBytes || least > most) {
    throw Error(
        fmt::format("sizes are {} to {} bytes: expected the least at least {}, and the most at least that and at "
                    "most {}",
                    least, most, kLeastBytes, size_text(kMostBytes)));
  }
  std::vector<int64_t> sizes;
  for (int64_t bytes = least; bytes < most; bytes *= kGrowth) sizes.push_back(bytes);
  sizes.push_back(most);
  return sizes;
}

// One series.

// Infers the algorithm of a call from the bytes that it sent. Small messages, and those of two ranks, use one step; see
// lpt_cost_algorithm_values. Reduce-scatters and all-gathers always are one step of the two.
lpt_cost_algorithm algorithm_of(const CommReport &report, const CommSeries &series, const CommTime &time) {
  if (series.collective != LPT_COST_COLLECTIVE_ALL_REDUCE) return LPT_COST_ALGORITHM_TWO_SHOT;
  const bool is_one_shot = report.engine != "local" && time.rank_bytes > 0.99 * (report.ranks - 1) * time.bytes;
  return is_one_shot ? LPT_COST_ALGORITHM_ONE_SHOT : LPT_COST_ALGORITHM_TWO_SHOT;
}

int steps_of(lpt_context *context, const CommReport &report, const CommSeries &series, const CommTime &time) {
  lpt_cost_info values = LPT_COST_INFO_INIT;
  check(context, lpt_cost_estimate(context, series.collective, algorithm_of(report, series, time), report.ranks, 1,
                                   LPT_FORMAT_F32, nullptr, &values));
  return values.step_count;
}

// Fits a link to the times. A call of several steps is as many messages in sequence. Returns the reason if there is no fit.
std::string fit(lpt_context *context, const CommReport &report, CommSeries &series) {
  std::vector<double> bytes, seconds;
  for (CommTime &time : series.times) {
    time.steps = steps_of(context, report, series, time);
    bytes.push_back(time.rank_bytes / time.steps);
    seconds.push_back(time.seconds / time.steps);
  }
  const auto count = static_cast<int64_t>(bytes.size());
  if (lpt_cost_fit_link(context, bytes.data(), seconds.data(), count, &series.link) != LPT_OK) {
    return lpt_context_error(context);
  }
  series.has_link = true;
  return "";
}

void print(const CommTime &time) {
  print_out("  {:>10} {:>12.2f} us {:>9.3f} GB/s\n", size_text(static_cast<uint64_t>(time.bytes)), 1e6 * time.seconds,
            1e-9 * time.rank_bytes / time.seconds);
  flush_out();
}

void print_fit(const CommSeries &series, const std::string &problem) {
  if (!series.has_link) {
    print_out("{}: no latency and bandwidth: {}\n", series.name(), problem);
    return;
  }
  double worst = 1.0;
  for (const CommTime &time : series.times) {
    const double ratio = time.seconds / series.modelled_seconds(time);
    worst = std::max({worst, ratio, 1.0 / ratio});
  }
  print_out("{}: {}, within a factor of {:.2f}\n", series.name(), series.link_text(), worst);
}

// Crossover of narrower formats.

double median_seconds(const std::function<void()> &body) {
  std::vector<double> seconds;
  body();
  for (int round = 0; round < kCastRounds; ++round) {
    const double begin = lpt::bench::now();
    body();
    seconds.push_back(lpt::bench::now() - begin);
  }
  std::sort(seconds.begin(), seconds.end());
  return seconds[seconds.size() / 2];
}

struct CastSeconds {
  double encode, decode;
};

CastSeconds cast_seconds(lpt_context *context, lpt_format plain, lpt_format payload, int64_t elements) {
  const Tensor wide = make_matrix(context, plain, 1, elements), codes = make_matrix(context, payload, 1, elements);
  std::vector<float> numbers(static_cast<size_t>(elements));
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i % 1009) - 504.0f;
  const Tensor source = wrap_matrix(context, LPT_FORMAT_F32, numbers.data(), 1, elements);
  check(context, lpt_quantize(context, source.get(), nullptr, wide.get(), nullptr));
  CastSeconds seconds{};
  seconds.encode =
      median_seconds([&] { check(context, lpt_quantize(context, wide.get(), nullptr, codes.get(), nullptr)); });
  seconds.decode = median_seconds([&] { check(context, lpt_dequantize(context, codes.get(), nullptr, wide.get())); });
  return seconds;
}

// Small sizes determine the fixed overhead of a cast, large sizes its rate.
lpt_cost_cast_rates cast_rates(lpt_context *context, lpt_format plain, lpt_format payload) {
  const CastSeconds few = cast_seconds(context, plain, payload, kFewElements);
  const CastSeconds many = cast_seconds(context, plain, payload, kCastElements);
  const double bytes = static_cast<double>(kCastElements) * describe(plain).element_bits / 8;
  lpt_cost_cast_rates rates = LPT_COST_CAST_RATES_INIT;
  rates.overhead_seconds = few.encode + few.decode;
  rates.encode_bytes_per_second = bytes / many.encode;
  rates.decode_bytes_per_second = bytes / many.decode;
  return rates;
}

void find_break_evens(const BenchCommOptions &requests, CommReport &report) {
  const auto is_wide = [](const CommSeries &series) {
    return series.collective == LPT_COST_COLLECTIVE_ALL_REDUCE && series.format == LPT_FORMAT_F32 && series.has_link;
  };
  const auto found = std::find_if(report.series.begin(), report.series.end(), is_wide);
  if (found == report.series.end()) return;
  report.plain = found->format;
  const Context context = make_context(requests.threads);
  for (const std::string &name : requests.payloads) {
    CommBreakEven even;
    even.payload = find_format(name);
    even.rates = cast_rates(context.get(), report.plain, even.payload);
    check(context.get(),
          lpt_cost_break_even(context.get(), found->collective, algorithm_of(report, *found, found->times.back()),
                              report.ranks, report.plain, even.payload, &even.rates, &found->link, &even.elements));
    report.break_evens.push_back(even);
  }
}

void print_break_evens(const CommReport &report) {
  if (report.plain == LPT_FORMAT_NONE) return;
  print_out("all_reduce of {} cast for the way, by the link that fits it and the casts of one rank:\n",
            format_name(report.plain));
  const auto element_bytes = static_cast<uint64_t>(describe(report.plain).element_bits / 8);
  for (const CommBreakEven &even : report.break_evens) {
    const std::string verdict = even.elements < 0
                                    ? "never pays"
                                    : fmt::format("pays from {} elements on, {}", even.elements,
                                                  size_text(static_cast<uint64_t>(even.elements) * element_bytes));
    print_out("  {:<14} {:6.2f} GB/s there, {:6.2f} back, {:6.2f} us at least: {}\n", format_name(even.payload),
              1e-9 * even.rates.encode_bytes_per_second, 1e-9 * even.rates.decode_bytes_per_second,
              1e6 * even.rates.overhead_seconds, verdict);
  }
}

// Measured wire formats.

const CommSeries *plain_of(const CommReport &report, const CommSeries &wired) {
  for (const CommSeries &series : report.series) {
    const bool is_alike = series.collective == wired.collective && series.format == wired.format;
    if (is_alike && series.wire == LPT_FORMAT_NONE) return &series;
  }
  return nullptr;
}

CommWire compared(const CommSeries &wired, const CommSeries &plain) {
  CommWire wire;
  wire.name = wired.name();
  for (size_t i = 0; i < wired.times.size(); ++i) {
    wire.shares.push_back(wired.times[i].seconds / plain.times[i].seconds);
    if (wire.shares.back() >= 1) wire.pays_from = -1;
    if (wire.shares.back() < 1 && wire.pays_from < 0) wire.pays_from = wired.times[i].bytes;
  }
  return wire;
}

void compare_wires(CommReport &report) {
  for (const CommSeries &series : report.series) {
    if (series.wire == LPT_FORMAT_NONE) continue;
    if (const CommSeries *plain = plain_of(report, series)) report.wires.push_back(compared(series, *plain));
  }
}

void print_wires(const CommReport &report) {
  for (const CommWire &wire : report.wires) {
    const std::string verdict = wire.pays_from < 0
                                    ? "does not pay at the largest size"
                                    : "pays from " + size_text(static_cast<uint64_t>(wire.pays_from)) + " on";
    print_out("{}: {:.2f} of the time without the wire at the largest size, {}\n", wire.name, wire.shares.back(),
              verdict);
  }
}

// Prints warnings about the reliability of the results.
void print_doubts(const CommReport &report) {
  if (report.load > report.ranks * report.threads + kQuietLoad) {
    print_out("load average {:.1f}: other work disturbs these figures\n", report.load);
  }
  const bool has_link = report.link.link_latency_seconds > 0 || report.link.link_bytes_per_second > 0;
  if (has_link && report.engine == "local") {
    print_out("the engine is local, whose ranks read each other's memory: the emulated link played no part\n");
  }
}

// The complete benchmark.

std::vector<CommTask> tasks_of(const BenchCommOptions &requests, std::vector<CommSeries> &out_series) {
  std::vector<CommTask> tasks;
  const auto add = [&](lpt_cost_collective collective, lpt_format format, lpt_format wire) {
    CommSeries series;
    series.collective = collective;
    series.format = format;
    series.wire = wire;
    out_series.push_back(series);
    for (const int64_t bytes : sizes_of(requests.least_bytes, requests.most_bytes)) {
      tasks.push_back({collective, format, bytes, wire});
    }
  };
  for (const lpt_cost_collective collective : collectives_of(requests.collectives)) {
    for (const std::string &name : requests.formats) {
      const lpt_format format = find_format(name);
      add(collective, format, LPT_FORMAT_NONE);
      if (collective == LPT_COST_COLLECTIVE_ALL_GATHER || format == LPT_FORMAT_F64)
        continue;  // sent without a wire format
      for (const std::string &wire : requests.wires) add(collective, format, find_format(wire));
    }
  }
  return tasks;
}

CommReport measured(const BenchCommOptions &requests) {
  CommReport report;
  report.build = lpt_build_info();
  report.ranks = requests.ranks;
  report.threads = requests.threads;
  report.load = lpt::bench::load_average();
  report.link.link_latency_seconds = requests.link_microseconds * 1e-6;
  report.link.link_bytes_per_second = requests.link_gigabytes * 1e9;
  if (requests.sends_messages) report.options.flags |= LPT_COMM_MESSAGES;
  const std::vector<CommTask> tasks = tasks_of(requests, report.series);
  for (const std::string &name : requests.payloads) find_format(name);  // before the measurements

  StatusLine status(requests.is_quiet);
  CommRace racing{requests.ranks, requests.threads, requests.seconds, report.options, report.link, nullptr};
  const size_t sizes = tasks.size() / std::max<size_t>(report.series.size(), 1);
  racing.on_time = [&](size_t i, const CommTime &time) {
    CommSeries &series = report.series[i / sizes];
    status.clear();
    if (series.times.empty()) print_out("{}\n", series.name());
    print(time);
    series.times.push_back(time);
    status.tell(static_cast<double>(i + 1) / static_cast<double>(tasks.size()), series.name());
  };
  report.engine = race(racing, tasks);
  status.clear();
  return report;
}

json json_of(const CommReport &report) {
  json file = {{"build", report.build},
               {"engine", report.engine},
               {"ranks", report.ranks},
               {"threads", report.threads},
               {"load", report.load},
               {"emulated_link",
                {{"latency_seconds", report.link.link_latency_seconds},
                 {"bytes_per_second", report.link.link_bytes_per_second}}},
               {"results", json::array()},
               {"fits", json::array()},
               {"break_even", json::array()},
               {"wires", json::array()}};
  json rows = json::array();
  for (const CommSeries &series : report.series) {
    json which = {{"collective", name_of(series.collective)}, {"format", format_name(series.format)}};
    if (series.wire != LPT_FORMAT_NONE) which["wire"] = format_name(series.wire);
    for (const CommTime &time : series.times) {
      json result = which;
      result.update({{"bytes", time.bytes}, {"rank_bytes", time.rank_bytes}, {"seconds", time.seconds}});
      if (series.wire == LPT_FORMAT_NONE) result["steps"] = time.steps;
      file["results"].push_back(result);
      rows.push_back({series.name(), size_text(static_cast<uint64_t>(time.bytes)),
                      fmt::format("{:.2f}", 1e6 * time.seconds),
                      fmt::format("{:.3f}", 1e-9 * time.rank_bytes / time.seconds)});
    }
    if (!series.has_link) continue;
    json found = which;
    found.update(
        {{"latency_seconds", series.link.latency_seconds}, {"bytes_per_second", series.link.bytes_per_second}});
    file["fits"].push_back(found);
  }
  for (const CommBreakEven &even : report.break_evens) {
    file["break_even"].push_back({{"plain", format_name(report.plain)},
                                  {"payload", format_name(even.payload)},
                                  {"overhead_seconds", even.rates.overhead_seconds},
                                  {"encode_bytes_per_second", even.rates.encode_bytes_per_second},
                                  {"decode_bytes_per_second", even.rates.decode_bytes_per_second},
                                  {"elements", even.elements}});
  }
  for (const CommWire &wire : report.wires) {
    file["wires"].push_back({{"series", wire.name},
                             {"shares", wire.shares},
                             {"pays_from_bytes", wire.pays_from < 0 ? json(nullptr) : json(wire.pays_from)}});
  }
  const std::vector<std::string> columns = {"collective", "size of the tensor", "us", "GB/s sent by a rank"};
  file["tables"]["times"] = {
      {"unit", fmt::format("medians of {} ranks", report.ranks)}, {"columns", columns}, {"rows", rows}};
  return file;
}

}  // namespace

std::string CommSeries::name() const {
  const std::string plain = name_of(collective) + " " + format_name(format);
  return wire == LPT_FORMAT_NONE ? plain : plain + " by " + format_name(wire);
}

double CommSeries::modelled_seconds(const CommTime &time) const {
  return time.steps * link.latency_seconds + time.rank_bytes / link.bytes_per_second;
}

std::string CommSeries::link_text() const {
  const bool are_alike =
      std::all_of(times.begin(), times.end(), [&](const CommTime &time) { return time.steps == times.front().steps; });
  const std::string steps = are_alike ? fmt::format("{}", times.front().steps) : "1 or 2";
  return fmt::format("{} x {:.2f} us + bytes of a rank / {:.3f} GB/s", steps, 1e6 * link.latency_seconds,
                     1e-9 * link.bytes_per_second);
}

void bench_comm(const BenchCommOptions &options) {
  check_text_target(options.json);
  check_text_target(options.picture);
  print_out("{} local ranks of {} thread{}, load average {:.1f}; {}\n", options.ranks, options.threads,
            options.threads == 1 ? "" : "s", lpt::bench::load_average(), lpt_build_info());
  print_out("size of the tensor, median time, bytes that a rank sends per second\n");
  CommReport report = measured(options);
  print_doubts(report);
  const Context context = make_context(1);
  for (CommSeries &series : report.series) {
    if (series.wire != LPT_FORMAT_NONE) continue;  // includes the time of casts
    const std::string problem = fit(context.get(), report, series);
    print_fit(series, problem);
  }
  find_break_evens(options, report);
  print_break_evens(report);
  compare_wires(report);
  print_wires(report);
  if (!options.json.empty()) write_text(options.json, json_of(report).dump(1) + "\n");
  if (!options.picture.empty()) write_text(options.picture, comm_picture(report));
}

}  // namespace tool
