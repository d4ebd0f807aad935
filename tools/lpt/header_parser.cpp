#include "header_parser.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <limits>
#include <nlohmann/json.hpp>
#include <unordered_set>

#include "error.hpp"
#include "text.hpp"

namespace tool {

namespace {

using nlohmann::json;

// The event handler of the nlohmann parser, which keeps its stack on the heap, so that nesting uses no call stack.
class HeaderEvents final : public nlohmann::json_sax<json> {
 public:
  HeaderEvents(const std::string &file, uint64_t bytes, const HeaderMemory &memory, Header &header)
      : file_(file), bytes_(bytes), memory_(memory), header_(header) {}

  bool null() override { return reject_value("null"); }
  bool boolean(bool value) override { return reject_value(value ? "true" : "false"); }
  bool number_integer(number_integer_t value) override {
    if (is_number_expected()) reject("{} holds {}: expected no negative number", member_, value);
    return reject_value(fmt::format("{}", value));
  }
  bool number_float(number_float_t, const string_t &text) override {
    if (is_number_expected()) reject("{} holds {}: expected a whole number below 2^63", member_, shortened(text, 40));
    return reject_value(shortened(text, 40));
  }
  bool binary(binary_t &) override { return reject_value("binary data"); }

  bool number_unsigned(number_unsigned_t value) override {
    if (!is_number_expected()) return reject_value(fmt::format("{}", value));
    if (value > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
      reject("{} holds {}: expected a whole number below 2^63", member_, value);
    }
    if (member_ == "shape") {
      if (tensor_.shape.size() == kMostExtents) reject("shape has more than {} extents", kMostExtents);
      tensor_.shape.push_back(static_cast<int64_t>(value));
    } else {
      if (offset_count_ == 2) reject("data_offsets has more than two numbers: expected begin and end");
      (offset_count_ == 0 ? tensor_.begin : tensor_.end) = value;
      ++offset_count_;
    }
    return true;
  }

  bool string(string_t &value) override {
    if (place_ == Place::kMetadataValue) {
      header_.metadata[member_] = value;
      count_entry();
      place_ = Place::kMetadata;
      return true;
    }
    if (place_ != Place::kMember || member_ != "dtype") return reject_value(in_quotes(value));
    tensor_.dtype = find_dtype(value);
    if (tensor_.dtype == nullptr) reject("dtype is {}: expected one such as F32, BF16, F8_E4M3", in_quotes(value));
    place_ = Place::kTensor;
    return true;
  }

  bool start_object(size_t) override {
    if (place_ == Place::kStart) {
      place_ = Place::kTop;
    } else if (place_ == Place::kTopValue && name_ == kMetadataName) {
      place_ = Place::kMetadata;
    } else if (place_ == Place::kTopValue) {
      place_ = Place::kTensor;
      tensor_ = {};
      tensor_.name = name_;
      members_.clear();
      offset_count_ = 0;
    } else {
      return reject_value("an object");
    }
    return true;
  }

  bool key(string_t &value) override {
    if (place_ == Place::kTop) {
      if (value == kMetadataName && has_metadata_) {
        throw Error(fmt::format("{}: {} occurs twice in the header: expected it once", file_, kMetadataName));
      }
      has_metadata_ = has_metadata_ || value == kMetadataName;
      name_ = value;
      place_ = Place::kTopValue;
    } else if (place_ == Place::kMetadata) {
      if (header_.metadata.contains(value)) reject("key {} occurs twice: expected it once", in_quotes(value));
      member_ = value;
      place_ = Place::kMetadataValue;
    } else {
      if (value != "dtype" && value != "shape" && value != "data_offsets") {
        reject("has a member {}: expected dtype, shape and data_offsets", in_quotes(value));
      }
      if (!members_.insert(value).second) reject("has {} twice: expected it once", value);
      member_ = value;
      place_ = Place::kMember;
    }
    return true;
  }

