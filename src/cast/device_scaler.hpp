// Scalers on a device: their history is there, so that no cast waits for an amax.
#pragma once

#include "kernels/quantize/cuda_scaler.hpp"
#include "src/cast/scaler.hpp"

namespace lpt {

ScalerNumbers *numbers_of(const Scaler &scaler);

// What the host has of `scaler` goes there; waits.
Status send_scaler(const Context &context, Scaler &scaler);

// The same with what the device has; waits.
Status fetch_scaler(const Context &context, const Scaler &scaler, Scaler &out_here);

// Queues.
Status update_scaler_on_device(Context &context, Scaler &scaler);

}  // namespace lpt
