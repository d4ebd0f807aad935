/* The smallest program that needs an installed LPT: header, library, and both of one release. */
#include <stdio.h>

#include "lpt.h"

int main(void) {
  lpt_context *context = NULL;
  const int32_t header = LPT_VERSION_MAJOR * 10000 + LPT_VERSION_MINOR * 100 + LPT_VERSION_PATCH;
  lpt_status status = lpt_context_create(NULL, &context);
  printf("LPT %s: %s\n", lpt_version_string(), lpt_status_string(status));
  lpt_context_destroy(context);
  return status != LPT_OK || lpt_version() != header;
}
