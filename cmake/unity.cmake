# Most source files are small: parsing headers takes most of their compilation. Sources of one folder share these headers and are
# compiled as one unit. OFF compiles each file alone, which finds missing includes.
option(LPT_UNITY "Compile the sources of a folder as one unit" ON)

# lpt_unite(NAME): all sources of a target are one unit.
# lpt_unite(NAME SOURCES...): these are one unit, the others are compiled alone. Several calls make several units.
function(lpt_unite name)
  if(NOT LPT_UNITY)
    return()
  endif()
  if(NOT ARGN)
    set_target_properties(${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 0)
    return()
  endif()
  list(GET ARGN 0 first)
  set_target_properties(${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  set_source_files_properties(${ARGN} PROPERTIES UNITY_GROUP ${first})
endfunction()
