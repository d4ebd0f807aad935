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
};

}  // namespace lpt::test
