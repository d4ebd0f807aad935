// Copies rows of a quantized matrix between memory of LPT and the parts of a file.
#pragma once

#include <functional>
#include <span>

#include "handles.hpp"
#include "layout.hpp"

namespace tool {

struct MatrixShape {
  int64_t rows = 0;
  int64_t columns = 0;
  int64_t row_bytes = 0;  // of the payload of LPT
};

// Receives bytes of a part at byte offset `offset`.
using PutBytes = std::function<void(Role role, uint64_t offset, std::span<const std::byte> bytes)>;
// Fills bytes of a part from byte offset `offset`.
using GetBytes = std::function<void(Role role, uint64_t offset, std::span<std::byte> bytes)>;

// Passes the parts of `tensor` to `put`. The tensor has the rows from `first` of a matrix of `shape`. Parts of the full matrix
// are passed with its first rows.
void put_rows(lpt_context *context, const Layout &layout, const MatrixShape &shape, int64_t first, int64_t rows,
              const lpt_tensor *tensor, const PutBytes &put);

// The inverse: fills `tensor`.
void get_rows(lpt_context *context, const Layout &layout, const MatrixShape &shape, int64_t first, int64_t rows,
              lpt_tensor *tensor, const GetBytes &get);

}  // namespace tool
