#include "options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdlib>
#include <map>
#include <sstream>

namespace train_lm {

namespace {

constexpr double kLargestDelay = 1000.0;  // a factor, or seconds

// Calls `visit` with the name, the variable and the help text of every setting that a checkpoint stores.
template <typename Visit>
void visit_settings(Options &options, Visit &&visit) {
  lm::TrainSettings &train = options.train;
  static const std::string recipes =
      fmt::format("Training recipe of the model: {}", fmt::join(lm::recipe_names(), ", "));
  static const std::string states = fmt::format(
      "Formats of the optimizer state: {}; empty: those of the recipe's paper", fmt::join(lm::state_names(), ", "));
  static const std::string methods = fmt::format("Optimizer: {}", fmt::join(lm::method_names(), ", "));
  visit("--recipe", options.recipe, recipes.c_str());
  visit("--state", options.state, states.c_str());
  visit("--optimizer", options.method, methods.c_str());
  visit("--raise", options.raised,
        "Passes of the last steps in bf16: nothing, forward, backward or all; all_f32: all in f32. With new learning "
        "rates: qaf: backward; fnt: all operands but weights");
  visit("--raise-from", train.raised_from, "Fraction of the steps after which --raise applies");
  visit("--autopilot", train.pilot_budget,
        "Share of the work of the blocks that an autopilot may raise to bf16; 0: no autopilot");
  visit(
      "--loss-scale", train.loss_scale,
      "Factor of the loss, for gradients in few bits: a number, or dynamic: it backs off from infinite gradients, and "
      "grows; empty: none");
  visit("--watch", train.is_watched, "Write noise, scales and alignment of each validation to monitor.csv");
  visit("--no-twin", options.has_no_twin, "Do not train the f32 baseline");
  visit("--tp", options.grid.tensor, "Tensor-parallel ranks");
  visit("--dp", options.grid.data, "Data-parallel ranks, or groups of tensor-parallel ranks");
  visit("--sp", options.grid.sequence,
        "Ranks that divide each window by positions; keys and values go around their ring");
  visit("--sp-wire", options.sequence_wire,
        "Wire format of these keys and values, for example int8_1x32; empty: that of activations");
  visit("--zero", train.zero, "1: data-parallel ranks shard the optimizer state");
  visit("--sync", options.synced, "Fraction of the residual columns that tensor-parallel ranks synchronize (CAAT)");
  visit("--wire", options.wire, "Wire format of these columns, for example int8_1x32; empty: f32");
  visit("--drop-compute", options.drop,
        "Data-parallel ranks stop a step after this time: seconds, or auto: drop up to a tenth (DropCompute); empty: "
        "never");
  visit("--stragglers", train.drop.stragglers,
        "Factor of random delays of micro-batches: 1 adds half of their time on average; 0: no delays");
  visit("--micro-batch-seconds", train.drop.least,
        "Time of a micro-batch without these delays, if it is longer than the computation: emulates a device per rank");
  visit(
      "--lossy", options.lossy,
      "Data-parallel ranks send gradients and weights as UDP packets, each once: fraction of the packets that they do "
      "not send, 0 to below 1; empty: reliable collectives");
  visit(
      "--delay-compensation", train.delay_compensation,
      "Data-parallel ranks average weights during the next step, and correct gradients by this fraction of their norm "
      "(DC-S3GD); negative: they average gradients");
  visit("--steps", train.steps, "Optimizer steps");
  visit("--batch", train.batch, "Windows per optimizer step");
  visit("--micro-batches", train.micro_batches, "Forward and backward passes per optimizer step");
  visit("--sequence", train.shape.sequence, "Bytes per window");
  visit("--width", train.shape.width, "Columns of the residual stream");
  visit("--layers", train.shape.layers, "Transformer blocks");
  visit("--heads", train.shape.heads, "Attention heads per block");
  visit("--hidden", train.shape.hidden, "Columns of the gated MLP");
  visit("--learning-rate", train.learning_rate, "Peak learning rate");
  visit("--weight-decay", train.weight_decay, "Decoupled weight decay of matrices");
  visit("--seed", train.seed, "Seed of weights, batches, rounding and the sample");
  visit("--validate-every", train.validate_every, "Steps between validations");
  visit("--validation-windows", train.validation_windows, "Windows of held-out text per validation");
}

// Declares a setting to CLI11. Flags have no value.
struct Declare {
  CLI::App &app;

