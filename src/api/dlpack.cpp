#include "src/tensor/dlpack.hpp"

#include "src/api/guard.hpp"

using namespace lpt;

namespace {

Status check_managed(const void *managed, const lpt_tensor *const *out_tensor) {
  if (managed == nullptr) return invalid("managed is NULL: expected a DLPack struct");
  return check_out(out_tensor, "out_tensor");
}

}  // namespace

lpt_status lpt_tensor_from_dlpack(lpt_context *context, const void *managed, int32_t is_versioned, lpt_flags *out_flags,
                                  lpt_tensor **out_tensor) {
  return guard(context, [&](Context &self) -> Status {
    LPT_TRY(check_managed(managed, out_tensor));
    return borrow_dlpack(self, managed, is_versioned, out_flags, out_tensor);
  });
}

lpt_status lpt_tensor_take_dlpack(lpt_context *context, void *managed, int32_t is_versioned, lpt_flags *out_flags,
                                  lpt_tensor **out_tensor) {
  return guard(context, [&](Context &self) -> Status {
    LPT_TRY(check_managed(managed, out_tensor));
    return take_dlpack(self, managed, is_versioned, out_flags, out_tensor);
  });
}

lpt_status lpt_tensor_to_dlpack(lpt_context *context, const lpt_tensor *tensor, int32_t is_versioned,
                                void **out_managed) {
  return guard(context, [&](Context &) -> Status {
    LPT_TRY(check_handle(tensor, HandleKind::kTensor, "tensor"));
    LPT_TRY(check_out(out_managed, "out_managed"));
    return give_dlpack(*tensor, is_versioned, out_managed);
  });
}
