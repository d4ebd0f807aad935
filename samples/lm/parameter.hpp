// Trained matrices and vectors, with their gradients.
#pragma once

#include <cstdint>
#include <deque>
#include <string>

#include "precision.hpp"

namespace lm {

// Which part of a matrix this rank has: of each of so many sections of rows, or of the columns.
struct Slice {
  int64_t rank = 0, ranks = 1;
  int64_t sections = 1;
  bool is_of_columns = false;
};

struct Parameter {
  std::string name;
  uint32_t index = 0;  // place in the list: its stream of random numbers
  int64_t rows = 0;    // 1 for the weight of a norm
  int64_t columns = 0;
  bool is_matrix = true;  // decayed, and kept in the precision's formats
  Tensor value;           // the master weight; the optimizer writes it
  Tensor gradient;        // f32, or f64 in a gradient check; dense
  // Its layer divides by the root of the whole matrix' columns itself, and its gradient by the root of the rows of a pass.
  bool is_unit_scaled = false;
  int64_t whole_columns = 0;
  bool is_sharded = false;  // ranks have parts of it; else all of them have the same

  int64_t elements() const { return rows * columns; }
};

// Makes the parameters of a model and owns them; they never move.
class ParameterList {
 public:
  // `plain` is what vectors and gradients are: f32, or f64 in a gradient check, where matrices are f64 as well.
  ParameterList(const Precision &precision, lpt_format plain, uint64_t seed);

  // Normal numbers of deviation gain / sqrt(columns), drawn in f32, then cast: twins of any format start alike. Those of
  // a unit-scaled layer have deviation gain. A slice has the whole matrix' numbers.
  Parameter *matrix(lpt_context *context, std::string name, int64_t rows, int64_t columns, double gain,
                    bool is_unit_scaled = false, const Slice &slice = {});

  // Ones.
  Parameter *norm(lpt_context *context, std::string name, int64_t columns);

  std::deque<Parameter> &items() { return items_; }
  const std::deque<Parameter> &items() const { return items_; }

 private:
  Parameter *add(lpt_context *context, std::string name, int64_t rows, int64_t columns, lpt_format format,
                 double deviation, const Slice &slice);

  lpt_format matrix_format_;
  lpt_format plain_;
  uint64_t seed_;
  std::deque<Parameter> items_;
};

}  // namespace lm
