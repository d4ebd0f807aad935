#include "tests/api/bad_calls.hpp"

namespace lpt::test {

const std::vector<BadCall> kContextCalls = {
    {"context_create: threads",
     LPT_INVALID_ARGUMENT,
     {"thread_count is 5000", "0 to 4096"},
     [](World &w) { return create_context(w, [](auto &o) { o.thread_count = 5000; }); }},
    {"context_create: isa",
     LPT_INVALID_ARGUMENT,
     {"isa is 77", "lpt_isa_values"},
     [](World &w) { return create_context(w, [](auto &o) { o.isa = 77; }); }},
    {"context_create: log level",
     LPT_INVALID_ARGUMENT,
     {"log_level is -1", "0 to 3"},
     [](World &w) { return create_context(w, [](auto &o) { o.log_level = -1; }); }},
    {"context_create: half an allocator",
     LPT_INVALID_ARGUMENT,
     {"release is NULL", "together"},
     [](World &w) {
       return create_context(w, [](auto &o) { o.allocate = [](void *, size_t, size_t) -> void * { return nullptr; }; });
     }},
    {"context_create: host threads without width",
     LPT_INVALID_ARGUMENT,
     {"parallel_for_width is 0", "at least 1"},
     [](World &w) {
       return create_context(w, [](auto &o) { o.parallel_for = [](void *, int64_t, lpt_task_function, void *) {}; });
     }},
    {"context_create: no memory for the result",
     LPT_INVALID_ARGUMENT,
     {"out_context is NULL"},
     [](World &w) {
       lpt_context_options o = LPT_CONTEXT_OPTIONS_INIT;
       o.error_text = w.error_text;
       o.error_text_bytes = sizeof w.error_text;
       return lpt_context_create(&o, nullptr);
     }},
    {"context_create: struct size 0",
     LPT_INVALID_ARGUMENT,
     {},
     [](World &w) { return create_context(w, [](auto &o) { o.struct_size = 0; }); }},
    {"set_threads: negative",
     LPT_INVALID_ARGUMENT,
     {"thread_count is -1", "0 to 4096"},
     [](World &w) { return lpt_context_set_threads(w.c, -1); }},
    {"set_isa: unknown",
     LPT_INVALID_ARGUMENT,
     {"isa is 99", "0 to 5"},
     [](World &w) { return lpt_context_set_isa(w.c, 99); }},
    {"context_create: unknown device",
     LPT_INVALID_ARGUMENT,
     {"device is 9", "0 to 1"},
     [](World &w) { return create_context(w, [](auto &o) { o.device = 9; }); }},
    {"context_create: a second CPU",
     LPT_INVALID_ARGUMENT,
     {"device_index is 1", "0, the CPU"},
     [](World &w) { return create_context(w, [](auto &o) { o.device_index = 1; }); }},
    {"context_create: stream of the CPU",
     LPT_UNSUPPORTED,
     {"stream is 0x", "expected NULL", "CPU"},
     [](World &w) { return create_context(w, [&](auto &o) { o.stream = &w; }); }},
    {"context_create: half an allocator of a GPU",
     LPT_INVALID_ARGUMENT,
     {"device_allocate is NULL", "together"},
     [](World &w) {
       return create_context(w, [](auto &o) { o.device_release = [](void *, void *, size_t, void *) {}; });
     }},
    {"context_create: an allocator of a GPU for the CPU",
     LPT_UNSUPPORTED,
     {"device_allocate is set", "expected NULL", "CPU"},
     [](World &w) {
       return create_context(w, [](auto &o) {
         o.device_allocate = [](void *, size_t, size_t, void *) -> void * { return nullptr; };
         o.device_release = [](void *, void *, size_t, void *) {};
       });
     }},
    {"wait_stream: of the CPU",
     LPT_UNSUPPORTED,
     {"the context works on the CPU"},
     [](World &w) { return lpt_context_wait_stream(w.c, nullptr); }},
    {"notify_stream: of the CPU",
     LPT_UNSUPPORTED,
     {"the context works on the CPU"},
     [](World &w) { return lpt_context_notify_stream(w.c, nullptr); }},
    {"wait_event: of the CPU",
     LPT_UNSUPPORTED,
     {"the context works on the CPU"},
     [](World &w) { return lpt_context_wait_event(w.c, &w); }},
    {"record_event: of the CPU",
     LPT_UNSUPPORTED,
     {"the context works on the CPU"},
     [](World &w) { return lpt_context_record_event(w.c, &w); }},
    {"set_stream: of the CPU",
     LPT_UNSUPPORTED,
     {"CPU, which has no streams"},
     [](World &w) { return lpt_context_set_stream(w.c, nullptr); }},
    {"set_log: unknown level",
     LPT_INVALID_ARGUMENT,
     {"level is 9", "0 to 3"},
     [](World &w) { return lpt_context_set_log(w.c, 9, nullptr, nullptr); }},
    {"set_profile: not a boolean",
     LPT_INVALID_ARGUMENT,
     {"is_enabled is 2", "0 or 1"},
     [](World &w) { return lpt_context_set_profile(w.c, 2); }},
    {"profile_count: NULL",
     LPT_INVALID_ARGUMENT,
     {"out_count is NULL"},
     [](World &w) { return lpt_context_profile_count(w.c, nullptr); }},
    {"profile_entry: beyond the count",
     LPT_INVALID_ARGUMENT,
     {"index is 5", "the count, 0"},
     [](World &w) {
       lpt_profile_entry e = LPT_PROFILE_ENTRY_INIT;
       return lpt_context_profile_entry(w.c, 5, &e);
     }},
    {"profile_entry: negative",
     LPT_INVALID_ARGUMENT,
     {"index is -1"},
     [](World &w) {
       lpt_profile_entry e = LPT_PROFILE_ENTRY_INIT;
       return lpt_context_profile_entry(w.c, -1, &e);
     }},
    {"profile_save: NULL",
     LPT_INVALID_ARGUMENT,
     {"path is NULL"},
     [](World &w) { return lpt_context_profile_save(w.c, nullptr); }},
    {"profile_save: no such directory",
     LPT_INVALID_ARGUMENT,
     {"/no-such-directory/trace.json", "cannot be written"},
     [](World &w) { return lpt_context_profile_save(w.c, "/no-such-directory/trace.json"); }},
};

}  // namespace lpt::test
