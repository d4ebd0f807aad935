// Marks functions that the CUDA kernels share with the CPU rows.
#pragma once

#if defined(__CUDACC__)
#define LPT_HOST_DEVICE __host__ __device__
#else
#define LPT_HOST_DEVICE
#endif
