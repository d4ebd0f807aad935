// The 2:4 operand is the library's A, as stored. If it is LPT's b, LPT's c(m, n) is the library's D(n, m), stored by columns.
#include "src/plugins/cusparse_library.hpp"

#include <memory>

#include "src/plugins/calls.hpp"
#include "src/plugins/cublas_lt.hpp"
#include "src/plugins/cusparse_lt.hpp"

namespace lpt {
namespace {

struct Session {
  cusparse::Functions library{};
  cusparse::Handle handle{};
};

// A prepared GEMM. Its workspace contains the compressed operand, the buffer of the compression, and the workspace of the GEMM.
struct Prepared {
  const Session &session;
  const bool is_b_sparse;
  cusparse::Matrix a{}, b{}, d{};
  cusparse::Description description{};
  cusparse::Selection selection{};
  cusparse::Plan plan{};
  bool has_a = false, has_b = false, has_d = false, has_selection = false, has_plan = false;
  size_t compressed_bytes = 0, buffer_bytes = 0, workspace_bytes = 0;

  Prepared(const Session &its_session, bool is_b) : session(its_session), is_b_sparse(is_b) {}
  Prepared(const Prepared &) = delete;
  Prepared &operator=(const Prepared &) = delete;
  ~Prepared() {
    const cusparse::Functions &library = session.library;
    if (has_plan) library.destroy_plan(&plan);
    if (has_selection && library.destroy_selection != nullptr) library.destroy_selection(&selection);
    if (has_d) library.destroy_matrix(&d);
    if (has_b) library.destroy_matrix(&b);
    if (has_a) library.destroy_matrix(&a);
  }
};

constexpr size_t on_boundary(size_t bytes) { return (bytes + 255) / 256 * 256; }

// Makes a call that creates an object, unless an earlier one failed. Returns whether the object exists and must be destroyed.
template <typename Call>
bool make(Calls &calls, const char *name, const Call &call) {
  if (calls.are_good()) calls.add(name, call());
  return calls.are_good();
}

void lay_out(Prepared &made, const LibraryGemm &gemm, Calls &calls) {
  const cusparse::Functions &library = made.session.library;
  const cusparse::Handle *const handle = &made.session.handle;
  const LibraryOperand &sparse = made.is_b_sparse ? gemm.b : gemm.a;
  const LibraryOperand &dense = made.is_b_sparse ? gemm.a : gemm.b;
  const int32_t type = cublas::type_of(sparse.element);
  made.has_a = make(calls, "cusparseLtStructuredDescriptorInit", [&] {
    return library.create_sparse(handle, &made.a, sparse.rows, sparse.columns, sparse.stride, cusparse::kBoundary, type,
                                 cusparse::kInRows, cusparse::kHalf);
  });
  made.has_b = make(calls, "cusparseLtDenseDescriptorInit", [&] {
    return library.create_dense(handle, &made.b, dense.rows, dense.columns, dense.stride, cusparse::kBoundary, type,
                                cusparse::kInRows);
  });
  const int32_t sums = gemm.is_integer ? static_cast<int32_t>(cublas::kInt32) : cublas::type_of(gemm.c);
  made.has_d = make(calls, "cusparseLtDenseDescriptorInit", [&] {
    return library.create_dense(handle, &made.d, sparse.rows, dense.rows, gemm.c_stride, cusparse::kBoundary, sums,
                                made.is_b_sparse ? cusparse::kInColumns : cusparse::kInRows);
  });
}

void plan(Prepared &made, bool is_integer, Calls &calls) {
  const cusparse::Functions &library = made.session.library;
  const cusparse::Handle *const handle = &made.session.handle;
  const int32_t compute = is_integer ? cusparse::kComputeInt32 : cusparse::kComputeF32;
  make(calls, "cusparseLtMatmulDescriptorInit", [&] {
    return library.create_description(handle, &made.description, cusparse::kAsStored, cusparse::kTransposed, &made.a,
                                      &made.b, &made.d, &made.d, compute);
  });
  made.has_selection = make(calls, "cusparseLtMatmulAlgSelectionInit", [&] {
    return library.select(handle, &made.selection, &made.description, cusparse::kDefault);
  });
  made.has_plan = make(calls, "cusparseLtMatmulPlanInit",
                       [&] { return library.create_plan(handle, &made.plan, &made.description, &made.selection); });
}

void measure(Prepared &made, Calls &calls) {
  const cusparse::Functions &library = made.session.library;
  const cusparse::Handle *const handle = &made.session.handle;
  make(calls, "cusparseLtMatmulGetWorkspace",
       [&] { return library.workspace(handle, &made.plan, &made.workspace_bytes); });
  make(calls, "cusparseLtSpMMACompressedSize",
       [&] { return library.compressed(handle, &made.plan, &made.compressed_bytes, &made.buffer_bytes); });
}

bool is_unsupported(int32_t status) {
  return status == cusparse::kNotSupported || status == cusparse::kInvalidValue || status == cusparse::kOtherDevice ||
         status == cusparse::kTypeNotSupported;
}

// Functions of GemmLibrary.

int32_t open(void **out_session, int64_t *out_version, char *error, size_t error_bytes) {
  auto session = std::make_unique<Session>();
  const std::string why = cusparse::open(session->library, *out_version);
  if (!why.empty()) return tell(LPT_UNSUPPORTED, why, error, error_bytes);
  Calls calls(session->library.status_name);
  calls.add("cusparseLtInit", session->library.create(&session->handle));
  if (!calls.are_good()) return tell(LPT_UNSUPPORTED, calls.words(), error, error_bytes);
  *out_session = session.release();
  return LPT_OK;
}

void close(void *opaque) {
  const std::unique_ptr<Session> session(static_cast<Session *>(opaque));
  session->library.destroy(&session->handle);
}

int32_t prepare(void *opaque, const LibraryGemm *gemm, void **out_prepared, size_t *out_workspace_bytes, char *error,
                size_t error_bytes) {
  const Session &session = *static_cast<const Session *>(opaque);
  auto made = std::make_unique<Prepared>(session, gemm->b.is_sparse);
  Calls calls(session.library.status_name);
  lay_out(*made, *gemm, calls);
  plan(*made, gemm->is_integer, calls);
  measure(*made, calls);
  if (!calls.are_good()) {
    return tell(is_unsupported(calls.status()) ? LPT_UNSUPPORTED : LPT_WORK_FAILED, calls.words(), error, error_bytes);
  }
  *out_workspace_bytes = on_boundary(made->compressed_bytes) + on_boundary(made->buffer_bytes) + made->workspace_bytes;
  *out_prepared = made.release();
  return LPT_OK;
}

void release(void *opaque) { delete static_cast<Prepared *>(opaque); }

// Compresses in every call, as the operand may differ from that of the last call.
int32_t run(void *opaque, const void *prepared, const LibraryAddresses *at, void *stream, char *error,
            size_t error_bytes) {
  const Session &session = *static_cast<const Session *>(opaque);
  const Prepared &made = *static_cast<const Prepared *>(prepared);
  const void *const sparse = made.is_b_sparse ? at->b : at->a;
  const void *const dense = made.is_b_sparse ? at->a : at->b;
  auto *const compressed = static_cast<uint8_t *>(at->workspace);
  uint8_t *const buffer = compressed + on_boundary(made.compressed_bytes);
  uint8_t *const workspace = buffer + on_boundary(made.buffer_bytes);
  Calls calls(session.library.status_name);
  make(calls, "cusparseLtSpMMACompress",
       [&] { return session.library.compress(&session.handle, &made.plan, sparse, compressed, buffer, stream); });
  make(calls, "cusparseLtMatmul", [&] {
    return session.library.multiply(&session.handle, &made.plan, &at->alpha, compressed, dense, &at->beta, at->c, at->c,
                                    workspace, &stream, 1);
  });
  return calls.are_good() ? LPT_OK : tell(LPT_WORK_FAILED, calls.words(), error, error_bytes);
}

}  // namespace

std::span<const GemmLibrary> cusparse_libraries() {
  static constexpr GemmLibrary kLibraries[] = {{.name = "cusparselt",
                                                .open = open,
                                                .close = close,
                                                .prepare = prepare,
                                                .release = release,
                                                .run = run,
                                                .tune = nullptr}};
  return kLibraries;
}

}  // namespace lpt
