// Ranks over collectives of the caller. A message engine of the same ranks, if present, compares calls and reports failures.
// Otherwise a small exchange before each exchange compares the calls.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "src/comm/agreement.hpp"
#include "src/comm/custom/custom_functions.hpp"

namespace lpt {

class ExchangeEngine : public Engine {
 public:
  // `messages`: an engine among the same ranks, or NULL, which requires exchange().
  ExchangeEngine(std::shared_ptr<CustomFunctions> functions, std::unique_ptr<Engine> messages, int32_t rank,
                 int32_t ranks, const EngineOptions &options);

  const char *name() const override { return functions_->name(); }
  bool shares_memory() const override { return false; }
  Status all_to_all_v(const Signature &signature, const Bytes *outgoing, Bytes *incoming) override;
  Status publish(const Signature &signature, const void *face) override;
  const void *published(int32_t) const override { return nullptr; }
  Status release() override;
  bool has_messages() const override { return messages_ != nullptr; }
  Status send(const Signature &signature, int32_t peer, int32_t tag, const Bytes &bytes) override;
  Status receive(const Signature &signature, int32_t peer, int32_t tag, const Bytes &bytes) override;
  bool has_sum() const override { return functions_->has_all_reduce(); }
  Status sum(const Signature &signature, const DeviceSum &sum) override;
  Status split(int32_t color, int32_t key, std::unique_ptr<Engine> &out_engine) override;
  void interrupt(const char *reason) noexcept override;
  void complete_exchange() noexcept override;

 private:
  // Sent to all ranks before an exchange, followed by a row of the count table.
  struct Call {
    uint64_t magic, sequence;
    int64_t format, rows, columns, choice;
    char operation[32];
  };

  template <typename Work>
  Status run(const Work &work);
  Status state();
  Status compare(const Signature &signature, CountTable &table);
  Status compare_by_exchange(const Signature &signature, CountTable &table);
  Status check_call(const Signature &signature, int32_t peer);
  Status fail_all(const std::string &phrase);
  std::byte *row_of(int32_t rank) { return &calls_[static_cast<size_t>(rank) * call_bytes_]; }

  const std::shared_ptr<CustomFunctions> functions_;
  const std::unique_ptr<Engine> messages_;
  const EngineOptions options_;
  const size_t call_bytes_;
  std::vector<std::byte> calls_;  // Call and row of the count table, by rank
  ExchangedBytes bytes_;
  uint64_t sequence_ = 0;
  std::mutex mutex_;  // guards the members below
  Status broken_;
  bool is_ended_ = false;  // other ranks have the error, or abort() was called
};

}  // namespace lpt
