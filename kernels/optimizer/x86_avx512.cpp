// Steps and norms for AVX-512.
#include "kernels/common/eight_avx512.hpp"
#include "kernels/optimizer/avx512_lanes.hpp"
#include "kernels/optimizer/norm_walk.hpp"
#include "kernels/optimizer/rows.hpp"
#include "kernels/optimizer/step_walk.hpp"

namespace lpt {

void step_x86_avx512(const StepRequest &request) { run_step<Avx512>(request); }
void norm_x86_avx512(const NormRequest &request) { measure_norm<EightAvx512>(request); }

}  // namespace lpt