  template <typename T>
  void operator()(const char *name, T &place, const char *help) const {
    app.add_option(name, place, help)->capture_default_str();
  }
  void operator()(const char *name, bool &place, const char *help) const { app.add_flag(name, place, help); }
};

template <typename T>
void assign(T &place, const std::string &text) {
  std::istringstream(text) >> place;
}

void assign(bool &place, const std::string &text) { place = text == "true"; }

// Reads a setting from the checkpoint. A value on the command line must be equal.
struct Restore {
  const CLI::App &app;
  const std::map<std::string, std::string> &saved;

  template <typename T>
  void operator()(const char *name, T &place, const char *) const {
    const auto found = saved.find(name);
    if (found == saved.end()) {
      throw lm::Error(fmt::format("the checkpoint has no value of {}", name));
    }
    const std::string given = fmt::format("{}", place);
    if (app.count(name) > 0 && given != found->second) {
      throw lm::Error(fmt::format("{} is {}, but the checkpoint was made with {}", name, given, found->second));
    }
    assign(place, found->second);
  }
};

std::map<std::string, std::string> parse_settings(const std::string &text) {
  std::map<std::string, std::string> settings;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const size_t sign = line.find('=');
    settings[line.substr(0, sign)] = sign == std::string::npos ? "" : line.substr(sign + 1);
  }
  return settings;
}

void declare_rest(CLI::App &app, Options &options) {
  app.add_option("--data", options.data, "Training text: any file")->required();
  app.add_option("--out", options.out, "Folder for curves, losses, metrics and the checkpoint")->capture_default_str();
  app.add_option("--resume", options.resume, "Continue from this checkpoint");
  app.add_option("--checkpoint-every", options.checkpoint_every, "Steps between checkpoints; 0: no checkpoint")
      ->capture_default_str();
  app.add_option("--stop-after", options.stop_after, "Stop after this step and write a checkpoint; 0: run all steps");
  app.add_option("--threads", options.threads, "Threads per model and rank; 0: they share the cores, 1 with mpi")
      ->capture_default_str();
  app.add_option("--engine", options.engine, "Ranks are threads of this process (local), or processes of a job (mpi)")
      ->capture_default_str();
  app.add_option("--lossy-address", options.train.lossy.address, "Numeric address of this rank with --lossy")
      ->capture_default_str();
  app.add_option("--sample-bytes", options.sample_bytes, "Bytes of text to write at the end; 0: none")
      ->capture_default_str();
  app.add_option("--temperature", options.temperature, "Temperature of the sample")->capture_default_str();
  app.add_flag("--quiet", options.is_quiet, "No progress");
  app.add_flag("--json", options.is_json, "Print metrics.json instead of the table");
}

void check_at_least(const char *name, int64_t value, int64_t least) {
  if (value < least) {
    throw lm::Error(fmt::format("{} is {}, expected at least {}", name, value, least));
  }
}

void check_share(const char *name, double value) {
  if (!(value >= 0.0 && value <= 1.0)) {
    throw lm::Error(fmt::format("{} is {}, expected 0 to 1", name, value));
  }
}

void check_above_zero(const char *name, double value) {
  if (!std::isfinite(value) || value <= 0.0) {
    throw lm::Error(fmt::format("{} is {}, expected a number above 0", name, value));
  }
}

void check_ranks(const Options &options) {
  check_share("--sync", options.synced);
  synchrony_of(options);
  if (options.engine != "local" && options.engine != "mpi") {
    throw lm::Error(fmt::format("--engine is {}, expected local or mpi", options.engine));
  }
  if (options.grid.ranks() > 64) {
    throw lm::Error(fmt::format("--tp x --dp x --sp is {}, expected at most 64", options.grid.ranks()));
  }
  if (options.grid.sequence > 1 && options.train.shape.sequence % (2 * options.grid.sequence) != 0) {
    throw lm::Error(fmt::format("--sequence is {}, expected a multiple of 2 x --sp = {}", options.train.shape.sequence,
                                2 * options.grid.sequence));
  }
  if (options.grid.sequence > 1 &&
      (!options.drop.empty() || !options.lossy.empty() || options.train.delay_compensation >= 0.0)) {
    throw lm::Error(
        "--drop-compute, --lossy and --delay-compensation are for whole windows, expected --sp 1 with them");
  }
  if (options.train.zero > 1) {
    throw lm::Error(fmt::format("--zero is {}, expected 0 or 1", options.train.zero));
  }
  if (options.grid.ranks() > 1 && (options.train.is_watched || options.train.pilot_budget > 0.0)) {
    throw lm::Error("--watch and --autopilot read whole layers, expected --tp 1, --dp 1 and --sp 1 with them");
  }
  if (options.grid.tensor > 1 && lm::precision_of(options.recipe, options.state, options.method).is_unit_scaled) {
    throw lm::Error(
        fmt::format("--recipe {} scales by the columns of whole layers, expected --tp 1 with it", options.recipe));
  }
}

void check_delay(const char *name, double value) {
  if (!(value >= 0.0 && value <= kLargestDelay)) {
    throw lm::Error(fmt::format("{} is {}, expected 0 to {}", name, value, kLargestDelay));
  }
}

void check_drop(const Options &options) {
  check_delay("--stragglers", options.train.drop.stragglers);
  check_delay("--micro-batch-seconds", options.train.drop.least);
  if (options.drop.empty()) {
    return;
  }
  drop_of(options);
  if (options.grid.data < 2 || options.grid.tensor > 1) {
    throw lm::Error("--drop-compute stops ranks that share the batch, expected --dp of at least 2 and --tp 1 with it");
  }
  if (options.train.micro_batches < 2) {
    throw lm::Error("--drop-compute drops micro-batches, expected --micro-batches of at least 2 with it");
  }
  constexpr int64_t kMeasured = lm::kDropWarmUpSteps + lm::kDropMeasuredSteps;
  if (options.drop == "auto" && options.train.steps <= kMeasured) {
    throw lm::Error(fmt::format("--steps is {}, expected more than the {} that --drop-compute auto measures",
                                options.train.steps, kMeasured));
  }
}

void check_lossy(const Options &options) {
  if (options.lossy.empty()) {
    return;
  }
  lossy_of(options);
  if (options.grid.data < 2 || options.grid.tensor > 1 || options.train.zero != 0) {
    throw lm::Error(
        "--lossy divides the parameters among ranks, expected --dp of at least 2, --tp 1 and --zero 0 with it");
  }
  const lm::Precision precision = lm::precision_of(options.recipe, options.state, options.method);
  lm::check_flat("--lossy", precision.state);
}

void check_delayed(const Options &options) {
  if (options.train.delay_compensation < 0.0) {
    return;
  }
  if (!(options.train.delay_compensation <= kLargestDelay)) {
    throw lm::Error(fmt::format("--delay-compensation is {}, expected at most {}", options.train.delay_compensation,
                                kLargestDelay));
  }
  if (options.grid.data < 2 || options.grid.tensor > 1 || options.train.zero != 0) {
    throw lm::Error("--delay-compensation averages whole models, expected --dp of at least 2, --tp 1 and --zero 0");
  }
  if (!options.lossy.empty() || !options.drop.empty() || !options.train.loss_scale.empty()) {
    throw lm::Error(
        "--delay-compensation has other weights on each rank, expected no --lossy, --drop-compute and --loss-scale");
  }
  lm::check_flat("--delay-compensation", lm::precision_of(options.recipe, options.state, options.method).state);
}

void check_options(const Options &options) {
  check_at_least("--tp", options.grid.tensor, 1);
  check_at_least("--dp", options.grid.data, 1);
  check_at_least("--sp", options.grid.sequence, 1);
  check_at_least("--zero", options.train.zero, 0);
  lm::check_shape(options.train.shape, options.grid.tensor);
  check_ranks(options);
  lm::precision_of(options.recipe, options.state, options.method);
  check_share("--raise-from", options.train.raised_from);
  check_share("--autopilot", options.train.pilot_budget);
  if (options.train.pilot_budget > 0.0 && options.raised != "nothing") {
    throw lm::Error("--autopilot chooses what is raised, expected --raise nothing with it");
  }
  lm::check_pilot(lm::precision_of(options.recipe, options.state, options.method), options.train.pilot_budget);
  lm::make_loss_scaler(lm::make_context(1).get(), options.train.loss_scale);
  check_at_least("--steps", options.train.steps, 1);
  check_at_least("--batch", options.train.batch, 1);
  check_at_least("--micro-batches", options.train.micro_batches, 1);
  check_at_least("--validate-every", options.train.validate_every, 1);
  check_at_least("--validation-windows", options.train.validation_windows, 1);
  check_at_least("--checkpoint-every", options.checkpoint_every, 0);
  check_at_least("--stop-after", options.stop_after, 0);
  check_at_least("--threads", options.threads, 0);
  check_at_least("--sample-bytes", options.sample_bytes, 0);
  check_drop(options);
  check_lossy(options);
  check_delayed(options);
  check_above_zero("--learning-rate", options.train.learning_rate);
  check_above_zero("--temperature", options.temperature);
}

}  // namespace

