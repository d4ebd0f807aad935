// Trains one model with one precision: passes, clipping, optimizer, validation, and measurements.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "archive.hpp"
#include "autopilot.hpp"
#include "data.hpp"
#include "delayed.hpp"
#include "drop_compute.hpp"
#include "lossy.hpp"
#include "model.hpp"
#include "noise.hpp"
#include "optimizer.hpp"

namespace lm {

struct TrainSettings {
  ModelShape shape;
  int64_t steps = 1200;
  int64_t batch = 8;  // windows per optimizer step
  int64_t micro_batches = 1;
  double learning_rate = 2e-3;  // at the peak
  double weight_decay = 0.1;
  double largest_norm = 1.0;  // gradients are clipped to it
  uint64_t seed = 1;
  int64_t validate_every = 100;
  int64_t validation_windows = 128;
  Raised raised = Raised::kNothing;  // passes that the last steps compute in bf16 or f32
  double raised_from = 0.9;          // fraction of all steps
  std::string loss_scale;            // "dynamic", or a constant factor of the loss; empty: none
  double pilot_budget = 0.0;         // share of the work of the blocks that an autopilot may raise to bf16; 0: none
  int64_t zero = 0;                  // 1: ranks that share the batch share the optimizer state (ZeRO 1)
  bool is_watched = false;           // records noise, scales and alignment at each validation
  DropSettings drop;
  LossySettings lossy;  // data-parallel ranks send gradients and weights as packets
  // Data-parallel ranks average weights during the next step, and correct gradients by this strength; negative: they do not.
  double delay_compensation = -1.0;
};

// Linear warm-up over the first twentieth, then half a cosine down to a tenth of the peak. With kQaf and kFnt, these are the rates
// of the steps before the raised ones; those have rates of their own.
double learning_rate_at(const TrainSettings &settings, int64_t step);

struct Measured {
  std::vector<double> training;           // bits per byte of every step
  std::vector<int64_t> validation_steps;  // steps done when validation was measured
  std::vector<double> validation;         // bits per byte
  std::vector<double> noise_ratio;        // |gradient| / |noise| at each validation, if is_watched
  std::vector<double> step_seconds;       // of every step of this process
  std::vector<double> kept;               // fraction of the micro-batches of every step, if ranks may stop

  double training_seconds() const;

  // Returns the mean of `kept` from a step on; 1 if it is empty.
  double kept_fraction(int64_t first_step) const;
};

struct Bytes {
  size_t weights = 0;  // master weights
  size_t casts = 0;    // operands of the GEMMs
  size_t gradients = 0;
  size_t moments = 0;
  size_t activations = 0;  // from forward to backward
};

// One entry of the LPT profile of a kernel.
struct ProfileLine {
  std::string operation;
  std::string row;
  int64_t calls = 0;
  double share = 0.0;  // of the busy time of the trainer
};

class Trainer {
 public:
  // `text` must outlive the trainer. Uses a separate context and its threads; trainers share no mutable state.
  Trainer(const TrainSettings &settings, const Precision &precision, const ByteText &text, int32_t threads,
          const Parallel &parallel = {});

  // Trains until `step` steps are done, and measures validation as the settings specify. Throws Error if a loss is not finite.
  void train_until(int64_t step);

  int64_t steps_done() const { return static_cast<int64_t>(measured_.training.size()); }
  const Measured &measured() const { return measured_; }
  const DropResult &drop() const { return clock_.result(); }
  int64_t bytes_per_step() const { return settings_.batch * settings_.shape.sequence; }
  Bytes bytes();
  int64_t parameter_count() const;

  // Returns the profile of this process in LPT, longest first.
  std::vector<ProfileLine> profile();

  // Destroys the comms, so that ranks that wait for this one return with an error.
  void give_up();

  // Returns the communication statistics of this rank.
  Traffic traffic();

  // Returns the counts of packets of this rank; empty if the ranks do not send packets.
  std::vector<LinkCounts> links() {
    return lossy_ == nullptr ? std::vector<LinkCounts>{} : lossy_->counts(context_.get());
  }

  // Continues `prompt`, exactly one sequence of bytes. All ranks of a model must call it.
  std::string sample(std::string prompt, int64_t count, double temperature);

  // Writes the recorded measurements as CSV.
  void save_monitor(const std::string &path);

  // Returns the share of the work that the autopilot raised, and its decisions as CSV.
  double high_share() const { return pilot_ == nullptr ? 0.0 : pilot_->high_share(context_.get()); }
  std::string decisions_csv() const { return pilot_ == nullptr ? "" : pilot_->csv(context_.get()); }

  void save(ArchiveWriter &archive, const std::string &prefix);
  void load(const ArchiveReader &archive, const std::string &prefix);

 private:
  double step();
  int64_t run_passes(double &out_loss);
  std::optional<double> pass(int64_t micro_batch);
  double loss_to_gradient(const Batch &batch);
  double loss_scale() const { return unit_scale_ * optimizer_.loss_scale(context_.get()); }
  void join_norms();
  void join_gradients();
  bool averages_gradients() const { return parallel_.data != nullptr && lossy_ == nullptr && delayed_ == nullptr; }
  void clear_gradients();
  void begin_join();
  double validate();
  void watch();
  void watch_casts(bool is_watched);
  void end_step(double loss);
  void raise_if_due();
  void end_dense_part_if_due();
  void decay_masked_weights(double passes);
  Pass pass_of(int64_t micro_batch, bool is_training) const;

  TrainSettings settings_;
  Precision precision_;
  Parallel parallel_;
  Context context_;
  BatchSource batches_;
  std::vector<Batch> validation_;
  Model<float> model_;
  Activations<float> activations_;
  double unit_scale_;
  std::unique_ptr<LossyRanks> lossy_;      // nullptr: reliable collectives
  std::unique_ptr<DelayedRanks> delayed_;  // nullptr: ranks average gradients
  ModelOptimizer optimizer_;
  std::unique_ptr<NoiseMeter> noise_;
  std::unique_ptr<Pilot> pilot_;
  Monitor monitor_;
  Measured measured_;
  MicroBatchClock clock_;
  bool is_raised_ = false;
  bool is_dense_part_;         // blocks do not use their recipe yet
  double busy_seconds_ = 0.0;  // since the profile began
};

}  // namespace lm
