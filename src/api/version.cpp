#include "lpt.h"

#define LPT_TEXT_OF(number) #number
#define LPT_TEXT(number) LPT_TEXT_OF(number)
#define LPT_RELEASE LPT_TEXT(LPT_VERSION_MAJOR) "." LPT_TEXT(LPT_VERSION_MINOR) "." LPT_TEXT(LPT_VERSION_PATCH)

#if defined(__clang__)
#define LPT_COMPILER "clang " __clang_version__
#else
#define LPT_COMPILER "gcc " __VERSION__
#endif

int32_t lpt_version(void) { return LPT_VERSION_MAJOR * 10000 + LPT_VERSION_MINOR * 100 + LPT_VERSION_PATCH; }

const char *lpt_version_string(void) { return LPT_RELEASE; }

int32_t lpt_abi_level(void) { return 1; }

const char *lpt_build_info(void) { return "lpt " LPT_RELEASE ", " LPT_COMPILER ", kernels: reference " LPT_BUILT_ISAS; }

const char *lpt_status_string(lpt_status status) {
  switch (status) {
    case LPT_OK:
      return "ok";
    case LPT_INVALID_ARGUMENT:
      return "invalid argument";
    case LPT_UNSUPPORTED:
      return "unsupported";
    case LPT_OUT_OF_MEMORY:
      return "out of memory";
    case LPT_INVALID_STATE:
      return "invalid state";
    case LPT_INTERNAL:
      return "internal error";
    case LPT_CANCELLED:
      return "cancelled";
    case LPT_ABORTED:
      return "aborted";
    case LPT_TIMEOUT:
      return "timeout";
    case LPT_MISMATCH:
      return "mismatch";
    case LPT_WORK_FAILED:
      return "work failed";
    case LPT_BUSY:
      return "busy: the context is in use by another call; use one context per thread";
    default:
      return "unknown status";
  }
}
