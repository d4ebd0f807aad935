// Speed of LPT on a GPU, compared with a memory copy and with cuBLASLt if available. Uses only lpt.h. Unsupported operations
// are omitted with the reason. scripts/gpu runs the benchmark and evaluates its results.
//
//   gpu_bench [--tiny] [--cpu] [--seconds N] [--once] [--json FILE] [GROUP...]
//
// --tiny       small sizes, each once: a rehearsal without meaningful results
// --cpu        runs on the CPU instead of a GPU, to test the calls
// --seconds N  starts no group after that time, and lists the omitted groups
// --once       runs every operation once without timing, for a profiler
//
// Exit status 77: no GPU, with the reason; 1: a call failed with a status other than unsupported.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "bench/gpu/groups.hpp"
#include "bench/peaks.hpp"

namespace lpt::bench {
namespace {

constexpr int kSkipped = 77;

struct Settings {
  bool is_tiny = false, is_on_cpu = false, is_once = false;
  double seconds = 1e9;
  const char *json = nullptr;
  std::vector<std::string> groups;  // empty: all
};

bool is_requested(const Settings &requests, const char *group) {
  if (requests.groups.empty()) return true;
  for (const std::string &name : requests.groups) {
    if (name == group) return true;
  }
  return false;
}

// Unsupported operations and missing peers are not failures.
bool has_failed(const Contender &contender) {
  const std::string unsupported = lpt_status_string(LPT_UNSUPPORTED);
  const bool is_own = contender.who.compare(0, 8, "cublaslt") != 0;
  return is_own && !contender.missing.empty() && contender.missing.compare(0, unsupported.size(), unsupported) != 0;
}

void print(const Contender &one) {
  if (!one.missing.empty()) {
    std::printf("  %-32s left out: %s\n", one.who.c_str(), one.missing.c_str());
    return;
  }
  std::printf("  %-32s %11.2f us  +-%3.0f %%", one.who.c_str(), one.seconds * 1e6, one.spread * 50);
  if (one.bytes != 0) std::printf(" %8.1f GB/s", one.bytes / one.seconds * 1e-9);
  if (one.flops != 0) std::printf(" %8.1f TFLOP/s", one.flops / one.seconds * 1e-12);
  if (one.is_host_cost) std::printf("  of the CPU");
  std::printf("\n");
}

std::string quoted(const std::string &text) {
  std::string result = "\"";
  for (const char character : text) {
    if (character == '"' || character == '\\') result += '\\';
    result += character == '\n' ? ' ' : character;
  }
  return result + "\"";
}

std::string json_of(const char *group, const Contender &one) {
  char figures[256];
  std::snprintf(figures, sizeof figures,
                ", \"seconds\": %.9g, \"spread\": %.4g, \"bytes\": %.17g, \"flops\": %.17g, \"elements\": %.17g",
                one.seconds, one.spread, one.bytes, one.flops, one.elements);
  return "{\"group\": " + quoted(group) + ", \"who\": " + quoted(one.who) +
         (one.missing.empty() ? figures : ", \"missing\": " + quoted(one.missing)) + "}";
}

class Report {
 public:
  void add(const char *group, const std::vector<Contender> &contenders) {
    for (const Contender &one : contenders) {
      print(one);
      rows_ += (rows_.empty() ? "\n  " : ",\n  ") + json_of(group, one);
      failures_ += has_failed(one);
    }
    std::fflush(stdout);
  }
  void leave_out(const char *group) { left_out_ += (left_out_.empty() ? "" : ", ") + quoted(group); }
  int failures() const { return failures_; }

