#include "verify.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>
#include <sstream>
#include <vector>

#include "file.hpp"
#include "handles.hpp"
#include "text.hpp"

namespace tool {

namespace {

constexpr size_t kLanes = 65536;
constexpr uint64_t kFnvOffset = 0xCBF29CE484222325u;
constexpr uint64_t kFnvPrime = 0x100000001B3u;
constexpr int64_t kRandomCount = 10'000'000;

// The digest of the vectors: item i goes to lane i mod 65536, each lane is FNV-1a over its items' bytes from the lowest
// up, and FNV-1a over the lanes' hashes is the digest.
class LaneDigest {
 public:
  LaneDigest() { lanes_.fill(kFnvOffset); }
  void add(uint64_t item, int bytes) {
    uint64_t &lane = lanes_[count_++ % kLanes];
    for (int i = 0; i < bytes; ++i) lane = (lane ^ (item >> (8 * i) & 0xFFu)) * kFnvPrime;
  }
  std::string text() const {
    uint64_t digest = kFnvOffset;
    for (const uint64_t lane : lanes_) {
      for (int i = 0; i < 8; ++i) digest = (digest ^ (lane >> (8 * i) & 0xFFu)) * kFnvPrime;
    }
    return fmt::format("{:016x}", digest);
  }

 private:
  std::array<uint64_t, kLanes> lanes_;
  size_t count_ = 0;
};

// Every NaN as 7fc00000 with its sign.
uint32_t canonical_bits(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  return std::isnan(value) ? (bits & 0x80000000u) | 0x7FC00000u : bits;
}

float as_float(uint32_t bits) { return std::bit_cast<float>(bits); }

// A plain element: its codes lie without gaps, lowest bits first.
class Element {
 public:
  Element(lpt_context *context, const std::string &name)
      : context_(context), format_(find_format(name)), description_(describe(format_)) {}

  int bits() const { return description_.element_bits; }
  int code_bytes() const { return bits() > 8 ? 2 : 1; }
  uint32_t code_count() const { return 1u << bits(); }

  std::vector<float> decode(const std::vector<uint32_t> &codes) const {
    const auto count = static_cast<int64_t>(codes.size());
    const Tensor tensor = make_matrix(context_, format_, 1, count);
    std::byte *data = part_of(context_, tensor.get(), LPT_PART_PAYLOAD)->data;
    for (size_t i = 0; i < codes.size(); ++i) {
      for (int bit = 0; bit < bits(); ++bit) {
        const size_t place = i * static_cast<size_t>(bits()) + static_cast<size_t>(bit);
        data[place / 8] |= static_cast<std::byte>((codes[i] >> bit & 1u) << (place % 8));
      }
    }
    std::vector<float> values(codes.size());
    const Tensor target = wrap_matrix(context_, LPT_FORMAT_F32, values.data(), 1, count);
    check(context_, lpt_dequantize(context_, tensor.get(), nullptr, target.get()));
    return values;
  }

  std::vector<float> decode_all() const {
    std::vector<uint32_t> codes(code_count());
    for (uint32_t i = 0; i < codes.size(); ++i) codes[i] = i;
    return decode(codes);
  }