Options parse_options(int argument_count, char **arguments) {
  Options options;
  CLI::App app("Trains a byte-level language model in low precision, and the same model in f32 beside it.");
  visit_settings(options, Declare{app});
  declare_rest(app, options);
  try {
    app.parse(argument_count, arguments);
  } catch (const CLI::CallForHelp &help) {
    std::exit(app.exit(help));
  } catch (const CLI::ParseError &problem) {
    throw lm::Error(problem.what());
  }
  if (!options.resume.empty()) {
    const auto saved = parse_settings(lm::ArchiveReader(options.resume).get_text("settings"));
    visit_settings(options, Restore{app, saved});
  }
  check_options(options);
  options.train.raised = lm::raised_of(options.raised);
  options.train.drop = drop_of(options);
  options.train.lossy = lossy_of(options);
  return options;
}

lm::DropSettings drop_of(const Options &options) {
  lm::DropSettings drop = options.train.drop;
  drop.is_enabled = !options.drop.empty();
  if (drop.is_enabled && options.drop != "auto") {
    char *end = nullptr;
    drop.threshold = std::strtod(options.drop.c_str(), &end);
    if (*end != '\0' || !(drop.threshold > 0.0) || !std::isfinite(drop.threshold)) {
      throw lm::Error(fmt::format("--drop-compute is {}, expected auto or seconds above 0", options.drop));
    }
  }
  return drop;
}

