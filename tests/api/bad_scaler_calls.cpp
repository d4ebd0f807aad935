#include <cmath>

#include "tests/api/bad_calls.hpp"

namespace lpt::test {

const std::vector<BadCall> kScalerCalls = {
    {"scaler_create: unknown kind",
     LPT_INVALID_ARGUMENT,
     {"kind is 5", "0 to 1"},
     [](World &w) { return create_scaler(w, [](auto &o) { o.kind = 5; }); }},
    {"scaler_create: no history",
     LPT_INVALID_ARGUMENT,
     {"history_length is 0", "1 to 65536"},
     [](World &w) { return create_scaler(w, [](auto &o) { o.history_length = 0; }); }},
    {"scaler_create: huge history",
     LPT_INVALID_ARGUMENT,
     {"history_length is 65537", "1 to 65536"},
     [](World &w) { return create_scaler(w, [](auto &o) { o.history_length = 65537; }); }},
    {"scaler_create: margin",
     LPT_INVALID_ARGUMENT,
     {"margin is 65", "-64 to 64"},
     [](World &w) { return create_scaler(w, [](auto &o) { o.margin = 65; }); }},
    {"scaler_create: unknown rule of the history",
     LPT_INVALID_ARGUMENT,
     {"history_rule is 3", "0 to 2"},
     [](World &w) { return create_scaler(w, [](auto &o) { o.history_rule = 3; }); }},
    {"scaler_create: unknown rule of zero",
     LPT_INVALID_ARGUMENT,
     {"zero_rule is -1", "0 to 2"},
     [](World &w) { return create_scaler(w, [](auto &o) { o.zero_rule = -1; }); }},
    {"scaler_create: decay without an average",
     LPT_INVALID_ARGUMENT,
     {"history_decay is 0.5 with history_rule 1", "LPT_SCALER_HISTORY_RULE_AVERAGE"},
     [](World &w) {
       return create_scaler(w, [](auto &o) {
         o.history_rule = LPT_SCALER_HISTORY_RULE_LATEST;
         o.history_decay = 0.5f;
       });
     }},
    {"scaler_create: decay of 1",
     LPT_INVALID_ARGUMENT,
     {"history_decay is 1", "0 to below 1"},
     [](World &w) {
       return create_scaler(w, [](auto &o) {
         o.history_rule = LPT_SCALER_HISTORY_RULE_AVERAGE;
         o.history_decay = 1.0f;
       });
     }},
    {"scaler_create: decay that is NaN",
     LPT_INVALID_ARGUMENT,
     {"history_decay is nan", "0 to below 1"},
     [](World &w) { return create_scaler(w, [](auto &o) { o.history_decay = std::nanf(""); }); }},
    {"scaler_create: NULL",
     LPT_INVALID_ARGUMENT,
     {"out_scaler is NULL"},
     [](World &w) { return lpt_scaler_create(w.c, nullptr, nullptr); }},
    {"scaler_update: negative count",
     LPT_INVALID_ARGUMENT,
     {"scaler_count is -1"},
     [](World &w) { return lpt_scaler_update(w.c, nullptr, -1); }},
    {"scaler_update: no array",
     LPT_INVALID_ARGUMENT,
     {"scalers is NULL"},
     [](World &w) { return lpt_scaler_update(w.c, nullptr, 2); }},
    {"scaler_update: a NULL among them",
     LPT_INVALID_ARGUMENT,
     {"scalers[1] is NULL"},
     [](World &w) {
       lpt_scaler *const s[] = {w.scaler.get(), nullptr};
       return lpt_scaler_update(w.c, s, 2);
     }},
    {"scaler_update: a tensor among them",
     LPT_INVALID_ARGUMENT,
     {"scalers[1] is not a live handle"},
     [](World &w) {
       lpt_scaler *const s[] = {w.scaler.get(), cast<lpt_scaler>(w.source.get())};
       return lpt_scaler_update(w.c, s, 2);
     }},
    {"scaler_read: no scaler",
     LPT_INVALID_ARGUMENT,
     {"scaler is NULL"},
     [](World &w) {
       lpt_scaler_info v = LPT_SCALER_INFO_INIT;
       return lpt_scaler_read(w.c, nullptr, &v);
     }},
    {"scaler_state_size: no scaler",
     LPT_INVALID_ARGUMENT,
     {"scaler is NULL"},
     [](World &w) { return lpt_scaler_state_size(w.c, nullptr, &w.out_size); }},
    {"scaler_state_load: no scaler",
     LPT_INVALID_ARGUMENT,
     {"scaler is NULL"},
     [](World &w) { return lpt_scaler_state_load(w.c, nullptr, w.buffer.data(), 64); }},
    {"scaler_read: NULL",
     LPT_INVALID_ARGUMENT,
     {"out_info is NULL"},
     [](World &w) { return lpt_scaler_read(w.c, w.scaler.get(), nullptr); }},
    {"scaler_state_save: too little memory",
     LPT_INVALID_ARGUMENT,
     {"buffer_bytes is 3"},
     [](World &w) { return lpt_scaler_state_save(w.c, w.scaler.get(), w.buffer.data(), 3); }},
    {"scaler_state_save: NULL",
     LPT_INVALID_ARGUMENT,
     {"buffer is NULL"},
     [](World &w) { return lpt_scaler_state_save(w.c, w.scaler.get(), nullptr, 4096); }},
    {"scaler_state_load: NULL",
     LPT_INVALID_ARGUMENT,
     {"buffer is NULL"},
     [](World &w) { return lpt_scaler_state_load(w.c, w.scaler.get(), nullptr, 4096); }},
    {"scaler_state_load: empty",
     LPT_INVALID_STATE,
     {"saved state", "0 bytes"},
     [](World &w) { return lpt_scaler_state_load(w.c, w.scaler.get(), w.buffer.data(), 0); }},
    {"scaler_state_load: truncated",
     LPT_INVALID_STATE,
     {"saved state", "truncated"},
     [](World &w) { return load_scaler(w, cut(w.scaler_state, 1)); }},
    {"scaler_state_load: no state at all",
     LPT_INVALID_STATE,
     {"saved state", "LPTS"},
     [](World &w) { return load_scaler(w, w.buffer); }},
    {"scaler_state_load: another version",
     LPT_INVALID_STATE,
     {"saved state", "version 17"},
     [](World &w) { return load_scaler(w, flipped(w.scaler_state, 4)); }},
    {"scaler_state_load: state of a layer",
     LPT_INVALID_STATE,
     {"saved state", "kind 2", "expected 1"},
     [](World &w) { return load_scaler(w, w.linear_state); }},
    {"scaler_state_load: damaged",
     LPT_INVALID_STATE,
     {"saved state", "checksum"},
     [](World &w) { return load_scaler(w, flipped(w.scaler_state, w.scaler_state.size() - 1)); }},
    {"scaler_state_load: of another history",
     LPT_INVALID_STATE,
     {"history_length is 2", "expected 1"},
     [](World &w) {
       Scaler other;
       lpt_scaler_options o = LPT_SCALER_OPTIONS_INIT;
       o.kind = LPT_SCALER_KIND_DELAYED;
       EXPECT_TRUE(ok(w.owner.get(), lpt_scaler_create(w.owner.get(), &o, out(other))));
       return lpt_scaler_state_load(w.c, other.get(), w.scaler_state.data(), w.scaler_state.size());
     }},
};

}  // namespace lpt::test
