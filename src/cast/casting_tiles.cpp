// Casts row by row or tile by tile.
#include <algorithm>
#include <bit>

#include "src/cast/casting.hpp"
#include "src/tensor/tensor.hpp"

namespace lpt {
namespace {

// Returns the part of a view of the job that a tile covers.
MatrixView cut(const CastOutput &job, const MatrixView &view, const Tile &tile) {
  if (job.is_transposed) return cut_columns(cut_rows(view, tile.column, tile.columns), tile.row, tile.rows);
  return cut_columns(cut_rows(view, tile.row, tile.rows), tile.column, tile.columns);
}

}  // namespace

Tile Tiles::at(int64_t index) const {
  const int64_t row = index / across * tile_rows;
  const int64_t column = index % across * tile_columns;
  return {row, std::min(tile_rows, rows - row), column, std::min(tile_columns, columns - column)};
}

bool CastPipeline::needs_tiles() const {
  return jobs_.size() > 1 || jobs_[0].is_transposed || is_and_back_ || cast_.preparation.is_needed() ||
         cast_.sums != nullptr;
}

Status CastPipeline::run_lines(CastOutput &job) {
  const QuantizeRequest &whole = job.request;
  const ProfileScope measure(context_, "quantize", job.kernel->name, view_bytes(source_) + view_bytes(whole.target));
  const Format &format = whole.target.format;
  const bool is_one_row = whole.target.rows == 1 && format.block_columns != LPT_BLOCK_EXTENT_FULL;
  const int64_t block = !format.has_block_scale() ? 1 : is_one_row ? format.block_columns : format.block_rows;
  const int64_t extent = is_one_row ? whole.target.columns : whole.target.rows;
  // Columns are cut at multiples of a byte, a block, and a block of random bits.
  const int64_t unit = block == LPT_BLOCK_EXTENT_FULL ? std::max<int64_t>(extent, 1)
                       : is_one_row ? std::max<int64_t>(block, 1024) * packing_of(format.element).elements
                                    : block;
  const int64_t across = is_one_row ? 1 : whole.target.columns;
  const Parts parts = split_reported(context_, (extent + unit - 1) / unit, unit * across);
  std::vector<AmaxResult> partial(static_cast<size_t>(parts.count));
  LPT_TRY(run_reported(context_, parts.count, source_.rows * source_.columns, [&](int64_t i) {
    const int64_t begin = i * parts.length * unit;
    const int64_t count = std::min(parts.length * unit, extent - begin);
    QuantizeRequest part = whole;
    part.source = is_one_row ? cut_columns(whole.source, begin, count) : cut_rows(whole.source, begin, count);
    part.target = is_one_row ? cut_columns(whole.target, begin, count) : cut_rows(whole.target, begin, count);
    part.random.offset += begin * (is_one_row ? whole.random_column_stride : whole.random.row_stride);
    run_part(job, part, partial[static_cast<size_t>(i)]);
  }));
  gather(partial, found_[&job - jobs_.data()]);
  return {};
}

void CastPipeline::run_part(const CastOutput &job, QuantizeRequest &part, AmaxResult &found) const {
  part.amax = job.has_amax ? &found.amax : nullptr;
  part.has_nan = job.hides_nan && !job.looks ? &found.has_nan : nullptr;
  part.is_streamed = is_streamed(job);
  job.kernel->run(part);
}

// Chooses the tiles. A tile contains full rows of moderate length, because one sequential stream reads memory fastest. A row
// of a transposed output is written in segments of the height of a tile.
Tiles cut_in_tiles(const MatrixView &source, const std::vector<TileTarget> &targets,
                   const CastPreprocess &preparation) {
  constexpr int64_t kHighTile = 128;
  constexpr int64_t kWideTile = 4096;
  constexpr int64_t kPreparedTile = 1024;  // each thread has f32 scratch for a preprocessed tile
  constexpr int64_t kTileElements = int64_t{1} << 16;
  bool has_transposed = false;
  int64_t rows = 1, columns = 64;
  const auto raise = [](int64_t &extent, int64_t unit, int64_t whole) {
    extent = unit == LPT_BLOCK_EXTENT_FULL ? std::max(extent, whole) : std::max(extent, unit);
  };
  for (const TileTarget &target : targets) {
    has_transposed = has_transposed || target.is_transposed;
    const Format &format = target.format;
    raise(target.is_transposed ? columns : rows, format.block_rows,
          target.is_transposed ? source.columns : source.rows);
    raise(target.is_transposed ? rows : columns, format.block_columns,
          target.is_transposed ? source.rows : source.columns);
    raise(target.is_transposed ? rows : columns, preparation.hadamard_size, 0);
    const bool has_odd_packs = 512 % packing_of(format.element).elements != 0;  // ternary: five codes in one byte
    raise(target.is_transposed ? rows : columns, has_odd_packs ? LPT_BLOCK_EXTENT_FULL : 1,
          target.is_transposed ? source.rows : source.columns);
  }
  // Tile extents are powers of two or full extents, so that each tile contains complete packs, blocks and Hadamard groups.
  if (has_transposed) rows = std::max(rows, kHighTile);
  const auto wide = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(std::max<int64_t>(source.columns, 1))));
  // A full row or column can have any length. The other extent is rounded down to a power of two.
  const auto space = [](int64_t elements) {
    return static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(std::max<int64_t>(elements, 1))));
  };
  const int64_t most = std::max<int64_t>(space(kHighTile * kWideTile / rows), 512);
  const int64_t widest = preparation.is_needed() ? kPreparedTile : kWideTile;
  columns = std::max(columns, std::min({wide, widest, most}));
  if (rows < source.rows) rows = std::max(rows, space(kTileElements / columns));
  Tiles tiles{source.rows, source.columns, rows, columns, 0, 0};
  tiles.down = (source.rows + rows - 1) / rows;
  tiles.across = (source.columns + columns - 1) / columns;
  return tiles;
}

