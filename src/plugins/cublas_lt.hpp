// The part of cuBLASLt that GEMMs use, as documented. The first GEMM that needs the library opens it by name, so that the
// plugin needs neither the library nor its headers. If the headers are installed, a test compares the values below with them
// (tests/device/cublas_header.cpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "lpt.h"

namespace lpt::cublas {

using Handle = struct HandleOpaque *;
using Description = struct DescriptionOpaque *;  // of a GEMM
using Layout = struct LayoutOpaque *;            // of a matrix
using Preference = struct PreferenceOpaque *;

enum StatusCode : int32_t { kSuccess = 0, kNotInitialized = 1, kInvalidValue = 7, kNotSupported = 15 };
enum DataType : int32_t {
  kF32 = 0,
  kF16 = 2,
  kInt8 = 3,
  kInt32 = 10,
  kBf16 = 14,
  kE4m3fn = 28,
  kE5m2 = 29,
  kE2m1fn = 33
};
enum ComputeType : int32_t { kComputeF32 = 68, kComputeInt32 = 72 };
enum Operation : int32_t { kAsStored = 0, kTransposed = 1 };
enum PointerMode : int32_t { kOnHost = 0, kOnDevice = 1 };
enum Epilogue : uint32_t { kNoEpilogue = 1, kBiasEpilogue = 4 };
enum ScaleMode : int32_t { kScalar = 0, kVector16 = 1, kVector32 = 2, kOuterVector = 3, kVector128 = 4, kBlock128 = 5 };
enum DescriptionAttribute : int32_t {
  kPointerMode = 2,
  kOperationA = 3,
  kOperationB = 4,
  kEpilogue = 7,
  kBiasAddress = 8,
  kScalesAddressA = 17,
  kScalesAddressB = 18,
  kFastAccumulation = 25,
  kBiasType = 26,
  kScaleModeA = 31,
  kScaleModeB = 32
};
enum PreferenceAttribute : int32_t {
  kMostWorkspaceBytes = 1,
  kBoundaryA = 5,
  kBoundaryB = 6,
  kBoundaryC = 7,
  kBoundaryD = 8
};

// An algorithm of a GEMM: opaque data that is valid for one version of the library only.
struct Algorithm {
  uint64_t words[8];
};

struct Found {
  Algorithm algorithm;
  size_t workspace_bytes;
  int32_t state;  // a StatusCode
  float waves;
  int32_t reserved[4];
};

struct Functions {
  size_t (*version)();
  const char *(*status_name)(int32_t status);
  int32_t (*create)(Handle *out);
  int32_t (*destroy)(Handle handle);
  int32_t (*create_description)(Description *out, int32_t compute, int32_t scale);
  int32_t (*destroy_description)(Description description);
  int32_t (*describe)(Description description, int32_t attribute, const void *value, size_t bytes);
  int32_t (*create_layout)(Layout *out, int32_t type, uint64_t rows, uint64_t columns, int64_t leading);
  int32_t (*destroy_layout)(Layout layout);
  int32_t (*create_preference)(Preference *out);
  int32_t (*destroy_preference)(Preference preference);
  int32_t (*prefer)(Preference preference, int32_t attribute, const void *value, size_t bytes);
  int32_t (*find)(Handle handle, Description description, Layout a, Layout b, Layout c, Layout d, Preference preference,
                  int32_t most, Found *out_found, int32_t *out_count);
  int32_t (*check)(Handle handle, Description description, Layout a, Layout b, Layout c, Layout d,
                   const Algorithm *algorithm, Found *out_found);
  int32_t (*multiply)(Handle handle, Description description, const void *alpha, const void *a, Layout a_layout,
                      const void *b, Layout b_layout, const void *beta, const void *c, Layout c_layout, void *d,
                      Layout d_layout, const Algorithm *algorithm, void *workspace, size_t workspace_bytes,
                      void *stream);
};

// Returns the CUDA data type of an element format.
int32_t type_of(lpt_format element);

// Finds the functions of the library that LPT_CUBLASLT names, otherwise of libcublasLt.so.13 or libcublasLt.so.12. The library
// may be loaded already. Returns an empty text, or the reason of a failure.
std::string open(Functions &out_functions);

}  // namespace lpt::cublas
