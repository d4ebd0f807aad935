// A test transport for lpt_comm_create_custom(): ranks are threads, and messages are copied under a mutex. It checks the
// rules of the library: one function at a time, equal sizes, every request ends, close() is last.
#pragma once

#include <atomic>
#include <chrono>
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

// The functions of a transport.
enum class MailForm : uint8_t { kMessages, kExchange, kBoth };

// Simulated faults and delays of the transport of a rank.
struct MailFaults {
  int32_t most_delay = 0;     // a send takes 0 to most_delay calls of test(), by a fixed pattern
  const char *function = "";  // whose call fails: send, receive or test
  int64_t failing_call = 0;   // number of the call of this function, from 1; 0: none
  int32_t status = LPT_WORK_FAILED;
  bool is_silent = false;        // no text with the status
  bool is_stuck = false;         // no request ends
  bool drops_exchanges = false;  // other ranks receive nothing of exchange()
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

// State shared by the ranks. Sends of a rank also progress while it is in no call.
struct Mailboxes {
  std::mutex mutex;
  std::map<std::pair<int32_t, int32_t>, std::deque<Mail>> boxes;  // of sender and receiver
  std::list<MailRequest> sends;
  std::atomic<bool> is_aborted{false};
  std::atomic<bool> is_down{false};  // test() and exchange() fail

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

  // Requests of two ranks and one tag end in order. Other requests may overtake them.
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

// The transport of one rank, the `user` of the functions.
class MailRank {
 public:
  MailRank(Mailboxes &shared, int32_t rank, int32_t ranks = 2) : shared_(shared), rank_(rank), ranks_(ranks) {}
  MailRank(const MailRank &) = delete;
  MailRank &operator=(const MailRank &) = delete;
  ~MailRank() { EXPECT_EQ(0, pending_) << "requests that did not end"; }

  static lpt_comm_functions functions(MailForm form = MailForm::kMessages) {
    lpt_comm_functions functions = LPT_COMM_FUNCTIONS_INIT;
    std::snprintf(functions.name, sizeof functions.name, "mailboxes");
    if (form != MailForm::kExchange) {
      functions.send = send;
      functions.receive = receive;
      functions.test = test;
      functions.cancel = cancel;
    }
    if (form != MailForm::kMessages) {
      functions.exchange = exchange;
      functions.all_reduce = all_reduce;
      functions.abort = abort;
    }
    functions.close = close;
    return functions;
  }

  MailFaults faults;
  std::atomic<int32_t> closes{0};
  std::atomic<int64_t> calls{0}, cancels{0};
  std::atomic<int32_t> largest_tag{0};
  std::atomic<int64_t> exchanges{0}, reductions{0}, aborts{0};

 private:
  // Marks a running function.
  class Use {
   public:
    explicit Use(void *user) : self(*static_cast<MailRank *>(user)) {
      ++self.calls;
      EXPECT_FALSE(self.is_used_.exchange(true)) << "two functions at once";
      EXPECT_EQ(0, self.closes) << "a call after close()";
    }
    ~Use() {
      if (self.calls % 8 == 0) std::this_thread::yield();  // lets another thread of the rank run
      self.is_used_ = false;
    }
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

  // The mutex of the mailboxes must be locked for both functions.
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
    if (self.shared_.is_down) {
      self.end(request);
      return failed(LPT_ABORTED, "the transport is down", error, error_bytes);
    }
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

  // Marks a running collective. Messages may be sent at the same time.
  class CollectiveUse {
   public:
    explicit CollectiveUse(void *user) : self(*static_cast<MailRank *>(user)) {
      EXPECT_FALSE(self.is_in_collective_.exchange(true)) << "two collectives at once";
      EXPECT_EQ(0, self.closes) << "a call after close()";
    }
    ~CollectiveUse() { self.is_in_collective_ = false; }
    MailRank &self;
  };

  // The bytes of one collective are messages with tags that the library does not use.
  static int32_t exchange(void *user, void *stream, const void *const *outgoing, const int64_t *outgoing_bytes,
                          void *const *incoming, const int64_t *incoming_bytes, double timeout_seconds, char *error,
                          size_t error_bytes) {
    const CollectiveUse use(user);
    MailRank &self = use.self;
    EXPECT_EQ(nullptr, stream);
    ++self.exchanges;
    if (self.has_fault("exchange", error, error_bytes)) return self.faults.status;
    return self.exchange_all(-1, outgoing, outgoing_bytes, incoming, incoming_bytes, timeout_seconds, error,
                             error_bytes);
  }

