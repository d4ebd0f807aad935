#include "bench/gemm_cases.hpp"

#include <algorithm>
#include <charconv>

namespace lpt::bench {
namespace {

struct Group {
  const char *name;
  std::vector<GemmShape> shapes;
};

GemmShape plain(int64_t m, int64_t k, int64_t n) {
  const std::string name =
      m == k && k == n ? std::to_string(m) : std::to_string(m) + "x" + std::to_string(k) + "x" + std::to_string(n);
  return {.name = name, .m = m, .k = k, .n = n};
}

GemmShape formed(const char *name, int64_t m, int64_t k, int64_t n, bool is_a_transposed, bool is_b_transposed) {
  return {.name = name, .m = m, .k = k, .n = n, .is_a_transposed = is_a_transposed, .is_b_transposed = is_b_transposed};
}

const std::vector<Group> &groups() {
  static const std::vector<Group> all = {
      {"usual",
       {plain(512, 512, 512), plain(1024, 1024, 1024), plain(2048, 2048, 2048), plain(512, 4096, 4096),
        plain(16, 4096, 4096), plain(1, 4096, 65536)}},
      {"squares", {plain(512, 512, 512), plain(1024, 1024, 1024), plain(2048, 2048, 2048), plain(4096, 4096, 4096)}},
      {"llama",
       {plain(512, 4096, 4096), plain(512, 4096, 11008), plain(16, 4096, 4096), plain(16, 4096, 11008),
        plain(8, 4096, 4096), plain(8, 4096, 11008)}},
      // The last shape has at least 128 MiB of weights in every format, which exceeds any cache.
      {"decode", {plain(1, 4096, 4096), plain(1, 4096, 11008), plain(1, 4096, 65536)}},
      // A linear layer with 128 inputs and 352 outputs on 2048 tokens, other transpositions, and small m.
      {"layers",
       {formed("layer-output", 2048, 128, 352, false, true),
        formed("layer-input-gradient", 2048, 352, 128, false, false),
        formed("layer-weight-gradient", 352, 2048, 128, true, false), formed("1024-nn", 1024, 1024, 1024, false, false),
        formed("1024-tn", 1024, 1024, 1024, true, false), plain(16, 1024, 1024)}},
  };
  return all;
}

// Parses M x K x N, or one number for all three. Returns nothing for other texts.
std::optional<GemmShape> spelled(const std::string &name) {
  int64_t extents[3] = {};
  int count = 0;
  const char *at = name.data();
  const char *const end = at + name.size();
  for (bool is_more = true; is_more && count < 3; ++count) {
    const auto [rest, problem] = std::from_chars(at, end, extents[count]);
    if (problem != std::errc() || extents[count] < 1 || extents[count] > (1 << 20)) return std::nullopt;
    is_more = rest != end && *rest == 'x';
    at = rest + (is_more ? 1 : 0);
  }
  if (at != end || count == 2) return std::nullopt;
  return count == 1 ? plain(extents[0], extents[0], extents[0]) : plain(extents[0], extents[1], extents[2]);
}

lpt_format_description described(lpt_format format) {
  lpt_format_description description = LPT_FORMAT_DESCRIPTION_INIT;
  lpt_format_describe(nullptr, format, &description);
  return description;
}

// Two integers or e2m1fn are multiplied as int8, values that are exact in bf16 as bf16, all others as f32.
GemmLimit limit_of(lpt_format a, lpt_format b) {
  const lpt_format elements[] = {described(a).element, described(b).element};
  const auto is_wide = [](lpt_format element) {
    return element == LPT_FORMAT_F64 || element == LPT_FORMAT_F32 || element == LPT_FORMAT_F16;
  };
  const auto is_short = [](lpt_format element) {
    return element == LPT_FORMAT_INT8 || element == LPT_FORMAT_INT4 || element == LPT_FORMAT_UINT4 ||
           element == LPT_FORMAT_INT2 || element == LPT_FORMAT_TERNARY || element == LPT_FORMAT_E2M1FN;
  };
  if (std::any_of(std::begin(elements), std::end(elements), is_wide)) return GemmLimit::kF32;
  return std::all_of(std::begin(elements), std::end(elements), is_short) ? GemmLimit::kInt8 : GemmLimit::kBf16;
}

bool is_float8(lpt_format format) {
  const lpt_format_description description = described(format);
  return (description.element == LPT_FORMAT_E4M3FN || description.element == LPT_FORMAT_E5M2) &&
         description.block_scale == LPT_FORMAT_NONE;
}

// Targets for shapes with all sides of at least 512, with one side of at least 4096 too, and with 16 rows.
struct Bars {
  double squares = 0, large = 0, few = 0;
};

Bars bars_of(const GemmPair &pair) {
  const lpt_format_description a = described(pair.a), b = described(pair.b);
  if (is_float8(pair.a) && is_float8(pair.b)) return {0.92, 0.87, 0.88};
  if (pair.a == LPT_FORMAT_MXFP4 && pair.b == LPT_FORMAT_MXFP4) return {0.62, 0.55, 0.36};
  if (pair.a == LPT_FORMAT_NVFP4 && pair.b == LPT_FORMAT_NVFP4) return {0.50, 0.50, 0};
  if (pair.a == LPT_FORMAT_INT8_1X32 && pair.b == LPT_FORMAT_INT8_1X32) return {0.55, 0.55, 0};
  if (a.element == LPT_FORMAT_INT8 && b.element == LPT_FORMAT_INT8) return {0.92, 0, 0};
  if (b.element != LPT_FORMAT_INT4) return {};
  if (a.element == LPT_FORMAT_INT8) return {0.44, 0.44, 0.33};  // bf16 dots take twice the time of int8 dots
  if (a.element == LPT_FORMAT_BF16 || is_float8(pair.a)) return {0.88, 0.88, 0.66};
  return {};
}

double bar_of_matrix_vector(const GemmPair &pair, const GemmShape &shape) {
  constexpr double kBeyondCaches = 128.0 * (1 << 20);
  const lpt_format_description b = described(pair.b);
  const double bytes = static_cast<double>(shape.k) * static_cast<double>(shape.n) * b.element_bits / 8;
  if (bytes < kBeyondCaches) return 0;
  return b.element_bits == 4 ? 0.70 : is_float8(pair.b) ? 0.88 : 0;
}

}  // namespace

const char *limit_name(GemmLimit limit) {
  switch (limit) {
    case GemmLimit::kF32:
      return "f32";
    case GemmLimit::kBf16:
      return "bf16 dot";
    case GemmLimit::kInt8:
      return "int8 dot";
    case GemmLimit::kRead:
      return "read";
  }
  return "";
}

std::optional<GemmLimit> limit_of_name(const std::string &name) {
  for (const GemmLimit limit : {GemmLimit::kF32, GemmLimit::kBf16, GemmLimit::kInt8, GemmLimit::kRead}) {
    if (name == limit_name(limit)) return limit;
  }
  return std::nullopt;
}

std::vector<GemmShape> shapes_of(const std::string &name) {
  std::vector<GemmShape> all;
  for (const Group &group : groups()) {
    if (group.name == name) return group.shapes;
    for (const GemmShape &shape : group.shapes) {
      if (shape.name == name) return {shape};
      const auto is_same = [&](const GemmShape &other) { return other.name == shape.name; };
      if (std::none_of(all.begin(), all.end(), is_same)) all.push_back(shape);
    }
  }
  if (name == "all") return all;
  if (const auto shape = spelled(name)) return {*shape};
  return {};
}

std::string gemm_groups() {
  std::string names;
  for (const Group &group : groups()) names += std::string(group.name) + ", ";
  return names + "all";
}

std::vector<GemmPair> usual_pairs() {
  std::vector<GemmPair> pairs;
  for (const char *name :
       {"e4m3fn:e4m3fn", "e5m2:e4m3fn", "e4m3fn:e5m2", "mxfp8_e4m3:mxfp8_e4m3", "mxfp4:mxfp4", "nvfp4:nvfp4",
        "int8_tensor:int8_tensor", "int8_row:int8_row", "int8_1x32:int8_1x32", "bf16:int4_1x128", "e4m3fn:int4_1x128",
        "int8_row:int4_1x128", "bf16:mxfp6_e2m3", "bf16:mxfp6_e3m2", "bf16:e4m3fn", "bf16:bf16", "f32:f32"}) {
    pairs.push_back(*pair_of(name));
  }
  return pairs;
}

std::optional<GemmPair> pair_of(const std::string &name) {
  const size_t colon = name.find(':');
  if (colon == std::string::npos) return std::nullopt;
  GemmPair pair;
  pair.name = name;
  if (lpt_format_from_name(nullptr, name.substr(0, colon).c_str(), &pair.a) != LPT_OK) return std::nullopt;
  if (lpt_format_from_name(nullptr, name.substr(colon + 1).c_str(), &pair.b) != LPT_OK) return std::nullopt;
  pair.limit = limit_of(pair.a, pair.b);
  return pair;
}

bool has_wide_scales(const GemmPair &pair) {
  return described(pair.a).block_scale == LPT_FORMAT_F32 || described(pair.b).block_scale == LPT_FORMAT_F32;
}

double bar_of(const GemmPair &pair, const GemmShape &shape, lpt_isa isa) {
  constexpr double kBarOfFloat8ByAvx2 = 0.85;
  if (isa == LPT_ISA_X86_AVX2) {
    const bool is_large = std::min({shape.m, shape.k, shape.n}) >= 512;
    return is_large && is_float8(pair.a) && is_float8(pair.b) ? kBarOfFloat8ByAvx2 : 0;
  }
  if (isa != LPT_ISA_AUTO && isa != LPT_ISA_X86_AVX512_BF16) return 0;
  if (!shape.is_plain_layer()) return 0;
  if (shape.is_matrix_vector()) return bar_of_matrix_vector(pair, shape);
  const Bars bars = bars_of(pair);
  if (std::min({shape.m, shape.k, shape.n}) >= 512) {
    return std::max({shape.m, shape.k, shape.n}) >= 4096 ? bars.large : bars.squares;
  }
  const bool is_few = shape.m == 16 || (shape.m == 8 && is_float8(pair.a) && is_float8(pair.b));
  return is_few && shape.k >= 4096 ? bars.few : 0;
}

}  // namespace lpt::bench
