#include "journal.hpp"

#include <fmt/format.h>

#include "digest.hpp"
#include "error.hpp"

namespace tool {

namespace {

constexpr size_t kChecksumDigits = 16;

std::string checksum(std::string_view text) {
  Digest digest;
  digest.add(text);
  return fmt::format("{:016x}", digest.value());
}

// Returns nothing for an incomplete line.
std::optional<nlohmann::json> parse_line(std::string_view line) {
  if (line.size() <= kChecksumDigits + 1) return std::nullopt;
  const std::string_view text = line.substr(kChecksumDigits + 1);
  if (line.substr(0, kChecksumDigits) != checksum(text)) return std::nullopt;
  auto value = nlohmann::json::parse(text, nullptr, false);
  if (!value.is_object()) return std::nullopt;
  return value;
}

}  // namespace

Journal::Journal(const std::string &path)
    : is_new_(!file_exists(path)), file_(is_new_ ? File::create_new(path) : File::open_own(path)) {
  if (!file_.try_lock()) throw Error(fmt::format("{}: another conversion is writing it", path));
  std::string text(file_.size(), '\0');
  file_.read(0, std::as_writable_bytes(std::span(text)));
  for (size_t newline = 0; (newline = text.find('\n', end_)) != std::string::npos; end_ = newline + 1) {
    auto line = parse_line(std::string_view(text).substr(end_, newline - end_));
    if (!line) break;
    lines_.push_back(std::move(*line));
  }
  file_.truncate(end_);
}

void Journal::clear() {
  lines_.clear();
  end_ = 0;
  file_.truncate(0);
  file_.sync();
}

void Journal::add(const nlohmann::json &line) {
  const std::string text = line.dump();
  const std::string whole = fmt::format("{} {}\n", checksum(text), text);
  file_.write(end_, std::as_bytes(std::span(whole)));
  file_.sync();
  end_ += whole.size();
}

}  // namespace tool
