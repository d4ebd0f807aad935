#include "src/ops/cast.hpp"

#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "kernels/hadamard/hadamard.hpp"
#include "src/formats/block_scale.hpp"
#include "src/ops/tensor.hpp"

namespace lpt {
namespace {

MatrixView transpose(const MatrixView &view) {
  MatrixView result = view;
  result.rows = view.columns;
  result.columns = view.rows;
  result.row_stride = view.column_stride;
  result.column_stride = view.row_stride;
  return result;
}

bool has_nan_code(lpt_format element) {
  return element == LPT_FORMAT_F32 || element == LPT_FORMAT_F64 || element_of(element).nan_code != 0;
}

// A tile of the source, in rows and columns of the source.
struct Tile {
  int64_t row, rows, column, columns;
};

// How a source is cut in tiles that stay in the cache between the steps of a cast. It depends on shapes alone, so that
// sums over tiles do not depend on threads.
struct Tiles {
  int64_t rows, columns;            // of the source
  int64_t tile_rows, tile_columns;  // of a tile
  int64_t down, across;             // tiles

  int64_t count() const { return down * across; }
  Tile at(int64_t index) const {
    const int64_t row = index / across * tile_rows;
    const int64_t column = index % across * tile_columns;
    return {row, std::min(tile_rows, rows - row), column, std::min(tile_columns, columns - column)};
  }
};

// One output of a cast.
struct Job {
  bool is_transposed = false;
  bool hides_nan = false;  // nothing in the target's elements or block scales can tell of a NaN
  bool has_amax = false;   // the request shall find the amax on its way
  bool looks = false;      // the tensor scale follows from the source's amax
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

  Status add(const MatrixView &target, bool is_transposed) {
    Job job;
    job.is_transposed = is_transposed;
    QuantizeRequest &request = job.request;
    request.source = is_transposed ? transpose(source_) : source_;
    request.target = target;
    request.rounding = cast_.rounding;
    request.overflow = cast_.overflow;
    LPT_TRY(resolve_rule(target.format, cast_.rounding, cast_.rule, request.rule));
    request.scale_list = cast_.scale_list != nullptr ? cast_.scale_list : kGaudi2Scales;
    request.scale_list_count = cast_.scale_list != nullptr ? cast_.scale_list_count : 4;
    request.random = cast_.random;
    request.random_column_stride = 1;
    if (is_transposed) std::swap(request.random.row_stride, request.random_column_stride);
    request.tensor_inverse = 1.0f;
    LPT_TRY(settle_sources(job));
    jobs_.push_back(job);
    return {};
  }

  // A cast whose codes are not kept: into scratch, and back into `decoded` if it is wanted.
  Status add_and_back(const Format &format, const MatrixView *decoded, bool is_transposed) {
    const int64_t rows = is_transposed ? source_.columns : source_.rows;
    const int64_t columns = is_transposed ? source_.rows : source_.columns;
    LPT_TRY(add(dense_view(format.id, nullptr, rows, columns), is_transposed));
    is_and_back_ = true;
    if (decoded != nullptr) jobs_.back().decoded = *decoded;
    return {};
  }

  // The tensor scale of a cast whose codes are not kept.
  void set_tensor_scale(float scale) { own_tensor_scale_ = scale; }

  Status run() {
    LPT_TRY(look());
    for (Job &job : jobs_) LPT_TRY(choose_rows(job));
    if (is_check_only_) return {};
    for (Job &job : jobs_) LPT_TRY(settle_tensor_scale(job));
    LPT_TRY(needs_tiles() ? run_tiles() : run_lines(jobs_[0]));
    return finish();
  }

 private:
  bool needs_tiles() const {
    return jobs_.size() > 1 || is_and_back_ || cast_.preparation.is_needed() || cast_.sums != nullptr;
  }

