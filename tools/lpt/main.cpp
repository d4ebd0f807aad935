// lpt: formats, checkpoints and measurements on the command line.
#include <CLI/CLI.hpp>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "bench.hpp"
#include "convert.hpp"
#include "doctor.hpp"
#include "formats.hpp"
#include "handles.hpp"
#include "inspect.hpp"
#include "lpt.h"
#include "plans.hpp"
#include "text.hpp"
#include "verify.hpp"

namespace {

constexpr int kWrong = 1;
constexpr int kUserError = 2;

// Declares options of the commands that read a file of tensors.
template <typename Options>
void declare_reading(CLI::App &command, const char *input, Options &options) {
  command.add_option(input, options.input, "Safetensors or GGUF file, index of a sharded checkpoint, or its directory")
      ->required();
  command.add_option("--include", options.include,
                     "Only tensors whose name contains a match of this regular expression");
  command.add_option("--memory", options.memory_mebibytes, "Bound of memory in MiB")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  command.add_option("--threads", options.threads, "Number of threads; 0: one per core")
      ->check(CLI::Range(0, 4096))
      ->capture_default_str();
  command.add_flag("--quiet", options.is_quiet, "No progress; only errors and requested output");
}

void declare_formats(CLI::App &app) {
  auto *command = app.add_subcommand("formats", "Lists all formats, or describes the bytes of one");
  auto name = std::make_shared<std::string>();
  command->add_option("NAME", *name, "Format to describe, such as nvfp4");
  command->callback(
      [name] { tool::print_out("{}", name->empty() ? tool::formats_table() : tool::format_page(*name)); });
}

void declare_inspect(CLI::App &app) {
  auto *command = app.add_subcommand(
      "inspect", "Reports statistics of the values of a checkpoint, and the error of formats on them");
  auto options = std::make_shared<tool::InspectOptions>();
  declare_reading(*command, "FILE", *options);
  command->add_option("--format", options->formats, "Formats whose error is reported; may be given more than once");
  command->add_option("--picture", options->picture, "Write a picture as SVG");
  command->add_flag("--json", options->is_json, "Print JSON instead of a table");
  command->callback([options] { tool::inspect(*options); });
}

std::vector<std::string> isa_names() {
  std::vector<std::string> names = {"auto"};
  for (const tool::NamedIsa &isa : tool::kIsas) names.emplace_back(isa.name);
  return names;
}

void declare_bench_gemm(CLI::App &app) {
  auto *command = app.add_subcommand("gemm", "Measures GEMMs relative to the limits of the CPU");
  auto options = std::make_shared<tool::BenchGemmOptions>();
  command->add_option(
      "--shape", options->shapes,
      "usual, squares, llama, decode, layers, all, one shape of these, or MxKxN; may be given more than once");
  command->add_option("--pair", options->pairs,
                      "Formats of a and b, such as bf16:int4_1x128; may be given more than once");
  command->add_option("--weights", options->weights, "Storage of b")
      ->check(CLI::IsMember({"plain", "packed", "both"}))
      ->capture_default_str();
  command->add_option("--isa", options->isa, "Highest instruction set to use")
      ->check(CLI::IsMember(isa_names()))
      ->capture_default_str();
  command
      ->add_option("--threads", options->threads,
                   "Number of threads; with more than one, each GEMM also runs on one thread")
      ->check(CLI::Range(1, 4096))
      ->capture_default_str();
  command->add_option("--seconds", options->seconds, "Seconds for each GEMM; at least five rounds")
      ->check(CLI::Range(0.001, 3600.0))
      ->capture_default_str();
  command->add_option("--from", options->from, "Draw this JSON file of an earlier run instead of measuring");
  command->add_option("--peers", options->peers, "Also draw the peers of this JSON file; may be given more than once");
  command->add_option("--json", options->json, "Write the figures as JSON");
  command->add_option("--picture", options->picture, "Write a picture as SVG");
  command->add_flag("--quiet", options->is_quiet, "No progress");
  command->callback([options] { tool::bench_gemm(*options); });
}

void declare_bench_comm(CLI::App &app) {
  auto *command = app.add_subcommand("comm", "Measures collectives of local ranks: time, latency, bandwidth");
  auto options = std::make_shared<tool::BenchCommOptions>();
  command->add_option("--ranks", options->ranks, "Number of ranks")->check(CLI::Range(2, 64))->capture_default_str();
  command->add_option("--threads", options->threads, "Number of threads of each rank")
      ->check(CLI::Range(1, 4096))
      ->capture_default_str();
  command
      ->add_option("--collective", options->collectives,
                   "Collectives to measure, by default all; may be given more than once")
      ->check(CLI::IsMember({"all_reduce", "reduce_scatter", "all_gather"}));
  command->add_option("--format", options->formats, "Formats of the tensors; may be given more than once")
      ->check(CLI::IsMember({"f64", "f32", "bf16", "f16"}))
      ->capture_default_str();
  command->add_option("--payload", options->payloads, "Narrower formats whose break-even is reported")
      ->capture_default_str();
  command
      ->add_option("--wire", options->wires,
                   "Wire formats with which reductions are also measured, separated by commas")
      ->delimiter(',');
  command->add_option("--least", options->least_bytes, "Minimum size of a tensor, with a unit, such as 1KiB")
      ->transform(CLI::AsSizeValue(false))
      ->capture_default_str();
  command->add_option("--most", options->most_bytes, "Maximum size of a tensor")
      ->transform(CLI::AsSizeValue(false))
      ->capture_default_str();
  command->add_option("--seconds", options->seconds, "Seconds for each size; at least five rounds")
      ->check(CLI::Range(0.0001, 3600.0))
      ->capture_default_str();
  command->add_option("--link-latency", options->link_microseconds, "Emulated link: microseconds per message; 0: none")
      ->check(CLI::Range(0.0, 1e9))
      ->capture_default_str();
  command
      ->add_option("--link-bandwidth", options->link_gigabytes, "Emulated link: GB/s of a rank; 0: the rate of memory")
      ->check(CLI::Range(0.0, 1e9))
      ->capture_default_str();
  command->add_flag("--messages", options->sends_messages, "Ranks send messages, as processes do");
  command->add_option("--json", options->json, "Write the figures as JSON");
  command->add_option("--picture", options->picture, "Write a picture as SVG");
  command->add_flag("--quiet", options->is_quiet, "No progress");
  command->callback([options] { tool::bench_comm(*options); });
}

void declare_bench_step(CLI::App &app) {
  auto *command = app.add_subcommand("step", "Measures the operations of a training step, for `lpt plan`");
  auto options = std::make_shared<tool::BenchStepOptions>();
  command->add_option("--ranks", options->ranks, "Number of ranks that compute at the same time")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  command->add_option("--threads", options->threads, "Number of threads of each rank")
      ->check(CLI::Range(1, 4096))
      ->capture_default_str();
  command->add_option("--recipe", options->recipes, "Recipes of linear layers; may be given more than once")
      ->capture_default_str();
  command
      ->add_option(
          "--moments", options->moments,
          "Formats of the moments of AdamW, such as f32 or e4m3fn_1x128:e5m2_1x128; may be given more than once")
      ->capture_default_str();
  command->add_option("--wire", options->wires, "Wire formats of all-reduces; may be given more than once")
      ->capture_default_str();
  command->add_option("--seconds", options->seconds, "Seconds for each shape; at least five rounds")
      ->check(CLI::Range(0.0001, 3600.0))
      ->capture_default_str();
  command->add_option("--json", options->json, "Write the machine as JSON, for `lpt plan --machine`");
  command->add_flag("--quiet", options->is_quiet, "No progress");
  command->callback([options] { tool::bench_step(*options); });
}

void declare_bench(CLI::App &app) {
  auto *command = app.add_subcommand("bench", "Measures this machine");
  command->require_subcommand(1);
  auto *quantize = command->add_subcommand(
      "quantize", "Measures casts relative to memcpy on one thread, larger than the cache and in the cache");
  auto options = std::make_shared<tool::BenchOptions>();
  quantize->add_option("--mebibytes", options->mebibytes, "Size of the large f32 source in MiB; 0 omits it")
      ->check(CLI::Range(0, 4096))
      ->capture_default_str();
  quantize->add_option("--picture", options->picture, "Write a picture as SVG");
  quantize->callback([options] { tool::bench_quantize(*options); });
  declare_bench_gemm(*command);
  declare_bench_comm(*command);
  declare_bench_step(*command);
}

void declare_plan(CLI::App &app) {
  auto *command =
      app.add_subcommand("plan", "Lists divisions of a training step among ranks, by memory, bytes and time");
  auto options = std::make_shared<tool::PlanOptions>();
  const auto add_size = [&](const char *name, int64_t &size, const char *help) {
    return command->add_option(name, size, help)->check(CLI::Range(int64_t{1}, int64_t{1} << 26));
  };
  command->add_option("--machine", options->machine, "JSON file of `lpt bench step`")->required();
  command->add_option("--config", options->config, "config.json of a model of Hugging Face; options replace its sizes");
  add_size("--layers", options->model.layers, "Decoder layers");
  add_size("--width", options->model.width, "Columns of the residual stream");
  add_size("--hidden", options->model.hidden, "Columns of the gated unit");
  add_size("--heads", options->model.heads, "Heads of the queries");
  add_size("--key-value-heads", options->model.key_value_heads,
           "Heads of keys and values; default: those of the queries");
  add_size("--vocabulary", options->model.vocabulary, "Rows of the embedding");
  add_size("--sequence", options->model.sequence, "Positions of a sequence")->required();
  add_size("--batch", options->batch, "Sequences of a step")->required();
  command->add_option("--ranks", options->ranks, "Number of ranks")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  command->add_option("--tensor", options->tensor, "Only these numbers of tensor ranks; may be given more than once");
  command->add_option("--pipeline", options->pipeline, "Only these numbers of stages; may be given more than once");
  command->add_option("--micro-batches", options->micro_batches,
                      "Only these numbers of micro-batches of a data rank; may be given more than once");
  command->add_option("--recipe", options->recipes, "Recipes; may be given more than once")->capture_default_str();
  command->add_option("--moments", options->moments, "Formats of the moments; may be given more than once")
      ->capture_default_str();
  command
      ->add_option("--share", options->shares,
                   "Shares of the columns that tensor ranks reduce (CAAT); may be given more than once")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  command->add_option("--wire", options->wires, "Wire formats of tensor ranks; may be given more than once")
      ->capture_default_str();
  command
      ->add_option("--gradient-wire", options->gradient_wires, "Wire formats of gradients; may be given more than once")
      ->capture_default_str();
  command->add_option("--top", options->top, "Plans to print; 0: all")
      ->check(CLI::Range(int64_t{0}, int64_t{1} << 20))
      ->capture_default_str();
  command->add_option("--json", options->json, "Write the plans as JSON");
  command->add_option("--picture", options->picture, "Write a picture as SVG");
  command->callback([options] { tool::plan(*options); });
}

void declare_doctor(CLI::App &app) {
  auto *command = app.add_subcommand(
      "doctor", "Reports the release, the CPU, its instruction sets, and the kernel of each cast and GEMM");
  command->callback([] { tool::print_out("{}", tool::doctor_report()); });
}

void declare_devices(CLI::App &app) {
  auto *command = app.add_subcommand(
      "devices", "Lists the devices that contexts can use, and the reasons why others cannot be used");
  command->callback([] { tool::print_out("{}", tool::devices_report()); });
}

void declare_verify(CLI::App &app, int &status) {
  auto *command = app.add_subcommand("verify", "Replays the conformance vectors with the installed library");
  auto options = std::make_shared<tool::VerifyOptions>();
  command->add_option("FOLDER", options->folder, "Directory of the vectors; default: the installed ones");
  command->add_option("--isa", options->isa, "Highest instruction set to use")
      ->check(CLI::IsMember(isa_names()))
      ->capture_default_str();
  command->callback([options, &status] { status = tool::verify(*options) == 0 ? 0 : kWrong; });
}

void declare_convert(CLI::App &app) {
  auto *command = app.add_subcommand("convert", "Quantizes the matrices of a checkpoint, or decodes them");
  auto options = std::make_shared<tool::ConvertOptions>();
  declare_reading(*command, "IN", *options);
  command->add_option("OUT", options->output, "Safetensors file to write")->required();
  command
      ->add_option("--to", options->format,
                   "nvfp4, mxfp8, mxfp4, fp8, fp8-row, int8, int4-g128, any of `lpt formats`, or "
                   "f32, bf16, f16 to decode")
      ->required();
  command->add_option("--from", options->from, "Format of the quantized tensors of IN, if another program wrote it");
  command->add_option("--exclude", options->exclude,
                      "Skip tensors whose name contains a match of this regular expression");
  command->add_option("--report", options->report, "Write the error of each tensor as JSON");
  command->add_flag("--verify", options->is_verified, "Read the output and compare it with a new cast");
  command->add_flag("--short-blocks,!--whole-blocks", options->has_short_blocks,
                    "Quantize matrices whose rows end within a block (the default), or copy them; compressed-tensors "
                    "reads only whole blocks");
  command->add_flag("--restart", options->is_restarted, "Discard an unfinished run");
  command->add_flag("--force", options->is_forced,
                    "Replace OUT, and keep matrices whose signal to error is below 10 dB");
  command->callback([options] { tool::convert(*options); });
}

// Prints one line for invalid arguments. The text may contain them.
void print_parse_error(const CLI::App &app, const CLI::ParseError &problem) {
  constexpr size_t kMostCharacters = 300;
  std::string command = app.get_name();
  for (const CLI::App *inner = &app; !inner->get_subcommands().empty();) {
    inner = inner->get_subcommands().front();
    command += ' ' + inner->get_name();
  }
  tool::print_error("lpt: {}: {} --help lists all options\n", tool::shortened(problem.what(), kMostCharacters),
                    command);
}

int run(int argument_count, char **arguments) {
  CLI::App app("Inspects formats and checkpoints, converts checkpoints, and measures this machine.", "lpt");
  app.require_subcommand(1);
  app.set_version_flag("--version", std::string(lpt_version_string()));
  int status = 0;
  declare_formats(app);
  declare_inspect(app);
  declare_bench(app);
  declare_plan(app);
  declare_doctor(app);
  declare_devices(app);
  declare_verify(app, status);
  declare_convert(app);
  try {
    app.parse(argument_count, arguments);
  } catch (const CLI::ParseError &problem) {
    if (problem.get_exit_code() == 0) {
      app.exit(problem);  // prints the help or the release
    } else {
      print_parse_error(app, problem);
      status = kUserError;
    }
  }
  tool::flush_out();
  return status;
}

}  // namespace

int main(int argument_count, char **arguments) {
  try {
    return run(argument_count, arguments);
  } catch (const std::bad_alloc &) {
    tool::write_error("lpt: the memory does not suffice: expected a smaller --memory, or more memory\n");
  } catch (const std::exception &error) {
    tool::print_error("lpt: {}\n", tool::escaped(error.what()));
  }
  return kUserError;
}
