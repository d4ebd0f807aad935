// Steps for AVX2 with FMA and F16C.
#include "kernels/optimizer/avx2_lanes.hpp"
#include "kernels/optimizer/rows.hpp"
#include "kernels/optimizer/step_walk.hpp"

namespace lpt {

void step_x86_avx2(const StepRequest &request) { run_step<Avx2>(request); }

}  // namespace lpt
