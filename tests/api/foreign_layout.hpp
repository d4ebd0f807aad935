// Common parts of the tests of foreign layouts: tensors in the bytes of another library, and their parts.
#pragma once

#include "tests/api/support.hpp"

namespace lpt::test {

using Bytes = std::vector<uint8_t>;

// Fills memory that a call must not write.
constexpr uint8_t kGarbage = 0xA5;

inline size_t size_of(lpt_context *context, const lpt_tensor *tensor, lpt_foreign_layout foreign_layout) {
  size_t size = 0;
  EXPECT_TRUE(ok(context, lpt_foreign_layout_size(context, tensor, foreign_layout, &size)));
  return size;
}

// Returns the bytes of a tensor in a foreign layout. Checks that the byte after them is unchanged.
inline Bytes exported(lpt_context *context, const lpt_tensor *tensor, lpt_foreign_layout foreign_layout) {
  Bytes bytes(size_of(context, tensor, foreign_layout) + 1, kGarbage);
  EXPECT_TRUE(ok(context, lpt_foreign_layout_export(context, tensor, foreign_layout, bytes.data(), bytes.size() - 1)));
  EXPECT_EQ(kGarbage, bytes.back());
  bytes.pop_back();
  return bytes;
}

inline testing::AssertionResult import(lpt_context *context, const Bytes &bytes, lpt_foreign_layout foreign_layout,
                                       lpt_tensor *tensor) {
  return ok(context, lpt_foreign_layout_import(context, bytes.data(), bytes.size(), foreign_layout, tensor));
}

inline Bytes part_bytes(lpt_context *context, const lpt_tensor *tensor, lpt_tensor_part part) {
  return plain_bytes(context, part_of(context, tensor, part).get());
}

inline Bytes random_bytes(uint64_t place, size_t count) {
  Random random(place);
  Bytes bytes(count);
  for (uint8_t &byte : bytes) byte = static_cast<uint8_t>(random.bits());
  return bytes;
}

inline void fill(lpt_context *context, lpt_tensor *tensor, lpt_tensor_part part, const Bytes &bytes) {
  const Bytes old = part_bytes(context, tensor, part);
  ASSERT_EQ(old.size(), bytes.size());
  std::memcpy(part_data<uint8_t>(context, tensor, part), bytes.data(), bytes.size());
}

// Both calls return an error that names the element, and change no output.
inline void expect_rejected_export(lpt_context *context, const lpt_tensor *tensor, lpt_foreign_layout foreign_layout,
                                   const std::vector<const char *> &words) {
  Bytes bytes(size_of(context, tensor, foreign_layout), kGarbage);
  EXPECT_EQ(LPT_INVALID_ARGUMENT,
            lpt_foreign_layout_export(context, tensor, foreign_layout, bytes.data(), bytes.size()));
  expect_words(words, lpt_context_error(context));
  EXPECT_EQ(Bytes(bytes.size(), kGarbage), bytes);
}

inline void expect_rejected_import(lpt_context *context, const Bytes &bytes, lpt_foreign_layout foreign_layout,
                                   lpt_tensor *tensor, const std::vector<const char *> &words) {
  const Bytes before = bytes_of(context, tensor);
  EXPECT_EQ(LPT_INVALID_ARGUMENT,
            lpt_foreign_layout_import(context, bytes.data(), bytes.size(), foreign_layout, tensor));
  expect_words(words, lpt_context_error(context));
  EXPECT_EQ(before, bytes_of(context, tensor));
}

}  // namespace lpt::test
