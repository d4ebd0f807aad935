// Arguments of calls that the fuzz target of the C interface reads from its bytes.
#pragma once

#include <array>
#include <cstdio>
#include <cstdlib>

#include "lpt/research.h"
#include "tests/api/states.hpp"
#include "tests/fuzz/call_reader.hpp"

namespace lpt::test {

class CallValues {
 public:
  CallValues(lpt_context *context, CallReader &in) : c_(context), in_(in) {}
  CallValues(const CallValues &) = delete;
  CallValues &operator=(const CallValues &) = delete;
  ~CallValues() {
    for (lpt_tensor *tensor : tensors_) lpt_tensor_destroy(tensor);
    lpt_scaler_destroy(scaler_);
    lpt_statistics_destroy(statistics_);
  }

 protected:
  void judge(lpt_status status, size_t call) const {
    const bool is_listed = status >= LPT_OK && status <= LPT_BUSY && status != LPT_INTERNAL && status != LPT_BUSY;
    if (is_listed && (status == LPT_OK || *lpt_context_error(c_) != '\0')) return;
    std::fprintf(stderr, "call %zu: %d: %s\n", call, status, lpt_context_error(c_));
    std::abort();
  }

  lpt_tensor *&slot() { return tensors_[in_.byte() % tensors_.size()]; }
  lpt_tensor *tensor() { return slot(); }
  // Returns NULL for about half of the optional tensors.
  lpt_tensor *maybe() { return in_.byte() % 2 == 0 ? nullptr : tensor(); }

  // Stores the tensor in a slot and destroys the previous one.
  void put(lpt_tensor *made, lpt_status status, uint64_t flags = 0) {
    if ((made != nullptr) != (status == LPT_OK && (flags & LPT_CHECK_ONLY) == 0)) judge(LPT_INTERNAL, 0);
    if (made == nullptr) return;
    lpt_tensor *&place = slot();
    lpt_tensor_destroy(place);
    place = made;
  }

  lpt_format format() {
    const uint8_t value = in_.byte();
    if (value >= 250) return static_cast<lpt_format>(in_.word());
    return value < 150 ? LPT_FORMAT_F32 + value % 27 : LPT_FORMAT_E4M3FN_TENSOR + (value - 150) % 64;
  }
  lpt_format dense() {
    static constexpr lpt_format kDense[] = {LPT_FORMAT_F32, LPT_FORMAT_BF16, LPT_FORMAT_F16, LPT_FORMAT_F64,
                                            LPT_FORMAT_UINT8};
    return kDense[in_.byte() % std::size(kDense)];
  }

  lpt_random random() {
    lpt_random random = LPT_RANDOM_INIT;
    if (in_.byte() % 4 == 0) random.seed = in_.word();
    if (in_.byte() % 16 == 0) random.offset = static_cast<int64_t>(in_.word());
    if (in_.byte() % 16 == 0) random.row_stride = in_.extent();
    return random;
  }

  lpt_quantize_options cast_options() {
    lpt_quantize_options options = LPT_QUANTIZE_OPTIONS_INIT;
    if (in_.byte() % 2 == 0) return options;
    options.flags = in_.flags();
    options.rounding = in_.choice(5);
    options.overflow = in_.choice(2);
    options.scale_rule = in_.choice(21);
    options.stochastic_bits = in_.byte() % 2 == 0 ? 16 : in_.byte();
    options.philox_rounds = in_.byte() % 2 == 0 ? 7 : in_.byte() % 16;
    options.hadamard_size = in_.byte() % 4 == 0 ? in_.byte() : 0;
    options.random = random();
    options.scaler = in_.byte() % 2 == 0 ? nullptr : scaler_;
    options.statistics = in_.byte() % 2 == 0 ? nullptr : statistics_;
    if (in_.byte() % 2 == 0) return options;
    options.smoothing = maybe();
    options.hadamard_signs = maybe();
    options.random_words = maybe();
    options.scale_list = maybe();
    return options;
  }

