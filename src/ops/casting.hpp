// One casting: a source, and its one or two outputs, which are cast in the same walk over it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/hadamard/hadamard.hpp"
#include "kernels/quantize/quantize.hpp"
#include "src/formats/block_scale.hpp"
#include "src/ops/cast.hpp"

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

Tiles cut_in_tiles(const MatrixView &source, const std::vector<TileTarget> &targets, const Preparation &preparation);

// One output of a cast.
struct Job {
  bool is_transposed = false;
  bool is_in_scratch = false;  // its codes are not kept
  bool hides_nan = false;      // nothing in the target's elements or block scales can tell of a NaN
  bool has_amax = false;       // the request shall find the amax on its way
  bool looks = false;          // the tensor scale follows from the source's amax
  float delayed_amax = 0.0f;
  QuantizeRequest request{};
  const Row<QuantizeRequest> *row = nullptr;
  const Row<DequantizeRequest> *decode_row = nullptr;  // of a cast and back
  const Row<TurnRequest> *turn_row = nullptr;          // of a second output with the codes of the first
  MatrixView decoded;
};

// What one task found.
struct Found {
  float amax = 0.0f;
  bool has_nan = false;
};

class Casting {
 public:
  Casting(Context &context, const MatrixView &source, const Cast &cast, bool is_check_only)
      : context_(context), source_(source), cast_(cast), is_check_only_(is_check_only) {}

  Status add(const MatrixView &target, bool is_transposed);

  // A cast whose codes are not kept: into scratch, and back into `decoded` if it is wanted.
  Status add_and_back(const Format &format, const MatrixView *decoded, bool is_transposed);

  Status run();

 private:
  // Scratch of each part of a loop over tiles.
  struct Scratch {
    std::vector<std::byte *> prepared;  // a tile
    std::vector<std::byte *> codes;     // of a cast and back
  };

  // Where the tensor's amax comes from: the target, the past, or a look at the source.
  Status settle_sources(Job &job);

  // Codes that do not depend on the direction are cast as the source lies, into scratch, and turned, where that is fast.
  Status add_source_of_turn();

  // The kernels see prepared tiles as dense f32.
  MatrixView kernel_source(const Job &job) const;
  HadamardRequest rotation_of(const Job &job) const;
  Status choose_rotation(Job &job);
  Status choose_rows(Job &job);

  // Whether the codes of an output do not depend on its direction: where scales do not, and sums of blocks, whose order
  // does, are not asked for.
  bool can_turn(const Job &job) const;

  // Whether the second output holds the codes of the first one, turned.
  bool is_turn(const Job &job) const;

  // The same once tensor scales are settled: those that are kept may differ.
  bool is_turned(const Job &job) const {
    return job.turn_row != nullptr && job.request.tensor_inverse == jobs_[0].request.tensor_inverse;
  }

  // casting_scale.cpp: the amax, where a job must know it first - rotated rows have another one than rotated columns -
  // and the tensor scale that follows.
  Status look();
  Status look_at_lines(const Row<AmaxRequest> &row, Found &found);
  Status look_at_tiles(Job &job, const Row<AmaxRequest> &row, Found &found);
  static void gather(const std::vector<Found> &partial, Found &found);
  Status settle_tensor_scale(Job &job);
  Status find_tensor_scale(const Job &job, float amax, float &out_scale);
  Status sum_magnitudes(double &out_sum, double &out_squares);
  Status mean_scale(float &out_scale);
  Status sawb_scale(const ScaleSpec &spec, float amax, float &out_scale);
  Status searched_scale(const Job &job, const ScaleSpec &spec, float amax, float &out_scale);

  // casting_tiles.cpp: the walk over the source.
  bool needs_tiles() const;
  bool is_streamed(const Job &job) const;
  Status run_lines(Job &job);
  Status run_tiles();
  void run_part(const Job &job, QuantizeRequest &part, Found &found) const;
  void run_tile(const Job &job, const Tile &tile, const Scratch &scratch, size_t part_index, CastSums *sums,
                Found &found) const;
  Tiles cut_in_tiles() const;
  Status take_scratch(int64_t count, size_t bytes, std::vector<std::byte *> &out);
  MatrixView prepared(const Job &job, const Tile &tile, std::byte *scratch) const;
  MatrixView tile_source(const Job &job, const Tile &tile, std::byte *scratch) const;

  Status finish();

  Context &context_;
  const MatrixView source_;
  const Cast &cast_;
  const bool is_check_only_;
  bool is_and_back_ = false;
  float own_tensor_scale_ = 1.0f;
  std::vector<Job> jobs_;
  Found found_[2];
  const Row<HadamardRequest> *rotations_[2] = {};
  const Row<CastSumsRequest> *sums_row_ = nullptr;
};

size_t tile_bytes(const Tiles &tiles);

}  // namespace lpt
