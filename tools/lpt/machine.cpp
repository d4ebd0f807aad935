#include "machine.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "handles.hpp"
#include "json_file.hpp"

namespace tool {
namespace {

using nlohmann::json;

constexpr size_t kTerms = std::size(kTimeTerms);
constexpr int64_t kMostRanks = 1 << 20;
constexpr double kLeastNumber = 1e-30, kMostNumber = 1e30;  // of times and rates

struct Times {
  const char *name;
  OperationTimes Machine::*times;
};
constexpr Times kTimes[] = {{"linear", &Machine::linear},       {"prepare", &Machine::prepare},
                            {"attention", &Machine::attention}, {"elementwise", &Machine::elementwise},
                            {"optimizer", &Machine::optimizer}, {"wires", &Machine::wires}};

struct Number {
  const char *name;
  double Machine::*number;
};
constexpr Number kNumbers[] = {{"memory_bytes", &Machine::memory_bytes},
                               {"overlap", &Machine::overlap},
                               {"joules_per_flop", &Machine::joules_per_flop},
                               {"joules_per_byte", &Machine::joules_per_byte},
                               {"watts", &Machine::watts}};

struct LinkNumber {
  const char *name;
  double lpt_cost_link::*number;
};
constexpr LinkNumber kLinkNumbers[] = {{"latency_seconds", &lpt_cost_link::latency_seconds},
                                       {"bytes_per_second", &lpt_cost_link::bytes_per_second},
                                       {"reduce_bytes_per_second", &lpt_cost_link::reduce_bytes_per_second}};

// Reads members of objects. Errors name the file and the path of the member.
class Reader {
 public:
  explicit Reader(const std::string &path) : path_(path) { read(read_json_object(path)); }

  const Machine &machine() const { return machine_; }

 private:
  [[noreturn]] void fail(const std::string &member, const std::string &problem) const {
    throw Error(fmt::format("{}: {} {}", in_quotes(path_), member, problem));
  }

  // Returns 0 if the member is absent.
  double number(const json &object, const std::string &parent, const char *name) const {
    const auto found = object.find(name);
    if (found == object.end()) return 0;
    const double value = found->is_number() ? found->get<double>() : NAN;
    if (value == 0 || (value >= kLeastNumber && value <= kMostNumber)) return value;
    fail(parent + name, fmt::format("is {}: expected 0, or a number from {:g} to {:g}", shortened(found->dump(), 60),
                                    kLeastNumber, kMostNumber));
  }

  const json &object(const json &value, const std::string &member) const {
    if (!value.is_object()) fail(member, fmt::format("is {}: expected an object", shortened(value.dump(), 60)));
    return value;
  }

  OperationTime time(const json &object, const std::string &parent) const {
    OperationTime time;
    for (const TimeTerm &term : kTimeTerms) {
      const double value = number(object, parent, term.name);
      time.*term.seconds = term.is_rate && value > 0 ? 1 / value : value;
    }
    return time;
  }

  void read_link(const json &value, const std::string &member) {
    LinkLevel level;
    const double ranks = number(object(value, member), member + ".", "ranks");
    const int64_t least = machine_.links.empty() ? 1 : machine_.links.back().ranks + 1;
    if (!(ranks >= static_cast<double>(least) && ranks <= kMostRanks) || ranks != std::floor(ranks)) {
      fail(member + ".ranks",
           fmt::format("is {}: expected {} to {}, more than in the level before", ranks, least, kMostRanks));
    }
    level.ranks = static_cast<int64_t>(ranks);
    for (const LinkNumber &part : kLinkNumbers) level.link.*part.number = number(value, member + ".", part.name);
    machine_.links.push_back(level);
  }

  void read(const json &file) {
    for (const Times &kind : kTimes) {
      const auto found = file.find(kind.name);
      if (found == file.end()) continue;
      for (const auto &[name, value] : object(*found, kind.name).items()) {
        const std::string member = fmt::format("{}.{}", kind.name, shortened(name, 60));
        (machine_.*kind.times)[name] = time(object(value, member), member + ".");
      }
    }
    for (const Number &kind : kNumbers) machine_.*kind.number = number(file, "", kind.name);
    if (machine_.overlap > 1) fail("overlap", fmt::format("is {}: expected 0 to 1", machine_.overlap));
    const auto links = file.find("links");
    if (links == file.end()) return;
    if (!links->is_array()) fail("links", fmt::format("is {}: expected an array", shortened(links->dump(), 60)));
    for (size_t i = 0; i < links->size(); ++i) read_link((*links)[i], fmt::format("links[{}]", i));
  }

