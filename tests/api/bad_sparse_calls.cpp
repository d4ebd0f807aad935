#include "tests/api/bad_calls.hpp"

namespace lpt::test {
namespace {

// Selects a mask of the 4 × 32 source and writes it to `bytes`.
template <typename Change>
lpt_status select(World &w, const Change &change) {
  lpt_sparse_options options = LPT_SPARSE_OPTIONS_INIT;
  change(options);
  return lpt_sparse_mask_select(w.c, w.source.get(), &options, w.bytes.get(), nullptr, nullptr);
}

Tensor sparse_tensor(World &w, const char *name) { return make_tensor(w.owner.get(), format_named(name), 4, 32); }

Tensor full_mask(World &w) {
  Tensor mask = make_tensor(w.owner.get(), LPT_FORMAT_UINT8, 4, 32);
  std::memset(describe(w.owner.get(), mask.get()).data, 1, 128);
  return mask;
}

}  // namespace

const std::vector<BadCall> kSparseCalls = {
    {"select: no output",
     LPT_INVALID_ARGUMENT,
     {"mask, masked and out_info are NULL"},
     [](World &w) { return lpt_sparse_mask_select(w.c, w.source.get(), nullptr, nullptr, nullptr, nullptr); }},
    {"select: no source",
     LPT_INVALID_ARGUMENT,
     {"source is NULL"},
     [](World &w) { return lpt_sparse_mask_select(w.c, nullptr, nullptr, w.bytes.get(), nullptr, nullptr); }},
    {"select: codes as source",
     LPT_UNSUPPORTED,
     {"source is mxfp8_e4m3"},
     [](World &w) { return lpt_sparse_mask_select(w.c, w.codes.get(), nullptr, w.bytes.get(), nullptr, nullptr); }},
    {"select: groups of one",
     LPT_INVALID_ARGUMENT,
     {"of is 1", "2 to 32"},
     [](World &w) { return select(w, [](auto &o) { o.of = 1; }); }},
    {"select: groups of 33",
     LPT_INVALID_ARGUMENT,
     {"of is 33", "2 to 32"},
     [](World &w) { return select(w, [](auto &o) { o.of = 33; }); }},
    {"select: all of a group",
     LPT_INVALID_ARGUMENT,
     {"kept is 4 of 4", "1 to 3"},
     [](World &w) { return select(w, [](auto &o) { o.kept = 4; }); }},
    {"select: a rule that is none",
     LPT_INVALID_ARGUMENT,
     {"rule is 4"},
     [](World &w) { return select(w, [](auto &o) { o.rule = 4; }); }},
    {"select: a direction that is none",
     LPT_INVALID_ARGUMENT,
     {"direction is 3"},
     [](World &w) { return select(w, [](auto &o) { o.direction = 3; }); }},
    {"select: drawn and transposable",
     LPT_UNSUPPORTED,
     {"rule is 1", "BOTH", "MAGNITUDE"},
     [](World &w) {
       return select(w, [](auto &o) { o.rule = LPT_SPARSE_RULE_MVUE, o.direction = LPT_SPARSE_DIRECTION_BOTH; });
     }},
    {"select: two draws for one",
     LPT_UNSUPPORTED,
     {"kept is 1", "expected 2"},
     [](World &w) { return select(w, [](auto &o) { o.rule = LPT_SPARSE_RULE_MVUE_TWO_DRAWS, o.kept = 1; }); }},
    {"select: a solver for rows",
     LPT_INVALID_ARGUMENT,
     {"solver is 1", "BOTH"},
     [](World &w) { return select(w, [](auto &o) { o.solver = LPT_SPARSE_SOLVER_EXACT; }); }},
    {"select: endless iterations",
     LPT_INVALID_ARGUMENT,
     {"iterations is 10001"},
     [](World &w) { return select(w, [](auto &o) { o.iterations = 10001, o.direction = 2; }); }},
    {"select: sharpness that is no number",
     LPT_INVALID_ARGUMENT,
     {"sharpness is"},
     [](World &w) { return select(w, [](auto &o) { o.sharpness = -1.0, o.direction = 2; }); }},
    {"select: a member that is reserved",
     LPT_UNSUPPORTED,
     {"reserved is 1"},
     [](World &w) { return select(w, [](auto &o) { o.reserved = 1; }); }},
    {"select: a shard that begins within a group",
     LPT_INVALID_ARGUMENT,
     {"random.offset", "column 2", "multiple of 4"},
     [](World &w) {
       return select(w, [](auto &o) { o.rule = LPT_SPARSE_RULE_MVUE, o.random.offset = 2, o.random.row_stride = 64; });
     }},
    {"select: importance of another length",
     LPT_INVALID_ARGUMENT,
     {"importance", "32"},
     [](World &w) { return select(w, [&](auto &o) { o.importance = w.bias.get(); }); }},
    {"select: importance below zero",
     LPT_INVALID_ARGUMENT,
     {"importance[3] is -1"},
     [](World &w) {
       std::vector<float> factors(32, 1.0f);
       factors[3] = -1.0f;
       const Tensor vector = wrap(w.owner.get(), factors, 1, 32);
       return select(w, [&](auto &o) { o.importance = vector.get(); });
     }},
    {"select: importance for draws",
     LPT_UNSUPPORTED,
     {"importance", "MAGNITUDE"},
     [](World &w) {
       return select(w, [&](auto &o) { o.importance = w.source.get(), o.rule = LPT_SPARSE_RULE_MVUE; });
     }},
    {"select: a mask of floats",
     LPT_UNSUPPORTED,
     {"mask is f32", "uint8"},
     [](World &w) { return lpt_sparse_mask_select(w.c, w.source.get(), nullptr, w.wide.get(), nullptr, nullptr); }},
    {"select: masked of another format",
     LPT_UNSUPPORTED,
     {"masked is e4m3fn", "f32"},
     [](World &w) { return lpt_sparse_mask_select(w.c, w.source.get(), nullptr, nullptr, w.plain.get(), nullptr); }},
    {"select: masked of another shape",
     LPT_INVALID_ARGUMENT,
     {"masked is 4 x 32", "4 x 33"},
     [](World &w) {
       return lpt_sparse_mask_select(w.c, w.other_source.get(), nullptr, nullptr, w.wide.get(), nullptr);
     }},
    {"select: values without a size",
     LPT_INVALID_ARGUMENT,
     {"out_info->struct_size is 0"},
     [](World &w) {
       lpt_sparse_info values{};
       return lpt_sparse_mask_select(w.c, w.source.get(), nullptr, w.bytes.get(), nullptr, &values);
     }},
    {"check: no memory for the result",
     LPT_INVALID_ARGUMENT,
     {"out_count is NULL"},
     [](World &w) { return lpt_sparse_mask_check(w.c, w.bytes.get(), 2, 4, 0, nullptr); }},
    {"check: more than a group has",
     LPT_INVALID_ARGUMENT,
     {"kept is 5 of 4"},
     [](World &w) { return lpt_sparse_mask_check(w.c, w.bytes.get(), 5, 4, 0, &w.out_number); }},
    {"check: numbers as a mask",
     LPT_UNSUPPORTED,
     {"mask is f32"},
     [](World &w) { return lpt_sparse_mask_check(w.c, w.wide.get(), 2, 4, 0, &w.out_number); }},
    {"compare: masks of two shapes",
     LPT_INVALID_ARGUMENT,
     {"other is 2 x 2", "mask"},
     [](World &w) {
       const Tensor other = make_tensor(w.owner.get(), LPT_FORMAT_UINT8, 2, 2);
       return lpt_sparse_mask_compare(w.c, w.bytes.get(), other.get(), &w.out_number);
     }},
    {"apply: output of another format",
     LPT_UNSUPPORTED,
     {"output is e4m3fn"},
     [](World &w) { return lpt_sparse_mask_apply(w.c, w.source.get(), w.bytes.get(), w.plain.get()); }},
    {"decay: a rate that is no number",
     LPT_INVALID_ARGUMENT,
     {"rate is"},
     [](World &w) { return lpt_sparse_mask_decay(w.c, w.source.get(), w.bytes.get(), std::nan(""), w.wide.get()); }},
    {"decay: a gradient of bytes",
     LPT_UNSUPPORTED,
     {"gradient is bf16", "f32"},
     [](World &w) {
       return lpt_sparse_mask_decay(w.c, w.weight.get(), make_tensor(w.owner.get(), LPT_FORMAT_UINT8, 6, 8).get(), 0.1,
                                    w.bf16_weight_gradient.get());
     }},
    {"compress: no output",
     LPT_INVALID_ARGUMENT,
     {"compressed and transposed are NULL"},
     [](World &w) { return lpt_sparse_compress(w.c, w.source.get(), nullptr, nullptr, nullptr); }},
    {"compress: a dense output",
     LPT_UNSUPPORTED,
     {"compressed is 4 x 32 f32", "2:4"},
     [](World &w) { return lpt_sparse_compress(w.c, w.source.get(), nullptr, w.wide.get(), nullptr); }},
    {"compress: another element",
     LPT_INVALID_ARGUMENT,
     {"compressed is bf16/2:4", "source f32"},
     [](World &w) {
       return lpt_sparse_compress(w.c, w.source.get(), nullptr, sparse_tensor(w, "bf16/2:4").get(), nullptr);
     }},
    {"compress: all of four",
     LPT_INVALID_ARGUMENT,
     {"mask keeps 4", "row 0", "at most 2"},
     [](World &w) {
       return lpt_sparse_compress(w.c, w.source.get(), full_mask(w).get(), sparse_tensor(w, "f32/2:4").get(), nullptr);
     }},
    {"compress: transposed with scales of rows",
     LPT_UNSUPPORTED,
     {"transposed", "mxfp8_e4m3", "square"},
     [](World &w) {
       const Tensor transposed_copy = make_tensor(w.owner.get(), format_named("mxfp8_e4m3/2:4"), 32, 4);
       return lpt_sparse_compress(w.c, w.codes.get(), nullptr, nullptr, transposed_copy.get());
     }},
    {"decompress: a dense source",
     LPT_UNSUPPORTED,
     {"compressed is 4 x 32 f32", "2:4"},
     [](World &w) { return lpt_sparse_decompress(w.c, w.source.get(), w.wide.get()); }},
    {"decompress: places that are none",
     LPT_INVALID_ARGUMENT,
     {"index 0x5", "group 3", "row 2"},
     [](World &w) {
       const Tensor sparse = sparse_tensor(w, "f32/2:4");
       part_data<uint8_t>(w.owner.get(), sparse.get(), LPT_TENSOR_PART_SPARSE_INDICES)[2 * 4 + 1] = 0x54;
       return lpt_sparse_decompress(w.c, sparse.get(), w.wide.get());
     }},
    {"quantize: a sparse source",
     LPT_UNSUPPORTED,
     {"source is sparse", "bf16/2:4", "lpt_sparse_decompress"},
     [](World &w) { return lpt_quantize(w.c, sparse_tensor(w, "bf16/2:4").get(), nullptr, w.fp8.get(), nullptr); }},
    {"quantize: a sparse output",
     LPT_UNSUPPORTED,
     {"quantized is sparse"},
     [](World &w) {
       return lpt_quantize(w.c, w.source.get(), nullptr, sparse_tensor(w, "e4m3fn/2:4").get(), nullptr);
     }},
};

}  // namespace lpt::test
