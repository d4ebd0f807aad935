// Output and exit status of the program.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "image.hpp"
#include "lpt.h"
#include "tests/support/sanitized.hpp"
#include "workplace.hpp"

namespace tool_tests {
namespace {

TEST(Program, ListsEveryFormatOfTheLibrary) {
  const Workplace workplace;
  const Outcome outcome = run_lpt(workplace, {"formats"});
  ASSERT_EQ(outcome.status, 0);
  const std::string lines = "\n" + outcome.out;
  for (int64_t i = 0; i < lpt_format_count(); ++i) {
    const char *const name = lpt_format_name(lpt_format_at(i));
    EXPECT_NE(lines.find(fmt::format("\n{} ", name)), std::string::npos) << name;
  }
}

TEST(Program, TellsWhatTheBytesOfAFormatMean) {
  const Workplace workplace;
  const Outcome outcome = run_lpt(workplace, {"formats", "nvfp4"});
  ASSERT_EQ(outcome.status, 0);
  EXPECT_NE(outcome.out.find("e2m1fn"), std::string::npos);
  EXPECT_NE(outcome.out.find("nvfp4-pack-quantized"), std::string::npos);
}

TEST(Program, DoctorNamesReleaseMachineAndKernels) {
  const Workplace workplace;
  const Outcome outcome = run_lpt(workplace, {"doctor"});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  for (const std::string word :
       {lpt_version_string(), lpt_build_info(), "reference", "devices", "quantize_", "gemm_"}) {
    EXPECT_NE(outcome.out.find(word), std::string::npos) << word;
  }
}

TEST(Program, TellsOfEveryKindOfDevice) {
  const Workplace workplace;
  const Outcome outcome = run_lpt(workplace, {"devices"});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("cpu"), std::string::npos);
  EXPECT_NE(outcome.out.find("cuda:0"), std::string::npos);
}

TEST(Program, RejectsInOneLine) {
  const Workplace workplace;
  for (const std::vector<std::string> &words : {std::vector<std::string>{"formats", "fp7"},
                                                {"inspect", workplace.path("missing")},
                                                {"verify", workplace.path("missing")},
                                                {"convert", workplace.path("a"), workplace.path("b"), "--to", "fp8"},
                                                {"convert", workplace.path("a"), workplace.path("b")},
                                                {"convert", workplace.path("a"), workplace.path("b"), "--too", "fp8"},
                                                {"bench", "gemm", "--threads", "many"},
                                                {"bench"},
                                                {}}) {
    const Outcome outcome = run_lpt(workplace, words);
    EXPECT_EQ(outcome.status, 2);
    EXPECT_EQ(outcome.err.find("lpt: "), 0u) << outcome.err;
    EXPECT_EQ(outcome.err.find('\n'), outcome.err.size() - 1) << outcome.err;
  }
}

TEST(Program, NamesAMissingOptionAndItsHelp) {
  const Workplace workplace;
  const Outcome outcome = run_lpt(workplace, {"convert", workplace.path("a"), workplace.path("b")});
  EXPECT_EQ(outcome.err, "lpt: --to is required: lpt convert --help lists all options\n");
  EXPECT_EQ(run_lpt(workplace, {"convert", "--help"}).status, 0);
}

TEST(Program, NamesSimilarFormats) {
  const Workplace workplace;
  const Outcome outcome = run_lpt(workplace, {"formats", "mxfp"});
  EXPECT_NE(outcome.err.find("similar: mxfp"), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("`lpt formats` lists"), std::string::npos) << outcome.err;
}

TEST(Program, NamesFilesThatAreNotSafetensors) {
  const Workplace workplace;
  for (const std::string &bytes :
       {std::string("one, two, three and more text"), std::string("short"), std::string(64, '\0'), std::string()}) {
    const Outcome outcome = run_lpt(workplace, {"inspect", workplace.write("f", bytes)});
    EXPECT_NE(outcome.err.find("f: not a safetensors file: "), std::string::npos) << outcome.err;
  }
}

std::string small_file(const Workplace &workplace) {
  return workplace.write("in.safetensors", checkpoint({random_matrix("w", 32, 64, 1), random_matrix("n", 8, 64, 2)}));
}

TEST(Program, FailsWhereStandardOutputIsFull) {
  const Workplace workplace;
  const std::string input = small_file(workplace);
  for (const std::vector<std::string> &words : {std::vector<std::string>{"formats"},
                                                {"formats", "nvfp4"},
                                                {"doctor"},
                                                {"devices"},
                                                {"--help"},
                                                {"--version"},
                                                {"inspect", input},
                                                {"inspect", input, "--json"},
                                                {"convert", input, workplace.path("o"), "--to", "fp8"}}) {
    EXPECT_EQ(wait_for(start_lpt(workplace, words, "/dev/full")), 2) << words.front();
    EXPECT_NE(workplace.read("stderr").find("standard output"), std::string::npos) << workplace.read("stderr");
  }
}

// The link protects the device itself from a defect that replaces the file.
TEST(Program, FailsWhereAFileCannotTakeItsText) {
  const Workplace workplace;
  const std::string input = small_file(workplace), full = workplace.path("full");
  std::filesystem::create_symlink("/dev/full", full);
  for (const std::vector<std::string> &words :
       {std::vector<std::string>{"inspect", input, "--picture", full},
        {"convert", input, workplace.path("o"), "--to", "fp8", "--report", full}}) {
    const Outcome outcome = run_lpt(workplace, words);
    EXPECT_EQ(outcome.status, 2) << words.front();
    EXPECT_NE(outcome.err.find(full + ": cannot be written"), std::string::npos) << outcome.err;
    EXPECT_TRUE(std::filesystem::is_symlink(full));
  }
}

TEST(Program, ChecksWhereTextGoesBeforeItWorks) {
  const Workplace workplace;
  const std::string input = small_file(workplace), bytes = workplace.read("in.safetensors");
  const std::string link = workplace.path("link");
  std::filesystem::create_symlink(workplace.write("precious", "precious"), link);
  for (const std::string &target :
       {workplace.path("missing/x"), input, link, workplace.path(""), workplace.path("o")}) {
    EXPECT_EQ(run_lpt(workplace, {"convert", input, workplace.path("o"), "--to", "fp8", "--report", target}).status, 2);
    EXPECT_FALSE(workplace.has("o") || workplace.has("o.partial") || workplace.has("o.journal")) << target;
    if (target == workplace.path("o")) continue;
    const Outcome outcome = run_lpt(workplace, {"inspect", input, "--picture", target});
    EXPECT_EQ(outcome.status, 2) << target;
    EXPECT_EQ(outcome.out, "") << target;
  }
  EXPECT_EQ(workplace.read("in.safetensors"), bytes);
  EXPECT_EQ(workplace.read("precious"), "precious");
}

TEST(Program, PredictsTheBytesOfAConversionAfterAllChecks) {
  const Workplace workplace;
  const std::string tiny = workplace.write("tiny.safetensors", checkpoint({random_matrix("w", 8, 8, 1)}));
  const Outcome outcome = run_lpt(workplace, {"convert", tiny, workplace.path("o"), "--to", "fp8"});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_EQ(outcome.err.find("lpt: "), 0u) << outcome.err;
  EXPECT_NE(outcome.err.find("at least 16 x 16"), std::string::npos) << outcome.err;

  const std::string input = small_file(workplace), existing = workplace.write("o", "precious");
  EXPECT_EQ(run_lpt(workplace, {"convert", input, existing, "--to", "fp8"}).err.find("lpt: "), 0u);
  const Outcome good = run_lpt(workplace, {"convert", input, workplace.path("p"), "--to", "fp8"});
  EXPECT_NE(good.err.find(" bytes)"), std::string::npos) << good.err;
}

TEST(Program, NamesTheFileOfTheUserThatCannotBeWritten) {
  const Workplace workplace;
  const std::string input = small_file(workplace), report = workplace.path("missing/r.json");
  const Outcome outcome =
      run_lpt(workplace, {"convert", input, workplace.path("o"), "--to", "fp8", "--report", report});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_NE(outcome.err.find(report + ": cannot be written: "), std::string::npos) << outcome.err;
}

TEST(Program, CountsInfiniteNumbersThatBecomeFinite) {
  const Workplace workplace;
  Matrix matrix = random_matrix("w", 32, 64, 1);
  matrix.numbers[5] = matrix.numbers[700] = std::numeric_limits<float>::infinity();
  workplace.write("in.safetensors", checkpoint({matrix, random_matrix("v", 32, 64, 2)}));
  const Outcome outcome = run_lpt(workplace, {"convert", workplace.path("in.safetensors"), workplace.path("o"), "--to",
                                              "int8", "--report", workplace.path("report.json")});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("; 2 infinite numbers or NaN became finite"), std::string::npos) << outcome.out;
  for (const auto &tensor : nlohmann::json::parse(workplace.read("report.json"))["tensors"]) {
    if (!tensor.contains("lost")) continue;
    EXPECT_EQ(tensor["made_finite"], tensor["name"] == "w" ? 2 : 0) << tensor["name"];
  }
  const Outcome plain =
      run_lpt(workplace, {"convert", workplace.path("in.safetensors"), workplace.path("p"), "--to", "bf16"});
  EXPECT_EQ(plain.out.find("became finite"), std::string::npos) << plain.out;
}

