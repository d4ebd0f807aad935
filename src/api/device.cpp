#include "src/api/guard.hpp"

using namespace lpt;

lpt_status lpt_device_describe(lpt_context *context, lpt_device device, int32_t index,
                               lpt_device_info *out_description) {
  return guard_optional(context, [&]() -> Status {
    lpt_device_info values;
    LPT_TRY(check_values(out_description, "out_description"));
    LPT_TRY(describe_device({device, index}, values));
    return write_values(values, "out_description", out_description);
  });
}
