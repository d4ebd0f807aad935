// Measurements of a trainer at each validation: noise, scales, saturation, alignment.
#include <fmt/format.h>

#include "trainer.hpp"

namespace lm {

namespace {

// Records cosines between the gate and up weights of the gated unit of a block.
void record_alignment(lpt_context *context, const Parameter &gate_up, int64_t step, lpt_monitor *monitor) {
  const int64_t hidden = gate_up.rows / 2;
  const Matrix<float> weight(context, gate_up.rows, gate_up.columns);
  check(context, lpt_dequantize(context, gate_up.value.get(), nullptr, weight.tensor()));
  const Tensor gate = weight.view(context, 0, 0, hidden, gate_up.columns);
  const Tensor up = weight.view(context, hidden, 0, hidden, gate_up.columns);
  lpt_swiglu_alignment_info values = LPT_SWIGLU_ALIGNMENT_INFO_INIT;
  check(context, lpt_swiglu_alignment(context, gate.get(), up.get(), nullptr, &values));
  const std::string name = gate_up.name + "/alignment";
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
  for (const Parameter &parameter : model_.parameters()) {
    if (parameter.name.ends_with(".gate_up")) {
      record_alignment(context, parameter, step_count, monitor_.get());
    }
  }
}

void Trainer::save_monitor(const std::string &path) {
  check(context_.get(), lpt_monitor_save(context_.get(), monitor_.get(), path.c_str()));
}

}  // namespace lm
