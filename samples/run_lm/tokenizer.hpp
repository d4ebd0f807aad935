// A tokenizer of the kind BPE from a tokenizer.json: over bytes (GPT-2, Llama 3), or over characters (Llama 2, Mistral).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace run_lm {

constexpr const char *kSpaceMark = "\u2581";  // of SentencePiece

// Returns whether the text of a token is that of a byte, as "<0x0A>".
bool is_byte_token(std::string_view text);

class Tokenizer {
 public:
  // Parses the text of a tokenizer.json; `file` is its name in errors. Throws tool::Error for parts that it does not support.
  Tokenizer(const std::string &file, const std::string &text);
  ~Tokenizer();

  // Returns the tokens of a UTF-8 text, including special tokens that the text names, without prefix().
  std::vector<int32_t> encode(std::string_view text) const;

  // Tokens that begin every text, such as the begin-of-text token.
  const std::vector<int32_t> &prefix() const;

  // Returns the bytes of a token; "" for a special token. A character may span several tokens.
  std::string bytes_of(int32_t token) const;

  int64_t size() const;  // one more than the largest token

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace run_lm
