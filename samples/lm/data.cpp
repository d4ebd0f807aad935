#include "data.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <numeric>
#include <utility>

#include "files.hpp"
#include "handles.hpp"
#include "hash.hpp"
#include "random.hpp"
#include "ranks.hpp"

namespace lm {

namespace {

constexpr size_t kHeldOutShare = 20;        // one byte in kHeldOutShare is held out
constexpr uint64_t kBatchStream = 0xBA7C4;  // distinct from the streams of the parameters
constexpr const char *kGzipCommand = "gzip -9 -c < {} 2>/dev/null | wc -c";

// Returns a path as one quoted word of a shell command.
std::string quoted(const std::string &path) {
  std::string word = "'";
  for (const char c : path) {
    word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  }
  return word + "'";
}

}  // namespace

ByteText::ByteText(std::vector<uint8_t> bytes)
    : bytes_(std::move(bytes)), training_bytes_(bytes_.size() - bytes_.size() / kHeldOutShare) {}

ByteText ByteText::read(const std::string &path) {
  std::vector<uint8_t> bytes = read_file("data file", path);
  if (bytes.empty()) {
    throw Error(fmt::format("data file {} is empty", path));
  }
  return ByteText(std::move(bytes));
}

uint64_t ByteText::fingerprint() const { return hash_bytes(bytes_); }

BatchSource::BatchSource(const ByteText &text, const BatchPlan &plan, Parallel parallel)
    : text_(text), plan_(plan), group_(parallel.rank), groups_(parallel.ranks) {
  if (parallel.sequence != nullptr) {
    group_ /= parallel.sequence->ranks();
    groups_ /= parallel.sequence->ranks();
    positions_ = parallel.sequence->positions(plan.sequence);
  } else {
    positions_.resize(static_cast<size_t>(plan.sequence));
    std::iota(positions_.begin(), positions_.end(), 0);
  }
  const int64_t parts = plan.micro_batches * groups_;
  if (plan.sequences < 1 || plan.micro_batches < 1 || plan.sequences % parts != 0) {
    throw Error(
        fmt::format("batch is {}, expected a positive multiple of micro-batches x ranks = {}", plan.sequences, parts));
  }
  pass_sequences_ = plan.sequences / parts;
  const auto window = static_cast<size_t>(plan.sequence + 1);
  if (text.held_out().size() < window) {
    throw Error(fmt::format("the text has {} bytes, expected at least {}: its last 1/{} must hold a window of {}",
                            text.size(), window * kHeldOutShare, kHeldOutShare, window));
  }
}

void BatchSource::append_window(std::span<const uint8_t> text, size_t start, Batch &batch) const {
  for (const int64_t position : positions_) {
    batch.inputs.push_back(text[start + static_cast<size_t>(position)]);
    batch.targets.push_back(text[start + static_cast<size_t>(position) + 1]);
  }
}

Batch BatchSource::training(int64_t step, int64_t micro_batch) const {
  const std::span<const uint8_t> text = text_.training();
  const uint64_t starts = text.size() - static_cast<size_t>(plan_.sequence);
  const int64_t first = step * plan_.sequences + (micro_batch * groups_ + group_) * pass_sequences_;
  Batch batch;
  for (int64_t i = 0; i < pass_sequences_; ++i) {
    append_window(text, random_bits(plan_.seed, kBatchStream, static_cast<uint64_t>(first + i)) % starts, batch);
  }
  return batch;
}

std::vector<Batch> BatchSource::validation(int64_t windows) const {
  const std::span<const uint8_t> text = text_.held_out();
  const int64_t passes = (windows + pass_sequences_ - 1) / pass_sequences_;
  const auto count = static_cast<size_t>(passes * pass_sequences_);
  const size_t last_start = text.size() - static_cast<size_t>(plan_.sequence) - 1;
  std::vector<Batch> batches(static_cast<size_t>(passes));
  for (size_t i = 0; i < count; ++i) {
    append_window(text, last_start * i / count, batches[i / static_cast<size_t>(pass_sequences_)]);
  }
  return batches;
}

double gzip_bits_per_byte(const std::string &path, size_t size) {
  std::FILE *pipe = popen(fmt::format(kGzipCommand, quoted(path)).c_str(), "r");
  if (pipe == nullptr) {
    return -1.0;
  }
  unsigned long long bytes = 0;
  const int read = std::fscanf(pipe, "%llu", &bytes);
  pclose(pipe);
  return read == 1 && bytes > 0 ? 8.0 * static_cast<double>(bytes) / static_cast<double>(size) : -1.0;
}

}  // namespace lm