  // To nearest even; overflow becomes infinite where the element can say so.
  std::vector<uint32_t> encode(std::vector<float> values) const {
    const bool has_special = description_.special == LPT_SPECIAL_IEEE || description_.special == LPT_SPECIAL_NAN_ONES ||
                             description_.special == LPT_SPECIAL_FNUZ;
    // An element without NaN writes zero and then refuses: the vectors want the zero.
    if (!has_special)
      std::replace_if(
          values.begin(), values.end(), [](float value) { return std::isnan(value); }, 0.0f);
    const auto count = static_cast<int64_t>(values.size());
    const Tensor source = wrap_matrix(context_, LPT_FORMAT_F32, values.data(), 1, count);
    const Tensor tensor = make_matrix(context_, format_, 1, count);
    lpt_quantize_options options = LPT_QUANTIZE_OPTIONS_INIT;
    options.overflow = has_special ? LPT_OVERFLOW_INFINITE : LPT_OVERFLOW_SATURATE;
    check(context_, lpt_quantize(context_, source.get(), &options, tensor.get(), nullptr));
    const std::byte *data = part_of(context_, tensor.get(), LPT_PART_PAYLOAD)->data;
    std::vector<uint32_t> codes(values.size());
    for (size_t i = 0; i < codes.size(); ++i) {
      const size_t place = i * static_cast<size_t>(bits());
      const auto low = std::to_integer<uint32_t>(data[place / 8]);
      const bool is_split = place % 8 + static_cast<size_t>(bits()) > 8;
      const uint32_t high = is_split ? std::to_integer<uint32_t>(data[place / 8 + 1]) : 0;
      codes[i] = (low | high << 8) >> (place % 8) & (code_count() - 1);
    }
    return codes;
  }

  // Any NaN counts as the one that a NaN without a sign becomes.
  std::vector<uint32_t> encode_canonically(std::vector<float> values) const {
    const std::vector<float> meanings = decode_all();
    const uint32_t nan_code = encode({std::numeric_limits<float>::quiet_NaN()}).front();
    std::vector<uint32_t> codes = encode(std::move(values));
    for (uint32_t &code : codes) code = std::isnan(meanings[code]) ? nan_code : code;
    return codes;
  }

  // For each code from zero to the largest finite one the value halfway to the next, the f32 before it and the one
  // after; then all of these with a minus. After the largest comes one more step; of bare exponents it is twice as
  // wide.
  std::vector<float> midpoints() const {
    const std::vector<float> decoded = decode_all();
    std::vector<double> values;
    for (const float value : decoded) {
      values.push_back(value);
      if (static_cast<double>(value) == description_.largest) break;
    }
    const double last = values.back();
    values.push_back(2.0 * last - (description_.element == LPT_FORMAT_E8M0FNU ? 0.0 : values[values.size() - 2]));
    std::vector<float> result;
    for (size_t i = 0; i + 1 < values.size(); ++i) {
      const auto bits = std::bit_cast<uint32_t>(static_cast<float>((values[i] + values[i + 1]) / 2.0));
      for (const uint32_t near : {bits - 1, bits, bits + 1}) result.push_back(as_float(near));
    }
    for (size_t i = 0, count = result.size(); i < count; ++i) result.push_back(-result[i]);
    return result;
  }

 private:
  lpt_context *context_;
  lpt_format format_;
  lpt_format_description description_;
};

std::vector<std::string> fields_of(const std::string &line) {
  std::vector<std::string> fields;
  std::istringstream stream(line);
  for (std::string field; std::getline(stream, field, ',');) fields.push_back(field);
  return fields;
}

struct Vectors {
  std::string header;
  std::vector<std::vector<std::string>> rows;
};

Vectors read_vectors(const std::string &path) {
  Vectors vectors;
  std::istringstream lines(read_text(path));
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line.front() == '#') continue;
    if (vectors.header.empty()) {
      vectors.header = line;
    } else {
      vectors.rows.push_back(fields_of(line));
    }
  }
  return vectors;
}

uint32_t number(const std::string &text, int base) {
  try {
    return static_cast<uint32_t>(std::stoul(text, nullptr, base));
  } catch (const std::exception &) {
    throw Error(fmt::format("a vector holds {}: expected a number", in_quotes(text)));
  }
}

