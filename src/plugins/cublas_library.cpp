// cuBLASLt stores matrices by columns: LPT's row-major c(m, n) is its D(n, m). So LPT's b is its A, and LPT's a is its B.
#include "src/plugins/cublas_library.hpp"

#include <cuda_runtime_api.h>

#include <chrono>
#include <cstdio>
#include <memory>
#include <string>

#include "src/plugins/calls.hpp"
#include "src/plugins/cublas_choices.hpp"
#include "src/plugins/cublas_lt.hpp"

namespace lpt {
namespace {

constexpr int32_t kMostWays = 8;
constexpr uint64_t kMostWorkspaceBytes = uint64_t{32} << 20;  // recommended by NVIDIA for Hopper
constexpr uintptr_t kAnyAddress = 256;                        // aligned address for queries, which read no memory

struct Session {
  cublas::Functions library{};
  cublas::Handle handle = nullptr;
  cublas::Choices choices;  // of earlier runs
};

struct AlgorithmList {
  const cublas::Functions *library = nullptr;
  LibraryGemm gemm;
  cublas::Description description = nullptr;
  cublas::Layout a = nullptr, b = nullptr, c = nullptr;
  cublas::Found found[kMostWays] = {};
  int32_t count = 0;
  int32_t taken = 0;
  bool is_chosen = false;  // by time, in this run or an earlier one

  AlgorithmList() = default;
  AlgorithmList(const AlgorithmList &) = delete;
  AlgorithmList &operator=(const AlgorithmList &) = delete;
  ~AlgorithmList() {
    if (a != nullptr) library->destroy_layout(a);
    if (b != nullptr) library->destroy_layout(b);
    if (c != nullptr) library->destroy_layout(c);
    if (description != nullptr) library->destroy_description(description);
  }
};

// Conversion to cuBLASLt's parameters.

int32_t mode_of(LibraryScales scales) {
  switch (scales) {
    case LibraryScales::kLanes:
      return cublas::kOuterVector;
    case LibraryScales::kLanes128:
      return cublas::kVector128;
    case LibraryScales::kBlocks128:
      return cublas::kBlock128;
    case LibraryScales::kTiles32:
      return cublas::kVector32;
    case LibraryScales::kTiles16:
      return cublas::kVector16;
    default:
      return cublas::kScalar;
  }
}

class Describer {
 public:
  Describer(const cublas::Functions &library, cublas::Description description, Calls &calls)
      : library_(library), description_(description), calls_(calls) {}

  template <typename Value>
  void set(int32_t attribute, Value value) {
    calls_.add("cublasLtMatmulDescSetAttribute", library_.describe(description_, attribute, &value, sizeof value));
  }

