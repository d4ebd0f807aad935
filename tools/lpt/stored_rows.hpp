// Rows of a quantized matrix between LPT's memory and the parts of a file.
#pragma once

#include <functional>
#include <span>

#include "handles.hpp"
#include "layout.hpp"

namespace tool {

struct MatrixShape {
  int64_t rows = 0;
  int64_t columns = 0;
  int64_t row_bytes = 0;  // of LPT's payload
};

// Receives bytes of a part, `offset` bytes behind its first one.
using PutBytes = std::function<void(Role role, uint64_t offset, std::span<const std::byte> bytes)>;
// Fills bytes of a part from `offset` on.
using GetBytes = std::function<void(Role role, uint64_t offset, std::span<std::byte> bytes)>;

// Hands out the parts of `tensor`, which is the rows from `first` on of a matrix of `shape`. What belongs to the whole
// matrix comes with its first rows.
void put_rows(lpt_context *context, const Layout &layout, const MatrixShape &shape, int64_t first, int64_t rows,
              const lpt_tensor *tensor, const PutBytes &put);

// The way back: fills `tensor`.
void get_rows(lpt_context *context, const Layout &layout, const MatrixShape &shape, int64_t first, int64_t rows,
              lpt_tensor *tensor, const GetBytes &get);

}  // namespace tool
