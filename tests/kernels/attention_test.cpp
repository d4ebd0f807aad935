// Kernels of attention against the definition in double.
//
// A score has an error of at most δ = kEps · (width + 4) · scale · Σ|q · k|. Weights have relative errors of 2δ plus a few
// kEps, and of 2^-8 if they are rounded to bf16. The same holds for score gradients.
#include "kernels/attention/attention.hpp"

#include <cmath>
#include <vector>

#include "kernels/attention/merge.hpp"
#include "tests/support/guarded.hpp"
#include "tests/support/kernels.hpp"
#include "tests/support/sanitized.hpp"

namespace lpt::test {
namespace {

constexpr double kEps = 0x1p-23;
constexpr double kInfinity = INFINITY;

using Numbers = std::vector<double>;

// A tensor of batch × heads × positions × width as one matrix of rows, with heads stacked.
struct Operand {
  Operand(lpt_format format, int64_t batch, int64_t heads, int64_t positions, int64_t width, int64_t padding)
      : batch(batch),
        heads(heads),
        positions(positions),
        width(width),
        matrix(format, batch * heads * positions, width, padding, 4) {}

  int64_t row(int64_t b, int64_t h, int64_t i) const { return (b * heads + h) * positions + i; }
  double at(int64_t b, int64_t h, int64_t i, int64_t c) const {
    return static_cast<double>(matrix.get(row(b, h, i), c));
  }
  AttentionMatrix view() {
    const MatrixView rows = matrix.view();
    const int64_t head = positions * rows.row_stride;
    return {rows.data, rows.format.id, heads * head, head, rows.row_stride};
  }

  int64_t batch, heads, positions, width;
  Matrix matrix;
};

// A test problem: shapes around the tiles (12 rows), lanes (32) and key blocks (96) of the kernels.
struct AttentionProblem {
  AttentionProblem(Random &random, bool are_pairs)
      : shape(draw_shape(random)),
        format(other(random, are_pairs)),
        has_mask(random.chance(0.4)),
        query(format, shape.batch, heads(), shape.queries, shape.width, random.below(3)),
        key(other(random, are_pairs), shape.batch, shape.key_heads, shape.keys, shape.width, random.below(3)),
        value(other(random, are_pairs), shape.batch, shape.key_heads, shape.keys, shape.value_width, random.below(3)),
        gradient(other(random, are_pairs), shape.batch, heads(), shape.queries, shape.value_width, random.below(3)),
        mask(random.of(kFloats), shape.batch, heads(), shape.queries, shape.keys, random.below(3)) {
    for (Operand *operand : {&query, &key, &value, &gradient}) operand->matrix.fill(random, Values::kNormal);
    mask.matrix.fill(random, Values::kNormal);
    const float offset = random.chance(0.5) ? 0.0f : -500.0f;  // scores whose exponentials are 0 without a maximum
    for (int64_t row = 0; row < mask.matrix.rows(); ++row) {
      for (int64_t column = 0; column < shape.keys; ++column) {
        mask.matrix.set(row, column, mask.matrix.get(row, column) + offset);
        if (random.chance(0.2)) mask.matrix.set(row, column, -INFINITY);
      }
    }
  }

  int64_t heads() const { return shape.key_heads * shape.group; }
  AttentionMatrix mask_view() { return has_mask ? mask.view() : AttentionMatrix{}; }
  std::string text(const char *kernel) const {
    return std::string(kernel) + " " + name_text(format) + " batch " + std::to_string(shape.batch) + " key heads " +
           std::to_string(shape.key_heads) + " of " + std::to_string(shape.group) + " queries " +
           std::to_string(shape.queries) + " keys " + std::to_string(shape.keys) + " width " +
           std::to_string(shape.width) + ", " + std::to_string(shape.value_width) +
           (shape.is_causal ? " causal, window " + std::to_string(shape.window) : "") + (has_mask ? " mask" : "");
  }

  static constexpr lpt_format kFloats[] = {LPT_FORMAT_F32, LPT_FORMAT_BF16, LPT_FORMAT_F16};

  AttentionShape shape;
  lpt_format format;
  bool has_mask;
  Operand query, key, value, gradient, mask;

