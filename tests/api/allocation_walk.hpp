// Common parts of the allocation walks: handles that allocate no memory, an allocator that counts and fails, and comparisons.
#pragma once

#include <cstdlib>
#include <functional>
#include <utility>

#include "tests/api/failing_memory.hpp"
#include "tests/api/gemm.hpp"

#define LPT_TEST_TRY(call)                       \
  do {                                           \
    const lpt_status try_status = (call);        \
    if (try_status != LPT_OK) return try_status; \
  } while (0)

namespace lpt::test {

// Owns a handle. Allocates no memory itself.
template <typename T, void (*kDestroy)(T *)>
class Handle {
 public:
  Handle() = default;
  ~Handle() { kDestroy(raw_); }
  Handle(const Handle &) = delete;
  Handle &operator=(const Handle &) = delete;
  T **out() {
    kDestroy(std::exchange(raw_, nullptr));
    return &raw_;
  }
  operator T *() const { return raw_; }

 private:
  T *raw_ = nullptr;
};
using OwnContext = Handle<lpt_context, lpt_context_destroy>;
using OwnTensor = Handle<lpt_tensor, lpt_tensor_destroy>;
using OwnScaler = Handle<lpt_scaler, lpt_scaler_destroy>;
using OwnStatistics = Handle<lpt_statistics, lpt_statistics_destroy>;
using OwnPlan = Handle<lpt_gemm_plan, lpt_gemm_plan_destroy>;
using OwnRecipe = Handle<lpt_recipe, lpt_recipe_destroy>;
using OwnLinear = Handle<lpt_linear, lpt_linear_destroy>;
using OwnOptimizer = Handle<lpt_optimizer, lpt_optimizer_destroy>;
using OwnLossScaler = Handle<lpt_loss_scaler, lpt_loss_scaler_destroy>;
using OwnMonitor = Handle<lpt_monitor, lpt_monitor_destroy>;
using OwnCalibration = Handle<lpt_calibration, lpt_calibration_destroy>;
using OwnKvCache = Handle<lpt_kv_cache, lpt_kv_cache_destroy>;
using OwnGroup = Handle<lpt_comm_group, lpt_comm_group_destroy>;
using OwnComm = Handle<lpt_comm, lpt_comm_destroy>;
using OwnFuture = Handle<lpt_future, lpt_future_destroy>;
using OwnBuckets = Handle<lpt_gradient_buckets, lpt_gradient_buckets_destroy>;
using OwnPartialPlan = Handle<lpt_partial_plan, lpt_partial_plan_destroy>;
using OwnTopology = Handle<lpt_topology, lpt_topology_destroy>;
using OwnAutopilot = Handle<lpt_autopilot, lpt_autopilot_destroy>;
using OwnSchedule = Handle<lpt_schedule, lpt_schedule_destroy>;
using OwnLossyLink = Handle<lpt_lossy_link, lpt_lossy_link_destroy>;

// Excludes the allocations of this thread from counting for the duration of the scope.
class Paused {
 public:
  Paused() : kept_(std::exchange(failing_memory().left, -1)) {}
  ~Paused() { failing_memory().left = kept_; }
  Paused(const Paused &) = delete;
  Paused &operator=(const Paused &) = delete;

 private:
  const int64_t kept_;
};

struct AllocationCounter {
  std::atomic<int64_t> live{0};
};

inline void *take(void *user, size_t bytes, size_t alignment) {
  if (failing_memory().fails_here()) return nullptr;
  void *memory = nullptr;
  if (posix_memalign(&memory, alignment, bytes) != 0) return nullptr;
  ++static_cast<AllocationCounter *>(user)->live;
  return memory;
}

inline void give_back(void *user, void *memory, size_t) {
  --static_cast<AllocationCounter *>(user)->live;
  std::free(memory);
}

inline lpt_context_options counted_options(AllocationCounter &counter) {
  lpt_context_options options = LPT_CONTEXT_OPTIONS_INIT;
  options.thread_count = 1;
  options.allocate = take;
  options.release = give_back;
  options.allocator_user = &counter;
  return options;
}

constexpr int64_t kSide = 64;
constexpr int64_t kSideElements = kSide * kSide;

// State of every walk: a context, and matrices of kSide × kSide.
struct WalkWorld {
  explicit WalkWorld(AllocationCounter &of) : counter(of) {
    const lpt_context_options options = counted_options(of);
    EXPECT_EQ(LPT_OK, lpt_context_create(&options, out(context)));
    c = context.get();
    x = tensor_of(c, LPT_FORMAT_F32, kSide, kSide, draw_normal(900, kSideElements));
    y = tensor_of(c, LPT_FORMAT_F32, kSide, kSide, draw_normal(901, kSideElements));
    z = make_tensor(c, LPT_FORMAT_F32, kSide, kSide);
    halves = tensor_of(c, LPT_FORMAT_BF16, kSide, kSide, draw_normal(902, kSideElements));
    vector = vector_of(c, LPT_FORMAT_F32, draw_normal(903, kSide));
    mask = make_tensor(c, LPT_FORMAT_UINT8, kSide, kSide);
    lpt_sparse_options select = LPT_SPARSE_OPTIONS_INIT;
    EXPECT_TRUE(ok(c, lpt_sparse_mask_select(c, x.get(), &select, mask.get(), nullptr, nullptr)));
  }

