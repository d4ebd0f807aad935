// Optimizer steps against torch, dynamic trees against bitsandbytes, by golden files of tools/make_optimizer_golden.py.
// The inputs are drawn again with the same generator. torch has no Lion; its reference is the formula in double.
#include "tests/api/optimizer.hpp"
#include "tests/formats/golden.hpp"

namespace lpt::test {
namespace {

constexpr int kSteps = 100;
constexpr double kTolerance = 1e-6;

std::vector<golden::Row> rows_of(const char *name) {
  std::vector<golden::Row> rows = golden::read(name, "optimizer");
  EXPECT_GT(rows.size(), 0u) << name;
  return rows;
}

double number_in(const std::string &cell) { return std::strtod(cell.c_str(), nullptr); }
size_t count_in(const std::string &cell) { return std::strtoul(cell.c_str(), nullptr, 10); }

// Draws multiples of 2^-23 in [-1, 1), as the script does.
std::vector<float> draw(uint64_t seed, size_t count) {
  golden::SplitMix64 random(seed);
  std::vector<float> numbers(count);
  for (float &number : numbers) {
    number = static_cast<float>(static_cast<double>(random.next() >> 40) * 0x1p-23 - 1.0);
  }
  return numbers;
}

std::vector<float> spread(std::vector<float> numbers, size_t period) {
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = std::ldexp(numbers[i], -static_cast<int>(i % period));
  return numbers;
}

std::vector<double> halves(size_t count) {
  const std::vector<float> drawn = draw(1, count);
  std::vector<double> values(drawn.begin(), drawn.end());
  for (double &value : values) value *= 0.5;
  return values;
}

std::vector<float> gradient_at(int t, size_t count) { return spread(draw(1000 + static_cast<uint64_t>(t), count), 8); }

struct Setting {
  lpt_optimizer_method method;
  bool is_nesterov;
  double learning_rate, weight_decay;
};

std::vector<double> after_steps(const Setting &setting, const std::vector<double> &start) {
  const Context context = make_context();
  const size_t count = start.size();
  lpt_optimizer_options options = options_of(setting.method);
  options.is_nesterov = setting.is_nesterov ? 1 : 0;
  Option option;
  option.weight_decay = setting.weight_decay;
  Trainee trainee(context.get(), options, option, start);
  for (int t = 1; t <= kSteps; ++t) trainee.step(gradient_at(t, count), step_at(setting.learning_rate));
  return trainee.values();
}

void expect_torch(const std::string &method, const Setting &setting) {
  double worst = 0;
  size_t count = 0;
  std::vector<double> values;
  int compared = 0;
  for (const golden::Row &row : rows_of("steps")) {
    if (row[0] != method) continue;
    if (count_in(row[1]) != count) {
      count = count_in(row[1]);
      values = after_steps(setting, halves(count));
    }
    const double difference = std::fabs(values[count_in(row[2])] - number_in(row[3]));
    worst = std::max(worst, difference);
    EXPECT_LE(difference, kTolerance) << method << ' ' << row[1] << " elements, index " << row[2];
    ++compared;
  }
  std::printf("%s: %d values, worst difference %.2e\n", method.c_str(), compared, worst);
  EXPECT_GT(compared, 40);
}

TEST(OptimizerGolden, AdamWIsTorchs) { expect_torch("adamw", {LPT_OPTIMIZER_METHOD_ADAMW, false, 1e-3, 0.1}); }
TEST(OptimizerGolden, AdamIsTorchs) { expect_torch("adam", {LPT_OPTIMIZER_METHOD_ADAM, false, 1e-3, 0.01}); }
TEST(OptimizerGolden, SgdIsTorchs) { expect_torch("sgd", {LPT_OPTIMIZER_METHOD_SGD, false, 1e-2, 0.01}); }
TEST(OptimizerGolden, NesterovsMomentumIsTorchs) {
  expect_torch("nesterov", {LPT_OPTIMIZER_METHOD_SGD, true, 1e-2, 0.01});
}

// All steps of Lion have the same length, so their roundings accumulate. If the values are below 2^-3, two hundred
// roundings are below the tolerance.
std::vector<double> small_values(size_t count) {
  std::vector<double> values = halves(count);
  for (double &value : values) value /= 8;
  return values;
}

TEST(OptimizerGolden, LionIsItsFormula) {
  for (const size_t count : {1u, 7u, 129u, 2145u}) {
    std::vector<double> p = small_values(count), m(count);
    for (int t = 1; t <= kSteps; ++t) {
      const std::vector<float> gradient = gradient_at(t, count);
      for (size_t i = 0; i < count; ++i) {
        const double g = static_cast<double>(gradient[i]);
        const double mixed = 0.9 * m[i] + 0.1 * g;
        p[i] -= 1e-4 * (0.1 * p[i] + (mixed > 0 ? 1 : mixed < 0 ? -1 : 0));
        m[i] = 0.95 * m[i] + 0.05 * g;
      }
    }
    // An interpolated moment close to zero can have the other sign in f32. Such an element differs by two steps.
    const std::vector<double> found = after_steps({LPT_OPTIMIZER_METHOD_LION, false, 1e-4, 0.1}, small_values(count));
    size_t transposed_copy = 0;
    for (size_t i = 0; i < count; ++i) transposed_copy += std::fabs(found[i] - p[i]) > kTolerance;
    EXPECT_LE(transposed_copy, count / 1000);
  }
}

TEST(OptimizerGolden, ClipsAsTorch) {
  const Context context = make_context();
  lpt_context *c = context.get();
  for (const golden::Row &row : rows_of("clip")) {
    Optimizer optimizer;
    const lpt_optimizer_options options = options_of(LPT_OPTIMIZER_METHOD_SGD);
    ASSERT_TRUE(ok(c, lpt_optimizer_create(c, &options, out(optimizer))));
    const std::vector<float> numbers[2] = {draw(2, 1000), draw(3, 77)};
    std::vector<Tensor> gradients, values;
    int64_t indices[2] = {};
    for (size_t k = 0; k < 2; ++k) {
      const auto count = static_cast<int64_t>(numbers[k].size());
      const lpt_optimizer_parameter parameter = parameter_of({}, count);
      ASSERT_TRUE(ok(c, lpt_optimizer_add(c, optimizer.get(), nullptr, &parameter, &indices[k])));
      gradients.push_back(wrap(c, numbers[k], 1, count));
      values.push_back(make_tensor(c, kF32, 1, count));
    }
    const lpt_tensor *const gradient_handles[] = {gradients[0].get(), gradients[1].get()};
    lpt_tensor *const value_handles[] = {values[0].get(), values[1].get()};
    lpt_optimizer_step_options step = step_at(1.0);  // p = -g
    step.largest_norm = number_in(row[0]);
    ASSERT_TRUE(ok(c, lpt_optimizer_step(c, optimizer.get(), indices, 2, gradient_handles, &step, value_handles)));
    lpt_optimizer_info found = LPT_OPTIMIZER_INFO_INIT;
    ASSERT_TRUE(ok(c, lpt_optimizer_read(c, optimizer.get(), &found)));
    EXPECT_NEAR(found.gradient_norm / number_in(row[1]), 1.0, 1e-6);
    for (size_t k = 0; k < 2; ++k) {
      EXPECT_NEAR(-numbers_of(c, values[k].get())[0] / number_in(row[2 + k]), 1.0, 1e-6) << row[0];
    }
  }
}

// Dynamic trees. With beta1 = beta2 = 0 the moments are the gradient and its square.

std::vector<uint8_t> dynamic_state(const std::vector<float> &gradient) {
  const Context context = make_context();
  lpt_optimizer_options options = options_of(LPT_OPTIMIZER_METHOD_ADAMW);
  options.beta1 = options.beta2 = 0.0;
  options.second_underflow = LPT_OPTIMIZER_UNDERFLOW_ALLOWED;
  Option option;
  option.first = option.second = LPT_FORMAT_DYNAMIC_1X256;
  Trainee trainee(context.get(), options, option, std::vector<double>(gradient.size(), 0.0));
  trainee.step(gradient, step_at(0.0));
  return trainee.state();
}

size_t first_code(size_t) { return 32 + 16 + 12; }
size_t second_code(size_t count) { return first_code(count) + count + 12; }

std::vector<float> levels_of(bool is_signed) {
  std::vector<float> levels;
  for (const golden::Row &row : rows_of("maps")) {
    const auto bits = static_cast<uint32_t>(std::strtoul(row[is_signed ? 1 : 2].c_str(), nullptr, 16));
    levels.emplace_back();
    std::memcpy(&levels.back(), &bits, sizeof bits);
  }
  EXPECT_EQ(levels.size(), 256u);
  return levels;
}

// Gradient descent with beta1 = 1/2. The second step has a zero gradient and moves 0 by half of each stored level.
TEST(OptimizerGolden, SignedDynamicLevelsAreThoseOfBitsandbytesBitForBit) {
  const std::vector<float> levels = levels_of(true);
  const Context context = make_context();
  lpt_optimizer_options options = options_of(LPT_OPTIMIZER_METHOD_SGD);
  options.beta1 = 0.5;
  Option option;
  option.first = LPT_FORMAT_DYNAMIC_1X256;
  Trainee trainee(context.get(), options, option, std::vector<double>(256, 0.0));
  trainee.step(levels, step_at(0.0));
  trainee.step(std::vector<float>(256, 0.0f), step_at(1.0));
  const std::vector<double> values = trainee.values();
  for (size_t code = 0; code < 256; ++code) EXPECT_EQ(values[code], -0.5 * static_cast<double>(levels[code])) << code;
}

// Every level of a map has a distinct code if the block has a 1, which sets the block scale to 1.
TEST(OptimizerGolden, DynamicLevelsAreThoseOfBitsandbytes) {
  for (const bool is_signed : {true, false}) {
    std::vector<float> levels = levels_of(is_signed);
    if (!is_signed) {
      for (float &level : levels) level = std::sqrt(level);
    }
    const std::vector<uint8_t> state = dynamic_state(levels);
    const size_t begin = is_signed ? first_code(256) : second_code(256);
    for (size_t code = 0; code < 256; ++code) EXPECT_EQ(state[begin + code], code) << is_signed;
  }
}

TEST(OptimizerGolden, DynamicCodesAreThoseOfBitsandbytes) {
  const std::vector<float> signed_numbers = spread(draw(4, 2000), 16);
  std::vector<float> roots;
  for (const float number : signed_numbers) roots.push_back(std::sqrt(std::fabs(number)));
  const std::vector<uint8_t> first = dynamic_state(signed_numbers), second = dynamic_state(roots);
  for (const golden::Row &row : rows_of("codes")) {
    const size_t index = count_in(row[1]);
    const size_t found = row[0] == "signed" ? first[first_code(2000) + index] : second[second_code(2000) + index];
    EXPECT_EQ(found, count_in(row[2])) << row[0] << ' ' << index;
  }
}

}  // namespace
}  // namespace lpt::test
