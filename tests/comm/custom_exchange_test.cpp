// Ranks over collectives of the caller: exchange() alone or with messages, all_reduce(), abort().
#include "tests/comm/mailboxes.hpp"

namespace lpt::test {
namespace {

using Numbers = std::vector<float>;

lpt_comm_options options_of(double seconds = 100.0) {
  lpt_comm_options options = LPT_COMM_OPTIONS_INIT;
  options.timeout_seconds = seconds;
  return options;
}

lpt_status reduce(const Rank &self, Numbers &numbers, lpt_reduce_algorithm algorithm = LPT_REDUCE_ALGORITHM_AUTO) {
  lpt_reduce_options options = LPT_REDUCE_OPTIONS_INIT;
  options.algorithm = algorithm;
  const Tensor both = wrap(self.context, numbers, 1, static_cast<int64_t>(numbers.size()));
  return lpt_all_reduce(self.context, self.comm, both.get(), &options, both.get(), nullptr);
}

void change_nothing(MailRank &, int32_t) {}

class CustomCollectives : public testing::TestWithParam<MailForm> {};
INSTANTIATE_TEST_SUITE_P(Form, CustomCollectives, testing::Values(MailForm::kExchange, MailForm::kBoth),
                         [](const auto &form) { return form.param == MailForm::kBoth ? "Both" : "Alone"; });

TEST_P(CustomCollectives, PayloadsGoByExchange) {
  run_mail_ranks(3, options_of(), GetParam(), change_nothing,
                 [](const Rank &self, Comm &, MailRank &mail, lpt_status status) {
                   ASSERT_TRUE(self.ok(status));
                   const int64_t before = mail.exchanges;
                   Numbers numbers(10, 1.0f);
                   EXPECT_TRUE(self.ok(reduce(self, numbers)));
                   EXPECT_EQ(before + (GetParam() == MailForm::kBoth ? 1 : 2), mail.exchanges);
                   EXPECT_EQ(80, read(self).bytes_sent);
                   EXPECT_EQ(80, read(self).bytes_received);
                   EXPECT_EQ(0, mail.aborts);
                 });
}

TEST_P(CustomCollectives, NativeSumsAreThoseOfTheTransport) {
  run_mail_ranks(3, options_of(), GetParam(), change_nothing,
                 [](const Rank &self, Comm &, MailRank &mail, lpt_status status) {
                   ASSERT_TRUE(self.ok(status));
                   Numbers numbers = numbers_of(self.rank, 600, 500);
                   EXPECT_TRUE(self.ok(reduce(self, numbers, LPT_REDUCE_ALGORITHM_NATIVE)));
                   const std::vector<Numbers> all = numbers_of_all(3, 600, 500);
                   for (size_t i = 0; i < numbers.size(); ++i) {
                     ASSERT_EQ(0.0f + all[2][i] + all[1][i] + all[0][i], numbers[i]) << i;
                   }
                   EXPECT_EQ(1, mail.reductions);
                 });
}

// Columns of a matrix: contiguous for the transport; the other columns are unchanged.
TEST_P(CustomCollectives, NativeSumsOfColumns) {
  run_mail_ranks(
      2, options_of(), GetParam(), change_nothing, [](const Rank &self, Comm &, MailRank &, lpt_status status) {
        ASSERT_TRUE(self.ok(status));
        Numbers numbers(6 * 10, static_cast<float>(self.rank + 1));
        const Tensor matrix = wrap(self.context, numbers, 6, 10);
        const Tensor columns = view(self.context, matrix.get(), {0, 2}, {6, 3});
        lpt_reduce_options options = LPT_REDUCE_OPTIONS_INIT;
        options.algorithm = LPT_REDUCE_ALGORITHM_NATIVE;
        EXPECT_TRUE(self.ok(lpt_all_reduce(self.context, self.comm, columns.get(), &options, columns.get(), nullptr)));
        for (size_t i = 0; i < numbers.size(); ++i) {
          const bool is_column = i % 10 >= 2 && i % 10 < 5;
          ASSERT_EQ(is_column ? 3.0f : static_cast<float>(self.rank + 1), numbers[i]) << i;
        }
      });
}

TEST_P(CustomCollectives, OneRankCallsNothingButClose) {
  run_mail_ranks(1, options_of(), GetParam(), change_nothing,
                 [](const Rank &self, Comm &, MailRank &mail, lpt_status status) {
                   ASSERT_TRUE(self.ok(status));
                   Numbers numbers(10, 2.0f);
                   EXPECT_TRUE(self.ok(reduce(self, numbers)));
                   EXPECT_TRUE(self.ok(reduce(self, numbers, LPT_REDUCE_ALGORITHM_NATIVE)));
                   EXPECT_EQ(Numbers(10, 2.0f), numbers);
                   EXPECT_EQ(0, mail.calls + mail.exchanges + mail.reductions);
                 });
}

TEST_P(CustomCollectives, NativeSumsOfPartsAreNotSupported) {
  run_mail_ranks(
      1, options_of(), GetParam(), change_nothing, [](const Rank &self, Comm &, MailRank &, lpt_status status) {
        ASSERT_TRUE(self.ok(status));
        Numbers numbers(10, 2.0f), sum(10);
        const Tensor input = wrap(self.context, numbers, 10, 1), output = wrap(self.context, sum, 10, 1);
        lpt_reduce_options options = LPT_REDUCE_OPTIONS_INIT;
        options.algorithm = LPT_REDUCE_ALGORITHM_NATIVE;
        EXPECT_EQ(LPT_UNSUPPORTED,
                  lpt_reduce_scatter(self.context, self.comm, input.get(), nullptr, &options, output.get(), nullptr));
        expect_words({"LPT_REDUCE_ALGORITHM_NATIVE", "expected lpt_all_reduce()"}, lpt_context_error(self.context));
      });
}

// The comm remains usable, because nothing was sent.
TEST(CustomExchange, AloneHasNoMessages) {
  run_mail_ranks(
      2, options_of(), MailForm::kExchange, change_nothing,
      [](const Rank &self, Comm &, MailRank &, lpt_status status) {
        ASSERT_TRUE(self.ok(status));
        const char *const words = "the transport mailboxes has only exchange: expected send, receive, test and cancel";
        const Tensor tensor = make_tensor(self.context, LPT_FORMAT_F32, 1, 1);
        lpt_comm *part = nullptr;
        const lpt_status statuses[] = {lpt_send(self.context, self.comm, tensor.get(), 1 - self.rank, 0, nullptr),
                                       lpt_receive(self.context, self.comm, tensor.get(), 1 - self.rank, 0, nullptr),
                                       lpt_comm_split(self.context, self.comm, 0, 0, &part)};
        for (const lpt_status each : statuses) EXPECT_EQ(LPT_UNSUPPORTED, each);
        EXPECT_EQ(LPT_UNSUPPORTED, lpt_sequence_attention_forward(self.context, self.comm, nullptr, tensor.get(),
                                                                  tensor.get(), tensor.get(), nullptr, tensor.get()));
        expect_words({words}, lpt_context_error(self.context));
        EXPECT_TRUE(self.ok(lpt_barrier(self.context, self.comm)));
      });
}

// All ranks report the same two ranks that disagree, and none aborts.
TEST(CustomExchange, CallsThatDifferAreFoundByAllRanks) {
  run_mail_ranks(3, options_of(), MailForm::kExchange, change_nothing,
                 [](const Rank &self, Comm &, MailRank &mail, lpt_status status) {
                   ASSERT_TRUE(self.ok(status));
                   Numbers numbers(self.rank == 2 ? 11 : 10, 1.0f);
                   EXPECT_EQ(LPT_MISMATCH, reduce(self, numbers));
                   expect_words({"ranks disagree: rank 0 calls all_reduce of 1 x 10", "rank 2 all_reduce of 1 x 11"},
                                lpt_context_error(self.context));
                   EXPECT_EQ(LPT_MISMATCH, lpt_barrier(self.context, self.comm)) << "it stays broken";
                   EXPECT_EQ(0, mail.aborts);
                 });
}

TEST(CustomExchange, CountsThatDifferAreFoundByAllRanks) {
  run_mail_ranks(2, options_of(), MailForm::kExchange, change_nothing,
                 [](const Rank &self, Comm &, MailRank &, lpt_status status) {
                   ASSERT_TRUE(self.ok(status));
                   const int64_t sent[2] = {2, 2}, received[2] = {self.rank == 1 ? 3 : 2, 2};
                   const Tensor input = make_tensor(self.context, LPT_FORMAT_F32, 4, 4);
                   const Tensor output = make_tensor(self.context, LPT_FORMAT_F32, received[0] + 2, 4);
                   EXPECT_EQ(LPT_MISMATCH, lpt_all_to_all(self.context, self.comm, input.get(), sent, received,
                                                          output.get(), nullptr));
                   expect_words({"all_to_all sends 32 bytes from rank 0 to rank 1, which expects 48"},
                                lpt_context_error(self.context));
                 });
}

// The k-th exchange of rank 1 fails. Rank 1 returns its status and text; abort() ends the other ranks before the timeout.
TEST_P(CustomCollectives, AFailureEndsAllRanks) {
  bool has_failed = true;
  for (int64_t k = 1; has_failed; ++k) {
    SCOPED_TRACE("exchange " + std::to_string(k));
    std::atomic<int32_t> errors{0};
    run_mail_ranks(
        3, options_of(5.0), GetParam(),
        [&](MailRank &mail, int32_t rank) {
          mail.faults.function = "exchange";
          mail.faults.failing_call = rank == 1 ? k : 0;
        },
        [&](const Rank &self, Comm &, MailRank &mail, lpt_status status) {
          Numbers numbers(5000, 1.0f);
          if (status == LPT_OK) status = reduce(self, numbers);
          if (status == LPT_OK) return;
          ++errors;
          EXPECT_EQ(self.rank == 1 ? LPT_WORK_FAILED : LPT_ABORTED, status);
          EXPECT_EQ(1, mail.aborts);
          if (self.rank == 1) expect_words({"functions->exchange failed: call "}, lpt_context_error(self.context));
        });
    has_failed = errors > 0;
    EXPECT_EQ(has_failed ? 3 : 0, errors);
  }
}

TEST_P(CustomCollectives, AFailureOfASumEndsAllRanks) {
  run_mail_ranks(
      3, options_of(5.0), GetParam(),
      [&](MailRank &mail, int32_t rank) {
        mail.faults.function = "all_reduce";
        mail.faults.failing_call = rank == 1 ? 1 : 0;
      },
      [&](const Rank &self, Comm &, MailRank &, lpt_status status) {
        ASSERT_TRUE(self.ok(status));
        Numbers numbers(5000, 1.0f);
        EXPECT_EQ(self.rank == 1 ? LPT_WORK_FAILED : LPT_ABORTED, reduce(self, numbers, LPT_REDUCE_ALGORITHM_NATIVE));
        const char *const words = self.rank == 1 ? "call 1 of all_reduce is lost" : "all_reduce";
        expect_words({words}, lpt_context_error(self.context));
      });
}

TEST_P(CustomCollectives, ALateRankIsATimeout) {
  run_mail_ranks(2, options_of(0.2), GetParam(), change_nothing,
                 [](const Rank &self, Comm &, MailRank &, lpt_status status) {
                   ASSERT_TRUE(self.ok(status));
                   if (self.rank == 1) return std::this_thread::sleep_for(std::chrono::milliseconds(400));
                   EXPECT_EQ(LPT_TIMEOUT, lpt_barrier(self.context, self.comm));
                   expect_words({GetParam() == MailForm::kBoth ? "rank 1 did not come" : "a rank is late"},
                                lpt_context_error(self.context));
                 });
}

// The calls agree, but the bytes of rank 1 do not arrive.
TEST(CustomExchange, BytesThatDoNotComeAreATimeout) {
  run_mail_ranks(2, options_of(0.2), MailForm::kBoth, change_nothing,
                 [](const Rank &self, Comm &, MailRank &mail, lpt_status status) {
                   ASSERT_TRUE(self.ok(status));
                   mail.faults.drops_exchanges = self.rank == 1;
                   Numbers numbers(10, 1.0f);
                   status = reduce(self, numbers);
                   if (self.rank == 1) return;
                   EXPECT_EQ(LPT_TIMEOUT, status);
                   expect_words({"all_reduce: functions->exchange failed: a rank is late"},
                                lpt_context_error(self.context));
                 });
}

// The future of a rank that destroys its comm, and the other rank in the same call.
TEST_P(CustomCollectives, DestroyingACommAbortsWhatIsUnderWay) {
  std::atomic<bool> is_destroyed{false};
  run_mail_ranks(2, options_of(), GetParam(), change_nothing,
                 [&](const Rank &self, Comm &comm, MailRank &mail, lpt_status status) {
                   ASSERT_TRUE(self.ok(status));
                   Numbers numbers(1000, 1.0f);
                   if (self.rank == 1) {
                     while (!is_destroyed) std::this_thread::yield();
                     EXPECT_EQ(LPT_ABORTED, reduce(self, numbers));
                     return;
                   }
                   const Tensor both = wrap(self.context, numbers, 1, 1000);
                   lpt_future *raw = nullptr;
                   ASSERT_TRUE(self.ok(lpt_all_reduce(self.context, self.comm, both.get(), nullptr, both.get(), &raw)));
                   const Future future(raw);
                   comm.reset();
                   is_destroyed = true;
                   EXPECT_EQ(LPT_ABORTED, lpt_future_wait(self.context, future.get()));
                   EXPECT_EQ(1, mail.aborts);
                 });
}

}  // namespace
}  // namespace lpt::test
