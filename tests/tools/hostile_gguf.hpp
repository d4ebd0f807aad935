// Malicious GGUF files, and the expected texts of their rejection.
#pragma once

#include <string>
#include <vector>

#include "gguf_image.hpp"
#include "hostile.hpp"

namespace tool_tests {

// A file with one entry.
inline std::string gguf_with_entry(const std::string &entry) {
  GgufImage image;
  image.entries = {entry};
  return image.bytes();
}

// A file with one tensor and 64 bytes of data.
inline std::string gguf_with_info(const std::string &info, const std::string &data = std::string(64, '\1')) {
  GgufImage image;
  image.infos = {info};
  image.data = data;
  return image.bytes();
}

// A file with one key, the alignment, and a tensor.
inline std::string gguf_with_alignment(uint32_t type, const std::string &value) {
  GgufImage image;
  image.entries = {gguf_entry("general.alignment", type, value)};
  image.infos = {gguf_info("w", {4}, kF32, 0)};
  image.data = std::string(32, '\1');
  return image.bytes();
}

inline std::string gguf_with_version(uint32_t version) {
  GgufImage image;
  image.version = version;
  return image.bytes();
}

inline std::string gguf_with_counts(uint64_t tensors, uint64_t entries) {
  GgufImage image;
  image.tensor_count = tensors;
  image.entry_count = entries;
  return image.bytes();
}

inline std::string gguf_with_two(const std::string &first, const std::string &second, size_t data_bytes) {
  GgufImage image;
  image.infos = {first, second};
  image.data = std::string(data_bytes, '\1');
  return image.bytes();
}

inline std::vector<HostileFile> hostile_gguf_headers() {
  const std::string magic = "GGUF" + u32_bytes(3);
  const std::string entry = gguf_entry("k", kGgufUint8, "\1");
  GgufImage twice;
  twice.entries = {entry, gguf_entry("other", kGgufUint8, "\1"), entry};
  std::string deep;
  for (int i = 0; i < 100; ++i) deep += u32_bytes(kGgufArray) + u64_bytes(1);
  return {
      {"gguf_magic_alone", "GGUF", {"not a GGUF file", "4 bytes long", "at least 24"}},
      {"gguf_23_bytes", magic + std::string(15, '\0'), {"23 bytes long", "at least 24"}},
      {"gguf_version_0", gguf_with_version(0), {"version is 0", "2 or 3"}},
      {"gguf_version_1", gguf_with_version(1), {"version is 1", "2 or 3"}},
      {"gguf_version_4", gguf_with_version(4), {"version is 4", "2 or 3"}},
      {"gguf_big_endian", gguf_with_version(0x03000000), {"big-endian", "little-endian"}},
      {"gguf_big_endian_2", gguf_with_version(0x02000000), {"big-endian", "little-endian"}},
      {"gguf_tensors_of_all_ones", gguf_with_counts(~uint64_t{0}, 0), {"tensors is 18446744073709551615", "at most 0"}},
      {"gguf_keys_of_all_ones", gguf_with_counts(0, ~uint64_t{0}), {"keys is 18446744073709551615", "at most 0"}},
      {"gguf_one_key_too_many", gguf_with_counts(0, 1), {"keys is 1", "8 bytes follow"}},
      {"gguf_one_tensor_too_many", gguf_with_counts(1, 0), {"tensors is 1", "8 bytes follow"}},
      {"gguf_key_beyond_file",
       magic + u64_bytes(0) + u64_bytes(1) + u64_bytes(100) + std::string(5, 'k'),
       {"key 0 of the file", "100 bytes", "5 follow", "cut off"}},
      {"gguf_key_of_all_ones",
       magic + u64_bytes(0) + u64_bytes(1) + u64_bytes(~uint64_t{0}) + std::string(5, 'k'),
       {"18446744073709551615 bytes", "cut off"}},
      {"gguf_empty_key", gguf_with_entry(gguf_entry("", kGgufUint8, "\1")), {"key has 0 bytes", "1 to 65535"}},
      {"gguf_long_key", gguf_with_entry(gguf_entry(std::string(65536, 'k'), kGgufUint8, "\1")), {"65536 bytes"}},
      {"gguf_key_not_utf8", gguf_with_entry(gguf_entry("k\xFF", kGgufUint8, "\1")), {"byte 1", "0xff", "UTF-8"}},
      {"gguf_key_twice", twice.bytes(), {"key \"k\"", "twice", "once"}},
      {"gguf_type_13", gguf_with_entry(gguf_entry("k", 13, "\1")), {"\"k\"", "type is 13", "0 to 12"}},
      {"gguf_type_of_elements_13",
       gguf_with_entry(gguf_entry("k", kGgufArray, gguf_array(13, 1, "\1"))),
       {"\"k\"", "elements is 13", "0 to 12"}},
      {"gguf_array_of_all_ones",
       gguf_with_entry(gguf_entry("k", kGgufArray, gguf_array(kGgufUint32, ~uint64_t{0}, ""))),
       {"\"k\"", "elements is 18446744073709551615", "at most"}},
      {"gguf_array_wraps",
       gguf_with_entry(gguf_entry("k", kGgufArray, gguf_array(10, uint64_t{1} << 61, ""))),
       {"\"k\"", "elements is 2305843009213693952", "at most"}},
      {"gguf_array_cut_off",
       gguf_with_entry(gguf_entry("k", kGgufArray, gguf_array(kGgufString, 2, gguf_text("a") + u64_bytes(99)))),
       {"\"k\"", "99 bytes", "cut off"}},
      {"gguf_deep_arrays", gguf_with_entry(gguf_entry("k", kGgufArray, deep)), {"\"k\"", "more than 4 arrays"}},
      {"gguf_string_beyond_file", gguf_with_entry(gguf_entry("k", kGgufString, u64_bytes(1000))), {"\"k\"", "1000"}},
      {"gguf_string_of_all_ones",
       gguf_with_entry(gguf_entry("k", kGgufString, u64_bytes(~uint64_t{0}))),
       {"\"k\"", "18446744073709551615", "cut off"}},
      {"gguf_bool_2", gguf_with_entry(gguf_entry("k", kGgufBool, "\2")), {"\"k\"", "2 as a bool", "0 or 1"}},
      {"gguf_bool_2_in_array",
       gguf_with_entry(gguf_entry("k", kGgufArray, gguf_array(kGgufBool, 20, std::string(19, '\1') + "\2"))),
       {"\"k\"", "2 as a bool"}},
      {"gguf_alignment_0", gguf_with_alignment(kGgufUint32, u32_bytes(0)), {"general.alignment", "0", "power of two"}},
      {"gguf_alignment_24", gguf_with_alignment(kGgufUint32, u32_bytes(24)), {"24", "power of two"}},
      {"gguf_alignment_is_text", gguf_with_alignment(kGgufString, gguf_text("32")), {"type is string", "uint32"}},
      {"gguf_alignment_beyond_file", gguf_with_alignment(kGgufUint32, u32_bytes(1u << 31)), {"\"w\"", "holds 0"}},
      {"gguf_key_steers_terminal", gguf_with_entry(gguf_entry("\x1B[2J", 13, "\1")), {"\\x1B[2J"}},
  };
}

inline std::vector<HostileFile> hostile_gguf_tensors() {
  const uint64_t huge = uint64_t{1} << 63;
  const std::string good = gguf_info("w", {4}, kF32, 0);
  const std::string cut = gguf_with_info(good, "");
  GgufImage no_tensors;
  no_tensors.data = "x";
  const std::string rank_of_all_ones = gguf_text("w") + u32_bytes(~uint32_t{0}) + std::string(64, '\1');
  return {
      {"gguf_empty_name", gguf_with_info(gguf_info("", {4}, kF32, 0)), {"name has 0 bytes", "1 to 65535"}},
      {"gguf_name_not_utf8", gguf_with_info(gguf_info("w\xC0\xAF", {4}, kF32, 0)), {"byte 1", "0xc0", "UTF-8"}},
      {"gguf_name_of_all_ones",
       gguf_with_info(u64_bytes(~uint64_t{0}) + std::string(32, 'w')),
       {"tensor 0 of the file", "18446744073709551615", "cut off"}},
      {"gguf_name_twice", gguf_with_two(good, gguf_info("w", {4}, kF32, 32), 64), {"\"w\"", "twice"}},
      {"gguf_five_extents", gguf_with_info(gguf_info("w", {1, 1, 1, 1, 4}, kF32, 0)), {"\"w\"", "5 extents", "most 4"}},
      {"gguf_rank_of_all_ones", gguf_with_info(rank_of_all_ones), {"\"w\"", "4294967295 extents"}},
      {"gguf_extent_2_63", gguf_with_info(gguf_info("w", {huge}, kF32, 0)), {"\"w\"", "9223372036854775808", "2^63"}},
      {"gguf_shape_overflows", gguf_with_info(gguf_info("w", {1u << 31, 1u << 31, 4}, kF32, 0)), {"\"w\"", "2^64"}},
      {"gguf_shape_wraps_to_match", gguf_with_info(gguf_info("w", {4, huge / 2 + 1}, kF32, 0)), {"\"w\"", "2^64"}},
      {"gguf_zero_hides_overflow", gguf_with_info(gguf_info("w", {0, huge - 1, huge - 1}, kF32, 0)), {"\"w\"", "2^64"}},
      {"gguf_unknown_type", gguf_with_info(gguf_info("w", {4}, 99, 0)), {"\"w\"", "type is 99", "ggml_type"}},
      {"gguf_removed_type", gguf_with_info(gguf_info("w", {32}, 4, 0)), {"\"w\"", "type is 4"}},
      {"gguf_type_of_all_ones", gguf_with_info(gguf_info("w", {4}, ~uint32_t{0}, 0)), {"type is 4294967295"}},
      {"gguf_half_a_block", gguf_with_info(gguf_info("w", {48, 2}, kQ8_0, 0)), {"\"w\"", "48 columns", "of 32"}},
      {"gguf_half_a_super_block", gguf_with_info(gguf_info("w", {384}, kQ4_K, 0)), {"\"w\"", "384 columns", "of 256"}},
      {"gguf_blocks_of_rows_together", gguf_with_info(gguf_info("w", {128, 2}, kQ6_K, 0)), {"128 columns", "of 256"}},
      {"gguf_super_block_cut_off",
       gguf_with_info(gguf_info("w", {256}, kQ6_K, 0), std::string(209, '\1')),
       {"\"w\"", "ends at byte 210", "holds 209", "cut off"}},
      {"gguf_super_blocks_wrap", gguf_with_info(gguf_info("w", {huge - 256, 4}, kQ4_K, 0)), {"\"w\"", "2^64"}},
      {"gguf_removed_type_36", gguf_with_info(gguf_info("w", {256}, 36, 0)), {"\"w\"", "type is 36"}},
      {"gguf_scalar_of_blocks", gguf_with_info(gguf_info("w", {}, kQ8_0, 0)), {"\"w\"", "1 columns", "of 32"}},
      {"gguf_offset_not_aligned", gguf_with_info(gguf_info("w", {4}, kF32, 16)), {"\"w\"", "16", "multiple of 32"}},
      {"gguf_offset_wraps", gguf_with_info(gguf_info("w", {16}, kF32, ~uint64_t{0} - 31)), {"\"w\"", "below 2^64"}},
      {"gguf_offset_beyond_file", gguf_with_info(gguf_info("w", {4}, kF32, 4096)), {"\"w\"", "4112", "holds 64"}},
      {"gguf_shape_beyond_file", gguf_with_info(gguf_info("w", {17}, kF32, 0)), {"\"w\"", "68", "holds 64"}},
      {"gguf_begins_with_hole", gguf_with_info(gguf_info("w", {4}, kF32, 32)), {"\"w\"", "32", "hole"}},
      {"gguf_hole_between", gguf_with_two(good, gguf_info("v", {4}, kF32, 64), 80), {"\"v\"", "64", "16", "hole"}},
      {"gguf_overlap",
       gguf_with_two(gguf_info("w", {16}, kF32, 0), gguf_info("v", {4}, kF32, 32), 64),
       {"\"v\"", "32", "ends at 64", "overlap"}},
      {"gguf_same_bytes_twice", gguf_with_two(good, gguf_info("v", {4}, kF32, 0), 32), {"overlap"}},
      {"gguf_bytes_behind", gguf_with_info(good, std::string(64, '\1')), {"48 bytes", "behind the last tensor"}},
      {"gguf_bytes_without_tensors", no_tensors.bytes(), {"1 bytes", "behind the last tensor"}},
      {"gguf_no_data", cut, {"\"w\"", "16", "holds 0", "cut off"}},
      {"gguf_infos_cut_off", cut.substr(0, 50), {"tensor", "cut off"}},
      {"gguf_name_steers_terminal", gguf_with_info(gguf_info("\x1B[2J", {4}, 99, 0)), {"\\x1B[2J"}},
  };
}

inline std::vector<HostileFile> hostile_gguf_files() {
  std::vector<HostileFile> files = hostile_gguf_headers();
  for (HostileFile &file : hostile_gguf_tensors()) files.push_back(std::move(file));
  return files;
}

}  // namespace tool_tests
