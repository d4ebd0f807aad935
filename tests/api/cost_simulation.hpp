// Simulates collectives message by message on links, as a reference for the formulas of lpt_cost_estimate(). It also tracks
// which ranks contribute to each chunk, and so finds an algorithm that sends too little.
#pragma once

#include <algorithm>
#include <vector>

#include "tests/api/support.hpp"

namespace lpt::test {

// Sends `chunks` from one rank to another, which adds them to its chunks or replaces its chunks.
struct Message {
  int from, to;
  std::vector<int> chunks;
};

struct Step {
  bool is_added;  // else replaced
  std::vector<Message> messages;
};

struct Played {
  double seconds = 0.0;
  int steps = 0;
  std::vector<double> sent;  // by each rank
};

// A tensor has one chunk per rank. The content of a chunk is the set of ranks that contribute to it.
class Play {
 public:
  Play(int ranks, double bytes, const lpt_cost_link &link)
      : ranks_(ranks), chunk_bytes_(bytes / ranks), link_(link), held_(static_cast<size_t>(ranks * ranks), 0u) {
    played_.sent.assign(static_cast<size_t>(ranks), 0.0);
  }

  unsigned &held(int rank, int chunk) { return held_[static_cast<size_t>(rank * ranks_ + chunk)]; }
  unsigned all() const { return (1u << ranks_) - 1; }
  const Played &played() const { return played_; }

  // Runs a step. It begins after the previous step has ended on all ranks. A rank sends its messages in their listed order.
  void run(const Step &step) {
    move(step);
    std::vector<double> out_free(static_cast<size_t>(ranks_), played_.seconds), in_free = out_free, done = out_free;
    std::vector<double> added(static_cast<size_t>(ranks_), 0.0);
    std::vector<Message> waiting = step.messages;
    while (!waiting.empty()) {
      const size_t next = next_of(waiting, out_free, in_free);
      const Message &message = waiting[next];
      const auto from = static_cast<size_t>(message.from), to = static_cast<size_t>(message.to);
      const double begin = begin_of(message, out_free, in_free), bytes = bytes_of(message);
      const double length = link_.bytes_per_second == 0.0 ? 0.0 : bytes / link_.bytes_per_second;
      out_free[from] = begin + length;
      in_free[to] = begin + link_.latency_seconds + length;
      done[to] = std::max(done[to], in_free[to]);
      played_.sent[from] += bytes;
      if (step.is_added) added[to] += bytes;
      waiting.erase(waiting.begin() + static_cast<std::ptrdiff_t>(next));
    }
    for (size_t q = 0; q < done.size(); ++q) {
      const double adding = link_.reduce_bytes_per_second == 0.0 ? 0.0 : added[q] / link_.reduce_bytes_per_second;
      played_.seconds = std::max(played_.seconds, done[q] + adding);
    }
    played_.steps += 1;
  }

 private:
  double bytes_of(const Message &message) const { return static_cast<double>(message.chunks.size()) * chunk_bytes_; }

  // Returns the time at which the message can begin. It occupies the link of the receiver one latency later than that of the
  // sender.
  double begin_of(const Message &message, const std::vector<double> &out_free,
                  const std::vector<double> &in_free) const {
    return std::max(out_free[static_cast<size_t>(message.from)],
                    in_free[static_cast<size_t>(message.to)] - link_.latency_seconds);
  }

  // Returns the message that can begin first among the first waiting message of every sender.
  size_t next_of(const std::vector<Message> &waiting, const std::vector<double> &out_free,
                 const std::vector<double> &in_free) const {
    size_t best = 0;
    std::vector<bool> has_first(static_cast<size_t>(ranks_), false);
    for (size_t i = 0; i < waiting.size(); ++i) {
      if (has_first[static_cast<size_t>(waiting[i].from)]) continue;
      has_first[static_cast<size_t>(waiting[i].from)] = true;
      if (begin_of(waiting[i], out_free, in_free) < begin_of(waiting[best], out_free, in_free)) best = i;
    }
    return best;
  }

  void move(const Step &step) {
    const std::vector<unsigned> before = held_;
    for (const Message &message : step.messages) {
      for (const int chunk : message.chunks) {
        const unsigned content = before[static_cast<size_t>(message.from * ranks_ + chunk)];
        unsigned &place = held(message.to, chunk);
        if (step.is_added) {
          EXPECT_EQ(0u, place & content) << "added twice";
        }
        place = step.is_added ? place | content : content;
      }
    }
  }