TEST(Program, PrintsAsciiOnly) {
  const Workplace workplace;
  const std::string input = small_file(workplace);
  for (const std::vector<std::string> &words :
       {std::vector<std::string>{"formats"},
        {"formats", "nvfp4"},
        {"formats", "int4-g128"},
        {"doctor"},
        {"devices"},
        {"--help"},
        {"inspect", "--help"},
        {"convert", "--help"},
        {"bench", "gemm", "--help"},
        {"bench", "comm", "--help"},
        {"bench", "gemm", "--shape", "8x32x32", "--pair", "f32:f32", "--seconds", "0.001", "--quiet"},
        {"bench", "comm", "--most", "1KiB", "--seconds", "0.0001", "--quiet"},
        {"inspect", input},
        {"inspect",
         workplace.write("name.safetensors",
                         checkpoint({random_matrix(std::string(400, 'x').append("\xC3\xA4"), 16, 16, 1)})),
         "--json"},
        {"convert", input, workplace.path("o"), "--to", "nvfp4", "--verify"}}) {
    const Outcome outcome = run_lpt(workplace, words);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    for (const std::string &text : {outcome.out, outcome.err}) {
      const auto other = std::find_if(text.begin(), text.end(), [](char c) { return static_cast<signed char>(c) < 0; });
      EXPECT_EQ(other, text.end()) << words.front() << " " << words.back() << ": "
                                   << text.substr(std::max<ptrdiff_t>(other - text.begin() - 30, 0), 60);
    }
  }
}

