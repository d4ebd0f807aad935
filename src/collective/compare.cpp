// Compares a tensor on all ranks by a 64-bit hash of its bits.
#include <cstring>

#include "src/collective/collective.hpp"
#include "src/ranks/segments.hpp"
#include "src/tensor/checks.hpp"

namespace lpt {
namespace {

// Hash of bytes that does not depend on their division into segments. Each 8-byte word is multiplied, its halves are combined,
// and the result is mixed into the state. Not cryptographic.
class Hash {
 public:
  void add(const std::byte *data, int64_t count) {
    count_ += static_cast<uint64_t>(count);
    while (count > 0) {
      if (filled_ == 0 && count >= kWord) {
        std::memcpy(&word_, data, kWord);
        mix(word_);
        data += kWord;
        count -= kWord;
        continue;
      }
      if (filled_ == 0) word_ = 0;
      const int64_t taken = std::min(count, kWord - filled_);
      std::memcpy(reinterpret_cast<std::byte *>(&word_) + filled_, data, static_cast<size_t>(taken));
      filled_ = (filled_ + taken) % kWord;
      if (filled_ == 0) mix(word_);
      data += taken;
      count -= taken;
    }
  }

  uint64_t end() {
    if (filled_ > 0) mix(word_);
    mix(count_);
    return state_;
  }

 private:
  static constexpr int64_t kWord = sizeof(uint64_t);

  // Each step is a bijection, as odd factors are invertible: for every state, different words give different results.
  void mix(uint64_t word) {
    word *= UINT64_C(0x9E3779B97F4A7C15);
    state_ = (state_ ^ word ^ (word >> 32)) * UINT64_C(0xD6E8FEB86659FD93);
    state_ ^= state_ >> 29;
  }

  uint64_t state_ = UINT64_C(0x243F6A8885A308D3), word_ = 0, count_ = 0;
  int64_t filled_ = 0;
};

uint64_t hash_of(const SegmentList &segments) {
  Hash hash;
  for (const Segment &segment : segments.list()) {
    for (int64_t r = 0; r < segment.rows; ++r) hash.add(segment.data + r * segment.stride, segment.bytes);
  }
  return hash.end();
}

}  // namespace

Status compare_over_ranks(Context &context, Comm &comm, const Tensor *tensor, bool &out_is_same) {
  MatrixView view;
  LPT_TRY(check_any_matrix(tensor, "tensor", true, view));
  const Signature signature{"comm_compare", view.format.id, view.rows, view.columns, 0};
  return run_collective(
      context, comm,
      [&](Context &, Engine &engine) -> Status {
        uint64_t mine = hash_of(SegmentList(view));
        const auto ranks = static_cast<size_t>(engine.ranks());
        std::vector<uint64_t> hashes(ranks, mine);
        const std::vector<Bytes> outgoing(ranks, {reinterpret_cast<std::byte *>(&mine), sizeof mine});
        std::vector<Bytes> incoming;
        for (uint64_t &hash : hashes) incoming.push_back({reinterpret_cast<std::byte *>(&hash), sizeof hash});
        const ExchangeGuard guard(engine);
        LPT_TRY(engine.all_to_all_v(signature, outgoing.data(), incoming.data()));
        out_is_same = true;
        for (size_t q = 0; q < ranks; ++q) {
          const bool is_mine = q == static_cast<size_t>(engine.rank());
          if (!is_mine && std::memcmp(incoming[q].data, &mine, sizeof mine) != 0) out_is_same = false;
        }
        return engine.release();
      },
      nullptr);
}

}  // namespace lpt
