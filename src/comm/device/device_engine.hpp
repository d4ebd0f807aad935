// Ranks with one device each. Transfers use the transport of the device and are queued on the caller's stream. Ranks with a CPU
// engine compare their calls first, so that no transfer is queued that cannot complete.
#pragma once

#include <memory>
#include <vector>

#include "src/comm/device/device_endpoint.hpp"
#include "src/comm/engine.hpp"

namespace lpt {

class DeviceEngine : public Engine {
 public:
  // `control`: a CPU engine among the same ranks, or NULL if calls are not compared.
  DeviceEngine(std::shared_ptr<DeviceEndpoint> end, std::unique_ptr<Engine> control, int32_t rank, int32_t ranks);
  ~DeviceEngine() override;

  const char *name() const override { return end_->queue().wire()->name; }
  Device device() const override { return end_->queue().device(); }
  bool shares_memory() const override { return false; }
  bool compares() const { return control_ != nullptr; }

  // The CPU engine of the same ranks. Requires compares().
  Engine &control() { return *control_; }

  // Work between begin() and end() is queued on `queue`, after all earlier work of this engine on any queue. end() records an
  // event after it. The first form makes `queue` watch this event; the second form returns the event of this work alone.
  Status begin(Queue &queue);
  Status end();
  Status end(std::shared_ptr<QueuedWork> &out_work);

  // Bytes are in device memory. Work that is queued after the call may read and change them.
  Status all_to_all_v(const Signature &signature, const Bytes *outgoing, Bytes *incoming) override;
  Status publish(const Signature &signature, const void *face) override;
  const void *published(int32_t) const override { return nullptr; }
  Status release() override { return {}; }

  // A rank receives the messages of one sender in the order of sending. A send ends when it is received.
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
  const std::shared_ptr<QueuedWork> last_;           // all work that this engine has queued
  std::vector<std::shared_ptr<QueuedWork>> pieces_;  // work that had not ended when later work was queued
  const char *operation_ = "";                       // of the last exchange
  bool has_queued_ = false;
  Queue *queue_ = nullptr;
  std::vector<int64_t> mail_sent_, mail_received_;  // message counts, by rank
};

}  // namespace lpt
