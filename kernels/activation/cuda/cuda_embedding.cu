// Embedding: gathers rows of a table, and computes the gradient of the table.
#include "kernels/activation/cuda/cuda_kernels.hpp"
#include "kernels/activation/cuda/cuda_line.hpp"
#include "kernels/activation/cuda/cuda_steps.hpp"

namespace lpt {
namespace {

// Gathers rows: one thread block per row.

struct CopyJob {
  const uint16_t *weight;
  uint16_t *output;
  const int64_t *places;
  int64_t rows, classes;
  int64_t weight_stride, output_stride;  // in words
  int64_t words;                         // of a row
  uint32_t nan;                          // two words of NaN
};

struct alignas(16) Words {
  uint32_t pair[4];
};

__device__ __forceinline__ bool is_class(int64_t place, int64_t classes) { return place >= 0 && place < classes; }

// Copies words of two bytes: a code of f32 has two.
__global__ void __launch_bounds__(kLineThreads) copy_rows(CopyJob job) {
  for (int64_t row = blockIdx.x; row < job.rows; row += gridDim.x) {
    const bool is_known = is_class(job.places[row], job.classes);
    const int64_t place = is_known ? job.places[row] : 0;
    const uint16_t *const from = job.weight + place * job.weight_stride;
    uint16_t *const to = job.output + row * job.output_stride;
    for (int64_t i = threadIdx.x; i < job.words; i += kLineThreads) {
      to[i] = is_known ? from[i] : static_cast<uint16_t>(job.nan >> (i % 2 * 16));
    }
  }
}

// Copies 16 bytes at a time.
__global__ void __launch_bounds__(kLineThreads) copy_whole_rows(CopyJob job) {
  const Words nan = {{job.nan, job.nan, job.nan, job.nan}};
  for (int64_t row = blockIdx.x; row < job.rows; row += gridDim.x) {
    const bool is_known = is_class(job.places[row], job.classes);
    const int64_t place = is_known ? job.places[row] : 0;
    const auto *const from = reinterpret_cast<const Words *>(job.weight + place * job.weight_stride);
    auto *const to = reinterpret_cast<Words *>(job.output + row * job.output_stride);
    for (int64_t i = threadIdx.x; i < job.words / 8; i += kLineThreads) {
      to[i] = is_known ? from[i] : nan;
    }
  }
}

struct RoundJob {
  DeviceRows weight, output;
  const int64_t *places;
  int64_t rows, columns, classes;
};

__global__ void __launch_bounds__(kLineThreads) round_rows(RoundJob job) {
  for (int64_t row = blockIdx.x; row < job.rows; row += gridDim.x) {
    const int64_t place = job.places[row];
    for (int64_t column = first_column(); column < job.columns; column += kLineStep) {
      const int32_t count = fragment_count(job.columns, column);
      FloatFragment x;
      if (is_class(place, job.classes)) {
        x = load_line(job.weight, place, column, count);
      } else {
#pragma unroll
        for (int32_t i = 0; i < kFragment; ++i) x.number[i] = bits_float(0x7FC00000u);
      }
      store_line(job.output, row, column, count, x);
    }
  }
}

// Gradient.

struct TableGradientJob {
  DeviceRows output_gradient;
  const int64_t *places;
  float *gradient;
  int64_t stride;  // gradient stride, in elements
  int64_t rows, columns, classes;
  bool is_accumulated;
};

// A block owns the classes i with i mod gridDim.x = blockIdx.x in kLineThreads columns. Each thread adds one column in row
// order, and keeps the sum in a register while consecutive rows have the same class.
__global__ void __launch_bounds__(kLineThreads) embedding_gradient(TableGradientJob job) {
  __shared__ int64_t owned[kLineThreads];  // classes of a batch of rows, or -1
  const int64_t column = int64_t{blockIdx.y} * kLineThreads + threadIdx.x;
  const bool is_column = column < job.columns;
  float *const to = job.gradient + column;
  for (int64_t i = blockIdx.x; is_column && !job.is_accumulated && i < job.classes; i += gridDim.x) {
    to[i * job.stride] = 0.0f;
  }
  int64_t current = -1;
  float sum = 0.0f;
  for (int64_t begin = 0; begin < job.rows; begin += kLineThreads) {
    const int64_t own_row = begin + threadIdx.x;
    const int64_t place = own_row < job.rows ? job.places[own_row] : -1;
    __syncthreads();
    owned[threadIdx.x] = is_class(place, job.classes) && place % gridDim.x == blockIdx.x ? place : -1;
    __syncthreads();
    for (int64_t i = 0; i < kLineThreads && begin + i < job.rows; ++i) {
      const int64_t next = owned[i];
      if (next < 0 || !is_column) continue;
      if (next != current) {
        if (current >= 0) to[current * job.stride] = sum;
        current = next;
        sum = to[current * job.stride];
      }
      sum = positive_nan(sum + number_of_line(job.output_gradient, begin + i, column));
    }
  }
  if (current >= 0) to[current * job.stride] = sum;
}

// Blocks that divide the classes: enough to fill a device, and few, because each block reads all places.
constexpr int64_t kOwners = 512;

}  // namespace

void embedding_cuda(const EmbeddingRequest &request, void *stream) {
  const MatrixView &weight = request.weight, &output = request.output;
  if (output.rows == 0 || output.columns == 0) return;
  const uint32_t blocks = blocks_of_rows(output.rows);
  if (weight.format.id != output.format.id) {
    const RoundJob job = {lines_of(weight), lines_of(output), request.places, output.rows, output.columns, weight.rows};
    LPT_LAUNCH(round_rows, blocks, kLineThreads, 0, stream, job);
    return;
  }
  const int64_t words = output.format.id == LPT_FORMAT_F32 ? 2 : 1;
  const uint32_t nan = output.format.id == LPT_FORMAT_F16 ? 0x7E007E00 : words == 2 ? 0x7FC00000 : 0x7FC07FC0;
  const CopyJob job = {static_cast<const uint16_t *>(weight.data),
                       static_cast<uint16_t *>(output.data),
                       request.places,
                       output.rows,
                       weight.rows,
                       weight.row_stride * words,
                       output.row_stride * words,
                       output.columns * words,
                       nan};
  const bool is_whole = lines_of(weight).is_whole && lines_of(output).is_whole && job.words % 8 == 0;
  if (is_whole) {
    LPT_LAUNCH(copy_whole_rows, blocks, kLineThreads, 0, stream, job);
  } else {
    LPT_LAUNCH(copy_rows, blocks, kLineThreads, 0, stream, job);
  }
}

void embedding_gradient_cuda(const EmbeddingGradientRequest &request, void *stream) {
  const MatrixView &gradient = request.gradient;
  if (gradient.rows == 0 || gradient.columns == 0) return;
  const TableGradientJob job = {lines_of(request.output_gradient),
                                request.places,
                                static_cast<float *>(gradient.data),
                                gradient.row_stride,
                                request.output_gradient.rows,
                                gradient.columns,
                                gradient.rows,
                                request.is_accumulated};
  const dim3 grid(static_cast<uint32_t>(gradient.rows < kOwners ? gradient.rows : kOwners),
                  static_cast<uint32_t>((gradient.columns + kLineThreads - 1) / kLineThreads));
  LPT_LAUNCH(embedding_gradient, grid, kLineThreads, 0, stream, job);
}

}  // namespace lpt
