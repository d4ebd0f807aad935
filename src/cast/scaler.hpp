// Scalers: the source of the amax of a cast.
#pragma once

#include <memory>
#include <vector>

#include "kernels/quantize/cuda/cuda_scaler.hpp"
#include "src/base/blob.hpp"
#include "src/call/context.hpp"

struct lpt_scaler {
  lpt::HandleKind kind = lpt::HandleKind::kScaler;
  lpt_scaler_options options = LPT_SCALER_OPTIONS_INIT;
  std::vector<float> history;  // ring of options.history_length amaxes; the newest is at (update_count - 1) mod length
  float running_amax = 0.0f;
  bool is_recorded = false;  // true if a cast recorded an amax after the last update
  int64_t update_count = 0;
  float kept_amax = 0.0f;            // the last nonzero amax of the history
  lpt::Device device;                // device of the casts that record amaxes
  std::shared_ptr<std::byte> there;  // GPU: ScalerNumbers and history, which replace the members above
};

namespace lpt {

using Scaler = lpt_scaler;

Status check_scaler_options(const lpt_scaler_options &options);
Scaler make_scaler(const lpt_scaler_options &options);

// Creates a scaler for casts on the device of the context.
Status create_scaler(const Context &context, const lpt_scaler_options &options, Scaler **out_scaler);

// Rejects a scaler of another device than that of the context.
Status check_place(const Context &context, const Scaler &scaler, const char *name);

Status update_scaler(Context &context, Scaler &scaler);
void update_scaler(Scaler &scaler);  // for scalers of the CPU
void record_amax(Scaler &scaler, float amax);

// Returns the amax of the history by its rule, without margin; 0 for an empty history.
float history_amax(const Scaler &scaler);

// Returns true if a cast uses an amax of the history. `out_amax` then includes the margin.
bool has_delayed_amax(const Scaler &scaler, float &out_amax);

// Returns amax · 2^margin, limited to the largest f32.
float with_margin(const Scaler &scaler, float amax);

lpt_scaler_info scaler_values(const Scaler &scaler);

void write_scaler(const Scaler &scaler, BlobWriter &writer);

// Reads into `out_scaler`, so that the scaler of the caller is not changed by an invalid blob.
Status read_scaler(BlobReader &reader, const Scaler &expected, Scaler &out_scaler);

// Device functions. The history is in device memory, so that no cast waits for an amax.

ScalerNumbers *numbers_of(const Scaler &scaler);

// Copies the state of the host to the device and waits.
Status send_scaler(const Context &context, Scaler &scaler);

// Copies the state of the device to `out_here` and waits.
Status fetch_scaler(const Context &context, const Scaler &scaler, Scaler &out_here);

}  // namespace lpt
