// GEMMs compared with cuBLASLt in the same run. Operands have the layout of cuBLASLt: both with k adjacent.
#include "bench/gpu/groups.hpp"

namespace lpt::bench {
namespace {

struct Shape {
  int64_t m, n, k;
  double flops() const { return 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k); }
};

// The formats of the operands; b is n × k.
struct Gemm {
  const char *who;
  lpt_format a, b;
};

void multiply(const Machine &machine, const Tensor &a, const Tensor &b, const Tensor &c) {
  lpt_gemm_options options = LPT_GEMM_OPTIONS_INIT;
  options.is_b_transposed = 1;
  machine.check(lpt_gemm(machine.context(), a.get(), b.get(), &options, c.get()));
}

void set_gemm(const Machine &machine, const Gemm &gemm, const Shape &shape, Contender &out) {
  const Tensor a = machine.numbers(gemm.a, shape.m, shape.k), b = machine.numbers(gemm.b, shape.n, shape.k);
  const Tensor c = machine.make(LPT_FORMAT_BF16, shape.m, shape.n);
  out.bytes = machine.bytes(a) + machine.bytes(b) + machine.bytes(c);
  out.flops = shape.flops();
  out.run = [=, &machine] { multiply(machine, a, b, c); };
}

Contender lpt_linear_gemm(const Machine &machine, const Gemm &gemm, const Shape &shape) {
  return contender(gemm.who, [&](Contender &out) { set_gemm(machine, gemm, shape, out); });
}

lpt_format element_of(PeerKind kind) { return kind == PeerKind::kBf16 ? LPT_FORMAT_BF16 : LPT_FORMAT_E4M3FN; }

Contender peer_gemm(const Machine &machine, Cublaslt &peer, const char *who, PeerKind kind, const Shape &shape) {
  return contender(who, [&](Contender &out) {
    if (!peer.is_here()) throw Missing(peer.text());
    const Tensor a = machine.numbers(element_of(kind), shape.m, shape.k);
    const Tensor b = machine.numbers(element_of(kind), shape.n, shape.k);
    const Tensor c = machine.make(LPT_FORMAT_BF16, shape.m, shape.n);
    out.bytes = machine.bytes(a) + machine.bytes(b) + machine.bytes(c);
    out.flops = shape.flops();
    out.run = peer.gemm(kind, a, b, c, shape.m, shape.n, shape.k);
  });
}

Shape sized(const Machine &machine, const Shape &full, const Shape &tiny) { return machine.is_tiny() ? tiny : full; }

// FP8 GEMMs that cuBLASLt supports.

std::vector<Contender> fp8_of(const Machine &machine, Cublaslt &peer, const Shape &full) {
  const Shape shape = sized(machine, full, {16, 32, 128});
  return {
      lpt_linear_gemm(machine, {"lpt bf16", LPT_FORMAT_BF16, LPT_FORMAT_BF16}, shape),
      peer_gemm(machine, peer, "cublaslt bf16", PeerKind::kBf16, shape),
      lpt_linear_gemm(machine, {"lpt fp8", LPT_FORMAT_E4M3FN_TENSOR, LPT_FORMAT_E4M3FN_TENSOR}, shape),
      peer_gemm(machine, peer, "cublaslt fp8", PeerKind::kFp8, shape),
      peer_gemm(machine, peer, "cublaslt fp8, fast", PeerKind::kFp8Fast, shape),
      lpt_linear_gemm(machine, {"lpt fp8 rows", LPT_FORMAT_E4M3FN_ROW, LPT_FORMAT_E4M3FN_ROW}, shape),
      peer_gemm(machine, peer, "cublaslt fp8 rows", PeerKind::kFp8Rows, shape),
      peer_gemm(machine, peer, "cublaslt fp8 rows, fast", PeerKind::kFp8RowsFast, shape),
      lpt_linear_gemm(machine, {"lpt fp8 1x128", LPT_FORMAT_E4M3FN_1X128, LPT_FORMAT_E4M3FN_1X128}, shape),
      peer_gemm(machine, peer, "cublaslt fp8 1x128", PeerKind::kFp8Groups, shape),
  };
}

std::vector<Contender> fp8_4096(const Machine &machine, Cublaslt &peer) {
  return fp8_of(machine, peer, {4096, 4096, 4096});
}
std::vector<Contender> fp8_8192(const Machine &machine, Cublaslt &peer) {
  return fp8_of(machine, peer, {8192, 8192, 8192});
}
std::vector<Contender> fp8_16384(const Machine &machine, Cublaslt &peer) {
  return fp8_of(machine, peer, {16384, 7168, 2048});
}

// The CPU time of a call, for a GEMM that is short on the device.
std::vector<Contender> host_cost(const Machine &machine, Cublaslt &peer) {
  const Shape shape = sized(machine, {256, 256, 256}, {16, 16, 128});
  std::vector<Contender> result = {
      lpt_linear_gemm(machine, {"lpt", LPT_FORMAT_E4M3FN_TENSOR, LPT_FORMAT_E4M3FN_TENSOR}, shape),
      peer_gemm(machine, peer, "cublaslt", PeerKind::kFp8, shape),
  };
  for (Contender &one : result) one.is_host_cost = true;
  return result;
}

// Four-bit weights.

std::vector<Contender> four_bits_of(const Machine &machine, Cublaslt &peer, int64_t m) {
  const Shape shape = sized(machine, {m, 28672, 8192}, {m < 16 ? m : 16, 48, 256});
  return {
      lpt_linear_gemm(machine, {"lpt w4a8", LPT_FORMAT_E4M3FN_ROW, LPT_FORMAT_INT4_1X128}, shape),
      lpt_linear_gemm(machine, {"lpt w4a16", LPT_FORMAT_BF16, LPT_FORMAT_INT4_1X128}, shape),
      lpt_linear_gemm(machine, {"lpt nvfp4 a16", LPT_FORMAT_BF16, LPT_FORMAT_NVFP4}, shape),
      lpt_linear_gemm(machine, {"lpt mxfp4 a16", LPT_FORMAT_BF16, LPT_FORMAT_MXFP4}, shape),
      peer_gemm(machine, peer, "cublaslt bf16", PeerKind::kBf16, shape),
      peer_gemm(machine, peer, "cublaslt fp8", PeerKind::kFp8, shape),
      peer_gemm(machine, peer, "cublaslt fp8, fast", PeerKind::kFp8Fast, shape),
  };
}

std::vector<Contender> w4_1(const Machine &machine, Cublaslt &peer) { return four_bits_of(machine, peer, 1); }
std::vector<Contender> w4_16(const Machine &machine, Cublaslt &peer) { return four_bits_of(machine, peer, 16); }
std::vector<Contender> w4_64(const Machine &machine, Cublaslt &peer) { return four_bits_of(machine, peer, 64); }
std::vector<Contender> w4_4096(const Machine &machine, Cublaslt &peer) { return four_bits_of(machine, peer, 4096); }

// Formats without native multiplication on the device.

// MXFP4 is compared with the rate of FP8, so it may be rounded.
std::vector<Contender> emulated(const Machine &machine, Cublaslt &peer) {
  const Shape shape = sized(machine, {8192, 8192, 8192}, {16, 32, 128});
  return {
      lpt_linear_gemm(machine, {"lpt nvfp4", LPT_FORMAT_NVFP4, LPT_FORMAT_NVFP4}, shape),
      lpt_linear_gemm(machine, {"lpt mxfp8", LPT_FORMAT_MXFP8_E4M3, LPT_FORMAT_MXFP8_E4M3}, shape),
      lpt_linear_gemm(machine, {"lpt mxfp4", LPT_FORMAT_MXFP4, LPT_FORMAT_MXFP4}, shape),
      peer_gemm(machine, peer, "cublaslt bf16", PeerKind::kBf16, shape),
      peer_gemm(machine, peer, "cublaslt fp8 1x128", PeerKind::kFp8Groups, shape),
  };
}

// Uses sparse tensor cores if cuSPARSELt is available. The time includes the compression of every call.
std::vector<Contender> sparse(const Machine &machine, Cublaslt &peer) {
  const Shape shape = sized(machine, {8192, 8192, 8192}, {16, 32, 128});
  return {
      contender("lpt 2:4 fp8",
                [&](Contender &out) {
                  const Tensor a = machine.numbers(LPT_FORMAT_E4M3FN_TENSOR, shape.m, shape.k);
                  const Tensor b = machine.sparse_numbers(LPT_FORMAT_E4M3FN_TENSOR, shape.n, shape.k);
                  const Tensor c = machine.make(LPT_FORMAT_BF16, shape.m, shape.n);
                  out.flops = shape.flops();
                  out.run = [=, &machine] { multiply(machine, a, b, c); };
                }),
      peer_gemm(machine, peer, "cublaslt fp8", PeerKind::kFp8, shape),
      peer_gemm(machine, peer, "cublaslt fp8, fast", PeerKind::kFp8Fast, shape),
  };
}

// A GEMM of the shared columns, then one of the private columns, into one matrix, compared with one GEMM of all columns.
std::vector<Contender> split(const Machine &machine, Cublaslt &) {
  const Shape shape = sized(machine, {8192, 8192, 3584}, {8, 32, 64});
  const Tensor a = machine.numbers(LPT_FORMAT_BF16, shape.m, shape.k);
  const Tensor b = machine.numbers(LPT_FORMAT_BF16, shape.n, shape.k);
  const Tensor c = machine.make(LPT_FORMAT_BF16, shape.m, shape.n);
  const int64_t shared = shape.n / 2;
  return {
      contender("one GEMM",
                [&](Contender &out) {
                  out.flops = shape.flops();
                  out.run = [=, &machine] { multiply(machine, a, b, c); };
                }),
      contender("shared, then private",
                [&](Contender &out) {
                  const Tensor first = machine.make(LPT_FORMAT_BF16, shape.m, shared);
                  const Tensor first_b = machine.rows(b, 0, shared), rest_b = machine.rows(b, shared, shape.n - shared);
                  const Tensor rest = machine.columns(c, shared, shape.n - shared);
                  out.flops = shape.flops();
                  out.run = [=, &machine] {
                    multiply(machine, a, first_b, first);
                    multiply(machine, a, rest_b, rest);
                  };
                }),
  };
}

constexpr Group kGroups[] = {{"fp8_4096", fp8_4096},
                             {"fp8_8192", fp8_8192},
                             {"fp8_16384", fp8_16384},
                             {"host_cost", host_cost},
                             {"w4_1", w4_1},
                             {"w4_16", w4_16},
                             {"w4_64", w4_64},
                             {"w4_4096", w4_4096},
                             {"emulated", emulated, "LPT_GEMM_ROUND"},
                             {"sparse", sparse, "LPT_GEMM_SPARSE"},
                             {"split", split}};

}  // namespace

std::span<const Group> gemm_groups() { return kGroups; }

}  // namespace lpt::bench
