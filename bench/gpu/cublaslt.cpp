#include "bench/gpu/cublaslt.hpp"

#if __has_include(<cublasLt.h>)
#include <cublasLt.h>
#include <dlfcn.h>

#include <cstdlib>

namespace lpt::bench {
namespace {

constexpr size_t kWorkspace = size_t{32} << 20;

void check(cublasStatus_t status, const char *what) {
  if (status != CUBLAS_STATUS_SUCCESS) throw Missing(std::string(what) + ": status " + std::to_string(status));
}

}  // namespace

// clang-format 14 does not preserve its own layout of this list.
// clang-format off
#define LPT_CUBLASLT_FUNCTIONS(X)                                                                              \
  X(cublasLtCreate)                                                                                            \
  X(cublasLtDestroy)                                                                                           \
  X(cublasLtGetVersion)                                                                                        \
  X(cublasLtMatmul) X(cublasLtMatmulDescCreate) X(cublasLtMatmulDescDestroy) X(cublasLtMatmulDescSetAttribute) \
      X(cublasLtMatrixLayoutCreate) X(cublasLtMatrixLayoutDestroy) X(cublasLtMatmulPreferenceCreate)           \
          X(cublasLtMatmulPreferenceDestroy) X(cublasLtMatmulPreferenceSetAttribute) X(cublasLtMatmulAlgoGetHeuristic)
// clang-format on

struct Cublaslt::Impl {
#define LPT_MEMBER(name) decltype(&::name) name = nullptr;
  LPT_CUBLASLT_FUNCTIONS(LPT_MEMBER)
#undef LPT_MEMBER
  void *library = nullptr;
  cublasLtHandle_t handle = nullptr;
  const Machine *machine = nullptr;
  Tensor workspace, ones;

  ~Impl() {
    if (handle != nullptr) cublasLtDestroy(handle);
  }

