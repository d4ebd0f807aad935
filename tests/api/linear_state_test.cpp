// The state that a linear layer keeps between steps, and its size.
#include "tests/api/linear.hpp"

namespace lpt::test {
namespace {

TEST(LinearState, GoesOnAfterALoadAsIfNeverSaved) {
  const Context context = make_context();
  lpt_context *c = context.get();
  const Recipe recipe = make_recipe(c, "fp8_trillion");
  const Linear linear = make_linear(c, recipe.get());
  const Linear loaded = make_linear(c, recipe.get());
  lpt_linear *const linears[] = {linear.get(), loaded.get()};
  run(c, linear.get(), Batch(210, 30.0), step_options(1, 2, 0));
  ASSERT_TRUE(ok(c, lpt_linear_update_scalers(c, linears, 1)));
  size_t bytes = 0;
  ASSERT_TRUE(ok(c, lpt_linear_state_size(c, linear.get(), &bytes)));
  std::vector<uint8_t> state(bytes);
  ASSERT_TRUE(ok(c, lpt_linear_state_save(c, linear.get(), state.data(), state.size())));
  ASSERT_TRUE(ok(c, lpt_linear_state_load(c, loaded.get(), state.data(), state.size())));
  const Linear fresh = make_linear(c, recipe.get());
  for (uint32_t step = 1; step < 4; ++step) {
    const Batch batch(220 + step);
    const Results expected = run(c, linear.get(), batch, step_options(1, 2, step));
    const Results given = run(c, loaded.get(), batch, step_options(1, 2, step));
    EXPECT_EQ(expected.y, given.y);
    EXPECT_EQ(expected.dx, given.dx);
    EXPECT_EQ(expected.dw, given.dw);
    if (step == 1) {
      EXPECT_NE(expected.y, run(c, fresh.get(), batch, step_options(1, 2, step)).y) << "history counts";
    }
    ASSERT_TRUE(ok(c, lpt_linear_update_scalers(c, linears, 2)));
  }
}

TEST(LinearCastSize, CountsBothCastsOfTheWeight) {
  const Context context = make_context();
  const Recipe recipe = make_recipe(context.get(), "fp8_trillion");
  const Linear linear = make_linear(context.get(), recipe.get(), 256, 512);
  size_t bytes = 0;
  ASSERT_TRUE(ok(context.get(), lpt_linear_cast_size(context.get(), linear.get(), &bytes)));
  EXPECT_GE(bytes, 2u * 256 * 512);
  EXPECT_LE(bytes, 2u * 256 * 512 + 512);
}

}  // namespace
}  // namespace lpt::test
