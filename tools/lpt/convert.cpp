#include "convert.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "converter.hpp"
#include "error.hpp"
#include "journal.hpp"
#include "progress.hpp"
#include "text.hpp"

namespace tool {

namespace {

using nlohmann::json;

constexpr uint64_t kBytesPerTensor = 3072;
constexpr double kLeastDecibels = 10.0;

// Bytes per tensor of reader, plan, results and report, measured with 400,000 tensors.
HeaderMemory header_memory(const ConvertOptions &options) {
  return {.bytes = static_cast<uint64_t>(options.memory_mebibytes) << 20, .per_tensor = kBytesPerTensor, .per_byte = 9};
}

std::string digest_text(std::string_view text) {
  Digest digest;
  digest.add(text);
  return fmt::format("{:016x}", digest.value());
}

std::vector<int64_t> modified_nanoseconds(const std::vector<std::string> &paths) {
  std::vector<int64_t> times;
  for (const std::string &path : paths) {
    times.push_back(std::filesystem::last_write_time(path).time_since_epoch().count());
  }
  return times;
}

// The properties that must be unchanged when a second run resumes.
json identity_of(const ConvertOptions &options, const Checkpoint &input, const Plan &plan) {
  return {{"release", lpt_version_string()},
          {"input_bytes", input.file_bytes()},
          {"input_header", fmt::format("{:016x}", input.header_digest())},
          {"input_modified", modified_nanoseconds(input.files())},
          {"format", format_name(plan.format)},
          {"from", options.from},
          {"include", options.include},
          {"exclude", options.exclude},
          {"short_blocks", options.has_short_blocks},
          {"output_header", digest_text(plan.prefix)}};
}

// Returns why a journal does not belong to this conversion; "" if it does.
std::string why_not_same(const json &before, const json &now) {
  for (const auto &[key, value] : now.items()) {
    if (before.contains(key) && before[key] == value) continue;
    const std::string was = before.contains(key) ? before[key].dump() : "missing";
    if (key.starts_with("input"))
      return fmt::format("the input has changed since ({}: {}, was {})", key, value.dump(), was);
    return fmt::format("it was begun with other options ({}: {}, was {})", key, value.dump(), was);
  }
  return "";
}

json result_to_json(size_t item, const ItemResult &result) {
  return {{"item", item},
          {"read", result.read_digest},
          {"written", result.written_digest},
          {"amax", result.amax},
          {"signal", result.error.signal},
          {"noise", result.error.noise},
          {"largest", result.error.largest},
          {"lost", result.error.lost},
          {"made_finite", result.error.made_finite},
          {"elements", result.error.elements}};
}

ItemResult result_from_json(const json &line) {
  ItemResult result;
  result.read_digest = line.at("read");
  result.written_digest = line.at("written");
  result.amax = line.at("amax");
  result.error = {line.at("signal"), line.at("noise"),       line.at("largest"),
                  line.at("lost"),   line.at("made_finite"), line.at("elements")};
  return result;
}

// Bytes of a path that are not UTF-8 become U+FFFD.
std::string report_text(const json &value) { return value.dump(2, ' ', false, json::error_handler_t::replace) + "\n"; }

json number_or_null(double value) { return std::isfinite(value) ? json(value) : json(nullptr); }

// Tensors that are copied, or decoded because the output has no type for them, for one reason.
struct Copies {
  Action action;
  std::string reason;
  std::string names;  // of the first kMostNames
  size_t count = 0;
};
constexpr size_t kMostNames = 4;

class ConversionRun {
 public:
  explicit ConversionRun(const ConvertOptions &options)
      : options_(options),
        partial_path_(options.output + ".partial"),
        journal_path_(options.output + ".journal"),
        context_(make_context(options.threads)),
        input_(options.input, header_memory(options)),
        plan_(make_plan(context_.get(), input_, options)),
        converter_(context_.get(), input_, plan_,
                   (options.memory_mebibytes << 20) - static_cast<int64_t>(input_.held_bytes())) {}

  void run() {
    check_first();
    if (!is_finished_before()) {
      write_all();
    }
    finish();
  }

 private:
  std::string config_path() const { return options_.output + ".quantization_config.json"; }

