// Steps and norms for AVX2 with FMA and F16C.
#include "kernels/common/eight_avx2.hpp"
#include "kernels/optimizer/avx2_lanes.hpp"
#include "kernels/optimizer/norm_walk.hpp"
#include "kernels/optimizer/rows.hpp"
#include "kernels/optimizer/step_walk.hpp"

namespace lpt {

void step_x86_avx2(const StepRequest &request) { run_step<Avx2>(request); }
void norm_x86_avx2(const NormRequest &request) { measure_norm<EightAvx2>(request); }

}  // namespace lpt
