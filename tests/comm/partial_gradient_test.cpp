// A small transformer stack on ranks that share half of their columns, in f64. Compares the gradients of the partial operator
// with central differences of the loss. All operations without communication are loops.
#include <algorithm>
#include <cmath>

#include "tests/comm/local.hpp"
#include "tests/comm/partial.hpp"
#include "tests/support/sanitized.hpp"

namespace lpt::test {
namespace {

using Numbers = std::vector<double>;

constexpr int32_t kRanks = 4;
constexpr int64_t kTokens = 5, kHidden = 16, kShared = 8, kInner = 6, kWords = 12, kOwnWords = kWords / kRanks;
constexpr int kLayers = 3;
constexpr double kEpsilon = 1e-6;

size_t at(int64_t row, int64_t column, int64_t columns) { return static_cast<size_t>(row * columns + column); }

// y(t, o) = sum over i of x(t, i) · w(o, i)
Numbers linear(const Numbers &x, const Numbers &w, int64_t inputs, int64_t outputs) {
  Numbers y(static_cast<size_t>(kTokens * outputs), 0.0);
  for (int64_t t = 0; t < kTokens; ++t) {
    for (int64_t o = 0; o < outputs; ++o) {
      for (int64_t i = 0; i < inputs; ++i) y[at(t, o, outputs)] += x[at(t, i, inputs)] * w[at(o, i, inputs)];
    }
  }
  return y;
}

// Adds to dw, returns dx.
Numbers linear_backward(const Numbers &x, const Numbers &w, const Numbers &dy, int64_t inputs, int64_t outputs,
                        Numbers &dw) {
  Numbers dx(x.size(), 0.0);
  for (int64_t t = 0; t < kTokens; ++t) {
    for (int64_t o = 0; o < outputs; ++o) {
      for (int64_t i = 0; i < inputs; ++i) {
        dw[at(o, i, inputs)] += dy[at(t, o, outputs)] * x[at(t, i, inputs)];
        dx[at(t, i, inputs)] += dy[at(t, o, outputs)] * w[at(o, i, inputs)];
      }
    }
  }
  return dx;
}

double inverse_root(const Numbers &z, int64_t t) {
  double squares = 0;
  for (int64_t c = 0; c < kHidden; ++c) squares += z[at(t, c, kHidden)] * z[at(t, c, kHidden)];
  return 1.0 / std::sqrt(squares / kHidden + kEpsilon);
}

// Computes the norm over all columns of a rank, shared and private.
Numbers norm(const Numbers &z, const Numbers &gain) {
  Numbers y(z.size());
  for (int64_t t = 0; t < kTokens; ++t) {
    const double factor = inverse_root(z, t);
    for (int64_t c = 0; c < kHidden; ++c) {
      y[at(t, c, kHidden)] = z[at(t, c, kHidden)] * factor * gain[static_cast<size_t>(c)];
    }
  }
  return y;
}

// Adds dz to `gradient`.
void norm_backward(const Numbers &z, const Numbers &gain, const Numbers &dy, Numbers &dgain, Numbers &gradient) {
  for (int64_t t = 0; t < kTokens; ++t) {
    const double factor = inverse_root(z, t);
    double along = 0;
    for (int64_t c = 0; c < kHidden; ++c) {
      const size_t i = at(t, c, kHidden), g = static_cast<size_t>(c);
      dgain[g] += dy[i] * z[i] * factor;
      along += dy[i] * gain[g] * z[i];
    }
    for (int64_t c = 0; c < kHidden; ++c) {
      const size_t i = at(t, c, kHidden), g = static_cast<size_t>(c);
      gradient[i] += factor * (dy[i] * gain[g] - z[i] * along * factor * factor / kHidden);
    }
  }
}

// Weights of a rank. Gains and embeddings are equal on all ranks; the others are its shard.
struct Weights {
  Numbers embedding, gains[kLayers + 1], in[kLayers], out[kLayers], words;

