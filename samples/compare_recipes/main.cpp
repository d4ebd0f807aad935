// Trains one small language model with many recipes, with the same seeds and batches, and reports for each: final loss against
// f32, bytes, speed, noise, and all curves in one plot.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>

#include "../lm/files.hpp"
#include "report.hpp"

namespace {

constexpr int kUserError = 2;

void check_at_least_one(const char *name, int64_t value) {
  if (value < 1) {
    throw lm::Error(fmt::format("{} is {}, expected at least 1", name, value));
  }
}

void declare(CLI::App &app, compare_recipes::Options &options) {
  lm::TrainSettings &train = options.train;
  app.add_option("--data", options.data, "Training text: any file")->required();
  app.add_option("--out", options.out, "Folder for runs, curves.svg and curves.csv")->capture_default_str();
  app.add_option("--seeds", options.seeds, "Runs per recipe")->capture_default_str();
  app.add_option("--at-once", options.at_once, "Runs side by side, one thread each")->capture_default_str();
  app.add_option("--steps", train.steps, "Optimizer steps of each run")->capture_default_str();
  app.add_option("--raise-from", train.raised_from, "Fraction of the steps after which the suffixes of recipes apply")
      ->capture_default_str();
  app.add_flag("--watch", train.is_watched, "Measure noise, scales and alignment at each validation");
  app.add_flag("--quiet", options.is_quiet, "No progress");
  app.add_option(
      "ways", options.ways,
      fmt::format("Recipes to compare: RECIPE or RECIPE:STATE, with a suffix +forward, +backward or +all for "
                  "these passes in bf16 at the end, +all_f32 for all in f32, +qaf or +fnt for the ends that papers "
                  "publish, +last for the last block in bf16 from the start, or +autopilot for an autopilot with the "
                  "budget of +all. Recipes: {}. States: {}. Default: "
                  "all recipes",
                  fmt::join(lm::recipe_names(), ", "), fmt::join(lm::state_names(), ", ")));
}

}  // namespace

int main(int argument_count, char **arguments) {
  compare_recipes::Options options;
  CLI::App app("Trains one small language model under many recipes and compares them.");
  declare(app, options);
  CLI11_PARSE(app, argument_count, arguments);
  try {
    check_at_least_one("--seeds", options.seeds);
    check_at_least_one("--at-once", options.at_once);
    check_at_least_one("--steps", options.train.steps);
    if (options.ways.empty()) {
      options.ways = lm::recipe_names();
    }
    const std::vector<compare_recipes::Runs> all = compare_recipes::compare(options);
    lm::write_file(options.out + "/curves.svg", compare_recipes::picture(options, all));
    lm::write_file(options.out + "/curves.csv", compare_recipes::csv(all));
    lm::write_out(fmt::format("{}\n  runs, curves.svg and curves.csv are in {}\n", compare_recipes::table(options, all),
                              options.out));
    return 0;
  } catch (const std::exception &error) {
    std::fputs(fmt::format("compare_recipes: {}\n", error.what()).c_str(), stderr);
    return kUserError;
  }
}