  bool save(const char *path, const Machine &machine, const std::string &peer) const {
    std::FILE *const file = std::fopen(path, "w");
    if (file == nullptr) return false;
    std::fprintf(file,
                 "{\"device\": %s, \"is_rehearsal\": %s, \"build\": %s, \"cublaslt\": %s,\n \"left_out\": [%s],\n "
                 "\"rows\": [%s]}\n",
                 quoted(machine.name()).c_str(), machine.is_tiny() ? "true" : "false", quoted(lpt_build_info()).c_str(),
                 quoted(peer).c_str(), left_out_.c_str(), rows_.c_str());
    return std::fclose(file) == 0;
  }

 private:
  std::string rows_, left_out_;
  int failures_ = 0;
};

// If the operands of a group cannot be created, the complete group is missing.
std::vector<Contender> contenders_of(const Group &group, const Machine &machine, Cublaslt &peer) {
  try {
    return group.make(machine, peer);
  } catch (const Missing &why) {
    Contender all;
    all.who = "all";
    all.missing = why.what();
    return {all};
  }
}

void run_once(const Machine &machine, std::vector<Contender> &contenders) {
  for (Contender &one : contenders) {
    if (!one.run) continue;
    try {
      one.run();
      machine.synchronize();
    } catch (const Missing &why) {
      std::printf("  %s is left out: %s\n", one.who.c_str(), why.what());
    }
  }
}

void run_groups(const Settings &requests, Machine &machine, Cublaslt &peer, Report &report) {
  const double begin = now();
  for (const std::span<const Group> groups : {memory_groups(), gemm_groups()}) {
    for (const Group &group : groups) {
      if (!is_requested(requests, group.name)) continue;
      if (now() - begin > requests.seconds) {
        report.leave_out(group.name);
        continue;
      }
      std::printf("%s\n", group.name);
      if (group.variable != nullptr) machine.enable(group.variable);
      std::vector<Contender> contenders = contenders_of(group, machine, peer);
      if (requests.is_once) {
        run_once(machine, contenders);
        continue;
      }
      race(machine, contenders);
      report.add(group.name, contenders);
    }
  }
}

int main_of(const Settings &requests) {
  try {
    Machine machine(requests.is_on_cpu ? LPT_DEVICE_CPU : LPT_DEVICE_CUDA, requests.is_tiny);
    Cublaslt peer(machine);
    std::printf("%s on %s; %s%s\n", lpt_build_info(), machine.name().c_str(), peer.text().c_str(),
                machine.is_tiny() ? "\na rehearsal: the figures mean nothing" : "");
    Report report;
    run_groups(requests, machine, peer, report);
    if (requests.json != nullptr && !report.save(requests.json, machine, peer.text())) {
      std::fprintf(stderr, "gpu_bench: %s cannot be written\n", requests.json);
      return 1;
    }
    return report.failures() == 0 ? 0 : 1;
  } catch (const Missing &why) {
    std::printf("no GPU: %s\n", why.what());
    return kSkipped;
  }
}

bool read_arguments(int count, char **arguments, Settings &out) {
  for (int i = 1; i < count; ++i) {
    const std::string argument = arguments[i];
    const bool has_value = argument == "--seconds" || argument == "--json";
    if (has_value && i + 1 == count) return false;
    if (argument == "--tiny") {
      out.is_tiny = true;
    } else if (argument == "--cpu") {
      out.is_on_cpu = true;
    } else if (argument == "--once") {
      out.is_once = true;
    } else if (argument == "--seconds") {
      out.seconds = std::atof(arguments[++i]);
    } else if (argument == "--json") {
      out.json = arguments[++i];
    } else if (argument[0] == '-') {
      return false;
    } else {
      out.groups.push_back(argument);
    }
  }
  return true;
}

}  // namespace
}  // namespace lpt::bench

int main(int count, char **arguments) {
  lpt::bench::Settings requests;
  if (lpt::bench::read_arguments(count, arguments, requests)) return lpt::bench::main_of(requests);
  std::fprintf(stderr, "usage: gpu_bench [--tiny] [--cpu] [--seconds N] [--once] [--json FILE] [GROUP...]\n");
  return 2;
}
