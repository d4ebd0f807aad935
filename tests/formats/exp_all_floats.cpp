// Slow test: exp, sigmoid and silu of all 2^32 floats against double, and every SwiGLU kernel against the scalar functions
// bit for bit. Prints the largest errors, which src/formats/functions.hpp states.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include "kernels/activation/activation.hpp"
#include "src/formats/functions.hpp"

namespace {

using namespace lpt;

constexpr int64_t kChunk = int64_t{1} << 20;

// Returns the error in units in the last place of f32. Subnormals have a constant unit.
double units(float found, double exact) {
  int exponent;
  std::frexp(exact, &exponent);
  return std::fabs(static_cast<double>(found) - exact) / std::ldexp(1.0, std::max(exponent, -125) - 24);
}

struct Worst {
  const char *name;
  double allowed;
  double error = 0;
  float argument = 0;
  void take(float x, double units_off) {
    if (units_off <= error) return;
    error = units_off;
    argument = x;
  }
  bool report() const {
    std::printf("%-20s %.4f units, allowed %.2f, at %a\n", name, error, allowed, static_cast<double>(argument));
    return error <= allowed;
  }
};

MatrixView view_of(std::vector<float> &numbers) {
  MatrixView view;
  find_format(LPT_FORMAT_F32, view.format);
  view.data = numbers.data();
  view.rows = 1;
  view.columns = static_cast<int64_t>(numbers.size());
  view.row_stride = view.columns;
  return view;
}

}  // namespace

int main() {
  Worst exp_normal{"exp", 0.90}, exp_subnormal{"exp, subnormal", 0.90}, sigmoid{"sigmoid", 2.9},
      silu{"silu above -87", 3.7};
  std::vector<float> gate(kChunk), up(kChunk, 1.0f), expected(kChunk), found(kChunk);
  int64_t wrong = 0;
  for (uint64_t first = 0; first < (uint64_t{1} << 32); first += kChunk) {
    for (int64_t i = 0; i < kChunk; ++i) {
      const auto bits = static_cast<uint32_t>(first + static_cast<uint64_t>(i));
      float x;
      std::memcpy(&x, &bits, sizeof x);
      gate[static_cast<size_t>(i)] = x;
      const float y = exp_f32(x), s = sigmoid_f32(x).value, z = silu_f32(x);
      expected[static_cast<size_t>(i)] = z * 1.0f;
      if (std::isnan(x)) {
        wrong += !std::isnan(y) || !std::isnan(s) || !std::isnan(z);
        continue;
      }
      const double exact = std::exp(static_cast<double>(x));
      const double exact_sigmoid = x < 0.0f ? exact / (1 + exact) : 1 / (1 + 1 / exact);
      const auto rounded = static_cast<float>(exact);
      if (std::isinf(rounded) || rounded == 0.0f) {
        wrong += y != rounded;
      } else {
        (exact < 0x1p-126 ? exp_subnormal : exp_normal).take(x, units(y, exact));
      }
      if (std::isinf(x)) continue;
      sigmoid.take(x, units(s, exact_sigmoid));
      if (x > -87.0f) silu.take(x, units(z, static_cast<double>(x) * exact_sigmoid));
    }
    for (const auto &row : swiglu_forward_kernels()) {
      if ((row.needs.cpu & ~cpu_features()) != 0 || row.needs.cpu == 0) continue;
      row.run({view_of(gate), view_of(up), view_of(found), nullptr});
      for (size_t i = 0; i < found.size(); ++i) {
        const bool is_same =
            std::isnan(expected[i]) ? std::isnan(found[i]) : std::memcmp(&expected[i], &found[i], sizeof(float)) == 0;
        if (!is_same && ++wrong < 10) std::printf("%s: silu of %a\n", row.name, static_cast<double>(gate[i]));
      }
    }
  }
  bool is_good = wrong == 0;
  if (wrong != 0) std::printf("%lld results are wrong\n", static_cast<long long>(wrong));
  for (const Worst &worst : {exp_normal, exp_subnormal, sigmoid, silu}) is_good = worst.report() && is_good;
  return is_good ? 0 : 1;
}
