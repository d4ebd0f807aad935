// One casting: a source, and its one or two outputs, which are cast in the same walk over it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/hadamard/hadamard.hpp"
#include "kernels/quantize/quantize.hpp"
#include "src/cast/cast.hpp"
#include "src/formats/block_scale.hpp"

namespace lpt {

// A tile of the source, in rows and columns of the source.
struct Tile {
  int64_t row, rows, column, columns;
};

// How a source is cut in tiles that stay in a cache between the steps of a cast. It depends on shapes alone, so that
// sums over tiles do not depend on threads.
struct Tiles {
  int64_t rows, columns;            // of the source
  int64_t tile_rows, tile_columns;  // of a tile
  int64_t down, across;             // tiles

  int64_t count() const { return down * across; }
  Tile at(int64_t index) const;
};

// An output, as far as its cut goes.
struct TileTarget {
  Format format;
  bool is_transposed;
};

Tiles cut_in_tiles(const MatrixView &source, const std::vector<TileTarget> &targets, const CastPreprocess &preparation);

// One output of a cast.
struct CastOutput {
  bool is_transposed = false;
  bool is_in_scratch = false;  // its codes are not kept
  bool hides_nan = false;      // nothing in the target's elements or block scales can tell of a NaN
  bool has_amax = false;       // the request shall find the amax on its way
  bool looks = false;          // the tensor scale follows from the source's amax
  float delayed_amax = 0.0f;
  QuantizeRequest request{};
  const KernelEntry<QuantizeRequest> *kernel = nullptr;
  const KernelEntry<DequantizeRequest> *decode_kernel = nullptr;    // of a cast and back
  const KernelEntry<TransposeRequest> *transpose_kernel = nullptr;  // of a second output with the codes of the first
  MatrixView decoded;
};

// What one task found.
struct AmaxResult {
  float amax = 0.0f;
  bool has_nan = false;
};

class CastPipeline {
 public:
  CastPipeline(Context &context, const MatrixView &source, const Cast &cast, bool is_check_only)
      : context_(context), source_(source), cast_(cast), is_check_only_(is_check_only) {}

  Status add(const MatrixView &target, bool is_transposed);

  // A cast whose codes are not kept: into scratch, and back into `decoded` if it is requested.
  Status add_and_back(const Format &format, const MatrixView *decoded, bool is_transposed);

  Status run();

 private:
  // Scratch of each part of a loop over tiles.
  struct Scratch {
    std::vector<std::byte *> prepared;  // a tile
    std::vector<std::byte *> codes;     // of a cast and back
  };

  // Where the tensor's amax comes from: the target, the past, or a look at the source.
  Status resolve_sources(CastOutput &job);

  // Codes that do not depend on the direction are cast as the source is, into scratch, and transposed, where that is fast.
  Status add_source_of_transpose();

  // The kernels see prepared tiles as dense f32.
  MatrixView kernel_source(const CastOutput &job) const;
  HadamardRequest rotation_of(const CastOutput &job) const;
  Status choose_rotation(CastOutput &job);
  Status select_kernels(CastOutput &job);

  // Whether the codes of an output do not depend on its direction: where scales do not, and sums of blocks, whose order
  // does, are not requested.
  bool can_transpose(const CastOutput &job) const;

  // Whether the second output holds the codes of the first one, transposed.
  bool is_transpose(const CastOutput &job) const;

  // The same once tensor scales are settled: those that are kept may differ.
  bool has_transposed_codes(const CastOutput &job) const {
    return job.transpose_kernel != nullptr && job.request.tensor_inverse == jobs_[0].request.tensor_inverse;
  }

  // casting_scale.cpp: the amax, where a job must know it first - rotated rows have another one than rotated columns -
  // and the tensor scale that follows.
  Status compute_amax();
  Status compute_amax_of_lines(const KernelEntry<AmaxRequest> &kernel, AmaxResult &found);
  Status compute_amax_of_tiles(CastOutput &job, const KernelEntry<AmaxRequest> &kernel, AmaxResult &found);
  static void gather(const std::vector<AmaxResult> &partial, AmaxResult &found);
  Status resolve_tensor_scale(CastOutput &job);
  Status find_tensor_scale(const CastOutput &job, float amax, float &out_scale);
  Status sum_magnitudes(double &out_sum, double &out_squares);
  Status mean_scale(float &out_scale);
  Status sawb_scale(const ScaleSpec &spec, float amax, float &out_scale);
  Status searched_scale(const CastOutput &job, const ScaleSpec &spec, float amax, float &out_scale);

  // casting_tiles.cpp: the walk over the source.
  bool needs_tiles() const;
  bool is_streamed(const CastOutput &job) const;
  Status run_lines(CastOutput &job);
  Status run_tiles();
  void run_part(const CastOutput &job, QuantizeRequest &part, AmaxResult &found) const;
  void run_tile(const CastOutput &job, const Tile &tile, const Scratch &scratch, size_t part_index,
                CastStatistics *sums, AmaxResult &found) const;
  Tiles cut_in_tiles() const;
  Status take_scratch(int64_t count, size_t bytes, std::vector<std::byte *> &out);
  MatrixView prepared(const CastOutput &job, const Tile &tile, std::byte *scratch) const;
  MatrixView tile_source(const CastOutput &job, const Tile &tile, std::byte *scratch) const;

  Status finish();

  Context &context_;
  const MatrixView source_;
  const Cast &cast_;
  const bool is_check_only_;
  bool is_and_back_ = false;
  float own_tensor_scale_ = 1.0f;
  std::vector<CastOutput> jobs_;
  AmaxResult found_[2];
  const KernelEntry<HadamardRequest> *rotations_[2] = {};
  const KernelEntry<CastStatisticsRequest> *sums_kernel_ = nullptr;
};

size_t tile_bytes(const Tiles &tiles);

}  // namespace lpt
