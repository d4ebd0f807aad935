// Every kernel of the gradient of an embedding against the reference kernel, bit for bit.
#include "tests/kernels/activation.hpp"

namespace lpt::test {
namespace {

TEST(EmbeddingGradient, KernelsHaveTheBitsOfTheReference) {
  Random random(41);
  for (const auto &kernel : embedding_gradient_kernels()) {
    if (!can_run(kernel)) continue;
    for (const lpt_format format : {LPT_FORMAT_F32, LPT_FORMAT_BF16, LPT_FORMAT_F16, LPT_FORMAT_F64}) {
      for (const int64_t columns : kSimdEdges) {
        const int64_t rows = random.below(20), classes = 1 + random.below(7), parts = 1 + random.below(3);
        const bool is_accumulated = random.chance(0.5);
        Matrix source(format, rows, columns, 1, 8);
        fill_finite(random, source, Values::kNormal);
        const lpt_format sum = format == LPT_FORMAT_F64 ? LPT_FORMAT_F64 : LPT_FORMAT_F32;
        Matrix expected(sum, classes, columns, 3, 8), found(sum, classes, columns, 3, 8);
        for (int64_t r = 0; r < classes; ++r) {
          for (int64_t c = 0; c < columns; ++c) {
            const auto given = static_cast<float>(random.uniform());
            expected.set(r, c, given);
            found.set(r, c, given);
          }
        }
        std::vector<int64_t> places;  // includes places below and above the classes
        for (int64_t r = 0; r < rows; ++r) places.push_back(random.below(classes + 2) - 1);
        EmbeddingGradientRequest request{source.view(), found.view(), places.data(), 0, parts, is_accumulated};
        if (kernel.unsupported_reason(request) != nullptr) continue;
        for (request.part = 0; request.part < parts; ++request.part) {
          kernel.run(request);
          EmbeddingGradientRequest other = request;
          other.gradient = expected.view();
          reference_of(embedding_gradient_kernels()).run(other);
        }
        EXPECT_TRUE(found.is_intact() && found.data.equals(expected.data))
            << shape_text(kernel.name, format, rows, columns, Values::kNormal);
      }
    }
  }
}

}  // namespace
}  // namespace lpt::test
