#include "shard_index.hpp"

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>

#include "error.hpp"
#include "header_parser.hpp"
#include "text.hpp"

namespace tool {

namespace {

constexpr const char *kWeightMap = "weight_map";
constexpr std::string_view kShardSuffix = ".safetensors";

// The event handler of the nlohmann parser, which keeps its stack on the heap. Members except weight_map are skipped.
class IndexEvents final : public nlohmann::json_sax<nlohmann::json> {
 public:
  IndexEvents(const std::string &file, uint64_t bytes, const HeaderMemory &memory)
      : file_(file), bytes_(bytes), memory_(memory) {}

  bool null() override { return value("null"); }
  bool boolean(bool) override { return value("a bool"); }
  bool number_integer(number_integer_t) override { return value("a number"); }
  bool number_unsigned(number_unsigned_t) override { return value("a number"); }
  bool number_float(number_float_t, const string_t &) override { return value("a number"); }
  bool binary(binary_t &) override { return value("binary data"); }

  bool string(string_t &text) override {
    if (!is_in_map_) return value("a string");
    const bool is_file_name = text.ends_with(kShardSuffix) && text.find('/') == std::string::npos;
    if (!is_file_name) {
      reject("{} of tensor {} is {}: expected the name of a *.safetensors file in the directory of the index",
             kWeightMap, in_quotes(name_), in_quotes(text));
    }
    const auto shard = shards_.emplace(text, static_cast<uint32_t>(shards_.size())).first;
    if (!index_.shard_of.emplace(name_, shard->second).second) {
      reject("tensor {} occurs twice in {}: expected it once", in_quotes(name_), kWeightMap);
    }
    check_held(file_, bytes_, index_.shard_of.size(), memory_);
    return true;
  }

  bool start_object(size_t) override {
    if (depth_ == 1 && is_weight_map_) {
      is_in_map_ = true;
    } else if (depth_ > 0) {
      value("an object");
    }
    ++depth_;
    return true;
  }
  bool start_array(size_t) override {
    value("an array");
    ++depth_;
    return true;
  }
  bool end_object() override {
    --depth_;
    is_in_map_ = false;
    return true;
  }
  bool end_array() override {
    --depth_;
    return true;
  }

  bool key(string_t &name) override {
    name_ = name;
    if (depth_ != 1) return true;
    is_weight_map_ = name == kWeightMap;
    if (is_weight_map_ && has_map_) reject("{} occurs twice: expected it once", kWeightMap);
    has_map_ = has_map_ || is_weight_map_;
    return true;
  }

  bool parse_error(size_t byte, const std::string &, const nlohmann::detail::exception &) override {
    reject("the index is not JSON: error at byte {}", byte);
  }

  // Returns the index with its shards in the order of their names.
  ShardIndex finish() {
    if (!has_map_) reject("the index has no {}: expected the file of each tensor", kWeightMap);
    std::vector<uint32_t> places(shards_.size());
    for (const auto &[name, number] : shards_) {
      places[number] = static_cast<uint32_t>(index_.shards.size());
      index_.shards.push_back(name);
    }
    for (auto &[name, shard] : index_.shard_of) shard = places[shard];
    return std::move(index_);
  }

 private:
  template <typename... Values>
  [[noreturn]] void reject(fmt::format_string<Values...> form, Values &&...values) const {
    throw Error(fmt::format("{}: {}", file_, fmt::format(form, std::forward<Values>(values)...)));
  }

  bool value(const char *what) const {
    if (is_in_map_) {
      reject("{} of tensor {} is {}: expected the name of a file", kWeightMap, in_quotes(name_), what);
    }
    if (depth_ == 1 && is_weight_map_) reject("{} is {}: expected an object", kWeightMap, what);
    return true;
  }

  const std::string &file_;
  uint64_t bytes_;
  const HeaderMemory &memory_;
  int64_t depth_ = 0;
  bool has_map_ = false;
  bool is_weight_map_ = false;  // of the member of the outer object
  bool is_in_map_ = false;
  std::string name_;  // the last key
  std::map<std::string, uint32_t> shards_;
  ShardIndex index_;
};

}  // namespace

ShardIndex parse_shard_index(const std::string &file, std::string_view text, const HeaderMemory &memory) {
  check_json_characters(file, "the index", text);
  IndexEvents events(file, text.size(), memory);
  nlohmann::json::sax_parse(text.begin(), text.end(), &events);
  return events.finish();
}

}  // namespace tool
