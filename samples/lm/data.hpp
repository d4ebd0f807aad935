// Text as bytes, and the windows of it that training and validation see.
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

  // Throws Error when the file is missing, cannot be read, or is empty.
  static ByteText read(const std::string &path);

  std::span<const uint8_t> training() const { return std::span(bytes_).first(training_bytes_); }
  std::span<const uint8_t> held_out() const { return std::span(bytes_).subspan(training_bytes_); }
  size_t size() const { return bytes_.size(); }

  // A hash of all bytes: a checkpoint continues on the text it came from.
  uint64_t fingerprint() const;

 private:
  std::vector<uint8_t> bytes_;
  size_t training_bytes_;
};

// Windows of the text, one after the other; each target is the byte after its input.
struct Batch {
  std::vector<uint8_t> inputs;
  std::vector<uint8_t> targets;
};

// How one optimizer step reads the text.
struct BatchPlan {
  int64_t sequence = 128;     // bytes per window
  int64_t sequences = 16;     // windows per step, of all micro-batches and ranks
  int64_t micro_batches = 1;  // forward and backward passes per step
  uint64_t seed = 0;
};

// Cuts batches out of a text. A batch is a function of the plan, the step and the rank: the step is the data position.
class BatchSource {
 public:
  // `text` is borrowed. Throws Error when it is too short or the plan does not divide evenly.
  BatchSource(const ByteText &text, const BatchPlan &plan, Parallel parallel);

  // Windows per pass of this rank.
  int64_t pass_sequences() const { return pass_sequences_; }

  // The windows of one pass, drawn from anywhere in the training part.
  Batch training(int64_t step, int64_t micro_batch) const;

  // At least `windows` windows, evenly spaced over the held-out part, in full passes. Every rank gets all of them.
  std::vector<Batch> validation(int64_t windows) const;

 private:
  void append_window(std::span<const uint8_t> text, size_t start, Batch &batch) const;

  const ByteText &text_;
  BatchPlan plan_;
  Parallel parallel_;
  int64_t pass_sequences_;
};

// Bits per byte of `gzip -9`, or a negative number when gzip is not there.
double gzip_bits_per_byte(const std::string &path, size_t size);

}  // namespace lm
