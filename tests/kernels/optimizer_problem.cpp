#include "tests/kernels/optimizer_problem.hpp"

#include <cmath>
#include <limits>

#include "src/base/status.hpp"
#include "src/formats/element.hpp"

namespace lpt::test {
namespace {

constexpr StateKind kNoState = {"none", LPT_FORMAT_F32, 0, false};

int64_t bytes_of(lpt_format element) {
  return element == LPT_FORMAT_F32 ? 4 : element == LPT_FORMAT_F16 || element == LPT_FORMAT_BF16 ? 2 : 1;
}

std::size_t blocks_of(const StateKind &kind, int64_t count) {
  return kind.block == 0 ? 0 : static_cast<std::size_t>((count + kind.block - 1) / kind.block);
}

bool has_second(lpt_optimizer_method method) {
  return method == LPT_OPTIMIZER_METHOD_ADAMW || method == LPT_OPTIMIZER_METHOD_ADAM;
}

float random_scale(Random &random, bool is_special) {
  constexpr float kSpecials[] = {0.0f, std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN(),
                                 0x1p-126f, 0x1.fffffep+127f};
  if (is_special && random.chance(0.2)) return random.of(kSpecials);
  const double power = std::exp2(40 * random.uniform() - 30);
  return static_cast<float>(power * (random.chance(0.5) ? 1 : 1 + random.uniform()));
}

}  // namespace

StateMemory::StateMemory(const StateKind &kind, int64_t count)
    : kind_(kind),
      count_(count),
      data_(static_cast<std::size_t>(count * bytes_of(kind.element))),
      scales_(4 * blocks_of(kind, count)),
      exponents_(kind.is_expanded ? 2 * blocks_of(kind, count) : 0) {}

int64_t StateMemory::bytes_each() const { return bytes_of(kind_.element); }

void StateMemory::fill(Random &random, Values values, bool has_special_scales) {
  const std::vector<float> numbers = draw(random, values, count_);
  for (int64_t i = 0; i < count_; ++i) {
    const float number = numbers[static_cast<std::size_t>(i)];
    uint8_t *const place = data_.data() + i * bytes_each();
    if (bytes_each() == 4) {
      std::memcpy(place, &number, 4);
    } else if (bytes_each() == 2) {
      const Element &element = kind_.element == LPT_FORMAT_F16 ? kElementF16 : kElementBf16;
      const auto code =
          static_cast<uint16_t>(encode(element, number, LPT_ROUNDING_NEAREST_EVEN, LPT_OVERFLOW_INFINITE, 0, 0));
      std::memcpy(place, &code, 2);
    } else {
      *place = static_cast<uint8_t>(random.below(random.chance(0.9) ? 256 : 16));
    }
  }
  for (std::size_t block = 0; block < scales_.bytes() / 4; ++block) {
    const float scale = random_scale(random, has_special_scales);
    std::memcpy(scales_.data() + 4 * block, &scale, 4);
  }
  for (std::size_t block = 0; block < exponents_.bytes() / 2; ++block) {
    const auto exponent = static_cast<uint16_t>(1 + random.below(random.chance(0.5) ? 64 : 1024));
    std::memcpy(exponents_.data() + 2 * block, &exponent, 2);
  }
}

void StateMemory::drop_signs() {
  if (is_dynamic(kind_.element)) return;
  for (int64_t i = 0; i < count_; ++i) data_.data()[(i + 1) * bytes_each() - 1] &= 0x7F;
}

void StateMemory::drop_specials() {
  if (bytes_each() != 1 || is_dynamic(kind_.element)) return;
  for (int64_t i = 0; i < count_; ++i) {
    if ((data_.data()[i] & 0x70) == 0x70) data_.data()[i] &= 0x8F;
  }
}

void StateMemory::set(int64_t index, float value) { std::memcpy(data_.data() + 4 * index, &value, 4); }

void StateMemory::copy_from(const StateMemory &other) {
  const struct {
    Guarded &to;
    const Guarded &from;
  } parts[] = {{data_, other.data_}, {scales_, other.scales_}, {exponents_, other.exponents_}};
  for (const auto &part : parts) {
    if (part.to.bytes() > 0) std::memcpy(part.to.data(), part.from.data(), part.to.bytes());
  }
}

void StateMemory::place(StateArray &array) {
  array.data = data_.data();
  array.block_scales = kind_.block == 0 ? nullptr : reinterpret_cast<float *>(scales_.data());
  array.exponents = kind_.is_expanded ? reinterpret_cast<uint16_t *>(exponents_.data()) : nullptr;
}

bool StateMemory::equals(const StateMemory &other) const { return difference(other).empty(); }

bool StateMemory::is_intact() const { return data_.is_intact() && scales_.is_intact() && exponents_.is_intact(); }

std::string StateMemory::difference(const StateMemory &other) const {
  const struct {
    const char *name;
    const Guarded &mine, &others;
    std::size_t width;
  } parts[] = {{"element", data_, other.data_, static_cast<std::size_t>(bytes_each())},
               {"exponent", exponents_, other.exponents_, 2},
               {"scale", scales_, other.scales_, 4}};
  for (const auto &part : parts) {
    for (std::size_t at = 0; at < part.mine.bytes(); at += part.width) {
      uint32_t mine = 0, others = 0;
      std::memcpy(&mine, part.mine.data() + at, part.width);
      std::memcpy(&others, part.others.data() + at, part.width);
      if (mine != others) return text("%s %zu is 0x%X, not 0x%X", part.name, at / part.width, mine, others);
    }
  }
  return "";
}

StepProblem::StepProblem(const StepKinds &kinds, int64_t count)
    : kinds_(kinds),
      gradient_({"gradient", kinds.gradient, 0, false}, count),
      first_(kinds.first, count),
      second_(has_second(kinds.method) ? kinds.second : kNoState, has_second(kinds.method) ? count : 0),
      parameter_(kinds.parameter, count),
      compensation_({"compensation", LPT_FORMAT_BF16, 0, false}, kinds.has_compensation ? count : 0) {}

void StepProblem::fill(Random &random, Values values) {
  const bool has_special_scales = random.chance(0.2);
  gradient_.fill(random, values, false);
  for (StateMemory *state : {&first_, &second_, &parameter_, &compensation_}) {
    state->fill(random, values, has_special_scales);
  }
  if (random.chance(0.9)) second_.drop_signs();
}

void StepProblem::fill_small(Random &random) {
  for (StateMemory *state : {&gradient_, &first_, &second_, &parameter_, &compensation_}) {
    state->fill(random, Values::kNormal, false);
  }
  second_.drop_signs();
  for (StateMemory *state : {&first_, &second_}) state->drop_specials();
}

void StepProblem::set_gradient(int64_t index, float value) { gradient_.set(index, value); }

void StepProblem::copy_from(const StepProblem &other) {
  gradient_.copy_from(other.gradient_);
  first_.copy_from(other.first_);
  second_.copy_from(other.second_);
  parameter_.copy_from(other.parameter_);
  compensation_.copy_from(other.compensation_);
}

void StepProblem::place(StepRequest &request) {
  StateArray gradient;
  gradient_.place(gradient);
  request.gradient = gradient.data;
  first_.place(request.first);
  parameter_.place(request.parameter);
  if (has_second(kinds_.method)) second_.place(request.second);
  if (kinds_.has_compensation) compensation_.place(request.compensation);
}

bool StepProblem::is_intact() const {
  return gradient_.is_intact() && first_.is_intact() && second_.is_intact() && parameter_.is_intact() &&
         compensation_.is_intact();
}

std::string StepProblem::difference(const StepProblem &other) const {
  const struct {
    const char *name;
    std::string text;
  } parts[] = {{"gradient", gradient_.difference(other.gradient_)},
               {"first", first_.difference(other.first_)},
               {"second", second_.difference(other.second_)},
               {"parameter", parameter_.difference(other.parameter_)},
               {"compensation", compensation_.difference(other.compensation_)}};
  for (const auto &part : parts) {
    if (!part.text.empty()) return std::string(part.name) + ' ' + part.text;
  }
  return "";
}

StepRequest random_request(Random &random, const StepKinds &kinds) {
  constexpr lpt_rounding kRoundings[] = {LPT_ROUNDING_NEAREST_EVEN, LPT_ROUNDING_STOCHASTIC, LPT_ROUNDING_TOWARD_ZERO};
  constexpr lpt_optimizer_underflow kUnderflows[] = {LPT_OPTIMIZER_UNDERFLOW_CLAMP, LPT_OPTIMIZER_UNDERFLOW_ALLOWED,
                                                     LPT_OPTIMIZER_UNDERFLOW_STOCHASTIC};
  constexpr float kEpsilons[] = {0.0f, 1e-8f, 1e-3f};
  StepRequest request = {};
  request.method = kinds.method;
  request.gradient_format = kinds.gradient;
  const auto t = static_cast<double>(1 + random.below(100));
  const bool is_adam = has_second(kinds.method);
  StepConstants &c = request.constants;
  c.beta1 = random.chance(0.1) ? 0.0f : 0.9f;
  c.one_minus_beta1 = 1.0f - c.beta1;
  c.beta2 = random.chance(0.1) ? 0.0f : 0.95f;
  c.one_minus_beta2 = 1.0f - c.beta2;
  c.root_correction = static_cast<float>(1 / (1 - std::pow(0.95, t)));
  c.step_size = static_cast<float>(is_adam ? 0.01 / (1 - std::pow(0.9, t)) : 0.01);
  const bool is_coupled = kinds.method == LPT_OPTIMIZER_METHOD_ADAM || kinds.method == LPT_OPTIMIZER_METHOD_SGD;
  (is_coupled ? c.coupled_decay : c.decay) = random.chance(0.3) ? 0.0f : 0.01f;
  c.epsilon = random.of(kEpsilons);
  c.gradient_scale = random.chance(0.5) ? 1.0f : 0.37f;
  c.is_nesterov = random.chance(0.5);
  const StateKind *const array_kinds[] = {&kinds.first, &kinds.second, &kinds.parameter};
  StateArray *const arrays[] = {&request.first, &request.second, &request.parameter};
  const bool is_plain = random.chance(0.5);
  const int32_t random_bits = random.chance(0.5) ? 8 : 16;
  for (uint32_t role = 0; role < 3; ++role) {
    StateArray &array = *arrays[role];
    array.element = array_kinds[role]->element;
    array.block = array_kinds[role]->block;
    if (array.block == 0 && array.element != LPT_FORMAT_F32 && array.element != LPT_FORMAT_BF16) {
      array.scale = random_scale(random, false);
      array.inverse_scale = random_scale(random, false);
    }
    array.rounding = is_plain ? LPT_ROUNDING_NEAREST_EVEN : random.of(kRoundings);
    if (role == 1) array.underflow = is_plain ? LPT_OPTIMIZER_UNDERFLOW_CLAMP : random.of(kUnderflows);
    array.random = {77,         random.below(2000) + (random.chance(0.1) ? int64_t{1} << 36 : 0),
                    0,          random_stream(RandomDomain::kOptimizer, 5, role),
                    9,          random.chance(0.5) ? 7 : 10,
                    random_bits};
  }
  request.compensation.element = LPT_FORMAT_BF16;
  return request;
}

}  // namespace lpt::test