  std::vector<Numbers *> replicated() {
    std::vector<Numbers *> all = {&embedding};
    for (Numbers &gain : gains) all.push_back(&gain);
    return all;
  }
  std::vector<Numbers *> own() {
    std::vector<Numbers *> all = {&words};
    for (int l = 0; l < kLayers; ++l) all.insert(all.end(), {&in[l], &out[l]});
    return all;
  }
};

Numbers drawn(int32_t rank, uint64_t place, int64_t count, double scale, double mean = 0.0) {
  Numbers numbers;
  for (const float number : numbers_of(rank, place, count)) numbers.push_back(mean + scale * number);
  return numbers;
}

Weights make_weights(int32_t rank) {
  Weights weights;
  weights.embedding = drawn(0, 200, kWords * kHidden, 1.0);
  weights.words = drawn(rank, 201, kOwnWords * kHidden, 0.4);
  for (int l = 0; l <= kLayers; ++l) weights.gains[l] = drawn(0, 210 + static_cast<uint64_t>(l), kHidden, 0.2, 1.0);
  for (int l = 0; l < kLayers; ++l) {
    weights.in[l] = drawn(rank, 220 + static_cast<uint64_t>(l), kInner * kHidden, 0.3);
    weights.out[l] = drawn(rank, 230 + static_cast<uint64_t>(l), kHidden * kInner, 0.3);
  }
  return weights;
}

class Network {
 public:
  explicit Network(const Rank &self) : self_(self), plan_(make_plan(self, kHidden, kShared)) {}

  double loss(const Weights &weights) {
    stream_[0].resize(kTokens * kHidden);
    for (int64_t t = 0; t < kTokens; ++t) {
      for (int64_t c = 0; c < kHidden; ++c) {
        stream_[0][at(t, c, kHidden)] = weights.embedding[at(word(t), c, kHidden)];
      }
    }
    for (int l = 0; l < kLayers; ++l) {
      normed_[l] = norm(stream_[l], weights.gains[l]);
      inner_[l] = linear(normed_[l], weights.in[l], kHidden, kInner);
      for (double &number : inner_[l]) number = std::tanh(number);
      Numbers block = linear(inner_[l], weights.out[l], kInner, kHidden);
      reduce(LPT_PARTIAL_PASS_FORWARD, block);
      stream_[l + 1] = stream_[l];
      for (size_t i = 0; i < block.size(); ++i) stream_[l + 1][i] += block[i];
    }
    normed_[kLayers] = norm(stream_[kLayers], weights.gains[kLayers]);
    return cross_entropy(linear(normed_[kLayers], weights.words, kHidden, kOwnWords));
  }

  // Returns the gradients of the last loss.
  Weights gradients(const Weights &weights) {
    Weights sums = weights;
    for (Numbers *numbers : sums.replicated()) numbers->assign(numbers->size(), 0.0);
    for (Numbers *numbers : sums.own()) numbers->assign(numbers->size(), 0.0);
    Numbers gradient(kTokens * kHidden, 0.0);  // of the stream of this rank: a part of the replicated gradient
    Numbers after = linear_backward(normed_[kLayers], weights.words, logits_, kHidden, kOwnWords, sums.words);
    norm_backward(stream_[kLayers], weights.gains[kLayers], after, sums.gains[kLayers], gradient);
    for (int l = kLayers - 1; l >= 0; --l) {
      Numbers block = gradient;  // the gradient of the skip connection is not reduced
      reduce(LPT_PARTIAL_PASS_BACKWARD, block);
      Numbers inner = linear_backward(inner_[l], weights.out[l], block, kInner, kHidden, sums.out[l]);
      for (size_t i = 0; i < inner.size(); ++i) inner[i] *= 1 - inner_[l][i] * inner_[l][i];
      after = linear_backward(normed_[l], weights.in[l], inner, kHidden, kInner, sums.in[l]);
      norm_backward(stream_[l], weights.gains[l], after, sums.gains[l], gradient);
    }
    add_ranks(LPT_REDUCTION_SUM, gradient);  // the entry: all columns
    for (int64_t t = 0; t < kTokens; ++t) {
      for (int64_t c = 0; c < kHidden; ++c) {
        sums.embedding[at(word(t), c, kHidden)] += gradient[at(t, c, kHidden)];
      }
    }
    add_gains(sums);
    return sums;
  }

 private:
  static int64_t word(int64_t t) { return (t * 7 + 1) % kWords; }
  static int64_t next_word(int64_t t) { return (t * 5 + 3) % kWords; }

  void reduce(lpt_partial_pass pass, Numbers &numbers) {
    const Tensor both = wrap(self_.context, numbers, kTokens, kHidden);
    EXPECT_TRUE(self_.ok(partial(self_, plan_, pass, both, both)));
  }

  void add_ranks(lpt_reduction reduction, Numbers &numbers) {
    lpt_reduce_options options = LPT_REDUCE_OPTIONS_INIT;
    options.reduction = reduction;
    const Tensor both = wrap(self_.context, numbers, 1, static_cast<int64_t>(numbers.size()));
    EXPECT_TRUE(self_.ok(lpt_all_reduce(self_.context, self_.comm, both.get(), &options, both.get(), nullptr)));
  }

