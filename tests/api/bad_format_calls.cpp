#include "tests/api/bad_calls.hpp"

namespace lpt::test {

const std::vector<BadCall> kFormatCalls = {
    {"format_write_name: no format",
     LPT_INVALID_ARGUMENT,
     {"format is 12345", "lpt_format_from_description()"},
     [](World &w) {
       return lpt_format_write_name(w.c, 12345, reinterpret_cast<char *>(w.buffer.data()), 100, &w.out_size);
     }},
    {"format_write_name: no buffer",
     LPT_INVALID_ARGUMENT,
     {"buffer is NULL", "100 bytes"},
     [](World &w) { return lpt_format_write_name(w.c, LPT_FORMAT_F32, nullptr, 100, &w.out_size); }},
    {"format_write_text: no format",
     LPT_INVALID_ARGUMENT,
     {"format is -1"},
     [](World &w) { return lpt_format_write_text(w.c, -1, nullptr, 0, &w.out_size); }},
    {"format_from_name: no such name",
     LPT_INVALID_ARGUMENT,
     {"e9m9"},
     [](World &w) { return lpt_format_from_name(w.c, "e9m9", &w.out_number); }},
    {"format_from_name: a part of a name",
     LPT_INVALID_ARGUMENT,
     {"name is \"mxfp8\": expected a preset such as", "similar: mxfp8_e4m3, mxfp8_e5m2"},
     [](World &w) { return lpt_format_from_name(w.c, "mxfp8", &w.out_number); }},
    {"format_from_name: a name of torch",
     LPT_INVALID_ARGUMENT,
     {"similar: e4m3fn"},
     [](World &w) { return lpt_format_from_name(w.c, "torch.float8_e4m3fn", &w.out_number); }},
    {"format_from_name: a misspelled name",
     LPT_INVALID_ARGUMENT,
     {"similar: nvfp4"},
     [](World &w) { return lpt_format_from_name(w.c, "NVFP-4", &w.out_number); }},
    {"format_from_name: NULL",
     LPT_INVALID_ARGUMENT,
     {"name is NULL"},
     [](World &w) { return lpt_format_from_name(w.c, nullptr, &w.out_number); }},
    {"format_from_name: empty",
     LPT_INVALID_ARGUMENT,
     {},
     [](World &w) { return lpt_format_from_name(w.c, "", &w.out_number); }},
    {"format_from_name: no memory",
     LPT_INVALID_ARGUMENT,
     {"out_format is NULL"},
     [](World &w) { return lpt_format_from_name(w.c, "f32", nullptr); }},
    {"format_from_description: parts that make none",
     LPT_INVALID_ARGUMENT,
     {"block_rows is 3"},
     [](World &w) {
       lpt_format_description d = LPT_FORMAT_DESCRIPTION_INIT;
       d.element = LPT_FORMAT_E4M3FN;
       d.block_scale = LPT_FORMAT_F32;
       d.block_rows = 3;
       d.block_columns = 32;
       return lpt_format_from_description(w.c, &d, &w.out_number);
     }},
    {"format_describe: no format",
     LPT_INVALID_ARGUMENT,
     {"format is -5"},
     [](World &w) {
       lpt_format_description d = LPT_FORMAT_DESCRIPTION_INIT;
       return lpt_format_describe(w.c, -5, &d);
     }},
    {"device_describe: no such device",
     LPT_INVALID_ARGUMENT,
     {"device is 7"},
     [](World &w) {
       lpt_device_info info = LPT_DEVICE_INFO_INIT;
       return lpt_device_describe(w.c, 7, 0, &info);
     }},
    {"comm_group_create: no ranks",
     LPT_INVALID_ARGUMENT,
     {"rank_count is 0"},
     [](World &w) {
       lpt_comm_group *group = nullptr;
       return lpt_comm_group_create(w.c, 0, &group);
     }},
    {"partial_shared_columns: more than all",
     LPT_INVALID_ARGUMENT,
     {"fraction is 1.5"},
     [](World &w) { return lpt_partial_shared_columns(w.c, 64, 1.5, &w.out_number); }},
};

}  // namespace lpt::test
