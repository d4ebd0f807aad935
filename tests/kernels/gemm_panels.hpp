// Shared by the tests of kernels that read panels: b of a problem in panels, a kernel by name, shapes and scales.
#pragma once

#include <cstring>
#include <string>
#include <vector>

#include "kernels/gemm/panels.hpp"
#include "tests/kernels/gemm_problem.hpp"

namespace lpt::test {

// b of a problem in panels, packed code by code.
struct Panels {
  explicit Panels(const Problem &problem)
      : codes(static_cast<size_t>(panel_count(problem.b) * panel_bytes(kind(problem.b), problem.b.columns()))),
        scales(static_cast<size_t>(block_count(problem.b) * scale_bytes(problem.b))),
        zero_points(static_cast<size_t>(block_count(problem.b))),
        tensor_scale(problem.b.tensor_scale) {
    const Matrix &b = problem.b;
    view = problem.request.b;
    view.layout = Layout::kPanels;
    view.data = codes.data();
    view.block_scales = scales.data();
    view.zero_points = zero_points.data();
    view.tensor_scale = view.format.has_tensor_scale() ? &tensor_scale : nullptr;
    for (Guarded *bytes : {&codes, &scales, &zero_points}) std::memset(bytes->data(), 0, bytes->bytes());
    for (int64_t lane = 0; lane < b.rows(); ++lane) {
      for (int64_t p = 0; p < b.columns(); ++p) set_code(b, lane, p);
      if (b.format().has_block_scale()) set_scales(b, lane);
    }
  }

  void set_code(const Matrix &b, int64_t lane, int64_t p) {
    const PanelPosition place = panel_position(kind(b), lane % kPanelLanes, p);
    uint8_t *const to = codes.data() + lane / kPanelLanes * panel_bytes(kind(b), b.columns()) + place.byte;
    to[0] = static_cast<uint8_t>(to[0] | b.code(lane, p) << place.shift);
    for (int32_t byte = 1; byte < element_bits(b.format().element) / 8; ++byte) {
      to[byte] = static_cast<uint8_t>(b.code(lane, p) >> (8 * byte));
    }
  }

  void set_scales(const Matrix &b, int64_t lane) {
    const int64_t blocks = panel_blocks(b.format(), b.columns());
    for (int64_t block = 0; block < blocks; ++block) {
      const int64_t row = lane / b.grid().block_rows;
      const int64_t at = (lane / kPanelLanes * blocks + block) * kPanelLanes + lane % kPanelLanes;
      const uint32_t code = b.scale_code(row, block);
      std::memcpy(scales.data() + at * scale_bytes(b), &code, static_cast<size_t>(scale_bytes(b)));
      zero_points.data()[at] = b.zero_point(row, block);
    }
  }

  bool is_intact() const { return codes.is_intact() && scales.is_intact() && zero_points.is_intact(); }

  static PanelKind kind(const Matrix &b) { return panel_kind(b.format().element); }
  static int64_t panel_count(const Matrix &b) { return (b.rows() + kPanelLanes - 1) / kPanelLanes; }
  static int64_t scale_bytes(const Matrix &b) { return b.format().block_scale == LPT_FORMAT_F32 ? 4 : 1; }
  static int64_t block_count(const Matrix &b) {
    return b.format().has_block_scale() ? panel_count(b) * kPanelLanes * panel_blocks(b.format(), b.columns()) : 0;
  }

  Guarded codes, scales, zero_points;
  float tensor_scale;
  MatrixView view;
};

constexpr int64_t kEdges[] = {1, 2, 3, 15, 16, 17, 31, 33, 63, 65, 127, 129, 255, 257};

struct FormatPair {
  const char *a, *b;
};

// Returns the NaN code of the block scales of a matrix.
inline uint32_t nan_scale(const Matrix &matrix) {
  const lpt_format scale = matrix.format().block_scale;
  return scale == LPT_FORMAT_E8M0FNU ? 0xFF : scale == LPT_FORMAT_E4M3FN ? 0x7F : 0x7FC00000;
}

// Tests of one kernel; skipped if it is not compiled, or the CPU lacks its features.
class GemmKernelTest : public testing::Test {
 protected:
  explicit GemmKernelTest(const char *name) : name_(name) {}

  void SetUp() override {
    kernel_ = find_kernel(name_);
    if (kernel_ == nullptr) GTEST_SKIP() << name_ << " was not compiled";
    if (!is_here(*kernel_)) GTEST_SKIP() << name_ << " needs " << feature_names(missing_of(*kernel_));
  }

  void run(const GemmRequest &request) const { run_row(*kernel_, request); }

  // Computes c with b in rows.
  std::vector<double> plain(Problem &problem) const {
    run(problem.request);
    EXPECT_TRUE(problem.c.is_intact()) << problem.name;
    return numbers_of_c(problem);
  }

  // Computes c with b in panels.
  std::vector<double> packed(Problem &problem) const {
    const Panels panels(problem);
    GemmRequest request = problem.request;
    request.b = panels.view;
    run(request);
    EXPECT_TRUE(panels.is_intact() && problem.c.is_intact()) << problem.name;
    return numbers_of_c(problem);
  }

  // All pairs of two of m, n and k at the edges of vectors and tiles; the third is random.
  template <typename Check>
  void for_all_shapes(Random &random, const Check &check) const {
    for (const int64_t m : kEdges) {
      for (const int64_t n : kEdges) {
        if (is_taken(random, 3)) check(m, n, random.of(kEdges));
        if (HasFailure()) return;
      }
      for (const int64_t k : kEdges) {
        if (is_taken(random, 3)) check(m, random.of(kEdges), k);
        if (HasFailure()) return;
      }
    }
  }

  const char *const name_;
  const KernelEntry<GemmRequest> *kernel_ = nullptr;
};

}  // namespace lpt::test