  const std::string path_;
  Machine machine_;
};

json json_of(const OperationTime &time) {
  json object = json::object();
  for (const TimeTerm &term : kTimeTerms) {
    const double seconds = time.*term.seconds;
    if (seconds >= kLeastNumber) object[term.name] = term.is_rate ? 1 / seconds : seconds;
  }
  return object;
}

// The solution of the terms of `which`, by normal equations with relative weights.

using Vector = std::array<double, kTerms>;

// Returns the counts of a call by which a relative error is linear in the terms.
Vector weighted(const TimedCall &call) {
  Vector row{};
  for (size_t i = 0; i < kTerms; ++i) row[i] = call.counts.*kTimeTerms[i].seconds / call.seconds;
  return row;
}

// Solves a symmetric system of the first `size` unknowns by elimination. Returns false if it is singular.
bool solve(std::array<Vector, kTerms> matrix, Vector right, size_t size, Vector &out_solution) {
  for (size_t pivot = 0; pivot < size; ++pivot) {
    const double diagonal = matrix[pivot][pivot];
    if (!(diagonal > 0)) return false;
    for (size_t row = pivot + 1; row < size; ++row) {
      const double factor = matrix[row][pivot] / diagonal;
      for (size_t column = pivot; column < size; ++column) matrix[row][column] -= factor * matrix[pivot][column];
      right[row] -= factor * right[pivot];
    }
  }
  for (size_t i = size; i-- > 0;) {
    double sum = right[i];
    for (size_t column = i + 1; column < size; ++column) sum -= matrix[i][column] * out_solution[column];
    out_solution[i] = sum / matrix[i][i];
  }
  return true;
}

// Fits the terms whose bits are set in `which`. Returns false if one of them is negative or not determined.
bool fit_terms(const std::vector<Vector> &rows, unsigned which, Vector &out_terms) {
  std::array<size_t, kTerms> terms{};
  std::array<Vector, kTerms> matrix{};
  Vector right{}, scale{}, solution{};
  size_t size = 0;
  for (size_t i = 0; i < kTerms; ++i) {
    if ((which >> i & 1) == 0) continue;
    for (const Vector &row : rows) scale[i] = std::max(scale[i], row[i]);
    if (scale[i] == 0) return false;
    terms[size++] = i;
  }
  for (const Vector &row : rows) {
    for (size_t i = 0; i < size; ++i) {
      const double own = row[terms[i]] / scale[terms[i]];
      right[i] += own;
      for (size_t j = 0; j < size; ++j) matrix[i][j] += own * row[terms[j]] / scale[terms[j]];
    }
  }
  if (!solve(matrix, right, size, solution)) return false;
  out_terms = {};
  for (size_t i = 0; i < size; ++i) {
    if (!(solution[i] >= 0)) return false;
    out_terms[terms[i]] = solution[i] / scale[terms[i]];
  }
  return true;
}

double sum_of_squares(const std::vector<Vector> &rows, const Vector &terms) {
  double sum = 0;
  for (const Vector &row : rows) {
    double error = -1;
    for (size_t i = 0; i < kTerms; ++i) error += row[i] * terms[i];
    sum += error * error;
  }
  return sum;
}

}  // namespace

std::string elementwise_name(const std::string &operation, const std::string &format) {
  const bool is_f32 = format == "f32" || operation == kEmbedding || operation == kCrossEntropy;
  return is_f32 ? operation : operation + "_" + format;
}

std::array<lpt_format, 2> moment_formats(const std::string &moments) {
  const size_t colon = moments.find(':');
  const lpt_format first = find_format(moments.substr(0, colon));
  return {first, colon == std::string::npos ? first : find_format(moments.substr(colon + 1))};
}

Machine read_machine(const std::string &path) { return Reader(path).machine(); }

std::string machine_json(const Machine &machine, const std::map<std::string, std::string> &comments) {
  json file(comments);
  for (const Times &kind : kTimes) {
    for (const auto &[name, time] : machine.*kind.times) file[kind.name][name] = json_of(time);
  }
  for (const Number &kind : kNumbers) {
    if (machine.*kind.number > 0) file[kind.name] = machine.*kind.number;
  }
  for (const LinkLevel &level : machine.links) {
    json link = {{"ranks", level.ranks}};
    for (const LinkNumber &part : kLinkNumbers) {
      if (level.link.*part.number > 0) link[part.name] = level.link.*part.number;
    }
    file["links"].push_back(link);
  }
  return file.dump(1) + "\n";
}

// Few terms: the best subset is found by trying all.
OperationTime fit_time(const std::vector<TimedCall> &calls) {
  std::vector<Vector> rows;
  for (const TimedCall &call : calls) rows.push_back(weighted(call));
  Vector best{}, terms{};
  double least = INFINITY;
  for (unsigned which = 1; which < 1u << kTerms; ++which) {
    if (!fit_terms(rows, which, terms)) continue;
    const double squares = sum_of_squares(rows, terms);
    if (squares < least) least = squares, best = terms;
  }
  OperationTime time;
  for (size_t i = 0; i < kTerms; ++i) time.*kTimeTerms[i].seconds = best[i];
  return time;
}

double seconds_of(const OperationTime &time, const OperationTime &counts) {
  double seconds = 0;
  for (const TimeTerm &term : kTimeTerms) seconds += time.*term.seconds * counts.*term.seconds;
  return seconds;
}

}  // namespace tool