 private:
  static std::string name_text(lpt_format format) {
    return format == LPT_FORMAT_F32 ? "f32" : format == LPT_FORMAT_BF16 ? "bf16" : "f16";
  }
  static lpt_format other(Random &random, bool are_pairs) {
    return are_pairs ? lpt_format{LPT_FORMAT_BF16} : random.of(kFloats);
  }
  static AttentionShape draw_shape(Random &random) {
    const int64_t positions[] = {1, 2, 11, 12, 13, 31, 32, 33, 47, 95, 96, 97, 108, 130, 193};
    const int64_t widths[] = {1, 2, 3, 15, 16, 17, 32, 33, 40};
    AttentionShape shape{};
    shape.batch = 1 + random.below(2);
    shape.key_heads = 1 + random.below(2);
    shape.group = 1 + random.below(3);
    shape.queries = random.of(positions);
    shape.keys = random.of(positions);
    shape.width = random.of(widths);
    shape.value_width = random.of(widths);
    shape.scale = 1 / std::sqrt(static_cast<double>(shape.width));
    shape.is_causal = random.chance(0.6);
    shape.window = random.chance(0.5) ? shape.queries + shape.keys : 1 + random.below(shape.keys + 20);
    return shape;
  }
};

// One query in double: its probabilities, and the largest error of a score.
struct Row {
  Numbers weights;  // of all keys; 0 for masked keys
  double log_sum = -kInfinity, error = 0;
};

Row look(const AttentionProblem &p, int64_t b, int64_t h, int64_t i) {
  const AttentionShape &s = p.shape;
  Row row{Numbers(static_cast<size_t>(s.keys), -kInfinity)};
  double peak = -kInfinity, sum = 0;
  const int64_t last = i + s.keys - s.queries;
  for (int64_t j = 0; j < s.keys; ++j) {
    if (s.is_causal && (j > last || j <= last - s.window)) continue;
    double score = 0, size = 0;
    for (int64_t c = 0; c < s.width; ++c) {
      const double term = p.query.at(b, h, i, c) * p.key.at(b, h / s.group, j, c) * s.scale;
      score += term;
      size += std::fabs(term);
    }
    if (p.has_mask) score += p.mask.at(b, h, i, j);
    row.weights[static_cast<size_t>(j)] = score;
    peak = std::max(peak, score);
    if (score > -kInfinity)
      row.error = std::max(row.error, kEps * (size * static_cast<double>(s.width + 4) + std::fabs(score)));
  }
  for (double &weight : row.weights) sum += weight = weight == -kInfinity ? 0 : std::exp(weight - peak);
  if (sum > 0) row.log_sum = peak + std::log(sum);
  for (double &weight : row.weights) weight = sum > 0 ? weight / sum : 0;
  row.error += kEps * std::fabs(peak == -kInfinity ? 0 : peak);
  return row;
}

double rounding_of(lpt_format format, double value) {
  return format == LPT_FORMAT_F32    ? 0
         : format == LPT_FORMAT_BF16 ? std::fabs(value) * 0x1p-8 + 0x1p-133
                                     : std::fabs(value) * 0x1p-11 + 0x1p-24;
}

void expect_near(const Operand &operand, int64_t b, int64_t h, int64_t i, int64_t c, double expected, double bound,
                 const std::string &where) {
  const double found = operand.at(b, h, i, c);
  ASSERT_LE(std::fabs(found - expected), bound + rounding_of(operand.matrix.format().id, std::fabs(expected) + bound))
      << where << " at " << b << ", " << h << ", " << i << ", " << c << ": " << found << ", expected " << expected;
}

// Relative error of weights that are rounded to bf16, and of f32 sums over keys.
double weight_error(bool are_pairs, const Row &row, const AttentionProblem &p) {
  return (are_pairs ? 0x1p-8 : 0.0) + 2 * row.error + kEps * (8 + static_cast<double>(p.shape.keys));
}

template <typename Request, typename Run>
void with_scratch(const KernelEntry<Request> &kernel, Request &request, const Run &run) {
  Guarded scratch(kernel.scratch_bytes(request));
  request.scratch = reinterpret_cast<std::byte *>(scratch.data());
  run();
  ASSERT_TRUE(scratch.is_intact());
}

bool are_pairs(const char *kernel) {
  const std::string name = kernel;
  return name.ends_with("_bf16") || name.ends_with("_amx");
}

AttentionForwardRequest forward_request(AttentionProblem &p, Operand &output, Operand &log_sums) {
  AttentionForwardRequest request{};
  request.shape = p.shape;
  request.query = p.query.view();
  request.key = p.key.view();
  request.value = p.value.view();
  request.output = output.view();
  request.mask = p.mask_view();
  request.log_sums = log_sums.view();
  request.units = attention_units(p.shape);
  return request;
}

TEST(AttentionForward, IsNearItsDefinition) {
  Random random(41);
  for (const auto &kernel : attention_forward_kernels()) {
    if (!can_run(kernel)) continue;
    for (int n = 0; n < (kIsSanitized ? 10 : 40); ++n) {
      AttentionProblem p(random, are_pairs(kernel.name));
      const AttentionShape &s = p.shape;
      const std::string where = p.text(kernel.name);
      Operand output(random.of(AttentionProblem::kFloats), s.batch, p.heads(), s.queries, s.value_width,
                     random.below(3));
      Operand log_sums(LPT_FORMAT_F32, s.batch, p.heads(), s.queries, 1, random.below(3));
      AttentionForwardRequest request = forward_request(p, output, log_sums);
      with_scratch(kernel, request, [&] { kernel.run(request); });
      ASSERT_TRUE(output.matrix.is_intact() && log_sums.matrix.is_intact()) << where;
      for (int64_t b = 0; b < s.batch; ++b) {
        for (int64_t h = 0; h < p.heads(); ++h) {
          for (int64_t i = 0; i < s.queries; ++i) {
            const Row row = look(p, b, h, i);
            if (row.log_sum == -kInfinity) {
              ASSERT_EQ(-kInfinity, log_sums.at(b, h, i, 0)) << where;
            } else {
              ASSERT_NEAR(row.log_sum, log_sums.at(b, h, i, 0), row.error + kEps * (40 + std::fabs(row.log_sum)))
                  << where;
            }
            for (int64_t c = 0; c < s.value_width; ++c) {
              double expected = 0, size = 0;
              for (int64_t j = 0; j < s.keys; ++j) {
                const double term = row.weights[static_cast<size_t>(j)] * p.value.at(b, h / s.group, j, c);
                expected += term;
                size += std::fabs(term);
              }
              expect_near(output, b, h, i, c, expected, size * weight_error(are_pairs(kernel.name), row, p) + 0x1p-120,
                          where);
            }
          }
        }
      }
    }
  }
}

// Disjoint sets of units in any order compute the bits of one call.
TEST(AttentionForward, BitsDoNotDependOnParts) {
  Random random(42);
  for (const auto &kernel : attention_forward_kernels()) {
    if (!can_run(kernel)) continue;
    for (int n = 0; n < 20; ++n) {
      AttentionProblem p(random, are_pairs(kernel.name));
      const AttentionShape &s = p.shape;
      Operand whole(LPT_FORMAT_F32, s.batch, p.heads(), s.queries, s.value_width, 0),
          parts(LPT_FORMAT_F32, s.batch, p.heads(), s.queries, s.value_width, 0);
      Operand log_sums(LPT_FORMAT_F32, s.batch, p.heads(), s.queries, 1, 0);
      AttentionForwardRequest request = forward_request(p, whole, log_sums);
      with_scratch(kernel, request, [&] { kernel.run(request); });
      request.output = parts.view();
      for (int64_t unit = attention_units(s); unit > 0; unit -= request.units) {
        request.units = std::min<int64_t>(unit, 1 + random.below(3));
        request.first_unit = unit - request.units;
        with_scratch(kernel, request, [&] { kernel.run(request); });
      }
      ASSERT_TRUE(whole.matrix.equals(parts.matrix)) << p.text(kernel.name);
    }
  }
}

// A NaN or an infinite score affects only rows with access to that key.
TEST(AttentionForward, NanReachesTheRowsThatSeeIt) {
  Random random(43);
  for (const auto &kernel : attention_forward_kernels()) {
    if (!can_run(kernel)) continue;
    for (const float special : {std::numeric_limits<float>::quiet_NaN(), INFINITY}) {
      AttentionProblem p(random, are_pairs(kernel.name));
      p.shape = {1, 1, 1, 140, 140, 16, 8, 0.25, true, 280};
      p.has_mask = false;
      const lpt_format format = LPT_FORMAT_BF16;
      Operand query(format, 1, 1, 140, 16, 0), key(format, 1, 1, 140, 16, 0), value(format, 1, 1, 140, 8, 0),
          output(format, 1, 1, 140, 8, 0), sums(LPT_FORMAT_F32, 1, 1, 140, 1, 0);
      for (Operand *operand : {&query, &key, &value}) operand->matrix.fill(random, Values::kNormal);
      for (int64_t i = 0; i < 140; ++i) query.matrix.set(i, 3, 1.0f);
      key.matrix.set(100, 3, special);
      AttentionForwardRequest request{};
      request.shape = p.shape;
      request.query = query.view();
      request.key = key.view();
      request.value = value.view();
      request.output = output.view();
      request.log_sums = sums.view();
      request.units = attention_units(p.shape);
      with_scratch(kernel, request, [&] { kernel.run(request); });
      for (int64_t i = 0; i < 140; ++i)
        ASSERT_EQ(i >= 100, std::isnan(output.at(0, 0, i, 2))) << kernel.name << " row " << i;
    }
  }
}

// Gradients in double, and the sums of the magnitudes of their terms.
struct Expected {
  Numbers gradient, size;

