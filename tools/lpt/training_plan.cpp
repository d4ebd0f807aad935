#include "training_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "text.hpp"

namespace tool {
namespace {

using Recipe = std::unique_ptr<lpt_recipe, Destroy<lpt_recipe_destroy>>;
using Linear = std::unique_ptr<lpt_linear, Destroy<lpt_linear_destroy>>;

constexpr double kFloat = 4, kDouble = 8;
constexpr double kSmallBytes = 65536;       // lpt_all_reduce() sends such casts to all ranks at once
constexpr double kBackwardShare = 2.0 / 3;  // of forward and backward

double real(int64_t value) { return static_cast<double>(value); }

const OperationTime &find(const OperationTimes &times, const char *kind, const std::string &name) {
  const auto found = times.find(name);
  if (found != times.end()) return found->second;
  std::string known;
  for (const auto &[other, time] : times) known += (known.empty() ? "" : ", ") + shortened(other, 40);
  throw Error(fmt::format("the machine has no time of {}.{}: {}", kind, shortened(name, 40),
                          known.empty() ? "expected a machine with this time" : "expected one of " + known));
}

// Returns the bytes of elements with their scales.
double payload_bytes(lpt_context *context, lpt_format format, double elements) {
  if (format == LPT_FORMAT_DYNAMIC_1X256) return elements * (1 + kFloat / 256);
  lpt_cost_info info = LPT_COST_INFO_INIT;
  check(context, lpt_cost_estimate(context, LPT_COST_COLLECTIVE_ALL_REDUCE, LPT_COST_ALGORITHM_TWO_SHOT, 1,
                                   static_cast<int64_t>(elements), format, nullptr, &info));
  return info.payload_bytes;
}

// Bytes that one rank sends, and seconds.
struct Sent {
  double bytes = 0, seconds = 0;

  Sent &operator+=(const Sent &other) {
    bytes += other.bytes;
    seconds += other.seconds;
    return *this;
  }
  Sent times(double count) const { return {bytes * count, seconds * count}; }
};

// Costs of one micro-batch and one step in a stage.
struct Stage {
  double linear = 0, attention = 0, elementwise = 0;  // seconds of a micro-batch
  double linear_flops = 0, flops = 0;                 // of a micro-batch on one rank
  Sent tensor_pass, tensor_step, pipeline, data;
  double optimizer = 0;
  double weights = 0, casts = 0, gradients = 0, moments = 0, activations = 0, scratch = 0;  // bytes

  double pass_seconds() const { return linear + attention + elementwise + tensor_pass.seconds + pipeline.seconds; }
  double memory() const { return weights + casts + gradients + moments + activations + scratch; }
};

}  // namespace

// One division of the model.
class PlanEstimate {
 public:
  PlanEstimate(PlanModel &plan, const Division &division)
      : plan_(plan),
        model_(plan.model_),
        machine_(plan.machine_),
        division_(division),
        high_(high_format(division.recipe)) {
    rows_ = division.sequences * model_.sequence;
    query_ = model_.width / division.tensor;
    key_ = model_.key_width() / division.tensor;
    hidden_ = model_.hidden / division.tensor;
    classes_ = model_.vocabulary / division.tensor;
    shared_ = std::floor(division.share * real(model_.width));
  }

  PlanCost cost() {
    PlanCost sum;
    Stage slowest;
    double longest = -1;
    for (int64_t i = 0; i < division_.pipeline; ++i) {
      const Stage stage = stage_of(i);
      const double seconds = step_seconds(stage);
      if (seconds > longest) longest = seconds, slowest = stage;
      add_memory(stage, sum);
      sum.flops += stage.flops * real(division_.micro_batches * division_.tensor * division_.data);
      sum.tensor_bytes = std::max(sum.tensor_bytes, tensor_bytes(stage));
      sum.pipeline_bytes = std::max(sum.pipeline_bytes, real(division_.micro_batches) * stage.pipeline.bytes);
      sum.data_bytes = std::max(sum.data_bytes, stage.data.bytes);
    }
    write_times(slowest, sum);
    const double ranks = real(division_.tensor * division_.data * division_.pipeline);
    sum.joules = machine_.joules_per_flop * sum.flops + machine_.watts * ranks * sum.step_seconds +
                 machine_.joules_per_byte * ranks * (sum.tensor_bytes + sum.pipeline_bytes + sum.data_bytes);
    return sum;
  }

 private:
  // Layers of the stage: the first stages have one more if they do not divide evenly.
  int64_t layers_of(int64_t stage) const {
    const int64_t stages = division_.pipeline;
    return model_.layers / stages + (stage < model_.layers % stages ? 1 : 0);
  }

