#include "plans.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "json_file.hpp"

namespace tool {
namespace {

using nlohmann::json;

constexpr int64_t kMostSize = int64_t{1} << 26;

struct Size {
  const char *option, *member;  // of `lpt plan`, and of config.json
  int64_t ModelSize::*size;
};
constexpr Size kSizes[] = {{"--layers", "num_hidden_layers", &ModelSize::layers},
                           {"--width", "hidden_size", &ModelSize::width},
                           {"--hidden", "intermediate_size", &ModelSize::hidden},
                           {"--heads", "num_attention_heads", &ModelSize::heads},
                           {"--key-value-heads", "num_key_value_heads", &ModelSize::key_value_heads},
                           {"--vocabulary", "vocab_size", &ModelSize::vocabulary}};

void read_config(const std::string &path, ModelSize &model) {
  const json config = read_json_object(path);
  const auto number = [&](const char *name) -> int64_t {
    const auto found = config.find(name);
    if (found == config.end()) return 0;
    if (!found->is_number_integer()) {
      throw Error(
          fmt::format("{}: {} is {}: expected an integer", in_quotes(path), name, shortened(found->dump(), 60)));
    }
    return found->get<int64_t>();
  };
  for (const Size &size : kSizes) {
    if (model.*size.size == 0) model.*size.size = number(size.member);
  }
  const int64_t head_width = number("head_dim");
  if (head_width != 0 && head_width * model.heads != model.width) {
    throw Error(fmt::format("{}: head_dim is {}: expected hidden_size / num_attention_heads, {} / {}", in_quotes(path),
                            head_width, model.width, model.heads));
  }
}

ModelSize model_of(const PlanOptions &options) {
  ModelSize model = options.model;
  if (!options.config.empty()) read_config(options.config, model);
  if (model.key_value_heads == 0) model.key_value_heads = model.heads;
  for (const Size &size : kSizes) {
    const int64_t value = model.*size.size;
    if (value < 1 || value > kMostSize) {
      throw Error(fmt::format("{} is {}: expected 1 to {}", size.option, value, kMostSize));
    }
  }
  if (model.width % model.heads != 0 || model.heads % model.key_value_heads != 0) {
    throw Error(fmt::format("--width is {}, --heads {} and --key-value-heads {}: expected each a multiple of the next",
                            model.width, model.heads, model.key_value_heads));
  }
  return model;
}

bool is_allowed(const std::vector<int64_t> &allowed, int64_t ranks) {
  return allowed.empty() || std::find(allowed.begin(), allowed.end(), ranks) != allowed.end();
}

// Calls `visit` for each divisor of `number`.
template <typename Visit>
void for_divisors(int64_t number, const Visit &visit) {
  for (int64_t divisor = 1; divisor <= number; ++divisor) {
    if (number % divisor == 0) visit(divisor);
  }
}

// Generates divisions, and selects the number of micro-batches of each.
class Search {
 public:
  Search(const PlanOptions &options, const ModelSize &model, const Machine &machine)
      : options_(options), model_(model), machine_(machine), plan_model_(model, machine) {}

  std::vector<RankedPlan> run() {
    const int64_t common =
        std::gcd(std::gcd(model_.heads, model_.key_value_heads), std::gcd(model_.hidden, model_.vocabulary));
    for_divisors(options_.ranks, [&](int64_t tensor) {
      if (common % tensor != 0 || !is_allowed(options_.tensor, tensor)) return;
      for_divisors(options_.ranks / tensor, [&](int64_t pipeline) {
        const int64_t data = options_.ranks / tensor / pipeline;
        if (pipeline > model_.layers || options_.batch % data != 0 || !is_allowed(options_.pipeline, pipeline)) return;
        Division division;
        division.tensor = tensor;
        division.pipeline = pipeline;
        division.data = data;
        add_formats(division);
      });
    });
    if (found_.empty()) throw_none();
    std::stable_sort(found_.begin(), found_.end(), [](const RankedPlan &a, const RankedPlan &b) {
      return a.cost.step_seconds < b.cost.step_seconds;
    });
    return std::move(found_);
  }