  void check_first() const {
    check_no_input(options_.output, input_.files());
    const std::string config = plan_.config.empty() ? "" : config_path();
    for (const std::string &path : {options_.report, config}) {
      check_text_target(path, input_.files());
      for (const std::string &other : {options_.output, partial_path_, journal_path_}) {
        if (!path.empty() &&
            std::filesystem::absolute(path).lexically_normal() == std::filesystem::absolute(other).lexically_normal()) {
          throw Error(fmt::format("{}: is a file of the conversion: expected another one", path));
        }
      }
    }
    // Insufficient memory for one tensor is reported before the first one is written.
    for (const Item &item : plan_.items) {
      if (item.action == Action::kEncode || item.action == Action::kDecode) converter_.rows_at_once(item);
    }
    if (plan_.items.end() ==
        std::find_if(plan_.items.begin(), plan_.items.end(), [](const Item &item) { return item.reason.empty(); })) {
      throw Error(
          fmt::format("{}: no tensor would change: expected matrices of floats of at least {} x {}, or a selection by "
                      "--include and --exclude",
                      options_.input, kLeastExtent, kLeastExtent));
    }
  }

  // A run that was killed between its last two steps leaves the complete output and the journal.
  bool is_finished_before() {
    if (!file_exists(options_.output)) return false;
    if (file_exists(journal_path_) && !options_.is_restarted) {
      Journal journal(journal_path_);
      const bool is_whole = journal.lines().size() == plan_.items.size() + 1 &&
                            why_not_same(journal.lines().front(), identity_of(options_, input_, plan_)).empty();
      if (is_whole && !file_exists(partial_path_)) {
        for (size_t i = 0; i < plan_.items.size(); ++i) results_.push_back(result_from_json(journal.lines()[i + 1]));
        return true;
      }
    }
    if (!options_.is_forced)
      throw Error(fmt::format("{}: is there already: expected no such file, or --force", options_.output));
    return false;
  }

  void check_space() const {
    const auto folder = std::filesystem::absolute(options_.output).parent_path();
    std::error_code problem;
    const auto space = std::filesystem::space(folder, problem);
    std::error_code is_missing;
    const uint64_t partial_bytes = std::filesystem::file_size(partial_path_, is_missing);
    if (!problem && space.available + (is_missing ? 0 : partial_bytes) < plan_.file_bytes) {
      throw Error(fmt::format("{}: the output takes {}, but only {} are free", folder.string(),
                              size_text(plan_.file_bytes), size_text(space.available)));
    }
  }

  void announce() const {
    if (options_.is_quiet) return;
    print_error("{}: {} tensors, {}; {} will be {} ({} bytes)\n", escaped(options_.input), input_.tensors().size(),
                size_text(input_.file_bytes()), escaped(options_.output), size_text(plan_.file_bytes),
                plan_.file_bytes);
  }

  void write_all() {
    check_space();
    Journal journal(journal_path_);
    std::optional<File> resumed = resume(journal);
    File partial = resumed ? std::move(*resumed) : begin(journal);
    announce();
    const size_t done = results_.size();
    Progress progress(input_.data_bytes(), options_.is_quiet);
    for (size_t i = 0; i < done; ++i) progress.skip(plan_.items[i].input_bytes());
    for (size_t i = done; i < plan_.items.size(); ++i) {
      const Item &item = plan_.items[i];
      results_.push_back(run_item(item, partial, progress));
      check_error(item, results_.back().error);
      // The bytes are synced to the disk before the journal records them.
      partial.sync();
      journal.add(result_to_json(i, results_.back()));
    }
    if (partial.size() != plan_.file_bytes) {
      throw Error(fmt::format("{}: is {} bytes long: expected {}, or --restart", partial_path_, partial.size(),
                              plan_.file_bytes));
    }
    partial.close();
    rename_file(partial_path_, options_.output);
  }

  // A conversion that destroys the values is rejected and leaves no file.
  void check_error(const Item &item, const CastError &error) const {
    const double value = decibels(error.signal, error.noise);
    const bool is_lost = std::isnan(value) && error.lost > 0;
    if (options_.is_forced || !(value < kLeastDecibels || is_lost)) return;
    remove_file(partial_path_);
    remove_file(journal_path_);
    throw Error(fmt::format("{}: tensor {}: signal to error is {} dB in {}: expected at least {:.0f} dB, or --force",
                            options_.input, in_quotes(item.name), decibel_text(value), format_name(plan_.format),
                            kLeastDecibels));
  }

  // Creates a new partial file. An existing one must belong to the journal, or the user must pass --restart.
  File begin(Journal &journal) const {
    if (journal.is_new() && file_exists(partial_path_) && !options_.is_restarted) {
      remove_file(journal_path_);
      throw Error(fmt::format("{}: exists without {}: expected no such file, or --restart to replace it", partial_path_,
                              journal_path_));
    }
    journal.clear();
    remove_file(partial_path_);
    File partial = File::create_new(partial_path_);
    partial.write(0, std::as_bytes(std::span(plan_.prefix)));
    partial.sync();
    journal.add(identity_of(options_, input_, plan_));
    return partial;
  }

