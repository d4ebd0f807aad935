// lpt bench step: the times of the operations of a training step, from which `lpt plan` computes the time of a step.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "bench.hpp"
#include "bench/peaks.hpp"
#include "comm_race.hpp"
#include "file.hpp"
#include "handles.hpp"
#include "machine.hpp"
#include "rank_team.hpp"
#include "status_line.hpp"
#include "step_work.hpp"
#include "text.hpp"

namespace tool {
namespace {

constexpr LinearShape kLinearShapes[] = {
    {256, 128, 128},   {1024, 128, 384}, {1024, 352, 128},  {1024, 128, 704},   {2048, 64, 256},  {512, 256, 1408},
    {1024, 704, 256},  {512, 512, 512},  {1024, 512, 1536}, {512, 1408, 512},   {256, 512, 2816}, {1024, 256, 768},
    {256, 1024, 1024}, {512, 1024, 768}, {512, 3072, 640},  {1024, 1024, 1024}, {512, 640, 3072}, {2048, 128, 1024},
};
constexpr AttentionShape kAttentionShapes[] = {{8, 4, 128, 32}, {8, 2, 128, 32}, {4, 8, 256, 64},  {4, 4, 256, 64},
                                               {4, 4, 256, 32}, {2, 4, 512, 64}, {1, 4, 1024, 64}, {2, 2, 512, 128}};
constexpr ElementwiseShape kMatrixShapes[] = {{256, 128}, {1024, 128}, {1024, 352},
                                              {512, 704}, {1024, 512}, {1024, 1024}};
constexpr int64_t kParameters[] = {int64_t{1} << 14, int64_t{1} << 18, int64_t{1} << 20, int64_t{1} << 22};

// An operation on one shape.
struct StepTask {
  OperationTimes Machine::*kind;
  std::string name;
  StepWork work;
  std::vector<double> seconds;  // of one copy, of each sweep
};

// Shapes are measured in sweeps, so that a slow moment of the machine does not change one operation relative to another.
constexpr int kSweeps = 3;
constexpr double kFlopsOfSecond = 1e12, kElementsOfSecond = 2e9;  // limits of shapes, for the seconds of a measurement

class StepBench {
 public:
  explicit StepBench(const BenchStepOptions &options)
      : options_(options),
        team_{options.ranks, options.threads, options.seconds / kSweeps},
        status_(options.is_quiet) {}

  Machine run() {
    add_tasks();
    measure();
    for (const StepTask &task : tasks_) {
      OperationTimes &times = machine_.*task.kind;
      if (!times.contains(task.name)) times[task.name] = fitted(task);
    }
    if (options_.ranks > 1) measure_links();
    return machine_;
  }

 private:
  // The requested recipes, and those of their heads.
  std::set<std::string> recipes() const {
    std::set<std::string> names = attention_formats();
    names.insert(options_.recipes.begin(), options_.recipes.end());
    return names;
  }

  std::set<std::string> attention_formats() const {
    std::set<std::string> formats;
    for (const std::string &name : options_.recipes) formats.insert(high_format(name));
    return formats;
  }

  // Leaves out large shapes if there is little time.
  bool add(OperationTimes Machine::*kind, const std::string &name, StepWork work) {
    const OperationTime &counts = work.counts;
    const double elements = counts.elements + counts.outputs + counts.weights;
    const double seconds = std::max(counts.flops / kFlopsOfSecond, elements / kElementsOfSecond) * work.copies;
    if (seconds > options_.seconds) return false;
    tasks_.push_back({kind, name, std::move(work), {}});
    return true;
  }

  void add_tasks() {
    for (const std::string &recipe : recipes()) {
      for (const LinearShape &shape : kLinearShapes) {
        if (add(&Machine::linear, recipe, linear_work(recipe, shape))) {
          add(&Machine::prepare, recipe, prepare_work(recipe, shape));
        }
      }
    }
    for (const std::string &format : attention_formats()) {
      for (const AttentionShape &shape : kAttentionShapes) {
        add(&Machine::attention, format, attention_work(find_format(format), shape));
      }
    }
    for (const char *name : kElementwiseNames) {
      std::map<std::string, lpt_format> formats;  // by name: embedding and loss have one
      for (const std::string &format : attention_formats()) {
        formats[elementwise_name(name, format)] = find_format(format);
      }
      for (const auto &[full_name, format] : formats) {
        for (const ElementwiseShape &shape : kMatrixShapes) {
          add(&Machine::elementwise, full_name, elementwise_work(name, format, shape));
        }
      }
    }
    for (const std::string &moments : options_.moments) {
      const auto [first, second] = moment_formats(moments);
      for (const int64_t elements : kParameters) {
        add(&Machine::optimizer, moments, optimizer_work(first, second, elements));
      }
    }
  }

  void measure() {
    const double count = kSweeps * static_cast<double>(tasks_.size());
    double done = 0;
    for (int sweep = 0; sweep < kSweeps; ++sweep) {
      for (StepTask &task : tasks_) {
        status_.tell(done++ / count, task.name);
        task.seconds.push_back(time_together(team_, task.work.make) / task.work.copies);
      }
    }
    status_.clear();
  }