  bool end_object() override {
    if (place_ == Place::kTop) {
      place_ = Place::kEnd;
      return true;
    }
    if (place_ == Place::kTensor) {
      for (const char *member : {"dtype", "shape", "data_offsets"}) {
        if (!members_.contains(member)) reject("has no {}: expected dtype, shape and data_offsets", member);
      }
      header_.tensors.push_back(std::move(tensor_));
      count_entry();
    }
    place_ = Place::kTop;
    return true;
  }

  bool start_array(size_t) override {
    if (place_ != Place::kMember || member_ == "dtype") return reject_value("an array");
    place_ = Place::kNumbers;
    return true;
  }

  bool end_array() override {
    if (member_ == "data_offsets" && offset_count_ != 2) {
      reject("data_offsets has {} numbers: expected begin and end", offset_count_);
    }
    place_ = Place::kTensor;
    return true;
  }

  bool parse_error(size_t byte, const std::string &, const nlohmann::detail::exception &) override {
    throw Error(fmt::format("{}: the header is not JSON: error at byte {}", file_, byte));
  }

 private:
  enum class Place { kStart, kTop, kTopValue, kTensor, kMember, kNumbers, kMetadata, kMetadataValue, kEnd };

  bool is_number_expected() const { return place_ == Place::kNumbers; }

  void count_entry() const { check_held(file_, bytes_, header_.tensors.size() + header_.metadata.size(), memory_); }

  template <typename... Values>
  [[noreturn]] void reject(fmt::format_string<Values...> form, Values &&...values) const {
    const std::string what = fmt::format(form, std::forward<Values>(values)...);
    const std::string subject = name_ == kMetadataName ? std::string(kMetadataName) : "tensor " + in_quotes(name_);
    throw Error(fmt::format("{}: {}: {}", file_, subject, what));
  }

  [[noreturn]] bool reject_value(const std::string &value) const {
    switch (place_) {
      case Place::kStart:
        throw Error(fmt::format("{}: the header is {}: expected a JSON object", file_, value));
      case Place::kMetadataValue:
        reject("key {} is {}: expected a string", in_quotes(member_), value);
      case Place::kMember:
        reject("{} is {}: expected {}", member_, value, member_ == "dtype" ? "a string" : "an array of numbers");
      case Place::kNumbers:
        reject("{} holds {}: expected whole numbers", member_, value);
      default:
        reject("is {}: expected an object", value);
    }
  }

  const std::string &file_;
  uint64_t bytes_;
  const HeaderMemory &memory_;
  Header &header_;
  Place place_ = Place::kStart;
  std::string name_;    // of the tensor, or kMetadataName
  std::string member_;  // of the tensor or of the metadata
  StoredTensor tensor_;
  size_t offset_count_ = 0;
  bool has_metadata_ = false;
  std::unordered_set<std::string> members_;
};

}  // namespace

void check_json_characters(const std::string &file, const char *what, std::string_view text) {
  const size_t bad = first_bad_utf8(text);
  if (bad < text.size()) {
    throw Error(fmt::format("{}: byte {} of {} is 0x{:02x}: expected UTF-8", file, bad, what,
                            static_cast<unsigned char>(text[bad])));
  }
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte < 0x20u && byte != '\n' && byte != '\r' && byte != '\t') {
      throw Error(fmt::format("{}: byte {} of {} is 0x{:02x}: expected no control character", file, i, what, byte));
    }
  }
}

Header read_header_json(const std::string &file, std::string_view text, const HeaderMemory &memory) {
  // The nlohmann parser would skip a byte-order mark.
  if (text.empty() || text.front() != '{') {
    throw Error(fmt::format("{}: not a safetensors file: the header begins with {}: expected {{", file,
                            text.empty() ? "nothing" : in_quotes(text.substr(0, 1))));
  }
  check_json_characters(file, "the header", text);
  Header header;
  HeaderEvents events(file, text.size(), memory, header);
  json::sax_parse(text.begin(), text.end(), &events);
  return header;
}

}  // namespace tool