// A name that moves the cursor, reverses the text direction, ends the line, and is not UTF-8.
constexpr const char *kHostile = "a\x1b[31m\xE2\x80\xAE\n\xFFz", *kEscaped = "a\\x1B[31m\\xE2\\x80\\xAE\\x0A\\xFFz";

void expect_escaped(const std::string &text, const std::string &where) {
  for (const std::string raw : {"\x1b", "\xE2\x80\xAE", "\xFF"}) {
    EXPECT_EQ(text.find(raw), std::string::npos) << where << ": " << text;
  }
  EXPECT_NE(text.find(kEscaped), std::string::npos) << where << ": " << text;
}

TEST(Program, EscapesArguments) {
  const Workplace workplace;
  const std::string hostile = kHostile, input = small_file(workplace), missing = workplace.path(hostile);
  for (const std::vector<std::string> &words :
       {std::vector<std::string>{"formats", hostile},
        {"formats", "nvfp4", hostile},
        {"inspect", missing},
        {"inspect", input, "--format", hostile},
        {"inspect", input, "--picture", workplace.path("missing/" + hostile)},
        {"inspect", input, "--memory", hostile},
        {"verify", missing},
        {"verify", workplace.path(""), "--isa", hostile},
        {"bench", "gemm", "--from", missing},
        {"bench", "gemm", "--weights", hostile},
        {"bench", "gemm", "--shape", hostile},
        {"bench", "comm", "--wire", hostile},
        {"convert", missing, workplace.path("o"), "--to", "fp8"},
        {"convert", input, workplace.path("o"), "--to", hostile},
        {"convert", input, workplace.path("o"), "--to", "f32", "--from", hostile},
        {"convert", input, workplace.path("missing/" + hostile), "--to", "fp8"},
        {"convert", input, workplace.path("o"), "--to", "fp8", "--report", workplace.path("missing/" + hostile)}}) {
    const Outcome outcome = run_lpt(workplace, words);
    EXPECT_EQ(outcome.status, 2) << words.front();
    expect_escaped(outcome.out + outcome.err, words.front() + " " + words.back());
  }
}

