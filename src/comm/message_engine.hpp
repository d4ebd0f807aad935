// Ranks that send each other messages over a wire: processes, or threads that are to behave like them.
//
// Every rank writes one letter per swap to each other rank; it announces the payload and tells what the writer is about to do,
// so that both find out when they disagree. All letters of a rank come in their order, those about its end too: whoever waits
// for a letter that can not come any more sees that.
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "src/comm/deadline.hpp"
#include "src/comm/post.hpp"

namespace lpt {

class MessageEngine : public Engine {
 public:
  MessageEngine(std::unique_ptr<Link> link, int32_t rank, int32_t ranks, const EngineOptions &options);
  ~MessageEngine() override;

  const char *name() const override { return post_.link().name(); }
  bool shares_memory() const override { return false; }
  Status swap(const Signature &signature, const Bytes *outgoing, Bytes *incoming) override;
  Status show(const Signature &signature, const void *face) override;
  const void *shown(int32_t) const override { return nullptr; }
  Status release() override;
  Status send(const Signature &signature, int32_t peer, int32_t tag, const Bytes &bytes) override;
  Status receive(const Signature &signature, int32_t peer, int32_t tag, const Bytes &bytes) override;
  Status split(int32_t color, int32_t key, std::unique_ptr<Engine> &out_engine) override;
  void interrupt(const char *reason) noexcept override;
  void settle() noexcept override;

 private:
  struct Peer {
    std::deque<Letter> swaps, mail;  // that have come and were not looked at
    bool has_left = false;
  };

  // A payload that this rank waits for, and in a swap the one that goes the other way.
  struct Coming {
    int32_t from;
    Bytes place;
    Post::Parcel parcel{};
    bool is_announced = false, is_there = false;
    uint64_t checksum = 0;
    void *request = nullptr;
  };

  template <typename Work>
  Status take_turn(const Work &work);
  Status heed_interrupt();
  void answer_interrupt();

  // The end of another rank, which had finished so many swaps by then.
  struct News {
    Status status;
    uint64_t finished = 0;
  };

  template <typename Step>
  Status wait(const Deadline &deadline, uint64_t turn, const Step &step);
  Status heed_news(uint64_t turn);
  Status look();
  Status take_letters();
  void sort_in(const Letter &letter);
  bool are_bytes_under_way() const;

  Status swap_all(const Signature &signature, const Bytes *outgoing, Bytes *incoming);
  Status announce(const Signature &signature, const Bytes *outgoing);
  Status advance_swap(Coming &coming, const Signature &signature, const Bytes &outgoing);
  Status check_swap(const Letter &letter, const Signature &signature, int64_t outgoing, int64_t incoming);
  std::string missing() const;
  Status release_all();
  Status send_mail(const Signature &signature, int32_t peer, int32_t tag, const Bytes &bytes);
  Status receive_mail(const Signature &signature, int32_t peer, int32_t tag, const Bytes &bytes);
  Status advance_mail(Coming &coming, const Signature &signature, int32_t tag);
  Status split_parts(int32_t color, int32_t key, std::unique_ptr<Engine> &out_engine);

  Status collect(const Letter &letter, Coming &coming);
  Status advance_payload(Coming &coming, const char *operation);
  Status finish(Coming &coming, const char *operation);
  uint64_t sum_of(const Bytes &bytes) const;

  Status fail(const Status &status, bool is_same_for_all);
  Status fail_alike(lpt_status code, const std::string &words) { return fail(Status(code, words), true); }
  Status gave_up(const std::string &reason) const;
  void drop_payloads();
  void tell_all(LetterKind kind, const Status &status);
  void leave();

  const EngineOptions options_;
  std::mutex work_;  // held by the thread that is in the engine
  Post post_;
  std::vector<Peer> peers_;
  std::vector<Coming> coming_;
  uint64_t turn_ = 0;           // of swaps
  uint64_t finished_ = 0;       // of them, released too
  const char *operation_ = "";  // of the last one
  Status broken_;
  News news_;
  std::atomic<bool> is_interrupted_{false};
  std::mutex reason_mutex_;
  std::string reason_;
};

}  // namespace lpt
