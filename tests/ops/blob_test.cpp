// Saved states: written states are read, and all others are rejected.
#include "src/base/blob.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

namespace lpt {
namespace {

std::vector<uint8_t> save(BlobWriter &writer) {
  std::vector<uint8_t> blob(writer.size_bytes());
  EXPECT_TRUE(writer.save(blob.data(), blob.size()).is_ok());
  return blob;
}

std::vector<uint8_t> sample() {
  BlobWriter writer(BlobKind::kScaler);
  writer.u32(0x01020304);
  writer.u64(0x05060708090A0B0C);
  writer.i64(-5);
  writer.f32(-1.5f);
  writer.f64(0.1);
  writer.bytes("abc", 3);
  return save(writer);
}

// Reads an exact copy on the heap, so that sanitizers detect reads past its end.
Status open(const std::vector<uint8_t> &blob, BlobKind kind = BlobKind::kScaler) {
  BlobReader reader;
  const std::vector<uint8_t> copy = blob;
  const uint8_t none = 0;
  return BlobReader::open(kind, copy.empty() ? &none : copy.data(), copy.size(), reader);
}

TEST(Blob, ReadsWhatWasWritten) {
  const std::vector<uint8_t> blob = sample();
  BlobReader reader;
  ASSERT_TRUE(BlobReader::open(BlobKind::kScaler, blob.data(), blob.size(), reader).is_ok());
  EXPECT_EQ(0x01020304u, reader.u32());
  EXPECT_EQ(0x05060708090A0B0Cu, reader.u64());
  EXPECT_EQ(-5, reader.i64());
  EXPECT_EQ(-1.5f, reader.f32());
  EXPECT_EQ(0.1, reader.f64());
  char text[4] = {};
  reader.bytes(text, 3);
  EXPECT_STREQ("abc", text);
  EXPECT_TRUE(reader.is_ok());
  EXPECT_EQ(0u, reader.left_bytes());
}

TEST(Blob, IsTheSameOnEveryMachine) {
  BlobWriter writer(BlobKind::kLinear);
  writer.u32(0x01020304);
  const std::vector<uint8_t> blob = save(writer);
  const uint8_t header[] = {'L', 'P', 'T', 'S', 1, 0, 0, 0, 2, 0, 0, 0, 32, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0};
  const uint8_t payload[] = {4, 3, 2, 1};
  ASSERT_EQ(kBlobHeaderBytes + 4, blob.size());
  EXPECT_EQ(0, std::memcmp(blob.data(), header, sizeof header));
  EXPECT_EQ(0, std::memcmp(&blob[kBlobHeaderBytes], payload, sizeof payload));
}

TEST(Blob, HasTheChecksumOfIeee802) {
  BlobWriter writer(BlobKind::kScaler);
  writer.bytes("123456789", 9);
  const std::vector<uint8_t> blob = save(writer);
  const uint8_t known[] = {0x26, 0x39, 0xF4, 0xCB};  // 0xCBF43926, the check value of CRC-32
  EXPECT_EQ(0, std::memcmp(&blob[24], known, 4));
}

TEST(Blob, TellsTheSpaceThatItTakes) {
  BlobWriter writer(BlobKind::kScaler);
  writer.u64(1);
  EXPECT_EQ(kBlobHeaderBytes + 8, writer.size_bytes());
  std::vector<uint8_t> small(writer.size_bytes() - 1, 0xC7);
  EXPECT_EQ(LPT_INVALID_ARGUMENT, writer.save(small.data(), small.size()).code());
  EXPECT_EQ(std::vector<uint8_t>(small.size(), 0xC7), small) << "nothing is written";
}

TEST(Blob, RejectsEveryTruncation) {
  const std::vector<uint8_t> blob = sample();
  ASSERT_TRUE(open(blob).is_ok());
  for (size_t length = 0; length < blob.size(); ++length) {
    const std::vector<uint8_t> cut(blob.begin(), blob.begin() + static_cast<std::ptrdiff_t>(length));
    EXPECT_EQ(LPT_INVALID_STATE, open(cut).code()) << length;
  }
}

TEST(Blob, RejectsEveryFlippedBit) {
  const std::vector<uint8_t> blob = sample();
  for (size_t byte = 0; byte < blob.size(); ++byte) {
    for (int bit = 0; bit < 8; ++bit) {
      std::vector<uint8_t> damaged = blob;
      damaged[byte] = static_cast<uint8_t>(damaged[byte] ^ (1 << bit));
      EXPECT_EQ(LPT_INVALID_STATE, open(damaged).code()) << "byte " << byte << " bit " << bit;
    }
  }
}

TEST(Blob, RejectsAPayloadLengthThatWrapsAround) {
  std::vector<uint8_t> blob = sample();
  std::memset(&blob[16], 0xFF, 8);
  EXPECT_EQ(LPT_INVALID_STATE, open(blob).code());
}

TEST(Blob, RejectsAnotherKind) { EXPECT_EQ(LPT_INVALID_STATE, open(sample(), BlobKind::kOptimizerParameter).code()); }

TEST(Blob, GivesZerosPastItsEnd) {
  BlobWriter writer(BlobKind::kScaler);
  writer.u32(7);
  const std::vector<uint8_t> blob = save(writer);
  BlobReader reader;
  ASSERT_TRUE(BlobReader::open(BlobKind::kScaler, blob.data(), blob.size(), reader).is_ok());
  EXPECT_EQ(0u, reader.u64());
  EXPECT_FALSE(reader.is_ok());
  EXPECT_EQ(4u, reader.left_bytes()) << "what does not fit is not taken";
}

}  // namespace
}  // namespace lpt
