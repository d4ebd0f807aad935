#include "inspect.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>

#include "error.hpp"
#include "name_pattern.hpp"
#include "plan.hpp"
#include "progress.hpp"
#include "stored_rows.hpp"
#include "text.hpp"

namespace tool {

namespace {

constexpr const char *kCommonFormats[] = {"fp8", "fp8-row", "mxfp8", "nvfp4", "mxfp4", "int8", "int4-g128"};
constexpr int kSparkWidth = 20;
constexpr int64_t kPieceNumbers = int64_t{1} << 20;
constexpr int64_t kRowGranule = 128;     // maximum rows of a block
constexpr int64_t kBytesPerNumber = 40;  // equal to that of a conversion

// Bytes per tensor of reader, statistics and table, measured with 400,000 tensors; per byte: copies of names.
HeaderMemory header_memory(const InspectOptions &options, size_t formats) {
  constexpr uint64_t kOthers = 1024;
  return {.bytes = static_cast<uint64_t>(options.memory_mebibytes) << 20,
          .per_tensor = kOthers + sizeof(TensorLook) + formats * (sizeof(CastError) + sizeof(std::string)),
          .per_byte = 4};
}

struct NamedFormat {
  std::string name;
  lpt_format format;
};

std::vector<NamedFormat> formats_of(const InspectOptions &options) {
  std::vector<NamedFormat> formats;
  for (const std::string &name : options.formats) formats.push_back({name, target_format(name)});
  if (!formats.empty()) return formats;
  for (const char *name : kCommonFormats) {
    try {
      formats.push_back({name, target_format(name)});
    } catch (const Error &) {
      // This library lacks the format, so its column is omitted.
    }
  }
  return formats;
}

// A matrix whose rows are read in slices.
struct Rows {
  int64_t count = 1;
  int64_t columns = 1;
  bool is_whole = false;  // all rows at once
  std::function<void(int64_t first, int64_t count, std::span<float> numbers)> read;
};

class Looker {
 public:
  Looker(lpt_context *context, const Checkpoint &file, std::vector<NamedFormat> formats, int64_t memory)
      : context_(context), file_(file), formats_(std::move(formats)), memory_(memory) {}

  TensorLook look(const StoredTensor &tensor) const {
    TensorLook look;
    look.name = tensor.name;
    look.dtype = tensor.dtype->name;
    look.shape = tensor.shape;
    look.bytes = tensor.bytes();
    look.shard = tensor.shard;
    if (!tensor.dtype->is_float || format_of(*tensor.dtype) == LPT_FORMAT_NONE) return look;
    Rows rows{.read = {}};
    if (!tensor.shape.empty()) rows.columns = tensor.shape.back();
    for (size_t i = 0; i + 1 < tensor.shape.size(); ++i) rows.count *= tensor.shape[i];
    NumberReader reader(context_, file_, tensor);
    rows.read = [&](int64_t first, int64_t, std::span<float> numbers) {
      reader.read(first * rows.columns, numbers, nullptr);
    };
    measure(rows, look);
    return look;
  }

  // Inspects a matrix that lpt convert has quantized.
  TensorLook look(const Item &item, const Layout &layout) const {
    TensorLook look;
    look.name = item.name;
    look.dtype = format_name(layout.format);
    look.shape = {item.rows, item.columns};
    look.bytes = item.input_bytes();
    RowCast stored(context_, layout.format, 0.0f);
    const MatrixShape shape{item.rows, item.columns, item.row_bytes};
    const Rows rows{.count = item.rows,
                    .columns = item.columns,
                    .is_whole = RowCast::row_granule(layout.description) == 0,
                    .read = [&](int64_t first, int64_t count, std::span<float> numbers) {
                      get_rows(context_, layout, shape, first, count, stored.empty(count, item.columns),
                               [&](Role role, uint64_t offset, std::span<std::byte> requested) {
                                 file_.read(*item.input(role), offset, requested);
                               });
                      stored.decode(numbers);
                    }};
    measure(rows, look);
    return look;
  }

 private:
  void measure(const Rows &rows, TensorLook &look) const {
    look.has_numbers = true;
    if (rows.count == 0 || rows.columns == 0) {
      look.errors.resize(formats_.size());
      return;
    }
    for_each_piece(rows, false, [&](std::span<const float> numbers, int64_t) { look.stats.add(numbers); });
    for (const NamedFormat &format : formats_) look.errors.push_back(error_of(rows, format, look.stats.amax));
  }

  int64_t piece_rows(const Rows &rows) const {
    const int64_t requested =
        std::min(kPieceNumbers, memory_ / kBytesPerNumber) / rows.columns / kRowGranule * kRowGranule;
    return std::min(rows.count, std::max(requested, kRowGranule));
  }

