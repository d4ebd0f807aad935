// A plugin of another release. LPT_FAULT 1: another interface number; 2: a truncated table; 3: an unknown interface.
#include "lpt.h"
#include "src/comm/transport.hpp"

extern "C" LPT_API const lpt_transport_table *lpt_plugin_entry(uint32_t abi);

const lpt_transport_table *lpt_plugin_entry(uint32_t abi) {
  static lpt_transport_table table{};
  table.struct_size = static_cast<uint32_t>(sizeof table - (LPT_FAULT == 2 ? sizeof(void *) : 0));
  table.abi = abi + (LPT_FAULT == 1 ? 1 : 0);
  return LPT_FAULT == 3 ? nullptr : &table;
}
