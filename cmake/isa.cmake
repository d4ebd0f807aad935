# One row per instruction set: file name → flags. A kernel file gets its flags because of its name.
set(LPT_ISA_x86_avx2 -mavx2 -mfma -mf16c)
set(LPT_ISA_x86_avx512 ${LPT_ISA_x86_avx2} -mavx512f -mavx512bw -mavx512vl -mavx512dq -mavx512vbmi)
set(LPT_ISA_x86_avx512_vnni ${LPT_ISA_x86_avx512} -mavx512vnni)
set(LPT_ISA_x86_avx512_bf16 ${LPT_ISA_x86_avx512} -mavx512bf16)
set(LPT_ISAS x86_avx2 x86_avx512 x86_avx512_vnni x86_avx512_bf16)
if(NOT LPT_SIMD OR NOT CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set(LPT_ISAS)
endif()