  template <typename Visit>
  void for_each_piece(const Rows &rows, bool is_whole, Visit &&visit) const {
    const int64_t step = is_whole || rows.is_whole ? rows.count : piece_rows(rows);
    if (step > memory_ / kBytesPerNumber / rows.columns) {
      throw Error(fmt::format("{} rows of {} numbers need more than --memory", step, rows.columns));
    }
    std::vector<float> numbers;
    for (int64_t first = 0; first < rows.count; first += step) {
      const int64_t count = std::min(step, rows.count - first);
      numbers.resize(static_cast<size_t>(count * rows.columns));
      rows.read(first, count, numbers);
      visit(std::span<const float>(numbers), count);
    }
  }

  CastError error_of(const Rows &rows, const NamedFormat &format, float amax) const {
    const bool is_whole = RowCast::row_granule(describe(format.format)) == 0;
    RowCast cast(context_, format.format, amax);
    std::vector<float> decoded;
    CastError error;
    for_each_piece(rows, is_whole, [&](std::span<const float> numbers, int64_t count) {
      decoded.resize(numbers.size());
      cast.encode(numbers, count, rows.columns);
      cast.decode(decoded);
      error.add(numbers, decoded);
    });
    return error;
  }

  lpt_context *context_;
  const Checkpoint &file_;
  std::vector<NamedFormat> formats_;
  int64_t memory_;
};

// Adds the file and the tensor to errors of `look`.
template <typename Look>
TensorLook with_name(const std::string &file, const std::string &name, Look &&look) {
  try {
    return look();
  } catch (const Error &error) {
    throw Error(fmt::format("{}: tensor {}: {}", file, in_quotes(name), error.what()));
  }
}

std::string count_text(uint64_t count) { return count == 0 ? "" : fmt::format("{}", count); }

double error_decibels(const CastError &error) { return decibels(error.signal, error.noise); }

}  // namespace

int FileLook::top_exponent() const {
  int top = NumberStats().top_exponent();
  for (const TensorLook &tensor : tensors) top = std::max(top, tensor.stats.top_exponent());
  return top;
}

FileLook look_at(const InspectOptions &options) {
  const std::vector<NamedFormat> formats = formats_of(options);
  const Checkpoint file(options.input, header_memory(options, formats.size()));
  check_text_target(options.picture, file.files());
  const Context context = make_context(options.threads);
  FileLook look{options.input, file.file_bytes(), {}, {}, file.header().entries, file.shards()};
  for (const NamedFormat &format : formats) look.formats.push_back(format.name);
  const auto memory = (options.memory_mebibytes << 20) - static_cast<int64_t>(file.held_bytes());
  const Looker looker(context.get(), file, formats, memory);
  const NamePattern include("--include", options.include);
  Progress progress(file.data_bytes(), options.is_quiet || options.is_json);
  const auto is_chosen = [&](const std::string &name) { return !include.is_given() || include.is_in(name); };
  if (is_quantized(file)) {
    ConvertOptions decoding;
    decoding.format = "f32";
    const Plan plan = make_plan(context.get(), file, decoding);
    for (const Item &item : plan.items) {
      const bool is_matrix = item.action == Action::kDecode;
      if (is_chosen(item.name)) {
        look.tensors.push_back(with_name(options.input, item.name, [&] {
          return is_matrix ? looker.look(item, plan.layout_of(item)) : looker.look(*item.inputs.front().tensor);
        }));
      }
      progress.add(item.input_bytes(), shortened(item.name, 48));
    }
    return look;
  }
  for (const StoredTensor &tensor : file.tensors()) {
    if (is_chosen(tensor.name)) {
      look.tensors.push_back(with_name(options.input, tensor.name, [&] { return looker.look(tensor); }));
    }
    progress.add(tensor.bytes(), shortened(tensor.name, 48));
  }
  return look;
}

namespace {

// Returns "" for a file without entries.
std::string metadata_table(const FileLook &look) {
  constexpr size_t kKeyWidth = 52;
  constexpr size_t kValueWidth = 80;
  if (look.metadata.empty()) return "";
  Table table({"key", "type", "elements", "value"}, 4);
  for (const MetadataEntry &entry : look.metadata) {
    table.add({shortened(entry.key, kKeyWidth), entry.type, entry.count > 0 ? fmt::format("{}", entry.count) : "",
               shortened(entry.value, kValueWidth)});
  }
  return table.text() + "\n";
}

}  // namespace

std::string look_table(const FileLook &look) {
  const int top = look.top_exponent();
  std::vector<std::string> head = {"tensor",   "dtype", "shape",
                                   "bytes",    "amax",  "NaN",
                                   "infinite", "zeros", fmt::format("2^{} to 2^{}", top - kSparkWidth + 1, top)};
  for (const std::string &format : look.formats) head.push_back(format);
  if (!look.shards.empty()) head.insert(head.begin() + 3, "shard");
  Table table(head, 3);
  for (const TensorLook &tensor : look.tensors) {
    std::vector<std::string> row = {shortened(tensor.name, 52), tensor.dtype, shape_text(tensor.shape),
                                    fmt::format("{}", tensor.bytes)};
    if (!look.shards.empty()) row.insert(row.begin() + 3, fmt::format("{}", tensor.shard + 1));
    if (tensor.has_numbers) {
      row.insert(row.end(), {fmt::format("{:.4g}", tensor.stats.amax), count_text(tensor.stats.nan_count),
                             count_text(tensor.stats.infinite_count), count_text(tensor.stats.zero_count),
                             sparkline(tensor.stats, top, kSparkWidth)});
      for (const CastError &error : tensor.errors) row.push_back(decibel_text(error_decibels(error)));
    }
    table.add(std::move(row));
  }
  std::string shards = look.shards.empty() ? "" : "\n";
  for (size_t i = 0; i < look.shards.size(); ++i) {
    shards += fmt::format("shard {}: {}\n", i + 1, escaped(look.shards[i]));
  }
  return metadata_table(look) + table.text() + shards +
         fmt::format("\n{}: {} tensors, {}. Formats: signal to error in dB; 6 dB are a bit.\n", escaped(look.path),
                     look.tensors.size(), size_text(look.file_bytes));
}

namespace {

nlohmann::ordered_json tensor_json(const TensorLook &tensor, const FileLook &look) {
  nlohmann::ordered_json entry;
  entry["name"] = tensor.name;
  entry["dtype"] = tensor.dtype;
  entry["shape"] = tensor.shape;
  entry["bytes"] = tensor.bytes;
  if (!look.shards.empty()) entry["shard"] = look.shards[tensor.shard];
  if (!tensor.has_numbers) return entry;
  entry["amax"] = tensor.stats.amax;
  entry["nan_count"] = tensor.stats.nan_count;
  entry["infinite_count"] = tensor.stats.infinite_count;
  entry["zero_count"] = tensor.stats.zero_count;
  for (int i = 0; i < NumberStats::kExponents; ++i) {
    const uint64_t count = tensor.stats.exponents[static_cast<size_t>(i)];
    if (count > 0) entry["exponents"][fmt::format("{}", std::max(i, 1) - 127)] = count;
  }
  for (size_t i = 0; i < tensor.errors.size(); ++i) {
    const double value = error_decibels(tensor.errors[i]);
    entry["decibels"][look.formats[i]] = std::isfinite(value) ? nlohmann::ordered_json(value) : nullptr;
  }
  return entry;
}

// Returns ASCII on one line. Bytes of a path that are not UTF-8 become U+FFFD.
std::string json_text(const nlohmann::ordered_json &value) {
  return value.dump(-1, ' ', true, nlohmann::ordered_json::error_handler_t::replace);
}

// Numbers and bools are JSON values; strings and arrays are texts.
nlohmann::ordered_json metadata_json(const MetadataEntry &entry) {
  nlohmann::ordered_json result = {{"key", entry.key}, {"type", entry.type}};
  const bool is_text = entry.type == "string" || entry.type.starts_with("array");
  if (entry.type.starts_with("array")) result["count"] = entry.count;
  const auto value = is_text ? nlohmann::ordered_json() : nlohmann::ordered_json::parse(entry.value, nullptr, false);
  // JSON has no infinities and no NaN.
  result["value"] = value.is_number() || value.is_boolean() ? value : nlohmann::ordered_json(entry.value);
  return result;
}

// Prints tensor by tensor, because the JSON tree of the full file needs more memory than the statistics.
void print_json(const FileLook &look) {
  print_out("{{\"file\": {}, \"file_bytes\": {}, ", json_text(look.path), look.file_bytes);
  if (!look.metadata.empty()) {
    print_out("\"metadata\": [");
    for (const MetadataEntry &entry : look.metadata) {
      print_out("{}\n{}", &entry == look.metadata.data() ? "" : ",", json_text(metadata_json(entry)));
    }
    print_out("\n],\n");
  }
  print_out("\"tensors\": [");
  for (const TensorLook &tensor : look.tensors) {
    print_out("{}\n{}", &tensor == look.tensors.data() ? "" : ",", json_text(tensor_json(tensor, look)));
  }
  print_out("\n]}}\n");
}

}  // namespace

void inspect(const InspectOptions &options) {
  const FileLook look = look_at(options);
  if (options.is_json) {
    print_json(look);
  } else {
    write_out(look_table(look));
  }
  if (!options.picture.empty()) write_text(options.picture, look_picture(look));
}

}  // namespace tool
