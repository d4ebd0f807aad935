#include "run.hpp"

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <optional>
#include <thread>
#include <utility>

#include "../../tools/lpt/file.hpp"
#include "../../tools/lpt/text.hpp"
#include "../lm/files.hpp"
#include "../lm/progress.hpp"
#include "choose.hpp"
#include "compare.hpp"
#include "model_writer.hpp"
#include "rotate.hpp"

namespace run_lm {

namespace {

constexpr int64_t kDecodedTokens = 16;  // whose time is measured
constexpr int64_t kCostWindows = 1;     // on which the divergence by each layer is measured

// Shows control characters of generated text as \xNN, except line ends and tabs.
std::string shown(const std::string &text) {
  std::string out;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find_first_of("\n\t", begin), text.size());
    out += tool::escaped(std::string_view(text).substr(begin, end - begin));
    if (end < text.size()) out += text[end];
    begin = end + 1;
  }
  return out;
}

// A model that is loaded.
struct Model {
  tool::Context context;
  ModelFiles files;
  Tokenizer tokenizer;
  ModelWeights weights;

  Model(const std::string &path, int32_t threads, lpt_format floats, bool keeps_codes)
      : context(tool::make_context(threads)),
        files(context.get(), path),
        tokenizer(files.tokenizer_file(), files.tokenizer_text()),
        weights(load_weights(context.get(), files, floats, keeps_codes)) {
    if (tokenizer.size() > files.config().vocabulary) {
      throw tool::Error(fmt::format("{}: has {} tokens: expected at most {}, the vocab_size of the model",
                                    files.tokenizer_file(), tokenizer.size(), files.config().vocabulary));
    }
  }

  const ModelConfig &config() const { return files.config(); }
  // Moves the weights into a decoder.
  Decoder take_decoder(const Precision &precision, int64_t capacity) {
    return Decoder(context.get(), config(), std::move(weights), precision, capacity);
  }
};

std::string model_of(const Options &options) { return options.model.empty() ? default_model() : options.model; }

// Loads a model whose weights are quantized or measured.
Model load_in_f32(const Options &options) { return Model(model_of(options), options.threads, LPT_FORMAT_F32, false); }

// Loads a model to run it.
Model load(const Options &options, const Precision &precision) {
  return Model(model_of(options), options.threads, precision.floats(), true);
}

// Returns the formats of the options.
Precision precision_of(const Options &options) {
  const std::string usual = options.activations == "f32" ? "f32" : "int8_1x32";
  const std::string &head = options.head.empty() ? usual : options.head;
  const Precision precision{tool::find_format(options.activations), tool::find_format(options.cache),
                            tool::find_format(head)};
  check_precision(precision);
  return precision;
}

// Draws progress over some windows, or layers.
Report progress_of(const Options &options, size_t total, const std::string &note) {
  const auto progress = std::make_shared<lm::Progress>(static_cast<int64_t>(total), 0, options.is_quiet);
  return [progress, note](size_t done) { progress->show(static_cast<int64_t>(done), note); };
}

double rate(int64_t tokens, double seconds) { return seconds > 0.0 ? static_cast<double>(tokens) / seconds : 0.0; }

std::vector<Window> windows_of(const Model &model, const std::vector<std::string> &texts, int64_t length,
                               int64_t count) {
  const int64_t least = std::ssize(model.tokenizer.prefix()) + 2;
  if (length < least || length > model.config().positions) {
    throw tool::Error(fmt::format("--window is {}: expected {} to {}, the positions of the model", length, least,
                                  model.config().positions));
  }
  return read_windows(model.tokenizer, texts, length, count);
}

std::vector<Window> calibration_windows(const Options &options, const Model &model) {
  if (options.calibration.empty()) {
    throw tool::Error("--calibration is missing: expected text files, for methods other than nearest and for EXAQ");
  }
  return windows_of(model, options.calibration, options.window, options.calibration_windows);
}

// Returns the clips of all layers; none without EXAQ.
std::vector<double> clips_of(const Options &options, const Model &model) {
  if (options.softmax_bits == 0) return {};
  const auto windows = calibration_windows(options, model);
  return measure_clips(model.context.get(), model.config(), model.weights, windows, options.softmax_bits,
                       progress_of(options, windows.size(), "calibration"));
}

std::vector<lpt_format> formats_of(const Options &options) {
  std::vector<lpt_format> formats;
  for (const std::string &name : options.formats) formats.push_back(tool::find_format(name));
  return formats;
}

// Weights to quantize, and what is measured of them.
struct Source {
  ModelWeights weights;
  Calibration calibration;  // empty if no method needs inputs
  FormatCosts costs;        // empty without --bytes-per-weight
};

