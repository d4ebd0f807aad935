// A transport of the test for lpt_comm_create_custom(): ranks are threads, and messages go through memory under a mutex. It
// checks the rules that the library keeps: one function at a time, equal sizes, every request ends, close() is last.
#pragma once

#include <atomic>
#include <deque>
#include <list>
#include <map>
#include <mutex>
#include <set>
#include <thread>
#include <tuple>
#include <utility>

#include "tests/comm/suite.hpp"

namespace lpt::test {

// How a rank's transport behaves.
struct MailFaults {
  int32_t most_delay = 0;     // each send takes 0 to so many calls of test(), by a fixed pattern
  const char *function = "";  // whose call fails: send, receive or test
  int64_t failing_call = 0;   // of this function, from 1; 0: none
  int32_t status = LPT_WORK_FAILED;
  bool is_silent = false;  // no text with the status
  bool is_stuck = false;   // no request ends
};

struct Mail {
  int32_t tag;
  std::vector<std::byte> bytes;
};

struct MailRequest {
  bool is_send;
  int32_t from, to, tag;
  std::byte *data;
  int64_t bytes;
  int32_t delay;
  bool is_done;
};

// What the ranks share. Sends of a rank also advance while it is in no call.
struct Mailboxes {
  std::mutex mutex;
  std::map<std::pair<int32_t, int32_t>, std::deque<Mail>> boxes;  // of sender and receiver
  std::list<MailRequest> sends;

  void deliver(MailRequest &send) {
    boxes[{send.from, send.to}].push_back({send.tag, {send.data, send.data + send.bytes}});
    send.is_done = true;
  }

  void take(MailRequest &receive) {
    std::deque<Mail> &box = boxes[{receive.from, receive.to}];
    const auto mail = std::find_if(box.begin(), box.end(), [&](const Mail &m) { return m.tag == receive.tag; });
    if (mail == box.end()) return;
    EXPECT_EQ(static_cast<size_t>(receive.bytes), mail->bytes.size()) << "both sides state the same number of bytes";
    std::memcpy(receive.data, mail->bytes.data(), std::min(mail->bytes.size(), static_cast<size_t>(receive.bytes)));
    receive.is_done = true;
    box.erase(mail);
  }

  // Requests of two ranks and one tag end in their order; others overtake them.
  void advance(std::list<MailRequest> &requests) {
    std::set<std::tuple<int32_t, int32_t, int32_t>> waiting;
    for (MailRequest &request : requests) {
      if (request.is_done) continue;
      const std::tuple line(request.from, request.to, request.tag);
      if (waiting.count(line) == 0 && --request.delay < 0) request.is_send ? deliver(request) : take(request);
      if (!request.is_done) waiting.insert(line);
    }
  }
};

// One rank's transport, the `user` of the functions.
class MailRank {
 public:
  MailRank(Mailboxes &shared, int32_t rank) : shared_(shared), rank_(rank) {}
  MailRank(const MailRank &) = delete;
  MailRank &operator=(const MailRank &) = delete;
  ~MailRank() { EXPECT_EQ(0, pending_) << "requests that did not end"; }

  static lpt_comm_functions functions() {
    lpt_comm_functions functions = LPT_COMM_FUNCTIONS_INIT;
    std::snprintf(functions.name, sizeof functions.name, "mailboxes");
    functions.send = send;
    functions.receive = receive;
    functions.test = test;
    functions.cancel = cancel;
    functions.close = close;
    return functions;
  }

  MailFaults faults;
  std::atomic<int32_t> closes{0};
  std::atomic<int64_t> calls{0}, cancels{0};
  std::atomic<int32_t> largest_tag{0};

 private:
  // Marks that a function runs.
  class Use {
   public:
    explicit Use(void *user) : self(*static_cast<MailRank *>(user)) {
      ++self.calls;
      EXPECT_FALSE(self.is_used_.exchange(true)) << "two functions at once";
      EXPECT_EQ(0, self.closes) << "a call after close()";
    }
    ~Use() { self.is_used_ = false; }
    MailRank &self;
  };

  bool has_fault(const char *function, char *error, size_t error_bytes) {
    if (std::strcmp(function, faults.function) != 0 || ++counted_ != faults.failing_call) return false;
    if (!faults.is_silent)
      std::snprintf(error, error_bytes, "call %d of %s is lost", static_cast<int>(counted_), function);
    return true;
  }

  int32_t start(bool is_send, int32_t peer, int32_t tag, void *data, int64_t bytes, void **out_request) {
    EXPECT_TRUE(peer >= 0 && peer != rank_) << peer;
    EXPECT_LE(0, tag);
    EXPECT_LE(1, bytes);
    largest_tag = std::max(largest_tag.load(), tag);
    const std::lock_guard<std::mutex> lock(shared_.mutex);
    std::list<MailRequest> &requests = is_send ? shared_.sends : receives_;
    requests.push_back({is_send, is_send ? rank_ : peer, is_send ? peer : rank_, tag, static_cast<std::byte *>(data),
                        bytes, next_delay(), false});
    *out_request = &requests.back();
    ++pending_;
    if (!is_send || faults.most_delay > 0 || faults.is_stuck) return LPT_OK;
    shared_.deliver(requests.back());
    end(*out_request);
    *out_request = nullptr;  // complete
    return LPT_OK;
  }

