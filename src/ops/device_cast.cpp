#include "src/ops/device_cast.hpp"

#include "kernels/quantize/cuda_scale.hpp"
#include "src/ops/device.hpp"
#include "src/ops/device_scaler.hpp"

namespace lpt {
namespace {

// What needs numbers that the processor would have to wait for, or vectors of the caller.
Status check_cast(const Context &context, const Cast &cast, const Format &format) {
  const char *given = nullptr;
  if (cast.sums != nullptr) given = "statistics";
  if (cast.preparation.is_needed()) given = cast.preparation.factors != nullptr ? "smoothing" : "hadamard_size";
  if (cast.smoothing != nullptr) given = "smoothing";
  if (cast.random.words != nullptr) given = "random_words";
  if (cast.scale_list != nullptr) given = "scale_list";
  const std::string place = device_text(context.queue.device());
  if (given != nullptr) return unsupported("%s is given: casts on %s take none", given, place.c_str());
  const bool tells_nan = format.has_block_scale() || element_of(format.element).nan_code != 0;
  if (tells_nan) return {};
  return unsupported("the output is %s: casts on %s take formats that can tell of a NaN",
                     format_name(format.id).c_str(), place.c_str());
}

QuantizeRequest request_of(const MatrixView &source, const MatrixView &target, const Cast &cast, lpt_scale_rule rule) {
  QuantizeRequest request{};
  request.source = cast.is_transposed ? turned(source) : source;
  request.target = target;
  request.rounding = cast.rounding;
  request.overflow = cast.overflow;
  request.rule = rule;
  request.tensor_inverse = 1.0f;
  request.scale_list = kGaudi2Scales;
  request.scale_list_count = 4;
  request.random = cast.random;
  request.random_column_stride = 1;
  if (cast.is_transposed) std::swap(request.random.row_stride, request.random_column_stride);
  return request;
}

// The rows of one cast, in the order of their work. Those of the tensor scale are NULL where it is given.
struct Steps {
  const DeviceRow<AmaxRequest> *amax = nullptr;
  const DeviceRow<LookRequest> *look = nullptr;  // in place of the amax, where a scaler may have one
  const DeviceRow<ScalerAmaxRequest> *pick = nullptr;
  const DeviceRow<TensorScaleRequest> *scale = nullptr;
  const DeviceRow<QuantizeRequest> *quantize = nullptr;
};

bool is_delayed(const Cast &cast) { return cast.scaler != nullptr && cast.scaler->options.kind == LPT_SCALER_DELAYED; }

// A delayed scaler looks at the source where its history is zero, which only the device knows.
Status choose_amax(Context &context, const QuantizeRequest &request, const Cast &cast, Steps &steps) {
  const AmaxRequest amax{request.source, nullptr, nullptr};
  const lpt_format source = request.source.format.id;
  if (cast.scaler != nullptr) {
    LPT_TRY(choose_on_device(context, "scaler_amax", ScalerAmaxRequest{}, {LPT_FORMAT_F32}, &steps.pick));
  }
  if (!is_delayed(cast)) return choose_on_device(context, "amax", amax, {source}, &steps.amax);
  if (cast.scaler->options.zero_rule != LPT_ZERO_LOOKS) return {};
  return choose_on_device(context, "look", LookRequest{amax, nullptr}, {source}, &steps.look);
}

Status choose_steps(Context &context, const QuantizeRequest &request, const Cast &cast, bool is_scale_given,
                    Steps &steps) {
  const lpt_format source = request.source.format.id, target = request.target.format.id;
  if (!is_scale_given) {
    const TensorScaleRequest scale{scale_spec(request.target.format, request.rule, 1.0f), nullptr, nullptr};
    LPT_TRY(choose_amax(context, request, cast, steps));
    LPT_TRY(choose_on_device(context, "tensor_scale", scale, {target}, &steps.scale));
  }
  return choose_on_device(context, "quantize", request, {source, target}, &steps.quantize);
}

// What an AmaxRequest finds. The NaN is told by the codes.
struct FoundThere {
  float amax;
  bool has_nan;
  float picked;  // the amax that a scaler gives
};

Status queue_pick(Context &context, const Steps &steps, const Scaler &scaler, FoundThere *found) {
  const lpt_scaler_options &options = scaler.options;
  return queue_row(context, *steps.pick,
                   {numbers_of(scaler), &found->amax, options.kind == LPT_SCALER_DELAYED, options.zero_rule,
                    options.margin, &found->picked});
}

Status queue_tensor_scale(Context &context, const Steps &steps, const QuantizeRequest &request, const Scaler *scaler) {
  std::byte *memory = nullptr;
  LPT_TRY(take_on_device(context, sizeof(FoundThere), &memory));
  auto *const found = reinterpret_cast<FoundThere *>(memory);
  const AmaxRequest amax{request.source, &found->amax, &found->has_nan};
  if (steps.amax != nullptr) LPT_TRY(queue_row(context, *steps.amax, amax));
  if (steps.look != nullptr) LPT_TRY(queue_row(context, *steps.look, {amax, &numbers_of(*scaler)->amax}));
  if (scaler != nullptr) LPT_TRY(queue_pick(context, steps, *scaler, found));
  const ScaleSpec spec = scale_spec(request.target.format, request.rule, 1.0f);
  const float *const taken = scaler != nullptr ? &found->picked : &found->amax;
  return queue_row(context, *steps.scale, {spec, taken, request.target.tensor_scale});
}

}  // namespace

Status cast_on_device(Context &context, const MatrixView &source, const MatrixView &target, const Cast &cast,
                      bool is_check_only) {
  LPT_TRY(check_cast(context, cast, target.format));
  lpt_scale_rule rule;
  LPT_TRY(resolve_rule(target.format, cast.rounding, cast.rule, rule));
  QuantizeRequest request = request_of(source, target, cast, rule);
  const bool is_scale_given =
      !target.format.has_tensor_scale() || cast.keeps_tensor_scale || rule == LPT_SCALE_RULE_FIXED;
  Steps steps;
  // What has not looked at all numbers before finds their amax on its way.
  const bool is_finding = cast.scaler != nullptr && (is_scale_given || is_delayed(cast));
  if (is_finding) request.amax = &numbers_of(*cast.scaler)->running_amax;
  LPT_TRY(choose_steps(context, request, cast, is_scale_given, steps));
  if (is_check_only) return {};
  if (cast.scaler != nullptr) cast.scaler->is_recorded = true;
  if (source.rows == 0 || source.columns == 0) return {};
  if (!is_scale_given) LPT_TRY(queue_tensor_scale(context, steps, request, cast.scaler));
  return queue_row(context, *steps.quantize, request);
}

Status dequantize_on_device(Context &context, const MatrixView &source, const MatrixView &target, bool is_check_only) {
  const DequantizeRequest request{source, target};
  const DeviceRow<DequantizeRequest> *row = nullptr;
  LPT_TRY(choose_on_device(context, "dequantize", request, {source.format.id, target.format.id}, &row));
  if (is_check_only || source.rows == 0 || source.columns == 0) return {};
  return queue_row(context, *row, request);
}

}  // namespace lpt
