// Small mutations of valid and malicious files. The reader must accept only consistent files and reject all others with an
// Error. Anything else, for example a crash, fails the test.
#include <gtest/gtest.h>

#include <chrono>
#include <random>

#include "error.hpp"
#include "hostile_gguf.hpp"
#include "reader_check.hpp"

namespace tool_tests {
namespace {

constexpr uint64_t kSeed = 20240917;
constexpr int kMutations = 60000;

std::string mutated(std::string bytes, std::mt19937_64 &random) {
  const int changes = 1 + static_cast<int>(random() % 4);
  // Parts of a header, because random bytes alone rarely pass the first check.
  static const std::string kPieces[] = {"{",         "}",         "[",
                                        "]",         ",",         ":",
                                        "\"",        "0",         "9",
                                        "-",         ".",         "e",
                                        "\"dtype\"", "\"shape\"", "\"data_offsets\"",
                                        "\"F32\"",   "[0,16]",    "18446744073709551615",
                                        "\\u0000",   "null"};
  for (int i = 0; i < changes && !bytes.empty(); ++i) {
    const size_t place = random() % bytes.size();
    switch (random() % 6) {
      case 0:
        bytes[place] = static_cast<char>(random());
        break;
      case 1:
        bytes[place] = static_cast<char>(bytes[place] ^ (1 << (random() % 8)));
        break;
      case 2:
        bytes.erase(place, 1 + random() % 8);
        break;
      case 3:
        bytes.insert(place, kPieces[random() % std::size(kPieces)]);
        break;
      case 4:
        bytes.insert(place, bytes.substr(random() % bytes.size(), random() % 40));
        break;
      default:
        bytes.resize(place);
    }
  }
  // Half of the mutations have a matching length, so that the later checks run.
  if (bytes.size() > 8 && random() % 2 == 0) {
    const size_t end = bytes.rfind('}');
    if (end != std::string::npos && end >= 8) bytes = image(bytes.substr(8, end - 7), bytes.substr(end + 1));
  }
  return bytes;
}

// Changes bits, numbers and lengths of a GGUF file.
std::string mutated_gguf(std::string bytes, std::mt19937_64 &random) {
  constexpr uint64_t kNumbers[] = {0, 1, 2, 4, 8, 9, 16, 32, 255, uint64_t{1} << 31, uint64_t{1} << 61, ~uint64_t{0}};
  const int changes = 1 + static_cast<int>(random() % 3);
  for (int i = 0; i < changes && !bytes.empty(); ++i) {
    const size_t place = random() % bytes.size();
    const std::string number = u64_bytes(kNumbers[random() % std::size(kNumbers)]);
    switch (random() % 5) {
      case 0:
        bytes[place] = static_cast<char>(bytes[place] ^ (1 << (random() % 8)));
        break;
      case 1:
        bytes.replace(place, 1 + random() % 8, number.substr(0, 1 + random() % 8));
        break;
      case 2:
        bytes.erase(place, 1 + random() % 40);
        break;
      case 3:
        bytes.insert(place, bytes.substr(random() % bytes.size(), random() % 40));
        break;
      default:
        bytes.resize(place);
    }
  }
  return bytes;
}

TEST(Mutations, OfGgufAreReadSoundlyOrRejected) {
  RecordProperty("seed", std::to_string(kSeed));
  std::mt19937_64 random(kSeed);
  GgufImage image = gguf_image({{"a.weight", {32, 2}, kQ8_0, std::string(68, '\1')},
                                {"b", {3}, kF32, std::string(12, '\1')},
                                {"c", {}, kI32, "1234"}});
  const std::string inner = gguf_array(kGgufString, 2, gguf_text("a") + gguf_text("bc"));
  image.entries.push_back(gguf_entry("nested", kGgufArray, gguf_array(kGgufArray, 1, inner)));
  image.entries.push_back(gguf_entry("flag", kGgufBool, "\1"));
  std::vector<std::string> seeds = {image.bytes()};
  for (const HostileFile &file : hostile_gguf_files()) {
    if (file.bytes.size() < 2000) seeds.push_back(file.bytes);
  }
  int accepted = 0;
  for (int i = 0; i < kMutations; ++i) {
    try {
      check_gguf_soundness(mutated_gguf(seeds[i % 3 == 0 ? random() % seeds.size() : 0], random));
      ++accepted;
    } catch (const tool::Error &error) {
      ASSERT_NE(std::string(error.what()), "");
    }
  }
  EXPECT_GT(accepted, kMutations / 200);
  EXPECT_LT(accepted, kMutations / 2);
}

TEST(Mutations, AreReadSoundlyOrRejected) {
  RecordProperty("seed", std::to_string(kSeed));
  std::mt19937_64 random(kSeed);
  std::vector<std::string> seeds = {
      checkpoint({random_matrix("a.weight", 3, 5, 1), random_matrix("b.weight", 2, 4, 2)})};
  for (const HostileFile &file : hostile_files()) {
    if (file.bytes.size() < 2000) seeds.push_back(file.bytes);
  }
  int accepted = 0;
  for (int i = 0; i < kMutations; ++i) {
    const std::string bytes = mutated(seeds[i % 3 == 0 ? random() % seeds.size() : 0], random);
    try {
      check_soundness(bytes);
      ++accepted;
    } catch (const tool::Error &error) {
      ASSERT_NE(std::string(error.what()), "");
    }
  }
  // Files are accepted and rejected.
  EXPECT_GT(accepted, kMutations / 200);
  EXPECT_LT(accepted, kMutations / 2);
}

}  // namespace
}  // namespace tool_tests
