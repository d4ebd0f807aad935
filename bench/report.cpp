#include "bench/report.hpp"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "bench/peaks.hpp"

namespace lpt::bench {
namespace {

std::string machine() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("model name"))
      return line.substr(line.find(": ") + 2) + ", " + std::to_string(sysconf(_SC_NPROCESSORS_ONLN)) + " cores";
  }
  return "";
}

void print(const std::vector<Column> &columns, const std::vector<std::string> &cells) {
  std::string line = " ";
  for (size_t i = 0; i < columns.size(); ++i) {
    const size_t width = std::max<size_t>(static_cast<size_t>(std::abs(columns[i].width)), columns[i].name.size());
    const std::string padding(width - std::min(width, cells[i].size()), ' ');
    line += " " + (columns[i].width < 0 ? cells[i] + padding : padding + cells[i]);
  }
  std::printf("%s\n", line.substr(0, line.find_last_not_of(' ') + 1).c_str());
  std::fflush(stdout);
}

std::vector<std::string> names_of(const std::vector<Column> &columns) {
  std::vector<std::string> names;
  for (const Column &column : columns) names.push_back(column.name);
  return names;
}

}  // namespace

std::vector<Column> with_ratio(std::vector<Column> columns) {
  columns.insert(columns.end(), {{"ratio", 6}, {"measure", -30}, {"target", -1}});
  return columns;
}

std::string fixed(double value, int digits) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

Report::Report(int count, char **words, const std::string &purpose, const std::vector<Argument> &arguments,
               const char *build)
    : build_(build), command_(words[0]) {
  CLI::App app(purpose);
  for (const Argument &argument : arguments) {
    app.add_option(argument.name, *argument.value, argument.help)
        ->check(CLI::Range(argument.min, argument.max))
        ->capture_default_str();
  }
  app.add_option("--json", json_, "Write the tables as JSON");
  try {
    app.parse(count, words);
  } catch (const CLI::ParseError &problem) {
    std::exit(app.exit(problem) == 0 ? 0 : 2);
  }
  for (int i = 1; i < count; ++i) command_ += std::string(" ") + words[i];
}

void Report::begin(const std::string &name, int threads, const std::string &unit, const std::vector<Column> &columns) {
  if (tables_.empty()) std::printf("%s\n", build_.c_str());
  threads_ = std::max(threads_, threads);
  load_ = std::max(load_, load_average());
  const std::string place = unit + ", on " + std::to_string(threads) + (threads == 1 ? " thread" : " threads");
  std::printf("\n%s: figures are %s; load average %.1f\n", name.c_str(), place.c_str(), load_average());
  print(columns, names_of(columns));
  tables_.push_back({name, place, columns, {}});
}

void Report::add(const std::vector<std::string> &cells) {
  print(tables_.back().columns, cells);
  tables_.back().rows.push_back(cells);
}

void Report::add(std::vector<std::string> cells, double ratio, const std::string &measure, double target,
                 bool is_ceiling) {
  const bool is_reached = is_ceiling ? ratio <= target : ratio >= target;
  targets_ += target != 0;
  reached_ += target != 0 && is_reached;
  const std::string verdict =
      (is_ceiling ? "at most " : "at least ") + fixed(target, 2) + (is_reached ? ": reached" : ": not reached");
  cells.insert(cells.end(), {measure.empty() ? "" : fixed(ratio, 2), measure, target == 0 ? "" : verdict});
  add(cells);
}

int Report::end() const {
  if (targets_ > 0) std::printf("\n%d of %d targets reached\n", reached_, targets_);
  if (json_.empty()) return 0;
  nlohmann::ordered_json report = {{"build", build_},     {"machine", machine()},
                                   {"command", command_}, {"threads", threads_},
                                   {"load", load_},       {"tables", nlohmann::ordered_json::object()}};
  for (const Table &table : tables_) {
    report["tables"][table.name] = {{"unit", table.unit}, {"columns", names_of(table.columns)}, {"rows", table.rows}};
  }
  std::ofstream file(json_);
  if (file << report.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) << "\n" << std::flush) return 0;
  std::fprintf(stderr, "%s cannot be written\n", json_.c_str());
  return 1;
}

}  // namespace lpt::bench
