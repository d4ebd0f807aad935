// Ranks with a device each. Bytes are sent over the device's wire, queued on the stream of whoever calls; ranks that have other
// means to speak compare what they are about to do before they queue it, so that nothing is queued that will not end.
#pragma once

#include <memory>
#include <vector>

#include "src/comm/device_endpoint.hpp"
#include "src/comm/engine.hpp"

namespace lpt {

class DeviceEngine : public Engine {
 public:
  // `control` is an engine of the CPU among the same ranks, or NULL: then they do not compare.
  DeviceEngine(std::shared_ptr<DeviceEndpoint> end, std::unique_ptr<Engine> control, int32_t rank, int32_t ranks);
  ~DeviceEngine() override;

  const char *name() const override { return end_->queue().wire()->name; }
  Device device() const override { return end_->queue().device(); }
  bool shares_memory() const override { return false; }
  bool compares() const { return control_ != nullptr; }

  // Where ranks compare: how their hosts speak, bytes of the CPU.
  Engine &control() { return *control_; }

  // From begin() to end() all is queued on this queue, behind what was queued before, on whichever. end() sets a mark behind
  // it: that of all, which the queue then watches; or also one for this piece of work.
  Status begin(Queue &queue);
  Status end();
  Status end(std::shared_ptr<QueuedWork> &out_work);

  // Bytes lie on the device. They may be changed, and read, by what is queued behind it.
  Status all_to_all_v(const Signature &signature, const Bytes *outgoing, Bytes *incoming) override;
  Status publish(const Signature &signature, const void *face) override;
  const void *shown(int32_t) const override { return nullptr; }
  Status release() override { return {}; }

  // Ranks receive from one rank in the order in which it sends to them; a send ends when it is received.
  Status send(const Signature &signature, int32_t peer, int32_t tag, const Bytes &bytes) override;
  Status receive(const Signature &signature, int32_t peer, int32_t tag, const Bytes &bytes) override;

  bool has_sum() const override { return true; }
  Status sum(const Signature &signature, const DeviceSum &sum) override;

  Status split(int32_t color, int32_t key, std::unique_ptr<Engine> &out_engine) override;
  void interrupt(const char *reason) noexcept override;

 private:
  Status mark_last();
  Status compare(const Signature &signature, const Bytes *outgoing, const Bytes *incoming);
  Status move(const std::vector<DeviceRun> &outgoing, const std::vector<DeviceRun> &incoming);

  const std::shared_ptr<DeviceEndpoint> end_;
  const std::unique_ptr<Engine> control_;
  const std::shared_ptr<QueuedWork> last_;           // of all that this engine has queued
  std::vector<std::shared_ptr<QueuedWork>> pieces_;  // that were not past when the next one came
  const char *operation_ = "";                       // of the last exchange
  bool has_queued_ = false;
  Queue *queue_ = nullptr;
  std::vector<int64_t> mail_sent_, mail_received_;  // by rank
};

}  // namespace lpt
