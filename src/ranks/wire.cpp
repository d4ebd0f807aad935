#include "src/ranks/wire.hpp"

#include <cstring>

#include "src/cast/cast.hpp"
#include "src/formats/element.hpp"

namespace lpt {
namespace {

constexpr uint32_t kFirstRole = 0, kSecondRole = 1;
constexpr int kRankShift = 54;  // ten bits, for 1024 ranks

// Returns true if the format represents NaN: a NaN of one rank must be a NaN of the result on all ranks.
bool represents_nan(const Format &format) {
  if (format.has_block_scale() || format.has_tensor_scale() || format.element == LPT_FORMAT_F32) return true;
  if (!has_element(format.element)) return false;
  const Element element = element_of(format.element);
  return element.nan_code != 0 && element.is_signed;
}

Status check_wire_format(const lpt_reduce_options &options, const Format &own, Format &out_format) {
  if (!find_format(options.wire, out_format)) {
    return invalid("options->wire is %lld: expected a format", number(options.wire));
  }
  const std::string name = format_name(options.wire);
  if (own.id == LPT_FORMAT_F64) {
    return unsupported("options->wire is %s and input is f64: f64 is sent as it is", name.c_str());
  }
  if (out_format.is_sparse) return unsupported("options->wire is %s: expected a dense format", name.c_str());
  if (!check_holds_numbers(out_format.id, "wire").is_ok() || out_format.element == LPT_FORMAT_F64) {
    return unsupported("options->wire is %s: expected f32, or fewer bits that are numbers", name.c_str());
  }
  if (!represents_nan(out_format)) {
    return unsupported("options->wire is %s: it has neither a scale nor a code for a NaN", name.c_str());
  }
  return {};
}

// Returns the alignment of codes in bytes. Sub-byte codes are accessed as bytes.
int64_t width_of_codes(lpt_format plain) { return packing_of(plain).elements > 1 ? 1 : element_bits(plain) / 8; }

MatrixView share_view(const Format &format, int64_t columns) {
  MatrixView view;
  view.format = format;
  view.rows = 1;
  view.columns = view.row_stride = columns;
  return view;
}

// Sets the pointers of those components of a slice whose elements are `width` bytes wide. Returns the bytes of these
// components.
int64_t assign_components(MatrixView &view, int64_t width, std::byte *next) {
  const Format &format = view.format;
  const BlockGrid grid = block_grid(format, 1, view.columns);
  int64_t bytes = 0;
  const auto add = [&](auto *&pointer, int64_t part_width, int64_t part_bytes) {
    if (part_width != width) return;
    if (next != nullptr) pointer = reinterpret_cast<std::remove_reference_t<decltype(pointer)>>(next + bytes);
    bytes += part_bytes;
  };
  if (format.has_tensor_scale()) add(view.tensor_scale, 4, 4);
  if (format.has_block_scale()) {
    view.block_scale_stride = grid.columns;
    add(view.block_scales, width_of_codes(format.block_scale), row_bytes(format.block_scale, grid.columns));
  }
  if (format.has_zero_point()) add(view.zero_points, 1, grid.columns);
  add(view.data, width_of_codes(format.element), row_bytes(format.element, view.columns));
  return bytes;
}

// Checks that the device casts to the wire format and back, from and to both `own` and f32.
Status check_wire_on_device(Context &context, const Format &own, const Wire &wire) {
  Cast cast;
  cast.rounding = wire.cast.rounding;
  cast.overflow = wire.cast.overflow;
  cast.random = wire.cast.random;
  for (const lpt_format wide : {own.id, lpt_format{LPT_FORMAT_F32}}) {
    const MatrixView numbers = dense_view(wide, nullptr, 1, wire.segment);
    LPT_TRY(cast_matrix(context, numbers, wire.cast.target, cast, true));
    LPT_TRY(dequantize_matrix(context, wire.cast.target, numbers, true));
    if (own.id == LPT_FORMAT_F32) break;
  }
  return {};
}

}  // namespace

Status choose_wire(Context &context, const lpt_reduce_options &options, const Format &own, const Device &device,
                   Wire &out_wire) {
  LPT_TRY(check_wire_format(options, own, out_wire.format));
  if (options.rounding != LPT_ROUNDING_NEAREST_EVEN && options.rounding != LPT_ROUNDING_STOCHASTIC) {
    return invalid("options->rounding is %d: expected LPT_ROUNDING_NEAREST_EVEN or LPT_ROUNDING_STOCHASTIC",
                   options.rounding);
  }
  if (options.random.row_stride != 0) {
    return invalid("options->random.row_stride is %lld: expected 0, elements are counted in their order",
                   number(options.random.row_stride));
  }
  const Format &format = out_wire.format;
  out_wire.is_whole =
      format.has_tensor_scale() || (format.has_block_scale() && format.block_columns == LPT_BLOCK_EXTENT_FULL);
  const int64_t block = format.has_block_scale() && !out_wire.is_whole ? format.block_columns : 1;
  out_wire.segment = std::max<int64_t>(block, 512) * packing_of(format.element).elements;
  QuantizeRequest &cast = out_wire.cast;
  cast = {};
  cast.source = dense_view(own.id, nullptr, 1, out_wire.segment);
  cast.target = share_view(format, out_wire.segment);
  cast.rounding = options.rounding;
  cast.overflow = format.is_plain() && is_float_dtype(format.element) ? LPT_OVERFLOW_INFINITE : LPT_OVERFLOW_SATURATE;
  LPT_TRY(resolve_rule(format, options.rounding, LPT_SCALE_RULE_DEFAULT, cast.rule));
  LPT_TRY(make_random(options.random, RandomDomain::kCollective, kFirstRole, 0, 16, 7, cast.random));
  cast.random_column_stride = 1;
  cast.tensor_inverse = 1.0f;
  if (!device.is_cpu()) return check_wire_on_device(context, own, out_wire);
  const auto choose_cast = [&](lpt_format from, const KernelEntry<QuantizeRequest> **out_kernel) {
    QuantizeRequest request = cast;
    request.source = dense_view(from, nullptr, 1, out_wire.segment);
    return select_kernel(context, "quantize", quantize_kernels(), request, {from, format.id}, out_kernel);
  };
  const auto choose_back = [&](lpt_format to, const KernelEntry<DequantizeRequest> **out_kernel) {
    const DequantizeRequest request{cast.target, dense_view(to, nullptr, 1, out_wire.segment)};
    return select_kernel(context, "dequantize", dequantize_kernels(), request, {format.id, to}, out_kernel);
  };
  LPT_TRY(choose_cast(own.id, &out_wire.from_own));
  LPT_TRY(choose_back(LPT_FORMAT_F32, &out_wire.to_f32));
  out_wire.from_f32 = out_wire.from_own;
  out_wire.to_own = out_wire.to_f32;
  if (own.id == LPT_FORMAT_F32) return {};
  LPT_TRY(choose_cast(LPT_FORMAT_F32, &out_wire.from_f32));
  return choose_back(own.id, &out_wire.to_own);
}

RandomSource first_draws(const Wire &wire, int32_t rank) {
  RandomSource draws = wire.cast.random;
  draws.seed ^= static_cast<uint64_t>(rank) << kRankShift;
  return draws;
}

RandomSource second_draws(const Wire &wire) {
  RandomSource draws = wire.cast.random;
  draws.stream += kSecondRole - kFirstRole;
  return draws;
}

MessageLayout lay_out_message(const Wire &wire, const std::vector<Range> &ranges, std::byte *memory) {
  MessageLayout layout{{}, 0};
  for (const Range &range : ranges) layout.shares.push_back(share_view(wire.format, range.count()));
  for (const int64_t width : {4, 2, 1}) {
    for (MatrixView &share : layout.shares) {
      if (share.columns == 0) continue;
      layout.bytes += assign_components(share, width, memory == nullptr ? nullptr : memory + layout.bytes);
    }
  }
  return layout;
}

Status take_message(Context &worker, const Wire &wire, const std::vector<Range> &ranges, MessageLayout &out_layout,
                    Bytes &out_bytes) {
  out_bytes = {nullptr, lay_out_message(wire, ranges, nullptr).bytes};
  LPT_TRY(worker.host_scratch->take(static_cast<size_t>(out_bytes.count), &out_bytes.data));
  out_layout = lay_out_message(wire, ranges, out_bytes.data);
  return {};
}

void cast_span(const Wire &wire, const MatrixView &source, const MatrixView &target, const RandomSource &draws,
               int64_t index) {
  QuantizeRequest request = wire.cast;
  request.source = source;
  request.target = target;
  request.random = draws;
  request.random.offset += index;
  (source.format.id == LPT_FORMAT_F32 ? wire.from_f32 : wire.from_own)->run(request);
}

Status cast_share(Context &worker, const Wire &wire, const MatrixView &source, const MatrixView &share,
                  const RandomSource &draws, int64_t index) {
  Cast cast;
  cast.rounding = wire.cast.rounding;
  cast.overflow = wire.cast.overflow;
  cast.random = draws;
  cast.random.offset += index;
  return share.columns == 0 ? Status() : cast_matrix(worker, source, share, cast, false);
}

}  // namespace lpt
