// Ranks that exchange messages over a transport: processes, or threads that emulate them.
//
// Every rank sends one header per exchange to each other rank. The header announces the payload and contains the signature of
// the call, so that both ranks detect a mismatch. Headers of one rank arrive in order, including those of its failure or
// departure. So a rank that waits for a header that cannot arrive detects this.
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "src/comm/deadline.hpp"
#include "src/comm/message_channel.hpp"

namespace lpt {

class MessageEngine : public Engine {
 public:
  MessageEngine(std::unique_ptr<Endpoint> endpoint, int32_t rank, int32_t ranks, const EngineOptions &options);
  ~MessageEngine() override;

  const char *name() const override { return channel_.endpoint().name(); }
  bool shares_memory() const override { return false; }
  Status all_to_all_v(const Signature &signature, const Bytes *outgoing, Bytes *incoming) override;
  Status publish(const Signature &signature, const void *face) override;
  const void *published(int32_t) const override { return nullptr; }
  Status release() override;
  Status send(const Signature &signature, int32_t peer, int32_t tag, const Bytes &bytes) override;
  Status receive(const Signature &signature, int32_t peer, int32_t tag, const Bytes &bytes) override;
  Status split(int32_t color, int32_t key, std::unique_ptr<Engine> &out_engine) override;
  void interrupt(const char *reason) noexcept override;
  void complete_exchange() noexcept override;

 private:
  struct Peer {
    std::deque<MessageHeader> exchanges, mail;  // arrived and not yet processed
    bool has_left = false;
  };

  // A payload that this rank waits for and, in an exchange, the payload that it sends to the same rank.
  struct PendingReceive {
    int32_t from;
    Bytes place;
    MessageChannel::PayloadInfo payload_info{};
    bool is_announced = false, is_present = false;
    uint64_t checksum = 0;
    void *request = nullptr;
  };

  template <typename Work>
  Status run_locked(const Work &work);
  Status check_interrupt();
  void answer_interrupt();

  // The failure of another rank, and the exchanges that this rank had completed before.
  struct PeerFailure {
    Status status;
    uint64_t finished = 0;
  };

  template <typename Step>
  Status wait(const Deadline &deadline, uint64_t sequence, const Step &step);
  Status check_failures(uint64_t sequence);
  Status look();
  Status take_headers();
  void dispatch_header(const MessageHeader &header);
  bool has_active_transfers() const;

  Status exchange_all(const Signature &signature, const Bytes *outgoing, Bytes *incoming);
  Status announce(const Signature &signature, const Bytes *outgoing);
  Status advance_exchange(PendingReceive &pending, const Signature &signature, const Bytes &outgoing);
  Status check_exchange(const MessageHeader &header, const Signature &signature, int64_t outgoing, int64_t incoming);
  std::string missing() const;
  Status release_all();
  Status send_mail(const Signature &signature, int32_t peer, int32_t tag, const Bytes &bytes);
  Status receive_mail(const Signature &signature, int32_t peer, int32_t tag, const Bytes &bytes);
  Status advance_mail(PendingReceive &pending, const Signature &signature, int32_t tag);
  Status split_parts(int32_t color, int32_t key, std::unique_ptr<Engine> &out_engine);

  Status collect(const MessageHeader &header, PendingReceive &pending);
  Status advance_payload(PendingReceive &pending, const char *operation);
  Status finish(PendingReceive &pending, const char *operation);
  uint64_t sum_of(const Bytes &bytes) const;

  Status fail(const Status &status, bool is_same_for_all);
  Status fail_all(lpt_status code, const std::string &words) { return fail(Status(code, words), true); }
  Status abort_status(const std::string &reason) const;
  void drop_payloads();
  void notify_all(MessageKind kind, const Status &status);
  void leave();

  const EngineOptions options_;
  // Number of the next split. Shared by a comm and all comms that are split from it, and greater than the numbers of these
  // comms.
  std::shared_ptr<std::atomic<int64_t>> next_comm_ = std::make_shared<std::atomic<int64_t>>(1);
  std::mutex work_;  // held by the thread that runs a call
  MessageChannel channel_;
  std::vector<Peer> peers_;
  std::vector<PendingReceive> pending_;
  uint64_t sequence_ = 0;       // of the last exchange
  uint64_t finished_ = 0;       // the last exchange that is complete and released
  const char *operation_ = "";  // of the last exchange
  bool is_late_ = false;        // the last wait() ended at its deadline
  Status broken_;
  PeerFailure failures_;
  std::atomic<bool> is_interrupted_{false};
  std::mutex reason_mutex_;
  std::string reason_;
};

}  // namespace lpt