 private:
  const cublas::Functions &library_;
  const cublas::Description description_;
  Calls &calls_;
};

void set_scales(Describer &describer, int32_t mode_attribute, int32_t address_attribute, LibraryScales scales,
                const void *address) {
  if (scales == LibraryScales::kNone) return;
  const int32_t mode = mode_of(scales);
  if (mode != cublas::kScalar) describer.set(mode_attribute, mode);  // older libraries do not support the attribute
  describer.set(address_attribute, address);
}

void set_addresses(Describer &describer, const LibraryGemm &gemm, const void *a_scales, const void *b_scales,
                   const void *bias) {
  set_scales(describer, cublas::kScaleModeA, cublas::kScalesAddressA, gemm.b.scales, b_scales);
  set_scales(describer, cublas::kScaleModeB, cublas::kScalesAddressB, gemm.a.scales, a_scales);
  if (gemm.has_bias) describer.set(cublas::kBiasAddress, bias);
}

void describe(AlgorithmList &ways, Calls &calls) {
  const cublas::Functions &library = *ways.library;
  const LibraryGemm &gemm = ways.gemm;
  const int32_t compute = gemm.is_integer ? cublas::kComputeInt32 : cublas::kComputeF32;
  const int32_t factor = gemm.is_integer ? cublas::kInt32 : cublas::kF32;
  calls.add("cublasLtMatmulDescCreate", library.create_description(&ways.description, compute, factor));
  if (!calls.are_good()) return;
  Describer describer(library, ways.description, calls);
  describer.set(cublas::kOperationA, gemm.b.is_transposed ? cublas::kTransposed : cublas::kAsStored);
  describer.set(cublas::kOperationB, gemm.a.is_transposed ? cublas::kTransposed : cublas::kAsStored);
  if (gemm.has_factors) describer.set(cublas::kPointerMode, cublas::kOnDevice);
  if (gemm.is_fast) describer.set(cublas::kFastAccumulation, int8_t{1});
  if (gemm.has_bias) {
    describer.set(cublas::kEpilogue, cublas::kBiasEpilogue);
    describer.set(cublas::kBiasType, cublas::kF32);
  }
  const auto *const any = reinterpret_cast<const void *>(kAnyAddress);
  set_addresses(describer, gemm, any, any, any);
}

void lay_out(AlgorithmList &ways, Calls &calls) {
  const auto add = [&](cublas::Layout *out, int32_t type, int64_t rows, int64_t columns, int64_t stride) {
    calls.add("cublasLtMatrixLayoutCreate", ways.library->create_layout(out, type, static_cast<uint64_t>(columns),
                                                                        static_cast<uint64_t>(rows), stride));
  };
  const LibraryGemm &gemm = ways.gemm;
  add(&ways.a, cublas::type_of(gemm.b.element), gemm.b.rows, gemm.b.columns, gemm.b.stride);
  add(&ways.b, cublas::type_of(gemm.a.element), gemm.a.rows, gemm.a.columns, gemm.a.stride);
  add(&ways.c, gemm.is_integer ? static_cast<int32_t>(cublas::kInt32) : cublas::type_of(gemm.c), gemm.m, gemm.n,
      gemm.c_stride);
}

void find_ways(Session &session, AlgorithmList &ways, Calls &calls) {
  const cublas::Functions &library = session.library;
  cublas::Preference preference = nullptr;
  calls.add("cublasLtMatmulPreferenceCreate", library.create_preference(&preference));
  if (!calls.are_good()) return;
  const auto prefer = [&](int32_t attribute, auto value) {
    calls.add("cublasLtMatmulPreferenceSetAttribute", library.prefer(preference, attribute, &value, sizeof value));
  };
  const LibraryGemm &gemm = ways.gemm;
  prefer(cublas::kMostWorkspaceBytes, kMostWorkspaceBytes);
  prefer(cublas::kBoundaryA, static_cast<uint32_t>(gemm.b.boundary));
  prefer(cublas::kBoundaryB, static_cast<uint32_t>(gemm.a.boundary));
  prefer(cublas::kBoundaryC, static_cast<uint32_t>(gemm.boundary));
  prefer(cublas::kBoundaryD, static_cast<uint32_t>(gemm.boundary));
  if (calls.are_good()) {
    calls.add("cublasLtMatmulAlgoGetHeuristic", library.find(session.handle, ways.description, ways.a, ways.b, ways.c,
                                                             ways.c, preference, kMostWays, ways.found, &ways.count));
  }
  library.destroy_preference(preference);
}

// Removes algorithms that the library itself does not report as successful.
void drop_failures(AlgorithmList &ways) {
  int32_t kept = 0;
  for (int32_t i = 0; i < ways.count; ++i) {
    if (ways.found[i].state == cublas::kSuccess) ways.found[kept++] = ways.found[i];
  }
  ways.count = kept;
}

// Uses the algorithm that an earlier run measured as fastest, if the library still supports it.
void load_algorithm(Session &session, AlgorithmList &ways) {
  cublas::Algorithm known{};
  if (!session.choices.find(ways.gemm, known)) return;
  cublas::Found &found = ways.found[0];
  const int32_t status =
      session.library.check(session.handle, ways.description, ways.a, ways.b, ways.c, ways.c, &known, &found);
  if (status != cublas::kSuccess || found.workspace_bytes > kMostWorkspaceBytes) return;
  found.algorithm = known;
  found.state = cublas::kSuccess;
  ways.count = 1;
  ways.is_chosen = true;
}

size_t workspace_of(const AlgorithmList &ways) {
  size_t most = 0;
  for (int32_t i = 0; i < ways.count; ++i)
    most = ways.found[i].workspace_bytes > most ? ways.found[i].workspace_bytes : most;
  return most;
}

struct Factors {
  const void *alpha, *beta;
};

Factors factors_of(const LibraryGemm &gemm, const LibraryAddresses &at) {
  static constexpr int32_t kOne = 1, kNought = 0;
  if (gemm.is_integer) return {&kOne, &kNought};
  if (gemm.has_factors) return {at.factors, at.factors + 1};
  return {&at.alpha, &at.beta};
}

int32_t multiply(const Session &session, const AlgorithmList &ways, int32_t way, const LibraryAddresses &at,
                 void *stream) {
  const Factors factors = factors_of(ways.gemm, at);
  const cublas::Found &found = ways.found[way];
  return session.library.multiply(session.handle, ways.description, factors.alpha, at.b, ways.a, at.a, ways.b,
                                  factors.beta, at.c, ways.c, at.c, ways.c, &found.algorithm, at.workspace,
                                  found.workspace_bytes, stream);
}

// Functions of GemmLibrary.

int32_t open(void **out_session, int64_t *out_version, char *error, size_t error_bytes) {
  auto session = std::make_unique<Session>();
  const std::string why = cublas::open(session->library);
  if (!why.empty()) return tell(LPT_UNSUPPORTED, why, error, error_bytes);
  Calls calls(session->library.status_name);
  calls.add("cublasLtCreate", session->library.create(&session->handle));
  if (!calls.are_good()) return tell(LPT_UNSUPPORTED, calls.words(), error, error_bytes);
  *out_version = static_cast<int64_t>(session->library.version());
  session->choices.open(*out_version);
  *out_session = session.release();
  return LPT_OK;
}

void close(void *opaque) {
  const std::unique_ptr<Session> session(static_cast<Session *>(opaque));
  session->library.destroy(session->handle);
}

int32_t prepare(void *opaque, const LibraryGemm *gemm, void **out_prepared, size_t *out_workspace_bytes, char *error,
                size_t error_bytes) {
  Session &session = *static_cast<Session *>(opaque);
  auto ways = std::make_unique<AlgorithmList>();
  ways->library = &session.library;
  ways->gemm = *gemm;
  Calls calls(session.library.status_name);
  describe(*ways, calls);
  if (calls.are_good()) lay_out(*ways, calls);
  if (calls.are_good()) load_algorithm(session, *ways);
  if (calls.are_good() && ways->count == 0) find_ways(session, *ways, calls);
  const bool is_none = calls.status() == cublas::kNotSupported || calls.status() == cublas::kInvalidValue;
  if (!calls.are_good()) return tell(is_none ? LPT_UNSUPPORTED : LPT_WORK_FAILED, calls.words(), error, error_bytes);
  drop_failures(*ways);
  if (ways->count == 0) return tell(LPT_UNSUPPORTED, "cublasLtMatmulAlgoGetHeuristic: none", error, error_bytes);
  *out_workspace_bytes = workspace_of(*ways);
  *out_prepared = ways.release();
  return LPT_OK;
}

void release(void *opaque) { delete static_cast<AlgorithmList *>(opaque); }

int32_t run(void *opaque, const void *prepared, const LibraryAddresses *at, void *stream, char *error,
            size_t error_bytes) {
  const Session &session = *static_cast<const Session *>(opaque);
  const AlgorithmList &ways = *static_cast<const AlgorithmList *>(prepared);
  Calls calls(session.library.status_name);
  Describer describer(session.library, ways.description, calls);
  set_addresses(describer, ways.gemm, at->a_scales, at->b_scales, at->bias);
  if (calls.are_good()) calls.add("cublasLtMatmul", multiply(session, ways, ways.taken, *at, stream));
  return calls.are_good() ? LPT_OK : tell(LPT_WORK_FAILED, calls.words(), error, error_bytes);
}

// Returns the time in seconds of the fastest of several runs, one after the other; negative if one fails.
double time_of(const Session &session, const AlgorithmList &ways, int32_t way, const LibraryAddresses &at,
               void *stream) {
  constexpr int kRuns = 4;  // the first one also loads the kernel
  double best = -1;
  for (int i = 0; i < kRuns; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    if (multiply(session, ways, way, at, stream) != cublas::kSuccess) return -1;
    if (cudaStreamSynchronize(static_cast<cudaStream_t>(stream)) != cudaSuccess) return -1;
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
    if (best < 0 || taken.count() < best) best = taken.count();
  }
  return best;
}

int32_t tune(void *opaque, void *prepared, const LibraryAddresses *at, void *stream, char *error, size_t error_bytes) {
  Session &session = *static_cast<Session *>(opaque);
  AlgorithmList &ways = *static_cast<AlgorithmList *>(prepared);
  if (ways.is_chosen) return LPT_OK;
  Calls calls(session.library.status_name);
  Describer describer(session.library, ways.description, calls);
  set_addresses(describer, ways.gemm, at->a_scales, at->b_scales, at->bias);
  if (!calls.are_good()) return tell(LPT_WORK_FAILED, calls.words(), error, error_bytes);
  double best = -1;
  for (int32_t way = 0; way < ways.count; ++way) {
    const double seconds = time_of(session, ways, way, *at, stream);
    if (seconds < 0 || (best >= 0 && seconds >= best)) continue;
    best = seconds;
    ways.taken = way;
  }
  ways.is_chosen = best >= 0;
  if (ways.is_chosen) session.choices.keep(ways.gemm, ways.found[ways.taken].algorithm);
  return LPT_OK;
}

}  // namespace

std::span<const GemmLibrary> cublas_libraries() {
  static constexpr GemmLibrary kLibraries[] = {{.name = "cublaslt",
                                                .open = open,
                                                .close = close,
                                                .prepare = prepare,
                                                .release = release,
                                                .run = run,
                                                .tune = tune}};
  return kLibraries;
}

}  // namespace lpt