  Stage stage_of(int64_t index) {
    const bool is_first = index == 0, is_last = index + 1 == division_.pipeline;
    const double layers = real(layers_of(index));
    Stage stage;
    double parameters = 0;
    add_layers(layers, stage, parameters);
    if (is_last) add_head(stage, parameters);
    const double in_flight = real(std::min(division_.micro_batches, division_.pipeline - index));
    stage.activations *= in_flight;
    stage.linear_flops = stage.flops;
    add_attention(layers, stage);
    add_elementwise(layers, is_first, is_last, stage);
    double norms = layers * 2 * real(model_.width) + (is_last ? real(model_.width) : 0);
    if (is_first) parameters += real(model_.vocabulary * model_.width);
    parameters += norms;
    add_tensor(layers, norms, is_first, is_last, stage);
    add_pipeline(is_first, is_last, stage);
    add_data(parameters, stage);
    add_state(parameters, stage);
    stage.scratch = scratch_bytes();
    return stage;
  }

  // Time, FLOPs and bytes of `count` equal linear layers.
  void add_linear(const std::string &recipe, double count, int64_t inputs, int64_t outputs, Stage &stage,
                  double &parameters) {
    const OperationTime counts = {.call = 1,
                                  .flops = 6 * real(rows_) * real(inputs) * real(outputs),
                                  .elements = real(rows_ * inputs),
                                  .outputs = real(rows_ * outputs),
                                  .weights = real(inputs) * real(outputs)};
    const auto bytes = plan_.linear_bytes(recipe, rows_, inputs, outputs);
    stage.linear += count * seconds_of(find(machine_.linear, "linear", recipe), counts);
    stage.flops += count * counts.flops;
    stage.casts += count * bytes.cast;
    stage.activations += count * bytes.saved;
    const OperationTime weights = {.call = 1, .weights = counts.weights};
    const auto prepare = machine_.prepare.find(recipe);
    if (prepare != machine_.prepare.end()) stage.optimizer += count * seconds_of(prepare->second, weights);
    parameters += count * counts.weights;
  }

  void add_layers(double layers, Stage &stage, double &parameters) {
    const std::string &recipe = division_.recipe;
    add_linear(recipe, layers, model_.width, query_ + 2 * key_, stage, parameters);
    add_linear(recipe, layers, query_, model_.width, stage, parameters);
    add_linear(recipe, layers, model_.width, 2 * hidden_, stage, parameters);
    add_linear(recipe, layers, hidden_, model_.width, stage, parameters);
    const double inside = element_bytes() * real(rows_) * real(2 * query_ + 2 * key_ + 2 * hidden_);
    const double log_sums = kFloat * real(rows_) * real(model_.heads / division_.tensor);
    const double stream = 2 * kFloat * real(rows_) * real(model_.width + 1);  // inputs of both norms, with their rms
    stage.activations += layers * (inside + log_sums + stream);
  }

  void add_head(Stage &stage, double &parameters) {
    add_linear(high_, 1, model_.width, classes_, stage, parameters);
    stage.activations += kFloat * real(rows_) * real(model_.width + 1 + classes_);
  }

  void add_attention(double layers, Stage &stage) const {
    const double positions = real(model_.sequence);
    const OperationTime counts = {.call = 1,
                                  .flops = 7 * real(rows_ * query_) * (positions + 1),
                                  .elements = real(rows_) * real(query_ + 2 * key_)};
    stage.attention = layers * seconds_of(find(machine_.attention, "attention", high_), counts);
    stage.flops += layers * counts.flops;
  }

  void add_elementwise(double layers, bool is_first, bool is_last, Stage &stage) const {
    const auto add = [&](const char *name, double count, double columns) {
      auto found = machine_.elementwise.find(elementwise_name(name, high_));
      if (found == machine_.elementwise.end()) found = machine_.elementwise.find(name);
      if (found == machine_.elementwise.end()) return;
      stage.elementwise += count * seconds_of(found->second, {.call = 1, .elements = real(rows_) * columns});
    };
    add(kRmsnorm, 2 * layers + (is_last ? 1 : 0), real(model_.width));
    add(kSwiglu, layers, real(hidden_));
    add(kRotary, layers, real(query_ + key_));
    if (is_first) add(kEmbedding, 1, real(model_.width));
    if (is_last) add(kCrossEntropy, 1, real(classes_));
  }

  // The link of `ranks` ranks whose distance is `stride`: of the first level that contains them.
  const lpt_cost_link &link_of(int64_t stride, int64_t ranks) const {
    static const lpt_cost_link kNone = LPT_COST_LINK_INIT;
    if (machine_.links.empty()) return kNone;
    for (const LinkLevel &level : machine_.links) {
      if (level.ranks >= stride * ranks) return level.link;
    }
    return machine_.links.back().link;
  }

