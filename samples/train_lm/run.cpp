#include "run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <limits>

#include "../lm/progress.hpp"
#include "../lm/side_by_side.hpp"

namespace train_lm {

namespace {

constexpr const char *kTwin = "f32";
constexpr const char *kCheckpoint = "/checkpoint.bin";

std::vector<std::string> names_of(const Options &options) {
  if (options.has_no_twin || options.recipe == kTwin) {
    return {options.recipe};
  }
  return {options.recipe, kTwin};
}

// "fp8_trillion 2.104, f32 2.101 bits/byte, 21.3 kB/s": how fast the twins together read.
std::string note(const std::vector<std::string> &names, std::span<const lm::Standing> standings, double rate) {
  std::string text;
  for (size_t i = 0; i < names.size(); ++i) {
    text += fmt::format("{}{} {:.3f}", i == 0 ? "" : ", ", names[i], standings[i].loss);
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

Run::Run(const Options &options)
    : options_(options), text_(lm::ByteText::read(options.data)), names_(names_of(options)) {
  for (const std::string &name : names_) {
    const bool is_twin = &name != &names_.front();
    lm::TrainSettings settings = options.train;
    if (is_twin) {
      settings.raised = lm::Raised::kNothing;
      settings.is_watched = false;
    }
    const lm::Precision precision = lm::precision_of(name, is_twin ? "" : options.state, options.method);
    trainers_.push_back(std::make_unique<lm::Trainer>(settings, precision, text_, options.threads));
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

int64_t Run::last_step() const {
  return options_.stop_after > 0 ? std::min(options_.stop_after, options_.train.steps) : options_.train.steps;
}

int64_t Run::next_stop() const {
  const int64_t checkpoint = (steps_done() / options_.checkpoint_every + 1) * options_.checkpoint_every;
  return std::min(checkpoint, last_step());
}

void Run::train() {
  const auto start = std::chrono::steady_clock::now();
  const int64_t first = steps_done();
  const auto seconds = [start] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  lm::Progress progress(last_step(), first, options_.is_quiet);
  const auto watch = [&](std::span<const lm::Standing> standings) {
    const int64_t done = slowest(standings);
    const auto bytes = static_cast<double>((done - first) * trainers_.front()->bytes_per_step());
    progress.show(done, done == first ? "" : note(names_, standings, bytes / std::max(seconds(), 1e-9)));
  };
  while (steps_done() < last_step()) {
    lm::train_side_by_side(trainers_, next_stop(), watch);
    save_checkpoint();
  }
  seconds_ = seconds();
}

void Run::save_checkpoint() const {
  lm::ArchiveWriter archive;
  archive.put_text("settings", settings_text(options_));
  archive.put_numbers("text", std::vector<uint64_t>{text_.fingerprint()});
  for (size_t i = 0; i < trainers_.size(); ++i) {
    trainers_[i]->save(archive, names_[i]);
  }
  archive.write(options_.out + kCheckpoint);
}

void Run::load_checkpoint() {
  const lm::ArchiveReader archive(options_.resume);
  if (archive.get_numbers<uint64_t>("text") != std::vector<uint64_t>{text_.fingerprint()}) {
    throw lm::Error(fmt::format("{} is not the text that the checkpoint was trained on", options_.data));
  }
  for (size_t i = 0; i < trainers_.size(); ++i) {
    trainers_[i]->load(archive, names_[i]);
  }
}

// Continues the beginning of the held-out text.
std::string Run::sample() {
  const auto prompt = text_.held_out().first(static_cast<size_t>(options_.train.shape.sequence));
  return trainers_.front()->sample(std::string(prompt.begin(), prompt.end()), options_.sample_bytes,
                                   options_.temperature);
}

Results Run::results() {
  Results results{.twins = {},
                  .parameter_count = trainers_.front()->parameter_count(),
                  .steps = steps_done(),
                  .seconds = seconds_,
                  .gzip_loss = lm::gzip_bits_per_byte(options_.data, text_.size()),
                  .sample = ""};
  for (size_t i = 0; i < trainers_.size(); ++i) {
    results.twins.push_back(twin_result(*trainers_[i], names_[i]));
  }
  if (options_.train.is_watched) {
    trainers_.front()->save_monitor(options_.out + "/monitor.csv");
  }
  results.sample = sample();
  return results;
}

}  // namespace train_lm
