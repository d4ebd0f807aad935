#include "bench/optimizer_cases.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <stdexcept>
#include <thread>

#include "src/base/philox.hpp"

namespace lpt::bench {
namespace {

constexpr int64_t kPart = 1024;  // elements, as the library divides parameters

int64_t bytes_of(lpt_format element) {
  return element == LPT_FORMAT_F32 ? 4 : element == LPT_FORMAT_F16 || element == LPT_FORMAT_BF16 ? 2 : 1;
}

bool has_whole_scale(const StateCase &state) {
  return state.block == 0 && state.element != LPT_FORMAT_F32 && state.element != LPT_FORMAT_BF16;
}

// Calls body(begin, count) for the slice of every thread, in multiples of kPart.
void share(int64_t count, int threads, const std::function<void(int64_t, int64_t)> &body) {
  const int64_t parts = (count + kPart - 1) / kPart;
  std::vector<std::thread> others;
  int64_t begin = 0;
  for (int i = 0; i < threads; ++i) {
    const int64_t end = std::min(count, parts * (i + 1) / threads * kPart);
    if (i + 1 < threads) {
      others.emplace_back([&body, begin, end] { body(begin, end - begin); });
    } else {
      body(begin, end - begin);
    }
    begin = end;
  }
  for (std::thread &other : others) other.join();
}

}  // namespace

OptimizerRun::OptimizerRun(const OptimizerCase &given, int64_t count, CpuFeatures isa) : count_(count) {
  request_.method = given.method;
  request_.count = count;
  request_.constants = {0.9f, 0.1f, 0.95f, 0.05f, 1.3f, 1e-4f, 1e-6f, 0.0f, 1e-8f, 1.0f, false};
  const bool has_second = given.method == LPT_OPTIMIZER_METHOD_ADAMW || given.method == LPT_OPTIMIZER_METHOD_ADAM;
  request_.gradient_format = given.gradient;
  request_.gradient = allocate(count * bytes_of(given.gradient), 0);
  for (int64_t i = 0; i < count; ++i) {
    const PhiloxBlock block = philox({{static_cast<uint32_t>(i), 0, 0, 0}}, 1, 7);
    const float value = (static_cast<float>(block.word[0] >> 8) * 0x1p-24f - 0.5f) * 0.1f;
    auto *const place = static_cast<uint8_t *>(const_cast<void *>(request_.gradient)) + i * bytes_of(given.gradient);
    const auto *const bytes = reinterpret_cast<const uint8_t *>(&value);
    std::memcpy(place, bytes + 4 - bytes_of(given.gradient), static_cast<size_t>(bytes_of(given.gradient)));
  }
  bytes_ += static_cast<double>(bytes_of(given.gradient));
  place(request_.first, given.first, given.first.element == kDynamicSigned ? kSignedTree.zero : 0);
  if (has_second) place(request_.second, given.second, 0);
  place(request_.parameter, {given.parameter}, 0);
  if (given.is_compensated) place(request_.compensation, {LPT_FORMAT_BF16}, 0);
  request_.second.underflow = given.underflow;
  if (given.random_bits != 0) request_.parameter.rounding = LPT_ROUNDING_STOCHASTIC;
  request_.parameter.random.bits = given.random_bits;
  request_.amax = given.keeps_amax ? static_cast<float *>(allocate(64, 0)) : nullptr;
  for (const auto &row : step_kernels()) {
    const bool is_requested = isa == 0 || row.needs.cpu == isa;
    if (is_requested && (row.needs.cpu & ~cpu_features()) == 0 && row.unsupported_reason(request_) == nullptr) {
      kernel_ = &row;
      return;
    }
  }
  throw std::runtime_error("no row takes " + given.name);
}

void *OptimizerRun::allocate(int64_t bytes, uint8_t fill) {
  const auto whole = static_cast<size_t>((bytes + 4095) / 4096 * 4096);
  memory_.emplace_back(static_cast<uint8_t *>(std::aligned_alloc(4096, whole)), std::free);
  if (memory_.back() == nullptr) throw std::bad_alloc();
  std::memset(memory_.back().get(), fill, whole);
  return memory_.back().get();
}

void OptimizerRun::place(StateArray &array, const StateCase &state, uint8_t zero) {
  array.element = state.element;
  array.block = state.block;
  array.data = allocate(count_ * bytes_of(state.element), zero);
  array.random = {1, 0, 0, random_stream(RandomDomain::kOptimizer, 5, 0), 9, 7, 16};
  bytes_ += 2.0 * static_cast<double>(bytes_of(state.element));
  if (has_whole_scale(state)) {
    array.scale = 0x1p-10f;
    array.inverse_scale = 0x1p10f;
  }
  if (state.block == 0) return;
  const int64_t blocks = (count_ + state.block - 1) / state.block;
  array.block_scales = static_cast<float *>(allocate(4 * blocks, 0));
  std::fill_n(array.block_scales, blocks, 1.0f);
  bytes_ += 8.0 / static_cast<double>(state.block);
  if (!state.is_expanded) return;
  array.exponents = static_cast<uint16_t *>(allocate(2 * blocks, 0));
  std::fill_n(array.exponents, blocks, uint16_t{16});
  bytes_ += 4.0 / static_cast<double>(state.block);
}

void OptimizerRun::run(int threads) {
  share(count_, threads, [this](int64_t begin, int64_t count) {
    float amax[3] = {};
    StepRequest part = request_;
    part.begin = begin;
    part.count = count;
    if (part.amax != nullptr) part.amax = amax;
    kernel_->run(part);
  });
}

void read_modify_write(const float *gradient, float *const (&arrays)[3], int64_t count, int threads) {
  // Processes full cache lines, because at -O2 a loop over floats is not vectorized and would limit the speed.
  using Line = float __attribute__((vector_size(64), aligned(4), may_alias));
  constexpr int64_t kLine = 16, kAhead = 1024;
  share(count, threads, [&](int64_t begin, int64_t length) {
    const int64_t end = begin + length;
    int64_t i = begin;
    for (; i + kLine <= end; i += kLine) {
      const auto *const from = reinterpret_cast<const Line *>(gradient + i);
      __builtin_prefetch(gradient + i + kAhead);
      for (float *const array : arrays) {
        __builtin_prefetch(array + i + kAhead);
        *reinterpret_cast<Line *>(array + i) += *from;
      }
    }
    for (; i < end; ++i) {
      for (float *const array : arrays) array[i] += gradient[i];
    }
  });
}

void copy_bytes(const uint8_t *from, uint8_t *to, int64_t bytes, int threads) {
  share(bytes, threads,
        [&](int64_t begin, int64_t count) { std::memcpy(to + begin, from + begin, static_cast<size_t>(count)); });
}

}  // namespace lpt::bench