  // Where the tensor's amax comes from: the target, the past, or a look at the source.
  Status settle_sources(Job &job) {
    const Format &format = job.request.target.format;
    job.hides_nan = !format.has_block_scale() && !has_nan_code(format.element);
    if (job.hides_nan && cast_.overflow == LPT_OVERFLOW_INFINITE) {
      return unsupported("overflow is LPT_OVERFLOW_INFINITE: %s has no code for an infinity or a NaN",
                         format_name(format.id).c_str());
    }
    const lpt_scale_rule rule = job.request.rule;
    const bool is_given = cast_.keeps_tensor_scale || rule == LPT_SCALE_RULE_FIXED;
    const bool is_delayed = cast_.scaler != nullptr && has_delayed_amax(*cast_.scaler, job.delayed_amax);
    job.looks = format.has_tensor_scale() && !is_given && !is_delayed && rule != LPT_SCALE_RULE_THREE_QUARTERS;
    job.has_amax = cast_.scaler != nullptr && !job.looks;
    return {};
  }

  // The kernels see prepared tiles as dense f32.
  MatrixView kernel_source(const Job &job) const {
    if (!cast_.preparation.is_needed()) return job.request.source;
    const MatrixView &source = job.request.source;
    return dense_view(LPT_FORMAT_F32, source.data, source.rows, source.columns);
  }

  // ---- the amax, where a job must know it first; rotated rows have another one than rotated columns

  Status look() {
    for (size_t i = 0; i < jobs_.size(); ++i) {
      Job &job = jobs_[i];
      if (!job.looks) continue;
      const bool is_known = i > 0 && jobs_[0].looks && cast_.preparation.hadamard_size == 0;
      if (is_known) {
        found_[i] = found_[0];
        continue;
      }
      const AmaxRequest request{kernel_source(job), nullptr, nullptr};
      const Row<AmaxRequest> *row = nullptr;
      LPT_TRY(choose(context_, "amax", amax_kernels(), request, {source_.format.id}, &row));
      if (cast_.preparation.is_needed()) LPT_TRY(choose_rotation(job));
      if (is_check_only_) continue;
      const Measure measure(context_, "amax", row->name, view_bytes(source_));
      LPT_TRY(cast_.preparation.is_needed() ? look_at_tiles(job, *row, found_[i]) : look_at_lines(*row, found_[i]));
    }
    return {};
  }

  Status look_at_lines(const Row<AmaxRequest> &row, Found &found) {
    const Parts parts = split(context_, source_.rows, source_.columns);
    std::vector<Found> partial(static_cast<size_t>(parts.count));
    parallel_for(context_, parts.count, [&](int64_t i) {
      const int64_t begin = i * parts.length;
      Found &part = partial[static_cast<size_t>(i)];
      row.run({cut_rows(source_, begin, std::min(parts.length, source_.rows - begin)), &part.amax, &part.has_nan});
    });
    gather(partial, found);
    return {};
  }

  Status look_at_tiles(Job &job, const Row<AmaxRequest> &row, Found &found) {
    const Tiles tiles = cut_in_tiles();
    const Parts parts = split(context_, tiles.count(), tiles.tile_rows * tiles.tile_columns);
    std::vector<std::byte *> scratch;
    LPT_TRY(take_scratch(parts.count, tile_bytes(tiles), scratch));
    std::vector<Found> partial(static_cast<size_t>(parts.count));
    parallel_for(context_, parts.count, [&](int64_t i) {
      Found &part = partial[static_cast<size_t>(i)];
      for (int64_t t = i * parts.length; t < std::min((i + 1) * parts.length, tiles.count()); ++t) {
        Found here;
        row.run({prepared(job, tiles.at(t), scratch[static_cast<size_t>(i)]), &here.amax, &here.has_nan});
        part.amax = std::max(part.amax, here.amax);
        part.has_nan = part.has_nan || here.has_nan;
      }
    });
    gather(partial, found);
    return {};
  }

  static void gather(const std::vector<Found> &partial, Found &found) {
    for (const Found &part : partial) {
      found.amax = std::max(found.amax, part.amax);
      found.has_nan = found.has_nan || part.has_nan;
    }
  }

  // ---- choices

  HadamardRequest rotation_of(const Job &job) const {
    HadamardRequest rotation{};
    rotation.source = job.request.source;
    rotation.target = kernel_source(job);
    rotation.size = cast_.preparation.hadamard_size;
    return rotation;
  }

