#include "comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "../lm/archive.hpp"
#include "../lm/progress.hpp"
#include "../lm/side_by_side.hpp"

namespace compare_recipes {

namespace {

struct Job {
  const Way *way;
  uint64_t seed;
};

// Returns the settings that the losses depend on, except for the configuration and the seed.
std::string settings_text(const Options &options, uint64_t fingerprint) {
  const lm::TrainSettings &train = options.train;
  const lm::ModelShape &shape = train.shape;
  return fmt::format(
      "text {:x}, {} steps of {} x {}, width {}, layers {}, heads {}, hidden {}, learning rate {}, decay {}, "
      "raised from {}, validated every {} on {}, watched {}",
      fingerprint, train.steps, train.batch, shape.sequence, shape.width, shape.layers, shape.heads, shape.hidden,
      train.learning_rate, train.weight_decay, train.raised_from, train.validate_every, train.validation_windows,
      train.is_watched);
}

std::string path_of(const Options &options, const Job &job) {
  return fmt::format("{}/{}.seed{}.run", options.out, job.way->name, job.seed);
}

void save(const std::string &path, const std::string &settings, const Outcome &outcome) {
  lm::ArchiveWriter archive;
  archive.put_text("settings", settings);
  archive.put_numbers("training", outcome.measured.training);
  archive.put_numbers("validation_steps", outcome.measured.validation_steps);
  archive.put_numbers("validation", outcome.measured.validation);
  archive.put_numbers("noise_ratio", outcome.measured.noise_ratio);
  archive.put_numbers("bytes",
                      std::vector<uint64_t>{outcome.bytes.weights, outcome.bytes.casts, outcome.bytes.gradients,
                                            outcome.bytes.moments, outcome.bytes.activations});
  archive.put_numbers("tokens_per_second", std::vector<double>{outcome.tokens_per_second});
  archive.write(path);
}

Outcome load(const std::string &path, const std::string &settings) {
  const lm::ArchiveReader archive(path);
  if (archive.get_text("settings") != settings) {
    throw lm::Error(fmt::format("{} is of other settings ({}): remove it, or choose another --out", path,
                                archive.get_text("settings")));
  }
  const std::vector<uint64_t> bytes = archive.get_numbers<uint64_t>("bytes");
  Outcome outcome;
  outcome.measured.training = archive.get_numbers<double>("training");
  outcome.measured.validation_steps = archive.get_numbers<int64_t>("validation_steps");
  outcome.measured.validation = archive.get_numbers<double>("validation");
  outcome.measured.noise_ratio = archive.get_numbers<double>("noise_ratio");
  outcome.bytes = {.weights = bytes.at(0),
                   .casts = bytes.at(1),
                   .gradients = bytes.at(2),
                   .moments = bytes.at(3),
                   .activations = bytes.at(4)};
  outcome.tokens_per_second = archive.get_numbers<double>("tokens_per_second").at(0);
  return outcome;
}

Outcome outcome_of(lm::Trainer &trainer) {
  const lm::Measured &measured = trainer.measured();
  const auto tokens = static_cast<double>(trainer.steps_done() * trainer.bytes_per_step());
  return {.measured = measured,
          .bytes = trainer.bytes(),
          .tokens_per_second = tokens / std::max(measured.training_seconds(), 1e-9)};
}

// Trains some jobs concurrently and saves them. `done` of `total` jobs are already complete.
void run(const Options &options, const lm::ByteText &text, const std::string &settings, const std::vector<Job> &jobs,
         int64_t done, int64_t total) {
  std::vector<std::unique_ptr<lm::Trainer>> trainers;
  std::string names;
  for (const Job &job : jobs) {
    lm::TrainSettings own = options.train;
    own.seed = job.seed;
    own.raised = job.way->raised;
    own.pilot_budget = job.way->has_pilot ? 1.0 - own.raised_from : 0.0;
    trainers.push_back(std::make_unique<lm::Trainer>(own, job.way->precision, text, 1));
    names += fmt::format("{}{} seed {}", names.empty() ? "" : ", ", job.way->name, job.seed);
  }
  lm::Progress progress(total * options.train.steps, done * options.train.steps, options.is_quiet);
  lm::train_side_by_side(trainers, options.train.steps, [&](std::span<const lm::Standing> standings) {
    int64_t steps = done * options.train.steps;
    std::string losses;
    for (const lm::Standing &standing : standings) {
      steps += standing.steps;
      losses += fmt::format(" {:.3f}", standing.loss);
    }
    progress.show(steps, names + ":" + losses);
  });
  for (size_t i = 0; i < jobs.size(); ++i) {
    save(path_of(options, jobs[i]), settings, outcome_of(*trainers[i]));
  }
}

void make_folder(const std::string &folder) {
  std::error_code reason;
  std::filesystem::create_directories(folder, reason);
  if (reason) {
    throw lm::Error(fmt::format("folder {} cannot be made: {}", folder, reason.message()));
  }
}

}  // namespace

Way way_of(const std::string &name) {
  const size_t plus = name.find('+');
  const std::string kept = name.substr(0, plus);
  const size_t colon = kept.find(':');
  Way way{
      .name = name,
      .precision = lm::precision_of(kept.substr(0, colon), colon == std::string::npos ? "" : kept.substr(colon + 1))};
  const std::string suffix = plus == std::string::npos ? "nothing" : name.substr(plus + 1);
  way.has_pilot = suffix == "autopilot";
  lm::check_pilot(way.precision, way.has_pilot ? 1.0 : 0.0);
  if (suffix == "last") {
    way.precision.is_last_block_high = true;
  } else if (!way.has_pilot) {
    way.raised = lm::raised_of(suffix);
  }
  return way;
}

std::vector<double> Runs::final_losses() const {
  std::vector<double> losses;
  for (const Outcome &outcome : outcomes) {
    losses.push_back(outcome.measured.validation.back());
  }
  return losses;
}

std::vector<Runs> compare(const Options &options) {
  const lm::ByteText text = lm::ByteText::read(options.data);
  const std::string settings = settings_text(options, text.fingerprint());
  make_folder(options.out);
  std::vector<Way> ways;
  for (const std::string &name : options.ways) {
    ways.push_back(way_of(name));
  }
  std::vector<Job> missing;
  for (const Way &way : ways) {
    for (uint64_t seed = 1; seed <= static_cast<uint64_t>(options.seeds); ++seed) {
      if (!std::filesystem::exists(path_of(options, {&way, seed}))) {
        missing.push_back({&way, seed});
      }
    }
  }
  const auto total = static_cast<int64_t>(ways.size()) * options.seeds;
  auto done = total - static_cast<int64_t>(missing.size());
  for (size_t i = 0; i < missing.size(); i += static_cast<size_t>(options.at_once)) {
    const size_t end = std::min(missing.size(), i + static_cast<size_t>(options.at_once));
    const std::vector<Job> jobs(missing.begin() + static_cast<std::ptrdiff_t>(i),
                                missing.begin() + static_cast<std::ptrdiff_t>(end));
    run(options, text, settings, jobs, done, total);
    done += static_cast<int64_t>(jobs.size());
  }
  std::vector<Runs> all;
  for (const Way &way : ways) {
    Runs runs{.name = way.name, .outcomes = {}};
    for (uint64_t seed = 1; seed <= static_cast<uint64_t>(options.seeds); ++seed) {
      runs.outcomes.push_back(load(path_of(options, {&way, seed}), settings));
    }
    all.push_back(std::move(runs));
  }
  return all;
}

double mean(const std::vector<double> &values) {
  double sum = 0.0;
  for (const double value : values) {
    sum += value;
  }
  return sum / static_cast<double>(values.size());
}

double deviation(const std::vector<double> &values) {
  double sum = 0.0;
  for (const double value : values) {
    sum += (value - mean(values)) * (value - mean(values));
  }
  return values.size() < 2 ? 0.0 : std::sqrt(sum / static_cast<double>(values.size() - 1));
}

}  // namespace compare_recipes
