#include "src/weights/foreign_layout.hpp"

#include "src/api/guard.hpp"
#include "src/cast/convert.hpp"

using namespace lpt;

lpt_status lpt_foreign_layout_size(lpt_context *context, const lpt_tensor *tensor, lpt_foreign_layout foreign_layout,
                                   size_t *out_size_bytes) {
  return guard(context, [&](Context &) -> Status {
    LPT_TRY(check_out(out_size_bytes, "out_size_bytes"));
    return foreign_layout_size(tensor, foreign_layout, *out_size_bytes);
  });
}

lpt_status lpt_foreign_layout_export(lpt_context *context, const lpt_tensor *tensor, lpt_foreign_layout foreign_layout,
                                     void *buffer, size_t buffer_bytes) {
  return guard(context, [&](Context &self) {
    return export_foreign_layout(self, tensor, foreign_layout, buffer, buffer_bytes);
  });
}

lpt_status lpt_foreign_layout_import(lpt_context *context, const void *buffer, size_t buffer_bytes,
                                     lpt_foreign_layout foreign_layout, lpt_tensor *tensor) {
  return guard(context, [&](Context &self) -> Status {
    LPT_TRY(check_writable(tensor, "tensor"));
    return import_foreign_layout(self, buffer, buffer_bytes, foreign_layout, tensor);
  });
}

lpt_status lpt_convert(lpt_context *context, const lpt_tensor *source, const lpt_convert_options *options,
                       lpt_tensor *output) {
  return guard(context, [&](Context &self) -> Status {
    LPT_TRY(check_writable(output, "output"));
    lpt_convert_options known = LPT_CONVERT_OPTIONS_INIT;
    LPT_TRY(read_options(options, "options", known));
    return convert(self, source, known, output);
  });
}