 private:
  // Options of tensor ranks have no effect on one rank, and so on.
  void add_formats(Division division) {
    static const std::vector<double> kAll = {1};
    static const std::vector<std::string> kF32 = {"f32"};
    for (const std::string &recipe : options_.recipes) {
      for (const std::string &moments : options_.moments) {
        for (const double share : division.tensor > 1 ? options_.shares : kAll) {
          for (const std::string &wire : division.tensor > 1 && share > 0 ? options_.wires : kF32) {
            for (const std::string &gradient_wire : division.data > 1 ? options_.gradient_wires : kF32) {
              for (int32_t zero = 0; zero <= (division.data > 1 ? 1 : 0); ++zero) {
                division.recipe = recipe;
                division.moments = moments;
                division.share = share;
                division.wire = wire;
                division.gradient_wire = gradient_wire;
                division.zero = zero;
                add_fastest(division);
              }
            }
          }
        }
      }
    }
  }

  void add_fastest(Division division) {
    const int64_t sequences = options_.batch / division.data;
    RankedPlan best;
    best.cost.step_seconds = INFINITY;
    for_divisors(sequences, [&](int64_t micro_batches) {
      if (!is_allowed(options_.micro_batches, micro_batches)) return;
      division.micro_batches = micro_batches;
      division.sequences = sequences / micro_batches;
      const PlanCost cost = plan_model_.cost(division);
      least_bytes_ = std::min(least_bytes_, cost.memory_bytes);
      const bool fits = machine_.memory_bytes == 0 || cost.memory_bytes <= machine_.memory_bytes;
      if (fits && cost.step_seconds < best.cost.step_seconds) best = {division, cost};
    });
    if (std::isfinite(best.cost.step_seconds)) found_.push_back(best);
  }

  [[noreturn]] void throw_none() const {
    if (std::isinf(least_bytes_)) {
      throw Error(fmt::format(
          "no plan has {} ranks: tensor ranks divide {} heads, {} key-value heads, {} hidden columns and {} classes, "
          "stages are at most {} layers, and data ranks divide {} sequences",
          options_.ranks, model_.heads, model_.key_value_heads, model_.hidden, model_.vocabulary, model_.layers,
          options_.batch));
    }
    throw Error(fmt::format("no plan fits the memory of a rank, {}: the least is {}",
                            size_text(static_cast<uint64_t>(machine_.memory_bytes)),
                            size_text(static_cast<uint64_t>(least_bytes_))));
  }

