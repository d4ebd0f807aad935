#include "src/call/operation.hpp"

#include <cmath>
#include <cstring>

namespace lpt {
namespace {

// The addresses that a view uses: [begin, end).
struct Range {
  uintptr_t begin, end;
};

Range payload_range(const MatrixView &view) {
  const uintptr_t begin = reinterpret_cast<uintptr_t>(view.data);
  const int64_t columns = stored_columns(view.format, view.columns);
  const int64_t last = (view.rows - 1) * view.row_stride + (columns - 1) * view.column_stride;
  return {begin, begin + static_cast<uintptr_t>(row_bytes(view.format.element, last + 1))};
}

// Returns the addresses of the indices of a sparse view; an empty range for other views.
Range index_range(const MatrixView &view) {
  if (view.indices == nullptr) return {0, 0};
  const uintptr_t begin = reinterpret_cast<uintptr_t>(view.indices);
  return {begin, begin + static_cast<uintptr_t>((view.rows - 1) * view.index_stride + index_bytes(view.columns))};
}

bool do_overlap(const Range &a, const Range &b) { return a.begin < b.end && b.begin < a.end; }

// Returns true if two views are separate columns of one row-major matrix: equal row strides, and byte columns that do not
// overlap modulo the stride. A single row has any stride, as it may be in the gap between rows of the other view.
bool are_columns_disjoint(const MatrixView &a, const MatrixView &b) {
  const int64_t a_stride = row_bytes(a.format.element, a.row_stride);
  const int64_t b_stride = row_bytes(b.format.element, b.row_stride);
  const int64_t stride = a.rows == 1 ? b_stride : a_stride;
  if (stride == 0 || (a.rows != 1 && b.rows != 1 && a_stride != b_stride)) return false;
  if (a.column_stride != 1 || b.column_stride != 1) return false;
  const int64_t a_width = row_bytes(a.format.element, stored_columns(a.format, a.columns));
  const int64_t b_width = row_bytes(b.format.element, stored_columns(b.format, b.columns));
  const int64_t apart = static_cast<int64_t>(reinterpret_cast<uintptr_t>(b.data) - reinterpret_cast<uintptr_t>(a.data));
  const int64_t shift = ((apart % stride) + stride) % stride;  // first byte column of b, relative to a
  return a_width <= shift && shift + b_width <= stride;
}

}  // namespace

Status check_shape(const MatrixView &view, const char *name, int64_t rows, int64_t columns, const char *like_name) {
  if (view.rows == rows && view.columns == columns) return {};
  return invalid("%s is %lld x %lld: expected %lld x %lld, as %s", name, number(view.rows), number(view.columns),
                 number(rows), number(columns), like_name);
}

bool is_wide_float(lpt_format format) { return format == LPT_FORMAT_F64 || is_float_dtype(format); }

Status check_wide_float(const MatrixView &view, const char *name) {
  if (is_wide_float(view.format.id)) return {};
  return unsupported("%s is %s: expected f64, f32, bf16 or f16", name, format_name(view.format.id).c_str());
}

Status check_no_overlap(const MatrixView &a, const char *a_name, const MatrixView &b, const char *b_name) {
  if (a.data == nullptr || b.data == nullptr) return {};
  if (a.rows == 0 || a.columns == 0 || b.rows == 0 || b.columns == 0) return {};
  if (is_packed(a.layout) || is_packed(b.layout)) return {};  // memory of the library, not accessible to callers
  const Range a_places = index_range(a), b_places = index_range(b);
  if (do_overlap(a_places, payload_range(b)) || do_overlap(payload_range(a), b_places) ||
      do_overlap(a_places, b_places)) {
    return invalid("%s at %p overlaps %s at %p, elements or sparse indices: expected memory of its own", a_name, a.data,
                   b_name, b.data);
  }
  if (!do_overlap(payload_range(a), payload_range(b)) || are_columns_disjoint(a, b) || are_columns_disjoint(b, a))
    return {};
  return invalid("%s at %p overlaps %s at %p: expected memory of its own", a_name, a.data, b_name, b.data);
}

Status check_in_place(const MatrixView &a, const char *a_name, const MatrixView &b, const char *b_name) {
  const bool is_same = a.data == b.data && a.format.id == b.format.id && a.row_stride == b.row_stride;
  return is_same ? Status() : check_no_overlap(a, a_name, b, b_name);
}

MatrixView vector_view(lpt_format format, const void *data, int64_t count) {
  MatrixView view;
  find_format(format, view.format);
  view.data = const_cast<void *>(data);
  view.rows = 1;
  view.columns = count;
  view.row_stride = count;
  return view;
}

MatrixView dense_view(lpt_format format, void *data, int64_t rows, int64_t columns) {
  MatrixView view;
  find_format(format, view.format);
  view.data = data;
  view.rows = rows;
  view.columns = view.row_stride = columns;
  return view;
}

MatrixView transposed_view(const MatrixView &view) {
  MatrixView result = view;
  std::swap(result.rows, result.columns);
  std::swap(result.row_stride, result.column_stride);
  return result;
}

int64_t dense_row_stride(lpt_format element, int64_t columns) {
  const int64_t pack = packing_of(element).elements;
  return (columns + pack - 1) / pack * pack;
}

MatrixView scales_of(const MatrixView &view) {
  const BlockGrid grid = block_grid(view.format, view.rows, view.columns);
  MatrixView scales = dense_view(view.format.block_scale, view.block_scales, grid.rows, grid.columns);
  scales.row_stride = view.block_scale_stride;
  return scales;
}

Status check_choice(const char *name, int32_t value, int32_t last) {
  if (value >= 0 && value <= last) return {};
  return invalid("%s is %d: expected 0 to %d", name, value, last);
}

Status check_flags(const char *name, uint64_t flags, uint64_t known) {
  if ((flags & ~known) == 0) return {};
  return unsupported("%s is 0x%llx: this release knows 0x%llx here", name, static_cast<unsigned long long>(flags),
                     static_cast<unsigned long long>(known));
}

Status check_finite(const char *name, double value, double least, double most) {
  if (std::isfinite(value) && value >= least && value <= most) return {};
  return invalid("%s is %g: expected %g to %g", name, value, least, most);
}

Status make_random(const lpt_random &random, RandomDomain space, uint32_t role, int64_t columns, int32_t bits,
                   int32_t rounds, RandomSource &out_source) {
  if (random.stream >= (1u << 24)) return invalid("random.stream is %u: expected less than 2^24", random.stream);
  // Bounded, so that no index of a tensor that fits in memory overflows.
  if (random.offset < 0 || random.offset > (int64_t{1} << 60)) {
    return invalid("random.offset is %lld: expected 0 to 2^60", number(random.offset));
  }
  if (random.row_stride > (int64_t{1} << 32)) {
    return invalid("random.row_stride is %lld: expected at most 2^32", number(random.row_stride));
  }
  if (random.row_stride != 0 && random.row_stride < columns) {
    return invalid("random.row_stride is %lld: expected 0 or at least the columns, %lld", number(random.row_stride),
                   number(columns));
  }
  if (bits != 16 && bits != 8) return invalid("stochastic_bits is %d: expected 16 or 8", bits);
  if (rounds != 7 && rounds != 10) return invalid("philox_rounds is %d: expected 7 or 10", rounds);
  out_source = RandomSource{random.seed,
                            random.offset,
                            random.row_stride == 0 ? columns : random.row_stride,
                            random_stream(space, random.stream, role),
                            random.step,
                            rounds,
                            bits};
  return {};
}

void log_rejected(Context &context, const char *kernel, const Rejection &rejection) {
  context.choices.push_back({nullptr, kernel, rejection.missing, rejection.reason});
}

void log_selected(Context &context, const char *operation, const char *kernel) {
  context.choices.push_back({operation, kernel, 0, nullptr});
  if (context.log == nullptr || context.log_level < LPT_LOG_LEVEL_DISPATCH) return;
  std::string line = std::string(operation) + ": " + kernel;
  const std::vector<Choice> &choices = context.choices;
  for (size_t i = choices.size() - 1; i > 0 && choices[i - 1].operation == nullptr; --i) {
    line += "; not " + choice_text(choices[i - 1]);
  }
  log_line(context, LPT_LOG_LEVEL_DISPATCH, line);
}

Status no_kernel(Context &context, const char *operation, std::initializer_list<lpt_format> formats) {
  std::string names;
  for (const lpt_format format : formats) names += (names.empty() ? "" : ", ") + format_name(format);
  if (!context.queue.device().is_cpu()) names += " on " + device_text(context.queue.device());
  return Status(LPT_UNSUPPORTED, std::string(operation) + ": no kernel takes " + names + "\n" + choices_text(context));
}

namespace {

// Advances the block scales and zero points of a view by blocks.
void move_blocks(MatrixView &view, int64_t blocks) {
  if (view.block_scales != nullptr) {
    view.block_scales =
        static_cast<std::byte *>(view.block_scales) + blocks * (element_bits(view.format.block_scale) / 8);
  }
  if (view.zero_points != nullptr) view.zero_points += blocks;
}

// Advances the payload of a view by elements, in full packs.
void move_elements(MatrixView &view, int64_t elements) {
  if (view.data == nullptr) return;
  const Packing packing = packing_of(view.format.element);
  view.data = static_cast<std::byte *>(view.data) + elements / packing.elements * packing.bytes;
}

}  // namespace

MatrixView cut_rows(const MatrixView &view, int64_t begin, int64_t count) {
  MatrixView part = view;
  part.rows = count;
  move_elements(part, begin * view.row_stride);
  if (view.indices != nullptr) part.indices += begin * view.index_stride;
  if (view.format.has_block_scale() && view.format.block_rows != LPT_BLOCK_EXTENT_FULL) {
    move_blocks(part, begin / view.format.block_rows * view.block_scale_stride);
  }
  return part;
}

MatrixView cut_columns(const MatrixView &view, int64_t begin, int64_t count) {
  MatrixView part = view;
  part.columns = count;
  move_elements(part, begin * view.column_stride);
  if (view.format.has_block_scale() && view.format.block_columns != LPT_BLOCK_EXTENT_FULL) {
    move_blocks(part, begin / view.format.block_columns);
  }
  return part;
}

void copy_matrix(const MatrixView &source, const MatrixView &target) {
  const int64_t bytes = row_bytes(source.format.element, source.columns);
  const int64_t from = row_bytes(source.format.element, source.row_stride);
  const int64_t to = row_bytes(target.format.element, target.row_stride);
  for (int64_t r = 0; r < source.rows; ++r) {
    std::memcpy(static_cast<std::byte *>(target.data) + r * to, static_cast<const std::byte *>(source.data) + r * from,
                static_cast<size_t>(bytes));
  }
}

size_t lay_out_matrix(const Format &format, int64_t rows, int64_t columns, std::byte *memory, MatrixView &out_view) {
  const int64_t row_stride = dense_row_stride(format.element, stored_columns(format, columns));
  const size_t payload = static_cast<size_t>(rows * row_bytes(format.element, row_stride));
  const auto blocks = static_cast<size_t>(block_scale_count(format, rows, columns));
  const size_t scales =
      blocks * static_cast<size_t>(format.has_block_scale() ? element_bits(format.block_scale) / 8 : 0);
  out_view = dense_view(format.id, memory, rows, columns);
  out_view.row_stride = row_stride;
  size_t end = aligned(payload);
  if (format.has_block_scale()) {
    if (memory != nullptr) out_view.block_scales = memory + end;
    out_view.block_scale_stride = block_grid(format, rows, columns).columns;
    end += aligned(scales);
  }
  if (format.has_tensor_scale()) {
    if (memory != nullptr) out_view.tensor_scale = reinterpret_cast<float *>(memory + end);
    end += aligned(sizeof(float));
  }
  if (format.has_zero_point()) {
    if (memory != nullptr) out_view.zero_points = reinterpret_cast<uint8_t *>(memory + end);
    end += aligned(blocks);
  }
  return end;
}

Status take_scratch(Context &context, size_t bytes, std::byte **out) { return context.scratch->take(bytes, out); }

Status take_matrix(Context &context, const Format &format, int64_t rows, int64_t columns, bool is_check_only,
                   MatrixView &out_view) {
  const size_t bytes = lay_out_matrix(format, rows, columns, nullptr, out_view);
  if (is_check_only) return {};
  std::byte *memory = nullptr;
  LPT_TRY(take_scratch(context, bytes, &memory));
  lay_out_matrix(format, rows, columns, memory, out_view);
  return {};
}

Status take_matrix(Context &context, lpt_format format, int64_t rows, int64_t columns, bool is_check_only,
                   MatrixView &out_view) {
  Format parts;
  find_format(format, parts);
  return take_matrix(context, parts, rows, columns, is_check_only, out_view);
}

Parts split(const Context &context, int64_t units, int64_t work_per_unit) {
  constexpr int64_t kLeastWork = 16384;  // elements; for less work, waking a thread costs more than it saves
  const int64_t width = width_of(context);
  if (width <= 1 || units <= 1) return {units > 0 ? 1 : 0, units};
  const int64_t work = work_per_unit > 0 ? work_per_unit : 1;
  int64_t parts = units * work / kLeastWork;
  if (parts > 4 * width) parts = 4 * width;  // a few parts per thread balance the load
  if (parts > units) parts = units;
  if (parts < 1) parts = 1;
  const int64_t length = (units + parts - 1) / parts;
  return {(units + length - 1) / length, length};
}

Parts split_reported(const Context &context, int64_t units, int64_t work_per_unit) {
  if (context.progress == nullptr) return split(context, units, work_per_unit);
  constexpr int64_t kReportedWork = int64_t{1} << 20;
  constexpr int64_t kMostReports = 100;
  int64_t parts = units * std::max<int64_t>(work_per_unit, 1) / kReportedWork;
  parts = std::min(parts, kMostReports * width_of(context));
  parts = std::max<int64_t>(std::min(parts, units), units > 0 ? 1 : 0);
  if (parts == 0) return {0, 0};
  const int64_t length = (units + parts - 1) / parts;
  return {(units + length - 1) / length, length};
}

Status cancelled(int64_t done, int64_t work) {
  return Status(LPT_CANCELLED, text("cancelled after %lld of %lld elements", static_cast<long long>(done),
                                    static_cast<long long>(work)));
}

double view_bytes(const MatrixView &view) {
  const int64_t indices = view.format.is_sparse ? index_bytes(view.columns) : 0;
  const int64_t stored = row_bytes(view.format.element, stored_columns(view.format, view.columns));
  return static_cast<double>(view.rows) * static_cast<double>(stored + indices);
}

}  // namespace lpt
