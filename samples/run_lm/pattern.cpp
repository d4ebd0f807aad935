#include "pattern.hpp"

#include <fmt/format.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "../../tools/lpt/error.hpp"
#include "../../tools/lpt/text.hpp"

namespace run_lm {

namespace {

// Patterns of files are untrusted, and a backtracking matcher can take minutes for one text.
constexpr uint32_t kMostSteps = 10'000'000;

std::string error_text(int code) {
  unsigned char text[256] = "";
  pcre2_get_error_message(code, text, sizeof text);
  return reinterpret_cast<const char *>(text);
}

}  // namespace

Pattern::Pattern(const std::string &where, const std::string &pattern) : where_(where) {
  int code = 0;
  PCRE2_SIZE offset = 0;
  // Unicode properties for \s, \d and \w, as in the library tokenizers.
  pcre2_code *compiled = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern.data()), pattern.size(),
                                       PCRE2_UTF | PCRE2_UCP, &code, &offset, nullptr);
  if (compiled == nullptr) {
    throw tool::Error(fmt::format("{} is {}: {} at byte {}: expected a regular expression", where,
                                  tool::in_quotes(pattern), error_text(code), offset));
  }
  pcre2_jit_compile(compiled, PCRE2_JIT_COMPLETE);  // without it the matcher is slower
  code_ = std::shared_ptr<void>(compiled, [](void *made) { pcre2_code_free(static_cast<pcre2_code *>(made)); });
}

void Pattern::split(std::string_view text,
                    const std::function<void(std::string_view part, bool is_match)> &visit) const {
  const auto *code = static_cast<const pcre2_code *>(code_.get());
  const std::unique_ptr<pcre2_match_data, decltype(&pcre2_match_data_free)> data(
      pcre2_match_data_create_from_pattern(code, nullptr), pcre2_match_data_free);
  const std::unique_ptr<pcre2_match_context, decltype(&pcre2_match_context_free)> limits(
      pcre2_match_context_create(nullptr), pcre2_match_context_free);
  pcre2_set_match_limit(limits.get(), kMostSteps);
  size_t done = 0, from = 0;
  while (from < text.size()) {
    // The caller has checked that the text is UTF-8.
    const int found = pcre2_match(code, reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), from,
                                  PCRE2_NO_UTF_CHECK | PCRE2_NOTEMPTY, data.get(), limits.get());
    if (found == PCRE2_ERROR_NOMATCH) break;
    if (found < 0) {
      throw tool::Error(fmt::format("{}: cannot match from byte {} of a text: {}", where_, from, error_text(found)));
    }
    const size_t begin = pcre2_get_ovector_pointer(data.get())[0], end = pcre2_get_ovector_pointer(data.get())[1];
    if (begin > done) visit(text.substr(done, begin - done), false);
    visit(text.substr(begin, end - begin), true);
    done = from = end;
  }
  if (done < text.size()) visit(text.substr(done), false);
}

}  // namespace run_lm
