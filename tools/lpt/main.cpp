// lpt: looks at number formats and checkpoints from the command line.
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
#include "text.hpp"
#include "verify.hpp"

namespace {

constexpr int kWrong = 1;
constexpr int kUserError = 2;

// What commands that walk through a file of tensors share.
template <typename Options>
void declare_reading(CLI::App &command, const char *input, Options &options) {
  command.add_option(input, options.input, "Safetensors file to read")->required();
  command.add_option("--include", options.include, "Only tensors whose name has this regular expression");
  command.add_option("--memory", options.memory_mebibytes, "MiB to hold at most")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  command.add_option("--threads", options.threads, "0: one per core")
      ->check(CLI::Range(0, 4096))
      ->capture_default_str();
  command.add_flag("--quiet", options.is_quiet, "No progress, nothing but errors and what was requested");
}

void declare_formats(CLI::App &app) {
  auto *command = app.add_subcommand("formats", "Tells every format, or what the bytes of one mean");
  auto name = std::make_shared<std::string>();
  command->add_option("NAME", *name, "A format, such as nvfp4");
  command->callback(
      [name] { tool::print_out("{}", name->empty() ? tool::formats_table() : tool::format_page(*name)); });
}

void declare_inspect(CLI::App &app) {
  auto *command = app.add_subcommand("inspect", "Tells what the numbers of a safetensors file look like");
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
  auto *command = app.add_subcommand("gemm", "GEMMs beside the limits of this machine");
  auto options = std::make_shared<tool::BenchGemmOptions>();
  command->add_option(
      "--shape", options->shapes,
      "usual, squares, llama, decode, layers, all, one of theirs, or MxKxN; may be given more than once");
  command->add_option("--pair", options->pairs,
                      "Formats of a and b, such as bf16:int4_1x128; may be given more than once");
  command->add_option("--weights", options->weights, "How b is")
      ->check(CLI::IsMember({"plain", "packed", "both"}))
      ->capture_default_str();
  command->add_option("--isa", options->isa, "Highest instruction set to use")
      ->check(CLI::IsMember(isa_names()))
      ->capture_default_str();
  command->add_option("--threads", options->threads, "More than one: each GEMM on one as well, and the ratio")
      ->check(CLI::Range(1, 4096))
      ->capture_default_str();
  command->add_option("--seconds", options->seconds, "For each GEMM; at least five rounds")
      ->check(CLI::Range(0.001, 3600.0))
      ->capture_default_str();
  command->add_option("--from", options->from, "Measure nothing: draw what --json has written before");
  command->add_option("--peers", options->peers, "Draw the peers of this file beside; may be given more than once");
  command->add_option("--json", options->json, "Write the figures as JSON");
  command->add_option("--picture", options->picture, "Write a picture as SVG");
  command->add_flag("--quiet", options->is_quiet, "No progress");
  command->callback([options] { tool::bench_gemm(*options); });
}

void declare_bench_comm(CLI::App &app) {
  auto *command = app.add_subcommand("comm", "Collectives of ranks that are threads: time, latency, bandwidth");
  auto options = std::make_shared<tool::BenchCommOptions>();
  command->add_option("--ranks", options->ranks, "Ranks")->check(CLI::Range(2, 64))->capture_default_str();
  command->add_option("--threads", options->threads, "Threads of each rank")
      ->check(CLI::Range(1, 4096))
      ->capture_default_str();
  command->add_option("--collective", options->collectives, "All of these without it; may be given more than once")
      ->check(CLI::IsMember({"all_reduce", "reduce_scatter", "all_gather"}));
  command->add_option("--format", options->formats, "Of the tensors; may be given more than once")
      ->check(CLI::IsMember({"f64", "f32", "bf16", "f16"}))
      ->capture_default_str();
  command->add_option("--payload", options->payloads, "Formats to cast to for the way, whose break-even is reported")
      ->capture_default_str();
  command->add_option("--wire", options->wires, "Formats that reductions are measured by as well, one after a comma")
      ->delimiter(',');
  command->add_option("--least", options->least_bytes, "Least size of a tensor; with a unit, such as 1KiB")
      ->transform(CLI::AsSizeValue(false))
      ->capture_default_str();
  command->add_option("--most", options->most_bytes, "Largest size")
      ->transform(CLI::AsSizeValue(false))
      ->capture_default_str();
  command->add_option("--seconds", options->seconds, "For each size; at least five rounds")
      ->check(CLI::Range(0.0001, 3600.0))
      ->capture_default_str();
  command->add_option("--link-latency", options->link_microseconds, "Emulated link: microseconds of a message; 0: none")
      ->check(CLI::Range(0.0, 1e9))
      ->capture_default_str();
  command
      ->add_option("--link-bandwidth", options->link_gigabytes, "Emulated link: GB/s of a rank; 0: as fast as memory")
      ->check(CLI::Range(0.0, 1e9))
      ->capture_default_str();
  command->add_flag("--messages", options->sends_messages, "Ranks send messages, as processes do");
  command->add_option("--json", options->json, "Write the figures as JSON");
  command->add_option("--picture", options->picture, "Write a picture as SVG");
  command->add_flag("--quiet", options->is_quiet, "No progress");
  command->callback([options] { tool::bench_comm(*options); });
}

void declare_bench(CLI::App &app) {
  auto *command = app.add_subcommand("bench", "Tells how fast this machine is");
  command->require_subcommand(1);
  auto *quantize = command->add_subcommand("quantize", "Casts beside memcpy, out of cache and in it, on one thread");
  auto options = std::make_shared<tool::BenchOptions>();
  quantize->add_option("--mebibytes", options->mebibytes, "Size of the f32 source out of cache; 0 leaves that half out")
      ->check(CLI::Range(0, 4096))
      ->capture_default_str();
  quantize->add_option("--picture", options->picture, "Write a picture as SVG");
  quantize->callback([options] { tool::bench_quantize(*options); });
  declare_bench_gemm(*command);
  declare_bench_comm(*command);
}

void declare_doctor(CLI::App &app) {
  auto *command = app.add_subcommand("doctor", "Tells what the library and this machine can do together");
  command->callback([] { tool::print_out("{}", tool::doctor_report()); });
}

void declare_devices(CLI::App &app) {
  auto *command = app.add_subcommand("devices", "Tells the devices that contexts can work on, and why others cannot");
  command->callback([] { tool::print_out("{}", tool::devices_report()); });
}

void declare_verify(CLI::App &app, int &status) {
  auto *command = app.add_subcommand("verify", "Replays the conformance vectors through the library");
  auto options = std::make_shared<tool::VerifyOptions>();
  command->add_option("FOLDER", options->folder, "Where the vectors lie; those that were installed with this program");
  command->add_option("--isa", options->isa, "Highest instruction set to use")
      ->check(CLI::IsMember(isa_names()))
      ->capture_default_str();
  command->callback([options, &status] { status = tool::verify(*options) == 0 ? 0 : kWrong; });
}

void declare_convert(CLI::App &app) {
  auto *command = app.add_subcommand("convert", "Writes a safetensors file with its matrices in another format");
  auto options = std::make_shared<tool::ConvertOptions>();
  declare_reading(*command, "IN", *options);
  command->add_option("OUT", options->output, "Safetensors file to write")->required();
  command
      ->add_option("--to", options->format,
                   "nvfp4, mxfp8, mxfp4, fp8, fp8-row, int8, int4-g128, any of `lpt formats`, or "
                   "f32, bf16, f16 to decode")
      ->required();
  command->add_option("--from", options->from, "What the quantized tensors of IN are, if another program wrote it");
  command->add_option("--exclude", options->exclude, "Not those whose name has this one");
  command->add_option("--report", options->report, "Write what was done as JSON");
  command->add_flag("--verify", options->is_verified, "Read the output back and compare it with a fresh cast");
  command->add_flag(
      "--short-blocks,!--whole-blocks", options->has_short_blocks,
      "Quantize matrices whose rows end within a block (the default), or copy them: whole blocks are what "
      "compressed-tensors reads");
  command->add_flag("--restart", options->is_restarted, "Forget an unfinished run");
  command->add_flag("--force", options->is_forced,
                    "Replace OUT, and keep matrices whose signal to error is below 10 dB");
  command->callback([options] { tool::convert(*options); });
}

int run(int argument_count, char **arguments) {
  CLI::App app("Looks at number formats and checkpoints with LPT.", "lpt");
  app.require_subcommand(1);
  app.set_version_flag("--version", std::string(lpt_version_string()));
  int status = 0;
  declare_formats(app);
  declare_inspect(app);
  declare_bench(app);
  declare_doctor(app);
  declare_devices(app);
  declare_verify(app, status);
  declare_convert(app);
  try {
    app.parse(argument_count, arguments);
  } catch (const CLI::ParseError &problem) {
    if (app.exit(problem) != 0) status = kUserError;
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
    tool::print_error("lpt: {}\n", error.what());
  }
  return kUserError;
}
