// What the tests of rows that read panels share: b of a problem in panels, and a row by its name.
#pragma once

#include <cstring>
#include <string>

#include "kernels/gemm/panels.hpp"
#include "tests/kernels/gemm_problem.hpp"

namespace lpt::test {

// b of a problem in panels, code by code.
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
    const PanelPlace place = panel_place(kind(b), lane % kPanelLanes, p);
    uint8_t *const to = codes.data() + lane / kPanelLanes * panel_bytes(kind(b), b.columns()) + place.byte;
    to[0] = static_cast<uint8_t>(to[0] | b.code(lane, p) << place.shift);
    if (kind(b) == PanelKind::kHalves) to[1] = static_cast<uint8_t>(b.code(lane, p) >> 8);
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

// Tests of one row; skipped where it was not compiled, or the processor lacks it.
class GemmRowTest : public testing::Test {
 protected:
  explicit GemmRowTest(const char *name) : name_(name) {}

  void SetUp() override {
    for (const GemmRow &row : gemm_kernels()) {
      if (row.name == std::string(name_)) row_ = &row;
    }
    if (row_ == nullptr) GTEST_SKIP() << name_ << " was not compiled";
    if (!is_here(*row_)) GTEST_SKIP() << name_ << " needs " << feature_names(missing_of(*row_));
  }

  void run(GemmRequest request) const {
    ASSERT_STREQ(row_->refuses(request), nullptr);
    Guarded scratch(row_->scratch_bytes(request));
    request.scratch = reinterpret_cast<std::byte *>(scratch.data());
    row_->run(request);
    EXPECT_TRUE(scratch.is_intact()) << "writes past its scratch";
  }

  const char *const name_;
  const GemmRow *row_ = nullptr;
};

}  // namespace lpt::test