  Status choose_rotation(Job &job) {
    return choose(context_, "hadamard", hadamard_kernels(), rotation_of(job), {source_.format.id},
                  &rotations_[job.is_transposed ? 1 : 0]);
  }

  Status choose_rows(Job &job) {
    QuantizeRequest request = job.request;
    request.source = kernel_source(job);
    // A row that does not look for a NaN refuses by these.
    Found wanted;
    if (job.has_amax) request.amax = &wanted.amax;
    if (job.hides_nan && !job.looks) request.has_nan = &wanted.has_nan;
    if (cast_.preparation.is_needed()) LPT_TRY(choose_rotation(job));
    LPT_TRY(choose(context_, "quantize", quantize_kernels(), request, {source_.format.id, request.target.format.id},
                   &job.row));
    if (is_turn(job)) {
      const TurnRequest turn{jobs_[0].request.target, request.target};
      LPT_TRY(choose(context_, "turn", turn_kernels(), turn, {request.target.format.id}, &job.turn_row));
    }
    if (job.decoded.rows > 0) {
      const DequantizeRequest decode{request.target, job.decoded};
      LPT_TRY(choose(context_, "dequantize", dequantize_kernels(), decode,
                     {request.target.format.id, job.decoded.format.id}, &job.decode_row));
    }
    if (cast_.sums != nullptr && &job == &jobs_[0]) {
      const CastSumsRequest sums{request.source, request.target, nullptr};
      LPT_TRY(choose(context_, "cast_sums", cast_sums_kernels(), sums, {source_.format.id, request.target.format.id},
                     &sums_row_));
    }
    return {};
  }

  // Whether the second output holds the codes of the first one, turned: the codes of an element do not depend on the
  // direction where scales do not, and sums of blocks, whose order does, are not asked for.
  bool is_turn(const Job &job) const {
    if (jobs_.size() < 2 || &job == &jobs_[0]) return false;
    const Format &format = job.request.target.format;
    if (format.id != jobs_[0].request.target.format.id || format.has_zero_point()) return false;
    if (cast_.preparation.hadamard_size != 0) return false;
    if (!format.has_block_scale()) return true;
    return format.block_rows == format.block_columns && is_rule_of_amax(job.request.rule);
  }

  Status settle_tensor_scale(Job &job) {
    MatrixView &target = job.request.target;
    if (!target.format.has_tensor_scale()) return {};
    if (is_and_back_) target.tensor_scale = &own_tensor_scale_;
    const bool is_given = cast_.keeps_tensor_scale || job.request.rule == LPT_SCALE_RULE_FIXED;
    if (!is_given) {
      float amax = job.delayed_amax;
      if (job.looks) amax = found_[&job - jobs_.data()].amax;
      if (job.looks && cast_.scaler != nullptr) amax = with_margin(*cast_.scaler, amax);
      LPT_TRY(find_tensor_scale(job, amax, *target.tensor_scale));
    }
    const float scale = *target.tensor_scale;
    if (!(scale >= kSmallestNormal && scale <= kLargestFloat)) {
      return invalid("the tensor scale that %s holds is %g: expected a positive number",
                     format_name(target.format.id).c_str(), static_cast<double>(scale));
    }
    job.request.tensor_inverse = 1.0f / scale;
    return {};
  }

  Status find_tensor_scale(const Job &job, float amax, float &out_scale) {
    const Format &format = job.request.target.format;
    const ScaleSpec spec =
        scale_spec(format, job.request.rule, 1.0f, job.request.scale_list, job.request.scale_list_count);
    if (!format.has_block_scale() && amax > 0.0f) {
      if (spec.rule == LPT_SCALE_RULE_MEAN) return mean_scale(out_scale);
      if (spec.rule == LPT_SCALE_RULE_MSE) return searched_scale(job, spec, amax, out_scale);
    }
    out_scale = tensor_scale_value(spec, amax);
    return {};
  }

