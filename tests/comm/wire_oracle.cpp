#include "tests/comm/wire_oracle.hpp"

#include <cmath>

namespace lpt::test {

uint32_t drawn_bits(const lpt_random &random, uint64_t seed, uint32_t role, uint64_t index) {
  constexpr uint32_t kCollectiveSpace = 5;
  const uint64_t block = (static_cast<uint64_t>(random.offset) + index) / 8;
  uint32_t words[4] = {static_cast<uint32_t>(block), static_cast<uint32_t>(block >> 32),
                       kCollectiveSpace << 28 | random.stream << 4 | role, random.step};
  uint32_t keys[2] = {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)};
  for (int round = 0; round < 7; ++round) {
    const uint64_t a = uint64_t{0xD2511F53} * words[0], b = uint64_t{0xCD9E8D57} * words[2];
    const uint32_t next[4] = {static_cast<uint32_t>(b >> 32) ^ words[1] ^ keys[0], static_cast<uint32_t>(b),
                              static_cast<uint32_t>(a >> 32) ^ words[3] ^ keys[1], static_cast<uint32_t>(a)};
    std::copy(next, next + 4, words);
    keys[0] += 0x9E3779B9;
    keys[1] += 0xBB67AE85;
  }
  const uint64_t place = (static_cast<uint64_t>(random.offset) + index) % 8;
  return words[place / 2] >> (16 * (place % 2)) & 0xFFFF;
}

Numbers there_and_back(lpt_context *context, const Plan &plan, const Numbers &numbers, uint64_t seed, uint32_t role,
                       int64_t first) {
  const auto count = static_cast<int64_t>(numbers.size());
  Numbers back(numbers.size());
  if (count == 0) return back;
  lpt_quantize_options options = LPT_QUANTIZE_OPTIONS_INIT;
  options.rounding = plan.rounding;
  const bool is_half = plan.wire == LPT_FORMAT_F16 || plan.wire == LPT_FORMAT_BF16 || plan.wire == LPT_FORMAT_F32;
  if (is_half) options.overflow = LPT_OVERFLOW_INFINITE;
  std::vector<uint8_t> words;
  if (plan.rounding == LPT_ROUNDING_STOCHASTIC) {
    for (int64_t i = 0; i < count; ++i) {
      const uint32_t bits = drawn_bits(plan.random, seed, role, static_cast<uint64_t>(first + i));
      words.push_back(static_cast<uint8_t>(bits));
      words.push_back(static_cast<uint8_t>(bits >> 8));
    }
  }
  const Tensor draws = wrap(context, LPT_FORMAT_UINT8, words.empty() ? back.data() : static_cast<void *>(words.data()),
                            1, static_cast<int64_t>(words.size()));
  if (!words.empty()) options.random_words = draws.get();
  const Tensor from = wrap(context, numbers, 1, count), to = wrap(context, back, 1, count);
  const Tensor codes = make_tensor(context, plan.wire, 1, count);
  EXPECT_TRUE(ok(context, lpt_quantize(context, from.get(), &options, codes.get(), nullptr)));
  EXPECT_TRUE(ok(context, lpt_dequantize(context, codes.get(), nullptr, to.get())));
  return back;
}

std::vector<int64_t> share_edges(int64_t elements, int32_t ranks) {
  const int64_t units = (elements / 512 + ranks - 1) / ranks;
  std::vector<int64_t> edges = {0};
  for (int32_t q = 1; q < ranks; ++q) edges.push_back(std::min(elements, q * units * 512));
  edges.push_back(elements);
  return edges;
}

Numbers reduced_share(lpt_context *context, const Plan &plan, const std::vector<Numbers> &all, int64_t begin,
                      int64_t end) {
  Numbers sum;
  for (size_t q = 0; q < all.size(); ++q) {
    const Numbers mine(all[q].begin() + begin, all[q].begin() + end);
    const Numbers numbers =
        there_and_back(context, plan, mine, plan.random.seed ^ static_cast<uint64_t>(q) << 54, 0, begin);
    if (q == 0) sum = numbers;
    for (size_t i = 0; i < numbers.size() && q > 0; ++i) {
      if (plan.reduction == LPT_REDUCTION_MAXIMUM) {
        sum[i] = std::max(sum[i], numbers[i]);
      } else {
        sum[i] += numbers[i];
      }
    }
  }
  for (float &number : sum) {
    if (plan.reduction == LPT_REDUCTION_AVERAGE) number /= static_cast<float>(all.size());
    number *= static_cast<float>(plan.factor);
  }
  return sum;
}

Numbers reduced(lpt_context *context, const Plan &plan, const std::vector<Numbers> &all) {
  const auto ranks = static_cast<int32_t>(all.size());
  const std::vector<int64_t> edges = share_edges(static_cast<int64_t>(all[0].size()), ranks);
  Numbers result;
  for (size_t q = 0; q < all.size(); ++q) {
    Numbers share = reduced_share(context, plan, all, edges[q], edges[q + 1]);
    if (plan.algorithm == LPT_REDUCE_ALGORITHM_TWO_SHOT) {
      share = there_and_back(context, plan, share, plan.random.seed, 1, edges[q]);
    }
    result.insert(result.end(), share.begin(), share.end());
  }
  return result;
}

int64_t bytes_on_wire(lpt_format wire, int64_t count) {
  if (count == 0) return 0;
  const lpt_format_description parts = describe(wire);
  int64_t bytes = packed_bytes(
      parts.block_scale == LPT_FORMAT_NONE && parts.tensor_scale == LPT_FORMAT_NONE ? wire : parts.element, count);
  const int64_t block =
      parts.block_columns == LPT_BLOCK_EXTENT_FULL ? count : std::max<int64_t>(parts.block_columns, 1);
  const int64_t blocks = (count + block - 1) / block;
  if (parts.block_scale != LPT_FORMAT_NONE) bytes += blocks * describe(parts.block_scale).element_bits / 8;
  if (parts.zero_point != LPT_FORMAT_NONE) bytes += blocks;
  if (parts.tensor_scale != LPT_FORMAT_NONE) bytes += 4;
  return bytes;
}

}  // namespace lpt::test
