// Malicious files, as functions that generate them, and the expected texts of their rejection.
#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

#include "image.hpp"

namespace tool_tests {

struct HostileFile {
  const char *name;
  std::string bytes;
  std::vector<std::string> words;  // the rejection contains all of them
};

inline std::string entry(const std::string &name, const std::string &dtype, const std::string &shape,
                         const std::string &offsets) {
  return fmt::format(R"("{}":{{"dtype":"{}","shape":{},"data_offsets":{}}})", name, dtype, shape, offsets);
}

inline std::vector<HostileFile> hostile_files() {
  const std::string good = entry("w", "F32", "[2,2]", "[0,16]");
  const std::string deep = std::string(200000, '[');
  const auto one = [](const std::string &body) { return "{" + body + "}"; };
  return {
      {"empty", "", {"0 bytes long", "at least 8"}},
      {"seven_bytes", std::string(7, '\0'), {"7 bytes long"}},
      {"no_header", std::string(8, '\0'), {"begins with nothing"}},
      {"length_of_all_ones", image_with_length(~uint64_t{0}, "{}", ""), {"18446744073709551615", "at most 100000000"}},
      {"length_above_limit", image_with_length(100'000'001, "{}", ""), {"100000001", "at most"}},
      {"length_beyond_file", image_with_length(99, "{}", ""), {"99", "2 bytes follow", "cut off"}},
      {"length_one_too_large", image_with_length(3, "{}", ""), {"3", "2 bytes follow"}},
      {"length_one_too_small", image_with_length(good.size() + 1, one(good), std::string(16, 'x')), {"not JSON"}},
      {"header_of_spaces", image("        ", ""), {"begins with"}},
      {"header_is_array", image("[]", ""), {"begins with", "["}},
      {"header_is_number", image("17", ""), {"begins with"}},
      {"byte_order_mark", image("\xEF\xBB\xBF{}", ""), {"begins with"}},
      {"truncated_json", image(R"({"w":{"dtype":"F32","shape":[2,2],)", 16), {"not JSON"}},
      {"zip", "PK\x03\x04" + std::string("\0\0\x08\x08", 4) + std::string(32, '\0'), {"zip", "torch.save"}},
      {"index_of_shards",
       R"({"metadata":{},"weight_map":{"a":"model-00001-of-00002.safetensors"}})",
       {"model-00001-of-00002.safetensors", "missing", "directory of the index"}},
      {"two_values", image("{}{}", ""), {"not JSON"}},
      {"zero_byte", image(std::string("{}\0{}", 5), ""), {"0x00", "control"}},
      {"not_utf8", image("{\"w\xFF\":1}", ""), {"byte 3", "0xff", "UTF-8"}},
      {"overlong_utf8", image("{\"w\xC0\xAF\":1}", ""), {"byte 3", "UTF-8"}},
      {"surrogate_utf8", image("{\"w\xED\xA0\x80\":1}", ""), {"UTF-8"}},
      {"deep_nesting", image("{\"w\":" + deep, ""), {"\"w\"", "array", "object"}},
      {"deep_objects", image(R"({"w":{"dtype":{"a":{"b":{}}}}})", ""), {"dtype", "object", "string"}},
      {"tensor_is_number", image(R"({"w":4})", ""), {"\"w\"", "4", "object"}},
      {"tensor_is_null", image(R"({"w":null})", ""), {"\"w\"", "null", "object"}},
      {"no_dtype", image(R"({"w":{"shape":[4],"data_offsets":[0,16]}})", 16), {"\"w\"", "no dtype"}},
      {"no_shape", image(R"({"w":{"dtype":"F32","data_offsets":[0,16]}})", 16), {"\"w\"", "no shape"}},
      {"no_offsets", image(R"({"w":{"dtype":"F32","shape":[4]}})", 16), {"\"w\"", "no data_offsets"}},
      {"unknown_member",
       image(R"({"w":{"dtype":"F32","shape":[4],"data_offsets":[0,16],"code":"x"}})", 16),
       {"\"code\""}},
      {"member_twice",
       image(R"({"w":{"dtype":"F32","dtype":"F16","shape":[4],"data_offsets":[0,16]}})", 16),
       {"dtype twice"}},
      {"name_twice", image(one(good + "," + good), 16), {"\"w\"", "twice"}},
      {"unknown_dtype", image(one(entry("w", "F33", "[4]", "[0,16]")), 16), {"\"w\"", "F33"}},
      {"dtype_is_number",
       image(R"({"w":{"dtype":32,"shape":[4],"data_offsets":[0,16]}})", 16),
       {"dtype is 32", "string"}},
      {"negative_extent", image(one(entry("w", "F32", "[-4]", "[0,16]")), 16), {"\"w\"", "-4"}},
      {"huge_extent", image(one(entry("w", "F32", "[18446744073709551615]", "[0,16]")), 16), {"18446744073709551615"}},
      {"extent_beyond_integers",
       image(one(entry("w", "F32", "[99999999999999999999999]", "[0,16]")), 16),
       {"99999999999999999999999", "whole number"}},
      {"fractional_extent", image(one(entry("w", "F32", "[4.5]", "[0,16]")), 16), {"4.5", "whole number"}},
      {"float_extent", image(one(entry("w", "F32", "[4e0]", "[0,16]")), 16), {"4e0", "whole number"}},
      {"extent_is_text", image(one(entry("w", "F32", "[\"4\"]", "[0,16]")), 16), {"shape", "\"4\""}},
      {"shape_is_number", image(one(entry("w", "F32", "4", "[0,16]")), 16), {"shape is 4", "array"}},
      {"nested_shape", image(one(entry("w", "F32", "[[4]]", "[0,16]")), 16), {"shape holds an array"}},
      {"gemm_overflows", image(one(entry("w", "F32", "[4294967296,4294967296]", "[0,0]")), ""), {"2^64 bits"}},
      {"gemm_wraps_to_match", image(one(entry("w", "F32", "[4611686018427387905,4]", "[0,16]")), 16), {"2^64 bits"}},
      {"zero_hides_overflow",
       image(one(entry("w", "F32", "[0,9223372036854775807,9223372036854775807]", "[0,0]")), ""),
       {"2^64 bits"}},
      {"shape_too_small", image(one(entry("w", "F32", "[2,2]", "[0,20]")), 20), {"20 bytes", "expected 16", "F32"}},
      {"shape_too_large", image(one(entry("w", "F32", "[2,3]", "[0,16]")), 16), {"16 bytes", "expected 24"}},
      {"half_a_byte", image(one(entry("w", "F4", "[3]", "[0,2]")), 2), {"12 bits", "whole bytes"}},
      {"offsets_backwards", image(one(entry("w", "F32", "[2,2]", "[16,0]")), 16), {"[16, 0]", "end behind the begin"}},
      {"one_offset", image(one(entry("w", "F32", "[2,2]", "[0]")), 16), {"1 numbers"}},
      {"three_offsets", image(one(entry("w", "F32", "[2,2]", "[0,16,32]")), 16), {"more than two"}},
      {"offset_beyond_file", image(one(entry("w", "F32", "[2,2]", "[0,16]")), 15), {"[0, 16]", "15 bytes"}},
      {"offset_huge",
       image(one(entry("w", "F32", "[2,2]", "[9223372036854775791,9223372036854775807]")), 16),
       {"9223372036854775807"}},
      {"offset_negative", image(one(entry("w", "F32", "[2,2]", "[-16,0]")), 16), {"-16"}},
      {"begins_with_hole", image(one(entry("w", "F32", "[2,2]", "[4,20]")), 20), {"begin at 4", "hole"}},
      {"hole_between",
       image(one(good + "," + entry("v", "F32", "[1]", "[20,24]")), 24),
       {"\"v\"", "begin at 20", "\"w\" ends at 16", "hole"}},
      {"overlap",
       image(one(good + "," + entry("v", "F32", "[2]", "[12,20]")), 20),
       {"\"v\"", "begin at 12", "overlap"}},
      {"same_bytes_twice", image(one(good + "," + entry("v", "F32", "[4]", "[0,16]")), 16), {"overlap"}},
      {"bytes_behind", image(one(good), 17), {"1 bytes", "behind the last tensor"}},
      {"bytes_without_tensors", image("{}", 8), {"8 bytes", "behind the last tensor"}},
      {"metadata_is_array", image(R"({"__metadata__":[]})", ""), {"__metadata__", "array"}},
      {"metadata_number", image(R"({"__metadata__":{"a":1}})", ""), {"__metadata__", "\"a\"", "string"}},
      {"metadata_object", image(R"({"__metadata__":{"a":{}}})", ""), {"__metadata__", "\"a\"", "string"}},
      {"metadata_key_twice", image(R"({"__metadata__":{"a":"1","a":"2"}})", ""), {"__metadata__", "\"a\"", "twice"}},
      {"metadata_twice", image(R"({"__metadata__":{},"__metadata__":{}})", ""), {"__metadata__", "twice"}},
      {"name_steers_terminal", image("{\"\\u001b[2J\":4}", ""), {"\\x1B[2J"}},
  };
}

}  // namespace tool_tests