  // Sums of rows in the order of lane_sum(), added up in f64.
  Status mean_scale(float &out_scale) {
    if (cast_.preparation.is_needed()) {
      return unsupported(
          "scale_rule is LPT_SCALE_RULE_MEAN with smoothing or a rotation: it takes the source as it is");
    }
    std::vector<float> sums(static_cast<size_t>(source_.rows));
    const Row<MagnitudeSumRequest> *row = nullptr;
    LPT_TRY(choose(context_, "magnitude_sum", magnitude_sum_kernels(), MagnitudeSumRequest{source_, nullptr},
                   {source_.format.id}, &row));
    const Parts parts = split(context_, source_.rows, source_.columns);
    parallel_for(context_, parts.count, [&](int64_t i) {
      const int64_t begin = i * parts.length;
      row->run({cut_rows(source_, begin, std::min(parts.length, source_.rows - begin)), sums.data() + begin});
    });
    double sum = 0.0;
    for (const float value : sums) sum += static_cast<double>(value);
    out_scale = clamp_scale(static_cast<float>(sum / static_cast<double>(source_.rows * source_.columns)));
    return {};
  }

  // The first of the candidates with the smallest squared error: one cast each, whose codes are not kept.
  Status searched_scale(const Job &job, const ScaleSpec &spec, float amax, float &out_scale) {
    double least = std::numeric_limits<double>::infinity();
    out_scale = tensor_scale_value(spec, amax);
    for (int32_t i = 0; i < candidate_count(spec); ++i) {
      const float scale = bits_float(candidate_code(spec, amax, i));
      CastSums sums;
      Cast trial = cast_;
      trial.rounding = LPT_ROUNDING_NEAREST_EVEN;
      trial.rule = LPT_SCALE_RULE_FIXED;
      trial.scaler = nullptr;
      trial.sums = &sums;
      Casting casting(context_, source_, trial, false);
      LPT_TRY(casting.add_and_back(job.request.target.format, nullptr, job.is_transposed));
      casting.set_tensor_scale(scale);
      const Status status = casting.run();
      // A hidden NaN is told by the cast itself, after the search.
      if (!status.is_ok() && status.code() != LPT_INVALID_ARGUMENT) return status;
      if (!(sums.squared_errors < least)) continue;
      least = sums.squared_errors;
      out_scale = scale;
    }
    return {};
  }

  // ---- one output of a source as it lies: whole rows, or parts of a single one

  Status run_lines(Job &job) {
    const QuantizeRequest &whole = job.request;
    const Measure measure(context_, "quantize", job.row->name, view_bytes(source_) + view_bytes(whole.target));
    const Format &format = whole.target.format;
    const bool is_one_row = whole.target.rows == 1 && format.block_columns != LPT_WHOLE;
    const int64_t block = !format.has_block_scale() ? 1 : is_one_row ? format.block_columns : format.block_rows;
    const int64_t extent = is_one_row ? whole.target.columns : whole.target.rows;
    // Columns are cut where bytes and random blocks are whole.
    const int64_t unit = block == LPT_WHOLE ? std::max<int64_t>(extent, 1)
                         : is_one_row       ? std::max<int64_t>(block, 1024) * packing_of(format.element).elements
                                            : block;
    const int64_t across = is_one_row ? 1 : whole.target.columns;
    const Parts parts = split_reported((extent + unit - 1) / unit, unit * across);
    std::vector<Found> partial(static_cast<size_t>(parts.count));
    LPT_TRY(run_reported(parts.count, parts.length * unit * across, [&](int64_t i) {
      const int64_t begin = i * parts.length * unit;
      const int64_t count = std::min(parts.length * unit, extent - begin);
      QuantizeRequest part = whole;
      part.source = is_one_row ? cut_columns(whole.source, begin, count) : cut_rows(whole.source, begin, count);
      part.target = is_one_row ? cut_columns(whole.target, begin, count) : cut_rows(whole.target, begin, count);
      part.random.offset += begin * (is_one_row ? whole.random_column_stride : whole.random.row_stride);
      run_part(job, part, partial[static_cast<size_t>(i)]);
    }));
    note(job, partial);
    return {};
  }

