#include "bench_gemm_file.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "error.hpp"
#include "file.hpp"
#include "text.hpp"

namespace tool {
namespace {

using lpt::bench::GemmLimit;
using lpt::bench::GemmRate;
using lpt::bench::GemmReport;
using nlohmann::json;

GemmLimit limit_of(const json &object, const char *key) {
  const auto name = object.at(key).get<std::string>();
  const auto limit = lpt::bench::limit_of_name(name);
  if (!limit) throw Error(fmt::format("{} is {}: expected f32, bf16 dot, int8 dot or read", key, in_quotes(name)));
  return *limit;
}

// Returns a nonnegative finite value of an object.
double number_of(const json &object, const char *key) {
  const auto number = object.at(key).get<double>();
  if (!std::isfinite(number) || number < 0) throw Error(fmt::format("{} is {}: expected 0 or more", key, number));
  return number;
}

GemmRate rate_of(const json &object) {
  GemmRate rate;
  rate.shape = {.name = object.at("shape").get<std::string>(),
                .m = object.at("m").get<int64_t>(),
                .k = object.at("k").get<int64_t>(),
                .n = object.at("n").get<int64_t>(),
                .is_a_transposed = object.at("is_a_transposed").get<bool>(),
                .is_b_transposed = object.at("is_b_transposed").get<bool>()};
  rate.name = object.at("name").get<std::string>();
  rate.is_packed = object.at("is_packed").get<bool>();
  rate.is_peer = object.at("is_peer").get<bool>();
  rate.row = object.at("row").get<std::string>();
  rate.kind = limit_of(object, "kind");
  rate.limit = limit_of(object, "limit");
  rate.limit_rate = number_of(object, "limit_rate");
  rate.weight_bytes = number_of(object, "weight_bytes");
  rate.seconds = number_of(object, "seconds");
  rate.median_seconds = number_of(object, "median_seconds");
  rate.share = number_of(object, "share_of_peak");
  rate.best_share = number_of(object, "best_share_of_peak");
  rate.scaling = number_of(object, "scaling");
  rate.bar = number_of(object, "bar");
  if (rate.seconds == 0) throw Error("seconds is 0: expected more");
  return rate;
}

}  // namespace

GemmReport read_gemm_report(const std::string &path) {
  const std::string text = read_text(path);
  try {
    const json file = json::parse(text);
    GemmReport report;
    report.build = file.at("build").get<std::string>();
    report.threads = file.at("threads").get<int>();
    report.isa = file.at("isa").get<std::string>();
    report.load = number_of(file, "load");
    report.is_judged = file.at("is_judged").get<bool>();
    const json &peaks = file.at("peaks");
    report.f32_gflops = number_of(peaks, "f32_gflops");
    report.bf16_gflops = number_of(peaks, "bf16_gflops");
    report.int8_gops = number_of(peaks, "int8_gops");
    report.missing_peers = file.at("missing_peers").get<std::vector<std::string>>();
    report.left_out = file.at("left_out").get<std::vector<std::string>>();
    for (const json &object : file.at("results")) report.rates.push_back(rate_of(object));
    return report;
  } catch (const json::exception &problem) {
    throw Error(fmt::format("{}: no figures of a bench of GEMMs: {}", in_quotes(path), problem.what()));
  } catch (const Error &problem) {
    throw Error(fmt::format("{}: {}", in_quotes(path), problem.what()));
  }
}

}  // namespace tool
