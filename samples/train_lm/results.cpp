#include "results.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "../lm/files.hpp"
#include "../lm/json.hpp"
#include "curves.hpp"

namespace train_lm {

namespace {

constexpr int64_t kFinalShare = 20;  // the training loss is the mean of the last steps, one in kFinalShare
constexpr double kMebibyte = 1024.0 * 1024.0;
constexpr int kNameWidth = 30;
constexpr int kColumnWidth = 16;

double ratio(size_t part, size_t whole) { return static_cast<double>(part) / static_cast<double>(whole); }

double final_mean(const std::vector<double> &losses) {
  if (losses.empty()) {
    return 0.0;
  }
  const int64_t count = std::max<int64_t>(1, static_cast<int64_t>(losses.size()) / kFinalShare);
  return std::accumulate(losses.end() - count, losses.end(), 0.0) / static_cast<double>(count);
}

template <typename Cell>
std::string table_row(const char *name, const Results &results, Cell &&cell) {
  std::string row = fmt::format("  {:<{}}", name, kNameWidth);
  for (const TwinResult &twin : results.twins) {
    row += fmt::format("{:>{}}", cell(twin), kColumnWidth);
  }
  return row + "\n";
}

std::string mebibytes(size_t bytes) { return fmt::format("{:.3f} MiB", static_cast<double>(bytes) / kMebibyte); }

std::string table_end(const Results &results) {
  std::string text;
  if (results.has_twin()) {
    text += fmt::format("\n  {:<{}}{:+.2f} %\n", "validation gap to " + results.twins[1].recipe, kNameWidth,
                        results.gap_percent());
  }
  if (results.has_twin() && results.is_compared_with_f32()) {
    text += fmt::format("  {:<{}}{:.3f} of f32's\n", "bytes of moments", kNameWidth, results.moment_ratio());
    text += fmt::format("  {:<{}}{:.3f} of f32's\n", "bytes of masters + moments", kNameWidth, results.state_ratio());
  }
  text += results.gzip_loss > 0.0
              ? fmt::format("  {:<{}}{:.3f} bits per byte\n", "gzip -9", kNameWidth, results.gzip_loss)
              : "  gzip is not installed: no line to compare with\n";
  return text;
}

std::string losses_csv(const Results &results) {
  std::string csv = "step";
  for (const TwinResult &twin : results.twins) {
    csv += fmt::format(",{0}_training,{0}_validation", twin.recipe);
    csv += twin.measured.kept.empty() ? "" : fmt::format(",{}_kept", twin.recipe);
  }
  for (size_t step = 0; step < static_cast<size_t>(results.steps); ++step) {
    csv += fmt::format("\n{}", step + 1);
    for (const TwinResult &twin : results.twins) {
      const auto &steps = twin.measured.validation_steps;
      const auto found = std::find(steps.begin(), steps.end(), static_cast<int64_t>(step + 1));
      csv += fmt::format(",{:.17g},", twin.measured.training[step]);
      csv += found == steps.end()
                 ? ""
                 : fmt::format("{:.17g}", twin.measured.validation[static_cast<size_t>(found - steps.begin())]);
      csv += twin.measured.kept.empty() ? "" : fmt::format(",{:.6g}", twin.measured.kept[step]);
    }
  }
  return csv + "\n";
}

}  // namespace

double TwinResult::gemm_share() const {
  double share = 0.0;
  for (const lm::ProfileLine &line : profile) {
    share += line.operation == "gemm" ? line.share : 0.0;
  }
  return share;
}

double TwinResult::dropped_share() const { return 1.0 - measured.kept_fraction(drop.first_step); }

double TwinResult::lost_share() const {
  int64_t received = 0, lost = 0;
  for (const lm::LinkCounts &link : links) {
    received += link.received;
    lost += link.lost;
  }
  return lost == 0 ? 0.0 : static_cast<double>(lost) / static_cast<double>(lost + received);
}

double Results::gap_percent() const {
  return 100.0 * (twins.at(0).validation_loss / twins.at(1).validation_loss - 1.0);
}

double Results::moment_ratio() const { return ratio(twins.at(0).bytes.moments, twins.at(1).bytes.moments); }

double Results::state_ratio() const {
  const lm::Bytes &low = twins.at(0).bytes;
  const lm::Bytes &full = twins.at(1).bytes;
  return ratio(low.moments + low.weights, full.moments + full.weights);
}

TwinResult twin_result(lm::Trainer &trainer, const std::string &recipe) {
  const lm::Measured &measured = trainer.measured();
  const double seconds = measured.training_seconds();
  const int64_t steps = std::ssize(measured.step_seconds);
  const double tokens = static_cast<double>(steps * trainer.bytes_per_step()) *
                        measured.kept_fraction(std::ssize(measured.training) - steps);
  return {.recipe = recipe,
          .measured = measured,
          .bytes = trainer.bytes(),
          .training_loss = final_mean(measured.training),
          .validation_loss = measured.validation.empty() ? 0.0 : measured.validation.back(),
          .tokens_per_second = seconds > 0.0 ? tokens / seconds : 0.0,
          .steps_per_second = seconds > 0.0 ? static_cast<double>(steps) / seconds : 0.0,
          .profile = trainer.profile(),
          .traffic = trainer.traffic(),
          .drop = trainer.drop(),
          .links = trainer.links(),
          .high_share = trainer.high_share()};
}

std::string results_table(const Options &options, const Results &results) {
  std::string text = fmt::format("\n  {} parameters, {} of {} steps of {} x {} bytes, {:.1f} s\n\n",
                                 results.parameter_count, results.steps, options.train.steps, options.train.batch,
                                 options.train.shape.sequence, results.seconds);
  text += table_row("", results, [](const TwinResult &twin) { return twin.recipe; });
  text += table_row("training, bits per byte", results,
                    [](const TwinResult &twin) { return fmt::format("{:.4f}", twin.training_loss); });
  text += table_row("validation, bits per byte", results,
                    [](const TwinResult &twin) { return fmt::format("{:.4f}", twin.validation_loss); });
  text += table_row("tokens (bytes) per second", results,
                    [](const TwinResult &twin) { return fmt::format("{:.0f}", twin.tokens_per_second); });
  text += table_row("time in gemm", results,
                    [](const TwinResult &twin) { return fmt::format("{:.0f} %", 100.0 * twin.gemm_share()); });
  text += table_row("master weights", results, [](const TwinResult &twin) { return mebibytes(twin.bytes.weights); });
  text += table_row("weight casts", results, [](const TwinResult &twin) { return mebibytes(twin.bytes.casts); });
  text += table_row("gradients", results, [](const TwinResult &twin) { return mebibytes(twin.bytes.gradients); });
  text += table_row("optimizer state", results, [](const TwinResult &twin) { return mebibytes(twin.bytes.moments); });
  text +=
      table_row("activations kept", results, [](const TwinResult &twin) { return mebibytes(twin.bytes.activations); });
  if (options.grid.ranks() > 1) {
    text += table_row("sent by the first rank", results,
                      [](const TwinResult &twin) { return mebibytes(static_cast<size_t>(twin.traffic.bytes_sent)); });
    text += table_row("its time with the others", results,
                      [](const TwinResult &twin) { return fmt::format("{:.1f} s", twin.traffic.seconds); });
  }
  if (options.train.drop.is_enabled) {
    text += table_row("steps per second", results,
                      [](const TwinResult &twin) { return fmt::format("{:.2f}", twin.steps_per_second); });
    text += table_row("threshold of a step", results, [](const TwinResult &twin) {
      return std::isfinite(twin.drop.threshold) ? fmt::format("{:.4f} s", twin.drop.threshold) : std::string("none");
    });
    text += table_row("micro-batches dropped by it", results,
                      [](const TwinResult &twin) { return fmt::format("{:.2f} %", 100.0 * twin.dropped_share()); });
  }
  if (options.train.lossy.is_enabled) {
    text += table_row("packets that it lost", results,
                      [](const TwinResult &twin) { return fmt::format("{:.2f} %", 100.0 * twin.lost_share()); });
  }
  if (options.train.pilot_budget > 0.0) {
    text += table_row("raised by the autopilot", results,
                      [](const TwinResult &twin) { return fmt::format("{:.1f} %", 100.0 * twin.high_share); });
  }
  return text + table_end(results);
}

std::string metrics_json(const Options &options, const Results &results) {
  lm::JsonWriter json;
  json.text("library", lpt_version_string());
  json.text("data", options.data);
  json.integer("seed", static_cast<int64_t>(options.train.seed));
  json.integer("steps", results.steps);
  json.integer("parameters", results.parameter_count);
  json.number("seconds", results.seconds);
  json.number("gzip_bits_per_byte", results.gzip_loss > 0.0 ? results.gzip_loss : NAN);
  for (const TwinResult &twin : results.twins) {
    json.begin_object(twin.recipe);
    json.number("training_bits_per_byte", twin.training_loss);
    json.number("validation_bits_per_byte", twin.validation_loss);
    json.number("tokens_per_second", twin.tokens_per_second);
    json.number("steps_per_second", twin.steps_per_second);
    json.numbers("step_seconds", twin.measured.step_seconds);
    if (options.train.drop.is_enabled) {
      json.number("drop_threshold_seconds", twin.drop.threshold);
      json.integer("drop_first_step", twin.drop.first_step);
      json.number("drop_predicted_speedup", twin.drop.speedup > 0.0 ? twin.drop.speedup : NAN);
      json.number("dropped_share", twin.dropped_share());
      json.numbers("kept", twin.measured.kept);
    }
    if (options.train.pilot_budget > 0.0) {
      json.number("high_share", twin.high_share);
    }
    if (options.train.lossy.is_enabled) {
      json.number("lost_share", twin.lost_share());
      for (const lm::LinkCounts &link : twin.links) {
        json.begin_object(fmt::format("link_to_rank_{}", link.peer));
        json.integer("sent", link.sent);
        json.integer("received", link.received);
        json.integer("lost", link.lost);
        json.end_object();
      }
    }
    json.number("gemm_share", twin.gemm_share());
    json.integer("master_weight_bytes", static_cast<int64_t>(twin.bytes.weights));
    json.integer("weight_cast_bytes", static_cast<int64_t>(twin.bytes.casts));
    json.integer("gradient_bytes", static_cast<int64_t>(twin.bytes.gradients));
    json.integer("moment_bytes", static_cast<int64_t>(twin.bytes.moments));
    json.integer("activation_bytes", static_cast<int64_t>(twin.bytes.activations));
    json.integer("bytes_sent", twin.traffic.bytes_sent);
    json.number("communication_seconds", twin.traffic.seconds);
    json.numbers("noise_ratio", twin.measured.noise_ratio);
    json.numbers("validation_curve", twin.measured.validation);
    json.begin_object("time_shares");
    for (const lm::ProfileLine &line : twin.profile) {
      json.number(line.operation + " " + line.row, line.share);
    }
    json.end_object();
    json.end_object();
  }
  if (results.has_twin()) {
    json.number("validation_gap_percent", results.gap_percent());
    json.number("moment_bytes_ratio", results.moment_ratio());
    json.number("state_bytes_ratio", results.state_ratio());
  }
  json.text("sample", results.sample);
  return json.finish();
}

void write_results(const Options &options, const Results &results) {
  lm::write_file(options.out + "/losses.csv", losses_csv(results));
  lm::write_file(options.out + "/metrics.json", metrics_json(options, results));
  lm::write_file(options.out + "/loss_curves.svg", curves_svg(options, results));
}

}  // namespace train_lm
