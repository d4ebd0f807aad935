# One row per instruction set: file name → flags. A kernel file gets its flags because of its name.
set(LPT_ISA_x86_avx2 -mavx2 -mfma -mf16c)
set(LPT_ISA_x86_avx512 ${LPT_ISA_x86_avx2} -mavx512f -mavx512bw -mavx512vl -mavx512dq -mavx512vbmi)
set(LPT_ISA_x86_avx512_vnni ${LPT_ISA_x86_avx512} -mavx512vnni -mavx512vbmi2)
set(LPT_ISA_x86_avx512_bf16 ${LPT_ISA_x86_avx512} -mavx512bf16)
set(LPT_ISA_x86_amx ${LPT_ISA_x86_avx512_bf16} -mavx512vnni -mamx-tile -mamx-bf16 -mamx-int8)
set(LPT_ISA_arm_neon)  # every 64-bit Arm CPU has Advanced SIMD: no flags
if(NOT LPT_SIMD)
  set(LPT_ISAS)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set(LPT_ISAS x86_avx2 x86_avx512 x86_avx512_vnni x86_avx512_bf16 x86_amx)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
  set(LPT_ISAS arm_neon)
endif()
set(LPT_SIMD_ISAS x86_avx2 x86_avx512 arm_neon)  # those with a header of vectors, kernels/common/simd_*.hpp
# The families whose simd_ sources are compiled for an ISA; all of them where it has no list. Their tables have LPT_SIMD_ENTRIES.
set(LPT_SIMD_FAMILIES_arm_neon activation hadamard monitor reduce)

# The preset asan leaves out checks that take a third of the time of compiling. Null pointers, object sizes and virtual tables are
# left to AddressSanitizer, which reports the accesses. Alignment is checked where elements of tensors are accessed.
if(CMAKE_CXX_FLAGS MATCHES "-fsanitize=[a-z,]*undefined")
  set(LPT_ELEMENT_CHECKS -fsanitize=alignment)
endif()

# A sanitizer checks code that runs: builds with one leave out kernels that this CPU cannot run.
if(CMAKE_CXX_FLAGS MATCHES "-fsanitize" AND EXISTS /proc/cpuinfo)
  set(LPT_CPU_x86_avx2 avx2 fma f16c)
  set(LPT_CPU_x86_avx512 avx512f avx512bw avx512vl avx512dq avx512vbmi)
  set(LPT_CPU_x86_avx512_vnni avx512_vnni avx512_vbmi2)
  set(LPT_CPU_x86_avx512_bf16 avx512_bf16)
  set(LPT_CPU_x86_amx amx_tile amx_bf16 amx_int8)
  file(STRINGS /proc/cpuinfo cpu_flags REGEX "^flags" LIMIT_COUNT 1)
  foreach(isa IN LISTS LPT_ISAS)
    foreach(flag IN LISTS LPT_CPU_${isa})
      if(NOT "${cpu_flags} " MATCHES " ${flag} ")
        list(REMOVE_ITEM LPT_ISAS ${isa})
        break()
      endif()
    endforeach()
  endforeach()
  message(STATUS "kernels for ${LPT_ISAS}: under a sanitizer those of this CPU")
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # Checks of addresses by calls compile in 60 % of the time of inline checks, which only the loops of kernels need.
    add_compile_options("SHELL:--param asan-instrumentation-with-call-threshold=0")
    set(LPT_INLINE_CHECKS "SHELL:--param asan-instrumentation-with-call-threshold=7000")
    # The SIMD kernels are checked for accesses to heap memory. Checks of their frames take 40 % of the time of compiling, and GCC
    # misaligns frames with vectors of 64 bytes (GCC bug 110027). The undefined-behaviour sanitizer checks indices of arrays.
    foreach(isa IN LISTS LPT_ISAS)
      list(APPEND LPT_ISA_${isa} ${LPT_INLINE_CHECKS} "SHELL:--param asan-stack=0")
    endforeach()
  endif()
endif()
