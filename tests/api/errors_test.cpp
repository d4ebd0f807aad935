// Tables of invalid calls. Each call returns its status, writes a text that names the invalid argument, and changes no output.
#include "tests/api/bad_calls.hpp"

namespace lpt::test {
namespace {

class BadCalls : public testing::TestWithParam<const std::vector<BadCall> *> {};

std::string text_of(const World &w) {
  return w.error_text[0] != '\0' ? w.error_text : lpt_context_error(w.context.get());
}

TEST_P(BadCalls, GiveTheirStatusAndSayWhatIsWrong) {
  for (const BadCall &bad : *GetParam()) {
    World w;
    const lpt_status status = bad.call(w);
    const std::string text = text_of(w);
    EXPECT_EQ(bad.status, status) << bad.name << ": " << text;
    expect_words(bad.words, text, bad.name);
  }
}

TEST_P(BadCalls, LeaveEveryOutputAsItWas) {
  for (const BadCall &bad : *GetParam()) {
    World w;
    const std::vector<uint8_t> before = w.snapshot();
    bad.call(w);
    EXPECT_TRUE(before == w.snapshot()) << bad.name;
  }
}

TEST_P(BadCalls, LeaveTheContextFitForWork) {
  World w;
  for (const BadCall &bad : *GetParam()) bad.call(w);
  const Tensor target = make_tensor(w.context.get(), LPT_FORMAT_F32, 4, 6);
  EXPECT_TRUE(ok(w.context.get(), lpt_gemm(w.context.get(), w.a.get(), w.b.get(), nullptr, target.get())));
  EXPECT_STREQ("", lpt_context_error(w.context.get()));
}

INSTANTIATE_TEST_SUITE_P(OfContext, BadCalls, testing::Values(&kContextCalls));
INSTANTIATE_TEST_SUITE_P(OfFormat, BadCalls, testing::Values(&kFormatCalls));
INSTANTIATE_TEST_SUITE_P(OfTensor, BadCalls, testing::Values(&kTensorCalls));
INSTANTIATE_TEST_SUITE_P(OfQuantize, BadCalls, testing::Values(&kQuantizeCalls));
INSTANTIATE_TEST_SUITE_P(OfScaler, BadCalls, testing::Values(&kScalerCalls));
INSTANTIATE_TEST_SUITE_P(OfSparse, BadCalls, testing::Values(&kSparseCalls));
INSTANTIATE_TEST_SUITE_P(OfGemm, BadCalls, testing::Values(&kGemmCalls));
INSTANTIATE_TEST_SUITE_P(OfWeights, BadCalls, testing::Values(&kWeightsCalls));
INSTANTIATE_TEST_SUITE_P(OfRecipe, BadCalls, testing::Values(&kRecipeCalls));
INSTANTIATE_TEST_SUITE_P(OfLinear, BadCalls, testing::Values(&kLinearCalls));
INSTANTIATE_TEST_SUITE_P(OfLayers, BadCalls, testing::Values(&kLayerCalls));
INSTANTIATE_TEST_SUITE_P(OfAttention, BadCalls, testing::Values(&kAttentionCalls));
INSTANTIATE_TEST_SUITE_P(OfCache, BadCalls, testing::Values(&kCacheCalls));
INSTANTIATE_TEST_SUITE_P(OfOptimizer, BadCalls, testing::Values(&kOptimizerCalls));
INSTANTIATE_TEST_SUITE_P(OfLossScaler, BadCalls, testing::Values(&kLossScalerCalls));
INSTANTIATE_TEST_SUITE_P(OfCollectives, BadCalls, testing::Values(&kCollectiveCalls));
INSTANTIATE_TEST_SUITE_P(OfCosts, BadCalls, testing::Values(&kCostCalls));
INSTANTIATE_TEST_SUITE_P(OfDelay, BadCalls, testing::Values(&kDelayCalls));
INSTANTIATE_TEST_SUITE_P(OfAutopilot, BadCalls, testing::Values(&kAutopilotCalls));
INSTANTIATE_TEST_SUITE_P(OfDropCompute, BadCalls, testing::Values(&kDropComputeCalls));
INSTANTIATE_TEST_SUITE_P(OfLossyLinks, BadCalls, testing::Values(&kLossyCalls));
INSTANTIATE_TEST_SUITE_P(OfShares, BadCalls, testing::Values(&kShareCalls));
INSTANTIATE_TEST_SUITE_P(OfForeignLayouts, BadCalls, testing::Values(&kForeignLayoutCalls));
INSTANTIATE_TEST_SUITE_P(WithoutContext, BadCalls, testing::Values(&kNullContextCalls));

}  // namespace
}  // namespace lpt::test
