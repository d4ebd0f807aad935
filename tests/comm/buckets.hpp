// Gradient buckets, and helpers for their calls.
#pragma once

#include "tests/comm/suite.hpp"

namespace lpt::test {

struct DestroyBuckets {
  void operator()(lpt_gradient_buckets *buckets) const { lpt_gradient_buckets_destroy(buckets); }
};
using Buckets = std::unique_ptr<lpt_gradient_buckets, DestroyBuckets>;

inline Buckets make_buckets(const Rank &self, const std::vector<lpt_tensor *> &gradients,
                            const lpt_gradient_buckets_options &options) {
  lpt_gradient_buckets *buckets = nullptr;
  EXPECT_TRUE(self.ok(lpt_gradient_buckets_create(self.context, self.comm, gradients.data(),
                                                  static_cast<int64_t>(gradients.size()), &options, &buckets)));
  return Buckets(buckets);
}

inline lpt_status begin(const Rank &self, const Buckets &buckets, int32_t is_last = 1,
                        const lpt_reduce_options *options = nullptr) {
  return lpt_gradient_buckets_begin(self.context, buckets.get(), is_last, options);
}

inline lpt_status ready(const Rank &self, const Buckets &buckets, int64_t index) {
  return lpt_gradient_buckets_ready(self.context, buckets.get(), index);
}

inline lpt_status wait_for(const Rank &self, const Buckets &buckets) {
  return lpt_gradient_buckets_wait(self.context, buckets.get());
}

inline lpt_gradient_buckets_info read(const Rank &self, const Buckets &buckets) {
  lpt_gradient_buckets_info values = LPT_GRADIENT_BUCKETS_INFO_INIT;
  EXPECT_TRUE(self.ok(lpt_gradient_buckets_read(self.context, buckets.get(), &values)));
  return values;
}

}  // namespace lpt::test