  // A collective of f32, or with casts to a wire format. lpt_all_reduce() casts once for two ranks and for small messages.
  Sent collective(lpt_cost_collective which, int64_t ranks, double elements, const std::string &wire,
                  const lpt_cost_link &link) const {
    if (ranks == 1 || elements == 0) return {};
    const lpt_format format = find_format(wire);
    const bool is_cast = wire != "f32", may_cast_once = which == LPT_COST_COLLECTIVE_ALL_REDUCE && is_cast;
    const bool is_small = payload_bytes(plan_.context_.get(), format, elements) <= kSmallBytes;
    lpt_cost_info info = LPT_COST_INFO_INIT;
    check(plan_.context_.get(),
          lpt_cost_estimate(
              plan_.context_.get(), which,
              may_cast_once && (ranks == 2 || is_small) ? LPT_COST_ALGORITHM_ONE_SHOT : LPT_COST_ALGORITHM_TWO_SHOT,
              static_cast<int32_t>(ranks), static_cast<int64_t>(elements), format, &link, &info));
    Sent sent = {info.rank_bytes, info.seconds};
    if (is_cast) {
      sent.seconds += seconds_of(find(machine_.wires, "wires", wire), {.call = 1, .elements = elements});
    }
    return sent;
  }

  Sent sum_over_tensor(double elements, const std::string &wire = "f32") const {
    return collective(LPT_COST_COLLECTIVE_ALL_REDUCE, division_.tensor, elements, wire, link_of(1, division_.tensor));
  }

  // Both directions reduce the outputs of two layers. The gradient of the first input is reduced once, and the loss and the
  // norms have messages of their own.
  void add_tensor(double layers, double norms, bool is_first, bool is_last, Stage &stage) const {
    if (division_.tensor == 1) return;
    stage.tensor_pass = sum_over_tensor(real(rows_) * shared_, division_.wire).times(4 * layers);
    if (is_first) stage.tensor_pass += sum_over_tensor(real(rows_ * model_.width));
    if (is_last) {
      const double numbers = 4 * kDouble / kFloat * real(rows_ * division_.tensor);
      stage.tensor_pass +=
          collective(LPT_COST_COLLECTIVE_ALL_GATHER, division_.tensor, numbers, "f32", link_of(1, division_.tensor));
    }
    stage.tensor_step = sum_over_tensor(norms);
  }

  // The input and the output of a stage, in both directions.
  void add_pipeline(bool is_first, bool is_last, Stage &stage) const {
    if (division_.pipeline == 1) return;
    const lpt_cost_link &link = link_of(division_.tensor * division_.data, division_.pipeline);
    const double bytes = kFloat * real(rows_ * model_.width), messages = is_first || is_last ? 1.0 : 2.0;
    const double sending = link.bytes_per_second > 0 ? bytes / link.bytes_per_second : 0;
    stage.pipeline = {messages * bytes, 2 * (link.latency_seconds + sending)};
  }

  // Gradients, and with shared states the new weights. Ranks of a level reduce among themselves first if that is faster.
  void add_data(double parameters, Stage &stage) const {
    if (division_.data == 1) return;
    Sent gradients = sum_of_gradients(parameters);
    const double compute = stage.linear + stage.attention + stage.elementwise;
    gradients.seconds = std::max(0.0, gradients.seconds - machine_.overlap * kBackwardShare * compute);
    stage.data = gradients;
    if (division_.zero == 1) {
      stage.data += collective(LPT_COST_COLLECTIVE_ALL_GATHER, division_.data, parameters, "f32",
                               link_of(division_.tensor, division_.data));
    }
  }

  Sent sum_of_gradients(double elements) const {
    const int64_t stride = division_.tensor, ranks = division_.data;
    const std::string &wire = division_.gradient_wire;
    const lpt_cost_link &outer = link_of(stride, ranks);
    Sent best = collective(LPT_COST_COLLECTIVE_ALL_REDUCE, ranks, elements, wire, outer);
    for (const LinkLevel &level : machine_.links) {
      const int64_t near = level.ranks / stride;
      if (near < 2 || near >= ranks || level.ranks % stride != 0 || ranks % near != 0) continue;
      Sent sent = collective(LPT_COST_COLLECTIVE_REDUCE_SCATTER, near, elements, "f32", level.link);
      sent += collective(LPT_COST_COLLECTIVE_ALL_REDUCE, ranks / near, elements / real(near), wire, outer);
      sent += collective(LPT_COST_COLLECTIVE_ALL_GATHER, near, elements, "f32", level.link);
      if (sent.seconds < best.seconds) best = sent;
    }
    return best;
  }