std::vector<float> set_of(const std::string &name, const Element &element, lpt_context *context) {
  if (name == "bf16" || name == "f16") return Element(context, name).decode_all();
  if (name == "midpoints") return element.midpoints();
  if (name != "random") return {};
  std::vector<float> values;
  for (int64_t i = 1; i <= kRandomCount; ++i) {
    uint64_t state = 1 + static_cast<uint64_t>(i) * 0x9E3779B97F4A7C15u;
    state = (state ^ (state >> 30)) * 0xBF58476D1CE4E5B9u;
    state = (state ^ (state >> 27)) * 0x94D049BB133111EBu;
    values.push_back(as_float(static_cast<uint32_t>((state ^ (state >> 31)) >> 32)));
  }
  return values;
}

struct Tally {
  int checks = 0;
  int failures = 0;
  std::string first;  // what failed first

  void add(bool is_right, const std::string &what) {
    ++checks;
    if (!is_right && failures++ == 0) first = what;
  }
};

Tally verify_codes(lpt_context *context, const std::string &name, const Vectors &vectors) {
  const Element element(context, name);
  std::vector<uint32_t> codes;
  for (const auto &row : vectors.rows) codes.push_back(number(row.at(0), 10));
  const std::vector<float> values = element.decode(codes);
  Tally tally;
  for (size_t i = 0; i < codes.size(); ++i) {
    const uint32_t expected = number(vectors.rows[i].at(1), 16);
    const uint32_t got = canonical_bits(values[i]);
    tally.add(got == expected, fmt::format("code {} decodes to {:08x}: expected {:08x}", codes[i], got, expected));
  }
  return tally;
}

Tally verify_digests(lpt_context *context, const Vectors &vectors) {
  Tally tally;
  for (const auto &row : vectors.rows) {
    const Element element(context, row.at(1));
    LaneDigest digest;
    if (row.at(0) == "codes") {
      for (const float value : element.decode_all()) digest.add(canonical_bits(value), 4);
    } else {
      std::vector<float> values = set_of(row.at(0), element, context);
      if (values.empty()) continue;  // a set of a later release
      for (const uint32_t code : element.encode_canonically(std::move(values))) digest.add(code, element.code_bytes());
    }
    tally.add(digest.text() == row.at(2),
              fmt::format("{} of {} has digest {}: expected {}", row.at(0), row.at(1), digest.text(), row.at(2)));
  }
  return tally;
}

}  // namespace

std::string installed_vectors() {
  std::error_code problem;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", problem);
  return problem ? "" : (program.parent_path().parent_path() / "share" / "lpt" / "conformance").string();
}

int verify(const std::string &folder) {
  std::map<std::string, std::string> files;  // in the order of their names
  std::error_code problem;
  for (const auto &entry : std::filesystem::directory_iterator(folder, problem)) {
    if (entry.path().extension() == ".csv") files[entry.path().stem().string()] = entry.path().string();
  }
  if (files.empty())
    throw Error(fmt::format("{}: holds no conformance vectors: expected files such as e4m3fn.csv", folder));
  const Context context = make_context(0);
  int checks = 0;
  int failures = 0;
  std::string passed_over;
  for (const auto &[name, path] : files) {
    const Vectors vectors = read_vectors(path);
    const bool is_codes = vectors.header == "code,f32_bits";
    const bool is_digests = vectors.header == "set,element,digest" && name == "digests";
    if (!is_codes && !is_digests) {
      passed_over += (passed_over.empty() ? "" : ", ") + name;
      continue;
    }
    Tally tally;
    try {
      tally = is_codes ? verify_codes(context.get(), name, vectors) : verify_digests(context.get(), vectors);
    } catch (const std::exception &error) {
      tally.add(false, error.what());
    }
    checks += tally.checks;
    failures += tally.failures;
    fmt::print("{:<14} {:>6} checks  {}\n", name, tally.checks,
               tally.failures == 0 ? "right" : fmt::format("{} wrong, first: {}", tally.failures, tally.first));
  }
  fmt::print("{} checks, {} wrong\n", checks, failures);
  if (!passed_over.empty()) fmt::print("passed over, other kinds of vectors: {}\n", passed_over);
  return failures;
}

}  // namespace tool
