// Letters and payloads on a link: what is under way, and who owns its bytes until it has left.
#pragma once

#include <list>
#include <memory>
#include <vector>

#include "src/comm/letter.hpp"
#include "src/comm/link.hpp"

namespace lpt {

class Post {
 public:
  // `damaged_payload`, from 1: the one of this rank that is damaged; 0: none.
  Post(std::unique_ptr<Link> link, int64_t damaged_payload)
      : link_(std::move(link)), damaged_payload_(damaged_payload) {}
  Post(const Post &) = delete;
  Post &operator=(const Post &) = delete;
  ~Post();

  Link &link() const { return *link_; }

  // How an announced payload travels.
  struct Parcel {
    int32_t tag = 0;  // 0: inside its letter
    bool is_damaged = false;
  };

  // Sends a letter with the payload inside, or with word of it; then it is to be started. `letter` is completed.
  Status announce(int32_t peer, Letter &letter, const Bytes &payload, Parcel &out_parcel);

  // Borrowed bytes stay as they are until has_borrowed() is false.
  enum class Keeping { kBorrowed, kCopied };
  Status start(int32_t peer, const Parcel &parcel, const Bytes &payload, Keeping keeping);

  // One that announces nothing.
  Status send(int32_t peer, const Letter &letter);

  // The next letter that has come, unchecked: see fault_of(). Each rank's come in their order.
  Status take(Letter &out_letter, Link::Received &out_received, bool &out_has_come);

  // Gets sends on, and forgets what is done.
  Status get_on();
  bool has_borrowed() const;
  bool is_idle() const { return sending_.empty(); }

  // Gives up what is under way to a rank that takes nothing any more; payloads to all.
  void abandon(int32_t peer);
  void abandon_payloads();

 private:
  struct Sending {
    int32_t peer, tag;
    bool is_borrowed;
    void *request;
    std::vector<std::byte> bytes;  // empty if borrowed
  };
  Status start_own(int32_t peer, int32_t tag, std::vector<std::byte> &&bytes);
  template <typename Which>
  void abandon_if(const Which &which);

  const std::unique_ptr<Link> link_;
  const int64_t damaged_payload_;
  int64_t payloads_ = 0;
  int32_t payload_tag_ = 0;
  std::list<Sending> sending_;
  void *asked_ = nullptr;  // for the next letter
  Letter next_;
};

}  // namespace lpt
