// Marks functions that CUDA kernels share with CPU kernels.
#pragma once

#if defined(__CUDACC__)
#define LPT_HOST_DEVICE __host__ __device__
#else
#define LPT_HOST_DEVICE
#endif
