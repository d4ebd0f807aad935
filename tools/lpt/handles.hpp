// LPT handles as C++ objects that own them. A status other than LPT_OK becomes an Error.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "error.hpp"
#include "lpt.h"

namespace tool {

template <auto destroy>
struct Destroy {
  template <typename Handle>
  void operator()(Handle *handle) const {
    destroy(handle);
  }
};

using Context = std::unique_ptr<lpt_context, Destroy<lpt_context_destroy>>;
using Tensor = std::unique_ptr<lpt_tensor, Destroy<lpt_tensor_destroy>>;

// Throws Error with the error text of the context if the status is not LPT_OK.
void check(const lpt_context *context, lpt_status status);

Context make_context(int32_t thread_count);

// Creates a matrix with separate memory, or one on the memory of the caller. NULL `data` is valid for LPT_CHECK_ONLY.
Tensor make_matrix(lpt_context *context, lpt_format format, int64_t rows, int64_t columns);
Tensor wrap_matrix(lpt_context *context, lpt_format format, void *data, int64_t rows, int64_t columns);

// Returns the kernels of the last call, which returned this status, or why there are none.
std::string chosen_rows(lpt_context *context, lpt_status status);

struct NamedIsa {
  lpt_isa isa;
  const char *name;
};
inline constexpr NamedIsa kIsas[] = {{LPT_ISA_REFERENCE, "reference"},
                                     {LPT_ISA_X86_AVX2, "x86_avx2"},
                                     {LPT_ISA_X86_AVX512, "x86_avx512"},
                                     {LPT_ISA_X86_AVX512_BF16, "x86_avx512_bf16"},
                                     {LPT_ISA_X86_AMX, "x86_amx"}};

std::string format_name(lpt_format format);
lpt_format find_format(const std::string &name);  // throws Error if there is none
std::optional<lpt_format_description> try_describe(lpt_format format);
lpt_format_description describe(lpt_format format);

// The memory and format of one part of a tensor. The memory is valid as long as the tensor.
struct Part {
  lpt_format format = LPT_FORMAT_NONE;
  int64_t rows = 0;
  int64_t columns = 0;
  size_t bytes = 0;
  std::byte *data = nullptr;
};

// Returns nothing if the tensor has no such part.
std::optional<Part> part_of(lpt_context *context, const lpt_tensor *tensor, lpt_tensor_part part);

}  // namespace tool
