#include "src/ops/quantize.hpp"

#include <cmath>
#include <limits>

#include "kernels/quantize/quantize.hpp"
#include "src/formats/block_scale.hpp"

namespace lpt {
namespace {

MatrixView transpose(const MatrixView &view) {
  MatrixView result = view;
  result.rows = view.columns;
  result.columns = view.rows;
  result.row_stride = view.column_stride;
  result.column_stride = view.row_stride;
  return result;
}

bool has_nan_code(lpt_format element) {
  return element == LPT_FORMAT_F32 || element == LPT_FORMAT_F64 || element_of(element).nan_code != 0;
}

// Rows per part: whole blocks. A block of all rows cannot be cut.
int64_t row_unit(const QuantizeRequest &request) {
  const Format &format = request.target.format;
  if (!format.has_block_scale()) return 1;
  if (format.block_rows == LPT_WHOLE) return request.target.rows > 0 ? request.target.rows : 1;
  return format.block_rows;
}

struct Extremes {
  float amax = 0.0f;
  bool has_nan = false;
};

Status measure(Context &context, const MatrixView &source, bool is_check_only, Extremes &out_extremes) {
  Extremes result;
  AmaxRequest whole{source, &result.amax, &result.has_nan};
  const Row<AmaxRequest> *row = nullptr;
  LPT_TRY(choose(context, "amax", amax_kernels(), whole, {source.format.id}, &row));
  if (is_check_only) return {};
  const Measure measure(context, "amax", row->name, view_bytes(source));
  const Parts parts = split(context, source.rows, source.columns);
  std::vector<Extremes> partial(static_cast<size_t>(parts.count));
  // std::vector<bool> has no addresses, so each part has a struct of its own.
  parallel_for(context, parts.count, [&](int64_t i) {
    const int64_t begin = i * parts.length;
    const int64_t count = std::min(parts.length, source.rows - begin);
    Extremes &part = partial[static_cast<size_t>(i)];
    row->run(AmaxRequest{cut_rows(source, begin, count), &part.amax, &part.has_nan});
  });
  for (const Extremes &part : partial) {
    result.amax = std::max(result.amax, part.amax);
    result.has_nan = result.has_nan || part.has_nan;
  }
  out_extremes = result;
  return {};
}

// A plain element without NaN takes no source that has one.
Status check_no_hidden_nan(Context &context, const MatrixView &source, const MatrixView &target) {
  if (!target.format.is_plain() || has_nan_code(target.format.element)) return {};
  Extremes extremes;
  LPT_TRY(measure(context, source, false, extremes));
  if (!extremes.has_nan) return {};
  return invalid("source has a NaN: %s has no code for it, and no scale to carry it",
                 format_name(target.format.id).c_str());
}

// Runs the chosen row over the matrix in parts, and gathers the amax if the request wants it.
void run_parts(Context &context, const Row<QuantizeRequest> &row, const QuantizeRequest &whole) {
  const int64_t rows = whole.target.rows;
  const int64_t unit = row_unit(whole);
  const Parts parts = split(context, (rows + unit - 1) / unit, unit * whole.target.columns);
  std::vector<float> amax(static_cast<size_t>(parts.count), 0.0f);
  parallel_for(context, parts.count, [&](int64_t i) {
    const int64_t begin = i * parts.length * unit;
    const int64_t count = std::min(parts.length * unit, rows - begin);
    QuantizeRequest part = whole;
    part.source = cut_rows(whole.source, begin, count);
    part.target = cut_rows(whole.target, begin, count);
    part.random.offset += begin * whole.random.row_stride;
    part.amax = whole.amax == nullptr ? nullptr : &amax[static_cast<size_t>(i)];
    row.run(part);
  });
  if (whole.amax == nullptr) return;
  for (const float value : amax) *whole.amax = std::max(*whole.amax, value);
}

// A tensor of one long row is cut along its columns instead, at multiples that keep bytes and random blocks whole.
void run_row_parts(Context &context, const Row<QuantizeRequest> &row, const QuantizeRequest &whole) {
  const Format &format = whole.target.format;
  const int64_t block = format.has_block_scale() ? format.block_columns : 1;
  if (block == LPT_WHOLE) return run_parts(context, row, whole);
  const int64_t unit = std::max<int64_t>(block, 1024);
  const int64_t columns = whole.target.columns;
  const Parts parts = split(context, (columns + unit - 1) / unit, unit);
  std::vector<float> amax(static_cast<size_t>(parts.count), 0.0f);
  parallel_for(context, parts.count, [&](int64_t i) {
    const int64_t begin = i * parts.length * unit;
    const int64_t count = std::min(parts.length * unit, columns - begin);
    QuantizeRequest part = whole;
    part.source = cut_columns(whole.source, begin, count);
    part.target = cut_columns(whole.target, begin, count);
    part.random.offset += begin * whole.random_column_stride;
    part.amax = whole.amax == nullptr ? nullptr : &amax[static_cast<size_t>(i)];
    row.run(part);
  });
  if (whole.amax == nullptr) return;
  for (const float value : amax) *whole.amax = std::max(*whole.amax, value);
}

// The options of the public call, against one target.
Status check_target(const Tensor *tensor, const char *name, const MatrixView &source, bool is_transposed,
                    const lpt_quantize_options &options, bool needs_data, MatrixView &out_view) {
  LPT_TRY(check_matrix(tensor, name, needs_data, out_view));
  const Format &format = out_view.format;
  if (format.element == LPT_FORMAT_UINT8) return unsupported("%s is uint8: it holds bytes, not numbers", name);
  LPT_TRY(check_shape(out_view, name, is_transposed ? source.columns : source.rows,
                      is_transposed ? source.rows : source.columns, is_transposed ? "source transposed" : "source"));
  LPT_TRY(check_apart(out_view, name, source, "source"));
  if (options.scaler != nullptr && (format.has_block_scale() || !format.has_tensor_scale())) {
    return unsupported("scaler is given and %s is %s: a scaler serves formats with one tensor scale", name,
                       format_name(format.id).c_str());
  }
  if (options.smoothing != nullptr) {
    const bool fits = format.block_scale == LPT_FORMAT_E8M0FNU && format.block_rows == LPT_WHOLE &&
                      format.block_columns == 1 && !is_transposed;
    if (!fits) {
      return unsupported("smoothing is given and %s is %s: it goes with e8m0fnu scales per column", name,
                         format_name(format.id).c_str());
    }
  }
  return {};
}

}  // namespace

Status check_cast_options(const lpt_quantize_options &options) {
  LPT_TRY(check_flags("flags", options.flags));
  LPT_TRY(check_choice("rounding", options.rounding, LPT_ROUNDING_TOWARD_ZERO));
  LPT_TRY(check_choice("overflow", options.overflow, LPT_OVERFLOW_INFINITE));
  LPT_TRY(check_choice("scale_rule", options.scale_rule, LPT_SCALE_RULE_HEADROOM));
  if (options.reserved != 0) return unsupported("reserved is %d: expected 0", options.reserved);
  RandomSource unused;
  return make_random(options.random, RandomRoom::kQuantize, 0, 0, options.stochastic_bits, options.philox_rounds,
                     unused);
}

Status resolve_rule(const Format &target, lpt_rounding rounding, lpt_scale_rule rule, lpt_scale_rule &out_rule) {
  const lpt_format scale = target.has_block_scale() ? target.block_scale : target.tensor_scale;
  bool fits = rule == LPT_SCALE_RULE_DEFAULT;
  switch (scale) {
    case LPT_FORMAT_E8M0FNU:
      fits = fits || rule == LPT_SCALE_RULE_ROUND_UP || rule == LPT_SCALE_RULE_FLOOR;
      out_rule = rule == LPT_SCALE_RULE_DEFAULT ? LPT_SCALE_RULE_ROUND_UP : rule;
      break;
    case LPT_FORMAT_E4M3FN:
      fits = fits || rule == LPT_SCALE_RULE_NEAREST || rule == LPT_SCALE_RULE_HEADROOM;
      out_rule = rule != LPT_SCALE_RULE_DEFAULT        ? rule
                 : rounding == LPT_ROUNDING_STOCHASTIC ? LPT_SCALE_RULE_HEADROOM
                                                       : LPT_SCALE_RULE_NEAREST;
      break;
    case LPT_FORMAT_F32:
      fits = fits || rule == LPT_SCALE_RULE_AMAX || rule == LPT_SCALE_RULE_POWER_OF_TWO;
      out_rule = rule == LPT_SCALE_RULE_DEFAULT ? LPT_SCALE_RULE_AMAX : rule;
      break;
    default:
      out_rule = LPT_SCALE_RULE_AMAX;
      break;
  }
  if (fits) return {};
  return unsupported("scale_rule is %d: %s has %s", rule, format_name(target.id).c_str(),
                     scale == LPT_FORMAT_NONE ? "no scales" : ("scales in " + format_name(scale)).c_str());
}

namespace {

// Divides the columns by powers of two, into f32 scratch: exact, save at the ends of f32's range.
Status smooth_columns(Context &context, const MatrixView &source, const uint8_t *factors, bool is_check_only,
                      MatrixView &out_view) {
  find_format(LPT_FORMAT_F32, out_view.format);
  std::byte *memory = nullptr;
  LPT_TRY(
      context.arena->take(lay_out_matrix(out_view.format, source.rows, source.columns, nullptr, out_view), &memory));
  lay_out_matrix(out_view.format, source.rows, source.columns, memory, out_view);
  LPT_TRY(widen_matrix(context, source, out_view, is_check_only));
  if (is_check_only) return {};
  const Measure measure(context, "smooth", "smooth_columns", 2 * view_bytes(out_view));
  std::vector<float> inverse(static_cast<size_t>(source.columns));
  for (int64_t c = 0; c < source.columns; ++c) {
    inverse[static_cast<size_t>(c)] = 1.0f / decode(kElementE8m0fnu, factors[c]);
  }
  float *row = static_cast<float *>(out_view.data);
  for (int64_t r = 0; r < out_view.rows; ++r, row += out_view.row_stride) {
    for (int64_t c = 0; c < out_view.columns; ++c) row[c] *= inverse[static_cast<size_t>(c)];
  }
  return {};
}

// A cast with smoothing: the smoothed source, cast as if there were no column scales; the factors become these scales.
Status cast_smoothed(Context &context, const MatrixView &source, const MatrixView &target, const Cast &cast,
                     bool is_check_only) {
  MatrixView smoothed;
  LPT_TRY(smooth_columns(context, source, cast.smoothing, is_check_only, smoothed));
  MatrixView inner = target;
  inner.block_scales = nullptr;
  inner.format.block_scale = LPT_FORMAT_NONE;
  inner.format.block_rows = inner.format.block_columns = 0;
  inner.format.id = LPT_FORMAT_NONE;
  LPT_TRY(make_format(inner.format, inner.format.id));
  Cast plain = cast;
  plain.smoothing = nullptr;
  LPT_TRY(cast_matrix(context, smoothed, inner, plain, is_check_only));
  auto *scales = static_cast<uint8_t *>(target.block_scales);
  for (int64_t c = 0; c < target.columns && !is_check_only; ++c) scales[c] = cast.smoothing[c];
  return {};
}

}  // namespace

Status cast_matrix(Context &context, const MatrixView &given_source, const MatrixView &target, const Cast &cast,
                   bool is_check_only) {
  if (cast.smoothing != nullptr) return cast_smoothed(context, given_source, target, cast, is_check_only);
  const MatrixView source = cast.is_transposed ? transpose(given_source) : given_source;
  const Format &format = target.format;
  QuantizeRequest request{};
  request.source = source;
  request.target = target;
  request.rounding = cast.rounding;
  request.overflow = cast.overflow;
  LPT_TRY(resolve_rule(format, cast.rounding, cast.rule, request.rule));
  request.random = cast.random;
  request.random_column_stride = 1;
  if (cast.is_transposed) {
    request.random.row_stride = 1;
    request.random_column_stride = cast.random.row_stride;
  }
  request.tensor_inverse = 1.0f;

  // Where the tensor's amax comes from: the past, or a look at the source. NaN must not vanish in elements without it, and
  // an infinity that is not to saturate would.
  float amax = 0.0f;
  float running_amax = 0.0f;
  const bool is_delayed = cast.scaler != nullptr && has_delayed_amax(*cast.scaler, amax);
  const bool hides_nan = !format.has_block_scale() && !has_nan_code(format.element);
  if (hides_nan && cast.overflow == LPT_OVERFLOW_INFINITE) {
    return unsupported("overflow is LPT_OVERFLOW_INFINITE: %s has no code for an infinity or a NaN",
                       format_name(format.id).c_str());
  }
  const bool must_look = (format.has_tensor_scale() && !is_delayed) || hides_nan;
  Extremes extremes;
  if (must_look) LPT_TRY(measure(context, source, is_check_only, extremes));
  if (cast.scaler != nullptr && !must_look) request.amax = &running_amax;
  const Row<QuantizeRequest> *row = nullptr;
  LPT_TRY(choose(context, "quantize", quantize_kernels(), request, {source.format.id, format.id}, &row));
  if (is_check_only) return {};
  if (hides_nan && extremes.has_nan && !format.has_tensor_scale()) {
    return invalid("source has a NaN: %s has no code for it, and no scale to carry it", format_name(format.id).c_str());
  }

  if (format.has_tensor_scale()) {
    if (!is_delayed) amax = cast.scaler == nullptr ? extremes.amax : with_margin(*cast.scaler, extremes.amax);
    const float scale = tensor_scale_of(format, request.rule, amax);
    request.tensor_inverse = 1.0f / scale;
    *target.tensor_scale = scale;
  }
  {
    const Measure measure(context, "quantize", row->name, view_bytes(source) + view_bytes(target));
    if (target.rows == 1) {
      run_row_parts(context, *row, request);
    } else {
      run_parts(context, *row, request);
    }
  }
  if (format.has_tensor_scale() && hides_nan && extremes.has_nan) {
    *target.tensor_scale = std::numeric_limits<float>::quiet_NaN();
  }
  if (cast.scaler != nullptr) record_amax(*cast.scaler, must_look ? extremes.amax : running_amax);
  return {};
}

Status quantize(Context &context, const Tensor *source, const lpt_quantize_options &options, Tensor *quantized,
                Tensor *transposed) {
  const bool needs_data = !is_check_only(options.flags);
  MatrixView source_view;
  LPT_TRY(check_cast_options(options));
  LPT_TRY(check_matrix(source, "source", needs_data, source_view));
  LPT_TRY(check_wide_float(source_view, "source"));
  if (quantized == nullptr && transposed == nullptr) {
    return invalid("quantized and transposed are NULL: expected at least one output");
  }
  if (options.scaler != nullptr && options.scaler->kind != HandleKind::kScaler) {
    return invalid("scaler is not a live scaler");
  }
  Cast cast;
  cast.rounding = options.rounding;
  cast.overflow = options.overflow;
  cast.rule = options.scale_rule;
  cast.scaler = options.scaler;
  LPT_TRY(make_random(options.random, RandomRoom::kQuantize, 0, source_view.columns, options.stochastic_bits,
                      options.philox_rounds, cast.random));
  MatrixView views[2];
  Tensor *const outputs[2] = {quantized, transposed};
  static constexpr const char *kNames[2] = {"quantized", "transposed"};
  for (int i = 0; i < 2; ++i) {
    if (outputs[i] == nullptr) continue;
    LPT_TRY(check_target(outputs[i], kNames[i], source_view, i == 1, options, needs_data, views[i]));
    lpt_scale_rule rule;
    LPT_TRY(resolve_rule(views[i].format, options.rounding, options.scale_rule, rule));
  }
  if (quantized != nullptr && transposed != nullptr) {
    LPT_TRY(check_apart(views[0], kNames[0], views[1], kNames[1]));
  }
  if (options.smoothing != nullptr) {
    void *factors = nullptr;
    LPT_TRY(
        check_vector(options.smoothing, "smoothing", LPT_FORMAT_E8M0FNU, source_view.columns, needs_data, &factors));
    cast.smoothing = static_cast<const uint8_t *>(factors);
  }
  if (quantized != nullptr && transposed != nullptr && needs_data) {
    // A NaN that the second output cannot hold must be found before the first is written.
    for (const MatrixView &view : views) LPT_TRY(check_no_hidden_nan(context, source_view, view));
  }
  for (int i = 0; i < 2; ++i) {
    if (outputs[i] == nullptr) continue;
    cast.is_transposed = i == 1;
    LPT_TRY(cast_matrix(context, source_view, views[i], cast, !needs_data));
  }
  return {};
}

Status dequantize_matrix(Context &context, const MatrixView &source, const MatrixView &target, bool is_check_only) {
  const DequantizeRequest whole{source, target};
  const Row<DequantizeRequest> *row = nullptr;
  LPT_TRY(choose(context, "dequantize", dequantize_kernels(), whole, {source.format.id, target.format.id}, &row));
  if (is_check_only) return {};
  const Measure measure(context, "dequantize", row->name, view_bytes(source) + view_bytes(target));
  const int32_t block_rows = source.format.has_block_scale() ? source.format.block_rows : 1;
  const int64_t unit = block_rows == LPT_WHOLE ? 1 : block_rows;
  const Parts parts = split(context, (source.rows + unit - 1) / unit, unit * source.columns);
  parallel_for(context, parts.count, [&](int64_t i) {
    const int64_t begin = i * parts.length * unit;
    const int64_t count = std::min(parts.length * unit, source.rows - begin);
    row->run(DequantizeRequest{cut_rows(source, begin, count), cut_rows(target, begin, count)});
  });
  return {};
}

Status widen_matrix(Context &context, const MatrixView &source, const MatrixView &target, bool is_check_only) {
  if (source.format.id != target.format.id) return dequantize_matrix(context, source, target, is_check_only);
  if (is_check_only) return {};
  const Measure measure(context, "copy", "copy_any", 2 * view_bytes(source));
  copy_matrix(source, target);
  return {};
}

Status dequantize(Context &context, const Tensor *source, const lpt_dequantize_options &options, Tensor *output) {
  const bool needs_data = !is_check_only(options.flags);
  MatrixView source_view;
  MatrixView output_view;
  LPT_TRY(check_flags("flags", options.flags));
  LPT_TRY(check_matrix(source, "source", needs_data, source_view));
  LPT_TRY(check_matrix(output, "output", needs_data, output_view));
  if (source_view.format.element == LPT_FORMAT_UINT8)
    return unsupported("source is uint8: it holds bytes, not numbers");
  LPT_TRY(check_wide_float(output_view, "output"));
  LPT_TRY(check_shape(output_view, "output", source_view.rows, source_view.columns, "source"));
  LPT_TRY(check_apart(output_view, "output", source_view, "source"));
  return dequantize_matrix(context, source_view, output_view, !needs_data);
}

}  // namespace lpt
