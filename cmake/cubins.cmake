# lpt_cubin(LIST SOURCE ARCHITECTURE) adds to a list what nvcc makes of a CUDA file, for tools/sass.py. Warnings are errors.
# Nothing is contracted: fused multiply-adds stand where the code says so.
find_program(LPT_NVCC nvcc HINTS /usr/local/cuda/bin)

function(lpt_cubin out source architecture)
  get_filename_component(name ${source} NAME_WE)
  get_filename_component(family ${source} DIRECTORY)
  get_filename_component(family ${family} NAME)
  set(cubin ${CMAKE_CURRENT_BINARY_DIR}/${family}.${name}.${architecture}.cubin)
  add_custom_command(OUTPUT ${cubin}
                     COMMAND ${LPT_NVCC} -std=c++20 -fmad=false -Werror all-warnings -arch=${architecture} -cubin
                             -I${PROJECT_SOURCE_DIR} -I${PROJECT_SOURCE_DIR}/include -MD -MF ${cubin}.d -o ${cubin} ${source}
                     DEPENDS ${source} DEPFILE ${cubin}.d VERBATIM)
  set(${out} ${${out}} ${cubin} PARENT_SCOPE)
endfunction()
