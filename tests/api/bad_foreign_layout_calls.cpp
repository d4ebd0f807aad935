#include "tests/api/bad_calls.hpp"

namespace lpt::test {
namespace {

lpt_status call_size(World &w, const Tensor &tensor, lpt_foreign_layout foreign_layout) {
  return lpt_foreign_layout_size(w.c, tensor.get(), foreign_layout, &w.out_size);
}
lpt_status export_to(World &w, const Tensor &tensor, lpt_foreign_layout foreign_layout) {
  return lpt_foreign_layout_export(w.c, tensor.get(), foreign_layout, w.buffer.data(), w.buffer.size());
}
lpt_status import_from(World &w, const Tensor &tensor, lpt_foreign_layout foreign_layout) {
  return lpt_foreign_layout_import(w.c, w.buffer.data(), w.buffer.size(), foreign_layout, tensor.get());
}

lpt_status convert(World &w, const char *from, const char *to) {
  const Tensor source = make_tensor(w.owner.get(), format_named(from), 4, 32);
  const Tensor output = make_tensor(w.owner.get(), format_named(to), 4, 32);
  fill_with_canary(w.owner.get(), output.get());
  const std::vector<uint8_t> before = bytes_of(w.owner.get(), output.get());
  const lpt_status status = lpt_convert(w.c, source.get(), nullptr, output.get());
  EXPECT_TRUE(before == bytes_of(w.owner.get(), output.get())) << from << " to " << to;
  return status;
}

// Creates a 2:4 matrix of zeros.
Tensor sparse_tensor(World &w, const char *name, int64_t rows, int64_t columns) {
  return make_tensor(w.owner.get(), format_named(name), rows, columns);
}

// Combines a 2:4 matrix from parts. The matrix keeps their memory alive.
Tensor sparse_of(World &w, const char *name, int64_t rows, int64_t columns, const Tensor &payload,
                 const lpt_tensor *scale, const Tensor &indices) {
  const lpt_tensor *const parts[] = {payload.get(), nullptr, scale, nullptr, indices.get()};
  Tensor tensor;
  EXPECT_TRUE(
      ok(w.owner.get(), lpt_tensor_combine(w.owner.get(), format_named(name), rows, columns, parts, 5, out(tensor))));
  return tensor;
}

template <typename Change>
lpt_status convert_plain(World &w, Change change) {
  const Tensor source = make_tensor(w.owner.get(), LPT_FORMAT_E4M3, 4, 32);
  lpt_convert_options options = LPT_CONVERT_OPTIONS_INIT;
  change(options);
  return lpt_convert(w.c, source.get(), &options, w.plain.get());
}

}  // namespace

const std::vector<BadCall> kForeignLayoutCalls = {
    {"foreign_layout_size: no tensor",
     LPT_INVALID_ARGUMENT,
     {"tensor is NULL"},
     [](World &w) { return lpt_foreign_layout_size(w.c, nullptr, LPT_FOREIGN_LAYOUT_GGML, &w.out_size); }},
    {"foreign_layout_size: a scaler for the tensor",
     LPT_INVALID_ARGUMENT,
     {"tensor is not a live tensor"},
     [](World &w) {
       return lpt_foreign_layout_size(w.c, cast<lpt_tensor>(w.scaler.get()), LPT_FOREIGN_LAYOUT_GGML, &w.out_size);
     }},
    {"foreign_layout_size: no memory for the result",
     LPT_INVALID_ARGUMENT,
     {"out_size_bytes is NULL"},
     [](World &w) { return lpt_foreign_layout_size(w.c, w.packed.get(), LPT_FOREIGN_LAYOUT_BITSANDBYTES, nullptr); }},
    {"foreign_layout_size: foreign layout 0",
     LPT_INVALID_ARGUMENT,
     {"layout is 0", "lpt_foreign_layout_values"},
     [](World &w) { return call_size(w, w.packed, 0); }},
    {"foreign_layout_size: foreign layout 7",
     LPT_INVALID_ARGUMENT,
     {"layout is 7", "lpt_foreign_layout_values"},
     [](World &w) { return call_size(w, w.packed, 7); }},
    {"foreign_layout_size: ggml of fp8",
     LPT_UNSUPPORTED,
     {"tensor is mxfp8_e4m3", "int8_1x32, int4_1x32 or mxfp4"},
     [](World &w) { return call_size(w, w.codes, LPT_FOREIGN_LAYOUT_GGML); }},
    {"foreign_layout_size: Q4_1 of Q4_0's format",
     LPT_UNSUPPORTED,
     {"tensor is int4_1x32", "uint4_1x32"},
     [](World &w) {
       return call_size(w, make_tensor(w.owner.get(), LPT_FORMAT_INT4_1X32, 4, 32), LPT_FOREIGN_LAYOUT_GGML_Q4_1);
     }},
    {"foreign_layout_size: ggml of half a block",
     LPT_INVALID_ARGUMENT,
     {"tensor has 48 columns", "multiple of 32"},
     [](World &w) {
       return call_size(w, make_tensor(w.owner.get(), LPT_FORMAT_MXFP4, 4, 48), LPT_FOREIGN_LAYOUT_GGML);
     }},
    {"foreign_layout_size: bitsandbytes of eight bits",
     LPT_UNSUPPORTED,
     {"tensor is mxfp8_e4m3", "4 bits"},
     [](World &w) { return call_size(w, w.codes, LPT_FOREIGN_LAYOUT_BITSANDBYTES); }},
    {"foreign_layout_size: bitsandbytes of two bits",
     LPT_UNSUPPORTED,
     {"tensor is ternary", "4 bits"},
     [](World &w) {
       return call_size(w, make_tensor(w.owner.get(), LPT_FORMAT_TERNARY, 4, 32), LPT_FOREIGN_LAYOUT_BITSANDBYTES);
     }},
    {"foreign_layout_size: tiles without scales",
     LPT_UNSUPPORTED,
     {"tensor is e2m1fn", "block scales of one byte"},
     [](World &w) { return call_size(w, w.packed, LPT_FOREIGN_LAYOUT_CUBLAS_SCALES); }},
    {"foreign_layout_size: tiles of scales of four bytes",
     LPT_UNSUPPORTED,
     {"tensor is int8_1x32", "block scales of one byte"},
     [](World &w) {
       return call_size(w, make_tensor(w.owner.get(), LPT_FORMAT_INT8_1X32, 4, 32), LPT_FOREIGN_LAYOUT_CUBLAS_SCALES);
     }},
    {"foreign_layout_size: tiles of scales of four bytes, in blocks of many rows",
     LPT_UNSUPPORTED,
     {"tensor is e4m3fn_128x128", "block scales of one byte"},
     [](World &w) {
       return call_size(w, make_tensor(w.owner.get(), LPT_FORMAT_E4M3FN_128X128, 16, 32),
                        LPT_FOREIGN_LAYOUT_CUBLAS_SCALES);
     }},
    {"foreign_layout_size: mma.sp of a dense matrix",
     LPT_UNSUPPORTED,
     {"tensor is 4 x 32 e4m3fn", "a 2:4 format"},
     [](World &w) { return call_size(w, w.plain, LPT_FOREIGN_LAYOUT_MMA_SPARSE); }},
    {"foreign_layout_size: CUTLASS without a tensor",
     LPT_INVALID_ARGUMENT,
     {"tensor is NULL"},
     [](World &w) { return lpt_foreign_layout_size(w.c, nullptr, LPT_FOREIGN_LAYOUT_CUTLASS_SPARSE, &w.out_size); }},
    {"foreign_layout_size: mma.sp of f32",
     LPT_UNSUPPORTED,
     {"tensor is f32/2:4", "f16, bf16, e4m3fn, e5m2 or int8"},
     [](World &w) { return call_size(w, sparse_tensor(w, "f32/2:4", 4, 32), LPT_FOREIGN_LAYOUT_MMA_SPARSE); }},
    {"foreign_layout_size: CUTLASS of four bits",
     LPT_UNSUPPORTED,
     {"tensor is nvfp4/2:4", "f16, bf16, e4m3fn, e5m2 or int8"},
     [](World &w) { return call_size(w, sparse_tensor(w, "nvfp4/2:4", 32, 128), LPT_FOREIGN_LAYOUT_CUTLASS_SPARSE); }},
    {"foreign_layout_size: mma.sp of a relative of fp8",
     LPT_UNSUPPORTED,
     {"tensor is e4m3fnuz/2:4", "e4m3fn"},
     [](World &w) { return call_size(w, sparse_tensor(w, "e4m3fnuz/2:4", 4, 32), LPT_FOREIGN_LAYOUT_MMA_SPARSE); }},
    {"foreign_layout_size: CUTLASS of half a group of rows",
     LPT_INVALID_ARGUMENT,
     {"tensor has 48 rows", "multiple of 32", "16-bit"},
     [](World &w) { return call_size(w, sparse_tensor(w, "bf16/2:4", 48, 64), LPT_FOREIGN_LAYOUT_CUTLASS_SPARSE); }},
    {"foreign_layout_size: CUTLASS of half a group of rows of bytes",
     LPT_INVALID_ARGUMENT,
     {"tensor has 24 rows", "multiple of 16", "8-bit"},
     [](World &w) { return call_size(w, sparse_tensor(w, "int8/2:4", 24, 128), LPT_FOREIGN_LAYOUT_CUTLASS_SPARSE); }},
    {"foreign_layout_size: CUTLASS of half a tile of columns",
     LPT_INVALID_ARGUMENT,
     {"tensor has 96 columns", "multiple of 64", "tiles"},
     [](World &w) { return call_size(w, sparse_tensor(w, "f16/2:4", 32, 96), LPT_FOREIGN_LAYOUT_CUTLASS_SPARSE); }},
    {"foreign_layout_size: CUTLASS of half a tile of columns of bytes",
     LPT_INVALID_ARGUMENT,
     {"tensor has 64 columns", "multiple of 128", "tiles"},
     [](World &w) {
       return call_size(w, sparse_tensor(w, "e4m3fn_row/2:4", 16, 64), LPT_FOREIGN_LAYOUT_CUTLASS_SPARSE);
     }},
    {"foreign_layout_size: a 2:4 matrix where there is no place for one",
     LPT_UNSUPPORTED,
     {"tensor is sparse", "lpt_sparse_decompress"},
     [](World &w) { return call_size(w, sparse_tensor(w, "mxfp4/2:4", 4, 32), LPT_FOREIGN_LAYOUT_GGML); }},
    {"foreign_layout_export: mma.sp without data",
     LPT_INVALID_ARGUMENT,
     {"without data"},
     [](World &w) {
       const Tensor payload = wrap(w.owner.get(), LPT_FORMAT_BF16, nullptr, 4, 16);
       const Tensor indices = wrap(w.owner.get(), LPT_FORMAT_UINT8, nullptr, 4, 4);
       return export_to(w, sparse_of(w, "bf16/2:4", 4, 32, payload, nullptr, indices), LPT_FOREIGN_LAYOUT_MMA_SPARSE);
     }},
    {"foreign_layout_export: mma.sp, a byte too short",
     LPT_INVALID_ARGUMENT,
     {"buffer_bytes is 639", "at least 640"},
     [](World &w) {
       return lpt_foreign_layout_export(w.c, sparse_tensor(w, "int8/2:4", 4, 32).get(), LPT_FOREIGN_LAYOUT_MMA_SPARSE,
                                        w.buffer.data(), 639);
     }},
    {"foreign_layout_export: CUTLASS without a buffer",
     LPT_INVALID_ARGUMENT,
     {"buffer is NULL", "1280 bytes"},
     [](World &w) {
       return lpt_foreign_layout_export(w.c, sparse_tensor(w, "int8/2:4", 16, 128).get(),
                                        LPT_FOREIGN_LAYOUT_CUTLASS_SPARSE, nullptr, 1280);
     }},
    {"foreign_layout_export: mma.sp over the codes",
     LPT_INVALID_ARGUMENT,
     {"tensor at", "overlaps buffer at"},
     [](World &w) {
       const Tensor sparse = sparse_tensor(w, "bf16/2:4", 16, 128);
       void *codes = part_data<uint8_t>(w.owner.get(), sparse.get(), LPT_TENSOR_PART_PAYLOAD);
       return lpt_foreign_layout_export(w.c, sparse.get(), LPT_FOREIGN_LAYOUT_MMA_SPARSE, codes, 4096);
     }},
    {"foreign_layout_export: mma.sp over the indices",
     LPT_INVALID_ARGUMENT,
     {"tensor at", "overlaps buffer at"},
     [](World &w) {
       const Tensor payload = make_tensor(w.owner.get(), LPT_FORMAT_BF16, 16, 64);
       const Tensor indices = wrap(w.owner.get(), LPT_FORMAT_UINT8, w.buffer.data() + 100, 16, 16);
       return export_to(w, sparse_of(w, "bf16/2:4", 16, 128, payload, nullptr, indices), LPT_FOREIGN_LAYOUT_MMA_SPARSE);
     }},
    {"foreign_layout_export: mma.sp over the tensor scale",
     LPT_INVALID_ARGUMENT,
     {"buffer at", "overlaps tensor's tensor scale at"},
     [](World &w) {
       const Tensor payload = make_tensor(w.owner.get(), LPT_FORMAT_E4M3FN, 4, 16);
       const Tensor indices = make_tensor(w.owner.get(), LPT_FORMAT_UINT8, 4, 4);
       const Tensor scale = wrap(w.owner.get(), LPT_FORMAT_F32, w.buffer.data(), 1, 1);
       return export_to(w, sparse_of(w, "e4m3fn_tensor/2:4", 4, 32, payload, scale.get(), indices),
                        LPT_FOREIGN_LAYOUT_MMA_SPARSE);
     }},
    {"foreign_layout_export: mma.sp of indices that are none",
     LPT_INVALID_ARGUMENT,
     {"tensor has the index 0x5", "group 3", "row 2"},
     [](World &w) {
       const Tensor sparse = sparse_tensor(w, "int8/2:4", 4, 32);
       part_data<uint8_t>(w.owner.get(), sparse.get(), LPT_TENSOR_PART_SPARSE_INDICES)[2 * 4 + 1] = 0x54;
       return export_to(w, sparse, LPT_FOREIGN_LAYOUT_MMA_SPARSE);
     }},
    {"foreign_layout_import: mma.sp into a dense matrix",
     LPT_UNSUPPORTED,
     {"tensor is 4 x 32 int8", "a 2:4 format"},
     [](World &w) { return import_from(w, w.integers, LPT_FOREIGN_LAYOUT_MMA_SPARSE); }},
    {"foreign_layout_import: CUTLASS, a byte too short",
     LPT_INVALID_ARGUMENT,
     {"buffer_bytes is 2303", "at least 2304"},
     [](World &w) {
       return lpt_foreign_layout_import(w.c, w.buffer.data(), 2303, LPT_FOREIGN_LAYOUT_CUTLASS_SPARSE,
                                        sparse_tensor(w, "f16/2:4", 32, 64).get());
     }},
    {"foreign_layout_import: mma.sp of indices that are none",
     LPT_INVALID_ARGUMENT,
     {"buffer has the index 0x7", "group 0", "row 0"},
     [](World &w) { return import_from(w, sparse_tensor(w, "e5m2/2:4", 16, 64), LPT_FOREIGN_LAYOUT_MMA_SPARSE); }},
    {"foreign_layout_export: a tensor without data",
     LPT_INVALID_ARGUMENT,
     {"tensor", "without data"},
     [](World &w) {
       return export_to(w, wrap(w.owner.get(), LPT_FORMAT_NF4, nullptr, 4, 32), LPT_FOREIGN_LAYOUT_BITSANDBYTES);
     }},
    {"foreign_layout_export: a byte too short",
     LPT_INVALID_ARGUMENT,
     {"buffer_bytes is 63", "at least 64"},
     [](World &w) {
       return lpt_foreign_layout_export(w.c, w.packed.get(), LPT_FOREIGN_LAYOUT_BITSANDBYTES, w.buffer.data(), 63);
     }},
    {"foreign_layout_export: no buffer",
     LPT_INVALID_ARGUMENT,
     {"buffer is NULL", "64 bytes"},
     [](World &w) {
       return lpt_foreign_layout_export(w.c, w.packed.get(), LPT_FOREIGN_LAYOUT_BITSANDBYTES, nullptr, 64);
     }},
    {"foreign_layout_export: Q4_1 of numbers",
     LPT_UNSUPPORTED,
     {"tensor is f32", "uint4_1x32"},
     [](World &w) { return export_to(w, w.source, LPT_FOREIGN_LAYOUT_GGML_Q4_1); }},
    {"foreign_layout_export: over the tensor",
     LPT_INVALID_ARGUMENT,
     {"buffer at", "overlaps tensor at"},
     [](World &w) {
       void *data = describe(w.owner.get(), w.packed.get()).data;
       return lpt_foreign_layout_export(w.c, w.packed.get(), LPT_FOREIGN_LAYOUT_BITSANDBYTES, data, 64);
     }},
    {"foreign_layout_export: over the scales",
     LPT_INVALID_ARGUMENT,
     {"buffer at", "overlaps tensor's block scales at"},
     [](World &w) {
       const Tensor payload = make_tensor(w.owner.get(), LPT_FORMAT_E2M1FN, 4, 32);
       const Tensor scales = wrap(w.owner.get(), LPT_FORMAT_E8M0FNU, w.buffer.data(), 4, 1);
       const lpt_tensor *const parts[] = {payload.get(), scales.get()};
       Tensor tensor;
       EXPECT_TRUE(
           ok(w.owner.get(), lpt_tensor_combine(w.owner.get(), LPT_FORMAT_MXFP4, 4, 32, parts, 2, out(tensor))));
       return export_to(w, tensor, LPT_FOREIGN_LAYOUT_CUBLAS_SCALES);
     }},
    {"foreign_layout_import: no tensor",
     LPT_INVALID_ARGUMENT,
     {"tensor is NULL"},
     [](World &w) {
       return lpt_foreign_layout_import(w.c, w.buffer.data(), w.buffer.size(), LPT_FOREIGN_LAYOUT_GGML, nullptr);
     }},
    {"foreign_layout_import: a byte too short",
     LPT_INVALID_ARGUMENT,
     {"buffer_bytes is 79", "at least 80"},
     [](World &w) {
       return lpt_foreign_layout_import(w.c, w.buffer.data(), 79, LPT_FOREIGN_LAYOUT_GGML_Q4_1, w.wide.get());
     }},
    {"foreign_layout_import: no buffer",
     LPT_INVALID_ARGUMENT,
     {"buffer is NULL", "80 bytes"},
     [](World &w) { return lpt_foreign_layout_import(w.c, nullptr, 80, LPT_FOREIGN_LAYOUT_GGML_Q4_1, w.wide.get()); }},
    {"foreign_layout_import: Q4_1 into integers",
     LPT_UNSUPPORTED,
     {"tensor is int8", "uint4_1x32"},
     [](World &w) { return import_from(w, w.integers, LPT_FOREIGN_LAYOUT_GGML_Q4_1); }},
    {"foreign_layout_import: Q4_1 whose least is no zero point",
     LPT_INVALID_ARGUMENT,
     {"buffer has in row 0, columns 0 to 31", "0 to 255"},
     [](World &w) { return import_from(w, w.shifted, LPT_FOREIGN_LAYOUT_GGML_Q4_1); }},
    {"foreign_layout_import: tiles into a tensor without scales",
     LPT_UNSUPPORTED,
     {"tensor is e4m3fn", "block scales of one byte"},
     [](World &w) { return import_from(w, w.plain, LPT_FOREIGN_LAYOUT_CUBLAS_SCALES); }},
    {"foreign_layout_import: tiles with two scales for one block",
     LPT_INVALID_ARGUMENT,
     {"buffer has in row 1, columns 16 to 31", "0x01", "in row 0", "0x00"},
     [](World &w) {
       std::vector<uint8_t> tiles(512);
       tiles[17] = 1;
       return lpt_foreign_layout_import(w.c, tiles.data(), tiles.size(), LPT_FOREIGN_LAYOUT_CUBLAS_SCALES,
                                        w.square_blocks.get());
     }},
    {"convert: no source",
     LPT_INVALID_ARGUMENT,
     {"source is NULL"},
     [](World &w) { return lpt_convert(w.c, nullptr, nullptr, w.plain.get()); }},
    {"convert: no output",
     LPT_INVALID_ARGUMENT,
     {"output is NULL"},
     [](World &w) { return lpt_convert(w.c, w.plain.get(), nullptr, nullptr); }},
    {"convert: numbers as source",
     LPT_UNSUPPORTED,
     {"source is f32", "output is e4m3fn", "e4m3fnuz"},
     [](World &w) { return lpt_convert(w.c, w.source.get(), nullptr, w.plain.get()); }},
    {"convert: another family",
     LPT_UNSUPPORTED,
     {"source is e4m3fn_tensor", "output is e5m2_tensor", "relatives"},
     [](World &w) { return convert(w, "e4m3fn_tensor", "e5m2_tensor"); }},
    {"convert: integers",
     LPT_UNSUPPORTED,
     {"source is int8_tensor", "relatives"},
     [](World &w) { return convert(w, "int8_tensor", "int8_tensor"); }},
    {"convert: NaN without a place",
     LPT_UNSUPPORTED,
     {"output is e4m3b7-finite", "relatives"},
     [](World &w) { return convert(w, "e4m3fn", "e4m3b7-finite"); }},
    {"convert: other scales",
     LPT_UNSUPPORTED,
     {"output is e4m3_row", "the same scales and blocks"},
     [](World &w) { return convert(w, "e4m3fn_tensor", "e4m3_row"); }},
    {"convert: a tensor scale more",
     LPT_UNSUPPORTED,
     {"output is e4m3/1x16/e4m3fn/f32", "the same scales and blocks"},
     [](World &w) { return convert(w, "e4m3fn/1x16/e4m3fn", "e4m3/1x16/e4m3fn/f32"); }},
    {"convert: other blocks",
     LPT_UNSUPPORTED,
     {"output is e4m3/1x64/f32", "the same scales and blocks"},
     [](World &w) { return convert(w, "e4m3fn_1x128", "e4m3/1x64/f32"); }},
    {"convert: no scale to take the bias",
     LPT_UNSUPPORTED,
     {"output is e4m3fnuz", "an f32 scale", "2^1"},
     [](World &w) { return convert(w, "e4m3fn", "e4m3fnuz"); }},
    {"convert: scales of powers of two to take the bias",
     LPT_UNSUPPORTED,
     {"source is mxfp8_e5m2", "an f32 scale"},
     [](World &w) { return convert(w, "mxfp8_e5m2", "e5m2fnuz/1x32/e8m0fnu"); }},
    {"convert: output of another shape",
     LPT_INVALID_ARGUMENT,
     {"output is 32 x 4", "4 x 32"},
     [](World &w) { return lpt_convert(w.c, w.plain.get(), nullptr, w.transposed_copy.get()); }},
    {"convert: over the source",
     LPT_INVALID_ARGUMENT,
     {"output", "overlaps source"},
     [](World &w) { return lpt_convert(w.c, w.plain.get(), nullptr, w.plain.get()); }},
    {"convert: with the source's scale",
     LPT_INVALID_ARGUMENT,
     {"output's tensor scale", "overlaps source's tensor scale"},
     [](World &w) {
       const Tensor payload = make_tensor(w.owner.get(), LPT_FORMAT_E4M3FNUZ, 4, 32);
       const Tensor scale = part_of(w.owner.get(), w.fp8.get(), LPT_TENSOR_PART_TENSOR_SCALE);
       const lpt_tensor *const parts[] = {payload.get(), nullptr, scale.get()};
       Tensor output;
       EXPECT_TRUE(ok(w.owner.get(),
                      lpt_tensor_combine(w.owner.get(), LPT_FORMAT_E4M3FNUZ_TENSOR, 4, 32, parts, 3, out(output))));
       return lpt_convert(w.c, w.fp8.get(), nullptr, output.get());
     }},
    {"convert: unknown flag",
     LPT_UNSUPPORTED,
     {"flags is 0x2"},
     [](World &w) { return convert_plain(w, [](auto &o) { o.flags = 2; }); }},
    {"convert: a scaler for the statistics",
     LPT_INVALID_ARGUMENT,
     {"statistics is not a live handle"},
     [](World &w) { return convert_plain(w, [&](auto &o) { o.statistics = cast<lpt_statistics>(w.scaler.get()); }); }},
    {"convert: struct size 0",
     LPT_INVALID_ARGUMENT,
     {"options->struct_size is 0"},
     [](World &w) { return convert_plain(w, [](auto &o) { o.struct_size = 0; }); }},
};

}  // namespace lpt::test