  // Fills a store of keys and values, changes its batches, and stores a view of it.
  lpt_status store(const lpt_tensor *keys, const lpt_tensor *values) {
    lpt_kv_cache_options options = LPT_KV_CACHE_OPTIONS_INIT;
    options.batches = in_.below(4);
    options.key_heads = in_.below(4);
    options.capacity = in_.extent();
    options.key_width = lpt_tensor_extent(keys, -1);
    options.value_width = lpt_tensor_extent(values, -1);
    options.key_format = format(), options.value_format = format();
    options.key_scale_rule = in_.byte() % 2 == 0 ? 0 : in_.choice(21);
    options.value_scale = in_.byte() % 2 == 0 ? 1.0 : in_.real();
    lpt_kv_cache *cache = nullptr;
    lpt_tensor *views[3] = {};
    lpt_status status = lpt_kv_cache_create(c_, &options, &cache);
    if (status == LPT_OK) status = lpt_kv_cache_view(c_, cache, &views[0], &views[1], &views[2]);
    const lpt_tensor *const lengths = in_.byte() % 2 == 0 ? nullptr : views[2];
    if (status == LPT_OK) status = lpt_kv_cache_append(c_, cache, keys, values, nullptr);
    if (status == LPT_OK) status = lpt_kv_cache_truncate(c_, cache, in_.byte() % 2 == 0 ? tensor() : lengths);
    if (status == LPT_OK) status = lpt_kv_cache_select(c_, cache, in_.byte() % 2 == 0 ? tensor() : lengths);
    if (status == LPT_OK) status = lpt_kv_cache_append(c_, cache, views[0], views[1], maybe());
    lpt_kv_cache_destroy(cache);
    for (lpt_tensor *view : views) {
      if (view != nullptr) put(view, LPT_OK);
    }
    return status;
  }

  lpt_gemm_options gemm_options() {
    lpt_gemm_options options = LPT_GEMM_OPTIONS_INIT;
    options.is_b_transposed = in_.byte() % 4 != 0 ? 1 : 0;
    if (in_.byte() % 2 == 0) return options;
    options.flags = in_.flags();
    options.alpha = in_.real();
    options.beta = in_.real();
    options.is_a_transposed = in_.below(3);
    options.bias = maybe();
    options.activation = in_.choice(5);
    options.residual = maybe();
    options.outlier_threshold = in_.real();
    emulation_.arithmetic = in_.choice(5);
    emulation_.bits = in_.byte();
    options.emulation = in_.byte() % 2 == 0 ? nullptr : &emulation_;
    cast_ = cast_options();
    options.quantize = in_.byte() % 2 == 0 ? nullptr : &cast_;
    return options;
  }

  lpt_sparse_options sparse_options() {
    lpt_sparse_options options = LPT_SPARSE_OPTIONS_INIT;
    if (in_.byte() % 2 == 0) return options;
    options.flags = in_.flags();
    options.kept = in_.below(20);
    options.of = in_.below(36);
    options.rule = in_.choice(4);
    options.direction = in_.choice(3);
    options.solver = in_.choice(6);
    options.iterations = in_.below(64) - 1;
    options.sharpness = in_.real();
    options.random = random();
    options.importance = maybe();
    return options;
  }

  lpt_context *const c_;
  CallReader &in_;
  std::array<lpt_tensor *, 8> tensors_{};
  lpt_scaler *scaler_ = nullptr;
  lpt_statistics *statistics_ = nullptr;
  lpt_quantize_options cast_ = LPT_QUANTIZE_OPTIONS_INIT;
  lpt_gemm_emulation emulation_ = LPT_GEMM_EMULATION_INIT;
};

// Makes the calls of an input, and aborts if they leave memory.
template <typename Caller>
int run_calls(const uint8_t *data, size_t size) {
  states::Ledger ledger;
  lpt_context *context = ledger.make_context();
  CallReader in(data, size);
  Caller(context, in).run();
  lpt_context_destroy(context);
  if (ledger.live_bytes == 0) return 0;
  std::fprintf(stderr, "%zu bytes are not given back\n", ledger.live_bytes);
  std::abort();
}

}  // namespace lpt::test
