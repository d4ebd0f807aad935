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

# lpt_unite_cuda(OUT SOURCES...): the same for CUDA files, for which CMake has no unity builds. The files of a family are one unit,
# except those that take long to compile, some of which define equal names.
function(lpt_unite_cuda out)
  set(sources ${ARGN})
  if(LPT_UNITY)
    set(large ${ARGN})
    list(FILTER large INCLUDE REGEX "/cuda_(fragments|lines|search|tiles|transposed|few_rows|warpgroups)\\.cu$")
    list(REMOVE_ITEM sources ${large})
    foreach(source IN LISTS sources)
      string(REGEX REPLACE ".*/kernels/([a-z_]+)/.*" "\\1" family ${source})
      list(APPEND families ${family})
      string(APPEND unit_${family} "#include \"${source}\"\n")
    endforeach()
    list(REMOVE_DUPLICATES families)
    set(sources ${large})
    foreach(family IN LISTS families)
      set(unit ${PROJECT_BINARY_DIR}/unity/${family}/cuda.cu)
      file(CONFIGURE OUTPUT ${unit} CONTENT "${unit_${family}}" @ONLY)
      list(APPEND sources ${unit})
    endforeach()
  endif()
  set(${out} ${sources} PARENT_SCOPE)
endfunction()
