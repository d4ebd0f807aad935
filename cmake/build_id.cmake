# Writes OUTPUT, a source with the build id of HEADERS: a hash of their names and contents and of COMPILER. A plugin shares
# structs of C++ with the library; where the ids agree so do the structs.
set(sums "${COMPILER}")
foreach(header IN LISTS HEADERS)
  file(SHA256 ${ROOT}/${header} sum)
  string(APPEND sums " ${header} ${sum}")
endforeach()
string(SHA256 id "${sums}")
string(SUBSTRING ${id} 0 16 id)
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT [[
#include "src/backends/device_plugin.hpp"

namespace lpt {

const char *build_id() { return "@VERSION@-@id@"; }

}  // namespace lpt
]] @ONLY)