// Measures costs of formats on the first windows of the calibration texts.
Source make_source(const Options &options, const Model &model, ModelWeights weights, bool is_rotated,
                   bool needs_inputs) {
  lpt_context *context = model.context.get();
  Source source;
  source.weights = std::move(weights);
  if (is_rotated) source.weights = rotate_weights(context, model.config(), std::move(source.weights));
  const bool has_costs = !options.bytes_per_weight.empty();
  if (needs_inputs || has_costs) {
    const auto windows = calibration_windows(options, model);
    source.calibration = calibrate(context, model.config(), source.weights, windows,
                                   progress_of(options, windows.size(), "calibration"));
  }
  if (has_costs) {
    const auto windows = windows_of(model, options.calibration, options.window, kCostWindows);
    source.costs =
        measure_formats(context, model.config(), source.weights, source.calibration, windows, formats_of(options),
                        progress_of(options, source.weights.layers.size(), "costs of formats"));
  }
  return source;
}

void run_generate(const Options &options) {
  const Precision precision = precision_of(options);
  Model model = load(options, precision);
  std::vector<int32_t> prompt = model.tokenizer.prefix();
  const std::string text = options.prompt_file.empty() ? options.prompt : tool::read_text(options.prompt_file);
  const std::vector<int32_t> tokens = model.tokenizer.encode(text);
  prompt.insert(prompt.end(), tokens.begin(), tokens.end());
  const int64_t capacity = std::ssize(prompt) + options.sampling.tokens;
  if (prompt.empty()) throw tool::Error("--prompt is empty: expected a text to continue");
  if (capacity > model.config().positions) {
    throw tool::Error(fmt::format("prompt and --tokens have {} positions: expected at most {}, those of the model",
                                  capacity, model.config().positions));
  }
  Decoder decoder = model.take_decoder(precision, capacity);
  lm::write_out(shown(text));
  const Generation result = generate(decoder, model.config(), model.tokenizer, prompt, options.sampling,
                                     [](const std::string &part) { lm::write_out(shown(part)); });
  lm::write_out("\n");
  if (options.is_quiet) return;
  tool::print_error("prefill: {} tokens, {:.1f} tokens/s; decode: {} tokens, {:.1f} tokens/s; cache: {}, {}\n",
                    result.prompt_tokens, rate(result.prompt_tokens, result.prompt_seconds), result.tokens,
                    rate(result.tokens - 1, result.seconds), options.cache, tool::size_text(decoder.cache_bytes()));
}

void run_perplexity(const Options &options) {
  const Precision precision = precision_of(options);
  Model model = load(options, precision);
  const auto windows = windows_of(model, options.texts, options.window, options.windows);
  lpt_context *context = model.context.get();
  const double bytes_per_weight = model.weights.bytes_per_weight(context, precision.floats());
  const std::vector<double> clips = clips_of(options, model);
  Decoder decoder = model.take_decoder(precision, options.window);
  if (!clips.empty()) decoder.set_levels(options.softmax_bits, clips);
  std::optional<Model> baseline_model;
  std::optional<Decoder> baseline;
  if (!options.baseline.empty()) {
    baseline_model.emplace(options.baseline, options.threads, LPT_FORMAT_F32, false);
    if (baseline_model->config().vocabulary != model.config().vocabulary) {
      throw tool::Error(fmt::format("--baseline has {} tokens: expected {}, those of --model",
                                    baseline_model->config().vocabulary, model.config().vocabulary));
    }
    baseline.emplace(baseline_model->take_decoder(kInF32, options.window));
  }
  const Evaluation evaluation(context, windows, baseline ? &*baseline : nullptr,
                              progress_of(options, windows.size(), "baseline"));
  const Score score = evaluation.run(decoder, progress_of(options, windows.size(), "model"));
  tool::print_out("perplexity {:.4f} of {} tokens in {} windows\n", score.perplexity(), score.tokens, windows.size());
  if (baseline) tool::print_out("KL divergence from the baseline {:.5f} nats per token\n", score.divergence);
  tool::print_out("prefill {:.1f} tokens/s, {:.3f} bytes per weight\n", rate(score.tokens, score.seconds),
                  bytes_per_weight);
  tool::flush_out();
}

void run_quantize(const Options &options) {
  check_new_model(options.out);
  const std::vector<lpt_format> candidates = formats_of(options);
  const Method method = find_method(options.methods.front());
  const lpt_format activations = precision_of(options).activations;
  Model model = load_in_f32(options);
  check_not_quantized(model.weights);
  const Source source = make_source(options, model, std::move(model.weights), method.is_rotated, method.needs_inputs());
  const bool is_chosen = !options.bytes_per_weight.empty();
  const Formats formats = is_chosen
                              ? choose_formats(model.context.get(), source.costs, options.bytes_per_weight.front())
                              : equal_formats(model.config(), candidates.front());
  const ModelWeights fitted =
      fit_weights(model.context.get(), model.config(), source.weights, source.calibration,
                  {formats, activations, method}, progress_of(options, source.weights.layers.size(), "layers"));
  save_model(model.context.get(), model.files, fitted, options.out);
  tool::print_out("{}: {:.3f} bytes per weight in {}, {}\n", tool::escaped(options.out),
                  fitted.bytes_per_weight(model.context.get(), LPT_FORMAT_F32),
                  is_chosen ? formats_text(formats) : tool::format_name(candidates.front()), method.name);
  tool::flush_out();
}

