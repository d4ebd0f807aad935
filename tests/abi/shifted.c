/* A library before liblpt.so that breaks the interface as a careless release would: a level of another SONAME. */
#include <stdint.h>

int32_t lpt_abi_level(void);
__attribute__((visibility("default"))) int32_t lpt_abi_level(void) { return 2; }
