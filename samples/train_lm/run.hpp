// One run of train_lm: both models from the start, or from a checkpoint, to the end.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "../lm/data.hpp"
#include "../lm/grid.hpp"
#include "../lm/trainer.hpp"
#include "options.hpp"
#include "results.hpp"

namespace train_lm {

class Run {
 public:
  // Reads the text and, if specified, the checkpoint. Throws lm::Error. `options` must outlive the run.
  explicit Run(const Options &options);

  // Trains to the end or to the step at which the options stop it. Writes a checkpoint periodically and at the end.
  void train();

  // Returns the results, with the sampled text. All processes of a job must call it.
  Results results();

  // Returns whether this process writes files and prints. One process of a job does.
  bool is_first() const { return twins_.front().ranks.front().index == 0; }

 private:
  // A model, its precision, and its ranks in this process.
  struct Twin {
    std::string name;
    std::string recipe;
    std::vector<lm::OwnRank> ranks;
  };
  void add_twin(const std::string &name, const std::string &recipe, const lm::Synchrony &synchrony);
  lm::Trainer &first_trainer(size_t twin) const { return *trainers_[twin * twins_.front().ranks.size()]; }
  std::string prefix_of(size_t trainer) const;
  std::string checkpoint() const;
  std::string own_checkpoint(const std::string &path) const;

  int64_t steps_done() const { return trainers_.front()->steps_done(); }
  int64_t last_step() const;
  int64_t next_stop() const;
  void save_checkpoint() const;
  void load_checkpoint();
  std::string sample();

  const Options &options_;
  lm::ByteText text_;
  std::vector<Twin> twins_;                             // the recipe, then its reference
  std::vector<std::unique_ptr<lm::Trainer>> trainers_;  // of the ranks of the first model, then of the second
  double seconds_ = 0.0;
};

}  // namespace train_lm
