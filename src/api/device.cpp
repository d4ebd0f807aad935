#include "src/api/guard.hpp"

using namespace lpt;

void lpt_device_info_init(lpt_device_info *description, size_t struct_size) {
  write_defaults(description, struct_size, LPT_DEVICE_INFO_INIT);
}

lpt_status lpt_device_describe(lpt_device device, int32_t index, lpt_device_info *out_description) {
  return guard_without_context([&]() -> Status {
    lpt_device_info values;
    LPT_TRY(check_values(out_description, "out_description"));
    LPT_TRY(describe_device({device, index}, values));
    return write_values(values, "out_description", out_description);
  });
}