  void add_state(double parameters, Stage &stage) const {
    const double stepped = division_.zero == 1 ? parameters / real(division_.data) : parameters;
    stage.weights = stage.gradients = kFloat * parameters;
    for (const lpt_format moment : moment_formats(division_.moments)) {
      stage.moments += payload_bytes(plan_.context_.get(), moment, stepped);
    }
    stage.optimizer +=
        seconds_of(find(machine_.optimizer, "optimizer", division_.moments), {.call = 1, .elements = stepped});
  }

  // Buffers that layers share: the last addend of the stream and the gradient of the stream; normed, gated, and the gradients of
  // attention and SwiGLU.
  double scratch_bytes() const {
    const int64_t columns = model_.width + 3 * hidden_ + 2 * query_ + 2 * key_;
    return real(rows_) * (kFloat * real(2 * model_.width) + element_bytes() * real(columns));
  }

  // Bytes of an element of the activations inside a block.
  double element_bytes() const { return high_ == "f32" ? kFloat : 2; }

  double step_seconds(const Stage &stage) const {
    return real(division_.micro_batches + division_.pipeline - 1) * stage.pass_seconds() + stage.tensor_step.seconds +
           stage.data.seconds + stage.optimizer;
  }

  double tensor_bytes(const Stage &stage) const {
    return real(division_.micro_batches) * stage.tensor_pass.bytes + stage.tensor_step.bytes;
  }

  static void add_memory(const Stage &stage, PlanCost &sum) {
    if (stage.memory() <= sum.memory_bytes) return;
    sum.weight_bytes = stage.weights;
    sum.cast_bytes = stage.casts;
    sum.gradient_bytes = stage.gradients;
    sum.optimizer_bytes = stage.moments;
    sum.activation_bytes = stage.activations;
    sum.scratch_bytes = stage.scratch;
    sum.memory_bytes = stage.memory();
  }

  void write_times(const Stage &stage, PlanCost &sum) const {
    const double passes = real(division_.micro_batches);
    const double flops = find(machine_.linear, "linear", division_.recipe).flops * stage.linear_flops;
    sum.alpha = flops > 0 ? stage.linear / flops : 1;
    sum.linear_seconds = passes * stage.linear;
    sum.attention_seconds = passes * stage.attention;
    sum.elementwise_seconds = passes * stage.elementwise;
    sum.tensor_seconds = passes * stage.tensor_pass.seconds + stage.tensor_step.seconds;
    sum.pipeline_seconds = passes * stage.pipeline.seconds;
    sum.bubble_seconds = real(division_.pipeline - 1) * stage.pass_seconds();
    sum.data_seconds = stage.data.seconds;
    sum.optimizer_seconds = stage.optimizer;
    sum.step_seconds = step_seconds(stage);
  }

  PlanModel &plan_;
  const ModelSize &model_;
  const Machine &machine_;
  const Division &division_;
  std::string high_;  // recipe of the head, and format of attention
  int64_t rows_ = 0, query_ = 0, key_ = 0, hidden_ = 0, classes_ = 0;
  double shared_ = 0;
};

double ModelSize::parameters() const {
  const double layer = real(width) * (2.0 * real(width) + 2.0 * real(key_width()) + 3.0 * real(hidden) + 2);
  return real(layers) * layer + real(width) * (2.0 * real(vocabulary) + 1);
}

PlanModel::PlanModel(const ModelSize &model, const Machine &machine)
    : model_(model), machine_(machine), context_(make_context(1)) {}

PlanCost PlanModel::cost(const Division &division) { return PlanEstimate(*this, division).cost(); }

PlanModel::LinearBytes PlanModel::linear_bytes(const std::string &recipe, int64_t rows, int64_t inputs,
                                               int64_t outputs) {
  const auto [place, is_new] = linear_bytes_.try_emplace({recipe, rows, inputs, outputs});
  if (!is_new) return place->second;
  lpt_context *const context = context_.get();
  lpt_recipe *made = nullptr;
  check(context, lpt_recipe_create(context, recipe.c_str(), &made));
  const Recipe owner(made);
  lpt_linear_shape shape = LPT_LINEAR_SHAPE_INIT;
  shape.input_columns = inputs;
  shape.output_columns = outputs;
  lpt_linear *linear = nullptr;
  check(context, lpt_linear_create(context, made, &shape, &linear));
  const Linear keeper(linear);
  size_t cast = 0, saved = 0;
  check(context, lpt_linear_cast_size(context, linear, &cast));
  check(context, lpt_linear_saved_size(context, linear, rows, &saved));
  place->second = {static_cast<double>(cast), static_cast<double>(saved)};
  return place->second;
}

}  // namespace tool
