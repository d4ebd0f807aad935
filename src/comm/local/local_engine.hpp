// Ranks that are threads of one process and read each other's memory.
#pragma once

#include <memory>
#include <vector>

#include "src/comm/local/local_group.hpp"

namespace lpt {

class LocalEngine : public Engine {
 public:
  LocalEngine(std::shared_ptr<LocalGroup> group, int32_t rank, const EngineOptions &options);
  ~LocalEngine() override {
    if (group_ != nullptr) group_->leave(rank_);
  }

  // Returns the group for an engine that replaces this one in the same slot. The destructor then does not leave the group.
  std::shared_ptr<LocalGroup> hand_over() { return std::move(group_); }

  const char *name() const override { return "local"; }
  bool shares_memory() const override { return true; }
  Status all_to_all_v(const Signature &signature, const Bytes *outgoing, Bytes *incoming) override;
  Status publish(const Signature &signature, const void *face) override;
  const void *published(int32_t rank) const override { return group_->buffers(rank).face; }
  Status release() override;
  Status send(const Signature &signature, int32_t peer, int32_t tag, const Bytes &bytes) override;
  Status receive(const Signature &signature, int32_t peer, int32_t tag, const Bytes &bytes) override;
  Status split(int32_t color, int32_t key, std::unique_ptr<Engine> &out_engine) override;
  void interrupt(const char *reason) noexcept override;
  void complete_exchange() noexcept override;

 private:
  Status publish_all(const PublishedBuffers &buffers);
  Status mismatch(const std::string &phrase);

  std::shared_ptr<LocalGroup> group_;
  const EngineOptions options_;
  uint64_t splits_ = 0;
  bool is_exchanging_ = false;
};

}  // namespace lpt