Tiles CastPipeline::cut_in_tiles() const {
  std::vector<TileTarget> targets;
  for (const CastOutput &job : jobs_) targets.push_back({job.request.target.format, job.is_transposed});
  return lpt::cut_in_tiles(source_, targets, cast_.preparation);
}

// Returns whether an output is written with non-temporal stores, because its size would evict other data from the caches. The
// row segments of a transposed output evict each other from a smaller size on.
bool CastPipeline::is_streamed(const CastOutput &job) const {
  constexpr double kStreamedBytes = 16 << 20;
  constexpr double kScatteredBytes = 4 << 20;
  if (job.is_in_scratch) return false;
  const bool is_read_again = jobs_.size() > 1 && &job == &jobs_[0] && has_transposed_codes(jobs_[1]);
  return !is_read_again && view_bytes(job.request.target) >= (job.is_transposed ? kScatteredBytes : kStreamedBytes);
}

size_t tile_bytes(const Tiles &tiles) {
  return static_cast<size_t>(std::min(tiles.tile_rows, tiles.rows) * std::min(tiles.tile_columns, tiles.columns)) *
         sizeof(float);
}

Status CastPipeline::take_scratch(int64_t count, size_t bytes, std::vector<std::byte *> &out) {
  out.resize(static_cast<size_t>(count));
  for (std::byte *&piece : out) LPT_TRY(context_.host_scratch->take(bytes, &piece));
  return {};
}

MatrixView CastPipeline::prepared(const CastOutput &job, const Tile &tile, std::byte *scratch) const {
  const CastPreprocess &preparation = cast_.preparation;
  HadamardRequest rotation = rotation_of(job);
  rotation.source = cut(job, job.request.source, tile);
  rotation.target.data = scratch;
  rotation.target.rows = rotation.source.rows;
  rotation.target.columns = rotation.target.row_stride = rotation.source.columns;
  const float *factors = preparation.factors == nullptr ? nullptr : preparation.factors + tile.column;
  (job.is_transposed ? rotation.row_factors : rotation.factors) = factors;
  const int64_t first = job.is_transposed ? tile.row : tile.column;
  if (preparation.signs != nullptr) rotation.signs = preparation.signs + first;
  rotations_[job.is_transposed ? 1 : 0]->run(rotation);
  return rotation.target;
}

bool CastPipeline::is_copied_for_sums() const {
  return cast_.sums != nullptr && !cast_.preparation.is_needed() && jobs_[0].request.source.column_stride != 1;
}

MatrixView CastPipeline::tile_source(const CastOutput &job, const Tile &tile, std::byte *scratch) const {
  return cast_.preparation.is_needed() ? prepared(job, tile, scratch) : cut(job, job.request.source, tile);
}

