// Sharded checkpoints: an index, the directory of an index, and what is wrong with them.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "checkpoint.hpp"
#include "error.hpp"
#include "gguf_image.hpp"
#include "image.hpp"
#include "shard_index.hpp"
#include "workplace.hpp"

namespace tool_tests {
namespace {

using tool::StoredTensor;

constexpr const char *kIndex = "model.safetensors.index.json";
constexpr const char *kFirst = "model-00001-of-00002.safetensors";
constexpr const char *kSecond = "model-00002-of-00002.safetensors";

// A safetensors file of f32 matrices.
std::string shard_of(const std::vector<Matrix> &matrices) {
  std::string header, data;
  for (const Matrix &matrix : matrices) {
    const size_t begin = data.size();
    data += bytes_of(matrix.numbers);
    header += std::string(header.empty() ? "{" : ",") + "\"" + matrix.name + R"(":{"dtype":"F32","shape":[)" +
              std::to_string(matrix.rows) + "," + std::to_string(matrix.columns) + R"(],"data_offsets":[)" +
              std::to_string(begin) + "," + std::to_string(data.size()) + "]}";
  }
  return image(header + "}", data);
}

std::string index_text(const std::vector<std::pair<std::string, std::string>> &places) {
  std::string map;
  for (const auto &[name, file] : places) map += (map.empty() ? "\"" : ",\"") + name + "\":\"" + file + "\"";
  return R"({"metadata":{"total_size":1,"more":[{"weight_map":"x"}]},"weight_map":{)" + map + "}}";
}

const Matrix kA = random_matrix("a.weight", 32, 64, 1);
const Matrix kB = random_matrix("b.weight", 48, 32, 2);
const Matrix kC = random_matrix("c.weight", 16, 128, 3);

class Sharded : public testing::Test {
 protected:
  Sharded() {
    std::filesystem::create_directory(workplace.path("m"));
    workplace.write(std::string("m/") + kFirst, shard_of({kA, kC}));
    workplace.write(std::string("m/") + kSecond, shard_of({kB}));
    write_index({{"a.weight", kFirst}, {"b.weight", kSecond}, {"c.weight", kFirst}});
  }

  void write_index(const std::vector<std::pair<std::string, std::string>> &places) {
    workplace.write(std::string("m/") + kIndex, index_text(places));
  }

  void expect_rejection(const std::vector<std::string> &words) {
    const Outcome outcome =
        run_lpt(workplace, {"convert", workplace.path("m"), workplace.path("o"), "--to", "fp8", "--quiet"});
    EXPECT_EQ(outcome.status, 2);
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    for (const std::string &word : words) EXPECT_NE(outcome.err.find(word), std::string::npos) << word << outcome.err;
    EXPECT_FALSE(workplace.has("o"));
  }

  Workplace workplace;
};

TEST_F(Sharded, ConvertsToTheFileOfAllTensors) {
  const std::string one = workplace.write("one", shard_of({kA, kC, kB}));
  ASSERT_EQ(run_lpt(workplace, {"convert", one, workplace.path("expected"), "--to", "nvfp4"}).status, 0);
  for (const std::string &input : {std::string("m"), std::string("m/") + kIndex}) {
    const Outcome outcome = run_lpt(
        workplace, {"convert", workplace.path(input), workplace.path("o"), "--to", "nvfp4", "--verify", "--force"});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_TRUE(workplace.read("o") == workplace.read("expected")) << input;
  }
}

TEST_F(Sharded, InspectsAllTensorsWithTheirShards) {
  const Outcome text = run_lpt(workplace, {"inspect", workplace.path("m"), "--format", "fp8", "--quiet"});
  ASSERT_EQ(text.status, 0) << text.err;
  EXPECT_NE(text.out.find("b.weight  F32    [48, 32]       2   6144"), std::string::npos) << text.out;
  EXPECT_NE(text.out.find(std::string("shard 2: ") + kSecond + "\n"), std::string::npos) << text.out;
  const Outcome json = run_lpt(workplace, {"inspect", workplace.path("m"), "--json"});
  ASSERT_EQ(json.status, 0) << json.err;
  const auto tensors = nlohmann::json::parse(json.out)["tensors"];
  ASSERT_EQ(tensors.size(), 3u);
  EXPECT_EQ(tensors[0]["shard"], kFirst);
  EXPECT_EQ(tensors[2]["name"], "b.weight");
  EXPECT_EQ(tensors[2]["shard"], kSecond);
}

TEST_F(Sharded, ReadsADirectoryWithOneFile) {
  std::filesystem::create_directory(workplace.path("single"));
  workplace.write("single/model.safetensors", shard_of({kA}));
  workplace.write("single/config.json", "{}");
  const tool::Checkpoint file(workplace.path("single"));
  EXPECT_NE(file.find("a.weight"), nullptr);
  EXPECT_TRUE(file.shards().empty());
}

// Caches of models store links.
TEST_F(Sharded, FollowsLinksToShards) {
  std::filesystem::create_directory(workplace.path("blobs"));
  for (const char *name : {kFirst, kSecond, kIndex}) {
    const std::string path = workplace.path(std::string("m/") + name),
                      target = workplace.path(std::string("blobs/") + name);
    std::filesystem::rename(path, target);
    std::filesystem::create_symlink(target, path);
  }
  EXPECT_EQ(tool::Checkpoint(workplace.path("m")).tensors().size(), 3u);
}

TEST_F(Sharded, NoticesAChangedShard) {
  const uint64_t before = tool::Checkpoint(workplace.path("m")).header_digest();
  Matrix other = kB;
  std::swap(other.rows, other.columns);
  workplace.write(std::string("m/") + kSecond, shard_of({other}));
  EXPECT_NE(tool::Checkpoint(workplace.path("m")).header_digest(), before);
}

TEST_F(Sharded, BoundsWhatTheHeadersTake) {
  const std::string path = workplace.path("m");
  const uint64_t held = tool::Checkpoint(path, {1 << 20, 1000, 1}).held_bytes();
  EXPECT_GT(held, 3000u);
  // The text of the index is held before the headers.
  const uint64_t most = std::max(held, 3000 + workplace.read(std::string("m/") + kIndex).size());
  EXPECT_EQ(tool::Checkpoint(path, {most, 1000, 1}).held_bytes(), held);
  EXPECT_THROW(tool::Checkpoint(path, {most - 1, 1000, 1}), tool::Error);
  EXPECT_THROW(tool::Checkpoint(path, {held - 1, 1000, 1}), tool::Error);
}

TEST_F(Sharded, RejectsAShardThatIsMissing) {
  std::filesystem::remove(workplace.path(std::string("m/") + kSecond));
  expect_rejection({kIndex, kSecond, "missing"});
}

TEST_F(Sharded, RejectsATensorThatTheIndexLacks) {
  write_index({{"a.weight", kFirst}, {"b.weight", kSecond}});
  expect_rejection({kFirst, "\"c.weight\"", "weight_map", kIndex});
}

TEST_F(Sharded, RejectsATensorOfAnotherShard) {
  write_index({{"a.weight", kFirst}, {"b.weight", kSecond}, {"c.weight", kSecond}});
  expect_rejection({kFirst, "\"c.weight\"", kSecond});
}

TEST_F(Sharded, RejectsATensorOfTwoShards) {
  workplace.write(std::string("m/") + kSecond, shard_of({kB, kA}));
  expect_rejection({kSecond, "\"a.weight\"", "only in", kFirst});
}

TEST_F(Sharded, RejectsATensorThatNoShardHas) {
  write_index({{"a.weight", kFirst}, {"b.weight", kSecond}, {"c.weight", kFirst}, {"d.weight", kSecond}});
  expect_rejection({kIndex, "\"d.weight\"", "missing", kSecond});
}

TEST_F(Sharded, RejectsShardsOfOtherKinds) {
  workplace.write(std::string("m/") + kSecond, gguf_image({}).bytes());
  expect_rejection({kSecond, "GGUF", "safetensors"});
  ASSERT_EQ(
      run_lpt(workplace, {"convert", workplace.write("b", shard_of({kB})), workplace.path("q"), "--to", "fp8"}).status,
      0);
  std::filesystem::rename(workplace.path("q"), workplace.path(std::string("m/") + kSecond));
  write_index({{"a.weight", kFirst}, {"b.weight", kSecond}, {"b.weight_scale", kSecond}, {"c.weight", kFirst}});
  expect_rejection({"lpt convert has quantized one of the shards"});
}

TEST_F(Sharded, RejectsDirectoriesWithoutOneIndex) {
  std::filesystem::rename(workplace.path(std::string("m/") + kIndex), workplace.path("m/other.json"));
  expect_rejection({"without *.safetensors.index.json", "2 files", kFirst});
  workplace.write("m/a.safetensors.index.json", "{}");
  workplace.write("m/b.safetensors.index.json", "{}");
  expect_rejection({"2 indices", "a.safetensors.index.json"});
}

TEST_F(Sharded, KeepsItsInputs) {
  for (const char *name : {kFirst, kSecond, kIndex}) {
    const std::string path = workplace.path(std::string("m/") + name),
                      before = workplace.read(std::string("m/") + name);
    const Outcome converted = run_lpt(workplace, {"convert", workplace.path("m"), path, "--to", "fp8", "--force"});
    EXPECT_EQ(converted.status, 2);
    EXPECT_NE(converted.err.find("is the input"), std::string::npos) << converted.err;
    const Outcome drawn = run_lpt(workplace, {"inspect", workplace.path("m"), "--picture", path});
    EXPECT_EQ(drawn.status, 2);
    EXPECT_NE(drawn.err.find("is the input"), std::string::npos) << drawn.err;
    EXPECT_TRUE(workplace.read(std::string("m/") + name) == before) << name;
  }
}

// The text of an index.

struct HostileIndex {
  const char *name;
  std::string text;
  std::vector<std::string> words;
};

std::vector<HostileIndex> hostile_indices() {
  const auto map = [](const std::string &body) { return R"({"weight_map":{)" + body + "}}"; };
  return {
      {"no_map", R"({"metadata":{"total_size":1}})", {"no weight_map"}},
      {"nested_map", R"({"metadata":{"weight_map":{"a":"b.safetensors"}}})", {"no weight_map"}},
      {"array", "[1, 2, 3, 4, 5]", {"no weight_map"}},
      {"cut_off", R"({"weight_map":{"a":"b.safetensors")", {"not JSON", "byte"}},
      {"two_values", map("") + "{}", {"not JSON"}},
      {"zero_byte", map("") + std::string("\0{}", 3), {"0x00", "index", "control"}},
      {"not_utf8", map("\"a\xFF\":\"b.safetensors\""), {"0xff", "index", "UTF-8"}},
      {"map_twice", R"({"weight_map":{},"weight_map":{}})", {"weight_map occurs twice"}},
      {"map_is_array", R"({"weight_map":[]})", {"weight_map is an array", "object"}},
      {"map_is_text", R"({"weight_map":"a"})", {"weight_map is a string", "object"}},
      {"map_is_null", R"({"weight_map":null})", {"weight_map is null", "object"}},
      {"file_is_number", map(R"("a":1)"), {"\"a\"", "a number", "name of a file"}},
      {"file_is_array", map(R"("a":["b.safetensors"])"), {"\"a\"", "an array"}},
      {"file_is_object", map(R"("a":{"b":"c.safetensors"})"), {"\"a\"", "an object"}},
      {"name_twice", map(R"("a":"b.safetensors","a":"c.safetensors")"), {"\"a\"", "twice"}},
      {"parent", map(R"("a":"../b.safetensors")"), {"\"a\"", "../b.safetensors", "directory of the index"}},
      {"absolute", map(R"("a":"/etc/b.safetensors")"), {"\"a\"", "/etc/b.safetensors", "directory of the index"}},
      {"below", map(R"("a":"x/../../b.safetensors")"), {"\"a\"", "directory of the index"}},
      {"empty_file", map(R"("a":"")"), {"\"a\"", "\"\"", "*.safetensors"}},
      {"other_file", map(R"("a":"b.bin")"), {"\"a\"", "b.bin", "*.safetensors"}},
      {"steers_terminal", map(R"("\u001b[2J":1)"), {"\\x1B[2J"}},
      {"deep", R"({"metadata":)" + std::string(200000, '['), {"not JSON"}},
  };
}

TEST(ShardIndex, RejectsHostileTexts) {
  for (const HostileIndex &index : hostile_indices()) {
    try {
      tool::parse_shard_index("index", index.text);
      ADD_FAILURE() << index.name << " is accepted";
    } catch (const tool::Error &error) {
      const std::string rejection = error.what();
      for (const std::string &word : index.words) {
        EXPECT_NE(rejection.find(word), std::string::npos) << index.name << " lacks '" << word << "': " << rejection;
      }
      EXPECT_TRUE(std::none_of(rejection.begin(), rejection.end(), [](unsigned char c) { return c < 0x20u; }));
    }
  }
}

TEST(ShardIndex, ListsTheShardsInOrder) {
  const auto index = tool::parse_shard_index(
      "index", index_text({{"x", "b.safetensors"}, {"y", "a.safetensors"}, {"z", "b.safetensors"}}));
  EXPECT_EQ(index.shards, (std::vector<std::string>{"a.safetensors", "b.safetensors"}));
  EXPECT_EQ(index.shard_of.at("x"), 1u);
  EXPECT_EQ(index.shard_of.at("y"), 0u);
  EXPECT_EQ(index.shard_of.at("z"), 1u);
}

TEST(ShardIndex, BoundsItsMemory) {
  const std::string text = index_text({{"x", "b.safetensors"}, {"y", "a.safetensors"}});
  EXPECT_NO_THROW(tool::parse_shard_index("index", text, {2000 + text.size(), 1000, 1}));
  EXPECT_THROW(tool::parse_shard_index("index", text, {1999 + text.size(), 1000, 1}), tool::Error);
}

}  // namespace
}  // namespace tool_tests
