// The command line of a benchmark, its tables as text, and the same tables as JSON for `tools/make_benchmarks.py import`.
#pragma once

#include <string>
#include <vector>

#include "lpt.h"

namespace lpt::bench {

// A numeric positional argument. `value` has the default.
struct Argument {
  const char *name, *help;
  double *value;
  double min = 0, max = 1e12;
};

// `width` is the minimum number of characters; negative: left-aligned.
struct Column {
  std::string name;
  int width = 0;
};

// Returns these columns, followed by those of a ratio.
std::vector<Column> with_ratio(std::vector<Column> columns);

std::string fixed(double value, int digits);

class Report {
 public:
  // Exits with status 0 after --help, and with 2 if an argument is invalid.
  Report(int count, char **words, const std::string &purpose, const std::vector<Argument> &arguments,
         const char *build = lpt_build_info());

  // Begins a table and prints its header. "Figures are `unit`, on `threads` threads" is a sentence.
  void begin(const std::string &name, int threads, const std::string &unit, const std::vector<Column> &columns);

  // Adds a row to the last table and prints it.
  void add(const std::vector<std::string> &cells);

  // The same for columns of with_ratio(). A target of 0 means no target. With `is_ceiling` the ratio must not exceed the
  // target.
  void add(std::vector<std::string> cells, double ratio, const std::string &measure, double target = 0,
           bool is_ceiling = false);

  // Prints the number of targets, and writes the file of --json. Returns the exit status.
  int end() const;

 private:
  struct Table {
    std::string name, unit;
    std::vector<Column> columns;
    std::vector<std::vector<std::string>> rows;
  };

  std::string build_, command_, json_;
  std::vector<Table> tables_;
  int threads_ = 0, targets_ = 0, reached_ = 0;
  double load_ = 0;
};

}  // namespace lpt::bench
