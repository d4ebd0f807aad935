# 64-bit Arm by Debian's cross compiler; qemu-user runs what it makes. The library and the tests of its kernels, no plugins.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64 -L /usr/aarch64-linux-gnu)
set(LPT_CUDA OFF CACHE STRING "nvcc would compile for another CPU")