Status CastPipeline::run_tiles() {
  const Tiles tiles = cut_in_tiles();
  const Parts parts = split_reported(context_, tiles.count(), tiles.tile_rows * tiles.tile_columns);
  Scratch scratch;
  const bool has_copies = cast_.preparation.is_needed() || is_copied_for_sums();
  if (has_copies) LPT_TRY(take_scratch(parts.count, tile_bytes(tiles), scratch.prepared));
  if (jobs_[0].is_in_scratch) {
    MatrixView unused;
    const int64_t rows = std::min(tiles.tile_rows, tiles.rows);
    const int64_t columns = std::min(tiles.tile_columns, tiles.columns);
    const bool is_first_transposed = jobs_[0].is_transposed;
    const size_t bytes = lay_out_matrix(jobs_[0].request.target.format, is_first_transposed ? columns : rows,
                                        is_first_transposed ? rows : columns, nullptr, unused);
    LPT_TRY(take_scratch(parts.count, bytes, scratch.codes));
  }
  const auto tile_count = static_cast<size_t>(tiles.count());
  std::vector<CastStatistics> sums(cast_.sums != nullptr ? tile_count : 0);
  std::vector<std::vector<AmaxResult>> partial(jobs_.size(), std::vector<AmaxResult>(static_cast<size_t>(parts.count)));
  double bytes = view_bytes(source_);
  for (const CastOutput &job : jobs_) bytes += job.is_in_scratch ? 0.0 : view_bytes(job.request.target);
  const ProfileScope measure(context_, "quantize", jobs_[0].kernel->name, bytes);
  LPT_TRY(run_reported(context_, parts.count, source_.rows * source_.columns, [&](int64_t i) {
    for (int64_t t = i * parts.length; t < std::min((i + 1) * parts.length, tiles.count()); ++t) {
      for (size_t j = 0; j < jobs_.size(); ++j) {
        CastStatistics *tile_sums = j == 0 && cast_.sums != nullptr ? &sums[static_cast<size_t>(t)] : nullptr;
        run_tile(jobs_[j], tiles.at(t), scratch, static_cast<size_t>(i), tile_sums, partial[j][static_cast<size_t>(i)]);
      }
    }
  }));
  for (size_t j = 0; j < jobs_.size(); ++j) gather(partial[has_transposed_codes(jobs_[j]) ? 0 : j], found_[j]);
  for (const CastStatistics &tile_sums : sums) add_sums(tile_sums, *cast_.sums);
  return {};
}

void CastPipeline::run_tile(const CastOutput &job, const Tile &tile, const Scratch &scratch, size_t part_index,
                            CastStatistics *sums, AmaxResult &found) const {
  const auto target_of = [&](const CastOutput &one) {
    if (!one.is_in_scratch) return cut(one, one.request.target, tile);
    MatrixView target;
    lay_out_matrix(one.request.target.format, one.is_transposed ? tile.columns : tile.rows,
                   one.is_transposed ? tile.rows : tile.columns, scratch.codes[part_index], target);
    target.tensor_scale = one.request.target.tensor_scale;
    return target;
  };
  if (has_transposed_codes(job))
    return job.transpose_kernel->run({target_of(jobs_[0]), target_of(job), is_streamed(job)});
  QuantizeRequest part = job.request;
  part.source = tile_source(job, tile, cast_.preparation.is_needed() ? scratch.prepared[part_index] : nullptr);
  part.target = target_of(job);
  if (job.is_in_scratch) set_unit_block_scales(part.target);
  const int64_t row = job.is_transposed ? tile.column : tile.row;
  const int64_t column = job.is_transposed ? tile.row : tile.column;
  part.random.offset += row * part.random.row_stride + column * part.random_column_stride;
  run_part(job, part, found);
  if (sums != nullptr) {
    MatrixView source = part.source;
    if (is_copied_for_sums()) {
      source = dense_view(LPT_FORMAT_F32, scratch.prepared[part_index], source.rows, source.columns);
      rotations_[1]->run({part.source, source});
    }
    sums_kernel_->run({source, part.target, sums});
  }
  if (job.decode_kernel != nullptr) job.decode_kernel->run({part.target, cut(job, job.decoded, tile)});
}

}  // namespace lpt