  void open() {
    const char *const given = std::getenv("LPT_CUBLASLT");
    const bool is_given = given != nullptr && *given != '\0';
    library = dlopen(is_given ? given : "libcublasLt.so.13", RTLD_NOW | RTLD_LOCAL);
    const std::string why = library == nullptr ? dlerror() : "";
    if (library == nullptr && !is_given) library = dlopen("libcublasLt.so.12", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) throw Missing(why);
#define LPT_FIND(name)                                               \
  name = reinterpret_cast<decltype(&::name)>(dlsym(library, #name)); \
  if (name == nullptr) throw Missing("cuBLASLt has no function " #name);
    LPT_CUBLASLT_FUNCTIONS(LPT_FIND)
#undef LPT_FIND
    check(cublasLtCreate(&handle), "cublasLtCreate");
    workspace = machine->make(LPT_FORMAT_UINT8, {static_cast<int64_t>(kWorkspace)});
  }
};

namespace {

// The descriptors and the selected algorithm of a GEMM, created once.
template <typename Impl>
struct Gemm {
  std::shared_ptr<Impl> lt;
  Tensor a, b, c, a_scales, b_scales;
  void *a_data = nullptr, *b_data = nullptr, *c_data = nullptr, *workspace = nullptr;
  cublasLtMatmulDesc_t what = nullptr;
  cublasLtMatrixLayout_t a_layout = nullptr, b_layout = nullptr, c_layout = nullptr;
  cublasLtMatmulHeuristicResult_t choice = {};

  ~Gemm() {
    if (what != nullptr) lt->cublasLtMatmulDescDestroy(what);
    for (cublasLtMatrixLayout_t layout : {a_layout, b_layout, c_layout}) {
      if (layout != nullptr) lt->cublasLtMatrixLayoutDestroy(layout);
    }
  }

  template <typename Value>
  void set(cublasLtMatmulDescAttributes_t attribute, const Value &value) {
    check(lt->cublasLtMatmulDescSetAttribute(what, attribute, &value, sizeof value), "an attribute of a GEMM");
  }

  Tensor scales(int64_t count) const {
    const Tensor made = lt->machine->make(LPT_FORMAT_INT8_ROW, count, 1);  // the scales of a new tensor are ones
    lpt_tensor *part = nullptr;
    lt->machine->check(lpt_tensor_view_part(lt->machine->context(), made.get(), LPT_TENSOR_PART_BLOCK_SCALES, &part));
    return owned(part, lpt_tensor_destroy);
  }

  void set_scales(PeerKind kind, int64_t m, int64_t n, int64_t k) {
    if (kind != PeerKind::kFp8Rows && kind != PeerKind::kFp8RowsFast && kind != PeerKind::kFp8Groups) return;
    const bool has_groups = kind == PeerKind::kFp8Groups;
    const int64_t groups = has_groups ? (k + 127) / 128 : 1;
    const int32_t mode =
        has_groups ? CUBLASLT_MATMUL_MATRIX_SCALE_VEC128_32F : CUBLASLT_MATMUL_MATRIX_SCALE_OUTER_VEC_32F;
    a_scales = scales(m * groups);
    b_scales = scales(n * groups);
    set(CUBLASLT_MATMUL_DESC_A_SCALE_MODE, mode);
    set(CUBLASLT_MATMUL_DESC_B_SCALE_MODE, mode);
    set(CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, address_of(b_scales));
    set(CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, address_of(a_scales));
  }

  void *address_of(const Tensor &plain) const {
    lpt_tensor_description facts = LPT_TENSOR_DESCRIPTION_INIT;
    lt->machine->check(lpt_tensor_describe(lt->machine->context(), plain.get(), &facts));
    return facts.data;
  }

  // cuBLASLt uses column-major order: c^T(n, m) = b · a^T, both with k adjacent.
  void describe(PeerKind kind, int64_t m, int64_t n, int64_t k) {
    const cudaDataType_t type = kind == PeerKind::kBf16 ? CUDA_R_16BF : CUDA_R_8F_E4M3;
    const cublasOperation_t transposed_copy = CUBLAS_OP_T;
    check(lt->cublasLtMatmulDescCreate(&what, CUBLAS_COMPUTE_32F, CUDA_R_32F), "cublasLtMatmulDescCreate");
    set(CUBLASLT_MATMUL_DESC_TRANSA, transposed_copy);
    const bool is_fast = kind == PeerKind::kFp8Fast || kind == PeerKind::kFp8RowsFast;
    set(CUBLASLT_MATMUL_DESC_FAST_ACCUM, static_cast<int8_t>(is_fast));
    set_scales(kind, m, n, k);
    const auto rows = static_cast<uint64_t>(n), columns = static_cast<uint64_t>(m), depth = static_cast<uint64_t>(k);
    check(lt->cublasLtMatrixLayoutCreate(&b_layout, type, depth, rows, k), "a layout");
    check(lt->cublasLtMatrixLayoutCreate(&a_layout, type, depth, columns, k), "a layout");
    check(lt->cublasLtMatrixLayoutCreate(&c_layout, CUDA_R_16BF, rows, columns, n), "a layout");
  }

  void take(const Tensor &left, const Tensor &right, const Tensor &out) {
    a = left;
    b = right;
    c = out;
    a_data = lt->machine->data(a);
    b_data = lt->machine->data(b);
    c_data = lt->machine->data(c);
    workspace = address_of(lt->workspace);
  }

  void choose() {
    cublasLtMatmulPreference_t option = nullptr;
    check(lt->cublasLtMatmulPreferenceCreate(&option), "cublasLtMatmulPreferenceCreate");
    int found = 0;
    lt->cublasLtMatmulPreferenceSetAttribute(option, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &kWorkspace,
                                             sizeof kWorkspace);
    const cublasStatus_t status = lt->cublasLtMatmulAlgoGetHeuristic(lt->handle, what, b_layout, a_layout, c_layout,
                                                                     c_layout, option, 1, &choice, &found);
    lt->cublasLtMatmulPreferenceDestroy(option);
    check(found == 0 && status == CUBLAS_STATUS_SUCCESS ? CUBLAS_STATUS_NOT_SUPPORTED : status,
          "cublasLtMatmulAlgoGetHeuristic");
  }

  void run() const {
    const float one = 1.0f, zero = 0.0f;
    check(lt->cublasLtMatmul(lt->handle, what, &one, b_data, b_layout, a_data, a_layout, &zero, c_data, c_layout,
                             c_data, c_layout, &choice.algo, workspace, kWorkspace, nullptr),
          "cublasLtMatmul");
  }
};

}  // namespace

Cublaslt::Cublaslt(const Machine &machine) : impl_(std::make_shared<Impl>()) {
  impl_->machine = &machine;
  try {
    impl_->open();
    text_ = "cuBLASLt " + std::to_string(impl_->cublasLtGetVersion());
    if (machine.is_tiny()) throw Missing(text_ + ": a rehearsal runs no peers");
  } catch (const Missing &why) {
    text_ = why.what();
    impl_.reset();
  }
}

Cublaslt::~Cublaslt() = default;

std::function<void()> Cublaslt::gemm(PeerKind kind, const Tensor &a, const Tensor &b, const Tensor &c, int64_t m,
                                     int64_t n, int64_t k) {
  if (!is_here()) throw Missing(text_);
  const auto gemm = std::make_shared<Gemm<Impl>>();
  gemm->lt = impl_;
  gemm->take(a, b, c);
  gemm->describe(kind, m, n, k);
  gemm->choose();
  return [gemm] { gemm->run(); };
}

}  // namespace lpt::bench

#else

namespace lpt::bench {

struct Cublaslt::Impl {};
Cublaslt::Cublaslt(const Machine &) : text_("built without cublasLt.h") {}
Cublaslt::~Cublaslt() = default;
std::function<void()> Cublaslt::gemm(PeerKind, const Tensor &, const Tensor &, const Tensor &, int64_t, int64_t,
                                     int64_t) {
  throw Missing(text_);
}

}  // namespace lpt::bench

#endif
