// Steps for AVX-512.
#include "kernels/optimizer/avx512_lanes.hpp"
#include "kernels/optimizer/rows.hpp"
#include "kernels/optimizer/step_walk.hpp"

namespace lpt {

void step_x86_avx512(const StepRequest &request) { run_step<Avx512>(request); }

}  // namespace lpt
