// Text as bytes, and its windows for training and validation.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "parallel.hpp"

namespace lm {

// A text whose last twentieth is held out.
class ByteText {
 public:
  explicit ByteText(std::vector<uint8_t> bytes);

  // Throws Error if the file is missing, cannot be read, or is empty.
  static ByteText read(const std::string &path);

  std::span<const uint8_t> training() const { return std::span(bytes_).first(training_bytes_); }
  std::span<const uint8_t> held_out() const { return std::span(bytes_).subspan(training_bytes_); }
  size_t size() const { return bytes_.size(); }

  // Returns a hash of all bytes. A checkpoint must continue with the same text.
  uint64_t fingerprint() const;

 private:
  std::vector<uint8_t> bytes_;
  size_t training_bytes_;
};

// Consecutive windows of the text. Each target is the byte after its input.
struct Batch {
  std::vector<uint8_t> inputs;
  std::vector<uint8_t> targets;
};

// Layout of the batch of one optimizer step.
struct BatchPlan {
  int64_t sequence = 128;     // bytes per window
  int64_t sequences = 16;     // windows per step, of all micro-batches and ranks
  int64_t micro_batches = 1;  // forward and backward passes per step
  uint64_t seed = 0;
};

// Draws batches from a text. A batch is a function of the plan, the step and the rank, so the step is the data position.
class BatchSource {
 public:
  // `text` must outlive the source. Throws Error if it is too short or the plan does not divide evenly.
  BatchSource(const ByteText &text, const BatchPlan &plan, Parallel parallel);

  // Returns the windows per pass of this rank.
  int64_t pass_sequences() const { return pass_sequences_; }

  // Returns the windows of one pass, drawn from the full training part: the positions of this rank.
  Batch training(int64_t step, int64_t micro_batch) const;

  // Returns at least `windows` windows, evenly spaced over the held-out part, in full passes. Every rank has all of them.
  std::vector<Batch> validation(int64_t windows) const;

 private:
  void append_window(std::span<const uint8_t> text, size_t start, Batch &batch) const;

  const ByteText &text_;
  BatchPlan plan_;
  int64_t group_, groups_;          // ranks with the same windows
  std::vector<int64_t> positions_;  // of this rank in each window
  int64_t pass_sequences_;
};

// Returns the bits per byte of `gzip -9`, or a negative value if gzip is not available.
double gzip_bits_per_byte(const std::string &path, size_t size);

}  // namespace lm
