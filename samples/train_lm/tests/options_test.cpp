// Options of the command line, and the learning rates that follow from them.
#include "../options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "../../lm/tests/expect.hpp"
#include "../../lm/trainer.hpp"

namespace {

void rejects_bad_settings(lm::Expect &expect) {
  const auto parse = [](std::vector<std::string> given) {
    given.insert(given.begin(), {"train_lm", "--data", "text.txt"});
    std::vector<char *> arguments;
    for (std::string &one : given) {
      arguments.push_back(one.data());
    }
    return train_lm::parse_options(static_cast<int>(arguments.size()), arguments.data());
  };
  const std::vector<std::string> good = {"--dp", "2", "--micro-batches", "4", "--drop-compute", "0.25"};
  expect.that(parse(good).train.drop.is_enabled && parse(good).train.drop.threshold == 0.25, "0.25 seconds");
  const auto rejects = [&](const std::vector<std::string> &changes, const char *text) {
    std::vector<std::string> given = good;
    for (size_t i = 0; i < changes.size(); i += 2) {
      const auto found = std::find(given.begin(), given.end(), changes[i]);
      if (found == given.end()) {
        given.insert(given.end(), {changes[i], changes[i + 1]});
      } else {
        *(found + 1) = changes[i + 1];
      }
    }
    expect.rejects([&] { parse(given); }, text);
  };
  for (const char *bad : {"0", "-1", "nan", "inf", "1s", "often"}) {
    rejects({"--drop-compute", bad}, fmt::format("--drop-compute is {}, expected auto or seconds", bad).c_str());
  }
  for (const char *bad : {"0", "-8", "nan", "inf", "1e38", "8x", "static"}) {
    rejects({"--loss-scale", bad}, fmt::format("--loss-scale is {}, expected dynamic or a number", bad).c_str());
  }
  for (const char *bad : {"1", "-0.1", "nan", "10%", "yes"}) {
    rejects({"--lossy", bad}, fmt::format("--lossy is {}, expected at least 0 and below 1", bad).c_str());
  }
  expect.that(parse({"--dp", "2", "--lossy", "0.1", "--state", "f32"}).train.lossy.injected_loss == 0.1, "a tenth");
  rejects({"--drop-compute", "", "--dp", "1", "--lossy", "0"}, "expected --dp of at least 2, --tp 1 and --zero 0");
  rejects({"--drop-compute", "", "--tp", "2", "--lossy", "0"}, "expected --dp of at least 2, --tp 1 and --zero 0");
  rejects({"--zero", "1", "--lossy", "0"}, "expected --dp of at least 2, --tp 1 and --zero 0");
  rejects({"--lossy", "0"}, "the state fp8_tensor has scales");
  const char *const delayed = "--delay-compensation";
  expect.that(parse({"--dp", "2", delayed, "0", "--state", "f32"}).train.delay_compensation == 0.0, "no correction");
  rejects({"--drop-compute", "", delayed, "nan"}, "--delay-compensation is nan, expected at most 1000");
  rejects({"--drop-compute", "", "--dp", "1", delayed, "0"}, "expected --dp of at least 2, --tp 1 and --zero 0");
  rejects({"--drop-compute", "", "--zero", "1", delayed, "0"}, "expected --dp of at least 2, --tp 1 and --zero 0");
  rejects({delayed, "0"}, "expected no --lossy, --drop-compute and --loss-scale");
  rejects({"--drop-compute", "", delayed, "0", "--loss-scale", "8"}, "expected no --lossy, --drop-compute");
  rejects({"--drop-compute", "", delayed, "0"}, "the state fp8_tensor has scales");
  rejects({"--sp", "2"}, "expected --sp 1 with them");
  rejects({"--drop-compute", "", "--sp", "0"}, "--sp is 0, expected at least 1");
  rejects({"--drop-compute", "", "--sp", "3"}, "--sequence is 128, expected a multiple of 2 x --sp = 6");
  rejects({"--drop-compute", "", "--sp", "64"}, "--tp x --dp x --sp is 128, expected at most 64");
  rejects({"--drop-compute", "", "--sp-wire", "int9"}, "--sp-wire is int9, expected the name of a format");
  rejects({"--dp", "1", "--autopilot", "1.5"}, "--autopilot is 1.5, expected 0 to 1");
  rejects({"--autopilot", "0.5"}, "--tp 1, --dp 1 and --sp 1");
  rejects({"--dp", "1", "--autopilot", "0.5", "--recipe", "f32"}, "the recipe is f32: an autopilot raises");
  rejects({"--dp", "1", "--autopilot", "0.5", "--recipe", "sparse24_from_dense"}, "after steps in f32");
  rejects({"--dp", "1"}, "expected --dp of at least 2 and --tp 1");
  rejects({"--tp", "2"}, "expected --dp of at least 2 and --tp 1");
  rejects({"--micro-batches", "1"}, "expected --micro-batches of at least 2");
  rejects({"--drop-compute", "auto", "--steps", "50"}, "--steps is 50, expected more than the 50");
  rejects({"--stragglers", "-1"}, "--stragglers is -1, expected 0 to 1000");
  rejects({"--micro-batch-seconds", "1e4"}, "--micro-batch-seconds is 10000, expected 0 to 1000");
}

// The rates of 1000 steps with a peak of 1, as the papers state them.
void has_the_rates_of_its_end(lm::Expect &expect) {
  lm::TrainSettings settings;
  settings.steps = 1000;
  settings.learning_rate = 1.0;
  settings.raised_from = 0.8;
  const auto rates_are = [&](lm::Raised raised, std::vector<std::pair<int64_t, double>> rates) {
    settings.raised = raised;
    for (const auto &[step, rate] : rates) {
      const double found = lm::learning_rate_at(settings, step);
      expect.that(std::abs(found - rate) < 1e-12,
                  fmt::format("step {} has the rate {}, expected {}", step, found, rate));
    }
  };
  const double last = 0.55 - 0.45 * std::cos(std::numbers::pi / 950.0);  // half a cosine over 950 steps
  rates_are(lm::Raised::kAll, {{0, 1.0 / 50}, {49, 1.0}, {525, 0.55}, {999, last}});
  rates_are(lm::Raised::kQaf, {{0, 1.0 / 40}, {39, 1.0}, {420, 0.55}, {800, 1.0 / 40}, {839, 1.0}, {920, 0.55}});
  rates_are(lm::Raised::kFnt,
            {{0, 1.0 / 40}, {420, 0.55}, {800, 0.01}, {899, 1.0}, {900, 1.0}, {950, 0.5}, {999, 0.01}});
}

}  // namespace

int main() {
  lm::Expect expect;
  rejects_bad_settings(expect);
  has_the_rates_of_its_end(expect);
  return expect.exit_code();
}