  void run_part(const Job &job, QuantizeRequest &part, Found &found) const {
    part.amax = job.has_amax ? &found.amax : nullptr;
    part.has_nan = job.hides_nan && !job.looks ? &found.has_nan : nullptr;
    job.row->run(part);
  }

  void note(Job &job, const std::vector<Found> &partial) { gather(partial, found_[&job - jobs_.data()]); }

  // ---- tiles

  Tiles cut_in_tiles() const {
    int64_t rows = jobs_.size() > 1 ? 128 : 64;  // of them a transposed output gets pieces
    int64_t columns = 512;
    const auto raise = [](int64_t &extent, int64_t unit, int64_t whole) {
      extent = unit == LPT_WHOLE ? std::max(extent, whole) : std::max(extent, unit);
    };
    for (const Job &job : jobs_) {
      const Format &format = job.request.target.format;
      raise(job.is_transposed ? columns : rows, format.block_rows, job.is_transposed ? source_.columns : source_.rows);
      raise(job.is_transposed ? rows : columns, format.block_columns,
            job.is_transposed ? source_.rows : source_.columns);
      raise(job.is_transposed ? rows : columns, cast_.preparation.hadamard_size, 0);
      const bool has_odd_packs = 512 % packing_of(format.element).elements != 0;  // five ternary codes to a byte
      raise(job.is_transposed ? rows : columns, has_odd_packs ? LPT_WHOLE : 1,
            job.is_transposed ? source_.rows : source_.columns);
    }
    Tiles tiles{source_.rows, source_.columns, rows, columns, 0, 0};
    // Extents are powers of two from 64 up, or beyond the whole: packs, blocks and groups are whole.
    tiles.down = (source_.rows + rows - 1) / rows;
    tiles.across = (source_.columns + columns - 1) / columns;
    return tiles;
  }

  static size_t tile_bytes(const Tiles &tiles) {
    return static_cast<size_t>(std::min(tiles.tile_rows, tiles.rows) * std::min(tiles.tile_columns, tiles.columns)) *
           sizeof(float);
  }

  Status take_scratch(int64_t count, size_t bytes, std::vector<std::byte *> &out) {
    out.resize(static_cast<size_t>(count));
    for (std::byte *&piece : out) LPT_TRY(context_.arena->take(bytes, &piece));
    return {};
  }

  // The part of a job's view that a tile covers.
  static MatrixView cut(const Job &job, const MatrixView &view, const Tile &tile) {
    if (job.is_transposed) return cut_columns(cut_rows(view, tile.column, tile.columns), tile.row, tile.rows);
    return cut_columns(cut_rows(view, tile.row, tile.rows), tile.column, tile.columns);
  }

