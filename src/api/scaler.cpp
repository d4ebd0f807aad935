#include "src/cast/scaler.hpp"

#include "src/api/guard.hpp"

using namespace lpt;

namespace {

BlobWriter saved(const Scaler &scaler) {
  BlobWriter writer(BlobKind::kScaler);
  write_scaler(scaler, writer);
  return writer;
}

}  // namespace

lpt_status lpt_scaler_create(lpt_context *context, const lpt_scaler_options *options, lpt_scaler **out_scaler) {
  return guard(context, [&](Context &self) -> Status {
    lpt_scaler_options known = LPT_SCALER_OPTIONS_INIT;
    LPT_TRY(read_options(options, "options", known));
    LPT_TRY(check_scaler_options(known));
    LPT_TRY(check_out(out_scaler, "out_scaler"));
    return create_scaler(self, known, out_scaler);
  });
}

void lpt_scaler_destroy(lpt_scaler *scaler) { destroy(scaler, HandleKind::kScaler); }

lpt_status lpt_scaler_update(lpt_context *context, lpt_scaler *const *scalers, int64_t scaler_count) {
  return guard(context, [&](Context &self) -> Status {
    if (scaler_count < 0)
      return invalid("scaler_count is %lld: expected at least 0", static_cast<long long>(scaler_count));
    if (scalers == nullptr && scaler_count > 0) return invalid("scalers is NULL: expected an array of handles");
    for (int64_t i = 0; i < scaler_count; ++i) {
      const std::string name = text("scalers[%lld]", static_cast<long long>(i));
      LPT_TRY(check_handle(scalers[i], HandleKind::kScaler, name.c_str()));
      LPT_TRY(check_place(self, *scalers[i], name.c_str()));
    }
    for (int64_t i = 0; i < scaler_count; ++i) LPT_TRY(update_scaler(self, *scalers[i]));
    return {};
  });
}

lpt_status lpt_scaler_read(lpt_context *context, const lpt_scaler *scaler, lpt_scaler_info *out_info) {
  return guard(context, [&](Context &self) -> Status {
    LPT_TRY(check_handle(scaler, HandleKind::kScaler, "scaler"));
    Scaler here;
    LPT_TRY(fetch_scaler(self, *scaler, here));
    return write_values(scaler_values(here), "out_info", out_info);
  });
}

lpt_status lpt_scaler_state_size(lpt_context *context, const lpt_scaler *scaler, size_t *out_size_bytes) {
  return guard(context, [&](Context &) -> Status {
    LPT_TRY(check_handle(scaler, HandleKind::kScaler, "scaler"));
    LPT_TRY(check_out(out_size_bytes, "out_size_bytes"));
    *out_size_bytes = saved(*scaler).size_bytes();
    return {};
  });
}

lpt_status lpt_scaler_state_save(lpt_context *context, const lpt_scaler *scaler, void *buffer, size_t buffer_bytes) {
  return guard(context, [&](Context &self) -> Status {
    LPT_TRY(check_handle(scaler, HandleKind::kScaler, "scaler"));
    LPT_TRY(check_out(buffer, "buffer"));
    Scaler here;
    LPT_TRY(fetch_scaler(self, *scaler, here));
    return saved(here).save(buffer, buffer_bytes);
  });
}

lpt_status lpt_scaler_state_load(lpt_context *context, lpt_scaler *scaler, const void *buffer, size_t buffer_bytes) {
  return guard(context, [&](Context &self) -> Status {
    LPT_TRY(check_handle(scaler, HandleKind::kScaler, "scaler"));
    LPT_TRY(check_place(self, *scaler, "scaler"));
    if (buffer == nullptr) return invalid("buffer is NULL: expected a saved state");
    BlobReader reader;
    Scaler loaded;
    LPT_TRY(BlobReader::open(BlobKind::kScaler, buffer, buffer_bytes, reader));
    LPT_TRY(read_scaler(reader, *scaler, loaded));
    if (reader.left_bytes() != 0)
      return blob_mismatch("bytes left over", static_cast<long long>(reader.left_bytes()), 0);
    loaded.there = scaler->there;
    if (loaded.there != nullptr) LPT_TRY(send_scaler(self, loaded));
    *scaler = loaded;
    return {};
  });
}
