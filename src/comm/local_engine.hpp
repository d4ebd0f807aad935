// Ranks that are threads of one process and read each other's memory.
#pragma once

#include <memory>
#include <vector>

#include "src/comm/team.hpp"

namespace lpt {

class LocalEngine : public Engine {
 public:
  LocalEngine(std::shared_ptr<Team> team, int32_t rank, const EngineOptions &options);
  ~LocalEngine() override {
    if (team_ != nullptr) team_->leave(rank_);
  }

  // For another engine that goes on in its place, in the same seat.
  std::shared_ptr<Team> hand_over() { return std::move(team_); }

  const char *name() const override { return "local"; }
  bool shares_memory() const override { return true; }
  Status swap(const Signature &signature, const Bytes *outgoing, Bytes *incoming) override;
  Status show(const Signature &signature, const void *face) override;
  const void *shown(int32_t rank) const override { return team_->ticket(rank).face; }
  Status release() override;
  Status send(const Signature &signature, int32_t peer, int32_t tag, const Bytes &bytes) override;
  Status receive(const Signature &signature, int32_t peer, int32_t tag, const Bytes &bytes) override;
  Status split(int32_t color, int32_t key, std::unique_ptr<Engine> &out_engine) override;
  void interrupt(const char *reason) noexcept override;
  void settle() noexcept override;

 private:
  Status meet_all(const Ticket &ticket);
  Status mismatch(const std::string &phrase);

  std::shared_ptr<Team> team_;
  const EngineOptions options_;
  uint64_t splits_ = 0;
  bool is_meeting_ = false;
};

}  // namespace lpt
