// The pipeline of a cast on the CPU: one source and one or two outputs that are written in the same pass over the source.
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

// Partition of a source into tiles that fit in a cache across the steps of a cast. It depends on shapes only, so that sums
// over tiles do not depend on the number of threads.
struct Tiles {
  int64_t rows, columns;            // of the source
  int64_t tile_rows, tile_columns;  // of a tile
  int64_t down, across;             // number of tiles

  int64_t count() const { return down * across; }
  Tile at(int64_t index) const;
};

// The properties of an output that determine the tiles.
struct TileTarget {
  Format format;
  bool is_transposed;
};

Tiles cut_in_tiles(const MatrixView &source, const std::vector<TileTarget> &targets, const CastPreprocess &preparation);

// One output of a cast.
struct CastOutput {
  bool is_transposed = false;
  bool is_in_scratch = false;  // codes are discarded
  bool hides_nan = false;      // neither elements nor block scales of the target can represent a NaN
  bool has_amax = false;       // the quantize kernel also computes the amax
  bool looks = false;          // the tensor scale is computed from the amax of the source
  float delayed_amax = 0.0f;
  QuantizeRequest request{};
  const KernelEntry<QuantizeRequest> *kernel = nullptr;
  const KernelEntry<DequantizeRequest> *decode_kernel = nullptr;    // for a cast and back
  const KernelEntry<TransposeRequest> *transpose_kernel = nullptr;  // for a second output with the codes of the first
  MatrixView decoded;
};

class CastPipeline {
 public:
  CastPipeline(Context &context, const MatrixView &source, const Cast &cast, bool is_check_only)
      : context_(context), source_(source), cast_(cast), is_check_only_(is_check_only) {}

  Status add(const MatrixView &target, bool is_transposed);

  // Adds a cast whose codes are discarded: casts to scratch, and back to `decoded` unless it is NULL.
  Status add_and_back(const Format &format, const MatrixView *decoded, bool is_transposed);

  Status run();

 private:
  // Scratch of each task of a loop over tiles.
  struct Scratch {
    std::vector<std::byte *> prepared;  // a tile
    std::vector<std::byte *> codes;     // codes that are discarded
  };

  // Selects the source of the tensor amax: given by the caller, from the history of a scaler, or computed from the source.
  Status resolve_sources(CastOutput &job);

  // Prepends an output without transposition in scratch if the codes do not depend on the orientation and a fast transpose
  // kernel exists.
  Status add_source_of_transpose();

  // Returns the source that kernels read. Preprocessed tiles are dense f32.
  MatrixView kernel_source(const CastOutput &job) const;
  HadamardRequest rotation_of(const CastOutput &job) const;
  Status choose_rotation(CastOutput &job);
  Status select_kernels(CastOutput &job);

  // Returns whether the codes of an output are the same in both orientations. Block scales must be equal in both. Rules that
  // sum over blocks are excluded because the order of their sums depends on the orientation.
  bool can_transpose(const CastOutput &job) const;

  // Returns whether the second output has the codes of the first one, transposed.
  bool is_transpose(const CastOutput &job) const;

  // Checks is_transpose() after the tensor scales are resolved: tensor scales that the caller supplies can differ.
  bool has_transposed_codes(const CastOutput &job) const {
    return job.transpose_kernel != nullptr && job.request.tensor_inverse == jobs_[0].request.tensor_inverse;
  }

  // casting_scale.cpp: the amax of jobs that require it before the cast, and the resulting tensor scale. With a rotation the
  // two outputs have different amaxes, because one rotates rows and the other columns.
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

  // casting_tiles.cpp: the loop over the source.
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

  // Returns true if tiles are copied before statistics are computed: SIMD kernels of statistics read rows.
  bool is_copied_for_sums() const;

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
