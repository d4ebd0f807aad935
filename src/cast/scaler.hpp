// Where the amax of a cast comes from.
#pragma once

#include <memory>
#include <vector>

#include "kernels/quantize/cuda/cuda_scaler.hpp"
#include "src/base/blob.hpp"
#include "src/call/context.hpp"

struct lpt_scaler {
  lpt::HandleKind kind = lpt::HandleKind::kScaler;
  lpt_scaler_options options = LPT_SCALER_OPTIONS_INIT;
  std::vector<float> history;  // a ring of options.history_length; newest at (update_count - 1) mod length
  float running_amax = 0.0f;
  bool is_recorded = false;  // something was cast since the last update
  int64_t update_count = 0;
  float kept_amax = 0.0f;            // the last of the history that was not zero
  lpt::Device device;                // where casts record what they find
  std::shared_ptr<std::byte> there;  // on a GPU: history, running and kept amax, which those above are not then
};

namespace lpt {

using Scaler = lpt_scaler;

Status check_scaler_options(const lpt_scaler_options &options);
Scaler make_scaler(const lpt_scaler_options &options);

// A scaler for casts of the context's device.
Status create_scaler(const Context &context, const lpt_scaler_options &options, Scaler **out_scaler);

// The context works where the scaler does.
Status check_place(const Context &context, const Scaler &scaler, const char *name);

Status update_scaler(Context &context, Scaler &scaler);
void update_scaler(Scaler &scaler);  // of the CPU
void record_amax(Scaler &scaler, float amax);

// The amax of the history by its rule, without margin; 0 while it is empty.
float history_amax(const Scaler &scaler);

// True if a cast takes its amax from the past; then `out_amax` is it, with margin.
bool has_delayed_amax(const Scaler &scaler, float &out_amax);

// amax · 2^margin, kept finite.
float with_margin(const Scaler &scaler, float amax);

lpt_scaler_info scaler_values(const Scaler &scaler);

void write_scaler(const Scaler &scaler, BlobWriter &writer);

// Reads into a copy, so that a bad blob changes nothing.
Status read_scaler(BlobReader &reader, const Scaler &expected, Scaler &out_scaler);

// ---- on a device: the history is in its memory, so that no cast waits for an amax

ScalerNumbers *numbers_of(const Scaler &scaler);

// What the host has of `scaler` goes there; waits.
Status send_scaler(const Context &context, Scaler &scaler);

// The same with what the device has; waits.
Status fetch_scaler(const Context &context, const Scaler &scaler, Scaler &out_here);

}  // namespace lpt
