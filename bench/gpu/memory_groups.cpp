// Memory-bound operations: casts, layers, masks, optimizer steps. Bytes are those that must be read and written once.
#include "bench/gpu/groups.hpp"

namespace lpt::bench {
namespace {

constexpr lpt_format kSource = LPT_FORMAT_BF16;

// A cast of a group. Rows and columns are those of the source.
struct Cast {
  const char *who;
  lpt_format format;
  bool is_transposed_too = false, keeps_tensor_scale = false, has_delayed_scaler = false;
  int32_t hadamard_size = 0;
  lpt_rounding rounding = LPT_ROUNDING_NEAREST_EVEN;
};

// Returns a scaler with an amax of the source in its history, as from the second step of a training run.
std::shared_ptr<lpt_scaler> delayed_scaler(const Machine &machine, const Tensor &source, const Tensor &target) {
  lpt_scaler_options delayed = LPT_SCALER_OPTIONS_INIT;
  delayed.kind = LPT_SCALER_KIND_DELAYED;
  lpt_scaler *made = nullptr;
  machine.check(lpt_scaler_create(machine.context(), &delayed, &made));
  const auto scaler = owned(made, lpt_scaler_destroy);
  lpt_quantize_options options = LPT_QUANTIZE_OPTIONS_INIT;
  options.scaler = made;
  machine.check(lpt_quantize(machine.context(), source.get(), &options, target.get(), nullptr));
  machine.check(lpt_scaler_update(machine.context(), &made, 1));
  return scaler;
}

void set_cast(const Machine &machine, const Cast &cast, const Tensor &source, int64_t rows, int64_t columns,
              Contender &out) {
  const Tensor target = machine.make(cast.format, rows, columns);
  const Tensor transposed_copy = cast.is_transposed_too ? machine.make(cast.format, columns, rows) : nullptr;
  lpt_quantize_options options = LPT_QUANTIZE_OPTIONS_INIT;
  options.flags = cast.keeps_tensor_scale ? LPT_QUANTIZE_KEEP_TENSOR_SCALE : 0;
  options.hadamard_size = cast.hadamard_size;
  options.rounding = cast.rounding;
  const auto scaler = cast.has_delayed_scaler ? delayed_scaler(machine, source, target) : nullptr;
  options.scaler = scaler.get();
  out.elements = static_cast<double>(rows * columns);
  out.bytes =
      machine.bytes(source) + machine.bytes(target) + (transposed_copy != nullptr ? machine.bytes(transposed_copy) : 0);
  out.run = [=, &machine] {
    const auto held = scaler;  // keeps the scaler alive: the options point to it
    machine.check(lpt_quantize(machine.context(), source.get(), &options, target.get(), transposed_copy.get()));
  };
}

template <size_t kCount>
std::vector<Contender> race_casts(const Machine &machine, const Cast (&casts)[kCount], int64_t rows, int64_t columns) {
  const Tensor source = machine.numbers(kSource, rows, columns);
  std::vector<Contender> result;
  for (const Cast &cast : casts) {
    result.push_back(contender(cast.who, [&](Contender &out) { set_cast(machine, cast, source, rows, columns, out); }));
  }
  return result;
}

std::vector<Contender> copy(const Machine &machine, Cublaslt &) {
  const int64_t rows = machine.size(32768, 16), columns = machine.size(32768, 64);
  return {contender("copy", [&](Contender &out) {
    const Tensor from = machine.numbers(LPT_FORMAT_E4M3FN, rows, columns);
    const Tensor to = machine.make(LPT_FORMAT_E4M3FN, rows, columns);
    out.bytes = machine.bytes(from) + machine.bytes(to);
    out.run = [=, &machine] { machine.check(lpt_tensor_copy(machine.context(), from.get(), to.get())); };
  })};
}

std::vector<Contender> cast(const Machine &machine, Cublaslt &) {
  static constexpr Cast kCasts[] = {
      {"e4m3fn_tensor, amax beside", LPT_FORMAT_E4M3FN_TENSOR, false, false, true},
      {"e4m3fn_tensor, scale kept", LPT_FORMAT_E4M3FN_TENSOR, false, true},
      {"e4m3fn_tensor, amax first", LPT_FORMAT_E4M3FN_TENSOR},
  };
  return race_casts(machine, kCasts, machine.size(32768, 16), machine.size(8192, 128));
}

std::vector<Contender> transpose(const Machine &machine, Cublaslt &) {
  static constexpr Cast kCasts[] = {
      {"e4m3fn_tensor, amax beside", LPT_FORMAT_E4M3FN_TENSOR, true, false, true},
      {"e4m3fn_tensor, scale kept", LPT_FORMAT_E4M3FN_TENSOR, true, true},
  };
  return race_casts(machine, kCasts, machine.size(16384, 32), machine.size(8192, 64));
}

std::vector<Contender> blocks(const Machine &machine, Cublaslt &) {
  static constexpr Cast kCasts[] = {
      {"e4m3fn_1x128", LPT_FORMAT_E4M3FN_1X128},
      {"e4m3fn_128x128", LPT_FORMAT_E4M3FN_128X128},
      {"mxfp8_e4m3", LPT_FORMAT_MXFP8_E4M3},
      {"mxfp4", LPT_FORMAT_MXFP4},
      {"nvfp4", LPT_FORMAT_NVFP4, false, true},
      {"nvfp4, rotated by 16", LPT_FORMAT_NVFP4, false, true, false, 16},
      {"nvfp4, stochastic", LPT_FORMAT_NVFP4, false, true, false, 0, LPT_ROUNDING_STOCHASTIC},
  };
  return race_casts(machine, kCasts, machine.size(32768, 16), machine.size(8192, 256));
}

std::vector<Contender> decode(const Machine &machine, Cublaslt &) {
  const int64_t rows = machine.size(32768, 16), columns = machine.size(8192, 128);
  std::vector<Contender> result;
  for (const lpt_format format : {LPT_FORMAT_E4M3FN_1X128, LPT_FORMAT_MXFP8_E4M3, LPT_FORMAT_NVFP4}) {
    char name[64] = "";
    lpt_format_write_name(nullptr, format, name, sizeof name, nullptr);
    result.push_back(contender(name, [&](Contender &out) {
      const Tensor codes = machine.numbers(format, rows, columns), target = machine.make(kSource, rows, columns);
      out.bytes = machine.bytes(codes) + machine.bytes(target);
      out.run = [=, &machine] { machine.check(lpt_dequantize(machine.context(), codes.get(), nullptr, target.get())); };
    }));
  }
  return result;
}

// The optimizer.

struct Step {
  const char *who;
  lpt_format first, second, gradient;
  lpt_rounding rounding;
  double bytes;  // per parameter, without scales
};

void set_step(const Machine &machine, const Step &step, int64_t rows, int64_t columns, Contender &out) {
  lpt_optimizer *made = nullptr;
  machine.check(lpt_optimizer_create(machine.context(), nullptr, &made));
  const auto optimizer = owned(made, lpt_optimizer_destroy);
  lpt_optimizer_parameter parameter = LPT_OPTIMIZER_PARAMETER_INIT;
  parameter.elements = rows * columns;
  parameter.first_moment = step.first;
  parameter.second_moment = step.second;
  int64_t index = 0;
  machine.check(lpt_optimizer_add(machine.context(), optimizer.get(), nullptr, &parameter, &index));
  const Tensor weights = machine.numbers(LPT_FORMAT_F32, rows, columns);
  const Tensor gradients = machine.numbers(step.gradient, rows, columns);
  lpt_optimizer_step_options options = LPT_OPTIMIZER_STEP_OPTIONS_INIT;
  options.first_moment_rounding = options.second_moment_rounding = step.rounding;
  out.elements = static_cast<double>(rows * columns);
  out.bytes = out.elements * step.bytes;
  out.run = [=, &machine] {
    const lpt_tensor *const gradient = gradients.get();
    lpt_tensor *const weight = weights.get();
    machine.check(lpt_optimizer_step(machine.context(), optimizer.get(), &index, 1, &gradient, &options, &weight));
  };
}

std::vector<Contender> optimizer(const Machine &machine, Cublaslt &) {
  static constexpr Step kSteps[] = {
      {"adamw, f32", LPT_FORMAT_F32, LPT_FORMAT_F32, LPT_FORMAT_F32, LPT_ROUNDING_NEAREST_EVEN, 28},
      {"adamw, fp8 moments", LPT_FORMAT_E4M3FN_1X128, LPT_FORMAT_E5M2_1X128, LPT_FORMAT_BF16, LPT_ROUNDING_NEAREST_EVEN,
       14},
      {"adamw, fp8 moments, stochastic", LPT_FORMAT_E4M3FN_1X128, LPT_FORMAT_E5M2_1X128, LPT_FORMAT_BF16,
       LPT_ROUNDING_STOCHASTIC, 14},
  };
  std::vector<Contender> result;
  for (const Step &step : kSteps) {
    result.push_back(contender(step.who, [&](Contender &out) {
      set_step(machine, step, machine.size(16384, 8), machine.size(8192, 256), out);
    }));
  }
  return result;
}

// Layers.

std::vector<Contender> layers(const Machine &machine, Cublaslt &) {
  const int64_t rows = machine.size(16384, 8), columns = machine.size(8192, 128);
  const Tensor input = machine.numbers(kSource, rows, columns), output = machine.make(kSource, rows, columns);
  const double bytes = machine.bytes(input);
  lpt_context *const context = machine.context();
  return {
      contender("softmax",
                [&](Contender &out) {
                  out.bytes = 2 * bytes;
                  out.run = [=, &machine] {
                    machine.check(lpt_softmax_forward(context, input.get(), nullptr, output.get()));
                  };
                }),
      contender("swiglu",
                [&](Contender &out) {
                  out.bytes = 3 * bytes;
                  out.run = [=, &machine] {
                    machine.check(
                        lpt_swiglu_forward(context, input.get(), input.get(), nullptr, output.get(), nullptr));
                  };
                }),
      contender("smooth swiglu, then e4m3fn_1x128",
                [&](Contender &out) {
                  const Tensor factors = machine.make(LPT_FORMAT_E8M0FNU, {columns});
                  const Tensor codes = machine.make(LPT_FORMAT_E4M3FN_1X128, rows, columns);
                  lpt_swiglu_options options = LPT_SWIGLU_OPTIONS_INIT;
                  options.smoothing = LPT_SWIGLU_SMOOTHING_CHANNEL;
                  out.bytes = 4 * bytes + machine.bytes(codes);
                  out.run = [=, &machine] {
                    machine.check(
                        lpt_swiglu_forward(context, input.get(), input.get(), &options, output.get(), factors.get()));
                    machine.check(lpt_quantize(context, output.get(), nullptr, codes.get(), nullptr));
                  };
                }),
      contender("rmsnorm",
                [&](Contender &out) {
                  const Tensor gain = machine.make(LPT_FORMAT_F32, {columns});
                  out.bytes = 2 * bytes;
                  out.run = [=, &machine] {
                    machine.check(
                        lpt_rmsnorm_forward(context, input.get(), gain.get(), nullptr, output.get(), nullptr));
                  };
                }),
  };
}

// Masks, and columns shared by ranks.

std::vector<Contender> masks(const Machine &machine, Cublaslt &) {
  const int64_t rows = machine.size(16384, 8), columns = machine.size(8192, 64);
  const Tensor source = machine.numbers(kSource, rows, columns);
  const Tensor mask = machine.make(LPT_FORMAT_UINT8, rows, columns);
  lpt_context *const context = machine.context();
  return {
      contender("2:4 mask",
                [&](Contender &out) {
                  out.bytes = machine.bytes(source) + machine.bytes(mask);
                  out.run = [=, &machine] {
                    machine.check(lpt_sparse_mask_select(context, source.get(), nullptr, mask.get(), nullptr, nullptr));
                  };
                }),
      contender("2:4 transposable mask",
                [&](Contender &out) {
                  lpt_sparse_options options = LPT_SPARSE_OPTIONS_INIT;
                  options.direction = LPT_SPARSE_DIRECTION_BOTH;
                  out.bytes = machine.bytes(source) + machine.bytes(mask);
                  out.run = [=, &machine] {
                    machine.check(
                        lpt_sparse_mask_select(context, source.get(), &options, mask.get(), nullptr, nullptr));
                  };
                }),
      contender("2:4 compression",
                [&](Contender &out) {
                  const Tensor packed = machine.sparse_numbers(kSource, rows, columns);
                  machine.check(lpt_sparse_mask_select(context, source.get(), nullptr, mask.get(), nullptr, nullptr));
                  out.bytes = machine.bytes(source) + machine.bytes(mask) + machine.bytes(packed);
                  out.run = [=, &machine] {
                    machine.check(lpt_sparse_compress(context, source.get(), mask.get(), packed.get(), nullptr));
                  };
                }),
  };
}

constexpr Group kGroups[] = {{"copy", copy},     {"cast", cast},           {"transpose", transpose}, {"blocks", blocks},
                             {"decode", decode}, {"optimizer", optimizer}, {"layers", layers},       {"masks", masks}};

}  // namespace

std::span<const Group> memory_groups() { return kGroups; }

}  // namespace lpt::bench