  lpt_status create(lpt_format format, int64_t rows, int64_t columns, OwnTensor &tensor) const {
    const int64_t extents[] = {rows, columns};
    return lpt_tensor_create(c, format, 2, extents, tensor.out());
  }
  lpt_status cast(lpt_format format, OwnTensor &tensor) const {
    LPT_TEST_TRY(create(format, kSide, kSide, tensor));
    return lpt_quantize(c, x.get(), nullptr, tensor, nullptr);
  }

  AllocationCounter &counter;
  Context context;
  lpt_context *c;
  Tensor x, y, z, halves, vector, mask;
};

// State that a failed call must leave unchanged.

struct KeptBytes {
  std::vector<uint8_t> all;
  void add(lpt_context *c, const lpt_tensor *tensor) {
    const std::vector<uint8_t> more = bytes_of(c, tensor);
    all.insert(all.end(), more.begin(), more.end());
  }
  template <typename Size, typename Save>
  void add_state(lpt_context *c, Size size, Save save) {
    size_t bytes = 0;
    EXPECT_TRUE(ok(c, size(&bytes)));
    const size_t begin = all.size();
    all.resize(begin + bytes);
    EXPECT_TRUE(ok(c, save(all.data() + begin, bytes)));
  }
};

// Runs `call` and checks that a failed call leaves the result of `bits` unchanged.
template <typename Bits, typename Call>
lpt_status all_or_nothing(const Bits &bits, const Call &call) {
  std::vector<uint8_t> before;
  {
    const Paused paused;
    before = bits();
  }
  const lpt_status status = call();
  if (status != LPT_OK) {
    const Paused paused;
    EXPECT_EQ(before, bits());
  }
  const Paused paused;
  std::vector<uint8_t>().swap(before);
  return status;
}

inline std::vector<uint8_t> state_of(lpt_context *c, const lpt_scaler *scaler) {
  KeptBytes bytes;
  bytes.add_state(
      c, [&](size_t *size) { return lpt_scaler_state_size(c, scaler, size); },
      [&](void *buffer, size_t size) { return lpt_scaler_state_save(c, scaler, buffer, size); });
  return bytes.all;
}

inline std::vector<uint8_t> state_of(lpt_context *c, const lpt_linear *linear) {
  KeptBytes bytes;
  bytes.add_state(
      c, [&](size_t *size) { return lpt_linear_state_size(c, linear, size); },
      [&](void *buffer, size_t size) { return lpt_linear_state_save(c, linear, buffer, size); });
  return bytes.all;
}

inline std::vector<uint8_t> state_of(lpt_context *c, const lpt_autopilot *autopilot) {
  KeptBytes bytes;
  bytes.add_state(
      c, [&](size_t *size) { return lpt_autopilot_state_size(c, autopilot, size); },
      [&](void *to, size_t size) { return lpt_autopilot_state_save(c, autopilot, to, size); });
  return bytes.all;
}

inline std::vector<uint8_t> state_of(lpt_context *c, const lpt_loss_scaler *scaler) {
  KeptBytes bytes;
  bytes.add_state(
      c, [&](size_t *size) { return lpt_loss_scaler_state_size(c, scaler, size); },
      [&](void *to, size_t size) { return lpt_loss_scaler_state_save(c, scaler, to, size); });
  return bytes.all;
}

inline std::vector<uint8_t> state_of(lpt_context *c, const lpt_optimizer *optimizer, int64_t index) {
  KeptBytes bytes;
  bytes.add_state(
      c, [&](size_t *size) { return lpt_optimizer_state_size(c, optimizer, index, size); },
      [&](void *buffer, size_t size) { return lpt_optimizer_state_save(c, optimizer, index, buffer, size); });
  return bytes.all;
}

// A sequence of calls whose allocations fail one after the other.
struct Walk {
  const char *name;
  std::function<lpt_status(WalkWorld &)> run;
  bool has_lasting = true;  // false if sending a failure to other ranks allocates memory
};

extern const std::vector<Walk> kTensorWalks;
extern const std::vector<Walk> kTrainingWalks;
extern const std::vector<Walk> kRankWalks;

}  // namespace lpt::test
