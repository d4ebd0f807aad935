// Declarations of the kernels of this family and of their scratch sizes.
#pragma once

#include "kernels/attention/attention.hpp"
#include "kernels/common/simd_entries.hpp"

namespace lpt {

LPT_DECLARE_SIMD(attention_forward, AttentionForwardRequest)
size_t attention_forward_scratch_x86_avx512(const AttentionForwardRequest &request);
size_t attention_forward_scratch_x86_avx2(const AttentionForwardRequest &request);

LPT_DECLARE_SIMD(attention_rows, AttentionForwardRequest)
size_t attention_rows_scratch_x86_avx512(const AttentionForwardRequest &request);
size_t attention_rows_scratch_x86_avx2(const AttentionForwardRequest &request);

LPT_DECLARE_SIMD(attention_backward, AttentionBackwardRequest)
size_t attention_backward_scratch_x86_avx512(const AttentionBackwardRequest &request);
size_t attention_backward_scratch_x86_avx2(const AttentionBackwardRequest &request);

void attention_forward_x86_amx(const AttentionForwardRequest &request);
size_t attention_forward_scratch_x86_amx(const AttentionForwardRequest &request);
void attention_backward_x86_amx(const AttentionBackwardRequest &request);
size_t attention_backward_scratch_x86_amx(const AttentionBackwardRequest &request);
void attention_forward_x86_avx512_bf16(const AttentionForwardRequest &request);
size_t attention_forward_scratch_x86_avx512_bf16(const AttentionForwardRequest &request);
void attention_backward_x86_avx512_bf16(const AttentionBackwardRequest &request);
size_t attention_backward_scratch_x86_avx512_bf16(const AttentionBackwardRequest &request);

}  // namespace lpt