  const PlanOptions &options_;
  const ModelSize &model_;
  const Machine &machine_;
  PlanModel plan_model_;
  std::vector<RankedPlan> found_;
  double least_bytes_ = INFINITY;
};

double sent_bytes(const PlanCost &cost) { return cost.tensor_bytes + cost.pipeline_bytes + cost.data_bytes; }

std::string bytes_text(double bytes) { return size_text(static_cast<uint64_t>(bytes)); }

std::string seconds_text(double seconds) {
  return seconds < 1 ? fmt::format("{:.4g} ms", 1e3 * seconds) : fmt::format("{:.4g} s", seconds);
}

std::string plans_table(const std::vector<RankedPlan> &plans, double tokens) {
  const bool has_energy = plans.front().cost.joules > 0;
  std::vector<std::string> head = {"recipe", "moments", "TP",     "PP",   "DP",   "ZeRO",    "micro-batches",
                                   "CAAT",   "wires",   "memory", "sent", "step", "tokens/s"};
  if (has_energy) head.emplace_back("joules");
  Table table(head, 2);
  for (const RankedPlan &plan : plans) {
    const Division &division = plan.division;
    std::vector<std::string> row = {
        division.recipe,
        division.moments,
        std::to_string(division.tensor),
        std::to_string(division.pipeline),
        std::to_string(division.data),
        std::to_string(division.zero),
        fmt::format("{} x {}", division.micro_batches, division.sequences),
        fmt::format("{:g}", division.share),
        fmt::format("{}, {}", division.wire, division.gradient_wire),
        bytes_text(plan.cost.memory_bytes),
        bytes_text(sent_bytes(plan.cost)),
        seconds_text(plan.cost.step_seconds),
        plan.cost.step_seconds > 0 ? fmt::format("{:.0f}", tokens / plan.cost.step_seconds) : "-"};
    if (has_energy) row.push_back(fmt::format("{:.4g}", plan.cost.joules));
    table.add(row);
  }
  return table.text();
}

json json_of(const RankedPlan &plan, double tokens) {
  const Division &division = plan.division;
  const PlanCost &cost = plan.cost;
  return {{"recipe", division.recipe},
          {"moments", division.moments},
          {"tensor", division.tensor},
          {"pipeline", division.pipeline},
          {"data", division.data},
          {"zero", division.zero},
          {"micro_batches", division.micro_batches},
          {"sequences", division.sequences},
          {"share", division.share},
          {"wire", division.wire},
          {"gradient_wire", division.gradient_wire},
          {"memory_bytes", cost.memory_bytes},
          {"weight_bytes", cost.weight_bytes},
          {"cast_bytes", cost.cast_bytes},
          {"gradient_bytes", cost.gradient_bytes},
          {"optimizer_bytes", cost.optimizer_bytes},
          {"activation_bytes", cost.activation_bytes},
          {"scratch_bytes", cost.scratch_bytes},
          {"tensor_bytes", cost.tensor_bytes},
          {"pipeline_bytes", cost.pipeline_bytes},
          {"data_bytes", cost.data_bytes},
          {"step_seconds", cost.step_seconds},
          {"linear_seconds", cost.linear_seconds},
          {"attention_seconds", cost.attention_seconds},
          {"elementwise_seconds", cost.elementwise_seconds},
          {"tensor_seconds", cost.tensor_seconds},
          {"pipeline_seconds", cost.pipeline_seconds},
          {"bubble_seconds", cost.bubble_seconds},
          {"data_seconds", cost.data_seconds},
          {"optimizer_seconds", cost.optimizer_seconds},
          {"tokens_per_second", cost.step_seconds > 0 ? json(tokens / cost.step_seconds) : json(nullptr)},
          {"flops", cost.flops},
          {"alpha", cost.alpha},
          {"joules", cost.joules}};
}

}  // namespace

std::vector<RankedPlan> find_plans(const PlanOptions &options, const ModelSize &model, const Machine &machine) {
  return Search(options, model, machine).run();
}

std::string plan_name(const Division &division) {
  std::string name = division.recipe;
  const auto add = [&](const char *kind, int64_t ranks) {
    if (ranks > 1) name += fmt::format(" {} {}", kind, ranks);
  };
  add("TP", division.tensor);
  add("PP", division.pipeline);
  add("DP", division.data);
  if (division.zero != 0) name += fmt::format(" ZeRO {}", division.zero);
  if (division.share != 1) name += fmt::format(" CAAT {:g}", division.share);
  if (division.wire != "f32") name += " " + division.wire;
  if (division.gradient_wire != "f32") name += " gradients " + division.gradient_wire;
  return name + fmt::format(", {} x {}", division.micro_batches, division.sequences);
}

void plan(const PlanOptions &options) {
  check_text_target(options.json, {options.machine});
  check_text_target(options.picture, {options.machine});
  const Machine machine = read_machine(options.machine);
  const ModelSize model = model_of(options);
  std::vector<RankedPlan> plans = find_plans(options, model, machine);
  const size_t count = plans.size();
  if (options.top > 0 && count > static_cast<size_t>(options.top)) plans.resize(static_cast<size_t>(options.top));
  const double tokens = static_cast<double>(options.batch) * static_cast<double>(model.sequence);
  print_out("{:.4g} parameters, {} x {} tokens in a step, {} rank{}: {} plan{}, the fastest first\n",
            model.parameters(), options.batch, model.sequence, options.ranks, options.ranks == 1 ? "" : "s", count,
            count == 1 ? "" : "s");
  print_out("{}", plans_table(plans, tokens));
  if (!options.json.empty()) {
    json file = {{"parameters", model.parameters()}, {"ranks", options.ranks}, {"plans", json::array()}};
    for (const RankedPlan &one : plans) file["plans"].push_back(json_of(one, tokens));
    write_text(options.json, file.dump(1) + "\n");
  }
  if (!options.picture.empty()) write_text(options.picture, plans_picture(plans, model, options.batch));
}

}  // namespace tool
