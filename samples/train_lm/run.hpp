// One run of train_lm: the twins from start, or from a checkpoint, to the end.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "../lm/data.hpp"
#include "../lm/trainer.hpp"
#include "options.hpp"
#include "results.hpp"

namespace train_lm {

class Run {
 public:
  // Reads the text and, when the options name one, the checkpoint. Throws lm::Error. `options` are borrowed.
  explicit Run(const Options &options);

  // Trains to the end or to where the options stop it, with a checkpoint every so many steps and at the end.
  void train();

  // What came of it, with the sampled text.
  Results results();

 private:
  int64_t steps_done() const { return trainers_.front()->steps_done(); }
  int64_t last_step() const;
  int64_t next_stop() const;
  void save_checkpoint() const;
  void load_checkpoint();
  std::string sample();

  const Options &options_;
  lm::ByteText text_;
  std::vector<std::string> names_;  // of the trainers: the recipe, then f32
  std::vector<std::unique_ptr<lm::Trainer>> trainers_;
  double seconds_ = 0.0;
};

}  // namespace train_lm
