// Choices of formats against all choices, and against dynamic programming over every budget.
#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "tests/api/support.hpp"

namespace lpt::test {
namespace {

constexpr double kNone = std::numeric_limits<double>::infinity();

struct Candidates {
  int64_t tensors, candidates;
  std::vector<double> errors;
  std::vector<int64_t> bytes;

  double error(int64_t tensor, int64_t i) const { return errors[static_cast<size_t>(tensor * candidates + i)]; }
  int64_t size(int64_t tensor, int64_t i) const { return bytes[static_cast<size_t>(tensor * candidates + i)]; }

  // The smallest error of all choices with so many bytes, for every number of bytes up to `budget`.
  std::vector<double> best_errors(int64_t budget) const {
    std::vector<double> best(static_cast<size_t>(budget) + 1, 0.0);
    for (int64_t tensor = 0; tensor < tensors; ++tensor) {
      std::vector<double> next(best.size(), kNone);
      for (int64_t total = 0; total <= budget; ++total) {
        for (int64_t i = 0; i < candidates; ++i) {
          if (size(tensor, i) > total) continue;
          double &one = next[static_cast<size_t>(total)];
          one = std::min(one, best[static_cast<size_t>(total - size(tensor, i))] + error(tensor, i));
        }
      }
      best = next;
    }
    return best;
  }
};

// Errors are integers, so that sums are exact. Some are infinite, and some candidates are larger and worse than others.
Candidates random_candidates(std::mt19937 &random, int64_t tensors, int64_t candidates, int64_t most_bytes) {
  Candidates made{tensors, candidates, {}, {}};
  for (int64_t i = 0; i < tensors * candidates; ++i) {
    const bool is_excluded = candidates > 1 && i % candidates != 0 && random() % 8 == 0;
    made.errors.push_back(is_excluded ? kNone : static_cast<double>(random() % 1000));
    made.bytes.push_back(static_cast<int64_t>(random() % static_cast<uint64_t>(most_bytes + 1)));
  }
  return made;
}

struct Chosen {
  std::vector<int64_t> choices;
  lpt_format_choose_info info = LPT_FORMAT_CHOOSE_INFO_INIT;
};

// Chooses, and checks that the sums are those of the choice.
Chosen choose(lpt_context *c, const Candidates &given, int64_t budget) {
  Chosen chosen{std::vector<int64_t>(static_cast<size_t>(given.tensors), -1)};
  EXPECT_TRUE(ok(c, lpt_format_choose(c, given.errors.data(), given.bytes.data(), given.tensors, given.candidates,
                                      budget, chosen.choices.data(), &chosen.info)));
  double error = 0.0;
  int64_t bytes = 0;
  for (int64_t tensor = 0; tensor < given.tensors; ++tensor) {
    const int64_t choice = chosen.choices[static_cast<size_t>(tensor)];
    if (choice < 0 || choice >= given.candidates) {
      ADD_FAILURE() << "tensor " << tensor << " has candidate " << choice;
      return chosen;
    }
    error += given.error(tensor, choice);
    bytes += given.size(tensor, choice);
  }
  EXPECT_EQ(error, chosen.info.error);
  EXPECT_EQ(bytes, chosen.info.bytes);
  EXPECT_LE(bytes, budget);
  return chosen;
}

TEST(FormatChoose, IsTheBestChoiceForEveryBudget) {
  const Context context = make_context();
  std::mt19937 random(static_cast<uint32_t>(seed()));
  for (int round = 0; round < 60; ++round) {
    const int64_t tensors = 1 + round % 12, candidates = 1 + round / 12, most_bytes = round % 2 == 0 ? 3 : 20;
    const Candidates given = random_candidates(random, tensors, candidates, most_bytes);
    const int64_t largest = tensors * most_bytes;
    const std::vector<double> best = given.best_errors(largest);
    for (int64_t budget = 0; budget <= largest; ++budget) {
      if (best[static_cast<size_t>(budget)] == kNone) continue;
      const Chosen chosen = choose(context.get(), given, budget);
      ASSERT_EQ(best[static_cast<size_t>(budget)], chosen.info.error) << "round " << round << ", budget " << budget;
      ASSERT_EQ(chosen.info.error, chosen.info.bound);
    }
  }
}

TEST(FormatChoose, IsTheBestChoiceForManyTensors) {
  const Context context = make_context();
  std::mt19937 random(static_cast<uint32_t>(seed()));
  for (const int64_t budget : {1200, 2000, 3600}) {
    const Candidates given = random_candidates(random, 200, 6, 30);
    const Chosen chosen = choose(context.get(), given, budget);
    EXPECT_EQ(given.best_errors(budget).back(), chosen.info.error);
    EXPECT_EQ(chosen.info.error, chosen.info.bound);
  }
}

// Every exchange removes the same error per byte, so that no sum is worse than another one: the search reaches its limit.
TEST(FormatChoose, StatesABoundWhereTheSearchIsLimited) {
  const Context context = make_context();
  std::mt19937 random(static_cast<uint32_t>(seed()));
  double gaps = 0.0;  // errors that a choice of exactly the budget would not have, relative to that of a tensor
  for (int round = 0; round < 2; ++round) {
    Candidates given{40, 2, {}, {}};
    int64_t total = 0;
    for (int64_t tensor = 0; tensor < given.tensors; ++tensor) {
      const int64_t bytes = (int64_t{1} << 35) + (static_cast<int64_t>(random()) << 4);
      total += bytes;
      for (const int64_t size : {int64_t{0}, bytes}) {
        given.bytes.push_back(size);
        given.errors.push_back(static_cast<double>(bytes - size));
      }
    }
    const int64_t budget = total / 3;
    const auto least = static_cast<double>(total - budget);
    const Chosen chosen = choose(context.get(), given, budget);
    EXPECT_LT(chosen.info.bound, chosen.info.error);
    EXPECT_LE(least, chosen.info.bound);
    gaps += (chosen.info.error - least) * 0x1p-36;
  }
  EXPECT_LT(gaps, 0.01);  // with one partial sum per tensor it is about 0.5
}

TEST(FormatChoose, TakesTheFirstOfEqualCandidatesAndNoTensors) {
  const Context context = make_context();
  const Candidates equal{1, 3, {2.0, 1.0, 1.0}, {4, 4, 4}};
  EXPECT_EQ(1, choose(context.get(), equal, 4).choices[0]);
  lpt_format_choose_info info = LPT_FORMAT_CHOOSE_INFO_INIT;
  EXPECT_TRUE(ok(context.get(), lpt_format_choose(context.get(), nullptr, nullptr, 0, 1, 0, nullptr, &info)));
  EXPECT_EQ(0, info.bytes);
  EXPECT_EQ(0.0, info.error);
}

}  // namespace
}  // namespace lpt::test
