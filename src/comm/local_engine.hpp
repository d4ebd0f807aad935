// Ranks that are threads of one process and read each other's memory.
#pragma once

#include <memory>
#include <vector>

#include "src/comm/team.hpp"

namespace lpt {

class LocalEngine : public Engine {
 public:
  LocalEngine(std::shared_ptr<Team> team, int32_t rank, const EngineOptions &options);
  ~LocalEngine() override { team_->leave(rank_); }

  const char *name() const override { return "local"; }
  bool shares_memory() const override { return true; }
  Status swap(const Signature &signature, const Bytes *outgoing, Bytes *incoming) override;
  Status show(const Signature &signature, const void *face) override;
  const void *shown(int32_t rank) const override { return team_->ticket(rank).face; }
  Status release() override;
  Status send(const Signature &signature, int32_t peer, int32_t tag, const Bytes &bytes) override;
  Status receive(const Signature &signature, int32_t peer, int32_t tag, const Bytes &bytes) override;
  Status split(int32_t color, int32_t key, std::unique_ptr<Engine> &out_engine) override;
  void interrupt(const std::string &reason) override;
  void settle() override;

 private:
  Status meet_all(const Ticket &ticket);
  Status mismatch(const std::string &phrase);

  const std::shared_ptr<Team> team_;
  const EngineOptions options_;
  bool is_meeting_ = false;
};

// The ranks that gave the same color, ordered by (key, rank): place of each in its part.
struct SplitWish {
  int32_t color, key;
};
std::vector<int32_t> ranks_of_part(const std::vector<SplitWish> &wishes, int32_t color);

// The phrase for two signatures that differ, from the view of `rank`; empty if they agree.
std::string disagreement(int32_t rank, const Signature &mine, int32_t peer, const Signature &theirs);

}  // namespace lpt