  explicit Expected(const Operand &like)
      : gradient(static_cast<size_t>(like.matrix.rows() * like.width)), size(gradient.size()), width_(like.width) {}
  void add(int64_t row, int64_t column, double term, double error) {
    const auto at = static_cast<size_t>(row * width_ + column);
    gradient[at] += term;
    size[at] += error;
  }

 private:
  int64_t width_;
};

struct Gradients {
  Expected query, key, value;
};

Gradients differentiate(const AttentionProblem &p, bool pairs, Operand &output, Operand &log_sums) {
  const AttentionShape &s = p.shape;
  Gradients g{Expected(p.query), Expected(p.key), Expected(p.value)};
  const double rounding = pairs ? 0x1p-8 : 0.0, sums = kEps * static_cast<double>(s.queries * s.group + s.keys + 8);
  for (int64_t b = 0; b < s.batch; ++b) {
    for (int64_t h = 0; h < p.heads(); ++h) {
      for (int64_t i = 0; i < s.queries; ++i) {
        const Row row = look(p, b, h, i);
        const int64_t shared = h / s.group;
        log_sums.matrix.set(log_sums.row(b, h, i), 0, static_cast<float>(row.log_sum));
        Numbers of_weight(static_cast<size_t>(s.keys));
        double mean = 0, most = 0;
        for (int64_t j = 0; j < s.keys; ++j) {
          double size = 0;
          for (int64_t c = 0; c < s.value_width; ++c) {
            const double term = p.gradient.at(b, h, i, c) * p.value.at(b, shared, j, c);
            of_weight[static_cast<size_t>(j)] += term;
            size += std::fabs(term);
          }
          mean += row.weights[static_cast<size_t>(j)] * of_weight[static_cast<size_t>(j)];
          most = std::max(most, size);
        }
        for (int64_t c = 0; c < s.value_width; ++c) {
          double sum = 0;
          for (int64_t j = 0; j < s.keys; ++j) sum += row.weights[static_cast<size_t>(j)] * p.value.at(b, shared, j, c);
          output.matrix.set(output.row(b, h, i), c, static_cast<float>(sum));
        }
        for (int64_t j = 0; j < s.keys; ++j) {
          const double weight = row.weights[static_cast<size_t>(j)];
          if (weight == 0) continue;
          const double error = weight * (2 * row.error + sums);
          const double ds = weight * (of_weight[static_cast<size_t>(j)] - mean);
          const double ds_error =
              std::fabs(ds) * rounding + 2 * most * (error + weight * kEps * static_cast<double>(s.value_width + 4));
          for (int64_t c = 0; c < s.value_width; ++c) {
            const double dy = p.gradient.at(b, h, i, c);
            g.value.add(p.value.row(b, shared, j), c, weight * dy, (error + weight * rounding) * std::fabs(dy));
          }
          for (int64_t c = 0; c < s.width; ++c) {
            const double k = p.key.at(b, shared, j, c) * s.scale, q = p.query.at(b, h, i, c) * s.scale;
            g.query.add(p.query.row(b, h, i), c, ds * k, (ds_error + sums * std::fabs(ds)) * std::fabs(k));
            g.key.add(p.key.row(b, shared, j), c, ds * q, (ds_error + sums * std::fabs(ds)) * std::fabs(q));
          }
        }
      }
    }
  }
  return g;
}

void expect_near(const Expected &expected, const Operand &found, const std::string &where) {
  ASSERT_TRUE(found.matrix.is_intact()) << where;
  for (int64_t row = 0; row < found.matrix.rows(); ++row) {
    for (int64_t c = 0; c < found.width; ++c) {
      const auto at = static_cast<size_t>(row * found.width + c);
      expect_near(found, 0, 0, row, c, expected.gradient[at], expected.size[at] + 0x1p-120, where);
    }
  }
}

TEST(AttentionBackward, IsNearItsDefinition) {
  Random random(44);
  for (const auto &kernel : attention_backward_kernels()) {
    if (!can_run(kernel)) continue;
    const bool pairs = are_pairs(kernel.name);
    for (int n = 0; n < (kIsSanitized ? 10 : 40); ++n) {
      AttentionProblem p(random, pairs);
      const AttentionShape &s = p.shape;
      const std::string where = p.text(kernel.name);
      Operand output(LPT_FORMAT_F32, s.batch, p.heads(), s.queries, s.value_width, 0);
      Operand log_sums(LPT_FORMAT_F32, s.batch, p.heads(), s.queries, 1, random.below(3));
      const Gradients expected = differentiate(p, pairs, output, log_sums);
      const auto like = [&](const Operand &operand) {
        return Operand(random.of(AttentionProblem::kFloats), operand.batch, operand.heads, operand.positions,
                       operand.width, random.below(3));
      };
      Operand query = like(p.query), key = like(p.key), value = like(p.value);
      AttentionBackwardRequest request{};
      request.forward.shape = s;
      request.forward.query = p.query.view();
      request.forward.key = p.key.view();
      request.forward.value = p.value.view();
      request.forward.output = output.view();
      request.output_gradient = p.gradient.view();
      request.forward.mask = p.mask_view();
      request.forward.log_sums = log_sums.view();
      request.query_gradient = query.view();
      request.key_gradient = key.view();
      request.value_gradient = value.view();
      request.heads = s.batch * s.key_heads;
      with_scratch(kernel, request, [&] { kernel.run(request); });
      expect_near(expected.query, query, where + " query");
      expect_near(expected.key, key, where + " key");
      expect_near(expected.value, value, where + " value");
    }
  }
}

// The second set has three times the weight of the first one. A row without keys in a set keeps the result of the other one; without
// keys in both it keeps zero.
TEST(AttentionMerge, WeighsSetsOfKeysByTheirSums) {
  const double log3 = std::log(3.0);
  const Numbers part = {3, 3, 3, 3}, part_sums = {1 + log3, 700 + log3, -kInfinity, -kInfinity};
  Numbers output = {1, 1, 1, 0}, sums = {1, 700, 5, -kInfinity};
  merge_attention({LPT_FORMAT_F64, 4, 1, part.data(), part_sums.data(), output.data(), sums.data()});
  const Numbers expected = {2.5, 2.5, 1, 0}, expected_sums = {1 + std::log(4.0), 700 + std::log(4.0), 5, -kInfinity};
  for (size_t i = 0; i < output.size(); ++i) {
    EXPECT_NEAR(expected[i], output[i], 1e-12) << i;  // sums near 700 have an error of 2^-44
    EXPECT_DOUBLE_EQ(expected_sums[i], sums[i]) << i;
  }
}

TEST(AttentionMerge, RescalesProbabilitiesOfSomeKeys) {
  const Numbers sums = {2, -kInfinity, -kInfinity}, whole = {2 + std::log(4.0), 1, -kInfinity};
  Numbers rows = {0.25, 0.75, 0, 0, 0, 0};
  rescale_probabilities({LPT_FORMAT_F64, 3, 2, sums.data(), whole.data(), rows.data()});
  const Numbers expected = {0.0625, 0.1875, 0, 0, 0, 0};
  for (size_t i = 0; i < rows.size(); ++i) EXPECT_DOUBLE_EQ(expected[i], rows[i]) << i;
}

}  // namespace
}  // namespace lpt::test
