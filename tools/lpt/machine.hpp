// The machine of a training plan: times of operations on one rank, and links between ranks. A file in JSON.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "lpt.h"
#include "lpt/research/cost.h"

namespace tool {

// Seconds of an operation: a sum of terms, each linear in a count. Absent terms are 0.
struct OperationTime {
  double call = 0;      // seconds of any call
  double flops = 0;     // seconds per FLOP
  double elements = 0;  // seconds per element: of the input, or the only count
  double outputs = 0;   // seconds per element of the output of a linear layer
  double weights = 0;   // seconds per element of its weight
};

// A term of OperationTime in the file: seconds, or a rate, the inverse of seconds.
struct TimeTerm {
  const char *name;
  double OperationTime::*seconds;
  bool is_rate;
};
inline constexpr TimeTerm kTimeTerms[] = {{"call_seconds", &OperationTime::call, false},
                                          {"flops_per_second", &OperationTime::flops, true},
                                          {"elements_per_second", &OperationTime::elements, true},
                                          {"output_elements_per_second", &OperationTime::outputs, true},
                                          {"weight_elements_per_second", &OperationTime::weights, true}};

// Links of the ranks of a level. The ranks of a level are adjacent; a level contains those before it.
struct LinkLevel {
  int64_t ranks = 0;
  lpt_cost_link link = LPT_COST_LINK_INIT;
};

using OperationTimes = std::map<std::string, OperationTime>;

struct Machine {
  OperationTimes linear;         // by recipe: forward and both backward GEMMs of a layer, with their casts
  OperationTimes prepare;        // by recipe: casts of weights, once per step
  OperationTimes attention;      // by format: forward and backward
  OperationTimes elementwise;    // by elementwise_name(): forward and backward
  OperationTimes optimizer;      // by formats of the moments: AdamW with the norm of the gradients
  OperationTimes wires;          // by wire format: casts of an all-reduce, by the elements of the tensor
  std::vector<LinkLevel> links;  // from the innermost level to the outermost
  double memory_bytes = 0;       // of a rank; 0: not limited
  double overlap = 0;            // share of backward in which links reduce gradients at the same time, 0 to 1
  double joules_per_flop = 0, joules_per_byte = 0, watts = 0;  // of a rank; watts of all other work
};

// Operations of Machine::elementwise.
inline constexpr const char *kRmsnorm = "rmsnorm", *kSwiglu = "swiglu", *kRotary = "rotary", *kEmbedding = "embedding",
                            *kCrossEntropy = "cross_entropy";

// Returns the recipe of the head, and the format of attention and of activations inside blocks, beside layers of a recipe: "f32"
// for f32, else "bf16".
inline const char *high_format(const std::string &recipe) { return recipe == "f32" ? "f32" : "bf16"; }

// Returns the name of an operation with activations in `format`: "swiglu" for f32, else "swiglu_bf16". Embedding and loss are f32.
std::string elementwise_name(const std::string &operation, const std::string &format);

// Returns the formats of both moments of a name of Machine::optimizer: one format, or two separated by a colon.
std::array<lpt_format, 2> moment_formats(const std::string &moments);

// Throws Error if the file has other contents.
Machine read_machine(const std::string &path);
// `comments` are members that read_machine() ignores.
std::string machine_json(const Machine &machine, const std::map<std::string, std::string> &comments);

// Counts and seconds of one measurement.
struct TimedCall {
  OperationTime counts;  // the count of each term; `call` is 1
  double seconds = 0;
};

// Returns nonnegative seconds of each term that minimize the sum of squares of relative errors.
OperationTime fit_time(const std::vector<TimedCall> &calls);
double seconds_of(const OperationTime &time, const OperationTime &counts);

}  // namespace tool
