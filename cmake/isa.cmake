# One row per instruction set: file name → flags. A kernel file gets its flags because of its name.
set(LPT_ISA_x86_avx2 -mavx2 -mfma -mf16c)
set(LPT_ISA_x86_avx512 ${LPT_ISA_x86_avx2} -mavx512f -mavx512bw -mavx512vl -mavx512dq -mavx512vbmi)
set(LPT_ISA_x86_avx512_vnni ${LPT_ISA_x86_avx512} -mavx512vnni -mavx512vbmi2)
set(LPT_ISA_x86_avx512_bf16 ${LPT_ISA_x86_avx512} -mavx512bf16)
set(LPT_ISA_x86_amx ${LPT_ISA_x86_avx512_bf16} -mavx512vnni -mamx-tile -mamx-bf16 -mamx-int8)
# Checks of AddressSanitizer as calls: kernels, CUDA's on the CPU too, take two thirds of the time to compile.
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_FLAGS MATCHES "-fsanitize=address")
  set(LPT_OUTLINED_CHECKS --param=asan-instrumentation-with-call-threshold=0)
endif()
set(LPT_ISAS x86_avx2 x86_avx512 x86_avx512_vnni x86_avx512_bf16 x86_amx)
if(NOT LPT_SIMD OR NOT CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set(LPT_ISAS)
endif()
