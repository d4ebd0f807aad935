#include "side_by_side.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <deque>
#include <exception>
#include <thread>

namespace lm {

namespace {

constexpr auto kWatchPause = std::chrono::milliseconds(50);

// State shared by a training thread and the watching thread.
struct Lane {
  std::atomic<int64_t> steps = 0;
  std::atomic<double> loss = 0.0;
  std::atomic<double> kept = 1.0;
  std::atomic<double> threshold = std::numeric_limits<double>::infinity();
  std::atomic<bool> is_done = false;
  std::exception_ptr reason;  // read after the thread has ended
};

void run_lane(Trainer &trainer, int64_t step, std::atomic<bool> &is_stopped, Lane &lane) {
  try {
    while (trainer.steps_done() < step && !is_stopped) {
      trainer.train_until(trainer.steps_done() + 1);
      lane.loss = trainer.measured().training.back();
      lane.kept = trainer.measured().kept_fraction(trainer.drop().first_step);
      lane.threshold = trainer.drop().threshold;
      lane.steps = trainer.steps_done();
    }
  } catch (...) {
    lane.reason = std::current_exception();
    is_stopped = true;
  }
  if (is_stopped) {
    trainer.give_up();
  }
  lane.is_done = true;
}

std::vector<Standing> standings(const std::deque<Lane> &lanes) {
  std::vector<Standing> all;
  for (const Lane &lane : lanes) {
    all.push_back({.steps = lane.steps, .loss = lane.loss, .kept = lane.kept, .threshold = lane.threshold});
  }
  return all;
}

bool all_done(const std::deque<Lane> &lanes) {
  return std::all_of(lanes.begin(), lanes.end(), [](const Lane &lane) { return lane.is_done.load(); });
}

}  // namespace

void train_side_by_side(std::span<const std::unique_ptr<Trainer>> trainers, int64_t step, const WatchFunction &watch) {
  std::atomic<bool> is_stopped = false;
  std::deque<Lane> lanes(trainers.size());
  {
    std::vector<std::jthread> threads;
    for (size_t i = 0; i < trainers.size(); ++i) {
      lanes[i].steps = trainers[i]->steps_done();
      lanes[i].loss = trainers[i]->steps_done() > 0 ? trainers[i]->measured().training.back() : 0.0;
      threads.emplace_back([&, i] { run_lane(*trainers[i], step, is_stopped, lanes[i]); });
    }
    while (!all_done(lanes)) {
      watch(standings(lanes));
      std::this_thread::sleep_for(kWatchPause);
    }
  }
  watch(standings(lanes));
  for (const Lane &lane : lanes) {
    if (lane.reason) {
      std::rethrow_exception(lane.reason);
    }
  }
}

}  // namespace lm
