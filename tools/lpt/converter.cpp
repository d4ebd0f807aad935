#include "converter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>

#include "stored_rows.hpp"
#include "text.hpp"

namespace tool {

namespace {

constexpr int64_t kCopyBytes = int64_t{512} << 10;  // two of them fit the smallest --memory
// Maximum bytes per element of a slice: raw 8, f32 and its decoded copy 8, codes 4, scales of small blocks 4; and the buffers
// of the library and of packing.
constexpr int64_t kBytesPerNumber = 40;
// Larger slices are not faster.
constexpr int64_t kMostNumbers = int64_t{4} << 20;
// Zero points of up to 16 rows share a word, and blocks have up to 128 rows: slices begin at multiples of this.
constexpr int64_t kRowGranule = 128;

// One digest for each part, combined at the end, because the parts are written alternately.
class PartDigests {
 public:
  void add(Role role, std::span<const std::byte> bytes) { digests_[static_cast<size_t>(role)].add(bytes); }
  Digest &of(Role role) { return digests_[static_cast<size_t>(role)]; }
  uint64_t value() const {
    Digest whole;
    for (const Digest &digest : digests_) whole.add(digest.value());
    return whole.value();
  }

 private:
  std::array<Digest, std::size(kRoles)> digests_;
};

MatrixShape shape_of(const Item &item) { return {item.rows, item.columns, item.row_bytes}; }

template <typename Visit>
void for_each_block(uint64_t bytes, Visit &&visit) {
  for (uint64_t offset = 0; offset < bytes; offset += kCopyBytes) {
    visit(offset, static_cast<size_t>(std::min<uint64_t>(bytes - offset, kCopyBytes)));
  }
}

std::span<std::byte> bytes_of(std::vector<float> &numbers) { return std::as_writable_bytes(std::span(numbers)); }

}  // namespace

int64_t Converter::rows_at_once(const Item &item) const {
  const lpt_format_description &description = plan_.layout_of(item).description;
  const bool is_cut = item.action == Action::kEncode || item.action == Action::kDecode;
  const int64_t own = is_cut ? RowCast::row_granule(description) : 1;
  // A cast without scales may be divided anywhere, so its granule is one row.
  const int64_t granule = !is_cut ? 1 : own == 0 ? std::max<int64_t>(item.rows, 1) : std::max(own, kRowGranule);
  const int64_t columns = std::max<int64_t>(item.columns, 1);
  const int64_t numbers = std::min(memory_bytes_ / kBytesPerNumber, own == 0 ? memory_bytes_ : kMostNumbers);
  const int64_t granules = numbers / columns / granule;
  if (granules > 0) return granules * granule;
  const int64_t fewest = std::min(granule, std::max<int64_t>(item.rows, 1));
  if (fewest <= memory_bytes_ / kBytesPerNumber / columns) return granule;
  throw Error(fmt::format("tensor {}: {} rows of {} numbers need about {}: expected at most --memory, {}",
                          in_quotes(item.name), fewest, columns,
                          size_text(static_cast<uint64_t>(fewest) * static_cast<uint64_t>(columns) * kBytesPerNumber),
                          size_text(static_cast<uint64_t>(memory_bytes_))));
}

void Converter::for_each_piece(const Item &item, const Visit &visit) const {
  const int64_t step = rows_at_once(item);
  for (int64_t first = 0; first < item.rows; first += step) visit({first, std::min(step, item.rows - first)});
}

uint64_t Converter::place_of(const Item &item, Role role) const {
  for (const OutputPart &part : item.outputs) {
    if (part.role == role) return plan_.prefix.size() + plan_.outputs[part.index].begin;
  }
  throw Error(fmt::format("tensor {}: the plan lacks one of its parts: a defect of lpt", in_quotes(item.name)));
}

ItemResult Converter::run(const Item &item, File &output, const Report &report) const {
  switch (item.action) {
    case Action::kCopy:
      return copy(item, output, report);
    case Action::kEncode:
      return encode(item, output, report);
    case Action::kCast:
      return cast(item, output, report);
    case Action::kDecode:
      return decode(item, output, report);
  }
  return {};
}

ItemResult Converter::copy(const Item &item, File &output, const Report &report) const {
  const StoredTensor &source = *item.inputs.front().tensor;
  const uint64_t place = place_of(item, Role::kPayload);
  PartDigests digests;
  std::vector<std::byte> bytes;
  for_each_block(source.bytes(), [&](uint64_t offset, size_t count) {
    bytes.resize(count);
    input_.read(source, offset, bytes);
    digests.add(Role::kPayload, bytes);
    output.write(place + offset, bytes);
    report(count);
  });
  ItemResult result;
  result.read_digest = digests.value();
  result.written_digest = result.read_digest;
  return result;
}

float Converter::find_amax(const Item &item) const {
  NumberReader reader(context_, input_, *item.inputs.front().tensor);
  std::vector<float> numbers;
  float amax = 0.0f;
  for_each_piece(item, [&](Rows rows) {
    numbers.resize(static_cast<size_t>(rows.count * item.columns));
    reader.read(rows.first * item.columns, numbers, nullptr);
    amax = std::max(amax, amax_of(numbers));
  });
  return amax;
}

ItemResult Converter::encode(const Item &item, File &output, const Report &report) const {
  const StoredTensor &source = *item.inputs.front().tensor;
  ItemResult result;
  // Only a tensor scale requires the amax before the first row is cast.
  if (plan_.layout_of(item).has_tensor_scale()) result.amax = find_amax(item);
  RowCast cast(context_, plan_.format, result.amax);
  NumberReader reader(context_, input_, source);
  PartDigests read, written;
  std::vector<float> numbers, decoded;
  for_each_piece(item, [&](Rows rows) {
    numbers.resize(static_cast<size_t>(rows.count * item.columns));
    decoded.resize(numbers.size());
    reader.read(rows.first * item.columns, numbers, &read.of(Role::kPayload));
    result.amax = std::max(result.amax, amax_of(numbers));
    const lpt_tensor *tensor = cast.encode(numbers, rows.count, item.columns);
    put_rows(context_, plan_.layout_of(item), shape_of(item), rows.first, rows.count, tensor,
             [&](Role role, uint64_t offset, std::span<const std::byte> bytes) {
               // A shape that follows from the bytes is not stored in the file.
               const bool is_requested = std::any_of(item.outputs.begin(), item.outputs.end(),
                                                     [&](const OutputPart &part) { return part.role == role; });
               if (!is_requested) return;
               written.add(role, bytes);
               output.write(place_of(item, role) + offset, bytes);
             });
    cast.decode(decoded);
    result.error.add(numbers, decoded);
    report(source.dtype->bytes_of(numbers.size()));
  });
  result.read_digest = read.value();
  result.written_digest = written.value();
  return result;
}

ItemResult Converter::cast(const Item &item, File &output, const Report &report) const {
  const StoredTensor &source = *item.inputs.front().tensor;
  const uint64_t place = place_of(item, Role::kPayload);
  const Dtype &dtype = *plan_.outputs[item.outputs.front().index].dtype;
  const lpt_format format = format_of(dtype);
  const int64_t width = dtype.bits / 8;
  NumberReader reader(context_, input_, source);
  ItemResult result;
  PartDigests read, written;
  const int64_t elements = item.rows * item.columns;
  const int64_t block = source.dtype->block;
  const int64_t step = std::max(std::min(kMostNumbers, memory_bytes_ / kBytesPerNumber) / block * block, block);
  for (int64_t first = 0; first < elements; first += step) {
    const int64_t count = std::min(step, elements - first);
    std::vector<float> numbers(static_cast<size_t>(count));
    std::vector<float> decoded(numbers.size());
    std::vector<std::byte> bytes(static_cast<size_t>(count * width));
    reader.read(first, numbers, &read.of(Role::kPayload));
    const Tensor from = wrap_matrix(context_, LPT_FORMAT_F32, numbers.data(), 1, count);
    const Tensor to = wrap_matrix(context_, format, bytes.data(), 1, count);
    const Tensor back = wrap_matrix(context_, LPT_FORMAT_F32, decoded.data(), 1, count);
    check(context_, lpt_dequantize(context_, from.get(), nullptr, to.get()));
    check(context_, lpt_dequantize(context_, to.get(), nullptr, back.get()));
    result.amax = std::max(result.amax, amax_of(numbers));
    result.error.add(numbers, decoded);
    written.add(Role::kPayload, bytes);
    output.write(place + static_cast<uint64_t>(first * width), bytes);
    report(source.dtype->bytes_of(numbers.size()));
  }
  result.read_digest = read.value();
  result.written_digest = written.value();
  return result;
}

ItemResult Converter::decode(const Item &item, File &output, const Report &report) const {
  const uint64_t place = place_of(item, Role::kPayload);
  const uint64_t width = static_cast<uint64_t>(plan_.outputs[item.outputs.front().index].dtype->bits) / 8;
  RowCast cast(context_, plan_.layout_of(item).format, 0.0f);
  ItemResult result;
  PartDigests read, written;
  std::vector<float> numbers;
  std::vector<std::byte> bytes;
  for_each_piece(item, [&](Rows rows) {
    lpt_tensor *tensor = cast.empty(rows.count, item.columns);
    uint64_t read_bytes = 0;
    get_rows(context_, plan_.layout_of(item), shape_of(item), rows.first, rows.count, tensor,
             [&](Role role, uint64_t offset, std::span<std::byte> requested) {
               input_.read(*item.input(role), offset, requested);
               // A scale of the full matrix is read with every slice.
               const bool is_again = rows.first > 0 && offset == 0;
               if (is_again) return;
               read.add(role, requested);
               read_bytes += requested.size();
             });
    numbers.resize(static_cast<size_t>(rows.count * item.columns));
    cast.decode(numbers);
    result.amax = std::max(result.amax, amax_of(numbers));
    bytes.resize(numbers.size() * width);
    const Tensor from = wrap_matrix(context_, LPT_FORMAT_F32, numbers.data(), rows.count, item.columns);
    const Tensor to = wrap_matrix(context_, plan_.format, bytes.data(), rows.count, item.columns);
    check(context_, lpt_dequantize(context_, from.get(), nullptr, to.get()));
    written.add(Role::kPayload, bytes);
    output.write(place + static_cast<uint64_t>(rows.first * item.columns) * width, bytes);
    report(read_bytes);
  });
  result.read_digest = read.value();
  result.written_digest = written.value();
  return result;
}

uint64_t Converter::digest_of_input(const Item &item) const {
  PartDigests digests;
  std::vector<std::byte> bytes;
  for (const InputPart &part : item.inputs) {
    if (part.role == Role::kShape) continue;  // it is read by the planning
    for_each_block(part.tensor->bytes(), [&](uint64_t offset, size_t count) {
      bytes.resize(count);
      input_.read(*part.tensor, offset, bytes);
      digests.add(part.role, bytes);
    });
  }
  return digests.value();
}

uint64_t Converter::digest_of_output(const Item &item, const File &output) const {
  PartDigests digests;
  std::vector<std::byte> bytes;
  for (const OutputPart &part : item.outputs) {
    const StoredTensor &tensor = plan_.outputs[part.index];
    for_each_block(tensor.bytes(), [&](uint64_t offset, size_t count) {
      bytes.resize(count);
      output.read(plan_.prefix.size() + tensor.begin + offset, bytes);
      digests.add(part.role, bytes);
    });
  }
  return digests.value();
}

void Converter::verify(const Item &item, const Checkpoint &made, const Report &report) const {
  const auto made_tensor = [&](Role role) -> const StoredTensor & {
    for (const OutputPart &part : item.outputs) {
      if (part.role == role) return *made.find(plan_.outputs[part.index].name);
    }
    throw Error(fmt::format("{}: tensor {} lacks a part: a defect of lpt", made.path(), in_quotes(item.name)));
  };
  if (item.action != Action::kEncode) {
    // Copies are compared byte for byte. Casts without scales are checked when they are written.
    if (item.action != Action::kCopy) return;
    const StoredTensor &source = *item.inputs.front().tensor;
    std::vector<std::byte> there, here;
    for_each_block(source.bytes(), [&](uint64_t offset, size_t count) {
      there.resize(count);
      here.resize(count);
      input_.read(source, offset, there);
      made.read(made_tensor(Role::kPayload), offset, here);
      if (there != here)
        throw Error(fmt::format("{}: tensor {} is not the copy it should be", made.path(), in_quotes(item.name)));
      report(count);
    });
    return;
  }
  const StoredTensor &source = *item.inputs.front().tensor;
  NumberReader reader(context_, input_, source);
  RowCast fresh(context_, plan_.format, plan_.layout_of(item).has_tensor_scale() ? find_amax(item) : 0.0f);
  RowCast stored(context_, plan_.format, 0.0f);
  std::vector<float> numbers, decoded;
  for_each_piece(item, [&](Rows rows) {
    numbers.resize(static_cast<size_t>(rows.count * item.columns));
    decoded.resize(numbers.size());
    reader.read(rows.first * item.columns, numbers, nullptr);
    fresh.encode(numbers, rows.count, item.columns);
    fresh.decode(numbers);
    get_rows(context_, plan_.layout_of(item), shape_of(item), rows.first, rows.count,
             stored.empty(rows.count, item.columns), [&](Role role, uint64_t offset, std::span<std::byte> requested) {
               made.read(made_tensor(role), offset, requested);
             });
    stored.decode(decoded);
    if (std::memcmp(numbers.data(), decoded.data(), numbers.size() * sizeof(float)) != 0) {
      const auto differ = std::mismatch(bytes_of(numbers).begin(), bytes_of(numbers).end(), bytes_of(decoded).begin());
      const auto index = (differ.first - bytes_of(numbers).begin()) / static_cast<ptrdiff_t>(sizeof(float));
      throw Error(fmt::format("{}: tensor {} row {} column {} reads back as {}: expected {}", made.path(),
                              in_quotes(item.name), rows.first + index / item.columns, index % item.columns,
                              decoded[static_cast<size_t>(index)], numbers[static_cast<size_t>(index)]));
    }
    report(source.dtype->bytes_of(numbers.size()));
  });
}

}  // namespace tool
