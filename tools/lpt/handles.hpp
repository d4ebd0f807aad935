// LPT handles as C++ values: they end by themselves, and a status that is not LPT_OK becomes an Error.
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

// Throws Error with the context's text unless status is LPT_OK.
void check(const lpt_context *context, lpt_status status);

Context make_context(int32_t thread_count);

// A matrix in memory of its own, and one of the caller's memory; `data` NULL serves LPT_CHECK_ONLY.
Tensor make_matrix(lpt_context *context, lpt_format format, int64_t rows, int64_t columns);
Tensor wrap_matrix(lpt_context *context, lpt_format format, void *data, int64_t rows, int64_t columns);

// The kernels that a call took which has just returned this status, or why there are none.
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
lpt_format find_format(const std::string &name);  // throws Error when there is none
std::optional<lpt_format_description> try_describe(lpt_format format);
lpt_format_description describe(lpt_format format);

// One part of a tensor: where its bytes lie and what they are. The bytes live as long as the tensor.
struct Part {
  lpt_format format = LPT_FORMAT_NONE;
  int64_t rows = 0;
  int64_t columns = 0;
  size_t bytes = 0;
  std::byte *data = nullptr;
};

// Nothing when the tensor has no such part.
std::optional<Part> part_of(lpt_context *context, const lpt_tensor *tensor, lpt_tensor_part part);

}  // namespace tool
