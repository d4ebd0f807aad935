#include "trainer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <numbers>
#include <numeric>
#include <string_view>

#include "loss.hpp"

namespace lm {

namespace {

constexpr double kWarmUpShare = 0.05;
constexpr double kFinalShare = 0.1;
constexpr double kQafWarmUp = 40.0;

class Stopwatch {
 public:
  double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

BatchPlan plan_of(const TrainSettings &settings) {
  return {.sequence = settings.shape.sequence,
          .sequences = settings.batch,
          .micro_batches = settings.micro_batches,
          .seed = settings.seed};
}

// Returns the shape for the positions of this rank.
ModelShape own_shape(ModelShape shape, const Parallel &parallel) {
  shape.sequence /= parallel.sequence == nullptr ? 1 : parallel.sequence->ranks();
  return shape;
}

// Gives every logit of every row a gradient of unit size, as unit-scaled layers require.
double unit_scale_of(const Precision &precision, int64_t rows) {
  constexpr auto kClasses = static_cast<double>(kVocabulary);
  return precision.is_unit_scaled ? static_cast<double>(rows) * kClasses / std::sqrt(kClasses - 1.0) : 1.0;
}

// Returns the precision of the first steps.
Precision first_precision(Precision precision) {
  if (precision.dense_share > 0.0) {
    precision.recipe = "f32";
  }
  return precision;
}

std::unique_ptr<LossyRanks> make_lossy(lpt_context *context, const TrainSettings &settings, const Parallel &parallel,
                                       const std::deque<Parameter> &parameters) {
  return settings.lossy.is_enabled && parallel.data != nullptr
             ? std::make_unique<LossyRanks>(context, *parallel.data, parameters, settings.lossy, settings.seed)
             : nullptr;
}

std::unique_ptr<DelayedRanks> make_delayed(lpt_context *context, const TrainSettings &settings,
                                           const Parallel &parallel, const std::deque<Parameter> &parameters) {
  return settings.delay_compensation >= 0.0 && parallel.data != nullptr
             ? std::make_unique<DelayedRanks>(context, *parallel.data, parameters, settings.delay_compensation)
             : nullptr;
}

std::vector<lpt_linear *> handles_of(const std::vector<Linear *> &linears) {
  std::vector<lpt_linear *> handles;
  for (const Linear *linear : linears) {
    handles.push_back(linear->handle());
  }
  return handles;
}

}  // namespace

namespace {

int64_t first_raised_step(const TrainSettings &settings) {
  return static_cast<int64_t>(std::ceil(settings.raised_from * static_cast<double>(settings.steps)));
}

// Returns the share of the peak at step `now` of `steps`: linear warm-up, then half a cosine.
double cosine_share(double now, double steps, double warm_up) {
  if (now < warm_up) {
    return (now + 1.0) / warm_up;
  }
  const double way = (now - warm_up) / std::max(1.0, steps - warm_up);
  return kFinalShare + (1.0 - kFinalShare) * 0.5 * (1.0 + std::cos(std::numbers::pi * way));
}

}  // namespace

double learning_rate_at(const TrainSettings &settings, int64_t step) {
  const bool has_own_rates = settings.raised == Raised::kQaf || settings.raised == Raised::kFnt;
  const auto all = static_cast<double>(settings.steps);
  const double first = has_own_rates ? static_cast<double>(first_raised_step(settings)) : all;
  const auto now = static_cast<double>(step);
  if (now < first) {
    return settings.learning_rate * cosine_share(now, first, std::ceil(kWarmUpShare * first));
  }
  const double last = all - first;
  if (settings.raised == Raised::kQaf) {
    return settings.learning_rate * cosine_share(now - first, last, std::min(kQafWarmUp, last));
  }
  const double half = std::max(1.0, std::floor(0.5 * last));
  return settings.learning_rate * std::min((now - first + 1.0) / half, (all - now) / std::max(1.0, last - half));
}

double Measured::training_seconds() const { return std::accumulate(step_seconds.begin(), step_seconds.end(), 0.0); }

double Measured::kept_fraction(int64_t first_step) const {
  const auto begin = kept.begin() + std::min<int64_t>(first_step, std::ssize(kept));
  return begin == kept.end() ? 1.0 : std::accumulate(begin, kept.end(), 0.0) / static_cast<double>(kept.end() - begin);
}

Trainer::Trainer(const TrainSettings &settings, const Precision &precision, const ByteText &text, int32_t threads,
                 const Parallel &parallel)
    : settings_(settings),
      precision_(precision),
      parallel_(parallel),
      context_(make_context(threads)),
      batches_(text, plan_of(settings), parallel),
      validation_(batches_.validation(settings.validation_windows)),
      model_(context_.get(), own_shape(settings.shape, parallel), first_precision(precision), settings.seed, parallel),
      activations_(model_.make_activations(context_.get(), batches_.pass_sequences())),
      unit_scale_(unit_scale_of(precision, batches_.pass_sequences() * model_.shape().sequence)),
      lossy_(make_lossy(context_.get(), settings, parallel, model_.parameters())),
      delayed_(make_delayed(context_.get(), settings, parallel, model_.parameters())),
      optimizer_(
          context_.get(), model_.parameters(), precision,
          {.weight_decay = settings.weight_decay,
           .largest_norm = settings.largest_norm,
           .unit_scale = unit_scale_,
           .loss_scale = settings.loss_scale,
           .rows_of_a_pass = batches_.pass_sequences() * model_.shape().sequence},
          settings.seed,
          {.tensor = parallel.tensor, .sharers = settings.zero == 1 ? parallel.data : nullptr, .owners = lossy_.get()}),
      monitor_(make_monitor(context_.get())),
      clock_(settings.drop, settings.micro_batches, settings.seed, parallel),
      is_dense_part_(precision.dense_share > 0.0) {
  if (settings.is_watched || settings.pilot_budget > 0.0) {
    noise_ = std::make_unique<NoiseMeter>(context_.get(), settings.shape, precision, batches_.pass_sequences());
  }
  if (settings.pilot_budget > 0.0) {
    pilot_ = std::make_unique<Pilot>(context_.get(), model_, precision, settings.steps, settings.pilot_budget);
    watch_casts(pilot_->is_measured(0));
    model_.prepare(context_.get(), 0);
    activations_ = model_.make_activations(context_.get(), batches_.pass_sequences());
  }
  if (averages_gradients()) {
    parallel_.data->collect(context_.get(), model_.parameters());
  }
  check(context_.get(), lpt_context_set_profile(context_.get(), 1));
}

void Trainer::train_until(int64_t step_count) {
  const Stopwatch busy;
  while (steps_done() < step_count) {
    end_dense_part_if_due();
    raise_if_due();
    const Stopwatch one;
    measured_.training.push_back(step() / kNatsPerBit);
    measured_.step_seconds.push_back(one.seconds());
    if (steps_done() % settings_.validate_every == 0 || steps_done() == settings_.steps) {
      measured_.validation_steps.push_back(steps_done());
      measured_.validation.push_back(validate() / kNatsPerBit);
      if (settings_.is_watched) {
        watch();
      }
    }
  }
  busy_seconds_ += busy.seconds();
}

// Every pass draws new random bits for rounding, so steps and micro-batches have one counter.
Pass Trainer::pass_of(int64_t micro_batch, bool is_training) const {
  return {.is_training = is_training,
          .is_accumulated = micro_batch > 0,
          .seed = settings_.seed,
          .step = static_cast<uint32_t>(steps_done() * settings_.micro_batches + micro_batch)};
}

// Runs forward and backward for one micro-batch. Gradients accumulate to the sum of the means of the passes. Returns the loss, or
// nothing if the rank has to stop before backward.
std::optional<double> Trainer::pass(int64_t micro_batch) {
  const Batch batch = batches_.training(steps_done(), micro_batch);
  Pass pass = pass_of(micro_batch, true);
  model_.forward(context_.get(), batch.inputs, pass, activations_);
  const double loss = loss_to_gradient(batch);
  if (!std::isfinite(loss)) {
    throw Error(fmt::format("the loss of step {} is not a number: try a smaller learning rate", steps_done() + 1));
  }
  if (clock_.is_over()) {
    return std::nullopt;
  }
  // A rank that may stop does not know its last pass.
  const bool is_last = micro_batch + 1 == settings_.micro_batches && !settings_.drop.is_enabled;
  if (averages_gradients() && is_last) {
    parallel_.data->begin(context_.get());
    pass.ranks = parallel_.data;
  }
  model_.backward(context_.get(), batch.inputs, pass, activations_);
  if (pilot_ != nullptr && micro_batch == 0 && pilot_->is_measured(steps_done())) {
    pilot_->observe_noise(context_.get(), noise_->measure(context_.get(), model_, batch, loss_scale()).ratio);
  }
  return loss;
}

// Runs the passes of this rank until the threshold. Returns the number of complete ones, and the sum of their losses divided by
// the number without a threshold.
int64_t Trainer::run_passes(double &out_loss) {
  out_loss = 0.0;
  clock_.begin_step(steps_done());
  for (int64_t micro_batch = 0; micro_batch < settings_.micro_batches; ++micro_batch) {
    clock_.begin_micro_batch(micro_batch);
    const std::optional<double> loss = clock_.is_over() ? std::nullopt : pass(micro_batch);
    if (!loss) {
      return micro_batch;
    }
    clock_.end_micro_batch();
    out_loss += *loss / static_cast<double>(settings_.micro_batches);
  }
  return settings_.micro_batches;
}

double Trainer::loss_to_gradient(const Batch &batch) {
  return cross_entropy_to_gradient(context_.get(), parallel_.tensor, activations_.logits, batch.targets, loss_scale());
}

// Replicated norm weights have a partial gradient on every rank of a layer.
void Trainer::join_norms() {
  std::vector<lpt_tensor *> norms;
  for (const Parameter &parameter : model_.parameters()) {
    if (!parameter.is_matrix) {
      norms.push_back(parameter.gradient.get());
    }
  }
  parallel_.tensor->sum(context_.get(), norms);
  for (const Parameter &parameter : model_.parameters()) {
    if (!parameter.is_matrix && parallel_.data != nullptr) {
      parallel_.data->ready(context_.get(), parameter);
    }
  }
}

// Every slice of the batch has a separate gradient. Matrices are averaged asynchronously during backward.
void Trainer::join_gradients() {
  if (parallel_.tensor != nullptr) {
    join_norms();
  }
  if (lossy_ != nullptr) {
    lossy_->average_gradients(context_.get());
  } else if (delayed_ != nullptr) {
    delayed_->join();
  } else if (parallel_.data != nullptr) {
    parallel_.data->wait(context_.get());
  }
}

// A rank without a complete pass adds zeros to the gradients.
void Trainer::clear_gradients() {
  for (const Parameter &parameter : model_.parameters()) {
    std::memset(tensor_data(context_.get(), parameter.gradient.get()), 0,
                tensor_bytes(context_.get(), parameter.gradient.get()));
  }
}

// Starts the reduction after the last pass.
void Trainer::begin_join() {
  parallel_.data->begin(context_.get());
  for (const Parameter &parameter : model_.parameters()) {
    parallel_.data->ready(context_.get(), parameter);
  }
}

double Trainer::step() {
  lpt_context *context = context_.get();
  double loss = 0.0;
  const int64_t own_passes = run_passes(loss);
  if (own_passes == 0) {
    clear_gradients();
  }
  if (settings_.drop.is_enabled && averages_gradients()) {
    begin_join();
  }
  join_gradients();
  double means[] = {loss, static_cast<double>(own_passes)};
  if (parallel_.data != nullptr) {
    parallel_.data->average(context, means);
  }
  // Gradients are divided by the passes that all ranks completed, so that their mean has no bias.
  const double passes = means[1], kept = passes / static_cast<double>(settings_.micro_batches);
  const auto number = static_cast<uint32_t>(steps_done());
  if (passes > 0.0) {
    loss = means[0] / kept;
    decay_masked_weights(passes);
    optimizer_.step(context, learning_rate_at(settings_, steps_done()), passes, number);
    if (lossy_ != nullptr) {
      lossy_->gather_values(context);
    }
  } else {
    loss = measured_.training.empty() ? 0.0 : measured_.training.back() * kNatsPerBit;  // the step is skipped
  }
  if (settings_.drop.is_enabled) {
    measured_.kept.push_back(kept);
  }
  if (lossy_ != nullptr && steps_done() + 1 == settings_.steps) {
    lossy_->make_equal(context);
  }
  const std::vector<lpt_linear *> linears = handles_of(model_.linears());
  const auto linear_count = static_cast<int64_t>(linears.size());
  if (parallel_.data != nullptr) {
    check(context, lpt_linear_share_amax(context, parallel_.data->handle(), linears.data(), linear_count));
  }
  check(context, lpt_linear_update_scalers(context, linears.data(), linear_count));
  if (delayed_ != nullptr) {
    delayed_->begin();
    if (steps_done() + 1 == settings_.steps) {
      delayed_->end();
    }
  }
  end_step(loss);
  clock_.end_step(context);
  return loss;
}

// Casts the updated weights, with other recipes if the autopilot changes levels.
void Trainer::end_step(double loss) {
  const int64_t step = steps_done();
  bool has_changed = false;
  if (pilot_ != nullptr) {
    if (pilot_->is_measured(step)) {
      pilot_->observe_layers(context_.get());
      watch_casts(false);
    }
    has_changed = pilot_->end_step(context_.get(), step, loss);
    if (pilot_->is_measured(step + 1)) {
      watch_casts(true);
    }
  }
  model_.prepare(context_.get(), static_cast<uint32_t>(step + 1));
  if (has_changed) {
    activations_ = model_.make_activations(context_.get(), batches_.pass_sequences());
  }
}

// Decays the weights that the sparse masks drop, so that the masks converge.
void Trainer::decay_masked_weights(double passes) {
  if (precision_.mask_decay == 0.0 || is_dense_part_) {
    return;
  }
  lpt_context *context = context_.get();
  const double rate = precision_.mask_decay * passes * loss_scale();
  for (Block<float> &block : model_.blocks()) {
    for (const Linear *linear : block.linears()) {
      const Parameter &weight = linear->weight();
      const Tensor mask = make_tensor(context, LPT_FORMAT_UINT8, weight.rows, weight.columns);
      check(context, lpt_linear_mask_read(context, linear->handle(), mask.get()));
      check(context, lpt_sparse_mask_decay(context, weight.value.get(), mask.get(), rate, weight.gradient.get()));
    }
  }
}

void Trainer::end_dense_part_if_due() {
  const double first = std::ceil(precision_.dense_share * static_cast<double>(settings_.steps));
  if (!is_dense_part_ || static_cast<double>(steps_done()) < first) {
    return;
  }
  model_.set_recipe(context_.get(), precision_.recipe, static_cast<uint32_t>(steps_done()));
  activations_ = model_.make_activations(context_.get(), batches_.pass_sequences());
  is_dense_part_ = false;
}

// After a fraction of the steps, the GEMMs named by the settings are computed in bf16.
void Trainer::raise_if_due() {
  if (settings_.raised == Raised::kNothing || is_raised_ || steps_done() < first_raised_step(settings_)) {
    return;
  }
  model_.raise(context_.get(), settings_.raised, static_cast<uint32_t>(steps_done()));
  activations_ = model_.make_activations(context_.get(), batches_.pass_sequences());
  is_raised_ = true;
}

double Trainer::validate() {
  double sum = 0.0;
  for (const Batch &batch : validation_) {
    model_.forward(context_.get(), batch.inputs, pass_of(0, false), activations_);
    sum += cross_entropy(context_.get(), parallel_.tensor, activations_.logits, batch.targets);
  }
  double mean[] = {sum / static_cast<double>(validation_.size())};
  if (parallel_.sequence != nullptr) {
    parallel_.data->average(context_.get(), mean);  // over the positions; groups of ranks have the same windows
  }
  return mean[0];
}

}  // namespace lm
