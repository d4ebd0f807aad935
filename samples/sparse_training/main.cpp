// Trains one small language model with 2:4 weights and gradients, and in dense form, with the same seeds and batches. Reports
// the final loss against dense, and all curves in one plot.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>

#include "../compare_recipes/report.hpp"
#include "../lm/files.hpp"

namespace {

constexpr int kUserError = 2;

constexpr const char *kWays =
    "  f32                    dense\n"
    "  sparse24               weights 2:4 along rows by magnitude, selected in every step\n"
    "  sparse24_transposable  weights 2:4 along rows and columns from the first step on, selected every 40 steps, "
    "with\n"
    "                         masked decay\n"
    "  sparse24_undecayed     the same without decay\n"
    "  sparse24_from_dense    the first of these after half of the steps dense\n"
    "  mvue24_gradients       output gradients 2:4 in the weight GEMM, drawn without bias (MVUE)\n"
    "  magnitude24_gradients  the same by magnitude, which is biased\n"
    "  mvue24_inputs          mvue24_gradients, and inputs of layers 2:4 by magnitude\n"
    "  fully_sparse24         all three GEMMs 2:4: transposable weights with masked decay, MVUE gradients\n";

void declare(CLI::App &app, compare_recipes::Options &options) {
  app.add_option("--data", options.data, "Training text: any file")->required();
  app.add_option("--out", options.out, "Folder for runs, curves.svg and curves.csv")->capture_default_str();
  app.add_option("--seeds", options.seeds, "Runs per configuration")->capture_default_str()->check(CLI::PositiveNumber);
  app.add_option("--at-once", options.at_once, "Runs side by side, one thread each")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  app.add_option("--steps", options.train.steps, "Optimizer steps of each run")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  app.add_flag("--quiet", options.is_quiet, "No progress");
}

}  // namespace

int main(int argument_count, char **arguments) {
  compare_recipes::Options options;
  options.out = "build/sparse_training";
  options.ways = {"f32",
                  "sparse24",
                  "sparse24_transposable",
                  "sparse24_undecayed",
                  "sparse24_from_dense",
                  "mvue24_gradients",
                  "magnitude24_gradients",
                  "mvue24_inputs",
                  "fully_sparse24"};
  CLI::App app(fmt::format("Trains one small language model with sparse weights and gradients:\n{}", kWays));
  declare(app, options);
  CLI11_PARSE(app, argument_count, arguments);
  try {
    const std::vector<compare_recipes::Runs> all = compare_recipes::compare(options);
    lm::write_file(options.out + "/curves.svg", compare_recipes::picture(options, all));
    lm::write_file(options.out + "/curves.csv", compare_recipes::csv(all));
    lm::write_out(fmt::format("{}\n{}\n  runs, curves.svg and curves.csv are in {}\n",
                              compare_recipes::table(options, all), kWays, options.out));
    return 0;
  } catch (const std::exception &error) {
    std::fputs(fmt::format("sparse_training: {}\n", error.what()).c_str(), stderr);
    return kUserError;
  }
}
