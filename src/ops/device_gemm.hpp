// Products on a device: a row of ours, or a vendor's library with our kernels before and after it.
#pragma once

#include "src/ops/gemm_run.hpp"

namespace lpt {

// Views are checked, and lie on the context's device. With `out_decision` it only tells what would be done.
Status multiply_on_device(Context &context, const Product &product, bool is_check_only, Decision *out_decision);

// multiply_many() where the context works. On a device all are chosen before the first is queued.
Status run_products(Context &context, const std::vector<Product> &products, bool is_check_only);

}  // namespace lpt
