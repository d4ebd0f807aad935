#include "bench/gemm_peers.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <memory>

#if defined(LPT_BENCH_ONEDNN)
#include <omp.h>

#include <oneapi/dnnl/dnnl.hpp>
#endif

namespace lpt::bench {
namespace {

#if defined(LPT_BENCH_ONEDNN)
using dnnl::memory;

memory::data_type type_of(GemmLimit kind) {
  return kind == GemmLimit::kInt8   ? memory::data_type::s8
         : kind == GemmLimit::kBf16 ? memory::data_type::bf16
                                    : memory::data_type::f32;
}

void fill(const memory &operand) {
  auto *const bytes = static_cast<uint8_t *>(operand.get_data_handle());
  for (size_t i = 0; i < operand.get_desc().get_size(); ++i) bytes[i] = static_cast<uint8_t>((i * 37) & 0x3B);
}

// `is_packed`: oneDNN selects the layout of the weights, and the reorder is not timed.
std::function<void()> onednn_run(const GemmShape &shape, GemmLimit kind, bool is_packed, int threads,
                                 size_t &out_weight_bytes) {
  omp_set_num_threads(threads);
  const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  const auto tag = [](bool is_transposed) { return is_transposed ? memory::format_tag::ba : memory::format_tag::ab; };
  const auto type = type_of(kind);
  const memory::desc a_desc({shape.m, shape.k}, type, tag(shape.is_a_transposed));
  const memory::desc b_desc({shape.k, shape.n}, type, is_packed ? memory::format_tag::any : tag(shape.is_b_transposed));
  const auto c_type = kind == GemmLimit::kInt8 ? memory::data_type::s32 : memory::data_type::f32;
  const memory::desc c_desc({shape.m, shape.n}, c_type, memory::format_tag::ab);
#if DNNL_VERSION_MAJOR >= 3
  const dnnl::matmul::primitive_desc description(engine, a_desc, b_desc, c_desc);
#else
  const dnnl::matmul::primitive_desc description(dnnl::matmul::desc(a_desc, b_desc, c_desc), engine);
#endif
  memory a(description.src_desc(), engine), b(description.weights_desc(), engine), c(description.dst_desc(), engine);
  fill(a);
  fill(b);
  const dnnl::matmul primitive(description);
  dnnl::stream stream(engine);
  out_weight_bytes = b.get_desc().get_size();
  return [=]() mutable {
    omp_set_num_threads(threads);
    primitive.execute(stream, {{DNNL_ARG_SRC, a}, {DNNL_ARG_WEIGHTS, b}, {DNNL_ARG_DST, c}});
    stream.wait();
  };
}

void add_onednn(std::vector<GemmPeer> &peers) {
  struct Type {
    const char *name;
    GemmLimit kind;
  };
  constexpr Type kTypes[] = {
      {"oneDNN bf16", GemmLimit::kBf16}, {"oneDNN s8", GemmLimit::kInt8}, {"oneDNN f32", GemmLimit::kF32}};
  for (const auto &[name, kind] : kTypes) {
    for (const bool is_packed : {false, true}) {
      const auto prepare = [kind = kind, is_packed](const GemmShape &shape, int threads, GemmContender &contender) {
        contender.runs.push_back(onednn_run(shape, kind, is_packed, 1, contender.weight_bytes));
        if (threads > 1) {
          contender.runs.push_back(onednn_run(shape, kind, is_packed, threads, contender.weight_bytes));
        }
        return true;
      };
      peers.push_back({name, kind, is_packed, prepare});
    }
  }
}
#endif

// The C interface of OpenBLAS: row-major is 101, transposed 112, not transposed 111.
using Sgemm = void (*)(int order, int transposes_a, int transposes_b, int m, int n, int k, float alpha, const float *a,
                       int a_stride, const float *b, int b_stride, float beta, float *c, int c_stride);

// OpenBLAS of Debian detects this CPU as Haswell. Setting the core type enables AVX-512.
const char *core_type() {
  return __builtin_cpu_supports("avx512f") ? "SkylakeX" : __builtin_cpu_supports("avx2") ? "Haswell" : nullptr;
}

void add_openblas(std::vector<GemmPeer> &peers, std::vector<std::string> &missing) {
  if (core_type() != nullptr) setenv("OPENBLAS_CORETYPE", core_type(), 0);
  void *const library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    missing.emplace_back("OpenBLAS (Debian: libopenblas0-pthread)");
    return;
  }
  const auto sgemm = reinterpret_cast<Sgemm>(dlsym(library, "cblas_sgemm"));
  const auto set_threads = reinterpret_cast<void (*)(int)>(dlsym(library, "openblas_set_num_threads"));
  const auto core_name = reinterpret_cast<const char *(*)()>(dlsym(library, "openblas_get_corename"));
  if (sgemm == nullptr || set_threads == nullptr) {
    missing.emplace_back("OpenBLAS: its library has no cblas_sgemm or no openblas_set_num_threads");
    return;
  }
  const auto prepare = [=](const GemmShape &shape, int threads, GemmContender &contender) {
    const auto a = std::make_shared<std::vector<float>>(static_cast<size_t>(shape.m * shape.k), 0.5f);
    const auto b = std::make_shared<std::vector<float>>(static_cast<size_t>(shape.k * shape.n), 0.25f);
    const auto c = std::make_shared<std::vector<float>>(static_cast<size_t>(shape.m * shape.n));
    const int m = static_cast<int>(shape.m), k = static_cast<int>(shape.k), n = static_cast<int>(shape.n);
    const int transposes_a = shape.is_a_transposed ? 112 : 111, transposes_b = shape.is_b_transposed ? 112 : 111;
    contender.weight_bytes = b->size() * sizeof(float);
    for (const int count : {1, threads}) {
      if (count == 1 && !contender.runs.empty()) continue;
      contender.runs.push_back([=] {
        set_threads(count);
        sgemm(101, transposes_a, transposes_b, m, n, k, 1, a->data(), shape.is_a_transposed ? m : k, b->data(),
              shape.is_b_transposed ? k : n, 0, c->data(), n);
      });
    }
    return true;
  };
  const std::string core = core_name == nullptr ? "" : std::string(", ") + core_name();
  peers.push_back({"OpenBLAS f32" + core, GemmLimit::kF32, false, prepare});
}

}  // namespace

std::vector<GemmPeer> gemm_peers(std::vector<std::string> &missing) {
  std::vector<GemmPeer> peers;
#if defined(LPT_BENCH_ONEDNN)
  add_onednn(peers);
#else
  missing.emplace_back("oneDNN: this bench was built without it (Debian: libdnnl-dev)");
#endif
  add_openblas(peers, missing);
  return peers;
}

}  // namespace lpt::bench