  static std::string kind_text(OperationTimes Machine::*kind) {
    if (kind == &Machine::linear) return "linear ";
    if (kind == &Machine::prepare) return "prepare ";
    if (kind == &Machine::attention) return "attention ";
    return kind == &Machine::optimizer ? "optimizer " : "";
  }

  // Fits all shapes of an operation.
  OperationTime fitted(const StepTask &first) {
    std::vector<TimedCall> calls;
    for (StepTask &task : tasks_) {
      if (task.kind != first.kind || task.name != first.name) continue;
      std::sort(task.seconds.begin(), task.seconds.end());
      calls.push_back({task.work.counts, task.seconds[task.seconds.size() / 2]});
    }
    return fitted(kind_text(first.kind) + first.name, calls);
  }

  // Prints the fit, and its largest error on the calls.
  static OperationTime fitted(const std::string &name, const std::vector<TimedCall> &calls) {
    const OperationTime time = fit_time(calls);
    double worst = 1;
    for (const TimedCall &call : calls) {
      const double ratio = seconds_of(time, call.counts) / call.seconds;
      worst = std::max({worst, ratio, 1 / ratio});
    }
    std::string text;
    for (const TimeTerm &term : kTimeTerms) {
      const double seconds = time.*term.seconds;
      if (seconds == 0) continue;
      text += fmt::format("{}{} {:.3g}", text.empty() ? "" : ", ", term.name, term.is_rate ? 1 / seconds : seconds);
    }
    print_out("{:<24} {}; within a factor of {:.2f} on {} shapes\n", name, text, worst, calls.size());
    flush_out();
    return time;
  }

  // All-reduces of f32 give the link. With a wire format, the time beyond that of the link is that of casts.
  void measure_links() {
    std::vector<CommTask> tasks;
    std::vector<lpt_format> wires = {LPT_FORMAT_NONE};
    for (const std::string &name : options_.wires) wires.push_back(find_format(name));
    for (const lpt_format wire : wires) {
      for (const int64_t bytes : {1 << 12, 1 << 14, 1 << 16, 1 << 18, 1 << 20, 1 << 22}) {
        tasks.push_back({LPT_COST_COLLECTIVE_ALL_REDUCE, LPT_FORMAT_F32, bytes, wire});
      }
    }
    std::vector<CommTime> times(tasks.size());
    CommRace racing{options_.ranks,        options_.threads,        options_.seconds,
                    LPT_COMM_OPTIONS_INIT, LPT_COMM_EMULATION_INIT, nullptr};
    racing.on_time = [&](size_t i, const CommTime &time) { times[i] = time; };
    race(racing, tasks);
    const size_t sizes = tasks.size() / wires.size();
    std::vector<double> bytes, seconds;
    for (size_t i = 0; i < sizes; ++i) {
      bytes.push_back(times[i].rank_bytes / 2);  // two steps
      seconds.push_back(times[i].seconds / 2);
    }
    const Context context = make_context(1);
    LinkLevel level;
    level.ranks = options_.ranks;
    check(context.get(),
          lpt_cost_fit_link(context.get(), bytes.data(), seconds.data(), static_cast<int64_t>(sizes), &level.link));
    machine_.links.push_back(level);
    print_out("{:<24} {:.2f} us, {:.3f} GB/s of a rank\n", "link", 1e6 * level.link.latency_seconds,
              1e-9 * level.link.bytes_per_second);
    for (size_t w = 1; w < wires.size(); ++w) {
      std::vector<TimedCall> calls;
      for (size_t i = w * sizes; i < (w + 1) * sizes; ++i) {
        const double steps = options_.ranks == 2 ? 1 : 2;
        const double sent = steps * level.link.latency_seconds + times[i].rank_bytes / level.link.bytes_per_second;
        const double casts = std::max(times[i].seconds - sent, 0.01 * times[i].seconds);
        calls.push_back({{.call = 1, .elements = times[i].bytes / 4}, casts});
      }
      machine_.wires[options_.wires[w - 1]] = fitted("casts to " + options_.wires[w - 1], calls);
    }
  }

  const BenchStepOptions &options_;
  RankTeam team_;
  StatusLine status_;
  std::vector<StepTask> tasks_;
  Machine machine_;
};

}  // namespace

void bench_step(const BenchStepOptions &options) {
  check_text_target(options.json);
  const double load = lpt::bench::load_average();
  print_out("{} rank{} of {} thread{} at the same time, load average {:.1f}; {}\n", options.ranks,
            options.ranks == 1 ? "" : "s", options.threads, options.threads == 1 ? "" : "s", load, lpt_build_info());
  const Machine machine = StepBench(options).run();
  const std::map<std::string, std::string> comments = {{"build", lpt_build_info()},
                                                       {"ranks", std::to_string(options.ranks)},
                                                       {"threads", std::to_string(options.threads)},
                                                       {"load", fmt::format("{:.1f}", load)}};
  if (!options.json.empty()) write_text(options.json, machine_json(machine, comments));
}

}  // namespace tool
