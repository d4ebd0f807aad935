// A single rank with its GPU: tests NCCL on one GPU. Skipped if the library is not found; nccl_test.cpp tests several ranks.
#include "tests/device/support.hpp"

namespace lpt::test {
namespace {

class DeviceRank : public Devices {
 protected:
  void SetUp() override {
    lpt_comm_group *raw = nullptr;
    ASSERT_EQ(LPT_OK, lpt_comm_group_create(nullptr, 1, &raw));
    const Group group(raw);
    Comm bootstrap;
    ASSERT_TRUE(ok(cpu(), lpt_comm_create_local(cpu(), group.get(), 0, nullptr, out(bootstrap))));
    lpt_comm_options options = LPT_COMM_OPTIONS_INIT;
    options.bootstrap = bootstrap.get();
    const lpt_status status = lpt_comm_create_nccl(gpu(), &options, out(comm_));
    if (status == LPT_UNSUPPORTED) GTEST_SKIP() << lpt_context_error(gpu());
    ASSERT_TRUE(ok(gpu(), status));
  }

  lpt_comm *comm() const { return comm_.get(); }

 private:
  Comm comm_;
};

TEST_F(DeviceRank, IsOneOfOne) {
  lpt_comm_info values = LPT_COMM_INFO_INIT;
  ASSERT_TRUE(ok(gpu(), lpt_comm_read(gpu(), comm(), &values)));
  EXPECT_STREQ("nccl", values.engine);
  EXPECT_EQ(0, values.rank);
  EXPECT_EQ(1, values.rank_count);
  EXPECT_TRUE(ok(gpu(), lpt_barrier(gpu(), comm())));
}

TEST_F(DeviceRank, AddsUpItself) {
  const Tensor source = tensor_of(cpu(), LPT_FORMAT_F32, 300, 80, draw_normal(1, 300 * 80));
  const Tensor input = there(source.get()), output = make_tensor(gpu(), LPT_FORMAT_F32, 300, 80);
  for (const lpt_reduce_algorithm algorithm : {LPT_REDUCE_ALGORITHM_AUTO, LPT_REDUCE_ALGORITHM_NATIVE}) {
    lpt_reduce_options options = LPT_REDUCE_OPTIONS_INIT;
    options.algorithm = algorithm;
    Future future;
    ASSERT_TRUE(ok(gpu(), lpt_all_reduce(gpu(), comm(), input.get(), &options, output.get(), out(future))));
    ASSERT_TRUE(ok(gpu(), lpt_future_wait(gpu(), future.get())));
    EXPECT_EQ(bytes_of(cpu(), source.get()), bytes_on_device(output.get())) << algorithm;
  }
}

TEST_F(DeviceRank, GathersAndExchangesWithItself) {
  const Tensor source = tensor_of(cpu(), LPT_FORMAT_MXFP8_E4M3, 4, 96, draw_normal(2, 4 * 96));
  const Tensor input = there(source.get()), output = make_tensor(gpu(), LPT_FORMAT_MXFP8_E4M3, 4, 96);
  ASSERT_TRUE(ok(gpu(), lpt_all_gather(gpu(), comm(), input.get(), nullptr, nullptr, output.get(), nullptr)));
  EXPECT_EQ(bytes_of(cpu(), source.get()), bytes_on_device(output.get()));
  const Tensor swapped = make_tensor(gpu(), LPT_FORMAT_MXFP8_E4M3, 4, 96);
  ASSERT_TRUE(ok(gpu(), lpt_all_to_all(gpu(), comm(), input.get(), nullptr, nullptr, swapped.get(), nullptr)));
  EXPECT_EQ(bytes_of(cpu(), source.get()), bytes_on_device(swapped.get()));
}

TEST_F(DeviceRank, SplitsIntoItself) {
  Comm part, none;
  ASSERT_TRUE(ok(gpu(), lpt_comm_split(gpu(), comm(), 3, 0, out(part))));
  EXPECT_TRUE(ok(gpu(), lpt_barrier(gpu(), part.get())));
  ASSERT_TRUE(ok(gpu(), lpt_comm_split(gpu(), comm(), -1, 0, out(none))));
  EXPECT_EQ(nullptr, none.get());
}

}  // namespace
}  // namespace lpt::test