TEST(Program, EscapesThePathsOfPlugins) {
  const Workplace workplace;
  const std::string directory = workplace.path(kHostile);
  std::filesystem::create_directory(directory);
  std::ofstream(directory + "/liblpt_cuda.so") << "no library";
  setenv("LPT_PLUGIN_PATH", directory.c_str(), 1);
  const Outcome outcome = run_lpt(workplace, {"devices"});
  unsetenv("LPT_PLUGIN_PATH");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  expect_escaped(outcome.out, "devices");
}

TEST(Program, EscapesNamesOfFiles) {
  const Workplace workplace;
  const std::string hostile = kHostile, output = workplace.path("out" + hostile);
  const std::string short_file = workplace.write("short" + hostile, "abc");
  const std::string other =
      workplace.write("gguf" + hostile, std::string("GGUF\3\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 24));
  small_file(workplace);
  std::filesystem::rename(workplace.path("in.safetensors"), workplace.path(hostile));
  const std::string input = workplace.path(hostile);
  for (const std::vector<std::string> &words : {std::vector<std::string>{"inspect", input},
                                                {"inspect", short_file},
                                                {"inspect", other},
                                                {"convert", input, output, "--to", "fp8"},
                                                {"convert", input, output, "--to", "fp8"},
                                                {"convert", input, output, "--to", "fp8", "--report", output}}) {
    const Outcome outcome = run_lpt(workplace, words);
    expect_escaped(outcome.out + outcome.err, words.front() + " " + words.back());
  }
}

TEST(Program, NamesAMissingMemory) {
  if (lpt::test::kIsSanitized) GTEST_SKIP() << "sanitizers need more address space than the limit";
  const Workplace workplace;
  std::string header;
  for (const char character : {'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'}) {
    header += (header.empty() ? "{\"" : ",\"") + std::string(size_t{4} << 20, character) +
              R"(":{"dtype":"U8","shape":[0],"data_offsets":[0,0]})";
  }
  const std::string input = workplace.write("in.safetensors", image(header + "}", ""));
  rlimit before{};
  getrlimit(RLIMIT_AS, &before);
  rlimit limit = before;
  limit.rlim_cur = rlim_t{64} << 20;  // the header alone takes 32 MiB, and its names the same
  // The test process uses more memory, so the limit is set between fork and exec.
  const pid_t process = fork();
  if (process == 0) {
    setrlimit(RLIMIT_AS, &limit);
    _exit(wait_for(start_lpt(workplace, {"inspect", input, "--memory", "4000", "--threads", "1"})));
  }
  EXPECT_EQ(wait_for(process), 2);
  EXPECT_EQ(workplace.read("stderr"),
            "lpt: the memory does not suffice: expected a smaller --memory, or more memory\n");
}

TEST(Program, KnowsItsOptions) {
  const Workplace workplace;
  EXPECT_EQ(run_lpt(workplace, {"--help"}).status, 0);
  EXPECT_EQ(run_lpt(workplace, {"convert", "--help"}).status, 0);
  EXPECT_EQ(run_lpt(workplace, {"--version"}).out, std::string(lpt_version_string()) + "\n");
  EXPECT_EQ(run_lpt(workplace, {}).status, 2);
  EXPECT_EQ(run_lpt(workplace, {"convert"}).status, 2);
  EXPECT_EQ(run_lpt(workplace, {"convert", "a", "b", "--to", "fp8", "--memory", "0"}).status, 2);
  EXPECT_EQ(run_lpt(workplace, {"verify", "a", "--isa", "sse2"}).status, 2);
}

}  // namespace
}  // namespace tool_tests