  int ranks_;
  double chunk_bytes_;
  lpt_cost_link link_;
  std::vector<unsigned> held_;
  Played played_;
};

inline std::vector<int> all_chunks(int ranks) {
  std::vector<int> chunks;
  for (int c = 0; c < ranks; ++c) chunks.push_back(c);
  return chunks;
}

inline std::vector<int> all_but(int ranks, int chunk) {
  std::vector<int> chunks = all_chunks(ranks);
  chunks.erase(chunks.begin() + chunk);
  return chunks;
}

// Every rank sends `chunks(from, to)` to all others. Each begins with its next rank, so that no two send to the same rank.
template <typename Chunks>
std::vector<Message> to_all(int ranks, const Chunks &chunks) {
  std::vector<Message> messages;
  for (int from = 0; from < ranks; ++from) {
    for (int k = 1; k < ranks; ++k) messages.push_back({from, (from + k) % ranks, chunks(from, (from + k) % ranks)});
  }
  return messages;
}

// In step k rank q sends chunk q - k, received in step k - 1. A reduce-scatter shifts this by one, so that chunk q ends at
// rank q; in an all-gather chunk q begins at rank q.
inline std::vector<Step> ring(int ranks, bool is_added) {
  std::vector<Step> steps;
  for (int k = 0; k + 1 < ranks; ++k) {
    Step step{is_added, {}};
    for (int q = 0; q < ranks; ++q) {
      step.messages.push_back({q, (q + 1) % ranks, {(q - k + 2 * ranks - (is_added ? 1 : 0)) % ranks}});
    }
    steps.push_back(step);
  }
  return steps;
}

inline std::vector<Step> tree(int ranks, bool is_added) {
  std::vector<Step> steps;
  for (int distance = 1; distance < ranks; distance *= 2) {
    Step step{is_added, {}};
    for (int q = 0; q + distance < ranks; q += 2 * distance) {
      const int to = is_added ? q : q + distance, from = is_added ? q + distance : q;
      step.messages.push_back({from, to, all_chunks(ranks)});
    }
    steps.push_back(step);
  }
  if (!is_added) std::reverse(steps.begin(), steps.end());
  return steps;
}

template <typename Chunks>
Step star(int ranks, bool is_added, bool is_to_root, const Chunks &chunks) {
  Step step{is_added, {}};
  for (int q = 1; q < ranks; ++q) step.messages.push_back({is_to_root ? q : 0, is_to_root ? 0 : q, chunks(q)});
  return step;
}

inline std::vector<Step> joined(std::vector<Step> first, const std::vector<Step> &second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

inline std::vector<Step> steps_of(lpt_cost_collective collective, lpt_cost_algorithm algorithm, int ranks) {
  const auto whole = [=](int, int) { return all_chunks(ranks); };
  const auto of_target = [](int, int to) { return std::vector<int>{to}; };
  const auto of_source = [](int from, int) { return std::vector<int>{from}; };
  const auto everything = [=](int) { return all_chunks(ranks); };
  const auto own = [](int q) { return std::vector<int>{q}; };
  const auto others = [=](int q) { return all_but(ranks, q); };
  const Step scatter{true, to_all(ranks, of_target)}, gather{false, to_all(ranks, of_source)};
  switch (collective * 8 + algorithm) {
    case LPT_COST_COLLECTIVE_ALL_REDUCE * 8 + LPT_COST_ALGORITHM_RING:
      return joined(ring(ranks, true), ring(ranks, false));
    case LPT_COST_COLLECTIVE_ALL_REDUCE * 8 + LPT_COST_ALGORITHM_TREE:
      return joined(tree(ranks, true), tree(ranks, false));
    case LPT_COST_COLLECTIVE_ALL_REDUCE * 8 + LPT_COST_ALGORITHM_TWO_SHOT:
      return {scatter, gather};
    case LPT_COST_COLLECTIVE_ALL_REDUCE * 8 + LPT_COST_ALGORITHM_ONE_SHOT:
      return {{true, to_all(ranks, whole)}};
    case LPT_COST_COLLECTIVE_ALL_REDUCE * 8 + LPT_COST_ALGORITHM_STAR:
      return {star(ranks, true, true, everything), star(ranks, false, false, everything)};
    case LPT_COST_COLLECTIVE_REDUCE_SCATTER * 8 + LPT_COST_ALGORITHM_RING:
      return ring(ranks, true);
    case LPT_COST_COLLECTIVE_REDUCE_SCATTER * 8 + LPT_COST_ALGORITHM_TWO_SHOT:
      return {scatter};
    case LPT_COST_COLLECTIVE_REDUCE_SCATTER * 8 + LPT_COST_ALGORITHM_STAR:
      return {star(ranks, true, true, everything), star(ranks, false, false, own)};
    case LPT_COST_COLLECTIVE_ALL_GATHER * 8 + LPT_COST_ALGORITHM_RING:
      return ring(ranks, false);
    case LPT_COST_COLLECTIVE_ALL_GATHER * 8 + LPT_COST_ALGORITHM_TWO_SHOT:
      return {gather};
    case LPT_COST_COLLECTIVE_ALL_GATHER * 8 + LPT_COST_ALGORITHM_STAR:
      return {star(ranks, false, true, own), star(ranks, false, false, others)};
    case LPT_COST_COLLECTIVE_BROADCAST * 8 + LPT_COST_ALGORITHM_TREE:
      return tree(ranks, false);
    case LPT_COST_COLLECTIVE_BROADCAST * 8 + LPT_COST_ALGORITHM_ONE_SHOT:
      return {star(ranks, false, false, everything)};
    case LPT_COST_COLLECTIVE_ALL_TO_ALL * 8 + LPT_COST_ALGORITHM_ONE_SHOT:
      return {{false, to_all(ranks, of_target)}};
    default:
      return {};
  }
}

}  // namespace lpt::test
