// A rotation of random rows for kernel tests, with its table.
#pragma once

#include <vector>

#include "kernels/activation/activation.hpp"
#include "tests/support/guarded.hpp"
#include "tests/support/kernels.hpp"

namespace lpt::test {

// One array per head over positions, or one per position over heads; the input may have the other row order.
struct RotaryProblem {
  RotaryProblem(Random &random, lpt_format source, lpt_format target, int64_t width, Values values)
      : layout(random.chance(0.5) ? LPT_ROTARY_LAYOUT_HALVES : LPT_ROTARY_LAYOUT_INTERLEAVED),
        outer(1 + random.below(3)),
        inner(1 + random.below(3)),
        columns(width),
        count(random.chance(0.5) ? width / 2 : random.below(width / 2 + 1)),
        is_outer_position(random.chance(0.5)),
        is_input_transposed(random.chance(0.5)),
        padding(random.chance(0.5) ? (16 - width % 16) % 16 : random.below(5)),
        shift(random.chance(0.5) ? 0 : 8),
        input(source, outer * inner, width, padding, shift),
        output(target, outer * inner, width, padding, shift) {
    input.fill(random, values);
    for (int64_t i = 0; i < count; ++i) frequencies.push_back(random.uniform());
    const int64_t positions = is_outer_position ? outer : inner;
    const bool is_f64 = source == LPT_FORMAT_F64 || target == LPT_FORMAT_F64;
    table = {.frequencies = frequencies.data(),
             .is_frequency_f64 = true,
             .count = count,
             .positions = nullptr,
             .is_position_wide = false,
             .first_position = random.below(100000),
             .first_row = 0,
             .rows = positions,
             .layout = layout,
             .scale = random.chance(0.5) ? 1.0 : 1.25,
             .is_inverse = random.chance(0.5),
             .cosines = nullptr,
             .sines = nullptr,
             .stride = (2 * count + 15) / 16 * 16,
             .is_f64 = is_f64};
    numbers.resize(static_cast<size_t>(2 * positions * table.stride));
    table.cosines = numbers.data();
    table.sines = numbers.data() + positions * table.stride;
    rotary_table_kernels().back().run(table);
  }

  // Row `i` of `outer`, `j` of `inner` in input and output.
  int64_t input_row(int64_t i, int64_t j) const { return is_input_transposed ? j * outer + i : i * inner + j; }
  int64_t output_row(int64_t i, int64_t j) const { return i * inner + j; }
  int64_t position(int64_t i, int64_t j) const { return is_outer_position ? i : j; }

  RotaryRequest request() {
    RotaryRequest request{};
    request.input = input.view();
    request.output = output.view();
    const int64_t from = request.input.row_stride, to = request.output.row_stride;
    request.axes[0] = {outer, from * input_row(1, 0), to * output_row(1, 0), position(1, 0)};
    request.axes[1] = {inner, from * input_row(0, 1), to * output_row(0, 1), position(0, 1)};
    request.axis_count = 2;
    request.first_row = 0;
    request.rows = outer * inner;
    request.count = count;
    request.layout = layout;
    request.cosines = table.cosines;
    request.sines = table.sines;
    request.table_stride = table.stride;
    return request;
  }

  lpt_rotary_layout layout;
  int64_t outer, inner, columns, count;
  bool is_outer_position, is_input_transposed;
  int64_t padding;
  std::size_t shift;
  Matrix input, output;
  std::vector<double> frequencies, numbers;
  RotaryTableRequest table;
};

inline std::string text_of(const RotaryProblem &problem) {
  return format_name(problem.input.format().id) + " to " + format_name(problem.output.format().id) + ", " +
         std::to_string(problem.outer) + " x " + std::to_string(problem.inner) + " x " +
         std::to_string(problem.columns) + ", " + std::to_string(problem.count) + " frequencies, layout " +
         std::to_string(problem.layout);
}

}  // namespace lpt::test
