// The saved state of one parameter: elements, step count, then format, scale and codes of each moment. Then sections for
// optional parts of a parameter: a tag, the number of bytes, and the content. See docs/reference/state-format.md.
#include <algorithm>
#include <cmath>
#include <limits>

#include "src/base/blob.hpp"
#include "src/formats/dynamic_tree.hpp"
#include "src/optimizer/optimizer.hpp"

namespace lpt {
namespace {

// The tags are stored in files: do not renumber them. A parameter has exactly the sections that it needs, in this order.
enum class Section : uint32_t {
  kMethod = 1,
  kShard = 2,
  kFirstScales = 3,
  kSecondScales = 4,
  kFirstExponents = 5,
  kSecondExponents = 6,
  kFirstAmax = 7,
  kSecondAmax = 8,
  kCompensation = 9,
  kName = 10
};

constexpr size_t kSectionHeaderBytes = 4 + 8;
constexpr size_t kMomentHeaderBytes = 8 + 4;
constexpr int64_t kAnyPlace = -1;  // the begin of the shard is read from the saved state

// Calls visit(section, bytes) for each section of the parameter.
template <typename Visit>
void for_each_section(const Optimizer &optimizer, const OptimizerParameter &parameter, const Visit &visit) {
  const Moment &first = parameter.first, &second = parameter.second;
  if (optimizer.options.method != LPT_OPTIMIZER_METHOD_ADAMW) visit(Section::kMethod, size_t{4});
  if (parameter.whole_elements != parameter.elements) visit(Section::kShard, size_t{16});
  if (first.block != 0) visit(Section::kFirstScales, first.scales.bytes());
  if (second.block != 0) visit(Section::kSecondScales, second.scales.bytes());
  if (first.is_expanded) visit(Section::kFirstExponents, first.exponents.bytes());
  if (second.is_expanded) visit(Section::kSecondExponents, second.exponents.bytes());
  if (first.scaling == LPT_SCALER_KIND_DELAYED) visit(Section::kFirstAmax, size_t{4});
  if (second.scaling == LPT_SCALER_KIND_DELAYED) visit(Section::kSecondAmax, size_t{4});
  if (parameter.is_compensated) visit(Section::kCompensation, parameter.compensation.bytes());
  if (!parameter.name.empty()) visit(Section::kName, parameter.name.size());
}

size_t payload_bytes(const Optimizer &optimizer, const OptimizerParameter &parameter) {
  size_t bytes = 2 * 8;
  for (const Moment *moment : {&parameter.first, &parameter.second})
    bytes += kMomentHeaderBytes + moment->codes.bytes();
  for_each_section(optimizer, parameter, [&](Section, size_t size) { bytes += kSectionHeaderBytes + size; });
  return bytes;
}

void write_section(const Optimizer &optimizer, const OptimizerParameter &parameter, Section section,
                   BlobWriter &writer) {
  const auto write = [&](const StateMemory &array) { writer.bytes(array.data(), array.bytes()); };
  switch (section) {
    case Section::kMethod:
      return writer.u32(static_cast<uint32_t>(optimizer.options.method));
    case Section::kShard:
      writer.i64(parameter.whole_elements);
      return writer.i64(parameter.begin);
    case Section::kFirstScales:
      return write(parameter.first.scales);
    case Section::kSecondScales:
      return write(parameter.second.scales);
    case Section::kFirstExponents:
      return write(parameter.first.exponents);
    case Section::kSecondExponents:
      return write(parameter.second.exponents);
    case Section::kFirstAmax:
      return writer.f32(parameter.first.amax);
    case Section::kSecondAmax:
      return writer.f32(parameter.second.amax);
    case Section::kCompensation:
      return write(parameter.compensation);
    case Section::kName:
      return writer.bytes(parameter.name.data(), parameter.name.size());
  }
}

bool is_scale(float scale) { return scale > 0.0f && !std::isinf(scale); }

Status read_amax(BlobReader &reader, Moment &moment) {
  moment.amax = reader.f32();
  if (moment.amax == 0.0f || is_scale(moment.amax)) return {};
  return damaged_state(text("a moment's amax is %g", static_cast<double>(moment.amax)));
}

// Reads block scales. The scale of a dynamic-tree block with a NaN is NaN.
Status read_scales(BlobReader &reader, Moment &moment) {
  reader.bytes(moment.scales.data(), moment.scales.bytes());
  const auto *scales = reinterpret_cast<const float *>(moment.scales.data());
  for (size_t i = 0; i < moment.scales.bytes() / sizeof(float); ++i) {
    const bool is_poisoned = is_dynamic(moment.element) && std::isnan(scales[i]);
    if (!is_scale(scales[i]) && !is_poisoned) {
      return damaged_state(text("a block's scale is %g", static_cast<double>(scales[i])));
    }
  }
  return {};
}

Status read_exponents(BlobReader &reader, Moment &moment) {
  reader.bytes(moment.exponents.data(), moment.exponents.bytes());
  const auto *exponents = reinterpret_cast<const uint16_t *>(moment.exponents.data());
  for (size_t i = 0; i < moment.exponents.bytes() / sizeof(uint16_t); ++i) {
    if (exponents[i] < 1 || exponents[i] > 1024) {
      return damaged_state(text("a group's exponent is %u sixteenths: expected 1 to 1024", unsigned{exponents[i]}));
    }
  }
  return {};
}

// Sets the begin of a shard, which must be a multiple of the block of the moments.
Status read_place(int64_t begin, OptimizerParameter &parameter) {
  const int64_t block = std::max<int64_t>({parameter.first.block, parameter.second.block, 1});
  if (begin < 0 || begin > parameter.whole_elements - parameter.elements || begin % block != 0) {
    return damaged_state(text("a shard begins at element %lld: expected a multiple of %lld up to %lld",
                              static_cast<long long>(begin), static_cast<long long>(block),
                              static_cast<long long>(parameter.whole_elements - parameter.elements)));
  }
  parameter.begin = begin;
  return {};
}

Status read_shard(BlobReader &reader, OptimizerParameter &parameter) {
  const int64_t whole = reader.i64(), begin = reader.i64();
  if (whole != parameter.whole_elements) return blob_mismatch("whole_elements", whole, parameter.whole_elements);
  if (parameter.begin == kAnyPlace) return read_place(begin, parameter);
  if (begin != parameter.begin) return blob_mismatch("begin", begin, parameter.begin);
  return {};
}

Status read_section(const Optimizer &optimizer, BlobReader &reader, Section section, size_t bytes,
                    OptimizerParameter &parameter) {
  const uint32_t tag = reader.u32();
  if (tag != static_cast<uint32_t>(section)) {
    return blob_mismatch("the tag of a section", tag, static_cast<long long>(section));
  }
  const uint64_t size = reader.u64();
  if (size != bytes) {
    return blob_mismatch("the length of a section", static_cast<long long>(size), static_cast<long long>(bytes));
  }
  switch (section) {
    case Section::kMethod: {
      const int64_t method = reader.u32();
      return method == optimizer.options.method ? Status()
                                                : blob_mismatch("the method", method, optimizer.options.method);
    }
    case Section::kShard:
      return read_shard(reader, parameter);
    case Section::kFirstScales:
      return read_scales(reader, parameter.first);
    case Section::kSecondScales:
      return read_scales(reader, parameter.second);
    case Section::kFirstExponents:
      return read_exponents(reader, parameter.first);
    case Section::kSecondExponents:
      return read_exponents(reader, parameter.second);
    case Section::kFirstAmax:
      return read_amax(reader, parameter.first);
    case Section::kSecondAmax:
      return read_amax(reader, parameter.second);
    case Section::kCompensation:
      reader.bytes(parameter.compensation.data(), parameter.compensation.bytes());
      return {};
    case Section::kName: {
      std::string name(bytes, 0);
      reader.bytes(name.data(), bytes);
      return name == parameter.name ? Status()
                                    : Status(LPT_INVALID_STATE, text("saved state: the name is \"%s\": expected \"%s\"",
                                                                     name.c_str(), parameter.name.c_str()));
    }
  }
  return {};
}

// Reads the format and scale of a moment, which precede its codes.
Status read_header(BlobReader &reader, const char *name, Moment &moment) {
  const lpt_format format = reader.i64();
  Format saved;
  if (format != moment.format && !(find_format(format, saved) && saved.id == moment.format))
    return blob_mismatch(name, format, moment.format);
  moment.scale = reader.f32();
  return is_scale(moment.scale) ? Status()
                                : damaged_state(text("a moment's scale is %g", static_cast<double>(moment.scale)));
}

// Saves a parameter whose state is in CPU memory.
Status save_parameter(const Optimizer &optimizer, const OptimizerParameter &parameter, void *buffer,
                      size_t buffer_bytes) {
  BlobWriter writer(BlobKind::kOptimizerParameter);
  writer.i64(parameter.elements);
  writer.i64(parameter.step_count);
  for (const Moment *moment : {&parameter.first, &parameter.second}) {
    writer.i64(moment->format);
    writer.f32(moment->scale);
    writer.bytes(moment->codes.data(), moment->codes.bytes());
  }
  for_each_section(optimizer, parameter, [&](Section section, size_t bytes) {
    writer.u32(static_cast<uint32_t>(section));
    writer.u64(bytes);
    write_section(optimizer, parameter, section, writer);
  });
  dont_need(parameter, 0, parameter.elements);
  return writer.save(buffer, buffer_bytes);
}

void read_codes(BlobReader &reader, const Moment &moment) { reader.bytes(moment.codes.data(), moment.codes.bytes()); }

// Reads all parts after the number of elements into new memory. `loaded.elements` is set.
Status read_parts(const Optimizer &optimizer, BlobReader &reader, size_t given, OptimizerParameter &loaded) {
  LPT_TRY(read_count(reader, "the step count", loaded.step_count));
  LPT_TRY(read_header(reader, "the first moment's format", loaded.first));
  LPT_TRY(allocate_state(optimizer, loaded));
  const size_t requested = payload_bytes(optimizer, loaded);
  if (given != requested) {
    return blob_mismatch("the length of the state", static_cast<long long>(given), static_cast<long long>(requested));
  }
  read_codes(reader, loaded.first);
  LPT_TRY(read_header(reader, "the second moment's format", loaded.second));
  read_codes(reader, loaded.second);
  Status status;
  for_each_section(optimizer, loaded, [&](Section section, size_t bytes) {
    if (status.is_ok()) status = read_section(optimizer, reader, section, bytes, loaded);
  });
  LPT_TRY(std::move(status));
  if (!reader.is_ok() || reader.left_bytes() != 0) return damaged_state("its parts are of another length");
  if (loaded.begin == kAnyPlace) loaded.begin = 0;  // the state of a full parameter has no shard section
  dont_need(loaded, 0, loaded.elements);
  return {};
}

}  // namespace

Status optimizer_state_size(const Optimizer &optimizer, int64_t index, size_t &out_size_bytes) {
  LPT_TRY(check_index(optimizer, "index", index));
  out_size_bytes = kBlobHeaderBytes + payload_bytes(optimizer, optimizer.parameters[static_cast<size_t>(index)]);
  return {};
}

Status save_optimizer_state(Context &context, const Optimizer &optimizer, int64_t index, void *buffer,
                            size_t buffer_bytes) {
  LPT_TRY(check_index(optimizer, "index", index));
  const OptimizerParameter &parameter = optimizer.parameters[static_cast<size_t>(index)];
  if (optimizer.device.is_cpu()) return save_parameter(optimizer, parameter, buffer, buffer_bytes);
  OptimizerParameter here;
  LPT_TRY(check_place(context, optimizer));
  LPT_TRY(fetch_state(context, optimizer, parameter, here));
  return save_parameter(optimizer, here, buffer, buffer_bytes);
}

Status read_state(const Optimizer &optimizer, const OptimizerParameter &parameter, bool is_any_shard,
                  const void *buffer, size_t buffer_bytes, OptimizerParameter &out_loaded) {
  BlobReader reader;
  LPT_TRY(BlobReader::open(BlobKind::kOptimizerParameter, buffer, buffer_bytes, reader));
  const size_t given = reader.left_bytes();
  const int64_t elements = reader.i64();
  out_loaded = parameter;
  if (is_any_shard) {
    // An element takes at least one byte, so a wrong count cannot cause a large allocation.
    if (elements < 0 || elements > std::min(parameter.whole_elements, static_cast<int64_t>(given))) {
      return blob_mismatch("elements", elements, parameter.whole_elements);
    }
    out_loaded.elements = elements;
    out_loaded.begin = kAnyPlace;
  } else if (elements != parameter.elements) {
    return blob_mismatch("elements", elements, parameter.elements);
  }
  return read_parts(optimizer, reader, given, out_loaded);
}

Status load_optimizer_state(Context &context, Optimizer &optimizer, int64_t index, const void *buffer,
                            size_t buffer_bytes) {
  LPT_TRY(check_place(context, optimizer));
  LPT_TRY(check_index(optimizer, "index", index));
  OptimizerParameter &parameter = optimizer.parameters[static_cast<size_t>(index)];
  OptimizerParameter loaded;
  LPT_TRY(read_state(optimizer, parameter, false, buffer, buffer_bytes, loaded));
  return take_loaded(context, optimizer, std::move(loaded), parameter);
}

}  // namespace lpt
