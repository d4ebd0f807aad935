// Reports, checkpoints and sampling of a trainer.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "loss.hpp"
#include "random.hpp"
#include "trainer.hpp"

namespace lm {

namespace {

constexpr uint64_t kSampleStream = 0x5A3B1E;

// Returns the parts of the format of a parameter. Payload and scales are saved separately.
std::vector<lpt_tensor_part> parts_of(lpt_context *context, const Parameter &parameter) {
  lpt_tensor_description tensor = LPT_TENSOR_DESCRIPTION_INIT;
  lpt_format_description format = LPT_FORMAT_DESCRIPTION_INIT;
  check(context, lpt_tensor_describe(context, parameter.value.get(), &tensor));
  check(context, lpt_format_describe(nullptr, tensor.format, &format));
  std::vector<lpt_tensor_part> parts = {LPT_TENSOR_PART_PAYLOAD};
  if (format.block_scale != LPT_FORMAT_NONE) {
    parts.push_back(LPT_TENSOR_PART_BLOCK_SCALES);
  }
  if (format.tensor_scale != LPT_FORMAT_NONE) {
    parts.push_back(LPT_TENSOR_PART_TENSOR_SCALE);
  }
  return parts;
}

std::span<uint8_t> part_bytes(lpt_context *context, const Parameter &parameter, lpt_tensor_part part) {
  const Tensor tensor = tensor_part(context, parameter.value.get(), part);
  return {static_cast<uint8_t *>(tensor_data(context, tensor.get())), tensor_bytes(context, tensor.get())};
}

std::string value_name(const std::string &prefix, const Parameter &parameter, lpt_tensor_part part) {
  return fmt::format("{}/value/{}/{}", prefix, parameter.name, part);
}

std::string moments_name(const std::string &prefix, const Parameter &parameter) {
  return fmt::format("{}/moments/{}", prefix, parameter.name);
}

std::string scalers_name(const std::string &prefix, const Linear &linear) {
  return fmt::format("{}/scalers/{}", prefix, linear.weight().name);
}

std::vector<uint8_t> linear_state(lpt_context *context, const Linear &linear) {
  size_t bytes = 0;
  check(context, lpt_linear_state_size(context, linear.handle(), &bytes));
  std::vector<uint8_t> state(bytes);
  check(context, lpt_linear_state_save(context, linear.handle(), state.data(), state.size()));
  return state;
}

// Draws a byte from softmax(logits / temperature).
uint8_t draw(std::span<const float> logits, double temperature, double unit) {
  const float largest = *std::max_element(logits.begin(), logits.end());
  std::vector<double> ends;
  double sum = 0.0;
  for (const float logit : logits) {
    sum += std::exp(static_cast<double>(logit - largest) / temperature);
    ends.push_back(sum);
  }
  const auto found = std::upper_bound(ends.begin(), ends.end(), unit * sum);
  return static_cast<uint8_t>(std::min<int64_t>(found - ends.begin(), kVocabulary - 1));
}

}  // namespace

Bytes Trainer::bytes() {
  Bytes total{.casts = model_.cast_bytes(context_.get()),
              .moments = optimizer_.state_bytes(context_.get()),
              .activations = activations_.bytes(context_.get())};
  for (const Parameter &parameter : model_.parameters()) {
    total.weights += tensor_bytes(context_.get(), parameter.value.get());
    total.gradients += tensor_bytes(context_.get(), parameter.gradient.get());
  }
  return total;
}

int64_t Trainer::parameter_count() const {
  int64_t count = 0;
  for (const Parameter &parameter : model_.parameters()) {
    count += parameter.elements() * (parameter.is_sharded ? parallel_.tensor->ranks() : 1);
  }
  return count;
}

std::vector<ProfileLine> Trainer::profile() {
  int64_t count = 0;
  check(context_.get(), lpt_context_profile_count(context_.get(), &count));
  std::vector<ProfileLine> lines;
  for (int64_t i = 0; i < count && busy_seconds_ > 0.0; ++i) {
    lpt_profile_entry entry = LPT_PROFILE_ENTRY_INIT;
    check(context_.get(), lpt_context_profile_entry(context_.get(), i, &entry));
    lines.push_back({entry.operation, entry.kernel, entry.calls, entry.seconds / busy_seconds_});
  }
  return lines;
}

void Trainer::give_up() {
  if (parallel_.tensor != nullptr) {
    parallel_.tensor->leave();
  }
  if (parallel_.sequence != nullptr) {
    parallel_.sequence->leave();
  }
  if (parallel_.data != nullptr) {
    parallel_.data->leave();
  }
}

Traffic Trainer::traffic() {
  Traffic sum;
  for (const Traffic &one : {parallel_.tensor == nullptr ? Traffic{} : parallel_.tensor->traffic(context_.get()),
                             parallel_.sequence == nullptr ? Traffic{} : parallel_.sequence->traffic(context_.get()),
                             parallel_.data == nullptr ? Traffic{} : parallel_.data->traffic(context_.get()),
                             lossy_ == nullptr ? Traffic{} : lossy_->traffic()}) {
    sum.bytes_sent += one.bytes_sent;
    sum.seconds += one.seconds;
  }
  return sum;
}

std::string Trainer::sample(std::string prompt, int64_t count, double temperature) {
  const auto length = static_cast<size_t>(settings_.shape.sequence);
  Activations<float> one = model_.make_activations(context_.get(), 1);
  std::string text = std::move(prompt);
  const size_t begin = text.size();
  for (int64_t i = 0; i < count; ++i) {
    const std::string_view window = std::string_view(text).substr(text.size() - length);
    std::vector<uint8_t> inputs(window.begin(), window.end());
    if (parallel_.sequence != nullptr) {
      inputs.clear();
      for (const int64_t position : parallel_.sequence->positions(settings_.shape.sequence)) {
        inputs.push_back(static_cast<uint8_t>(window[static_cast<size_t>(position)]));
      }
    }
    model_.forward(context_.get(), inputs, pass_of(0, false), one);
    const std::span<const float> own(one.logits.row(model_.shape().sequence - 1),
                                     static_cast<size_t>(one.logits.columns()));
    std::vector<float> logits = parallel_.tensor == nullptr ? std::vector<float>(own.begin(), own.end())
                                                            : parallel_.tensor->gather(context_.get(), own);
    if (parallel_.sequence != nullptr) {
      parallel_.sequence->broadcast(context_.get(), logits);  // rank 0 has the last position
    }
    const double unit = random_unit(settings_.seed, kSampleStream, static_cast<uint64_t>(i));
    text += static_cast<char>(draw(logits, temperature, unit));
  }
  return text.substr(begin);
}

void Trainer::save(ArchiveWriter &archive, const std::string &prefix) {
  for (const Parameter &parameter : model_.parameters()) {
    for (const lpt_tensor_part part : parts_of(context_.get(), parameter)) {
      archive.put(value_name(prefix, parameter, part), part_bytes(context_.get(), parameter, part));
    }
    archive.put(moments_name(prefix, parameter), optimizer_.save_state(context_.get(), parameter));
  }
  for (const Linear *linear : model_.linears()) {
    archive.put(scalers_name(prefix, *linear), linear_state(context_.get(), *linear));
  }
  if (pilot_ != nullptr) {
    archive.put_numbers(prefix + "/autopilot", pilot_->save(context_.get()));
  }
  archive.put_numbers(prefix + "/loss_scale", optimizer_.save_loss_scale(context_.get()));
  if (delayed_ != nullptr) {
    const std::span<const float> mean = delayed_->mean();
    archive.put_numbers(prefix + "/mean", std::vector<float>(mean.begin(), mean.end()));
  }
  archive.put_numbers(prefix + "/training", measured_.training);
  archive.put_numbers(prefix + "/validation_steps", measured_.validation_steps);
  archive.put_numbers(prefix + "/validation", measured_.validation);
  archive.put_numbers(prefix + "/noise_ratio", measured_.noise_ratio);
  archive.put_numbers(prefix + "/kept", measured_.kept);
  archive.put_numbers(prefix + "/drop",
                      std::vector<double>{drop().threshold, static_cast<double>(drop().first_step), drop().speedup});
}

void Trainer::load(const ArchiveReader &archive, const std::string &prefix) {
  lpt_context *context = context_.get();
  for (const Parameter &parameter : model_.parameters()) {
    for (const lpt_tensor_part part : parts_of(context, parameter)) {
      const std::span<uint8_t> to = part_bytes(context, parameter, part);
      const std::span<const uint8_t> from = archive.get(value_name(prefix, parameter, part));
      if (from.size() != to.size()) {
        throw Error(
            fmt::format("the checkpoint's {} has {} bytes, expected {}", parameter.name, from.size(), to.size()));
      }
      std::copy(from.begin(), from.end(), to.begin());
    }
    optimizer_.load_state(context, parameter, archive.get(moments_name(prefix, parameter)));
  }
  measured_.training = archive.get_numbers<double>(prefix + "/training");
  end_dense_part_if_due();
  raise_if_due();  // a completed run samples with its final recipe
  if (delayed_ != nullptr) {
    delayed_->set_mean(archive.get_numbers<float>(prefix + "/mean"));
  }
  optimizer_.load_loss_scale(context, archive.get(prefix + "/loss_scale"));
  if (pilot_ != nullptr) {
    pilot_->load(context, archive.get(prefix + "/autopilot"));
    watch_casts(pilot_->is_measured(steps_done()));
  }
  for (const Linear *linear : model_.linears()) {
    const std::span<const uint8_t> state = archive.get(scalers_name(prefix, *linear));
    check(context, lpt_linear_state_load(context, linear->handle(), state.data(), state.size()));
  }
  measured_.validation_steps = archive.get_numbers<int64_t>(prefix + "/validation_steps");
  measured_.validation = archive.get_numbers<double>(prefix + "/validation");
  measured_.noise_ratio = archive.get_numbers<double>(prefix + "/noise_ratio");
  measured_.kept = archive.get_numbers<double>(prefix + "/kept");
  const std::vector<double> drop = archive.get_numbers<double>(prefix + "/drop");
  clock_.set_result({.threshold = drop.at(0), .first_step = static_cast<int64_t>(drop.at(1)), .speedup = drop.at(2)});
  model_.prepare(context, static_cast<uint32_t>(steps_done()));
  if (pilot_ != nullptr) {
    activations_ = model_.make_activations(context, batches_.pass_sequences());
  }
}

}  // namespace lm
