// A GPU memory allocator for contexts, which allocates blocks from one tensor and records them.
#pragma once

#include <map>
#include <mutex>

#include "tests/device/support.hpp"

namespace lpt::test {

class DevicePool {
 public:
  explicit DevicePool(int32_t index = 0)
      : index_(index), bytes_(bytes_of_pool(index)), context_(make_gpu_context(index)) {
    memory_ = make_tensor(context_.get(), LPT_FORMAT_UINT8, 1, bytes_);
    begin_ = static_cast<std::byte *>(lpt_tensor_data(memory_.get()));
    fill(0xC7);  // uninitialized memory
  }
  ~DevicePool() { EXPECT_EQ(0u, live_.size()) << "blocks without a release"; }
  DevicePool(const DevicePool &) = delete;
  DevicePool &operator=(const DevicePool &) = delete;

  // Options of a context that uses this allocator.
  lpt_context_options options() {
    lpt_context_options options = gpu_options(index_);
    options.device_allocate = take;
    options.device_release = give_back;
    options.device_allocator_user = this;
    return options;
  }

  // Returns the stream of each allocation, in order.
  std::vector<void *> streams() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return streams_;
  }
  int64_t live_count() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return static_cast<int64_t>(live_.size());
  }
  // Returns the streams of live blocks.
  std::vector<void *> live_streams() {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::vector<void *> streams;
    for (const auto &[memory, block] : live_) streams.push_back(block.stream);
    return streams;
  }
  // Makes only allocation `number` fail, counted from this call.
  void fail_at(int64_t number) {
    const std::lock_guard<std::mutex> lock(mutex_);
    streams_.clear();
    fails_at_ = number;
  }

 private:
  struct Block {
    size_t bytes;
    void *stream;
  };

  // Libraries on a GPU need more memory than their stubs.
  static int64_t bytes_of_pool(int32_t index) {
    lpt_device_info info = LPT_DEVICE_INFO_INIT;
    EXPECT_EQ(LPT_OK, lpt_device_describe(nullptr, LPT_DEVICE_CUDA, index, &info));
    return std::min(info.memory_bytes / 256, int64_t{64} << 20);
  }

  void fill(uint8_t value) {
    const Context cpu = make_context();
    const std::vector<uint8_t> bytes(static_cast<size_t>(bytes_), value);
    const Tensor here = wrap(cpu.get(), LPT_FORMAT_UINT8, bytes.data(), 1, bytes_);
    EXPECT_TRUE(ok(context_.get(), lpt_tensor_copy(context_.get(), here.get(), memory_.get())));
    EXPECT_TRUE(ok(context_.get(), lpt_context_synchronize(context_.get())));
  }

  static void *take(void *user, size_t bytes, size_t alignment, void *stream) {
    DevicePool &self = *static_cast<DevicePool *>(user);
    const std::lock_guard<std::mutex> lock(self.mutex_);
    const auto number = static_cast<int64_t>(self.streams_.size());
    self.streams_.push_back(stream);
    if (number == self.fails_at_) return nullptr;
    if (self.live_.empty()) self.used_ = 0;
    const auto at = reinterpret_cast<uintptr_t>(self.begin_ + self.used_);
    const size_t begin = self.used_ + (alignment - at % alignment) % alignment;
    if (begin + bytes > static_cast<size_t>(self.bytes_)) return nullptr;
    self.used_ = begin + bytes;
    self.live_[self.begin_ + begin] = {bytes, stream};
    return self.begin_ + begin;
  }

  static void give_back(void *user, void *memory, size_t bytes, void *stream) {
    DevicePool &self = *static_cast<DevicePool *>(user);
    const std::lock_guard<std::mutex> lock(self.mutex_);
    const auto found = self.live_.find(static_cast<std::byte *>(memory));
    ASSERT_NE(self.live_.end(), found) << "memory that is not live";
    EXPECT_EQ(found->second.bytes, bytes);
    EXPECT_EQ(found->second.stream, stream);
    self.live_.erase(found);
  }

  const int32_t index_;
  const int64_t bytes_;
  const Context context_;
  Tensor memory_;
  std::byte *begin_ = nullptr;
  std::mutex mutex_;
  size_t used_ = 0;
  std::map<std::byte *, Block> live_;
  std::vector<void *> streams_;
  int64_t fails_at_ = -1;
};

}  // namespace lpt::test
