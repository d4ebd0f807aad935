#include "tests/api/bad_calls.hpp"

namespace lpt::test {

const std::vector<BadCall> kNullContextCalls = {
    {"quantize: no context",
     LPT_INVALID_ARGUMENT,
     {},
     [](World &w) { return lpt_quantize(nullptr, w.source.get(), nullptr, w.fp8.get(), nullptr); }},
    {"quantize: a tensor for the context",
     LPT_INVALID_ARGUMENT,
     {},
     [](World &w) {
       return lpt_quantize(cast<lpt_context>(w.source.get()), w.source.get(), nullptr, w.fp8.get(), nullptr);
     }},
    {"gemm: no context",
     LPT_INVALID_ARGUMENT,
     {},
     [](World &w) { return lpt_gemm(nullptr, w.a.get(), w.b.get(), nullptr, w.gemm.get()); }},
    {"tensor_create: no context",
     LPT_INVALID_ARGUMENT,
     {},
     [](World &w) {
       const int64_t e[] = {1};
       return lpt_tensor_create(nullptr, LPT_FORMAT_F32, 1, e, &w.out_tensor);
     }},
    {"foreign_layout_size: no context",
     LPT_INVALID_ARGUMENT,
     {},
     [](World &w) {
       return lpt_foreign_layout_size(nullptr, w.packed.get(), LPT_FOREIGN_LAYOUT_BITSANDBYTES, &w.out_size);
     }},
    {"foreign_layout_export: no context",
     LPT_INVALID_ARGUMENT,
     {},
     [](World &w) {
       return lpt_foreign_layout_export(nullptr, w.packed.get(), LPT_FOREIGN_LAYOUT_BITSANDBYTES, w.buffer.data(),
                                        w.buffer.size());
     }},
    {"foreign_layout_import: no context",
     LPT_INVALID_ARGUMENT,
     {},
     [](World &w) {
       return lpt_foreign_layout_import(nullptr, w.buffer.data(), w.buffer.size(), LPT_FOREIGN_LAYOUT_GGML_Q4_1,
                                        w.wide.get());
     }},
    {"convert: no context",
     LPT_INVALID_ARGUMENT,
     {},
     [](World &w) { return lpt_convert(nullptr, w.plain.get(), nullptr, w.plain.get()); }},
    {"format_write_name: no format",
     LPT_INVALID_ARGUMENT,
     {},
     [](World &w) {
       return lpt_format_write_name(12345, reinterpret_cast<char *>(w.buffer.data()), 100, &w.out_size);
     }},
    {"format_write_name: no buffer",
     LPT_INVALID_ARGUMENT,
     {},
     [](World &w) { return lpt_format_write_name(LPT_FORMAT_F32, nullptr, 100, &w.out_size); }},
    {"format_from_name: no such name",
     LPT_INVALID_ARGUMENT,
     {},
     [](World &w) { return lpt_format_from_name("e9m9", &w.out_number); }},
    {"format_from_name: NULL",
     LPT_INVALID_ARGUMENT,
     {},
     [](World &w) { return lpt_format_from_name(nullptr, &w.out_number); }},
    {"format_from_name: empty",
     LPT_INVALID_ARGUMENT,
     {},
     [](World &w) { return lpt_format_from_name("", &w.out_number); }},
    {"format_from_description: parts that make none",
     LPT_INVALID_ARGUMENT,
     {},
     [](World &w) {
       lpt_format_description d = LPT_FORMAT_DESCRIPTION_INIT;
       d.element = LPT_FORMAT_E4M3FN;
       d.block_scale = LPT_FORMAT_F32;
       d.block_rows = 3;
       d.block_columns = 32;
       return lpt_format_from_description(&d, &w.out_number);
     }},
    {"format_describe: no format",
     LPT_INVALID_ARGUMENT,
     {},
     [](World &) {
       lpt_format_description d = LPT_FORMAT_DESCRIPTION_INIT;
       return lpt_format_describe(-5, &d);
     }},
};

}  // namespace lpt::test