  ItemResult run_item(const Item &item, File &partial, Progress &progress) const {
    try {
      return converter_.run(item, partial, [&](uint64_t bytes) { progress.add(bytes, shortened(item.name, 48)); });
    } catch (const Error &error) {
      throw Error(fmt::format("{}: tensor {}: {}", options_.input, in_quotes(item.name), error.what()));
    }
  }

  // Opens the partial file of an earlier run, and takes over the results of its completed tensors.
  std::optional<File> resume(const Journal &journal) {
    if (options_.is_restarted || journal.lines().empty() || !file_exists(partial_path_)) return std::nullopt;
    const std::string problem = why_not_same(journal.lines().front(), identity_of(options_, input_, plan_));
    if (!problem.empty()) {
      throw Error(
          fmt::format("{}: belongs to a conversion that was not finished, and {}: expected the same, or --restart",
                      journal_path_, problem));
    }
    File partial = File::open_own(partial_path_);
    check_header(partial);
    const size_t done = std::min(journal.lines().size() - 1, plan_.items.size());
    for (size_t i = 0; i < done; ++i) {
      results_.push_back(result_from_json(journal.lines()[i + 1]));
      check_unchanged(plan_.items[i], results_.back(), partial);
    }
    if (done > 0 && !options_.is_quiet) {
      print_error("going on after {} of {} tensors\n", done, plan_.items.size());
    }
    return partial;
  }

  void check_header(const File &partial) const {
    if (partial.size() < plan_.prefix.size()) {
      throw Error(fmt::format("{}: is {} bytes long: expected at least {}, the end of its header, or --restart",
                              partial_path_, partial.size(), plan_.prefix.size()));
    }
    constexpr size_t kBlockBytes = size_t{64} << 10;  // a copy of a large header would exceed --memory
    std::string block;
    for (size_t offset = 0; offset < plan_.prefix.size(); offset += block.size()) {
      block.resize(std::min(plan_.prefix.size() - offset, kBlockBytes));
      partial.read(offset, std::as_writable_bytes(std::span(block)));
      if (plan_.prefix.compare(offset, block.size(), block) == 0) continue;
      throw Error(fmt::format("{}: the header is damaged: expected what was written, or --restart", partial_path_));
    }
  }

  void check_unchanged(const Item &item, const ItemResult &result, const File &partial) const {
    uint64_t end = 0;
    for (const OutputPart &part : item.outputs) {
      const StoredTensor &output = plan_.outputs[part.index];
      end = std::max(end, plan_.prefix.size() + output.begin + output.bytes());
    }
    if (partial.size() < end) {
      throw Error(fmt::format("{}: is {} bytes long: expected at least {}, the end of tensor {}, or --restart",
                              partial_path_, partial.size(), end, in_quotes(item.name)));
    }
    if (converter_.digest_of_input(item) != result.read_digest) {
      throw Error(fmt::format("{}: tensor {} has changed since it was converted: expected the same input, or --restart",
                              options_.input, in_quotes(item.name)));
    }
    if (converter_.digest_of_output(item, partial) != result.written_digest) {
      throw Error(fmt::format("{}: tensor {} is damaged: expected what was written, or --restart", partial_path_,
                              in_quotes(item.name)));
    }
  }

  void finish() {
    const Checkpoint made(options_.output);
    if (made.file_bytes() != plan_.file_bytes) {
      throw Error(
          fmt::format("{}: is {} bytes long: expected {}", options_.output, made.file_bytes(), plan_.file_bytes));
    }
    if (!plan_.config.empty()) write_text(config_path(), plan_.config);
    if (options_.is_verified) verify(made);
    if (!options_.report.empty()) write_text(options_.report, report_text(report()));
    remove_file(journal_path_);
    if (!options_.is_quiet) print();
  }

  void verify(const Checkpoint &made) const {
    Progress progress(input_.data_bytes(), options_.is_quiet);
    for (const Item &item : plan_.items) {
      converter_.verify(item, made,
                        [&](uint64_t bytes) { progress.add(bytes, "verifying " + shortened(item.name, 38)); });
    }
  }

  CastError total_error() const {
    CastError total;
    for (const ItemResult &result : results_) total.add(result.error);
    return total;
  }

  uint64_t output_bytes(const Item &item) const {
    uint64_t bytes = 0;
    for (const OutputPart &part : item.outputs) bytes += plan_.outputs[part.index].bytes();
    return bytes;
  }

