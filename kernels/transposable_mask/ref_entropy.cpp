// ENTROPY: Meng et al., arXiv 2505.23949, in f32.
//   s = exp(sharpness · (w / largest - 1)), q = 1;  then `iterations` times:
//   each row times N / its sum, each column times N / its sum;  t = s · q;  s = min(t, 1), q = max(t, 1).
// Sums run in ascending order. Weights are integer weights rounded to f32, so that infinities are ordered.
#include "kernels/transposable_mask/tile.hpp"
#include "src/formats/functions.hpp"

namespace lpt {
namespace {

struct Transport {
  int size;
  float target;
  float s[kLargestPlaces], q[kLargestPlaces];
};

// Lower bound of the exponent. exp(-69) is below 2^-99: negligible in every row and column sum, but nonzero, so that division
// is possible.
constexpr float kLowest = -69.0f;

void begin(const Tile &tile, const IntegerWeights &integer_weights, float sharpness, Transport &transport) {
  transport.size = tile.size;
  transport.target = static_cast<float>(tile.kept);
  const int count = tile.size * tile.size;
  int64_t largest = 1;
  for (int i = 0; i < count; ++i) largest = integer_weights.at[i] > largest ? integer_weights.at[i] : largest;
  for (int i = 0; i < count; ++i) {
    const float share = static_cast<float>(integer_weights.at[i]) / static_cast<float>(largest);
    const float power = sharpness * (share - 1.0f);
    transport.s[i] = exp_f32(power > kLowest ? power : kLowest);
    transport.q[i] = 1.0f;
  }
}

// Scales a row or column of `size` elements, `step` apart.
void scale_line(float *line, int size, int step, float target) {
  float sum = 0.0f;
  for (int i = 0; i < size; ++i) sum += line[i * step];
  const float factor = target / sum;
  for (int i = 0; i < size; ++i) line[i * step] *= factor;
}

void iterate(Transport &transport) {
  const int size = transport.size;
  for (int row = 0; row < size; ++row) scale_line(transport.s + row * size, size, 1, transport.target);
  for (int column = 0; column < size; ++column) scale_line(transport.s + column, size, size, transport.target);
  for (int i = 0; i < size * size; ++i) {
    const float t = transport.s[i] * transport.q[i];
    transport.s[i] = t < 1.0f ? t : 1.0f;
    transport.q[i] = t < 1.0f ? 1.0f : t;
  }
}

}  // namespace

TileMask solve_entropy(const Tile &tile, int iterations, float sharpness) {
  IntegerWeights integer_weights;
  find_integer_weights(tile, integer_weights);
  Transport transport;
  begin(tile, integer_weights, sharpness, transport);
  for (int i = 0; i < iterations; ++i) iterate(transport);
  Tile rounded;
  rounded.size = tile.size;
  rounded.kept = tile.kept;
  for (int i = 0; i < tile.size * tile.size; ++i) rounded.weights[i] = transport.s[i];
  TileMask mask = solve_greedy(rounded);
  improve_mask(tile, integer_weights, mask);
  return mask;
}

}  // namespace lpt
