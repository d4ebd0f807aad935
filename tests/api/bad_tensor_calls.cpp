#include "tests/api/bad_calls.hpp"

namespace lpt::test {

const std::vector<BadCall> kTensorCalls = {
    {"tensor_create: NULL",
     LPT_INVALID_ARGUMENT,
     {"out_tensor is NULL"},
     [](World &w) {
       const int64_t e[] = {1};
       return lpt_tensor_create(w.c, LPT_FORMAT_F32, 1, e, nullptr);
     }},
    {"tensor_create: no format",
     LPT_INVALID_ARGUMENT,
     {"format is 12345", "lpt_format_values"},
     [](World &w) {
       return create_tensor(w, 12345, {2, 2});
     }},
    {"tensor_create: format NONE",
     LPT_INVALID_ARGUMENT,
     {"format is 0"},
     [](World &w) {
       return create_tensor(w, LPT_FORMAT_NONE, {2, 2});
     }},
    {"tensor_create: stray bits in a format",
     LPT_INVALID_ARGUMENT,
     {"format is "},
     [](World &w) {
       return create_tensor(w, INT64_MAX, {2, 2});
     }},
    {"tensor_create: rank 9",
     LPT_INVALID_ARGUMENT,
     {"rank is 9", "0 to 8"},
     [](World &w) { return create_tensor(w, LPT_FORMAT_F32, std::vector<int64_t>(9, 1)); }},
    {"tensor_create: negative rank",
     LPT_INVALID_ARGUMENT,
     {"rank is -1", "0 to 8"},
     [](World &w) { return lpt_tensor_create(w.c, LPT_FORMAT_F32, -1, nullptr, &w.out_tensor); }},
    {"tensor_create: no extents",
     LPT_INVALID_ARGUMENT,
     {"extents is NULL", "2 numbers"},
     [](World &w) { return lpt_tensor_create(w.c, LPT_FORMAT_F32, 2, nullptr, &w.out_tensor); }},
    {"tensor_create: negative extent",
     LPT_INVALID_ARGUMENT,
     {"extents[1] is -4", "at least 0"},
     [](World &w) {
       return create_tensor(w, LPT_FORMAT_F32, {3, -4});
     }},
    {"tensor_create: huge product",
     LPT_INVALID_ARGUMENT,
     {"extents[1] is 4294967296", "does not fit"},
     [](World &w) {
       return create_tensor(w, LPT_FORMAT_F32, {int64_t{1} << 32, int64_t{1} << 32});
     }},
    {"tensor_create: huge extent beside a zero",
     LPT_INVALID_ARGUMENT,
     {"extents[1] is 9223372036854775807"},
     [](World &w) {
       return create_tensor(w, LPT_FORMAT_F32, {0, INT64_MAX});
     }},
    {"tensor_create: scales without rows",
     LPT_INVALID_ARGUMENT,
     {"rank is 1", "nvfp4", "rank 2 or more"},
     [](World &w) { return create_tensor(w, LPT_FORMAT_NVFP4, {32}); }},
    {"tensor_wrap: NULL",
     LPT_INVALID_ARGUMENT,
     {"description is NULL"},
     [](World &w) { return lpt_tensor_wrap(w.c, nullptr, &w.out_tensor); }},
    {"tensor_wrap: struct size 0",
     LPT_INVALID_ARGUMENT,
     {"description->struct_size is 0", "64"},
     [](World &w) {
       lpt_tensor_description d = LPT_TENSOR_DESCRIPTION_INIT;
       d.struct_size = 0;
       return lpt_tensor_wrap(w.c, &d, &w.out_tensor);
     }},
    {"tensor_wrap: reserved",
     LPT_UNSUPPORTED,
     {"reserved is 5", "expected 0"},
     [](World &w) {
       lpt_tensor_description d = LPT_TENSOR_DESCRIPTION_INIT;
       d.format = LPT_FORMAT_F32;
       d.reserved = 5;
       return lpt_tensor_wrap(w.c, &d, &w.out_tensor);
     }},
    {"tensor_wrap: a flag of another struct",
     LPT_UNSUPPORTED,
     {"flags is 1025", "LPT_TENSOR_READ_ONLY", "LPT_TENSOR_UNCHECKED"},
     [](World &w) {
       lpt_tensor_description d = LPT_TENSOR_DESCRIPTION_INIT;
       d.format = LPT_FORMAT_F32;
       d.flags = LPT_TENSOR_READ_ONLY | LPT_CHECK_ONLY;
       return lpt_tensor_wrap(w.c, &d, &w.out_tensor);
     }},
    {"tensor_wrap: a format with scales",
     LPT_INVALID_ARGUMENT,
     {"mxfp4", "lpt_tensor_combine"},
     [](World &w) {
       return wrap_tensor(w, LPT_FORMAT_MXFP4, {2, 32}, {32, 1});
     }},
    {"tensor_wrap: negative stride",
     LPT_INVALID_ARGUMENT,
     {"strides[0] is -32", "at least 0"},
     [](World &w) {
       return wrap_tensor(w, LPT_FORMAT_F32, {2, 32}, {-32, 1});
     }},
    {"tensor_wrap: elements that share memory",
     LPT_INVALID_ARGUMENT,
     {"strides[0] is 0", "share memory"},
     [](World &w) {
       return wrap_tensor(w, LPT_FORMAT_F32, {2, 32}, {0, 1});
     }},
    {"tensor_wrap_matrix: data between two elements",
     LPT_INVALID_ARGUMENT,
     {"data is", "that 4 divides", "f32"},
     [](World &w) {
       return lpt_tensor_wrap_matrix(w.c, LPT_FORMAT_F32, reinterpret_cast<void *>(uintptr_t{0x1002}), 2, 3, 0,
                                     &w.out_tensor);
     }},
    {"tensor_wrap: strided 4-bit elements",
     LPT_INVALID_ARGUMENT,
     {"strides[1] is 2", "e2m1fn"},
     [](World &w) {
       return wrap_tensor(w, LPT_FORMAT_E2M1FN, {2, 8}, {16, 2});
     }},
    {"tensor_wrap: stride beyond the address space",
     LPT_INVALID_ARGUMENT,
     {"strides[0] is", "does not fit"},
     [](World &w) {
       return wrap_tensor(w, LPT_FORMAT_F32, {4, 2}, {int64_t{1} << 60, 1});
     }},
    {"tensor_wrap_matrix: negative rows",
     LPT_INVALID_ARGUMENT,
     {"rows is -1", "at least 0"},
     [](World &w) { return lpt_tensor_wrap_matrix(w.c, LPT_FORMAT_F32, nullptr, -1, 2, 0, &w.out_tensor); }},
    {"tensor_wrap_matrix: negative columns",
     LPT_INVALID_ARGUMENT,
     {"columns is -2", "at least 0"},
     [](World &w) { return lpt_tensor_wrap_matrix(w.c, LPT_FORMAT_F32, nullptr, 1, -2, 0, &w.out_tensor); }},
    {"tensor_wrap_matrix: rows that overlap",
     LPT_INVALID_ARGUMENT,
     {"row_stride is 3", "columns, 4"},
     [](World &w) { return lpt_tensor_wrap_matrix(w.c, LPT_FORMAT_F32, nullptr, 2, 4, 3, &w.out_tensor); }},
    {"tensor_wrap_matrix: rows of 4-bit elements in mid-byte",
     LPT_INVALID_ARGUMENT,
     {"strides[0] is 5", "e2m1fn", "multiples of 2"},
     [](World &w) { return lpt_tensor_wrap_matrix(w.c, LPT_FORMAT_E2M1FN, nullptr, 2, 5, 5, &w.out_tensor); }},
    {"tensor_view: NULL",
     LPT_INVALID_ARGUMENT,
     {"tensor is NULL"},
     [](World &w) {
       const int64_t n[] = {0, 0};
       return lpt_tensor_view(w.c, nullptr, n, n, &w.out_tensor);
     }},
    {"tensor_view: a scaler for a tensor",
     LPT_INVALID_ARGUMENT,
     {"tensor is not a live handle"},
     [](World &w) {
       const int64_t n[] = {0, 0};
       return lpt_tensor_view(w.c, cast<lpt_tensor>(w.scaler.get()), n, n, &w.out_tensor);
     }},
    {"tensor_view: no begins",
     LPT_INVALID_ARGUMENT,
     {"begins is NULL", "2 numbers"},
     [](World &w) {
       const int64_t n[] = {0, 0};
       return lpt_tensor_view(w.c, w.source.get(), nullptr, n, &w.out_tensor);
     }},
    {"tensor_view: no extents",
     LPT_INVALID_ARGUMENT,
     {"extents is NULL", "2 numbers"},
     [](World &w) {
       const int64_t n[] = {0, 0};
       return lpt_tensor_view(w.c, w.source.get(), n, nullptr, &w.out_tensor);
     }},
    {"tensor_view: negative begin",
     LPT_INVALID_ARGUMENT,
     {"axis 0", "begin -1"},
     [](World &w) {
       return view_tensor(w, w.source, {-1, 0}, {1, 1});
     }},
    {"tensor_view: past the end",
     LPT_INVALID_ARGUMENT,
     {"axis 1", "begin 30", "extent 3", "0 to 32"},
     [](World &w) {
       return view_tensor(w, w.source, {0, 30}, {1, 3});
     }},
    {"tensor_view: extent that wraps around",
     LPT_INVALID_ARGUMENT,
     {"axis 1"},
     [](World &w) {
       return view_tensor(w, w.source, {0, 30}, {1, INT64_MAX});
     }},
    {"tensor_view: begins inside a block",
     LPT_INVALID_ARGUMENT,
     {"columns 16 to 32", "multiples of 32"},
     [](World &w) {
       return view_tensor(w, w.codes, {0, 16}, {4, 16});
     }},
    {"tensor_view: ends inside a block",
     LPT_INVALID_ARGUMENT,
     {"columns 0 to 16", "multiples of 32"},
     [](World &w) {
       return view_tensor(w, w.codes, {0, 0}, {4, 16});
     }},
    {"tensor_view: begins inside a byte",
     LPT_INVALID_ARGUMENT,
     {"begins[1] is 3", "e2m1fn", "a multiple of 2"},
     [](World &w) {
       return view_tensor(w, w.packed, {0, 3}, {4, 4});
     }},
    {"tensor_view: cuts a middle axis of blocks",
     LPT_INVALID_ARGUMENT,
     {"axis 1", "only the first and the last"},
     [](World &w) {
       return view_tensor(w, w.cube, {0, 1, 0}, {2, 2, 32});
     }},
    {"tensor_view_part: NULL",
     LPT_INVALID_ARGUMENT,
     {"tensor is NULL"},
     [](World &w) { return lpt_tensor_view_part(w.c, nullptr, LPT_TENSOR_PART_PAYLOAD, &w.out_tensor); }},
    {"tensor_view_part: a layer for a tensor",
     LPT_INVALID_ARGUMENT,
     {"tensor is not a live handle"},
     [](World &w) {
       return lpt_tensor_view_part(w.c, cast<lpt_tensor>(w.linear.get()), LPT_TENSOR_PART_PAYLOAD, &w.out_tensor);
     }},
    {"tensor_view_part: the format has none",
     LPT_INVALID_ARGUMENT,
     {"part is 1", "f32 has no such part"},
     [](World &w) { return lpt_tensor_view_part(w.c, w.source.get(), LPT_TENSOR_PART_BLOCK_SCALES, &w.out_tensor); }},
    {"tensor_view_part: unknown",
     LPT_INVALID_ARGUMENT,
     {"part is 9"},
     [](World &w) { return lpt_tensor_view_part(w.c, w.codes.get(), 9, &w.out_tensor); }},
    {"tensor_combine: NULL",
     LPT_INVALID_ARGUMENT,
     {"parts is NULL"},
     [](World &w) { return lpt_tensor_combine(w.c, LPT_FORMAT_F32, 1, 1, nullptr, 1, &w.out_tensor); }},
    {"tensor_combine: no parts",
     LPT_INVALID_ARGUMENT,
     {"part_count is 0"},
     [](World &w) {
       const lpt_tensor *p[] = {nullptr};
       return lpt_tensor_combine(w.c, LPT_FORMAT_F32, 1, 1, p, 0, &w.out_tensor);
     }},
    {"tensor_combine: missing payload",
     LPT_INVALID_ARGUMENT,
     {"parts[0]", "missing"},
     [](World &w) { return combine(w, LPT_FORMAT_F32, 4, 32, {nullptr}); }},
    {"tensor_combine: missing scales",
     LPT_INVALID_ARGUMENT,
     {"parts[1]", "missing", "e4m3fn_row"},
     [](World &w) { return combine(w, LPT_FORMAT_E4M3FN_ROW, 4, 32, {w.plain.get()}); }},
    {"tensor_combine: needless scales",
     LPT_INVALID_ARGUMENT,
     {"parts[1]", "given", "lacks"},
     [](World &w) {
       return combine(w, LPT_FORMAT_E4M3FN, 4, 32, {w.plain.get(), w.bias.get()});
     }},
    {"tensor_combine: scales of another format",
     LPT_INVALID_ARGUMENT,
     {"parts[1]", "e8m0fnu", "expected f32"},
     [](World &w) {
       return combine(w, LPT_FORMAT_E4M3FN_ROW, 4, 32, {w.plain.get(), w.factors.get()});
     }},
    {"tensor_combine: scales of another shape",
     LPT_INVALID_ARGUMENT,
     {"parts[1]", "1 x 6", "4 x 1"},
     [](World &w) {
       return combine(w, LPT_FORMAT_E4M3FN_ROW, 4, 32, {w.plain.get(), w.bias.get()});
     }},
    {"tensor_combine: payload of another format",
     LPT_INVALID_ARGUMENT,
     {"parts[0]", "f32", "expected e4m3fn or uint8"},
     [](World &w) { return combine(w, LPT_FORMAT_E4M3FN, 4, 32, {w.source.get()}); }},
    {"tensor_combine: payload of another shape",
     LPT_INVALID_ARGUMENT,
     {"parts[0]", "4 x 32", "4 x 31"},
     [](World &w) { return combine(w, LPT_FORMAT_E4M3FN, 4, 31, {w.plain.get()}); }},
    {"tensor_combine: negative rows",
     LPT_INVALID_ARGUMENT,
     {"rows is -4"},
     [](World &w) { return combine(w, LPT_FORMAT_E4M3FN, -4, 31, {w.plain.get()}); }},
    {"tensor_combine: a scaler for a part",
     LPT_INVALID_ARGUMENT,
     {"parts[0]", "not a live tensor"},
     [](World &w) { return combine(w, LPT_FORMAT_E4M3FN, 4, 32, {cast<lpt_tensor>(w.scaler.get())}); }},
    {"tensor_describe: NULL",
     LPT_INVALID_ARGUMENT,
     {"out_description is NULL"},
     [](World &w) { return lpt_tensor_describe(w.c, w.source.get(), nullptr); }},
    {"tensor_describe: struct size 0",
     LPT_INVALID_ARGUMENT,
     {"out_description->struct_size is 0"},
     [](World &w) {
       lpt_tensor_description d = LPT_TENSOR_DESCRIPTION_INIT;
       d.struct_size = 0;
       return lpt_tensor_describe(w.c, w.source.get(), &d);
     }},
    {"tensor_size: no tensor",
     LPT_INVALID_ARGUMENT,
     {"tensor is NULL"},
     [](World &w) { return lpt_tensor_size(w.c, nullptr, &w.out_size); }},
    {"tensor_describe: no tensor",
     LPT_INVALID_ARGUMENT,
     {"tensor is NULL"},
     [](World &w) {
       lpt_tensor_description d = LPT_TENSOR_DESCRIPTION_INIT;
       return lpt_tensor_describe(w.c, nullptr, &d);
     }},
    {"tensor_size: NULL",
     LPT_INVALID_ARGUMENT,
     {"out_size_bytes is NULL"},
     [](World &w) { return lpt_tensor_size(w.c, w.source.get(), nullptr); }},
    {"tensor_copy: no source",
     LPT_INVALID_ARGUMENT,
     {"source is NULL"},
     [](World &w) { return lpt_tensor_copy(w.c, nullptr, w.wide.get()); }},
    {"tensor_copy: no target",
     LPT_INVALID_ARGUMENT,
     {"target is NULL"},
     [](World &w) { return lpt_tensor_copy(w.c, w.source.get(), nullptr); }},
    {"tensor_copy: another format",
     LPT_INVALID_ARGUMENT,
     {"target is 4 x 32 mxfp8_e4m3", "expected 4 x 32 f32"},
     [](World &w) { return lpt_tensor_copy(w.c, w.source.get(), w.mx.get()); }},
    {"tensor_copy: without data",
     LPT_INVALID_ARGUMENT,
     {"source is", "without data"},
     [](World &w) { return lpt_tensor_copy(w.c, w.dataless.get(), w.wide.get()); }},
};

}  // namespace lpt::test
