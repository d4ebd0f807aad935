# Most source files are small: parsing the headers of C++ takes most of their time. Where all files are compiled once, as for a wheel,
# precompiled headers save it. In a working tree they would hide missing includes, and compile everything after each change of one.
option(LPT_PRECOMPILE "Precompile headers, for builds from nothing" OFF)

# Headers of their own, or with REUSE_FROM those of another target.
function(lpt_precompile name)
  if(NOT LPT_PRECOMPILE)
    return()
  endif()
  if("${ARGV1}" STREQUAL "REUSE_FROM")
    target_precompile_headers(${name} ${ARGN})
  else()
    target_precompile_headers(${name} PRIVATE <algorithm> <atomic> <chrono> <cmath> <condition_variable> <cstring> <functional>
                              <limits> <map> <memory> <mutex> <numeric> <span> <string> <thread> <vector> ${ARGN})
  endif()
endfunction()
