#include "src/cast/quantize.hpp"

#include "kernels/hadamard/hadamard.hpp"
#include "src/cast/device_cast.hpp"
#include "src/formats/block_scale.hpp"
#include "src/tensor/checks.hpp"

namespace lpt {
namespace {

constexpr int32_t kLongestList = 64;
constexpr int32_t kLargestFusedRotation = 128;

Status check_hadamard_size(const char *name, int32_t size, int32_t largest) {
  if (is_rotation_size(size) && size <= largest) return {};
  return invalid("%s is %d: expected a power of two from 16 to %d", name, size, largest);
}

// Takes scratch for `count` f32 elements.
Status take_floats(Context &context, int64_t count, float **out_numbers) {
  std::byte *memory = nullptr;
  LPT_TRY(context.host_scratch->take(static_cast<size_t>(count) * sizeof(float), &memory));
  *out_numbers = reinterpret_cast<float *>(memory);
  return {};
}

// Reads the signs of `count` columns. The vector has `size` or `count` elements and is repeated. Values in GPU memory are not
// checked, also in read_smoothing().
Status read_signs(Context &context, const Tensor *tensor, const char *name, int32_t size, int64_t count,
                  bool needs_data, const float **out_signs) {
  if (tensor == nullptr) return {};
  if (tensor->kind != HandleKind::kTensor) return invalid("%s is not a live tensor", name);
  const Shape shape = shape_of(*tensor);
  const int64_t given = shape.rows * shape.columns;
  if (given != size && given != count) {
    return invalid("%s has %lld numbers: expected %d, or %lld for all columns", name, static_cast<long long>(given),
                   size, static_cast<long long>(count));
  }
  void *data = nullptr;
  const Device &device = context.queue.device();
  LPT_TRY(check_vector(tensor, name, LPT_FORMAT_INT8, given, needs_data, &data, device));
  if (!device.is_cpu()) return factors_on_device(context, LPT_FORMAT_INT8, data, given, count, !needs_data, out_signs);
  if (!needs_data) return {};
  float *signs = nullptr;
  LPT_TRY(take_floats(context, count, &signs));
  for (int64_t i = 0; i < count; ++i) {
    const int8_t sign = static_cast<const int8_t *>(data)[i % given];
    if (sign != 1 && sign != -1) {
      return invalid("%s[%lld] is %d: expected 1 or -1", name, static_cast<long long>(i % given), sign);
    }
    signs[i] = sign;
  }
  *out_signs = signs;
  return {};
}

// Reads smoothing factors. The source is multiplied by the inverses of f32 factors; e8m0fnu factors become column scales.
Status read_smoothing(Context &context, const Tensor *tensor, int64_t columns, bool needs_data, Cast &cast) {
  void *data = nullptr;
  const Device &device = context.queue.device();
  if (tensor->kind == HandleKind::kTensor && tensor->format.id == LPT_FORMAT_F32) {
    LPT_TRY(check_vector(tensor, "smoothing", LPT_FORMAT_F32, columns, needs_data, &data, device));
    if (!device.is_cpu()) {
      return factors_on_device(context, LPT_FORMAT_F32, data, columns, columns, !needs_data, &cast.preparation.factors);
    }
    float *inverse = nullptr;
    LPT_TRY(take_floats(context, columns, &inverse));
    cast.preparation.factors = inverse;
    for (int64_t c = 0; c < columns && needs_data; ++c) {
      const float factor = static_cast<const float *>(data)[c];
      if (!(factor >= kSmallestNormal && factor <= kLargestFloat)) {
        return invalid("smoothing[%lld] is %g: expected a positive number", static_cast<long long>(c),
                       static_cast<double>(factor));
      }
      inverse[c] = inverse_scale(factor);
    }
    return {};
  }
  if (tensor->kind == HandleKind::kTensor && tensor->format.id != LPT_FORMAT_E8M0FNU) {
    return invalid("smoothing is %s: expected e8m0fnu for formats with e8m0fnu column scales, f32 for others",
                   format_name(tensor->format.id).c_str());
  }
  LPT_TRY(check_vector(tensor, "smoothing", LPT_FORMAT_E8M0FNU, columns, needs_data, &data, device));
  cast.smoothing = static_cast<const uint8_t *>(data);
  return {};
}

Status read_scale_list(const Tensor *tensor, bool needs_data, Cast &cast) {
  if (tensor == nullptr) return {};
  if (tensor->kind != HandleKind::kTensor) return invalid("scale_list is not a live tensor");
  const Shape shape = shape_of(*tensor);
  const int64_t count = shape.rows * shape.columns;
  if (count < 1 || count > kLongestList) {
    return invalid("scale_list has %lld numbers: expected 1 to %d", static_cast<long long>(count), kLongestList);
  }
  void *data = nullptr;
  LPT_TRY(check_vector(tensor, "scale_list", LPT_FORMAT_F32, count, needs_data, &data));
  if (!needs_data) return {};
  const auto *list = static_cast<const float *>(data);
  for (int64_t i = 0; i < count; ++i) {
    const float least = i == 0 ? 0.0f : list[i - 1];
    if (!(list[i] > least && list[i] <= kLargestFloat && list[i] >= kSmallestNormal)) {
      return invalid("scale_list[%lld] is %g: expected positive numbers that rise", static_cast<long long>(i),
                     static_cast<double>(list[i]));
    }
  }
  cast.scale_list = list;
  cast.scale_list_count = static_cast<int32_t>(count);
  return {};
}

// Reads the random bits of the caller: one or two bytes for each element.
Status read_random_words(const Tensor *tensor, const MatrixView &source, const lpt_quantize_options &options,
                         bool needs_data, const Device &device, Cast &cast) {
  if (tensor == nullptr) return {};
  MatrixView words;
  LPT_TRY(check_matrix(tensor, "random_words", needs_data, words, device));
  const int64_t bytes = options.stochastic_bits / 8;
  if (words.format.id != LPT_FORMAT_UINT8) {
    return invalid("random_words is %s: expected uint8", format_name(words.format.id).c_str());
  }
  if (words.rows != source.rows || words.columns != source.columns * bytes || words.row_stride % bytes != 0) {
    return invalid(
        "random_words is %lld x %lld: expected %lld x %lld, %lld bytes for each element of source, and a row stride "
        "of whole elements",
        number(words.rows), number(words.columns), number(source.rows), number(source.columns * bytes), number(bytes));
  }
  cast.random.words = static_cast<const uint8_t *>(words.data);
  cast.random.offset = 0;
  cast.random.row_stride = words.row_stride / bytes;
  return {};
}

// Reads the options that are independent of the target.
Status read_cast(Context &context, const lpt_quantize_options &options, const MatrixView &source, bool needs_data,
                 Cast &cast) {
  cast.rounding = options.rounding;
  cast.overflow = options.overflow;
  cast.rule = options.scale_rule;
  cast.scaler = options.scaler;
  cast.keeps_tensor_scale = (options.flags & LPT_QUANTIZE_KEEP_TENSOR_SCALE) != 0;
  cast.preparation.hadamard_size = options.hadamard_size;
  if (options.scaler != nullptr && options.scaler->kind != HandleKind::kScaler) {
    return invalid("scaler is not a live scaler");
  }
  if (options.scaler != nullptr) LPT_TRY(check_place(context, *options.scaler, "scaler"));
  if (options.scaler != nullptr && cast.keeps_tensor_scale) {
    return invalid("scaler is given with LPT_QUANTIZE_KEEP_TENSOR_SCALE: expected one source of the tensor scale");
  }
  if (options.statistics != nullptr) {
    if (options.statistics->kind != HandleKind::kStatistics)
      return invalid("statistics is not a live handle of its kind");
    LPT_TRY(sums_of(context, *options.statistics, &cast.sums));
  }
  LPT_TRY(make_random(options.random, RandomDomain::kQuantize, 0, source.columns, options.stochastic_bits,
                      options.philox_rounds, cast.random));
  LPT_TRY(read_random_words(options.random_words, source, options, needs_data, context.queue.device(), cast));
  LPT_TRY(read_scale_list(options.scale_list, needs_data, cast));
  if (options.smoothing != nullptr)
    LPT_TRY(read_smoothing(context, options.smoothing, source.columns, needs_data, cast));
  return {};
}

// Checks the options against one target format.
Status check_target_format(const Format &format, const char *name, bool is_transposed,
                           const lpt_quantize_options &options, const Cast &cast) {
  LPT_TRY(check_holds_numbers(format.id, name));
  if (format.is_sparse) return unsupported("%s is %s: expected a dense format", name, format_name(format.id).c_str());
  if (options.scaler != nullptr && (format.has_block_scale() || !format.has_tensor_scale())) {
    return unsupported("scaler is given and %s is %s: a scaler serves formats with one tensor scale", name,
                       format_name(format.id).c_str());
  }
  if (cast.keeps_tensor_scale && !format.has_tensor_scale()) {
    return unsupported("flags has LPT_QUANTIZE_KEEP_TENSOR_SCALE and %s is %s: it has no tensor scale", name,
                       format_name(format.id).c_str());
  }
  if (cast.smoothing != nullptr) {
    const bool fits = format.block_scale == LPT_FORMAT_E8M0FNU && format.block_rows == LPT_BLOCK_EXTENT_FULL &&
                      format.block_columns == 1 && !is_transposed;
    if (!fits) {
      return unsupported("smoothing is e8m0fnu and %s is %s: expected f32, or a format with e8m0fnu column scales",
                         name, format_name(format.id).c_str());
    }
    if (options.hadamard_size != 0) {
      return unsupported("hadamard_size is %d with e8m0fnu smoothing: column scales do not commute with a rotation",
                         options.hadamard_size);
    }
  }
  lpt_scale_rule rule;
  return resolve_rule(format, options.rounding, options.scale_rule, rule);
}

Status check_target(const Tensor *tensor, const char *name, const MatrixView &source, bool is_transposed,
                    bool needs_data, const Device &device, MatrixView &out_view) {
  LPT_TRY(check_matrix(tensor, name, needs_data, out_view, device));
  LPT_TRY(check_shape(out_view, name, is_transposed ? source.columns : source.rows,
                      is_transposed ? source.rows : source.columns, is_transposed ? "source transposed" : "source"));
  return check_no_overlap(out_view, name, source, "source");
}

}  // namespace

Status check_cast_options(const lpt_quantize_options &options) {
  LPT_TRY(check_flags("flags", options.flags, LPT_CHECK_ONLY | LPT_QUANTIZE_KEEP_TENSOR_SCALE));
  LPT_TRY(check_choice("rounding", options.rounding, LPT_ROUNDING_STOCHASTIC_UNDERFLOW));
  LPT_TRY(check_choice("overflow", options.overflow, LPT_OVERFLOW_INFINITE));
  LPT_TRY(check_choice("scale_rule", options.scale_rule, LPT_SCALE_RULE_SAWB));
  if (options.hadamard_size != 0)
    LPT_TRY(check_hadamard_size("hadamard_size", options.hadamard_size, kLargestFusedRotation));
  if (options.hadamard_size == 0 && options.hadamard_signs != nullptr) {
    return invalid("hadamard_signs is given and hadamard_size is 0: expected a power of two from 16 to %d",
                   kLargestFusedRotation);
  }
  RandomSource unused;
  return make_random(options.random, RandomDomain::kQuantize, 0, 0, options.stochastic_bits, options.philox_rounds,
                     unused);
}

Status quantize(Context &context, const Tensor *source, const lpt_quantize_options &options, Tensor *quantized,
                Tensor *transposed, const ShareAmax *share_amax) {
  const bool needs_data = !is_check_only(options.flags);
  MatrixView source_view;
  LPT_TRY(check_cast_options(options));
  const Device &device = context.queue.device();
  LPT_TRY(check_wide_matrix(source, "source", needs_data, source_view, device));
  if (quantized == nullptr && transposed == nullptr) {
    return invalid("quantized and transposed are NULL: expected at least one output");
  }
  Cast cast;
  LPT_TRY(read_cast(context, options, source_view, needs_data, cast));
  cast.share_amax = share_amax;
  MatrixView views[2];
  Tensor *const outputs[2] = {quantized, transposed};
  static constexpr const char *kNames[2] = {"quantized", "transposed"};
  for (int i = 0; i < 2; ++i) {
    if (outputs[i] == nullptr) continue;
    LPT_TRY(check_target(outputs[i], kNames[i], source_view, i == 1, needs_data, device, views[i]));
    LPT_TRY(check_target_format(views[i].format, kNames[i], i == 1, options, cast));
  }
  if (quantized != nullptr && transposed != nullptr) {
    LPT_TRY(check_no_overlap(views[0], kNames[0], views[1], kNames[1]));
  }
  if (options.hadamard_signs != nullptr) {
    // A vector of one group applies to both outputs. A longer vector must match the columns of each output.
    const int64_t columns = quantized != nullptr ? source_view.columns : source_view.rows;
    const int64_t count = std::max(columns, transposed != nullptr ? source_view.rows : columns);
    LPT_TRY(read_signs(context, options.hadamard_signs, "hadamard_signs", options.hadamard_size, count, needs_data,
                       &cast.preparation.signs));
    if (quantized != nullptr && transposed != nullptr && source_view.rows != source_view.columns &&
        shape_of(*options.hadamard_signs).rows * shape_of(*options.hadamard_signs).columns != options.hadamard_size) {
      return invalid("hadamard_signs has a sign for each column: both outputs share %d only", options.hadamard_size);
    }
  }
  return cast_outputs(context, source_view, views, cast, !needs_data);
}

Status fake_quantize(Context &context, const Tensor *source, lpt_format format_id, const lpt_quantize_options &options,
                     Tensor *output) {
  const bool needs_data = !is_check_only(options.flags);
  MatrixView source_view;
  MatrixView output_view;
  Format format;
  LPT_TRY(check_cast_options(options));
  const Device &device = context.queue.device();
  LPT_TRY(check_wide_matrix(source, "source", needs_data, source_view, device));
  if (!find_format(format_id, format))
    return invalid("format is %lld: expected a format", static_cast<long long>(format_id));
  LPT_TRY(check_wide_matrix(output, "output", needs_data, output_view, device));
  LPT_TRY(check_shape(output_view, "output", source_view.rows, source_view.columns, "source"));
  LPT_TRY(check_in_place(output_view, "output", source_view, "source"));
  Cast cast;
  LPT_TRY(read_cast(context, options, source_view, needs_data, cast));
  if (cast.smoothing != nullptr) return unsupported("smoothing is e8m0fnu: expected f32 for a cast and back");
  LPT_TRY(check_target_format(format, "format", false, options, cast));
  LPT_TRY(read_signs(context, options.hadamard_signs, "hadamard_signs", options.hadamard_size, source_view.columns,
                     needs_data, &cast.preparation.signs));
  return cast_and_back(context, source_view, format, output_view, cast, !needs_data);
}

Status dequantize(Context &context, const Tensor *source, const lpt_dequantize_options &options, Tensor *output) {
  const bool needs_data = !is_check_only(options.flags);
  MatrixView source_view;
  MatrixView output_view;
  LPT_TRY(check_flags("flags", options.flags));
  const Device &device = context.queue.device();
  LPT_TRY(check_matrix(source, "source", needs_data, source_view, device));
  LPT_TRY(check_matrix(output, "output", needs_data, output_view, device));
  LPT_TRY(check_holds_numbers(source_view.format.id, "source"));
  LPT_TRY(check_wide_float(output_view, "output"));
  LPT_TRY(check_shape(output_view, "output", source_view.rows, source_view.columns, "source"));
  LPT_TRY(check_no_overlap(output_view, "output", source_view, "source"));
  return dequantize_matrix(context, source_view, output_view, !needs_data);
}

Status hadamard(Context &context, const Tensor *source, const lpt_hadamard_options &options, Tensor *output) {
  const bool needs_data = !is_check_only(options.flags);
  MatrixView source_view;
  MatrixView output_view;
  LPT_TRY(check_flags("flags", options.flags));
  LPT_TRY(check_hadamard_size("size", options.size, kLargestRotation));
  LPT_TRY(check_choice("is_inverse", options.is_inverse, 1));
  const Device &device = context.queue.device();
  LPT_TRY(check_matrix(source, "source", needs_data, source_view, device));
  LPT_TRY(check_matrix(output, "output", needs_data, output_view, device));
  LPT_TRY(check_wide_float(source_view, "source"));
  LPT_TRY(check_wide_float(output_view, "output"));
  LPT_TRY(check_shape(output_view, "output", source_view.rows, source_view.columns, "source"));
  LPT_TRY(check_in_place(output_view, "output", source_view, "source"));
  HadamardRequest whole{};
  whole.source = source_view;
  whole.target = output_view;
  whole.size = options.size;
  whole.is_inverse = options.is_inverse != 0;
  LPT_TRY(read_signs(context, options.signs, "signs", options.size, source_view.columns, needs_data, &whole.signs));
  return rotate_matrix(context, whole, !needs_data);
}

Status random_signs(Context &context, const lpt_random &random, Tensor *signs) {
  if (signs == nullptr) return invalid("signs is NULL: expected a tensor");
  if (signs->kind != HandleKind::kTensor) return invalid("signs is not a live tensor");
  const Shape shape = shape_of(*signs);
  const int64_t count = shape.rows * shape.columns;
  void *data = nullptr;
  const Device &device = context.queue.device();
  LPT_TRY(check_vector(signs, "signs", LPT_FORMAT_INT8, count, true, &data, device));
  RandomSource source;
  LPT_TRY(make_random(random, RandomDomain::kSigns, 0, count, 16, 7, source));
  if (!device.is_cpu()) return signs_on_device(context, source, static_cast<int8_t *>(data), count);
  for (int64_t i = 0; i < count; ++i) {
    static_cast<int8_t *>(data)[i] = (random_bits(source, 0, i) & 1) != 0 ? -1 : 1;
  }
  return {};
}

}  // namespace lpt