Version measure(const Options &options, const Model &model, const ModelWeights &weights, const Precision &precision,
                const Evaluation &evaluation, const std::string &note) {
  lpt_context *context = model.context.get();
  Decoder decoder(context, model.config(), weights, precision, options.window + kDecodedTokens);
  Version version{.bytes_per_weight = weights.bytes_per_weight(context, precision.floats())};
  version.score = evaluation.run(decoder, progress_of(options, evaluation.window_count(), note));
  const auto start = std::chrono::steady_clock::now();
  const int32_t token = 0;
  for (int64_t i = 0; i < kDecodedTokens; ++i) decoder.last_logits(decoder.forward(std::span(&token, 1)));
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  version.decode_rate = rate(kDecodedTokens, taken.count());
  return version;
}

void run_compare(const Options &options) {
  const Precision precision = precision_of(options);
  std::vector<Method> chosen;
  for (const std::string &name : options.methods) chosen.push_back(find_method(name));
  const std::vector<lpt_format> formats = formats_of(options);
  tool::check_text_target(options.out, options.texts);
  if (!options.json.empty()) tool::check_text_target(options.json, options.texts);
  const Model model = load_in_f32(options);
  check_not_quantized(model.weights);
  lpt_context *context = model.context.get();
  const auto windows = windows_of(model, options.texts, options.window, options.windows);
  std::array<std::optional<Source>, 2> sources;  // not rotated, and rotated
  for (const bool is_rotated : {false, true}) {
    bool is_used = false, needs_inputs = false;
    for (const Method &method : chosen) {
      is_used = is_used || method.is_rotated == is_rotated;
      needs_inputs = needs_inputs || (method.is_rotated == is_rotated && method.needs_inputs());
    }
    if (is_used) sources[is_rotated] = make_source(options, model, model.weights, is_rotated, needs_inputs);
  }
  Decoder baseline(context, model.config(), model.weights, kInF32, options.window);
  const Evaluation evaluation(context, windows, &baseline, progress_of(options, windows.size(), "baseline"));
  std::vector<Version> versions;
  const auto add = [&](const ModelWeights &weights, const Precision &used, const std::string &format,
                       const std::string &method, double fit_seconds = 0.0) {
    Version version = measure(options, model, weights, used, evaluation, format + ", " + method);
    version.format = format;
    version.method = method;
    version.fit_seconds = fit_seconds;
    if (!options.is_quiet) {
      tool::print_error("{}, {}: perplexity {:.3f}, KL {:.4f}\n", format, method, version.score.perplexity(),
                        version.score.divergence);
    }
    versions.push_back(std::move(version));
  };
  add(model.weights, kInF32, "f32", "-");
  const bool is_baseline = precision == kInF32;
  const std::string floats = tool::format_name(precision.floats());
  if (!is_baseline) add(model.weights, precision, floats + (precision.casts_activations() ? " weights" : ""), "-");
  const auto add_fit = [&](const std::string &name, const Formats &used, const Method &method) {
    const Source &source = *sources[method.is_rotated];
    const auto layers = progress_of(options, source.weights.layers.size(), name + ", " + method.name);
    const std::clock_t start = std::clock();
    const ModelWeights fitted = fit_weights(context, model.config(), source.weights, source.calibration,
                                            {used, precision.activations, method}, layers);
    add(fitted, precision, name, method.name, static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
  };
  for (const lpt_format format : formats) {
    for (const Method &method : chosen) {
      add_fit(tool::format_name(format), equal_formats(model.config(), format), method);
    }
  }
  for (const double bytes : options.bytes_per_weight) {
    for (const Method &method : chosen) {
      const Formats mixed = choose_formats(context, sources[method.is_rotated]->costs, bytes);
      if (!options.is_quiet) {
        tool::print_error("{} bytes per weight, {}: {}\n", bytes, method.name, formats_text(mixed));
      }
      add_fit(fmt::format("mixed {}", bytes), mixed, method);
    }
  }
  const std::string about = fmt::format("{} x {} tokens, activations in {}, cache in {}", windows.size(),
                                        options.window, options.activations, options.cache);
  tool::write_text(options.out, version_picture(about, versions));
  if (!options.json.empty()) {
    const int32_t threads =
        options.threads == 0 ? static_cast<int32_t>(std::thread::hardware_concurrency()) : options.threads;
    tool::write_text(options.json, version_report({options.command_line, options.activations, threads}, versions));
  }
  tool::print_out("{}{}; the picture is {}\n", version_table(versions), about, tool::escaped(options.out));
  tool::flush_out();
}

}  // namespace

void run(const Options &options) {
  if (options.command == "generate") return run_generate(options);
  if (options.command == "perplexity") return run_perplexity(options);
  if (options.command == "quantize") return run_quantize(options);
  run_compare(options);
}

}  // namespace run_lm
