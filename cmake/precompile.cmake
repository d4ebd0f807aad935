# Most source files are small: parsing the headers of C++ takes most of their time. Where all files are compiled once, as for a wheel,
# precompiled headers save it. In a working tree they would hide missing includes, and compile everything after each change of one.
option(LPT_PRECOMPILE "Precompile headers and unite sources, for builds from nothing" OFF)

# Headers of their own, or with REUSE_FROM those of another target.
function(lpt_precompile name)
  if(NOT LPT_PRECOMPILE)
    return()
  endif()
  if("${ARGV1}" STREQUAL "REUSE_FROM")
    target_precompile_headers(${name} ${ARGN})
  else()
    target_precompile_headers(${name} PRIVATE <algorithm> <atomic> <cmath> <cstring> <functional>
                              <limits> <map> <memory> <mutex> <numeric> <optional> <span> <string> <vector> ${ARGN})
  endif()
endfunction()

# lpt_unite(NAME SOURCES...): these sources are compiled as one, which parses the large header that they share once.
function(lpt_unite name)
  if(NOT LPT_PRECOMPILE)
    return()
  endif()
  set_target_properties(${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  set_source_files_properties(${ARGN} PROPERTIES UNITY_GROUP one)
endfunction()
