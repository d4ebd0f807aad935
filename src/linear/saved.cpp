// Data of a linear layer that is saved from forward to backward, and its state that is saved between runs.
#include <cstring>

#include "kernels/linear/cuda_kernels.hpp"
#include "src/call/launch.hpp"
#include "src/cast/scaler.hpp"
#include "src/linear/parts.hpp"
#include "src/tensor/checks.hpp"

namespace lpt {
namespace {

constexpr uint32_t kSavedMagic = 0x5753504C;
constexpr size_t kHeaderBytes = kAlignment;
static_assert(sizeof(SavedHeader) <= kHeaderBytes && sizeof(WordsRequest::word) == kHeaderBytes);

// Returns the format of the saved input. Without a cast it is f32, or f64 for an f64 weight without a rotation.
Format saved_format(const Linear &linear, lpt_linear_cast which) {
  const lpt_format id = linear.recipe.casts[which].format;
  if (id != LPT_FORMAT_NONE) return format_of(id);
  const bool is_rotated = linear.recipe.gemms[which / 2].is_rotated();
  return format_of(linear.weight.is_f64 && !is_rotated ? LPT_FORMAT_F64 : LPT_FORMAT_F32);
}

}  // namespace

lpt_linear_cast saved_cast(const Recipe &recipe) {
  const bool is_plain = recipe.gemms[LPT_LINEAR_GEMM_WGRAD].source == LPT_LINEAR_SOURCE_PLAIN;
  return is_plain ? LPT_LINEAR_CAST_WGRAD_INPUT : LPT_LINEAR_CAST_FORWARD_INPUT;
}

Saved lay_out_saved(const Linear &linear, int64_t rows, bool is_smoothed, std::byte *memory) {
  const lpt_linear_cast which = saved_cast(linear.recipe);
  const Format format = saved_format(linear, which);
  Saved saved;
  saved.input.is_transposed = is_stored_transposed(linear.recipe, which);
  const int64_t stored_rows = saved.input.is_transposed ? linear.input_columns : rows;
  const int64_t stored_columns = saved.input.is_transposed ? rows : linear.input_columns;
  // Memory for column factors is always reserved, so that the size depends only on the layer and the rows.
  const bool may_be_smoothed = is_tensor_scaled(format);
  saved.bytes = kHeaderBytes;
  std::byte *const input = memory == nullptr ? nullptr : memory + saved.bytes;
  saved.bytes += lay_out_matrix(may_be_smoothed ? with_column_factors(format) : format, stored_rows, stored_columns,
                                input, saved.input.view);
  if (!is_smoothed && may_be_smoothed) {
    saved.input.view.format = format;
    saved.input.view.block_scales = nullptr;
  }
  if (is_clipped(linear.recipe, LPT_LINEAR_GEMM_DGRAD)) {
    if (memory != nullptr) saved.mask = memory + saved.bytes;
    const auto bytes = static_cast<size_t>(rows * mask_row_bytes(linear.input_columns));
    saved.bytes += aligned(bytes);
  }
  return saved;
}

size_t linear_saved_bytes(const Linear &linear, int64_t rows) {
  return lay_out_saved(linear, rows, false, nullptr).bytes;
}

Status check_saved(const Tensor *saved, const Linear &linear, int64_t rows, bool needs_data, std::byte **out_memory) {
  const size_t bytes = linear_saved_bytes(linear, rows);
  void *memory = nullptr;
  LPT_TRY(
      check_vector(saved, "saved", LPT_FORMAT_UINT8, static_cast<int64_t>(bytes), needs_data, &memory, linear.device));
  if (reinterpret_cast<uintptr_t>(memory) % 8 != 0) {
    return invalid("saved begins at %p: expected an address that 8 divides", memory);
  }
  *out_memory = static_cast<std::byte *>(memory);
  return {};
}

Status check_saved_rows(const Tensor *saved, const Linear &linear, int64_t rows) {
  MatrixView view;
  SavedHeader header{};
  const bool is_readable = check_matrix(saved, "saved", true, view, linear.device).is_ok() && view.rows == 1 &&
                           view.format.id == LPT_FORMAT_UINT8 && view.columns >= static_cast<int64_t>(sizeof header);
  if (!is_readable) return {};
  std::memcpy(&header, view.data, sizeof header);
  const bool is_ours = header.magic == kSavedMagic && header.input_columns == linear.input_columns &&
                       header.format == linear.recipe.casts[saved_cast(linear.recipe)].format;
  if (!is_ours || header.rows == rows) return {};
  return invalid("output_gradient has %lld rows: expected %lld, the rows of the input that forward saved",
                 static_cast<long long>(rows), static_cast<long long>(header.rows));
}

void clear_saved_header(std::byte *memory) { std::memset(memory, 0, sizeof(SavedHeader)); }

Status write_saved_header(const Call &call, const Linear &linear, int64_t rows, bool is_smoothed, std::byte *memory) {
  const lpt_format format = linear.recipe.casts[saved_cast(linear.recipe)].format;
  const lpt_random &random = call.options.random;
  const SavedHeader header{kSavedMagic, is_smoothed ? 1u : 0u,
                           rows,        linear.input_columns,
                           format,      {random.seed, random.stream, random.step}};
  if (is_on_device(call)) {
    WordsRequest words{{}, reinterpret_cast<uint64_t *>(memory)};
    std::memcpy(words.word, &header, sizeof header);
    return run_on_device(call.context, "words", words, {LPT_FORMAT_UINT8}, call.is_check_only);
  }
  if (!call.is_check_only) std::memcpy(memory, &header, sizeof header);
  return {};
}

const SignSeed *saved_seed(const std::byte *memory) {
  return memory == nullptr ? nullptr : &reinterpret_cast<const SavedHeader *>(memory)->seed;
}

Status read_saved_header(const std::byte *memory, const Linear &linear, int64_t rows, SavedHeader &out_header) {
  std::memcpy(&out_header, memory, sizeof out_header);
  const bool is_ours = out_header.magic == kSavedMagic && out_header.rows == rows &&
                       out_header.input_columns == linear.input_columns &&
                       out_header.format == linear.recipe.casts[saved_cast(linear.recipe)].format;
  if (is_ours) return {};
  return invalid("saved was not written by lpt_linear_forward() of this layer with %lld rows",
                 static_cast<long long>(rows));
}

namespace {

// Writes the state with scalers in host memory.
void write_linear(const Linear &linear, const Scaler (&scalers)[kOperandCount], BlobWriter &writer) {
  writer.i64(linear.input_columns);
  writer.i64(linear.output_columns);
  for (const Scaler &scaler : scalers) write_scaler(scaler, writer);
  if (linear.recipe.sparsity[LPT_LINEAR_OPERAND_WEIGHT].is_used()) write_sparse_mask(linear, writer);
}

}  // namespace

size_t linear_state_bytes(const Linear &linear) {
  BlobWriter writer(BlobKind::kLinear);
  write_linear(linear, linear.scalers, writer);
  return writer.size_bytes();
}

Status save_linear(const Context &context, const Linear &linear, void *buffer, size_t buffer_bytes) {
  LPT_TRY(check_place(context, linear));
  Scaler here[kOperandCount];
  for (int i = 0; i < kOperandCount; ++i) LPT_TRY(fetch_scaler(context, linear.scalers[i], here[i]));
  BlobWriter writer(BlobKind::kLinear);
  write_linear(linear, here, writer);
  return writer.save(buffer, buffer_bytes);
}

Status load_linear(const Context &context, Linear &linear, const void *buffer, size_t buffer_bytes) {
  LPT_TRY(check_place(context, linear));
  BlobReader reader;
  LPT_TRY(BlobReader::open(BlobKind::kLinear, buffer, buffer_bytes, reader));
  const int64_t input_columns = reader.i64();
  const int64_t output_columns = reader.i64();
  if (input_columns != linear.input_columns) {
    return blob_mismatch("input_columns", input_columns, linear.input_columns);
  }
  if (output_columns != linear.output_columns) {
    return blob_mismatch("output_columns", output_columns, linear.output_columns);
  }
  Scaler loaded[kOperandCount];
  for (int i = 0; i < kOperandCount; ++i) LPT_TRY(read_scaler(reader, linear.scalers[i], loaded[i]));
  SparseMask mask;
  if (linear.recipe.sparsity[LPT_LINEAR_OPERAND_WEIGHT].is_used()) LPT_TRY(read_sparse_mask(reader, linear, mask));
  if (reader.left_bytes() != 0) return blob_mismatch("bytes left over", static_cast<long long>(reader.left_bytes()), 0);
  for (int i = 0; i < kOperandCount; ++i) {
    loaded[i].there = linear.scalers[i].there;
    if (loaded[i].there != nullptr) LPT_TRY(send_scaler(context, loaded[i]));
    linear.scalers[i] = loaded[i];
  }
  if (linear.recipe.sparsity[LPT_LINEAR_OPERAND_WEIGHT].is_used()) linear.weight.sparse = mask;
  return {};
}

}  // namespace lpt
