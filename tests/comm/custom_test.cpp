// Ranks over a transport of the caller: bits equal to those of local ranks, failures of each function, and ownership.
#include <chrono>

#include "tests/comm/local.hpp"
#include "tests/comm/mailboxes.hpp"

namespace lpt::test {
namespace {

lpt_comm_options options_of(double seconds = 100.0) {
  lpt_comm_options options = LPT_COMM_OPTIONS_INIT;
  options.timeout_seconds = seconds;
  return options;
}

// Bits.

using Numbers = std::vector<float>;

struct Reduction {
  lpt_format wire;
  lpt_reduce_algorithm algorithm;
};
constexpr Reduction kReductions[] = {
    {LPT_FORMAT_NONE, LPT_REDUCE_ALGORITHM_AUTO},           {LPT_FORMAT_BF16, LPT_REDUCE_ALGORITHM_AUTO},
    {LPT_FORMAT_MXFP8_E4M3, LPT_REDUCE_ALGORITHM_ONE_SHOT}, {LPT_FORMAT_MXFP8_E4M3, LPT_REDUCE_ALGORITHM_TWO_SHOT},
    {LPT_FORMAT_INT8_1X32, LPT_REDUCE_ALGORITHM_ONE_SHOT},  {LPT_FORMAT_INT8_1X32, LPT_REDUCE_ALGORITHM_TWO_SHOT},
    {LPT_FORMAT_INT4_1X32, LPT_REDUCE_ALGORITHM_TWO_SHOT}};

// The results of every collective on a rank, one after the other.
class Results {
 public:
  Results(const Rank &self, bool has_messages) : self_(self), has_messages_(has_messages) {}

  std::vector<Numbers> of(int64_t rows) {
    reduce(rows);
    move(rows);
    if (self_.ranks > 1 && has_messages_) pass_on(rows);
    return std::move(results_);
  }

 private:
  static constexpr int64_t kColumns = 96;

  Tensor next_output(int64_t rows) {
    results_.emplace_back(static_cast<size_t>(rows * kColumns));
    return wrap(self_.context, results_.back(), rows, kColumns);
  }

  void reduce(int64_t rows) {
    const Numbers numbers = numbers_of(self_.rank, 500, rows * kColumns);
    const Tensor input = wrap(self_.context, numbers, rows, kColumns);
    for (const Reduction &reduction : kReductions) {
      lpt_reduce_options options = LPT_REDUCE_OPTIONS_INIT;
      options.wire = reduction.wire;
      options.algorithm = reduction.algorithm;
      const Tensor sum = next_output(rows);
      EXPECT_TRUE(self_.ok(lpt_all_reduce(self_.context, self_.comm, input.get(), &options, sum.get(), nullptr)));
      if (reduction.algorithm == LPT_REDUCE_ALGORITHM_ONE_SHOT) continue;
      const Tensor part = next_output(rows / self_.ranks);
      EXPECT_TRUE(
          self_.ok(lpt_reduce_scatter(self_.context, self_.comm, input.get(), nullptr, &options, part.get(), nullptr)));
    }
  }

  void move(int64_t rows) {
    const Numbers numbers = numbers_of(self_.rank, 501, rows * kColumns);
    const Tensor input = wrap(self_.context, numbers, rows, kColumns);
    const Tensor gathered = next_output(rows * self_.ranks), swapped = next_output(rows);
    lpt_future *raw = nullptr;
    EXPECT_TRUE(
        self_.ok(lpt_all_gather(self_.context, self_.comm, input.get(), nullptr, nullptr, gathered.get(), &raw)));
    const Future future(raw);
    EXPECT_TRUE(self_.ok(lpt_future_wait(self_.context, future.get())));
    EXPECT_TRUE(
        self_.ok(lpt_all_to_all(self_.context, self_.comm, input.get(), nullptr, nullptr, swapped.get(), nullptr)));
    EXPECT_TRUE(self_.ok(lpt_broadcast(self_.context, self_.comm, self_.ranks - 1, swapped.get(), nullptr)));
    EXPECT_TRUE(self_.ok(lpt_barrier(self_.context, self_.comm)));
  }