  json report() const {
    json tensors = json::array();
    for (size_t i = 0; i < plan_.items.size(); ++i) {
      const Item &item = plan_.items[i];
      json entry = {{"name", item.name},
                    {"action", action_text(item.action)},
                    {"input_bytes", item.input_bytes()},
                    {"output_bytes", output_bytes(item)}};
      if (!item.reason.empty()) entry["reason"] = item.reason;
      if (item.action != Action::kCopy) {
        const CastError &error = results_[i].error;
        entry["shape"] = {item.rows, item.columns};
        entry["has_short_group"] = item.has_short_group;
        entry["amax"] = results_[i].amax;
        if (item.action != Action::kDecode) {
          entry["decibels"] = number_or_null(decibels(error.signal, error.noise));
          entry["largest_error"] = error.largest;
          entry["lost"] = error.lost;
          entry["made_finite"] = error.made_finite;
        }
      }
      tensors.push_back(std::move(entry));
    }
    const CastError total = total_error();
    return {{"input", options_.input},
            {"output", options_.output},
            {"format", format_name(plan_.format)},
            {"convention", plan_.short_groups > 0 ? "" : plan_.groups.front().layout.convention},
            {"input_bytes", input_.file_bytes()},
            {"predicted_bytes", plan_.file_bytes},
            {"output_bytes", std::filesystem::file_size(options_.output)},
            {"decibels", number_or_null(decibels(total.signal, total.noise))},
            {"is_verified", options_.is_verified},
            {"tensors", std::move(tensors)}};
  }

  void print() const {
    Table table({"tensor", "shape", "what", "error dB", "largest error", "bytes"});
    std::vector<Copies> copies;
    size_t copied = 0, unpacked = 0;
    for (size_t i = 0; i < plan_.items.size(); ++i) {
      const Item &item = plan_.items[i];
      if (!item.reason.empty()) {
        ++(item.action == Action::kCopy ? copied : unpacked);
        auto same = std::find_if(copies.begin(), copies.end(),
                                 [&](const Copies &c) { return c.action == item.action && c.reason == item.reason; });
        if (same == copies.end()) same = copies.insert(copies.end(), {item.action, item.reason, {}, 0});
        if (same->count++ < kMostNames) same->names += (same->names.empty() ? "" : ", ") + shortened(item.name, 48);
        continue;
      }
      const CastError &error = results_[i].error;
      const bool has_error = item.action != Action::kDecode;
      table.add({shortened(item.name, 60), fmt::format("{} x {}", item.rows, item.columns), action_text(item.action),
                 has_error ? decibel_text(decibels(error.signal, error.noise)) : "",
                 has_error ? fmt::format("{:.3g}", error.largest) : "", fmt::format("{}", output_bytes(item))});
    }
    print_out("{}", table.text());
    for (const Copies &same : copies) {
      const std::string rest = same.count > kMostNames ? fmt::format(" and {} more", same.count - kMostNames) : "";
      const char *what = same.action == Action::kCopy ? "copied" : "decoded to F32";
      print_out("{}, {}: {}: {}{}\n", what, same.count, same.reason, same.names, rest);
    }
    if (plan_.short_groups > 0) {
      print_out(
          "{} of the matrices end within a group of {} columns. compressed-tensors cannot read such a file, so that "
          "it has no quantization_config; --whole-blocks copies these matrices.\n",
          plan_.short_groups, plan_.groups.front().layout.group_columns());
    }
    const CastError total = total_error();
    const size_t changed = plan_.items.size() - copied - unpacked;
    const std::string others = unpacked > 0 ? fmt::format(", {} decoded to F32", unpacked) : "";
    print_out("{} tensors {}{}, {} copied; {} -> {}, {} bytes as predicted", changed, changed_text(), others, copied,
              size_text(input_.file_bytes()), size_text(plan_.file_bytes), plan_.file_bytes);
    if (total.elements > 0) print_out("; error {} dB", decibel_text(decibels(total.signal, total.noise)));
    if (total.lost > 0) print_out("; {} numbers became NaN or infinite", total.lost);
    if (total.made_finite > 0) print_out("; {} infinite numbers or NaN became finite", total.made_finite);
    print_out("{}\n", options_.is_verified ? "; verified" : "");
  }

  std::string changed_text() const {
    const bool is_decoded = std::any_of(plan_.items.begin(), plan_.items.end(),
                                        [](const Item &item) { return item.action == Action::kDecode; });
    return is_decoded ? fmt::format("decoded from {}", format_names(plan_.groups))
                      : fmt::format("became {}", format_name(plan_.format));
  }

  const ConvertOptions &options_;
  std::string partial_path_;
  std::string journal_path_;
  Context context_;
  Checkpoint input_;
  Plan plan_;
  Converter converter_;
  std::vector<ItemResult> results_;
};

}  // namespace

void convert(const ConvertOptions &options) {
  ConversionRun conversion(options);
  conversion.run();
}

}  // namespace tool
