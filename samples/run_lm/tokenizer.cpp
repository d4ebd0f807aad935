#include "tokenizer.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <functional>
#include <optional>
#include <queue>
#include <unordered_map>

#include "json_fields.hpp"
#include "pattern.hpp"

namespace run_lm {

namespace {

using tool::Error;

constexpr int64_t kMostTokens = int64_t{1} << 24;
// Of ByteLevel in the library tokenizers.
constexpr const char *kBytePattern =
    "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+";

std::string utf8_of(uint32_t code) {
  if (code < 0x80) return {static_cast<char>(code)};
  return {static_cast<char>(0xC0 | code >> 6), static_cast<char>(0x80 | (code & 0x3F))};
}

// Byte-level vocabularies write a byte as a printable character: itself, or 256 plus the number of unprintable bytes below it.
struct ByteCharacters {
  std::array<std::string, 256> of;
  std::unordered_map<std::string, char> to;

  ByteCharacters() {
    uint32_t other = 256;
    for (uint32_t byte = 0; byte < 256; ++byte) {
      const bool is_printed = (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte != 0xAD);
      of[byte] = utf8_of(is_printed ? byte : other++);
      to[of[byte]] = static_cast<char>(byte);
    }
  }
};

const ByteCharacters &byte_characters() {
  static const ByteCharacters characters;
  return characters;
}

size_t character_bytes(char first) {
  const auto byte = static_cast<unsigned char>(first);
  return byte < 0xC0 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
}

void replace_all(std::string &text, const std::string &from, const std::string &to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

uint64_t pair_key(int32_t left, int32_t right) {
  return static_cast<uint64_t>(static_cast<uint32_t>(left)) << 32 | static_cast<uint32_t>(right);
}

// Returns the byte of "<0x0A>".
std::optional<char> byte_of(std::string_view text) {
  uint8_t byte = 0;
  const bool is_byte = text.size() == 6 && text.starts_with("<0x") && text.ends_with('>') &&
                       std::from_chars(text.data() + 3, text.data() + 5, byte, 16).ptr == text.data() + 5;
  if (!is_byte) return std::nullopt;
  return static_cast<char>(byte);
}

}  // namespace

bool is_byte_token(std::string_view text) { return byte_of(text).has_value(); }

struct Tokenizer::State {
  // A step that divides a text, or changes its beginning.
  struct SplitStep {
    std::unique_ptr<Pattern> pattern;  // null: only `adds_space`
    bool keeps_rest = true;            // the text between matches
    bool adds_space = false;           // a space at the beginning of each part, if it has none
  };

  struct Merge {
    uint32_t rank = 0;
    int32_t token = 0;
  };

  std::string file;
  std::unordered_map<std::string, int32_t> vocabulary;
  std::vector<std::string> tokens;  // by number
  std::vector<bool> is_special;
  std::vector<bool> is_added;
  std::unordered_map<uint64_t, Merge> merges;
  std::array<std::vector<int32_t>, 256> added;  // by the first byte, the longest first
  std::vector<int32_t> prefix;
  std::vector<SplitStep> steps;
  std::vector<std::pair<std::string, std::string>> replacements;
  std::string beginning;            // added to the beginning of a text
  bool is_metaspace = false;        // only where a text has no mark
  bool is_beginning_first = false;  // with `is_metaspace`: only to the beginning of the full text
  bool is_byte_level = false;
  bool has_byte_fallback = false;
  bool ignores_merges = false;
  bool fuses_unknown = false;
  int32_t unknown = -1;

