// Reductions over ranks with a device each: the exchanges and the sums of reducing.hpp and wire_reducing.hpp, queued.
#pragma once

#include "src/ranks/wire_reducing.hpp"

namespace lpt {

// The kernel of the device for sums of so many sources.
Status choose_sum_on_device(Context &context, const Device &device, const ReduceRequest &request,
                            const KernelEntry<ReduceRequest> **out_kernel);

Status reduce_to_all_on_device(Context &worker, DeviceEngine &engine, const ReductionPlan &reducing);
Status reduce_to_parts_on_device(Context &worker, DeviceEngine &engine, const ReductionPlan &reducing);

// By the wire's own sums.
Status reduce_natively(Context &worker, DeviceEngine &engine, const ReductionPlan &reducing, bool is_to_all);

Status reduce_in_one_shot_on_device(Context &worker, DeviceEngine &engine, const WireReductionPlan &reducing);
Status reduce_in_two_shots_on_device(Context &worker, DeviceEngine &engine, const WireReductionPlan &reducing);
Status reduce_wire_to_parts_on_device(Context &worker, DeviceEngine &engine, const WireReductionPlan &reducing);

}  // namespace lpt
