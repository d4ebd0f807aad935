#include "tests/api/bad_calls.hpp"

namespace lpt::test {

const std::vector<BadCall> kQuantizeCalls = {
    {"quantize: no source",
     LPT_INVALID_ARGUMENT,
     {"source is NULL"},
     [](World &w) { return lpt_quantize(w.c, nullptr, nullptr, w.fp8.get(), nullptr); }},
    {"quantize: a scaler for the source",
     LPT_INVALID_ARGUMENT,
     {"source is not a live tensor"},
     [](World &w) { return lpt_quantize(w.c, cast<lpt_tensor>(w.scaler.get()), nullptr, w.fp8.get(), nullptr); }},
    {"quantize: a source without data",
     LPT_INVALID_ARGUMENT,
     {"source", "without data", "LPT_CHECK_ONLY"},
     [](World &w) { return lpt_quantize(w.c, w.dataless.get(), nullptr, w.fp8.get(), nullptr); }},
    {"quantize: codes as source",
     LPT_UNSUPPORTED,
     {"source is mxfp8_e4m3", "f64, f32, bf16 or f16"},
     [](World &w) { return lpt_quantize(w.c, w.codes.get(), nullptr, w.fp8.get(), nullptr); }},
    {"quantize: columns that are not adjacent",
     LPT_UNSUPPORTED,
     {"source", "stride 2", "expected 1"},
     [](World &w) {
       const int64_t extents[] = {4, 16};
       const int64_t strides[] = {32, 2};
       lpt_tensor_description d = LPT_TENSOR_DESCRIPTION_INIT;
       d.format = LPT_FORMAT_F32;
       d.data = describe(w.owner.get(), w.source.get()).data;
       d.rank = 2;
       d.extents = extents;
       d.strides = strides;
       Tensor strided;
       EXPECT_TRUE(ok(w.owner.get(), lpt_tensor_wrap(w.owner.get(), &d, out(strided))));
       return lpt_quantize(w.c, strided.get(), nullptr, w.fp8.get(), nullptr);
     }},
    {"quantize: no output",
     LPT_INVALID_ARGUMENT,
     {"quantized and transposed are NULL"},
     [](World &w) { return lpt_quantize(w.c, w.source.get(), nullptr, nullptr, nullptr); }},
    {"quantize: output of another shape",
     LPT_INVALID_ARGUMENT,
     {"quantized is 4 x 32", "4 x 33", "source"},
     [](World &w) { return lpt_quantize(w.c, w.other_source.get(), nullptr, w.fp8.get(), nullptr); }},
    {"quantize: output with zero points of another shape",
     LPT_INVALID_ARGUMENT,
     {"quantized is 4 x 32", "4 x 33", "source"},
     [](World &w) { return lpt_quantize(w.c, w.other_source.get(), nullptr, w.shifted.get(), nullptr); }},
    {"quantize: transposed output that is not",
     LPT_INVALID_ARGUMENT,
     {"transposed is 4 x 32", "32 x 4"},
     [](World &w) { return lpt_quantize(w.c, w.source.get(), nullptr, nullptr, w.plain.get()); }},
    {"quantize: bytes as output",
     LPT_UNSUPPORTED,
     {"quantized is uint8"},
     [](World &w) { return quantize(w, w.bytes, kUnchanged); }},
    {"quantize: output over the source",
     LPT_INVALID_ARGUMENT,
     {"quantized", "overlaps source"},
     [](World &w) { return quantize(w, w.source, kUnchanged); }},
    {"quantize: outputs over each other",
     LPT_INVALID_ARGUMENT,
     {"quantized", "overlaps transposed"},
     [](World &w) {
       const Tensor over =
           wrap(w.owner.get(), LPT_FORMAT_E4M3FN, describe(w.owner.get(), w.transposed_copy.get()).data, 4, 32);
       return lpt_quantize(w.c, w.source.get(), nullptr, over.get(), w.transposed_copy.get());
     }},
    {"quantize: unknown flag",
     LPT_UNSUPPORTED,
     {"flags is 0x4", "knows 0x3"},
     [](World &w) { return quantize(w, w.fp8, [](auto &o) { o.flags = 4; }); }},
    {"quantize: unknown rounding",
     LPT_INVALID_ARGUMENT,
     {"rounding is 7", "0 to 4"},
     [](World &w) { return quantize(w, w.fp8, [](auto &o) { o.rounding = 7; }); }},
    {"quantize: unknown overflow",
     LPT_INVALID_ARGUMENT,
     {"overflow is -1", "0 to 1"},
     [](World &w) { return quantize(w, w.fp8, [](auto &o) { o.overflow = -1; }); }},
    {"quantize: unknown scale rule",
     LPT_INVALID_ARGUMENT,
     {"scale_rule is 21", "0 to 20"},
     [](World &w) { return quantize(w, w.fp8, [](auto &o) { o.scale_rule = 21; }); }},
    {"quantize: scale rule of another scale",
     LPT_UNSUPPORTED,
     {"scale_rule is 4", "e4m3fn_tensor", "a tensor scale in f32"},
     [](World &w) { return quantize(w, w.fp8, [](auto &o) { o.scale_rule = LPT_SCALE_RULE_FLOOR; }); }},
    {"quantize: scale rule without scales",
     LPT_UNSUPPORTED,
     {"scale_rule is 1", "e4m3fn", "no scales"},
     [](World &w) { return quantize(w, w.plain, [](auto &o) { o.scale_rule = LPT_SCALE_RULE_AMAX; }); }},
    {"quantize: five random bits",
     LPT_INVALID_ARGUMENT,
     {"stochastic_bits is 5", "16 or 8"},
     [](World &w) { return quantize(w, w.fp8, [](auto &o) { o.stochastic_bits = 5; }); }},
    {"quantize: nine rounds",
     LPT_INVALID_ARGUMENT,
     {"philox_rounds is 9", "7 or 10"},
     [](World &w) { return quantize(w, w.fp8, [](auto &o) { o.philox_rounds = 9; }); }},
    {"quantize: groups of 48",
     LPT_INVALID_ARGUMENT,
     {"hadamard_size is 48", "a power of two from 16 to 128"},
     [](World &w) { return quantize(w, w.fp8, [](auto &o) { o.hadamard_size = 48; }); }},
    {"quantize: stream of 2^24",
     LPT_INVALID_ARGUMENT,
     {"random.stream is 16777216", "2^24"},
     [](World &w) { return quantize(w, w.fp8, [](auto &o) { o.random.stream = 1u << 24; }); }},
    {"quantize: negative offset",
     LPT_INVALID_ARGUMENT,
     {"random.offset is -1", "0 to 2^60"},
     [](World &w) { return quantize(w, w.fp8, [](auto &o) { o.random.offset = -1; }); }},
    {"quantize: random rows that overlap",
     LPT_INVALID_ARGUMENT,
     {"random.row_stride is 31", "columns, 32"},
     [](World &w) { return quantize(w, w.fp8, [](auto &o) { o.random.row_stride = 31; }); }},
    {"quantize: scaler with blocks",
     LPT_UNSUPPORTED,
     {"scaler", "mxfp8_e4m3", "one tensor scale"},
     [](World &w) { return quantize(w, w.mx, [&](auto &o) { o.scaler = w.scaler.get(); }); }},
    {"quantize: scaler with zero points",
     LPT_UNSUPPORTED,
     {"scaler", "uint4_1x32", "one tensor scale"},
     [](World &w) { return quantize(w, w.shifted, [&](auto &o) { o.scaler = w.scaler.get(); }); }},
    {"quantize: scaler without scale",
     LPT_UNSUPPORTED,
     {"scaler", "e4m3fn", "one tensor scale"},
     [](World &w) { return quantize(w, w.plain, [&](auto &o) { o.scaler = w.scaler.get(); }); }},
    {"quantize: a tensor for the scaler",
     LPT_INVALID_ARGUMENT,
     {"scaler is not a live scaler"},
     [](World &w) { return quantize(w, w.fp8, [&](auto &o) { o.scaler = cast<lpt_scaler>(w.source.get()); }); }},
    {"quantize: smoothing without column scales",
     LPT_UNSUPPORTED,
     {"smoothing", "e4m3fn_tensor", "e8m0fnu"},
     [](World &w) { return quantize(w, w.fp8, [&](auto &o) { o.smoothing = w.factors.get(); }); }},
    {"quantize: smoothing of another length",
     LPT_INVALID_ARGUMENT,
     {"smoothing is 1 x 31", "vector of 32"},
     [](World &w) { return quantize(w, w.smoothed, [&](auto &o) { o.smoothing = w.few_factors.get(); }); }},
    {"quantize: smoothing of another format",
     LPT_INVALID_ARGUMENT,
     {"smoothing", "bf16", "expected e8m0fnu"},
     [](World &w) {
       const Tensor ones = make_tensor(w.owner.get(), LPT_FORMAT_BF16, {32});
       return quantize(w, w.smoothed, [&](auto &o) { o.smoothing = ones.get(); });
     }},
    {"quantize: smoothing by zero",
     LPT_INVALID_ARGUMENT,
     {"smoothing[0] is 0", "positive"},
     [](World &w) {
       const Tensor zeros = make_tensor(w.owner.get(), LPT_FORMAT_F32, {32});
       return quantize(w, w.fp8, [&](auto &o) { o.smoothing = zeros.get(); });
     }},
    {"quantize: smoothing by a NaN",
     LPT_INVALID_ARGUMENT,
     {"smoothing[31] is nan", "positive"},
     [](World &w) {
       const Tensor factors = vector_of(w.owner.get(), LPT_FORMAT_F32, std::vector<double>(32, 1.0));
       static_cast<float *>(describe(w.owner.get(), factors.get()).data)[31] = std::nanf("");
       return quantize(w, w.fp8, [&](auto &o) { o.smoothing = factors.get(); });
     }},
    {"quantize: signs without a rotation",
     LPT_INVALID_ARGUMENT,
     {"hadamard_signs is given", "hadamard_size is 0"},
     [](World &w) {
       const Tensor signs = vector_of(w.owner.get(), LPT_FORMAT_INT8, std::vector<double>(16, 1.0));
       return quantize(w, w.fp8, [&](auto &o) { o.hadamard_signs = signs.get(); });
     }},
    {"quantize: a sign that is none",
     LPT_INVALID_ARGUMENT,
     {"hadamard_signs[3] is 2", "1 or -1"},
     [](World &w) {
       const Tensor signs =
           vector_of(w.owner.get(), LPT_FORMAT_INT8, {1, -1, 1, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1});
       return quantize(w, w.fp8, [&](auto &o) { o.hadamard_size = 16, o.hadamard_signs = signs.get(); });
     }},
    {"quantize: signs of another length",
     LPT_INVALID_ARGUMENT,
     {"hadamard_signs has 17 numbers", "16", "32"},
     [](World &w) {
       const Tensor signs = vector_of(w.owner.get(), LPT_FORMAT_INT8, std::vector<double>(17, 1.0));
       return quantize(w, w.fp8, [&](auto &o) { o.hadamard_size = 16, o.hadamard_signs = signs.get(); });
     }},
    {"quantize: a list that falls",
     LPT_INVALID_ARGUMENT,
     {"scale_list[1] is 1", "rise"},
     [](World &w) {
       const Tensor list = vector_of(w.owner.get(), LPT_FORMAT_F32, {2.0, 1.0});
       return quantize(w, w.fp8, [&](auto &o) { o.scale_list = list.get(); });
     }},
    {"quantize: an empty list",
     LPT_INVALID_ARGUMENT,
     {"scale_list has 0 numbers", "1 to 64"},
     [](World &w) {
       const Tensor list = make_tensor(w.owner.get(), LPT_FORMAT_F32, {0});
       return quantize(w, w.fp8, [&](auto &o) { o.scale_list = list.get(); });
     }},
    {"quantize: two sources of the tensor scale",
     LPT_INVALID_ARGUMENT,
     {"scaler is given with LPT_QUANTIZE_KEEP_TENSOR_SCALE"},
     [](World &w) {
       return quantize(w, w.fp8, [&](auto &o) { o.scaler = w.scaler.get(), o.flags = LPT_QUANTIZE_KEEP_TENSOR_SCALE; });
     }},
    {"quantize: a scaler for the statistics",
     LPT_INVALID_ARGUMENT,
     {"statistics is not a live handle"},
     [](World &w) {
       return quantize(w, w.fp8, [&](auto &o) { o.statistics = cast<lpt_statistics>(w.scaler.get()); });
     }},
    {"quantize: three quarters without memory",
     LPT_UNSUPPORTED,
     {"LPT_SCALE_RULE_THREE_QUARTERS", "mxfp8_e4m3", "4/3"},
     [](World &w) { return quantize(w, w.mx, [](auto &o) { o.scale_rule = LPT_SCALE_RULE_THREE_QUARTERS; }); }},
    {"quantize: QuEST of another element",
     LPT_UNSUPPORTED,
     {"scale_rule is 12", "mxfp8_e4m3"},
     [](World &w) { return quantize(w, w.mx, [](auto &o) { o.scale_rule = LPT_SCALE_RULE_QUEST_FLOOR; }); }},
    {"quantize: struct size 0",
     LPT_INVALID_ARGUMENT,
     {"options->struct_size is 0"},
     [](World &w) { return quantize(w, w.fp8, [](auto &o) { o.struct_size = 0; }); }},
    {"quantize: struct size of rubbish",
     LPT_INVALID_ARGUMENT,
     {"options->struct_size is"},
     [](World &w) { return quantize(w, w.fp8, [](auto &o) { o.struct_size = SIZE_MAX; }); }},
    {"dequantize: no source",
     LPT_INVALID_ARGUMENT,
     {"source is NULL"},
     [](World &w) { return lpt_dequantize(w.c, nullptr, nullptr, w.wide.get()); }},
    {"dequantize: no output",
     LPT_INVALID_ARGUMENT,
     {"output is NULL"},
     [](World &w) { return lpt_dequantize(w.c, w.codes.get(), nullptr, nullptr); }},
    {"dequantize: output of another shape",
     LPT_INVALID_ARGUMENT,
     {"output is 4 x 6", "4 x 32"},
     [](World &w) { return lpt_dequantize(w.c, w.codes.get(), nullptr, w.gemm.get()); }},
    {"dequantize: codes as output",
     LPT_UNSUPPORTED,
     {"output is e4m3fn", "f64, f32, bf16 or f16"},
     [](World &w) { return lpt_dequantize(w.c, w.codes.get(), nullptr, w.plain.get()); }},
    {"dequantize: bytes as source",
     LPT_UNSUPPORTED,
     {"source is uint8"},
     [](World &w) { return lpt_dequantize(w.c, w.bytes.get(), nullptr, w.wide.get()); }},
    {"dequantize: scales without data",
     LPT_INVALID_ARGUMENT,
     {"source", "without data"},
     [](World &w) {
       const Tensor none = wrap(w.owner.get(), LPT_FORMAT_F32, nullptr, 4, 1);
       const lpt_tensor *const parts[] = {w.plain.get(), none.get()};
       Tensor rows;
       EXPECT_TRUE(
           ok(w.owner.get(), lpt_tensor_combine(w.owner.get(), LPT_FORMAT_E4M3FN_ROW, 4, 32, parts, 2, out(rows))));
       return lpt_dequantize(w.c, rows.get(), nullptr, w.wide.get());
     }},
    {"dequantize: unknown flag",
     LPT_UNSUPPORTED,
     {"flags is 0x8000000000000000"},
     [](World &w) {
       lpt_dequantize_options o = LPT_DEQUANTIZE_OPTIONS_INIT;
       o.flags = uint64_t{1} << 63;
       return lpt_dequantize(w.c, w.codes.get(), &o, w.wide.get());
     }},
};

}  // namespace lpt::test
