#include "checkpoint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "digest.hpp"
#include "error.hpp"
#include "safetensors.hpp"
#include "text.hpp"

namespace tool {

namespace {

// Throws Error for a folder. The error lists its files.
void check_no_folder(const std::string &path) {
  std::error_code problem;
  if (!std::filesystem::is_directory(path, problem)) return;
  constexpr size_t kMostNames = 3;
  std::vector<std::string> names;
  for (const auto &entry : std::filesystem::directory_iterator(path, problem)) {
    if (entry.path().extension() == ".safetensors") names.push_back(entry.path().filename().string());
  }
  if (names.empty())
    throw Error(fmt::format("{}: is a folder without *.safetensors: expected a safetensors file", path));
  std::sort(names.begin(), names.end());
  std::string text;
  for (size_t i = 0; i < std::min(names.size(), kMostNames); ++i)
    text += (i == 0 ? "" : ", ") + shortened(names[i], 60);
  throw Error(
      fmt::format("{}: is a folder: expected a safetensors file: run lpt for each of the {} that it holds: {}{}", path,
                  names.size(), text, names.size() > kMostNames ? ", ..." : ""));
}

}  // namespace

Checkpoint::Checkpoint(const std::string &path, const HeaderMemory &memory) : files_{path} {
  check_no_folder(path);
  file_ = File::open_to_read(path);
  Digest digest;
  FileHeader read = read_safetensors(file_, memory, digest);
  header_digest_ = digest.value();
  held_bytes_ = read.held_bytes;
  data_offset_ = read.data_offset;
  for (const StoredTensor &tensor : read.header.tensors) data_bytes_ += tensor.bytes();
  header_ = std::move(read.header);
}

const StoredTensor *Checkpoint::find(std::string_view name) const {
  const auto &tensors = header_.tensors;
  const auto found =
      std::lower_bound(header_.by_name.begin(), header_.by_name.end(), name,
                       [&](uint32_t index, std::string_view requested) { return tensors[index].name < requested; });
  return found == header_.by_name.end() || tensors[*found].name != name ? nullptr : &tensors[*found];
}

void Checkpoint::read(const StoredTensor &tensor, uint64_t offset, std::span<std::byte> bytes) const {
  file_.read(data_offset_ + tensor.begin + offset, bytes);
}

}  // namespace tool