  // Sends around a ring of the ranks of a split, which are numbered in reverse order.
  void pass_on(int64_t rows) {
    lpt_comm *raw = nullptr;
    ASSERT_TRUE(self_.ok(lpt_comm_split(self_.context, self_.comm, 0, -self_.rank, &raw)));
    const Comm ring(raw);
    const int32_t rank = self_.ranks - 1 - self_.rank;
    const Numbers numbers = numbers_of(self_.rank, 502, rows * kColumns);
    const Tensor sent = wrap(self_.context, numbers, rows, kColumns), received = next_output(rows);
    EXPECT_TRUE(self_.ok(lpt_send(self_.context, raw, sent.get(), (rank + 1) % self_.ranks, 77, nullptr)));
    EXPECT_TRUE(
        self_.ok(lpt_receive(self_.context, raw, received.get(), (rank + self_.ranks - 1) % self_.ranks, 77, nullptr)));
  }

  const Rank self_;
  const bool has_messages_;
  std::vector<Numbers> results_;
};

struct Transport {
  const char *name;
  MailForm form;
  int32_t most_delay;
};

class CustomBits : public testing::TestWithParam<Transport> {};
INSTANTIATE_TEST_SUITE_P(Transport, CustomBits,
                         testing::Values(Transport{"Prompt", MailForm::kMessages, 0},
                                         Transport{"Late", MailForm::kMessages, 3},
                                         Transport{"VeryLate", MailForm::kMessages, 40},
                                         Transport{"Exchange", MailForm::kExchange, 0},
                                         Transport{"Both", MailForm::kBoth, 3}),
                         [](const auto &transport) { return std::string(transport.param.name); });

TEST_P(CustomBits, AreThoseOfLocalRanks) {
  const bool has_messages = GetParam().form != MailForm::kExchange;
  for (const int32_t ranks : {1, 2, 4}) {
    for (const int64_t rows : {4, 400}) {  // inline in headers, and as payloads
      std::vector<std::vector<Numbers>> expected(static_cast<size_t>(ranks)), found = expected;
      run_ranks(ranks, options_of(), [&](const Rank &self, Comm &) {
        expected[static_cast<size_t>(self.rank)] = Results(self, has_messages).of(rows);
      });
      run_custom_ranks(ranks, options_of(), GetParam().form, GetParam().most_delay, [&](const Rank &self, Comm &) {
        found[static_cast<size_t>(self.rank)] = Results(self, has_messages).of(rows);
      });
      EXPECT_LT(10U, expected[0].size());
      EXPECT_EQ(expected, found) << ranks << " ranks, " << rows << " rows";
    }
  }
}

TEST(Custom, EngineHasTheNameOfTheTransport) {
  run_custom_ranks(2, options_of(), MailForm::kMessages, 0, [](const Rank &self, Comm &) {
    EXPECT_STREQ("mailboxes", read(self).engine);
    lpt_comm *raw = nullptr;
    ASSERT_TRUE(self.ok(lpt_comm_split(self.context, self.comm, 0, 0, &raw)));
    const Comm part(raw);
    EXPECT_STREQ("mailboxes", read({self.context, raw, 0, 2}).engine);
  });
}

TEST(Custom, OneRankCallsNothingButClose) {
  run_mail_ranks(
      1, options_of(), MailForm::kMessages, [](MailRank &, int32_t) {},
      [](const Rank &self, Comm &, MailRank &mail, lpt_status status) {
        ASSERT_TRUE(self.ok(status));
        EXPECT_TRUE(self.ok(lpt_barrier(self.context, self.comm)));
        EXPECT_EQ(0, mail.calls);
      });
}

// Comms of splits use separate tags: messages with equal tags arrive on the comm that sent them.
TEST(Custom, SplitsDoNotShareTags) {
  run_mail_ranks(
      4, options_of(10.0), MailForm::kMessages, [](MailRank &mail, int32_t rank) { mail.faults.most_delay = rank; },
      [](const Rank &self, Comm &comm, MailRank &mail, lpt_status status) {
        ASSERT_TRUE(self.ok(status));
        std::vector<Comm> comms;
        comms.push_back(std::move(comm));
        // Pairs split more often than all ranks, and by different comms, so their counts of splits differ.
        for (int i = 0; i < 6; ++i) {
          lpt_comm *const parent = comms[i % 2 == 0 ? 0 : comms.size() - 1].get();
          lpt_comm *raw = nullptr;
          ASSERT_TRUE(self.ok(lpt_comm_split(self.context, parent, i < 2 ? self.rank / 2 : 0, 0, &raw)));
          comms.emplace_back(raw);
        }
        for (size_t i = 0; i < comms.size(); ++i) {
          const Rank in{self.context, comms[i].get(), 0, 0};
          const lpt_comm_info info = read(in);
          const Tensor sent = make_tensor(self.context, LPT_FORMAT_F32, 1, 1);
          *part_data<float>(self.context, sent.get(), LPT_TENSOR_PART_PAYLOAD) = static_cast<float>(i);
          EXPECT_TRUE(
              self.ok(lpt_send(self.context, in.comm, sent.get(), (info.rank + 1) % info.rank_count, 5, nullptr)));
        }
        for (size_t i = comms.size(); i-- > 0;) {
          const Rank in{self.context, comms[i].get(), 0, 0};
          const lpt_comm_info info = read(in);
          const Tensor received = make_tensor(self.context, LPT_FORMAT_F32, 1, 1);
          EXPECT_TRUE(self.ok(lpt_receive(self.context, in.comm, received.get(),
                                          (info.rank + info.rank_count - 1) % info.rank_count, 5, nullptr)));
          EXPECT_EQ(static_cast<float>(i), *part_data<float>(self.context, received.get(), LPT_TENSOR_PART_PAYLOAD));
        }
        EXPECT_LE(6 << 15, mail.largest_tag);
        comms.erase(comms.begin(), comms.end() - 1);
        EXPECT_EQ(0, mail.closes) << "a comm of a split keeps the transport";
        EXPECT_TRUE(self.ok(lpt_barrier(self.context, comms[0].get())));
        comms.clear();
        EXPECT_EQ(1, mail.closes);
      });
}

// Failures.

// Runs collectives on a comm, then on a comm that is split from it. Returns the latter.
lpt_status work(const Rank &self, Comm &out_part) {
  Numbers numbers(5000, 1.0f);
  const Tensor both = wrap(self.context, numbers, 1, 5000);
  lpt_status status = lpt_all_reduce(self.context, self.comm, both.get(), nullptr, both.get(), nullptr);
  if (status == LPT_OK) status = lpt_comm_split(self.context, self.comm, 0, 0, out(out_part));
  if (status != LPT_OK) return status;
  status = lpt_all_reduce(self.context, out_part.get(), both.get(), nullptr, both.get(), nullptr);
  const int32_t next = (self.rank + 1) % self.ranks, before = (self.rank + self.ranks - 1) % self.ranks;
  if (status == LPT_OK) status = lpt_send(self.context, out_part.get(), both.get(), next, 0, nullptr);
  if (status == LPT_OK) status = lpt_receive(self.context, out_part.get(), both.get(), before, 0, nullptr);
  return status == LPT_OK ? lpt_barrier(self.context, out_part.get()) : status;
}

// The k-th call of a function of rank 1 fails, for every k. All ranks return before the timeout. The operation that waits
// during this call differs between runs.
void end_all_ranks(const char *function) {
  constexpr double kSeconds = 5.0;
  bool has_failed = true;
  for (int64_t k = 1; has_failed && k <= 4000; k += 1 + k / 20) {
    SCOPED_TRACE("call " + std::to_string(k));
    const auto begin = std::chrono::steady_clock::now();
    std::atomic<int32_t> errors{0};
    run_mail_ranks(
        3, options_of(kSeconds), MailForm::kMessages,
        [&](MailRank &mail, int32_t rank) {
          mail.faults.most_delay = 2;
          if (rank == 1) mail.faults.function = function;
          if (rank == 1) mail.faults.failing_call = k;
          if (rank == 1) mail.faults.status = LPT_CANCELLED;
        },
        [&](const Rank &self, Comm &, MailRank &, lpt_status status) {
          Comm part;
          if (status == LPT_OK) status = work(self, part);
          if (status == LPT_OK) return;
          ++errors;
          EXPECT_EQ(self.rank == 1 ? LPT_CANCELLED : LPT_ABORTED, status);
          // Other ranks name a rank: the failed one, or one that destroyed its new comm after the split failed.
          const std::string words = "call " + std::to_string(k) + " of " + function + " is lost";
          expect_words({self.rank == 1 ? words.c_str() : "rank "}, lpt_context_error(self.context));
          lpt_comm *const broken = part == nullptr ? self.comm : part.get();
          if (broken == nullptr) return;
          EXPECT_EQ(status, lpt_barrier(self.context, broken)) << "it stays broken";
        });
    EXPECT_GT(std::chrono::duration<double>(kSeconds), std::chrono::steady_clock::now() - begin);
    has_failed = errors > 0;
  }
  EXPECT_FALSE(has_failed) << "work() takes more calls";
}

class CustomFailingCalls : public testing::TestWithParam<const char *> {};
INSTANTIATE_TEST_SUITE_P(Function, CustomFailingCalls, testing::Values("send", "receive", "test"),
                         [](const auto &function) { return std::string(function.param); });

TEST_P(CustomFailingCalls, EndAllRanks) {
  for (int run = 0; run < 8; ++run) end_all_ranks(GetParam());
}

TEST(CustomFailures, StatusesAndTextsOfTheTransport) {
  struct Failure {
    int32_t status;
    bool is_silent;
    lpt_status expected;
    const char *words;
  };
  constexpr Failure kFailures[] = {
      {LPT_UNSUPPORTED, false, LPT_UNSUPPORTED, "functions->send failed: call 1 of send is lost"},
      {LPT_BUSY, true, LPT_BUSY, "functions->send failed: "},
      {LPT_OUT_OF_MEMORY, true, LPT_OUT_OF_MEMORY, "functions->send failed: out of memory"},
      {-1, true, LPT_WORK_FAILED, "functions->send returned -1: expected an lpt_status"},
      {12, false, LPT_WORK_FAILED, "functions->send returned 12: expected an lpt_status; call 1 of send is lost"}};
  for (const Failure &failure : kFailures) {
    run_mail_ranks(
        2, options_of(), MailForm::kMessages,
        [&](MailRank &mail, int32_t rank) {
          mail.faults.function = "send";
          mail.faults.failing_call = rank == 1 ? 1 : 0;
          mail.faults.status = failure.status;
          mail.faults.is_silent = failure.is_silent;
        },
        [&](const Rank &self, Comm &, MailRank &, lpt_status status) {
          EXPECT_EQ(self.rank == 1 ? failure.expected : LPT_ABORTED, status);
          expect_words({failure.words}, lpt_context_error(self.context));
        });
  }
}

// The text differs from that of a timeout of LPT.
TEST(CustomFailures, ATimeoutOfTheTransportKeepsItsText) {
  run_mail_ranks(
      2, options_of(), MailForm::kMessages,
      [&](MailRank &mail, int32_t rank) {
        mail.faults.function = "send";
        mail.faults.failing_call = rank == 1 ? 1 : 0;
        mail.faults.status = LPT_TIMEOUT;
      },
      [&](const Rank &self, Comm &, MailRank &, lpt_status status) {
        EXPECT_EQ(self.rank == 1 ? LPT_TIMEOUT : LPT_ABORTED, status);
        expect_words({"functions->send failed: call 1 of send is lost"}, lpt_context_error(self.context));
      });
}

// A transport may write any bytes as text. Texts of LPT are one line of ASCII.
TEST(CustomFailures, TextsBecomeOneLineOfAscii) {
  lpt_comm_functions functions = MailRank::functions();
  functions.receive = [](void *, int32_t, int32_t, void *, int64_t, void **, char *error, size_t error_bytes) {
    std::memset(error, 'x', error_bytes);  // without a terminator
    std::memcpy(error, "a\nb\xC3\xA9", 5);
    return int32_t{LPT_WORK_FAILED};
  };
  Mailboxes boxes;
  MailRank mail(boxes, 0);
  const Context context = make_context(1);
  lpt_comm *comm = nullptr;
  const lpt_comm_options options = options_of();
  EXPECT_EQ(LPT_WORK_FAILED, lpt_comm_create_custom(context.get(), &functions, &mail, 0, 2, &options, &comm));
  expect_words({"functions->receive failed: a b??xxx"}, lpt_context_error(context.get()));
  EXPECT_EQ(1, mail.closes);
}

TEST(CustomTimeouts, ATransportThatNeverCompletesEndsCreation) {
  run_mail_ranks(
      2, options_of(0.2), MailForm::kMessages, [](MailRank &mail, int32_t) { mail.faults.is_stuck = true; },
      [](const Rank &self, Comm &, MailRank &mail, lpt_status status) {
        EXPECT_EQ(LPT_TIMEOUT, status);
        expect_words({"comm_create", self.rank == 0 ? "rank 1" : "rank 0", "0.2 seconds"},
                     lpt_context_error(self.context));
        EXPECT_LT(0, mail.cancels);
      });
}

// A payload does not arrive. After the call no function reads or writes the tensor.
TEST(CustomTimeouts, ATransportThatStopsFreesTheTensor) {
  run_mail_ranks(
      2, options_of(0.2), MailForm::kMessages, [](MailRank &mail, int32_t) { mail.faults.most_delay = 1; },
      [](const Rank &self, Comm &, MailRank &mail, lpt_status status) {
        ASSERT_TRUE(self.ok(status));
        ASSERT_TRUE(self.ok(lpt_barrier(self.context, self.comm)));
        if (self.rank == 1) mail.faults.is_stuck = true;
        auto numbers = std::make_unique<Numbers>(50000, 1.0f);
        const Tensor both = wrap(self.context, *numbers, 1, 50000);
        status = lpt_all_reduce(self.context, self.comm, both.get(), nullptr, both.get(), nullptr);
        EXPECT_TRUE(status == LPT_TIMEOUT || status == LPT_ABORTED) << status;
        numbers.reset();
        mail.faults.is_stuck = false;
        mail.faults.most_delay = 0;
      });
}

// Invalid calls.

struct BadCreation {
  const char *words;
  lpt_status status;
  void (*change)(lpt_comm_functions &functions, int32_t &rank, int32_t &rank_count, lpt_comm_options &options);
  int32_t closes = 1;
};

const BadCreation kBadCreations[] = {
    {"functions->send is NULL: expected send, receive, test and cancel, or exchange", LPT_INVALID_ARGUMENT,
     [](auto &functions, auto &, auto &, auto &) { functions.send = nullptr; }},
    {"functions->receive is NULL", LPT_INVALID_ARGUMENT,
     [](auto &functions, auto &, auto &, auto &) { functions.receive = nullptr; }},
    {"functions->test is NULL", LPT_INVALID_ARGUMENT,
     [](auto &functions, auto &, auto &, auto &) { functions.test = nullptr; }},
    {"functions->cancel is NULL", LPT_INVALID_ARGUMENT,
     [](auto &functions, auto &, auto &, auto &) { functions.cancel = nullptr; }},
    {"functions->name has 0 bytes: expected 1 to 31", LPT_INVALID_ARGUMENT,
     [](auto &functions, auto &, auto &, auto &) { functions.name[0] = '\0'; }},
    {"functions->name has 32 bytes: expected 1 to 31", LPT_INVALID_ARGUMENT,
     [](auto &functions, auto &, auto &, auto &) { std::memset(functions.name, 'n', sizeof functions.name); }},
    {"functions->name has a byte that is not printable: expected ASCII", LPT_INVALID_ARGUMENT,
     [](auto &functions, auto &, auto &, auto &) {
       std::memcpy(functions.name,
                   "a\xFF"
                   "b",
                   4);
     }},
    {"functions->send is NULL: expected send, receive, test and cancel, or none of them", LPT_INVALID_ARGUMENT,
     [](auto &functions, auto &, auto &, auto &) {
       functions = MailRank::functions(MailForm::kBoth), functions.send = nullptr;
     }},
    {"options->flags has LPT_COMM_CHECKSUMS: expected none", LPT_UNSUPPORTED,
     [](auto &functions, auto &, auto &, auto &options) {
       functions = MailRank::functions(MailForm::kBoth);
       options.flags = LPT_COMM_CHECKSUMS;
     }},
    {"functions->struct_size is 4: expected the size of the struct", LPT_INVALID_ARGUMENT,
     [](auto &functions, auto &, auto &, auto &) { functions.struct_size = 4; }, 0},
    {"functions->struct_size is 100000: expected the size of the struct", LPT_INVALID_ARGUMENT,
     [](auto &functions, auto &, auto &, auto &) { functions.struct_size = 100000; }, 0},
    {"functions->cancel is NULL", LPT_INVALID_ARGUMENT,
     [](auto &functions, auto &, auto &, auto &) { functions.struct_size = offsetof(lpt_comm_functions, cancel); }, 0},
    {"rank is -1: expected 0 to 1", LPT_INVALID_ARGUMENT, [](auto &, auto &rank, auto &, auto &) { rank = -1; }},
    {"rank is 2: expected 0 to 1", LPT_INVALID_ARGUMENT, [](auto &, auto &rank, auto &, auto &) { rank = 2; }},
    {"rank_count is 0: expected 1 to 1024", LPT_INVALID_ARGUMENT,
     [](auto &, auto &, auto &rank_count, auto &) { rank_count = 0; }},
    {"rank_count is 1025: expected 1 to 1024", LPT_INVALID_ARGUMENT,
     [](auto &, auto &, auto &rank_count, auto &) { rank_count = 1025; }},
    {"options->timeout_seconds is -1", LPT_INVALID_ARGUMENT,
     [](auto &, auto &, auto &, auto &options) { options.timeout_seconds = -1.0; }},
    {"options->flags", LPT_UNSUPPORTED, [](auto &, auto &, auto &, auto &options) { options.flags = LPT_CHECK_ONLY; }},
};

TEST(CustomCalls, BadArgumentsAreNamedAndTheTransportIsClosed) {
  const Context context = make_context(1);
  for (const BadCreation &bad : kBadCreations) {
    Mailboxes boxes;
    MailRank mail(boxes, 0);
    lpt_comm_functions functions = MailRank::functions();
    lpt_comm_options options = options_of(1.0);
    int32_t rank = 0, rank_count = 2;
    bad.change(functions, rank, rank_count, options);
    lpt_comm *comm = nullptr;
    EXPECT_EQ(bad.status, lpt_comm_create_custom(context.get(), &functions, &mail, rank, rank_count, &options, &comm));
    EXPECT_EQ(nullptr, comm);
    expect_words({bad.words}, lpt_context_error(context.get()));
    EXPECT_EQ(bad.closes, mail.closes) << bad.words;
    EXPECT_EQ(0, mail.calls) << bad.words;
  }
}

TEST(CustomCalls, PointersThatAreMissing) {
  const Context context = make_context(1);
  Mailboxes boxes;
  const lpt_comm_functions functions = MailRank::functions();
  lpt_comm *comm = nullptr;
  EXPECT_EQ(LPT_INVALID_ARGUMENT, lpt_comm_create_custom(context.get(), nullptr, nullptr, 0, 2, nullptr, &comm));
  expect_words({"functions is NULL: expected"}, lpt_context_error(context.get()));
  MailRank without_context(boxes, 0), without_result(boxes, 0);
  EXPECT_EQ(LPT_INVALID_ARGUMENT, lpt_comm_create_custom(nullptr, &functions, &without_context, 0, 2, nullptr, &comm));
  EXPECT_EQ(1, without_context.closes);
  EXPECT_EQ(LPT_INVALID_ARGUMENT,
            lpt_comm_create_custom(context.get(), &functions, &without_result, 0, 2, nullptr, nullptr));
  expect_words({"out_comm is NULL"}, lpt_context_error(context.get()));
  EXPECT_EQ(1, without_result.closes);
}

// Members of a later release: zeros are allowed, other values are unknown.
TEST(CustomCalls, StructsOfALaterRelease) {
  struct Later {
    lpt_comm_functions known = MailRank::functions();
    void *next = nullptr;
  };
  const Context context = make_context(1);
  for (const bool is_set : {false, true}) {
    Mailboxes boxes;
    MailRank mail(boxes, 0);
    Later later;
    later.known.struct_size = sizeof later;
    if (is_set) later.next = &later;
    lpt_comm *raw = nullptr;
    EXPECT_EQ(is_set ? LPT_UNSUPPORTED : LPT_OK,
              lpt_comm_create_custom(context.get(), &later.known, &mail, 0, 1, nullptr, &raw));
    Comm(raw).reset();
    EXPECT_EQ(1, mail.closes);
  }
}

}  // namespace
}  // namespace lpt::test
