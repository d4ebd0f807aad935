# liblpt_cuda.so, which the library opens when the first context asks for a GPU. Without nvcc all else is built as ever.
set(LPT_CUDA AUTO CACHE STRING "The CUDA plugin: AUTO where nvcc is found, ON, OFF")
set(LPT_CUDA_ARCHITECTURES 80-real 89-real 90a-real 90-virtual
    CACHE STRING "Compute capabilities of the CUDA plugin; 100a-real and 120a-real may be added")

# The build id that library and plugins share.
set(id_source ${PROJECT_BINARY_DIR}/generated/build_id.cpp)
file(GLOB id_headers RELATIVE ${PROJECT_SOURCE_DIR} CONFIGURE_DEPENDS include/*.h include/lpt/*.h include/lpt/research/*.h src/base/*.hpp src/formats/*.hpp
     src/backends/*.hpp kernels/*/*.hpp kernels/*/cuda/*.hpp)
add_custom_command(
  OUTPUT ${id_source}
  COMMAND ${CMAKE_COMMAND} "-DROOT=${PROJECT_SOURCE_DIR}" "-DOUTPUT=${id_source}" "-DVERSION=${PROJECT_VERSION}"
          "-DCOMPILER=${CMAKE_CXX_COMPILER_ID}" "-DHEADERS=${id_headers}" -P ${PROJECT_SOURCE_DIR}/cmake/build_id.cmake
  DEPENDS ${PROJECT_SOURCE_DIR}/cmake/build_id.cmake ${id_headers}
  WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
  VERBATIM)
add_library(lpt_build_id OBJECT ${id_source})
target_link_libraries(lpt_build_id PRIVATE lpt_flags)

# What every device plugin is linked with: one symbol leaves it, and none is left open.
function(lpt_device_plugin name)
  target_link_libraries(${name} PRIVATE lpt_flags)
  target_link_options(${name} PRIVATE LINKER:--version-script=${PROJECT_SOURCE_DIR}/cmake/plugin.map
                      LINKER:-z,relro,-z,now LINKER:--exclude-libs,ALL)
  if(NOT CMAKE_CXX_FLAGS MATCHES "-fsanitize")
    target_link_options(${name} PRIVATE LINKER:-z,defs)
  endif()
  set_target_properties(${name} PROPERTIES LINK_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/plugin.map)
endfunction()

# Its host side: the plugin of CUDA, and that of tests, which has a runtime of its own.
set(LPT_DEVICE_SOURCES
    ${PROJECT_SOURCE_DIR}/src/plugins/cuda_families.cpp ${PROJECT_SOURCE_DIR}/src/backends/cuda/cuda_backend.cpp
    ${PROJECT_SOURCE_DIR}/src/backends/cuda/on_device.cpp
    ${PROJECT_SOURCE_DIR}/src/plugins/cublas_choices.cpp ${PROJECT_SOURCE_DIR}/src/plugins/cublas_library.cpp
    ${PROJECT_SOURCE_DIR}/src/plugins/cublas_lt.cpp ${PROJECT_SOURCE_DIR}/src/plugins/cusparse_library.cpp
    ${PROJECT_SOURCE_DIR}/src/plugins/cusparse_lt.cpp
    ${PROJECT_SOURCE_DIR}/src/backends/cuda/nccl_library.cpp ${PROJECT_SOURCE_DIR}/src/backends/cuda/nccl_transport.cpp
    $<TARGET_OBJECTS:lpt_build_id> $<TARGET_OBJECTS:lpt_formats>)

function(lpt_find_nvcc)
  include(CheckLanguage)
  if(NOT CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX})
    find_program(LPT_NVCC nvcc HINTS ENV CUDA_PATH ENV CUDA_HOME PATHS /usr/local/cuda PATH_SUFFIXES bin)
    if(LPT_NVCC)
      set(CMAKE_CUDA_COMPILER ${LPT_NVCC} CACHE FILEPATH "CUDA compiler")
    endif()
  endif()
  check_language(CUDA)
  set(CMAKE_CUDA_COMPILER "${CMAKE_CUDA_COMPILER}" PARENT_SCOPE)
endfunction()

set(LPT_CUDA_PLUGIN)
if(LPT_CUDA STREQUAL OFF OR CMAKE_CXX_FLAGS MATCHES "-fsanitize")
  message(STATUS "liblpt_cuda.so is left out: LPT_CUDA is OFF, or there are sanitizers")
  return()
endif()
lpt_find_nvcc()
if(NOT CMAKE_CUDA_COMPILER)
  if(LPT_CUDA STREQUAL ON)
    message(FATAL_ERROR "LPT_CUDA is ON: expected nvcc on the PATH, in CUDA_PATH or in /usr/local/cuda")
  endif()
  message(STATUS "liblpt_cuda.so is left out: it needs nvcc")
  return()
endif()
set(CMAKE_CUDA_ARCHITECTURES ${LPT_CUDA_ARCHITECTURES})
set(CMAKE_CUDA_RUNTIME_LIBRARY Static)
enable_language(CUDA)
find_package(CUDAToolkit REQUIRED)
# CMake 3.25 does not know that nvcc has C++20.
if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
  set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
endif()

file(GLOB cuda_kernels CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/kernels/*/cuda_*.cu ${PROJECT_SOURCE_DIR}/kernels/*/cuda/*.cu)
file(GLOB cuda_tables CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/kernels/*/cuda_*.cpp ${PROJECT_SOURCE_DIR}/kernels/*/cuda/*.cpp)
lpt_unite_cuda(cuda_kernels ${cuda_kernels})
add_library(lpt_cuda MODULE ${PROJECT_SOURCE_DIR}/src/plugins/cuda.cpp ${LPT_DEVICE_SOURCES} ${cuda_kernels} ${cuda_tables})
lpt_device_plugin(lpt_cuda)
target_link_libraries(lpt_cuda PRIVATE CUDA::cudart_static)
# Contraction would make bits depend on the device.
target_compile_options(lpt_cuda PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:-fmad=false -Xcompiler=-Wall,-ffp-contract=off
                                        $<$<BOOL:${LPT_WERROR}>:-Werror=all-warnings>>)
set_target_properties(lpt_cuda PROPERTIES CUDA_RUNTIME_LIBRARY Static CUDA_VISIBILITY_PRESET hidden LINKER_LANGUAGE CXX
                      CUDA_STANDARD 20 CUDA_EXTENSIONS OFF CUDA_ARCHITECTURES "${LPT_CUDA_ARCHITECTURES}" SKIP_BUILD_RPATH ON)
set(LPT_CUDA_PLUGIN lpt_cuda)
