// Measurements of a trainer at each validation: noise, scales, saturation, alignment.
#include <fmt/format.h>

#include "trainer.hpp"

namespace lm {

namespace {

void record_alignment(lpt_context *context, const Block<float> &block, int64_t step, lpt_monitor *monitor) {
  const lpt_swiglu_alignment_info values = block.alignment(context);
  const std::string name = block.gate_up_name() + "/alignment";
  check(context, lpt_monitor_record(context, monitor, step, (name + "/mean_magnitude").c_str(), values.mean_magnitude));
  check(context, lpt_monitor_record(context, monitor, step, (name + "/largest").c_str(), values.largest));
}

}  // namespace

void Trainer::watch_casts(bool is_watched) {
  for (const Linear *linear : model_.linears()) {
    check(context_.get(), lpt_linear_watch(context_.get(), linear->handle(), is_watched ? 1 : 0));
  }
}

// Runs the first pass of the next step in advance, and measures its gradients and the values that its scalers record.
void Trainer::watch() {
  lpt_context *context = context_.get();
  const int64_t step_count = steps_done();
  const Batch batch = batches_.training(step_count, 0);
  // The weights are cast a second time, with equal results, so that their casts are counted too.
  watch_casts(true);
  model_.prepare(context, static_cast<uint32_t>(step_count));
  pass(0);
  const lpt_noise_info noise = noise_->measure(context, model_, batch, loss_scale());
  measured_.noise_ratio.push_back(noise.ratio);
  const auto record = [&](const char *name, double value) {
    check(context, lpt_monitor_record(context, monitor_.get(), step_count, name, value));
  };
  record("validation", measured_.validation.back());
  record("noise/gradient_norm", noise.gradient_norm);
  record("noise/noise_norm", noise.noise_norm);
  record("noise/ratio", noise.ratio);
  for (const Linear *linear : model_.linears()) {
    check(context, lpt_monitor_record_linear(context, monitor_.get(), step_count, linear->weight().name.c_str(),
                                             linear->handle()));
  }
  watch_casts(false);
  if (pilot_ != nullptr && pilot_->is_measured(step_count)) {
    watch_casts(true);
    model_.prepare(context, static_cast<uint32_t>(step_count));
  }
  for (const Block<float> &block : model_.blocks()) {
    record_alignment(context, block, step_count, monitor_.get());
  }
}

void Trainer::save_monitor(const std::string &path) {
  check(context_.get(), lpt_monitor_save(context_.get(), monitor_.get(), path.c_str()));
}

}  // namespace lm