lm::LossySettings lossy_of(const Options &options) {
  lm::LossySettings lossy = options.train.lossy;
  lossy.is_enabled = !options.lossy.empty();
  if (lossy.is_enabled) {
    char *end = nullptr;
    lossy.injected_loss = std::strtod(options.lossy.c_str(), &end);
    if (*end != '\0' || !(lossy.injected_loss >= 0.0 && lossy.injected_loss < 1.0)) {
      throw lm::Error(fmt::format("--lossy is {}, expected at least 0 and below 1", options.lossy));
    }
  }
  return lossy;
}

lm::Synchrony synchrony_of(const Options &options) {
  lm::Synchrony synchrony{.share = options.synced};
  if (!options.wire.empty() && lpt_format_from_name(nullptr, options.wire.c_str(), &synchrony.wire) != LPT_OK) {
    throw lm::Error(fmt::format("--wire is {}, expected the name of a format, such as int8_1x32", options.wire));
  }
  if (!options.sequence_wire.empty() &&
      lpt_format_from_name(nullptr, options.sequence_wire.c_str(), &synchrony.sequence_wire) != LPT_OK) {
    throw lm::Error(
        fmt::format("--sp-wire is {}, expected the name of a format, such as int8_1x32", options.sequence_wire));
  }
  return synchrony;
}

std::string settings_text(Options options) {
  std::string text;
  visit_settings(
      options, [&](const char *name, const auto &value, const char *) { text += fmt::format("{}={}\n", name, value); });
  return text;
}

}  // namespace train_lm
