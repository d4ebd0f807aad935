// GEMMs on a device: by a kernel of LPT, or by a vendor library with kernels of LPT before and after it.
#include "kernels/quantize/quantize.hpp"
#include "src/call/launch.hpp"
#include "src/gemm/library.hpp"
#include "src/gemm/run.hpp"
#include "src/tensor/sparse_matrix.hpp"

namespace lpt {
namespace {

constexpr size_t kWorkspaceBoundary = 256;

// Takes the scratch of one call. If the call does not run, it only counts the bytes.
class Scratch {
 public:
  Scratch(Context &context, bool is_counted) : context_(context), is_counted_(is_counted) {}

  Status take(size_t bytes, std::byte **out) {
    bytes_ += aligned(bytes);
    *out = nullptr;
    return is_counted_ || bytes == 0 ? Status() : take_scratch(context_, bytes, out);
  }
  size_t bytes() const { return bytes_; }

 private:
  Context &context_;
  const bool is_counted_;
  size_t bytes_ = 0;
};

// The preparation of an operand for the library: its conversion, the target of the conversion, and its scales.
struct OperandPlan {
  MatrixView source;  // input of the conversion
  MatrixView target;  // operand of the library; equal to the source without a conversion
  const KernelEntry<OperandConversionRequest> *conversion = nullptr;
  const KernelEntry<DequantizeRequest> *dequantize = nullptr;
  bool has_scales = false;
  bool is_folded = false;
  const KernelEntry<LibraryScalesRequest> *order = nullptr;
  LibraryScalesRequest scales{};
  const void *library_scales = nullptr;
};

// The steps of a GEMM by the library.
struct Steps {
  LibraryPlan plan;
  LibrarySession *library = nullptr;
  LibrarySession::Prepared *prepared = nullptr;
  OperandPlan a, b;
  const KernelEntry<GemmFactorsRequest> *factor = nullptr;
  const KernelEntry<GemmEpilogueRequest> *epilogue = nullptr;
  std::byte *target = nullptr, *factors = nullptr, *workspace = nullptr;
};

bool is_dequantized(lpt_format element) {
  return element == LPT_FORMAT_E4M3FN || element == LPT_FORMAT_E5M2 || element == LPT_FORMAT_E3M2FN ||
         element == LPT_FORMAT_E2M3FN || element == LPT_FORMAT_E2M1FN;
}

// Returns the view without the scales that the conversion does not apply.
MatrixView without_late_scales(MatrixView view, OperandConversion conversion) {
  if (conversion != OperandConversion::kNumbers) view.format.tensor_scale = LPT_FORMAT_NONE;
  if (conversion == OperandConversion::kCodes) view.format.block_scale = LPT_FORMAT_NONE;
  return view;
}

Status choose_conversion(Context &context, const MatrixView &view, OperandConversion conversion,
                         const LibraryOperand &operand, OperandPlan &way) {
  way.source = without_late_scales(view, conversion);
  way.target = view;
  if (conversion == OperandConversion::kNone) return {};
  way.target = dense_view(operand.element, nullptr, view.rows, view.columns);
  way.target.row_stride = operand.stride;
  way.has_scales = conversion != OperandConversion::kCodes;
  way.is_folded = conversion == OperandConversion::kFolded;
  const std::initializer_list<lpt_format> formats = {view.format.id, operand.element};
  if (is_dequantized(view.format.element) && conversion != OperandConversion::kFolded) {
    return select_kernel(context, "dequantize", DequantizeRequest{way.source, way.target}, formats, &way.dequantize);
  }
  way.source = view;
  if (conversion != OperandConversion::kNumbers) way.source.format.tensor_scale = LPT_FORMAT_NONE;
  return select_kernel(context, "gemm_conversion", OperandConversionRequest{way.source, way.target, way.has_scales},
                       formats, &way.conversion);
}

int64_t length_of_step(LibraryScales layout) {
  return layout == LibraryScales::kTiles16 ? 16 : layout == LibraryScales::kTiles32 ? 32 : 128;
}

// Selects the scales that the library reads: those of the operand, or a reordered copy. A folded conversion writes its own
// scales.
Status choose_order(Context &context, const MatrixView &view, LibraryScales layout, OperandPlan &way) {
  if (layout == LibraryScales::kNone || way.is_folded) return {};
  if (layout == LibraryScales::kTensor || layout == LibraryScales::kLanes) {
    way.library_scales = layout == LibraryScales::kTensor ? view.tensor_scale : view.block_scales;
    return {};
  }
  const int64_t step = length_of_step(layout);
  const int64_t lanes = layout == LibraryScales::kBlocks128 ? (view.rows + 127) / 128 : view.rows;
  way.scales = {layout, view.block_scales, view.block_scale_stride, lanes, (view.columns + step - 1) / step, nullptr};
  return select_kernel(context, "gemm_scales", way.scales, {view.format.id}, &way.order);
}

Status take_folded_scales(Scratch &scratch, OperandPlan &way) {
  const int64_t steps = (way.target.columns + 127) / 128;
  std::byte *memory = nullptr;
  LPT_TRY(scratch.take(library_scales_bytes(LibraryScales::kLanes128, way.target.rows, steps), &memory));
  way.target.block_scales = memory;
  way.library_scales = memory;
  return {};
}

Status take_for(Scratch &scratch, OperandPlan &way) {
  std::byte *memory = nullptr;
  if (way.conversion != nullptr || way.dequantize != nullptr) {
    const int64_t bytes = row_bytes(way.target.format.element, way.target.row_stride) * way.target.rows;
    LPT_TRY(scratch.take(static_cast<size_t>(bytes), &memory));
    way.target.data = memory;
  }
  if (way.is_folded) return take_folded_scales(scratch, way);
  if (way.order == nullptr) return {};
  LPT_TRY(scratch.take(library_scales_bytes(way.scales.layout, way.scales.lanes, way.scales.steps), &memory));
  way.scales.target = memory;
  way.library_scales = memory;
  return {};
}

// Takes memory for the sums that the epilogue reads: c, or scratch of f32 or int32.
Status take_target(Scratch &scratch, const GemmRequest &request, Steps &steps) {
  steps.target = static_cast<std::byte *>(request.c.data);
  if (!steps.plan.has_finish || steps.plan.is_in_place || request.k == 0) return {};
  return scratch.take(static_cast<size_t>(request.m * request.n) * sizeof(float), &steps.target);
}

Status take_for_kernel(Scratch &scratch, const KernelEntry<GemmRequest> &kernel, GemmRequest &request) {
  return kernel.scratch_bytes == nullptr ? Status() : scratch.take(kernel.scratch_bytes(request), &request.scratch);
}

Status take_workspace(Scratch &scratch, Steps &steps) {
  if (steps.prepared == nullptr || steps.prepared->workspace_bytes == 0) return {};
  LPT_TRY(scratch.take(steps.prepared->workspace_bytes + kWorkspaceBoundary, &steps.workspace));
  const uintptr_t past = reinterpret_cast<uintptr_t>(steps.workspace) % kWorkspaceBoundary;
  if (steps.workspace != nullptr && past != 0) steps.workspace += kWorkspaceBoundary - past;
  return {};
}

// The scales that the epilogue multiplies the sums by; NULL: none.
struct EpilogueFactors {
  const float *rows = nullptr;
  int64_t step = 0;
  const float *tensor = nullptr;
};

EpilogueFactors epilogue_factors(const MatrixView &view, LibraryScales known, OperandConversion conversion) {
  const EpilogueScales late = epilogue_scales(view, known, conversion);
  EpilogueFactors factors;
  if (late.has_tensor) factors.tensor = view.tensor_scale;
  if (!late.has_rows) return factors;
  factors.rows = static_cast<const float *>(view.block_scales);
  factors.step = view.block_scale_stride;
  return factors;
}

GemmFactorsRequest factors_request(const GemmRequest &request, const Steps &steps) {
  const LibraryGemm &call = steps.plan.gemm;
  return {static_cast<float>(request.alpha), static_cast<float>(request.beta),
          epilogue_factors(request.a, call.a.scales, steps.plan.a_conversion).tensor,
          epilogue_factors(request.b, call.b.scales, steps.plan.b_conversion).tensor,
          reinterpret_cast<float *>(steps.factors)};
}

GemmEpilogueRequest finish_request(const GemmRequest &request, const Steps &steps) {
  const LibraryGemm &call = steps.plan.gemm;
  const EpilogueFactors a = epilogue_factors(request.a, call.a.scales, steps.plan.a_conversion);
  const EpilogueFactors b = epilogue_factors(request.b, call.b.scales, steps.plan.b_conversion);
  GemmEpilogueRequest epilogue{};
  epilogue.x = request.k == 0 ? nullptr : steps.target;
  epilogue.x_stride = call.c_stride;
  epilogue.is_integer = call.is_integer;
  epilogue.c = request.c;
  epilogue.rows = a.rows;
  epilogue.rows_step = a.step;
  epilogue.columns = b.rows;
  epilogue.columns_step = b.step;
  epilogue.a_tensor = a.tensor;
  epilogue.b_tensor = b.tensor;
  epilogue.bias = static_cast<const float *>(request.bias);
  epilogue.alpha = static_cast<float>(request.alpha);
  epilogue.beta = static_cast<float>(request.beta);
  return epilogue;
}

// Selects all kernels of a GEMM by the library, before any work is queued.
Status choose_steps(Context &context, const GemmRequest &request, Steps &steps) {
  const LibraryPlan &plan = steps.plan;
  LPT_TRY(choose_conversion(context, request.a, plan.a_conversion, plan.gemm.a, steps.a));
  LPT_TRY(choose_conversion(context, request.b, plan.b_conversion, plan.gemm.b, steps.b));
  LPT_TRY(choose_order(context, request.a, plan.gemm.a.scales, steps.a));
  LPT_TRY(choose_order(context, request.b, plan.gemm.b.scales, steps.b));
  if (plan.gemm.has_factors) {
    LPT_TRY(select_kernel(context, "gemm_factors", factors_request(request, steps), {}, &steps.factor));
  }
  if (!plan.has_finish) return {};
  return select_kernel(context, "gemm_finish", finish_request(request, steps), {request.c.format.id}, &steps.epilogue);
}

Status take_all(Scratch &scratch, const GemmRequest &request, Steps &steps) {
  LPT_TRY(take_for(scratch, steps.a));
  LPT_TRY(take_for(scratch, steps.b));
  LPT_TRY(take_target(scratch, request, steps));
  if (steps.factor != nullptr) LPT_TRY(scratch.take(2 * sizeof(float), &steps.factors));
  return take_workspace(scratch, steps);
}

Status queue_operand(Context &context, const OperandPlan &way) {
  if (way.conversion != nullptr)
    LPT_TRY(queue_kernel(context, *way.conversion, {way.source, way.target, way.has_scales}));
  if (way.dequantize != nullptr) LPT_TRY(queue_kernel(context, *way.dequantize, {way.source, way.target}));
  return way.order == nullptr ? Status() : queue_kernel(context, *way.order, way.scales);
}

LibraryAddresses addresses_of(const GemmRequest &request, const Steps &steps) {
  LibraryAddresses addresses{};
  addresses.a = steps.a.target.data;
  addresses.b = steps.b.target.data;
  addresses.a_scales = steps.a.library_scales;
  addresses.b_scales = steps.b.library_scales;
  addresses.bias = steps.plan.gemm.has_bias ? request.bias : nullptr;
  addresses.c = steps.target;
  addresses.workspace = steps.workspace;
  addresses.alpha = steps.plan.has_finish ? 1.0f : static_cast<float>(request.alpha);
  addresses.beta = steps.plan.has_finish ? 0.0f : static_cast<float>(request.beta);
  addresses.factors = reinterpret_cast<const float *>(steps.factors);
  return addresses;
}

// Queues all steps on the stream. If k is 0, only the epilogue runs, because libraries do not support an inner size of 0.
Status queue_steps(Context &context, const char *kernel, const GemmRequest &request, const Steps &steps) {
  if (request.k != 0) {
    LPT_TRY(queue_operand(context, steps.a));
    LPT_TRY(queue_operand(context, steps.b));
    if (steps.factor != nullptr) LPT_TRY(queue_kernel(context, *steps.factor, factors_request(request, steps)));
    LPT_TRY(steps.library->run(context.queue, kernel, steps.plan.gemm, *steps.prepared, addresses_of(request, steps)));
  }
  return steps.epilogue == nullptr ? Status() : queue_kernel(context, *steps.epilogue, finish_request(request, steps));
}

// A 2:4 operand that is decompressed before the GEMM, because no kernel reads it directly.
struct DeviceDenseCopy {
  const KernelEntry<DecompressRequest> *kernel = nullptr;  // nullptr: the operand is dense
  DecompressRequest request{};
};

// Selects the decompression of the elements. The scales of the dense operand are those of the sparse operand.
Status expand_to_dense(Context &context, Scratch &scratch, MatrixView &operand, DeviceDenseCopy &out_written) {
  if (operand.layout != Layout::kSparse) return {};
  const MatrixView sparse = operand;
  operand = dense_shape(sparse);
  operand.tensor_scale = sparse.tensor_scale;
  operand.block_scales = sparse.block_scales;
  operand.block_scale_stride = sparse.block_scale_stride;
  std::byte *memory = nullptr;
  LPT_TRY(
      scratch.take(static_cast<size_t>(row_bytes(operand.format.element, operand.row_stride) * operand.rows), &memory));
  operand.data = memory;
  out_written.request = {plain_view(sparse), sparse.indices, sparse.index_stride, plain_view(operand)};
  return select_kernel(context, "decompress", out_written.request, {sparse.format.id}, &out_written.kernel);
}

Status queue_decompression(Context &context, const GemmRequest &request, const DeviceDenseCopy &written) {
  if (written.kernel == nullptr || request.k == 0) return {};
  return queue_kernel(context, *written.kernel, written.request);
}

// The selected kernel: of LPT or of a library.
struct SelectedKernel {
  const KernelEntry<GemmRequest> *kernel = nullptr;
  const LibraryKernelEntry *library_kernel = nullptr;
  Steps steps;
};

// Prepares a GEMM by a kernel of the library. `out_reason` is nullptr, or the reason why the library cannot run it.
Status try_library_kernel(LibrarySession &library, const LibraryTarget &machine, const LibraryKernelEntry &kernel,
                          const GemmRequest &request, Steps &steps, const char **out_reason) {
  *out_reason = library_rejection(kernel, machine, request);
  if (*out_reason != nullptr) return {};
  steps.plan = kernel.plan(request);
  steps.plan.gemm.is_fast = kernel.accumulates_fast;
  if (is_empty(request) || request.k == 0) return {};
  LPT_TRY(library.prepare(steps.plan.gemm, &steps.prepared));
  if (steps.prepared->gemm == nullptr) *out_reason = "the library has no way to run it";
  return {};
}

Status select_library_kernel(Context &context, LibrarySession *library, std::span<const LibraryKernelEntry> kernels,
                             const GemmRequest &request, SelectedKernel &selected) {
  if (library == nullptr) return {};
  if (library->reason() != nullptr) {
    log_rejected(context, library->name(), {0, library->reason()});
    return {};
  }
  const LibraryTarget machine{context.machine.capability, library->version(), context.machine.options.may_round};
  for (const LibraryKernelEntry &kernel : kernels) {
    const char *reason = nullptr;
    LPT_TRY(try_library_kernel(*library, machine, kernel, request, selected.steps, &reason));
    if (reason == nullptr) {
      log_selected(context, "gemm", kernel.name);
      selected.library_kernel = &kernel;
      selected.steps.library = library;
      return {};
    }
    log_rejected(context, kernel.name, {0, reason});
  }
  return {};
}

// Selects a kernel for 2:4 operands. `requested` is the request before decompression. The library compresses the operand in
// every call, which can take more time than it saves.
Status select_sparse_kernel(Context &context, const GemmRequest &requested, SelectedKernel &selected) {
  if (requested.a.layout != Layout::kSparse && requested.b.layout != Layout::kSparse) return {};
  if (!context.machine.options.has_sparse_library) {
    log_rejected(context, "cusparselt", {0, "only where LPT_GEMM_SPARSE is set"});
    return {};
  }
  return select_library_kernel(context, sparse_library_of(context), gemm_sparse_library_kernels(), requested, selected);
}

Status choose_gemm(Context &context, const GemmRequest &requested, const GemmRequest &request,
                   SelectedKernel &selected) {
  LPT_TRY(select_sparse_kernel(context, requested, selected));
  if (selected.library_kernel != nullptr) return choose_steps(context, request, selected.steps);
  selected.kernel = find_kernel(context, "gemm", kernels_of<GemmRequest>(context, "gemm"), request);
  if (selected.kernel != nullptr) return {};
  LPT_TRY(select_library_kernel(context, library_of(context), gemm_library_kernels(), request, selected));
  if (selected.library_kernel != nullptr) return choose_steps(context, request, selected.steps);
  return no_kernel(context, "gemm", {request.a.format.id, request.b.format.id, request.c.format.id});
}

}  // namespace

Status multiply_on_device(Context &context, const GemmCall &call, bool is_check_only, GemmDispatch *out_dispatch) {
  GemmRequest requested = request_of(call);
  requested.options = context.machine.options;
  GemmRequest request = requested;
  const bool is_reported_only = is_check_only || out_dispatch != nullptr;
  Scratch scratch(context, is_reported_only);
  DeviceDenseCopy a, b;
  LPT_TRY(expand_to_dense(context, scratch, request.a, a));
  LPT_TRY(expand_to_dense(context, scratch, request.b, b));
  SelectedKernel selected;
  LPT_TRY(choose_gemm(context, requested, request, selected));
  if (!is_empty(request)) {
    LPT_TRY(selected.kernel != nullptr ? take_for_kernel(scratch, *selected.kernel, request)
                                       : take_all(scratch, request, selected.steps));
  }
  const char *const name = selected.kernel != nullptr ? selected.kernel->name : selected.library_kernel->name;
  if (out_dispatch != nullptr) {
    *out_dispatch = {{request.m, request.n, request.k}, nullptr, name, scratch.bytes(), 1};
  }
  if (is_reported_only || is_empty(request)) return {};
  LPT_TRY(queue_decompression(context, request, a));
  LPT_TRY(queue_decompression(context, request, b));
  if (selected.kernel != nullptr) return queue_kernel(context, *selected.kernel, request);
  return queue_steps(context, name, request, selected.steps);
}

Status multiply_many_on_device(Context &context, const std::vector<GemmCall> &calls, bool is_check_only) {
  for (const GemmCall &call : calls) LPT_TRY(multiply_on_device(context, call, true, nullptr));
  if (is_check_only) return {};
  const Arena::Mark mark = context.scratch->mark();
  for (const GemmCall &call : calls) {
    LPT_TRY(multiply_on_device(context, call, false, nullptr));
    context.scratch->give_back(mark);  // the next GEMM in the queue runs after this one
  }
  return {};
}

}  // namespace lpt
