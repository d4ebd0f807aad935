#include "src/ops/device_gemm.hpp"

#include "kernels/quantize/quantize.hpp"
#include "src/base/plugin.hpp"
#include "src/ops/device.hpp"
#include "src/ops/gemm_library.hpp"
#include "src/ops/sparse_parts.hpp"

namespace lpt {
namespace {

constexpr size_t kWorkspaceBoundary = 256;

// Memory of one call, taken, or counted where nothing runs.
class Scratch {
 public:
  Scratch(Context &context, bool is_counted) : context_(context), is_counted_(is_counted) {}

  Status take(size_t bytes, std::byte **out) {
    bytes_ += aligned(bytes);
    *out = nullptr;
    return is_counted_ || bytes == 0 ? Status() : take_on_device(context_, bytes, out);
  }
  size_t bytes() const { return bytes_; }

 private:
  Context &context_;
  const bool is_counted_;
  size_t bytes_ = 0;
};

// An operand on its way to the library: what is written out of it first, and where.
struct Way {
  MatrixView source;  // as the rows below read it
  MatrixView target;  // what the library reads; the source itself where nothing is written out
  const DeviceRow<LiftRequest> *lift = nullptr;
  const DeviceRow<DequantizeRequest> *dequantize = nullptr;
  bool has_scales = false;
  bool is_folded = false;
  const DeviceRow<LibraryScalesRequest> *order = nullptr;
  LibraryScalesRequest scales{};
  const void *library_scales = nullptr;
};

// A product by the library, decided.
struct Steps {
  LibraryPlan plan;
  LibrarySession *library = nullptr;
  LibrarySession::Prepared *prepared = nullptr;
  Way a, b;
  const DeviceRow<GemmFactorsRequest> *factor = nullptr;
  const DeviceRow<GemmFinishRequest> *finish = nullptr;
  std::byte *target = nullptr, *factors = nullptr, *workspace = nullptr;
};

bool is_dequantized(lpt_format element) {
  return element == LPT_FORMAT_E4M3FN || element == LPT_FORMAT_E5M2 || element == LPT_FORMAT_E3M2FN ||
         element == LPT_FORMAT_E2M3FN || element == LPT_FORMAT_E2M1FN;
}

// The same codes without the scales that a lift leaves aside.
MatrixView without_late_scales(MatrixView view, Lift lift) {
  if (lift != Lift::kNumbers) view.format.tensor_scale = LPT_FORMAT_NONE;
  if (lift == Lift::kCodes) view.format.block_scale = LPT_FORMAT_NONE;
  return view;
}

Status choose_lift(Context &context, const MatrixView &view, Lift lift, const LibraryOperand &operand, Way &way) {
  way.source = without_late_scales(view, lift);
  way.target = view;
  if (lift == Lift::kNone) return {};
  way.target = dense_view(operand.element, nullptr, view.rows, view.columns);
  way.target.row_stride = operand.stride;
  way.has_scales = lift != Lift::kCodes;
  way.is_folded = lift == Lift::kFolded;
  const std::initializer_list<lpt_format> formats = {view.format.id, operand.element};
  if (is_dequantized(view.format.element) && lift != Lift::kFolded) {
    return choose_on_device(context, "dequantize", DequantizeRequest{way.source, way.target}, formats, &way.dequantize);
  }
  way.source = view;
  if (lift != Lift::kNumbers) way.source.format.tensor_scale = LPT_FORMAT_NONE;
  return choose_on_device(context, "gemm_lift", LiftRequest{way.source, way.target, way.has_scales}, formats,
                          &way.lift);
}

int64_t length_of_step(LibraryScales layout) {
  return layout == LibraryScales::kTiles16 ? 16 : layout == LibraryScales::kTiles32 ? 32 : 128;
}

// Scales that the library reads where they lie, or in an order of its own; what is folded has its own already.
Status choose_order(Context &context, const MatrixView &view, LibraryScales layout, Way &way) {
  if (layout == LibraryScales::kNone || way.is_folded) return {};
  if (layout == LibraryScales::kTensor || layout == LibraryScales::kLanes) {
    way.library_scales = layout == LibraryScales::kTensor ? view.tensor_scale : view.block_scales;
    return {};
  }
  const int64_t step = length_of_step(layout);
  const int64_t lanes = layout == LibraryScales::kBlocks128 ? (view.rows + 127) / 128 : view.rows;
  way.scales = {layout, view.block_scales, view.block_scale_stride, lanes, (view.columns + step - 1) / step, nullptr};
  return choose_on_device(context, "gemm_scales", way.scales, {view.format.id}, &way.order);
}

Status take_folded_scales(Scratch &scratch, Way &way) {
  const int64_t steps = (way.target.columns + 127) / 128;
  std::byte *memory = nullptr;
  LPT_TRY(scratch.take(library_scales_bytes(LibraryScales::kLanes128, way.target.rows, steps), &memory));
  way.target.block_scales = memory;
  way.library_scales = memory;
  return {};
}

Status take_for(Scratch &scratch, Way &way) {
  std::byte *memory = nullptr;
  if (way.lift != nullptr || way.dequantize != nullptr) {
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

// Where the sums go that a kernel of ours finishes: c itself, or a place of f32 or int32.
Status take_target(Scratch &scratch, const GemmRequest &request, Steps &steps) {
  steps.target = static_cast<std::byte *>(request.c.data);
  if (!steps.plan.has_finish || steps.plan.is_in_place || request.k == 0) return {};
  return scratch.take(static_cast<size_t>(request.m * request.n) * sizeof(float), &steps.target);
}

Status take_for_row(Scratch &scratch, const DeviceRow<GemmRequest> &row, GemmRequest &request) {
  return row.scratch_bytes == nullptr ? Status() : scratch.take(row.scratch_bytes(request), &request.scratch);
}

Status take_workspace(Scratch &scratch, Steps &steps) {
  if (steps.prepared == nullptr || steps.prepared->workspace_bytes == 0) return {};
  LPT_TRY(scratch.take(steps.prepared->workspace_bytes + kWorkspaceBoundary, &steps.workspace));
  const uintptr_t past = reinterpret_cast<uintptr_t>(steps.workspace) % kWorkspaceBoundary;
  if (steps.workspace != nullptr && past != 0) steps.workspace += kWorkspaceBoundary - past;
  return {};
}

// Where the scales lie that sums are multiplied by; NULL: there are none.
struct LateFactors {
  const float *rows = nullptr;
  int64_t step = 0;
  const float *tensor = nullptr;
};

LateFactors late_factors(const MatrixView &view, LibraryScales known, Lift lift) {
  const LateScales late = late_scales(view, known, lift);
  LateFactors factors;
  if (late.has_tensor) factors.tensor = view.tensor_scale;
  if (!late.has_rows) return factors;
  factors.rows = static_cast<const float *>(view.block_scales);
  factors.step = view.block_scale_stride;
  return factors;
}

GemmFactorsRequest factors_request(const GemmRequest &request, const Steps &steps) {
  const LibraryProduct &product = steps.plan.product;
  return {static_cast<float>(request.alpha), static_cast<float>(request.beta),
          late_factors(request.a, product.a.scales, steps.plan.a_lift).tensor,
          late_factors(request.b, product.b.scales, steps.plan.b_lift).tensor,
          reinterpret_cast<float *>(steps.factors)};
}

GemmFinishRequest finish_request(const GemmRequest &request, const Steps &steps) {
  const LibraryProduct &product = steps.plan.product;
  const LateFactors a = late_factors(request.a, product.a.scales, steps.plan.a_lift);
  const LateFactors b = late_factors(request.b, product.b.scales, steps.plan.b_lift);
  GemmFinishRequest finish{};
  finish.x = request.k == 0 ? nullptr : steps.target;
  finish.x_stride = product.c_stride;
  finish.is_integer = product.is_integer;
  finish.c = request.c;
  finish.rows = a.rows;
  finish.rows_step = a.step;
  finish.columns = b.rows;
  finish.columns_step = b.step;
  finish.a_tensor = a.tensor;
  finish.b_tensor = b.tensor;
  finish.bias = static_cast<const float *>(request.bias);
  finish.alpha = static_cast<float>(request.alpha);
  finish.beta = static_cast<float>(request.beta);
  return finish;
}

// All rows of a product by the library, before anything is queued.
Status choose_steps(Context &context, const GemmRequest &request, Steps &steps) {
  const LibraryPlan &plan = steps.plan;
  LPT_TRY(choose_lift(context, request.a, plan.a_lift, plan.product.a, steps.a));
  LPT_TRY(choose_lift(context, request.b, plan.b_lift, plan.product.b, steps.b));
  LPT_TRY(choose_order(context, request.a, plan.product.a.scales, steps.a));
  LPT_TRY(choose_order(context, request.b, plan.product.b.scales, steps.b));
  if (plan.product.has_factors) {
    LPT_TRY(choose_on_device(context, "gemm_factors", factors_request(request, steps), {}, &steps.factor));
  }
  if (!plan.has_finish) return {};
  return choose_on_device(context, "gemm_finish", finish_request(request, steps), {request.c.format.id}, &steps.finish);
}

Status take_all(Scratch &scratch, const GemmRequest &request, Steps &steps) {
  LPT_TRY(take_for(scratch, steps.a));
  LPT_TRY(take_for(scratch, steps.b));
  LPT_TRY(take_target(scratch, request, steps));
  if (steps.factor != nullptr) LPT_TRY(scratch.take(2 * sizeof(float), &steps.factors));
  return take_workspace(scratch, steps);
}

Status queue_way(Context &context, const Way &way) {
  if (way.lift != nullptr) LPT_TRY(queue_row(context, *way.lift, {way.source, way.target, way.has_scales}));
  if (way.dequantize != nullptr) LPT_TRY(queue_row(context, *way.dequantize, {way.source, way.target}));
  return way.order == nullptr ? Status() : queue_row(context, *way.order, way.scales);
}

LibraryAddresses addresses_of(const GemmRequest &request, const Steps &steps) {
  LibraryAddresses addresses{};
  addresses.a = steps.a.target.data;
  addresses.b = steps.b.target.data;
  addresses.a_scales = steps.a.library_scales;
  addresses.b_scales = steps.b.library_scales;
  addresses.bias = steps.plan.product.has_bias ? request.bias : nullptr;
  addresses.c = steps.target;
  addresses.workspace = steps.workspace;
  addresses.alpha = steps.plan.has_finish ? 1.0f : static_cast<float>(request.alpha);
  addresses.beta = steps.plan.has_finish ? 0.0f : static_cast<float>(request.beta);
  addresses.factors = reinterpret_cast<const float *>(steps.factors);
  return addresses;
}

// One after the other on the stream. Libraries take no product without a sum: there is none to run then.
Status queue_steps(Context &context, const char *row, const GemmRequest &request, const Steps &steps) {
  if (request.k != 0) {
    LPT_TRY(queue_way(context, steps.a));
    LPT_TRY(queue_way(context, steps.b));
    if (steps.factor != nullptr) LPT_TRY(queue_row(context, *steps.factor, factors_request(request, steps)));
    LPT_TRY(steps.library->run(context.queue, row, steps.plan.product, *steps.prepared, addresses_of(request, steps)));
  }
  return steps.finish == nullptr ? Status() : queue_row(context, *steps.finish, finish_request(request, steps));
}

bool is_empty(const GemmRequest &request) { return request.m == 0 || request.n == 0; }

// A 2:4 operand that is written out before it is multiplied; no row reads one as it is stored.
struct WrittenOut {
  const DeviceRow<DecompressRequest> *row = nullptr;  // nullptr: the operand is dense
  DecompressRequest request{};
};

// Elements alone: the dense operand has its scales where the sparse one has them.
Status write_out(Context &context, Scratch &scratch, MatrixView &operand, WrittenOut &out_written) {
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
  return choose_on_device(context, "decompress", out_written.request, {sparse.format.id}, &out_written.row);
}

Status queue_written_out(Context &context, const GemmRequest &request, const WrittenOut &written) {
  if (written.row == nullptr || request.k == 0) return {};
  return queue_row(context, *written.row, written.request);
}

// What was chosen: a row of ours, or one of the library's.
struct Taken {
  const DeviceRow<GemmRequest> *row = nullptr;
  const LibraryRow *library_row = nullptr;
  Steps steps;
};

// Whether a row of the library has a way to run it; a reason that is not nullptr says why not.
Status try_library_row(LibrarySession &library, const LibraryMachine &machine, const LibraryRow &row,
                       const GemmRequest &request, Steps &steps, const char **out_reason) {
  *out_reason = library_refusal(row, machine, request);
  if (*out_reason != nullptr) return {};
  steps.plan = row.plan(request);
  if (is_empty(request) || request.k == 0) return {};
  LPT_TRY(library.prepare(steps.plan.product, &steps.prepared));
  if (steps.prepared->product == nullptr) *out_reason = "the library has no way to run it";
  return {};
}

Status choose_row_of(Context &context, LibrarySession *library, std::span<const LibraryRow> rows,
                     const GemmRequest &request, Taken &taken) {
  if (library == nullptr) return {};
  if (library->reason() != nullptr) {
    explain_passed(context, library->name(), 0, library->reason());
    return {};
  }
  const LibraryMachine machine{context.queue.capability(), library->version(), variable("LPT_GEMM_ROUND") != nullptr};
  for (const LibraryRow &row : rows) {
    const char *reason = nullptr;
    LPT_TRY(try_library_row(*library, machine, row, request, taken.steps, &reason));
    if (reason == nullptr) {
      explain_taken(context, "gemm", row.name);
      taken.library_row = &row;
      taken.steps.library = library;
      return {};
    }
    explain_passed(context, row.name, 0, reason);
  }
  return {};
}

// `asked` is the request before its 2:4 operand is written out. The library compresses that anew in every call, which may cost
// more than it saves.
Status choose_sparse_row(Context &context, const GemmRequest &asked, Taken &taken) {
  if (asked.a.layout != Layout::kSparse && asked.b.layout != Layout::kSparse) return {};
  if (variable("LPT_GEMM_SPARSE") == nullptr) {
    explain_passed(context, "cusparselt", 0, "only where LPT_GEMM_SPARSE is set");
    return {};
  }
  return choose_row_of(context, sparse_library_of(context), gemm_sparse_library_rows(), asked, taken);
}

Status choose_product(Context &context, const GemmRequest &asked, const GemmRequest &request, Taken &taken) {
  LPT_TRY(choose_sparse_row(context, asked, taken));
  if (taken.library_row != nullptr) return choose_steps(context, request, taken.steps);
  taken.row = find_on_device(context, "gemm", request);
  if (taken.row != nullptr) return {};
  LPT_TRY(choose_row_of(context, library_of(context), gemm_library_rows(), request, taken));
  if (taken.library_row != nullptr) return choose_steps(context, request, taken.steps);
  return no_row(context, "gemm", {request.a.format.id, request.b.format.id, request.c.format.id});
}

}  // namespace

Status multiply_on_device(Context &context, const Product &product, bool is_check_only, Decision *out_decision) {
  const GemmRequest asked = request_of(product);
  GemmRequest request = asked;
  const bool is_told_only = is_check_only || out_decision != nullptr;
  Scratch scratch(context, is_told_only);
  WrittenOut a, b;
  LPT_TRY(write_out(context, scratch, request.a, a));
  LPT_TRY(write_out(context, scratch, request.b, b));
  Taken taken;
  LPT_TRY(choose_product(context, asked, request, taken));
  if (!is_empty(request)) {
    LPT_TRY(taken.row != nullptr ? take_for_row(scratch, *taken.row, request)
                                 : take_all(scratch, request, taken.steps));
  }
  const char *const name = taken.row != nullptr ? taken.row->name : taken.library_row->name;
  if (out_decision != nullptr) {
    *out_decision = {{request.m, request.n, request.k}, nullptr, name, scratch.bytes(), 1};
  }
  if (is_told_only || is_empty(request)) return {};
  LPT_TRY(queue_written_out(context, request, a));
  LPT_TRY(queue_written_out(context, request, b));
  if (taken.row != nullptr) return queue_row(context, *taken.row, request);
  return queue_steps(context, name, request, taken.steps);
}

Status run_products(Context &context, const std::vector<Product> &products, bool is_check_only) {
  if (context.queue.device().is_cpu()) return multiply_many(context, products, is_check_only);
  for (const Product &product : products) LPT_TRY(multiply_on_device(context, product, true, nullptr));
  if (is_check_only) return {};
  const Arena::Mark mark = context.device_arena->mark();
  for (const Product &product : products) {
    LPT_TRY(multiply_on_device(context, product, false, nullptr));
    context.device_arena->give_back(mark);  // the next one is queued behind it
  }
  return {};
}

}  // namespace lpt
