// Steps and norms for AVX2 with FMA and F16C.
#include "kernels/common/vec8_avx2.hpp"
#include "kernels/optimizer/avx2_lanes.hpp"
#include "kernels/optimizer/kernels.hpp"
#include "kernels/optimizer/norm_loop.hpp"
#include "kernels/optimizer/step_loop.hpp"

namespace lpt {

void step_x86_avx2(const StepRequest &request) { run_step<Avx2>(request); }
void norm_x86_avx2(const NormRequest &request) { measure_norm<Vec8Avx2>(request); }

}  // namespace lpt