  void read_vocabulary(const json &model);
  void read_merges(const json &merges_list);
  void read_added(const json &list);
  void read_normalizer(const json &normalizer);
  void read_pretokenizer(const json &step);
  void read_metaspace(const json &step);
  void read_prefix(const json &step);
  void set_token(const std::string &where, const std::string &text, const json &number);
  int32_t find(const std::string &text) const;
  std::vector<std::string> split(std::string text, bool is_first) const;
  void encode_text(std::string_view text, bool is_first, std::vector<int32_t> &out) const;
  void encode_part(const std::string &part, std::vector<int32_t> &out) const;
  std::vector<int32_t> symbols_of(const std::string &part) const;
  void merge(std::vector<int32_t> &symbols) const;
};

void Tokenizer::State::set_token(const std::string &where, const std::string &text, const json &number) {
  if (!number.is_number_unsigned() || number.get<uint64_t>() >= static_cast<uint64_t>(kMostTokens)) {
    reject(file, where, number, fmt::format("a whole number, 0 to {}", kMostTokens - 1).c_str());
  }
  const auto token = number.get<int32_t>();
  if (token >= std::ssize(tokens)) {
    tokens.resize(static_cast<size_t>(token) + 1);
    is_special.resize(tokens.size());
    is_added.resize(tokens.size());
  }
  tokens[static_cast<size_t>(token)] = text;
  vocabulary[text] = token;
}

int32_t Tokenizer::State::find(const std::string &text) const {
  const auto found = vocabulary.find(text);
  return found == vocabulary.end() ? -1 : found->second;
}

void Tokenizer::State::read_vocabulary(const json &model) {
  const std::string type = text_of(file, model, "type", "BPE");
  if (type != "BPE") reject(file, "model.type", type, "BPE");
  const json &list = member_of(model, "vocab");
  if (!list.is_object() || list.empty()) reject(file, "model.vocab", list, "an object of tokens and their numbers");
  for (const auto &[text, number] : list.items()) {
    set_token(fmt::format("model.vocab: {}", tool::in_quotes(text)), text, number);
  }
  for (const char *name : {"continuing_subword_prefix", "end_of_word_suffix"}) {
    if (!text_of(file, model, name, "").empty()) reject(file, name, member_of(model, name), "null");
  }
  has_byte_fallback = bool_of(file, model, "byte_fallback", false);
  ignores_merges = bool_of(file, model, "ignore_merges", false);
  fuses_unknown = bool_of(file, model, "fuse_unk", false);
  unknown = find(text_of(file, model, "unk_token", ""));
}

void Tokenizer::State::read_merges(const json &merges_list) {
  if (!merges_list.is_array()) reject(file, "model.merges", merges_list, "an array");
  for (size_t rank = 0; rank < merges_list.size(); ++rank) {
    const json &entry = merges_list[rank];
    std::string left, right;
    if (entry.is_string()) {
      const auto text = entry.get<std::string>();
      const size_t space = text.find(' ');
      left = text.substr(0, space);
      right = space == std::string::npos ? "" : text.substr(space + 1);
    } else if (entry.is_array() && entry.size() == 2 && entry[0].is_string() && entry[1].is_string()) {
      left = entry[0].get<std::string>();
      right = entry[1].get<std::string>();
    }
    const int32_t token = find(left + right);
    if (find(left) < 0 || find(right) < 0 || token < 0) {
      reject(file, fmt::format("model.merges: element {}", rank), entry, "two tokens that form a third one");
    }
    merges.try_emplace(pair_key(find(left), find(right)), Merge{static_cast<uint32_t>(rank), token});
  }
}

void Tokenizer::State::read_added(const json &list) {
  if (!list.is_array() && !list.is_null()) reject(file, "added_tokens", list, "an array");
  for (const json &entry : list) {
    const std::string text = text_of(file, entry, "content", "");
    if (text.empty()) reject(file, "added_tokens: content", entry, "a text");
    for (const char *name : {"lstrip", "rstrip", "single_word"}) {
      if (bool_of(file, entry, name, false)) reject(file, fmt::format("added_tokens: {}", name), entry, "false");
    }
    set_token("added_tokens: id", text, member_of(entry, "id"));
    const int32_t token = find(text);
    is_special[static_cast<size_t>(token)] = bool_of(file, entry, "special", false);
    is_added[static_cast<size_t>(token)] = true;
    added[static_cast<unsigned char>(text[0])].push_back(token);
  }
  for (std::vector<int32_t> &same : added) {
    std::sort(same.begin(), same.end(), [&](int32_t a, int32_t b) {
      return tokens[static_cast<size_t>(a)].size() > tokens[static_cast<size_t>(b)].size();
    });
  }
}

void Tokenizer::State::read_normalizer(const json &normalizer) {
  if (normalizer.is_null()) return;
  const std::string type = text_of(file, normalizer, "type", "");
  if (type == "Sequence") {
    for (const json &one : member_of(normalizer, "normalizers")) read_normalizer(one);
  } else if (type == "Prepend") {
    beginning = text_of(file, normalizer, "prepend", "");
  } else if (type == "Replace" && member_of(member_of(normalizer, "pattern"), "String").is_string()) {
    replacements.emplace_back(text_of(file, member_of(normalizer, "pattern"), "String", ""),
                              text_of(file, normalizer, "content", ""));
    if (replacements.back().first.empty()) reject(file, "normalizer.pattern", normalizer, "a text");
  } else {
    reject(file, "normalizer", normalizer, "null, Prepend, Replace of a text, or a sequence of these");
  }
}

// Spaces become a mark, as in SentencePiece.
void Tokenizer::State::read_metaspace(const json &step) {
  const std::string mark = text_of(file, step, "replacement", kSpaceMark);
  const std::string scheme = text_of(file, step, "prepend_scheme", "always");
  if (bool_of(file, step, "split", true)) reject(file, "pre_tokenizer.split", step, "false");
  is_metaspace = true;
  replacements.emplace_back(" ", mark);
  beginning = scheme == "never" ? "" : mark;
  is_beginning_first = scheme == "first";
}

void Tokenizer::State::read_pretokenizer(const json &step) {
  if (step.is_null()) return;
  const std::string type = text_of(file, step, "type", "");
  const auto add = [&](const std::string &pattern, bool keeps_rest) {
    steps.push_back({std::make_unique<Pattern>(fmt::format("{}: pre_tokenizer {}", file, type), pattern), keeps_rest});
  };
  if (type == "Sequence") {
    for (const json &one : member_of(step, "pretokenizers")) read_pretokenizer(one);
  } else if (type == "ByteLevel") {
    is_byte_level = true;
    if (bool_of(file, step, "add_prefix_space", true)) steps.push_back({nullptr, true, true});
    if (bool_of(file, step, "use_regex", true)) add(kBytePattern, true);
  } else if (type == "Digits") {
    add(bool_of(file, step, "individual_digits", false) ? "\\p{N}" : "\\p{N}+", true);
  } else if (type == "Metaspace") {
    read_metaspace(step);
  } else if (type == "Split") {
    const std::string pattern = text_of(file, member_of(step, "pattern"), "Regex", "");
    const std::string behavior = text_of(file, step, "behavior", "");
    const bool is_inverted = bool_of(file, step, "invert", false);
    if (pattern.empty()) reject(file, "pre_tokenizer.pattern", step, "a member Regex");
    if (is_inverted ? behavior != "Removed" : behavior != "Isolated") {
      reject(file, "pre_tokenizer.behavior", step, "Isolated, or Removed with invert");
    }
    add(pattern, !is_inverted);
  } else {
    reject(file, "pre_tokenizer", step, "null, ByteLevel, Digits, Metaspace, Split, or a sequence of these");
  }
}

void Tokenizer::State::read_prefix(const json &step) {
  const std::string type = text_of(file, step, "type", "");
  if (type == "Sequence") {
    for (const json &one : member_of(step, "processors")) read_prefix(one);
  }
  if (type != "TemplateProcessing") return;
  for (const json &part : member_of(step, "single")) {
    if (part.contains("Sequence")) return;
    const int32_t token = find(text_of(file, member_of(part, "SpecialToken"), "id", ""));
    if (token < 0) reject(file, "post_processor.single", part, "a special token of the vocabulary");
    prefix.push_back(token);
  }
}

std::vector<std::string> Tokenizer::State::split(std::string text, bool is_first) const {
  if (!is_metaspace) text.insert(0, beginning);
  for (const auto &[from, to] : replacements) replace_all(text, from, to);
  const bool has_mark = !is_metaspace || text.starts_with(beginning) || (is_beginning_first && !is_first);
  if (!has_mark) text.insert(0, beginning);
  std::vector<std::string> parts = {std::move(text)};
  for (const SplitStep &step : steps) {
    std::vector<std::string> divided;
    for (std::string &part : parts) {
      if (step.pattern == nullptr) {
        divided.push_back(part.starts_with(' ') ? part : ' ' + part);
        continue;
      }
      step.pattern->split(part, [&](std::string_view one, bool is_match) {
        if (is_match || step.keeps_rest) divided.emplace_back(one);
      });
    }
    parts = std::move(divided);
  }
  return parts;
}

// Returns the tokens of single bytes or characters.
std::vector<int32_t> Tokenizer::State::symbols_of(const std::string &part) const {
  std::vector<int32_t> symbols;
  bool is_after_unknown = false;
  for (size_t at = 0; at < part.size();) {
    const size_t bytes = is_byte_level ? 1 : character_bytes(part[at]);
    const int32_t token =
        find(is_byte_level ? byte_characters().of[static_cast<unsigned char>(part[at])] : part.substr(at, bytes));
    bool is_unknown = token < 0;
    if (!is_unknown) symbols.push_back(token);
    if (is_unknown && has_byte_fallback) {
      std::vector<int32_t> fallback;
      for (size_t i = 0; i < bytes; ++i) {
        fallback.push_back(find(fmt::format("<0x{:02X}>", static_cast<unsigned char>(part[at + i]))));
      }
      is_unknown = std::find(fallback.begin(), fallback.end(), -1) != fallback.end();
      if (!is_unknown) symbols.insert(symbols.end(), fallback.begin(), fallback.end());
    }
    // Without an unknown token, the library tokenizers omits the character too.
    if (is_unknown && unknown >= 0 && !(is_after_unknown && fuses_unknown)) symbols.push_back(unknown);
    is_after_unknown = is_unknown;
    at += bytes;
  }
  return symbols;
}

// Merges the pair of the lowest rank, of equal ones the first, until no pair has a merge.
void Tokenizer::State::merge(std::vector<int32_t> &symbols) const {
  struct Candidate {
    uint32_t rank;
    int32_t index, left, right;
    bool operator>(const Candidate &other) const {
      return rank != other.rank ? rank > other.rank : index > other.index;
    }
  };
  const auto count = static_cast<int32_t>(symbols.size());
  std::vector<int32_t> next(symbols.size()), previous(symbols.size());
  std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> queue;
  const auto add = [&](int32_t left) {
    if (left < 0 || next[static_cast<size_t>(left)] >= count) return;
    const int32_t a = symbols[static_cast<size_t>(left)];
    const int32_t b = symbols[static_cast<size_t>(next[static_cast<size_t>(left)])];
    const auto found = merges.find(pair_key(a, b));
    if (found != merges.end()) queue.push({found->second.rank, left, a, b});
  };
  for (int32_t i = 0; i < count; ++i) {
    next[static_cast<size_t>(i)] = i + 1;
    previous[static_cast<size_t>(i)] = i - 1;
  }
  for (int32_t i = 0; i < count; ++i) add(i);
  constexpr int32_t kMerged = -1;  // a symbol that its left neighbor contains
  while (!queue.empty()) {
    const Candidate best = queue.top();
    queue.pop();
    const auto left = static_cast<size_t>(best.index);
    const int32_t right = next[left];
    if (symbols[left] != best.left || right >= count || symbols[static_cast<size_t>(right)] != best.right) continue;
    symbols[left] = merges.at(pair_key(best.left, best.right)).token;
    symbols[static_cast<size_t>(right)] = kMerged;
    next[left] = next[static_cast<size_t>(right)];
    if (next[left] < count) previous[static_cast<size_t>(next[left])] = best.index;
    add(best.index);
    add(previous[left]);
  }
  std::erase(symbols, kMerged);
}

void Tokenizer::State::encode_part(const std::string &part, std::vector<int32_t> &out) const {
  if (ignores_merges) {
    std::string written = part;
    if (is_byte_level) {
      written.clear();
      for (const char byte : part) written += byte_characters().of[static_cast<unsigned char>(byte)];
    }
    const int32_t token = find(written);
    if (token >= 0) return out.push_back(token);
  }
  std::vector<int32_t> symbols = symbols_of(part);
  merge(symbols);
  out.insert(out.end(), symbols.begin(), symbols.end());
}

void Tokenizer::State::encode_text(std::string_view text, bool is_first, std::vector<int32_t> &out) const {
  if (text.empty()) return;
  for (const std::string &part : split(std::string(text), is_first)) encode_part(part, out);
}

Tokenizer::Tokenizer(const std::string &file, const std::string &text) : state_(std::make_unique<State>()) {
  const json root = tool::parse_json_object(file, text);
  const json &model = member_of(root, "model");
  state_->file = file;
  state_->read_vocabulary(model);
  state_->read_merges(member_of(model, "merges"));
  state_->read_added(member_of(root, "added_tokens"));
  state_->read_normalizer(member_of(root, "normalizer"));
  state_->read_pretokenizer(member_of(root, "pre_tokenizer"));
  state_->read_prefix(member_of(root, "post_processor"));
}

Tokenizer::~Tokenizer() = default;

std::vector<int32_t> Tokenizer::encode(std::string_view text) const {
  const size_t bad = tool::first_bad_utf8(text);
  if (bad < text.size()) {
    throw Error(
        fmt::format("byte {} of the text is 0x{:02x}: expected UTF-8", bad, static_cast<unsigned char>(text[bad])));
  }
  std::vector<int32_t> out;
  size_t begin = 0;
  for (size_t at = 0; at < text.size();) {
    const std::vector<int32_t> &candidates = state_->added[static_cast<unsigned char>(text[at])];
    const auto found = std::find_if(candidates.begin(), candidates.end(), [&](int32_t token) {
      return text.substr(at).starts_with(state_->tokens[static_cast<size_t>(token)]);
    });
    if (found == candidates.end()) {
      ++at;
      continue;
    }
    state_->encode_text(text.substr(begin, at - begin), begin == 0, out);
    out.push_back(*found);
    at += state_->tokens[static_cast<size_t>(*found)].size();
    begin = at;
  }
  state_->encode_text(text.substr(begin), begin == 0, out);
  return out;
}

const std::vector<int32_t> &Tokenizer::prefix() const { return state_->prefix; }

int64_t Tokenizer::size() const { return std::ssize(state_->tokens); }

std::string Tokenizer::bytes_of(int32_t token) const {
  if (token < 0 || token >= size() || state_->is_special[static_cast<size_t>(token)]) return "";
  const std::string &text = state_->tokens[static_cast<size_t>(token)];
  if (state_->is_added[static_cast<size_t>(token)]) return text;
  std::string bytes;
  if (!state_->is_byte_level) {
    if (const std::optional<char> byte = byte_of(text)) return {*byte};
    bytes = text;
    replace_all(bytes, kSpaceMark, " ");
    return bytes;
  }
  for (size_t at = 0; at < text.size(); at += character_bytes(text[at])) {
    const auto found = byte_characters().to.find(text.substr(at, character_bytes(text[at])));
    if (found != byte_characters().to.end()) bytes += found->second;
  }
  return bytes;
}

}  // namespace run_lm
