// Compares two training configurations of a very small model. Outcomes are saved, a second call trains nothing, and other
// settings are rejected.
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "../../lm/random.hpp"
#include "../../lm/tests/expect.hpp"
#include "../report.hpp"

namespace {

void write_text(const std::string &path) {
  std::ofstream file(path, std::ios::binary);
  for (uint64_t i = 0; i < 20000; ++i) {
    file << static_cast<char>('a' + lm::random_bits(3, 1, i) % 4);
  }
}

compare_recipes::Options tiny_options(const std::string &folder) {
  compare_recipes::Options options;
  options.train.shape = {.width = 16, .layers = 1, .heads = 2, .hidden = 24, .sequence = 16};
  options.train.steps = 12;
  options.train.batch = 4;
  options.train.validate_every = 6;
  options.train.validation_windows = 8;
  options.train.is_watched = true;
  options.data = folder + "/text.txt";
  options.out = folder + "/runs";
  options.ways = {"f32", "fp8_current:fp8_groups", "fp4_all_the_way+backward"};
  options.seeds = 2;
  options.is_quiet = true;
  return options;
}

void keeps_what_it_trained(const compare_recipes::Options &options, lm::Expect &expect) {
  const std::vector<compare_recipes::Runs> first = compare_recipes::compare(options);
  expect.that(first.size() == 3 && first[1].outcomes.size() == 2, "every way has a run for each seed");
  const std::string kept = options.out + "/f32.seed2.run";
  const auto written = std::filesystem::last_write_time(kept);
  std::filesystem::remove(options.out + "/f32.seed1.run");
  const std::vector<compare_recipes::Runs> second = compare_recipes::compare(options);
  expect.that(std::filesystem::last_write_time(kept) == written, "a run that is there is not trained again");
  expect.that(compare_recipes::csv(first) == compare_recipes::csv(second),
              "a run that is missing is trained to the same bits");
  expect.that(first[0].final_losses()[0] != first[0].final_losses()[1], "seeds differ");
  expect.that(first[1].outcomes[0].bytes.moments < first[0].outcomes[0].bytes.moments / 3, "FP8 moments are small");
}

void reports(const compare_recipes::Options &options, lm::Expect &expect) {
  const std::vector<compare_recipes::Runs> all = compare_recipes::compare(options);
  const std::string table = compare_recipes::table(options, all);
  const std::string picture = compare_recipes::picture(options, all);
  const double gap = 100.0 *
                     (all[1].final_losses()[0] / all[0].final_losses()[0] +
                      all[1].final_losses()[1] / all[0].final_losses()[1] - 2.0) /
                     2.0;
  expect.that(table.find(fmt::format("{:+.2f} %", gap)) != std::string::npos, "the table has the mean gap");
  for (const std::string &way : options.ways) {
    expect.that(table.find(way) != std::string::npos, fmt::format("{} is in the table", way));
    expect.that(picture.find(way) != std::string::npos, fmt::format("{} is in the picture", way));
  }
}

// A suffix names the passes and the format of their operands.
void raises_passes(lm::Expect &expect) {
  const lm::Context context = lm::make_context(1);
  const auto format_of = [&](const char *name, lpt_linear_cast cast, bool is_last_block = false) {
    const compare_recipes::Way way = compare_recipes::way_of(name);
    lm::Precision precision = way.precision;
    precision.raised = way.raised;
    const lm::Recipe recipe = lm::make_block_recipe(context.get(), precision, is_last_block);
    lpt_format format = LPT_FORMAT_NONE;
    lm::check(context.get(), lpt_recipe_cast_format(context.get(), recipe.get(), cast, &format));
    return format;
  };
  constexpr lpt_format kBf16 = LPT_FORMAT_BF16, kNone = LPT_FORMAT_NONE;
  constexpr lpt_format kLow = LPT_FORMAT_NVFP4;
  const struct {
    const char *way;
    lpt_format forward, dgrad, wgrad;
  } cases[] = {{"fp4_all_the_way", kLow, kLow, kLow},
               {"fp4_all_the_way+forward", kBf16, kLow, kLow},
               {"fp4_all_the_way+backward", kLow, kBf16, kBf16},
               {"fp4_all_the_way+all", kBf16, kBf16, kBf16},
               {"fp4_all_the_way+last", kLow, kLow, kLow},
               {"fp4_all_the_way+all_f32", kNone, kNone, kNone}};
  for (const auto &[way, forward, dgrad, wgrad] : cases) {
    expect.that(format_of(way, LPT_LINEAR_CAST_FORWARD_INPUT) == forward, fmt::format("forward input of {}", way));
    expect.that(format_of(way, LPT_LINEAR_CAST_FORWARD_WEIGHT) == forward, fmt::format("forward weight of {}", way));
    expect.that(format_of(way, LPT_LINEAR_CAST_DGRAD_GRADIENT) == dgrad, fmt::format("gradient in dgrad of {}", way));
    expect.that(format_of(way, LPT_LINEAR_CAST_WGRAD_INPUT) == wgrad, fmt::format("input in wgrad of {}", way));
  }
  expect.that(format_of("fp4_all_the_way+last", LPT_LINEAR_CAST_DGRAD_GRADIENT, true) == kBf16,
              "+last raises the last block");
  expect.that(format_of("fp4_all_the_way+all", LPT_LINEAR_CAST_DGRAD_GRADIENT, true) == kBf16,
              "+all raises all blocks");
  expect.that(format_of("fp4_all_the_way", LPT_LINEAR_CAST_DGRAD_GRADIENT, true) == kLow,
              "the last block is not raised");
}

void rejects_bad_options(compare_recipes::Options options, lm::Expect &expect) {
  expect.rejects([] { compare_recipes::way_of("fp9"); }, "recipe is \"fp9\"");
  expect.rejects([] { compare_recipes::way_of("luq:f31"); }, "optimizer state is \"f31\"");
  expect.rejects([] { compare_recipes::way_of("luq+sideways"); }, "what is raised is \"sideways\"");
  options.train.steps = 13;
  expect.rejects([&] { compare_recipes::compare(options); }, "is of other settings");
}

}  // namespace

int main(int argument_count, char **arguments) {
  if (argument_count != 2) {
    fmt::print(stderr, "usage: {} FOLDER\n", arguments[0]);
    return 2;
  }
  const std::string folder = arguments[1];
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  write_text(folder + "/text.txt");
  lm::Expect expect;
  const compare_recipes::Options options = tiny_options(folder);
  keeps_what_it_trained(options, expect);
  reports(options, expect);
  raises_passes(expect);
  rejects_bad_options(options, expect);
  return expect.exit_code();
}
