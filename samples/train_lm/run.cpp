#include "run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <limits>
#include <thread>

#include "../lm/files.hpp"
#include "../lm/progress.hpp"
#include "../lm/side_by_side.hpp"

namespace train_lm {

namespace {

constexpr const char *kTwin = "f32";

// Returns whether communication between ranks loses precision: partial sums, or a low-precision wire format.
bool is_in_part(const Options &options) {
  return options.grid.tensor > 1 && (options.synced < 1.0 || !options.wire.empty());
}

bool has_twin(const Options &options) {
  return !options.has_no_twin && (is_in_part(options) || options.recipe != kTwin);
}

// Returns the threads of each model and rank. MPI processes do not know how many of them share a machine.
int32_t threads_of(const Options &options) {
  if (options.threads != 0 || options.engine == "mpi") return std::max(options.threads, 1);
  const int64_t trainers = options.grid.ranks() * (has_twin(options) ? 2 : 1);
  return static_cast<int32_t>(std::max<int64_t>(std::thread::hardware_concurrency() / trainers, 1));
}

// ", 8.1 steps/s, 3.2 % dropped after 0.113 s": of the first model.
std::string drop_note(std::span<const lm::Standing> standings, double steps_per_second) {
  std::string text = fmt::format(", {:.1f} steps/s", steps_per_second);
  if (standings.front().threshold < std::numeric_limits<double>::infinity()) {
    text += fmt::format(", {:.1f} % dropped after {:.3g} s", 100.0 * (1.0 - standings.front().kept),
                        standings.front().threshold);
  }
  return text;
}

// "fp8_trillion 2.104, f32 2.101 bits/byte, 21.3 kB/s": the losses, and the total rate of both models.
std::string note(const std::vector<std::string> &names, std::span<const lm::Standing> standings, double rate) {
  std::string text;
  const size_t ranks = standings.size() / names.size();
  for (size_t i = 0; i < names.size(); ++i) {
    text += fmt::format("{}{} {:.3f}", i == 0 ? "" : ", ", names[i], standings[i * ranks].loss);
  }
  return text + fmt::format(" bits/byte, {:.1f} kB/s", rate / 1000.0);
}

int64_t slowest(std::span<const lm::Standing> standings) {
  int64_t steps = std::numeric_limits<int64_t>::max();
  for (const lm::Standing &standing : standings) {
    steps = std::min(steps, standing.steps);
  }
  return steps;
}

}  // namespace

Run::Run(const Options &options) : options_(options), text_(lm::ByteText::read(options.data)) {
  const lm::Synchrony synchrony = synchrony_of(options);
  if (is_in_part(options)) {
    add_twin(fmt::format("{} in part", options.recipe), options.recipe, synchrony);
    if (has_twin(options)) {
      add_twin(fmt::format("{} in step", options.recipe), options.recipe, {});
    }
  } else {
    add_twin(options.recipe, options.recipe, {.sequence_wire = synchrony.sequence_wire});
    if (has_twin(options)) {
      add_twin(kTwin, kTwin, {});
    }
  }
  if (!options.resume.empty()) {
    load_checkpoint();
  }
  std::error_code reason;
  std::filesystem::create_directories(options.out, reason);
  if (reason) {
    throw lm::Error(fmt::format("folder {} cannot be made: {}", options.out, reason.message()));
  }
}

void Run::add_twin(const std::string &name, const std::string &recipe, const lm::Synchrony &synchrony) {
  const bool is_twin = !twins_.empty();
  lm::TrainSettings settings = options_.train;
  if (is_twin && !is_in_part(options_)) {
    settings.is_watched = false;
    settings.pilot_budget = 0.0;
    settings.loss_scale.clear();
  }
  const bool has_own_state = !is_twin || is_in_part(options_);
  const lm::Precision precision = lm::precision_of(recipe, has_own_state ? options_.state : "", options_.method);
  const int64_t width = options_.train.shape.width;
  twins_.push_back({name, recipe,
                    options_.engine == "mpi" ? lm::make_mpi_rank(options_.grid, width, synchrony)
                                             : lm::make_local_ranks(options_.grid, width, synchrony)});
  for (const lm::OwnRank &rank : twins_.back().ranks) {
    trainers_.push_back(
        std::make_unique<lm::Trainer>(settings, precision, text_, threads_of(options_), rank.parallel(options_.grid)));
  }
}

// Returns the name prefix of the entries of a trainer. Each rank saves its shards.
std::string Run::prefix_of(size_t trainer) const {
  const size_t ranks = twins_.front().ranks.size();
  const Twin &twin = twins_[trainer / ranks];
  const lm::OwnRank &rank = twin.ranks[trainer % ranks];
  return options_.grid.ranks() == 1 ? twin.name : fmt::format("{}/rank{}", twin.name, rank.index);
}

// The user passes the file name of the first process.
std::string Run::own_checkpoint(const std::string &path) const {
  constexpr std::string_view kFirst = "_0.bin";
  const int64_t index = twins_.front().ranks.front().index;
  if (options_.engine == "local" || index == 0 || !path.ends_with(kFirst)) {
    return path;
  }
  return fmt::format("{}_{}.bin", path.substr(0, path.size() - kFirst.size()), index);
}

// Each process of a job has a separate file.
std::string Run::checkpoint() const {
  const bool is_alone = options_.engine == "local";
  return options_.out +
         (is_alone ? "/checkpoint.bin" : fmt::format("/checkpoint_{}.bin", twins_.front().ranks.front().index));
}

int64_t Run::last_step() const {
  return options_.stop_after > 0 ? std::min(options_.stop_after, options_.train.steps) : options_.train.steps;
}

int64_t Run::next_stop() const {
  if (options_.checkpoint_every == 0) {
    return last_step();
  }
  const int64_t checkpoint = (steps_done() / options_.checkpoint_every + 1) * options_.checkpoint_every;
  return std::min(checkpoint, last_step());
}

void Run::train() {
  const auto start = std::chrono::steady_clock::now();
  const int64_t first = steps_done();
  const auto seconds = [start] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  lm::Progress progress(last_step(), first, options_.is_quiet || !is_first());
  std::vector<std::string> names;
  for (const Twin &twin : twins_) {
    names.push_back(twin.name);
  }
  const auto watch = [&](std::span<const lm::Standing> standings) {
    const int64_t done = slowest(standings);
    const auto bytes = static_cast<double>((done - first) * trainers_.front()->bytes_per_step());
    const double passed = std::max(seconds(), 1e-9);
    std::string text = done == first ? "" : note(names, standings, bytes / passed);
    if (done > first && options_.train.drop.is_enabled) {
      text += drop_note(standings, static_cast<double>(done - first) / passed);
    }
    progress.show(done, text);
  };
  while (steps_done() < last_step()) {
    lm::train_side_by_side(trainers_, next_stop(), watch);
    save_checkpoint();
  }
  seconds_ = seconds();
}

void Run::save_checkpoint() const {
  if (options_.checkpoint_every == 0) {
    return;
  }
  lm::ArchiveWriter archive;
  archive.put_text("settings", settings_text(options_));
  archive.put_numbers("text", std::vector<uint64_t>{text_.fingerprint()});
  for (size_t i = 0; i < trainers_.size(); ++i) {
    trainers_[i]->save(archive, prefix_of(i));
  }
  archive.write(checkpoint());
}

void Run::load_checkpoint() {
  const lm::ArchiveReader archive(own_checkpoint(options_.resume));
  if (archive.get_numbers<uint64_t>("text") != std::vector<uint64_t>{text_.fingerprint()}) {
    throw lm::Error(fmt::format("{} is not the text that the checkpoint was trained on", options_.data));
  }
  for (size_t i = 0; i < trainers_.size(); ++i) {
    trainers_[i]->load(archive, prefix_of(i));
  }
}

// Continues the beginning of the held-out text. All ranks of the first model call it.
std::string Run::sample() {
  const auto prompt = text_.held_out().first(static_cast<size_t>(options_.train.shape.sequence));
  const size_t ranks = twins_.front().ranks.size();
  std::vector<std::string> texts(ranks);
  {
    std::vector<std::jthread> threads;
    for (size_t i = 0; i < ranks; ++i) {
      threads.emplace_back([&, i] {
        texts[i] = trainers_[i]->sample(std::string(prompt.begin(), prompt.end()), options_.sample_bytes,
                                        options_.temperature);
      });
    }
  }
  return texts.front();
}

Results Run::results() {
  Results results{.twins = {},
                  .parameter_count = trainers_.front()->parameter_count(),
                  .steps = steps_done(),
                  .seconds = seconds_,
                  .gzip_loss = lm::gzip_bits_per_byte(options_.data, text_.size()),
                  .sample = ""};
  for (size_t i = 0; i < twins_.size(); ++i) {
    results.twins.push_back(twin_result(first_trainer(i), twins_[i].name));
  }
  if (options_.train.is_watched) {
    trainers_.front()->save_monitor(options_.out + "/monitor.csv");
  }
  if (options_.train.pilot_budget > 0.0) {
    lm::write_file(options_.out + "/autopilot.csv", trainers_.front()->decisions_csv());
  }
  results.sample = sample();
  return results;
}

}  // namespace train_lm