  int32_t next_delay() {
    if (faults.is_stuck) return INT32_MAX;
    return static_cast<int32_t>((++started_ * 2654435761U >> 8) % static_cast<uint32_t>(faults.most_delay + 1));
  }

  // Both under the mutex of the mailboxes.
  MailRequest *find(void *request) {
    for (std::list<MailRequest> *list : {&receives_, &shared_.sends}) {
      for (MailRequest &each : *list) {
        if (&each == request) return &each;
      }
    }
    return nullptr;
  }

  void end(void *request) {
    for (std::list<MailRequest> *list : {&receives_, &shared_.sends}) {
      list->remove_if([&](const MailRequest &each) { return &each == request; });
    }
    --pending_;
  }

  static int32_t send(void *user, int32_t peer, int32_t tag, const void *data, int64_t bytes, void **out_request,
                      char *error, size_t error_bytes) {
    const Use use(user);
    if (use.self.has_fault("send", error, error_bytes)) return use.self.faults.status;
    return use.self.start(true, peer, tag, const_cast<void *>(data), bytes, out_request);
  }

  static int32_t receive(void *user, int32_t peer, int32_t tag, void *data, int64_t bytes, void **out_request,
                         char *error, size_t error_bytes) {
    const Use use(user);
    if (use.self.has_fault("receive", error, error_bytes)) return use.self.faults.status;
    return use.self.start(false, peer, tag, data, bytes, out_request);
  }

  static int32_t test(void *user, void *request, int32_t *out_is_done, char *error, size_t error_bytes) {
    const Use use(user);
    MailRank &self = use.self;
    const std::lock_guard<std::mutex> lock(self.shared_.mutex);
    if (self.shared_.sends.size() > 0) self.shared_.advance(self.shared_.sends);
    self.shared_.advance(self.receives_);
    const MailRequest *const found = self.find(request);
    EXPECT_NE(nullptr, found) << "a request is tested after its end";
    if (found == nullptr) return LPT_INTERNAL;
    const bool is_faulty = self.has_fault("test", error, error_bytes);
    *out_is_done = found->is_done ? 1 : 0;
    if (found->is_done || is_faulty) self.end(request);
    return is_faulty ? self.faults.status : LPT_OK;
  }

  static void cancel(void *user, void *request) {
    const Use use(user);
    ++use.self.cancels;
    const std::lock_guard<std::mutex> lock(use.self.shared_.mutex);
    EXPECT_NE(nullptr, use.self.find(request)) << "a request is cancelled after its end";
    use.self.end(request);
  }

  static void close(void *user) {
    MailRank &self = *static_cast<MailRank *>(user);
    EXPECT_FALSE(self.is_used_);
    EXPECT_EQ(0, self.pending_) << "close() is last";
    ++self.closes;
  }

  Mailboxes &shared_;
  const int32_t rank_;
  std::list<MailRequest> receives_;
  int64_t pending_ = 0;
  std::atomic<bool> is_used_{false};
  uint32_t started_ = 0;
  int64_t counted_ = 0;
};

// Runs body(rank, its comm, its transport, status of its creation) on `ranks` threads. change(transport, rank) comes before.
template <typename Change, typename Body>
void run_mail_ranks(int32_t ranks, const lpt_comm_options &options, const Change &change, const Body &body) {
  Mailboxes boxes;
  std::vector<std::thread> threads;
  for (int32_t rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&, rank] {
      const Context context = make_context(1);
      MailRank mail(boxes, rank);
      change(mail, rank);
      const lpt_comm_functions functions = MailRank::functions();
      lpt_comm *raw = nullptr;
      const lpt_status status = lpt_comm_create_custom(context.get(), &functions, &mail, rank, ranks, &options, &raw);
      EXPECT_EQ(status != LPT_OK, raw == nullptr);
      {
        Comm comm(raw);
        EXPECT_EQ(raw == nullptr ? 1 : 0, mail.closes);
        body(Rank{context.get(), raw, rank, ranks}, comm, mail, status);
      }
      EXPECT_EQ(1, mail.closes);
    });
  }
  for (std::thread &thread : threads) thread.join();
}

// As run_ranks(), where every creation succeeds.
template <typename Body>
void run_custom_ranks(int32_t ranks, const lpt_comm_options &options, int32_t most_delay, const Body &body) {
  run_mail_ranks(
      ranks, options, [&](MailRank &mail, int32_t) { mail.faults.most_delay = most_delay; },
      [&](const Rank &self, Comm &comm, MailRank &, lpt_status status) {
        ASSERT_TRUE(self.ok(status));
        body(self, comm);
      });
}

}  // namespace lpt::test