  MatrixView prepared(const Job &job, const Tile &tile, std::byte *scratch) const {
    const Preparation &preparation = cast_.preparation;
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

  struct Scratch {
    std::vector<std::byte *> prepared;  // a tile for each part
    std::vector<std::byte *> codes;     // of a cast and back
  };

  Status run_tiles() {
    const Tiles tiles = cut_in_tiles();
    const Parts parts = split_reported(tiles.count(), tiles.tile_rows * tiles.tile_columns);
    Scratch scratch;
    if (cast_.preparation.is_needed()) LPT_TRY(take_scratch(parts.count, tile_bytes(tiles), scratch.prepared));
    if (is_and_back_) {
      MatrixView unused;
      const int64_t rows = std::min(tiles.tile_rows, tiles.rows);
      const int64_t columns = std::min(tiles.tile_columns, tiles.columns);
      const bool is_turned = jobs_[0].is_transposed;
      const size_t bytes = lay_out_matrix(jobs_[0].request.target.format, is_turned ? columns : rows,
                                          is_turned ? rows : columns, nullptr, unused);
      LPT_TRY(take_scratch(parts.count, bytes, scratch.codes));
    }
    const auto tile_count = static_cast<size_t>(tiles.count());
    std::vector<CastSums> sums(cast_.sums != nullptr ? tile_count : 0);
    std::vector<std::vector<Found>> partial(jobs_.size(), std::vector<Found>(static_cast<size_t>(parts.count)));
    double bytes = view_bytes(source_);
    for (const Job &job : jobs_) bytes += view_bytes(job.request.target);
    const Measure measure(context_, "quantize", jobs_[0].row->name, bytes);
    LPT_TRY(run_reported(parts.count, parts.length * tiles.tile_rows * tiles.tile_columns, [&](int64_t i) {
      for (int64_t t = i * parts.length; t < std::min((i + 1) * parts.length, tiles.count()); ++t) {
        for (size_t j = 0; j < jobs_.size(); ++j) {
          CastSums *tile_sums = j == 0 && cast_.sums != nullptr ? &sums[static_cast<size_t>(t)] : nullptr;
          run_tile(jobs_[j], tiles.at(t), scratch, static_cast<size_t>(i), tile_sums,
                   partial[j][static_cast<size_t>(i)]);
        }
      }
    }));
    for (size_t j = 0; j < jobs_.size(); ++j) note(jobs_[j], is_turned(jobs_[j]) ? partial[0] : partial[j]);
    for (const CastSums &tile_sums : sums) add_sums(tile_sums, *cast_.sums);
    return {};
  }

  // Tensor scales that are kept may differ.
  bool is_turned(const Job &job) const {
    return job.turn_row != nullptr && job.request.tensor_inverse == jobs_[0].request.tensor_inverse;
  }

  void run_tile(const Job &job, const Tile &tile, const Scratch &scratch, size_t part_index, CastSums *sums,
                Found &found) const {
    if (is_turned(job)) {
      job.turn_row->run({cut(jobs_[0], jobs_[0].request.target, tile), cut(job, job.request.target, tile)});
      return;
    }
    QuantizeRequest part = job.request;
    part.source = cast_.preparation.is_needed() ? prepared(job, tile, scratch.prepared[part_index])
                                                : cut(job, job.request.source, tile);
    if (is_and_back_) {
      lay_out_matrix(job.request.target.format, job.is_transposed ? tile.columns : tile.rows,
                     job.is_transposed ? tile.rows : tile.columns, scratch.codes[part_index], part.target);
      set_unit_scales(part.target);
      part.target.tensor_scale = job.request.target.tensor_scale;
    } else {
      part.target = cut(job, job.request.target, tile);
    }
    const int64_t row = job.is_transposed ? tile.column : tile.row;
    const int64_t column = job.is_transposed ? tile.row : tile.column;
    part.random.offset += row * part.random.row_stride + column * part.random_column_stride;
    run_part(job, part, found);
    if (sums != nullptr) sums_row_->run({part.source, part.target, sums});
    if (job.decode_row != nullptr) job.decode_row->run({part.target, cut(job, job.decoded, tile)});
  }

  // ---- reports

  Parts split_reported(int64_t units, int64_t work_per_unit) const {
    if (context_.progress == nullptr) return split(context_, units, work_per_unit);
    constexpr int64_t kReportedWork = int64_t{1} << 20;
    constexpr int64_t kMostReports = 100;
    const int64_t width = width_of(context_);
    int64_t parts = std::min(units * std::max<int64_t>(work_per_unit, 1) / kReportedWork, kMostReports * width);
    parts = std::max<int64_t>(std::min(parts, units), units > 0 ? 1 : 0);
    if (parts == 0) return {0, 0};
    const int64_t length = (units + parts - 1) / parts;
    return {(units + length - 1) / length, length};
  }

  template <typename Body>
  Status run_reported(int64_t count, int64_t elements_per_task, const Body &body) {
    if (context_.progress == nullptr) {
      parallel_for(context_, count, body);
      return {};
    }
    const int64_t whole = source_.rows * source_.columns;
    const int64_t step = std::max<int64_t>(width_of(context_), (count + 99) / 100);
    for (int64_t begin = 0; begin < count; begin += step) {
      const int64_t tasks = std::min(step, count - begin);
      parallel_for(context_, tasks, [&](int64_t i) { body(begin + i); });
      const int64_t done = std::min(whole, (begin + tasks) * elements_per_task);
      if (context_.progress(context_.progress_user, done, whole) != 0) {
        return Status(LPT_CANCELLED, text("cancelled after %lld of %lld elements", static_cast<long long>(done),
                                          static_cast<long long>(whole)));
      }
    }
    return {};
  }

  // ---- the end

  Status finish() {
    for (size_t i = 0; i < jobs_.size(); ++i) {
      const Job &job = jobs_[i];
      const bool has_hidden_nan = job.hides_nan && found_[i].has_nan;
      if (has_hidden_nan && job.request.target.format.has_tensor_scale() && !is_and_back_) {
        *job.request.target.tensor_scale = std::numeric_limits<float>::quiet_NaN();
      }
    }
    if (cast_.scaler != nullptr) record_amax(*cast_.scaler, found_[0].amax);
    for (size_t i = 0; i < jobs_.size(); ++i) {
      const Format &format = jobs_[i].request.target.format;
      if (!jobs_[i].hides_nan || !found_[i].has_nan || (format.has_tensor_scale() && !is_and_back_)) continue;
      return invalid("source has a NaN: %s has no code for it, and no scale to carry it",
                     format_name(format.id).c_str());
    }
    return {};
  }

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

// Divides the columns by powers of two, into f32 scratch: exact, save at the ends of f32's range.
Status inverse_factors(Context &context, const uint8_t *factors, int64_t columns, const float **out_inverse) {
  std::byte *memory = nullptr;
  LPT_TRY(context.arena->take(static_cast<size_t>(columns) * sizeof(float), &memory));
  float *inverse = reinterpret_cast<float *>(memory);
  for (int64_t c = 0; c < columns && factors != nullptr; ++c) inverse[c] = 1.0f / decode(kElementE8m0fnu, factors[c]);
  *out_inverse = inverse;
  return {};
}

// A cast with smoothing: the smoothed source, cast as if there were no column scales; the factors become these scales.
Status cast_smoothed(Context &context, const MatrixView &source, const MatrixView &target, const Cast &cast,
                     bool is_check_only) {
  MatrixView inner = target;
  inner.block_scales = nullptr;
  inner.format.block_scale = LPT_FORMAT_NONE;
  inner.format.block_rows = inner.format.block_columns = 0;
  inner.format.id = LPT_FORMAT_NONE;
  LPT_TRY(make_format(inner.format, inner.format.id));
  Cast plain = cast;
  plain.smoothing = nullptr;
  LPT_TRY(
      inverse_factors(context, is_check_only ? nullptr : cast.smoothing, source.columns, &plain.preparation.factors));
  LPT_TRY(cast_matrix(context, source, inner, plain, is_check_only));
  auto *scales = static_cast<uint8_t *>(target.block_scales);
  for (int64_t c = 0; c < target.columns && !is_check_only; ++c) scales[c] = cast.smoothing[c];
  return {};
}

}  // namespace

void add_sums(const CastSums &from, CastSums &to) {
  to.elements += from.elements;
  to.nans += from.nans;
  to.clipped += from.clipped;
  to.underflows += from.underflows;
  to.amax = std::max(to.amax, from.amax);
  to.squares += from.squares;
  to.squared_errors += from.squared_errors;
}

Status cast_matrix(Context &context, const MatrixView &source, const MatrixView &target, const Cast &cast,
                   bool is_check_only) {
  if (cast.smoothing != nullptr) return cast_smoothed(context, source, target, cast, is_check_only);
  Casting casting(context, source, cast, is_check_only);
  LPT_TRY(casting.add(target, cast.is_transposed));
  return casting.run();
}

Status cast_both(Context &context, const MatrixView &source, const MatrixView &target, const MatrixView &transposed,
                 const Cast &cast, bool is_check_only) {
  Casting casting(context, source, cast, is_check_only);
  LPT_TRY(casting.add(target, false));
  LPT_TRY(casting.add(transposed, true));
  return casting.run();
}

Status cast_and_back(Context &context, const MatrixView &source, const Format &format, const MatrixView &target,
                     const Cast &cast, bool is_check_only) {
  Casting casting(context, source, cast, is_check_only);
  LPT_TRY(casting.add_and_back(format, &target, false));
  return casting.run();
}

}  // namespace lpt
