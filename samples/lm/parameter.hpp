// Trained matrices and vectors, with their gradients.
#pragma once

#include <cstdint>
#include <deque>
#include <string>

#include "precision.hpp"

namespace lm {

// The slice of a matrix of this rank: a part of each section of rows, or of the columns.
struct Slice {
  int64_t rank = 0, ranks = 1;
  int64_t sections = 1;
  bool is_of_columns = false;
};

struct Parameter {
  std::string name;
  uint32_t index = 0;  // index in the list: its stream of random numbers
  int64_t rows = 0;    // 1 for the weight of a norm
  int64_t columns = 0;
  bool is_matrix = true;  // has weight decay, and is stored in the formats of the precision
  Tensor value;           // the master weight; the optimizer writes it
  Tensor gradient;        // f32, or f64 in a gradient check; dense
  // The layer divides by the root of the columns of the full matrix, and its gradient by the root of the rows of a pass.
  bool is_unit_scaled = false;
  int64_t whole_columns = 0;
  bool is_sharded = false;  // ranks have slices; else the parameter is replicated

  int64_t elements() const { return rows * columns; }
};

// Creates and owns the parameters of a model. Their addresses never change.
class ParameterList {
 public:
  // `plain` is the format of vectors and gradients: f32, or f64 in a gradient check, where matrices are f64 too.
  ParameterList(const Precision &precision, lpt_format plain, uint64_t seed);

  // Draws normal values with deviation gain / sqrt(columns) in f32 and casts them, so that all formats start from the same
  // values. A unit-scaled layer has deviation gain. A slice has the values of the full matrix.
  Parameter *matrix(lpt_context *context, std::string name, int64_t rows, int64_t columns, double gain,
                    bool is_unit_scaled = false, const Slice &slice = {});

  // Initialized to ones.
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
