// Steps and norms for AVX-512.
#include "kernels/common/vec8_avx512.hpp"
#include "kernels/optimizer/avx512_lanes.hpp"
#include "kernels/optimizer/kernels.hpp"
#include "kernels/optimizer/norm_loop.hpp"
#include "kernels/optimizer/step_loop.hpp"

namespace lpt {

void step_x86_avx512(const StepRequest &request) { run_step<Avx512>(request); }
void norm_x86_avx512(const NormRequest &request) { measure_norm<Vec8Avx512>(request); }

}  // namespace lpt
