// Statistics of a cast, with AVX2.
#include "kernels/quantize/kernels.hpp"
#include "kernels/quantize/x86/avx2_sums.hpp"

namespace lpt {

void cast_statistics_x86_avx2(const CastStatisticsRequest &request) {
  const lpt_format plain = request.quantized.format.element;
  CodeFacts facts;
  set_facts(plain, facts);
  const DecodeSpan decode_one = decode_span_of(plain, facts, LPT_FORMAT_F32);
  const auto fill = [&](ScaleSlab &slab, float tensor_scale, int64_t first, int64_t count) {
    fill_slab(request.quantized, slab, tensor_scale, first, count);
  };
  const auto decode = [&](const ScaleSlab &slab, const uint8_t *from, uint8_t *to, int64_t count) {
    decode_one(facts, slab, from, to, count, false);
  };
  sum_cast_with<Avx2Sums>(request, facts.bits, fill, decode);
}

}  // namespace lpt