  void add_gains(Weights &sums) {
    std::vector<Tensor> owners;
    std::vector<lpt_tensor *> tensors;
    for (Numbers &gain : sums.gains) owners.push_back(wrap(self_.context, gain, 1, kHidden));
    for (const Tensor &owner : owners) tensors.push_back(owner.get());
    EXPECT_TRUE(self_.ok(lpt_all_reduce_many(self_.context, self_.comm, tensors.data(),
                                             static_cast<int64_t>(tensors.size()), nullptr, nullptr)));
  }

  // The vocabulary is split among the ranks. Stores the gradient of the logits of this rank.
  double cross_entropy(Numbers logits) {
    Numbers largest(kTokens, -HUGE_VAL), sums(2 * kTokens, 0.0);
    for (size_t i = 0; i < logits.size(); ++i) largest[i / kOwnWords] = std::max(largest[i / kOwnWords], logits[i]);
    add_ranks(LPT_REDUCTION_MAXIMUM, largest);
    const int64_t first = self_.rank * kOwnWords;
    for (int64_t t = 0; t < kTokens; ++t) {
      for (int64_t w = 0; w < kOwnWords; ++w) {
        double &logit = logits[at(t, w, kOwnWords)];
        logit -= largest[static_cast<size_t>(t)];
        if (first + w == next_word(t)) sums[static_cast<size_t>(kTokens + t)] = logit;
        logit = std::exp(logit);
        sums[static_cast<size_t>(t)] += logit;
      }
    }
    add_ranks(LPT_REDUCTION_SUM, sums);
    double loss = 0;
    for (int64_t t = 0; t < kTokens; ++t) {
      const double sum = sums[static_cast<size_t>(t)];
      loss += (std::log(sum) - sums[static_cast<size_t>(kTokens + t)]) / kTokens;
      for (int64_t w = 0; w < kOwnWords; ++w) {
        double &logit = logits[at(t, w, kOwnWords)];
        logit = (logit / sum - (first + w == next_word(t) ? 1.0 : 0.0)) / kTokens;
      }
    }
    logits_ = std::move(logits);
    return loss;
  }

  const Rank &self_;
  const PartialPlan plan_;
  Numbers stream_[kLayers + 1], normed_[kLayers + 1], inner_[kLayers], logits_;
};

// Returns the largest error of `found` against central differences, of every fifth element with a sanitizer. If `is_mine`, this
// rank changes the element.
double worst_error(Network &network, Weights &weights, Numbers &numbers, const Numbers &found, bool is_mine) {
  constexpr double kStep = 1e-5;
  double worst = 0;
  for (size_t i = 0; i < numbers.size(); i += kIsSanitized ? 5 : 1) {
    const double before = numbers[i];
    if (is_mine) numbers[i] = before + kStep;
    const double above = network.loss(weights);
    if (is_mine) numbers[i] = before - kStep;
    const double below = network.loss(weights);
    numbers[i] = before;
    if (is_mine) worst = std::max(worst, std::fabs((above - below) / (2 * kStep) - found[i]));
  }
  return worst;
}

TEST(PartialGradient, IsThatOfCentralDifferences) {
  lpt_comm_options options = LPT_COMM_OPTIONS_INIT;
  options.timeout_seconds = 100.0;
  run_ranks(kRanks, options, [](const Rank &self, Comm &) {
    Weights weights = make_weights(self.rank);
    Network network(self);
    network.loss(weights);
    Weights found = network.gradients(weights);
    double worst = 0;
    for (size_t i = 0; i < weights.replicated().size(); ++i) {
      const double error = worst_error(network, weights, *weights.replicated()[i], *found.replicated()[i], true);
      EXPECT_LE(error, 1e-8) << (i == 0 ? "embedding" : "gain") << " " << i << " of rank " << self.rank;
      worst = std::max(worst, error);
      EXPECT_TRUE(is_same(
          self, wrap(self.context, *found.replicated()[i], 1, static_cast<int64_t>(found.replicated()[i]->size()))));
    }
    for (int32_t owner = 0; owner < self.ranks; ++owner) {
      for (size_t i = 0; i < weights.own().size(); ++i) {
        const double error = worst_error(network, weights, *weights.own()[i], *found.own()[i], owner == self.rank);
        EXPECT_LE(error, 1e-8) << "weight " << i << " of rank " << owner;
        worst = std::max(worst, error);
      }
    }
    if (self.rank == 0) std::printf("largest error %.2e\n", worst);
  });
}

}  // namespace
}  // namespace lpt::test