  int32_t exchange_all(int32_t tag, const void *const *outgoing, const int64_t *outgoing_bytes, void *const *incoming,
                       const int64_t *incoming_bytes, double timeout_seconds, char *error, size_t error_bytes) {
    std::list<MailRequest> receives;
    {
      const std::lock_guard<std::mutex> lock(shared_.mutex);
      for (int32_t q = 0; q < ranks_; ++q) {
        if (q == rank_) continue;
        MailRequest send{
            true, rank_, q, tag, static_cast<std::byte *>(const_cast<void *>(outgoing[q])), outgoing_bytes[q],
            0,    false};
        if (!faults.drops_exchanges) shared_.deliver(send);
        receives.push_back({false, q, rank_, tag, static_cast<std::byte *>(incoming[q]), incoming_bytes[q], 0, false});
      }
    }
    const auto begin = std::chrono::steady_clock::now();
    for (;;) {
      {
        const std::lock_guard<std::mutex> lock(shared_.mutex);
        shared_.advance(receives);
        receives.remove_if([](const MailRequest &receive) { return receive.is_done; });
      }
      if (receives.empty()) return LPT_OK;
      if (shared_.is_aborted || shared_.is_down) return failed(LPT_ABORTED, "aborted", error, error_bytes);
      const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
      if (timeout_seconds > 0.0 && seconds.count() > timeout_seconds) {
        return failed(LPT_TIMEOUT, "a rank is late", error, error_bytes);
      }
      std::this_thread::yield();
    }
  }

  static int32_t failed(int32_t status, const char *words, char *error, size_t error_bytes) {
    std::snprintf(error, error_bytes, "%s", words);
    return status;
  }

  // Adds floats from the last rank to the first, which gives other bits than the library.
  static int32_t all_reduce(void *user, void *stream, const void *input, void *output, int64_t elements,
                            lpt_format format, lpt_reduction reduction, double timeout_seconds, char *error,
                            size_t error_bytes) {
    const CollectiveUse use(user);
    MailRank &self = use.self;
    EXPECT_EQ(nullptr, stream);
    ++self.reductions;
    if (self.has_fault("all_reduce", error, error_bytes)) return self.faults.status;
    if (format != LPT_FORMAT_F32 || reduction != LPT_REDUCTION_SUM) {
      return failed(LPT_UNSUPPORTED, "expected sums of f32", error, error_bytes);
    }
    const auto ranks = static_cast<size_t>(self.ranks_), count = static_cast<size_t>(elements);
    std::vector<std::vector<float>> numbers(ranks, std::vector<float>(count));
    std::memcpy(numbers[static_cast<size_t>(self.rank_)].data(), input, count * sizeof(float));
    std::vector<const void *> outgoing(ranks, input);
    std::vector<void *> incoming;
    for (std::vector<float> &one : numbers) incoming.push_back(one.data());
    const std::vector<int64_t> bytes(ranks, elements * static_cast<int64_t>(sizeof(float)));
    if (const int32_t status = self.exchange_all(-2, outgoing.data(), bytes.data(), incoming.data(), bytes.data(),
                                                 timeout_seconds, error, error_bytes)) {
      return status;
    }
    for (size_t i = 0; i < count; ++i) {
      float sum = 0.0f;
      for (size_t q = ranks; q-- > 0;) sum += numbers[q][i];
      static_cast<float *>(output)[i] = sum;
    }
    return LPT_OK;
  }

  static void abort(void *user) {
    MailRank &self = *static_cast<MailRank *>(user);
    EXPECT_EQ(1, ++self.aborts);
    EXPECT_EQ(0, self.closes);
    self.shared_.is_aborted = true;
  }

  static void close(void *user) {
    MailRank &self = *static_cast<MailRank *>(user);
    EXPECT_FALSE(self.is_used_);
    EXPECT_EQ(0, self.pending_) << "close() is last";
    ++self.closes;
  }

  Mailboxes &shared_;
  const int32_t rank_, ranks_;
  std::list<MailRequest> receives_;
  int64_t pending_ = 0;
  std::atomic<bool> is_used_{false}, is_in_collective_{false};
  uint32_t started_ = 0;
  int64_t counted_ = 0;
};

// Runs body(rank, its comm, its transport, status of the creation) on `ranks` threads. change(transport, rank) runs before it.
template <typename Change, typename Body>
void run_mail_ranks(int32_t ranks, const lpt_comm_options &options, MailForm form, const Change &change,
                    const Body &body) {
  Mailboxes boxes;
  std::vector<std::thread> threads;
  for (int32_t rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&, rank] {
      const Context context = make_context(1);
      MailRank mail(boxes, rank, ranks);
      change(mail, rank);
      const lpt_comm_functions functions = MailRank::functions(form);
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

// Like run_ranks(). Every creation must succeed.
template <typename Body>
void run_custom_ranks(int32_t ranks, const lpt_comm_options &options, MailForm form, int32_t most_delay,
                      const Body &body) {
  run_mail_ranks(
      ranks, options, form, [&](MailRank &mail, int32_t) { mail.faults.most_delay = most_delay; },
      [&](const Rank &self, Comm &comm, MailRank &, lpt_status status) {
        ASSERT_TRUE(self.ok(status));
        body(self, comm);
      });
}

}  // namespace lpt::test
