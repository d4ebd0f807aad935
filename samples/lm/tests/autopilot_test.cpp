// Reports of a model to its autopilot.
#include "../autopilot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include "../model.hpp"
#include "expect.hpp"

namespace {

constexpr lm::ModelShape kShape{.width = 32, .layers = 2, .heads = 2, .hidden = 48, .sequence = 8};
constexpr int64_t kSteps = 16;  // a decision after each step
constexpr double kBudget = 0.2;

// Weight decay aligns weights slowly, so the test copies the gate weights of one channel.
void align_channel(lpt_context *context, const lm::Parameter &gate_up, double factor) {
  auto *const values = static_cast<float *>(lm::tensor_data(context, gate_up.value.get()));
  const int64_t channel = 5, hidden = gate_up.rows / 2;
  for (int64_t c = 0; c < gate_up.columns; ++c) {
    values[(hidden + channel) * gate_up.columns + c] =
        static_cast<float>(factor) * values[channel * gate_up.columns + c];
  }
}

// Aligned weights of either sign raise the layer that reads the gated unit, and no other layer.
void raises_readers_of_aligned_weights(lm::Expect &expect) {
  const lm::Context context = lm::make_context(1);
  const lm::Precision precision = lm::precision_of("fp8_trillion", "f32");
  lm::Model<float> model(context.get(), kShape, precision, 1, lm::Parallel{});
  lm::Pilot pilot(context.get(), model, precision, kSteps, kBudget);
  const auto lines = [&] {
    const std::string csv = pilot.csv(context.get());
    return std::count(csv.begin(), csv.end(), '\n') - 1;
  };
  pilot.observe_layers(context.get());
  pilot.end_step(context.get(), 0, 2.0);
  expect.that(lines() == 0, fmt::format("weights that are not aligned change {} GEMMs", lines()));
  for (const lm::Parameter &parameter : model.parameters()) {
    if (parameter.name == "block1.gate_up") {
      align_channel(context.get(), parameter, -3.0);
    }
  }
  pilot.observe_layers(context.get());
  pilot.end_step(context.get(), 1, 2.0);
  const std::string csv = pilot.csv(context.get());
  expect.that(lines() == 3, fmt::format("aligned weights change the three GEMMs of a layer:\n{}", csv));
  for (const char *gemm : {"forward", "dgrad", "wgrad"}) {
    const std::string line = fmt::format("\n2,block1.down,{},0,1,alignment,1,0.9\n", gemm);
    expect.that(csv.find(line) != std::string::npos, fmt::format("{} rises:\n{}", gemm, csv));
  }
}

}  // namespace

int main() {
  lm::Expect expect;
  raises_readers_of_aligned_weights(expect);
  return expect.exit_code();
}
