// Random requests of the optimizer kernels. Their arrays are between canaries and can be copied, so that two kernels can run.
#pragma once

#include "kernels/optimizer/optimizer.hpp"
#include "tests/support/guarded.hpp"

namespace lpt::test {

// A kind of state array.
struct StateKind {
  const char *name;
  lpt_format element;
  int64_t block;
  bool is_expanded;
};

inline constexpr StateKind kWholeKinds[] = {
    {"f32", LPT_FORMAT_F32, 0, false},       {"bf16", LPT_FORMAT_BF16, 0, false}, {"f16", LPT_FORMAT_F16, 0, false},
    {"e4m3fn", LPT_FORMAT_E4M3FN, 0, false}, {"e4m3", LPT_FORMAT_E4M3, 0, false}, {"e5m2", LPT_FORMAT_E5M2, 0, false}};
inline constexpr StateKind kBlockKinds[] = {
    {"e4m3fn in groups", LPT_FORMAT_E4M3FN, 128, false}, {"e4m3 in groups", LPT_FORMAT_E4M3, 128, false},
    {"e5m2 in groups", LPT_FORMAT_E5M2, 128, false},     {"expanded e4m3fn", LPT_FORMAT_E4M3FN, 128, true},
    {"expanded e4m3", LPT_FORMAT_E4M3, 128, true},       {"expanded e5m2", LPT_FORMAT_E5M2, 128, true},
    {"signed tree", kDynamicSigned, 256, false},         {"unsigned tree", kDynamicUnsigned, 256, false}};

// One array with its scales.
class StateMemory {
 public:
  StateMemory(const StateKind &kind, int64_t count);

  // Fills with values of the given kind, or with any codes if an element has at most 8 bits. Half of the scales are powers of
  // two. With `has_special_scales`, some are 0, infinity, NaN, or the smallest or largest normal f32 value.
  void fill(Random &random, Values values, bool has_special_scales);
  void drop_signs();
  void set(int64_t index, float value);  // f32 only
  void drop_specials();                  // removes NaN, infinities and large values of 8-bit floats
  void copy_from(const StateMemory &other);
  void place(StateArray &array);
  bool equals(const StateMemory &other) const;
  bool is_intact() const;
  // Returns a description of the first difference, or an empty string.
  std::string difference(const StateMemory &other) const;

 private:
  int64_t bytes_each() const;

  StateKind kind_;
  int64_t count_;
  Guarded data_, scales_, exponents_;
};

struct StepKinds {
  lpt_optimizer_method method;
  StateKind first, second, parameter;
  bool has_compensation;
  lpt_format gradient;
};

// All arrays of a step.
class StepProblem {
 public:
  StepProblem(const StepKinds &kinds, int64_t count);

  void fill(Random &random, Values values);
  void fill_small(Random &random);                // all elements are finite
  void set_gradient(int64_t index, float value);  // f32 only
  void copy_from(const StepProblem &other);
  void place(StepRequest &request);
  bool is_intact() const;
  // Returns an empty string if all arrays are equal.
  std::string difference(const StepProblem &other) const;

 private:
  StepKinds kinds_;
  StateMemory gradient_, first_, second_, parameter_, compensation_;
};

// Returns random constants, roundings and random bits; `place` of a problem adds the arrays.
StepRequest random_request(Random &random, const StepKinds &kinds);

}  // namespace lpt::test
