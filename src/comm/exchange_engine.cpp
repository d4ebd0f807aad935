#include "src/comm/exchange_engine.hpp"

#include <cstdio>
#include <cstring>

namespace lpt {
namespace {

// The last digits increase when the bytes of the comparison change.
constexpr uint64_t kCallMagic = 0x4c50'5443'414c'0001;

// Copies the input to the output: the sum of one rank.
Status copy_own(const DeviceSum &sum) {
  std::memmove(sum.output, sum.input, static_cast<size_t>(sum.elements * element_bits(sum.format) / 8));
  return {};
}

}  // namespace

ExchangeEngine::ExchangeEngine(std::shared_ptr<CustomFunctions> functions, std::unique_ptr<Engine> messages,
                               int32_t rank, int32_t ranks, const EngineOptions &options)
    : functions_(std::move(functions)),
      messages_(std::move(messages)),
      options_(options),
      call_bytes_(sizeof(Call) + 2 * static_cast<size_t>(ranks) * sizeof(int64_t)),
      calls_(call_bytes_ * static_cast<size_t>(ranks)),
      bytes_(ranks) {
  rank_ = rank;
  ranks_ = ranks;
}

Status ExchangeEngine::state() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return copy_of(broken_);
}

// Runs `work`. An error is final. Other ranks are notified by abort() or by messages, unless they detect the same error.
template <typename Work>
Status ExchangeEngine::run(const Work &work) {
  LPT_TRY(state());
  const Status status = work();
  if (status.is_ok()) return state();
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (broken_.is_ok()) broken_ = copy_of(status);
  }
  interrupt(status.message().c_str());
  return state();
}

void ExchangeEngine::interrupt(const char *reason) noexcept {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (broken_.is_ok()) {
      broken_ = make_last_status(LPT_ABORTED, [&] { return text("rank %d gave up: %s", rank_, reason); });
    }
    if (is_ended_) return;
    is_ended_ = true;
  }
  functions_->abort();
  if (messages_ != nullptr) messages_->interrupt(reason);
}

// Comparison of calls.

Status ExchangeEngine::fail_all(const std::string &phrase) {
  const std::lock_guard<std::mutex> lock(mutex_);
  is_ended_ = true;
  return Status(LPT_MISMATCH, phrase);
}

Status ExchangeEngine::check_call(const Signature &signature, int32_t peer) {
  Call first, call;
  std::memcpy(&first, row_of(0), sizeof first);
  std::memcpy(&call, row_of(peer), sizeof call);
  if (call.magic != kCallMagic) {
    return fail_all(text("%s: rank %d sent another magic than this release of LPT", signature.operation, peer));
  }
  const auto signature_of = [](Call &each) {
    each.operation[sizeof each.operation - 1] = '\0';
    return Signature{each.operation, each.format, each.rows, each.columns, each.choice};
  };
  std::string phrase = describe_mismatch(0, signature_of(first), peer, signature_of(call));
  if (phrase.empty() && call.sequence != first.sequence) {
    phrase =
        text("ranks disagree: rank 0 is at exchange %llu, rank %d at %llu",
             static_cast<unsigned long long>(first.sequence), peer, static_cast<unsigned long long>(call.sequence));
  }
  return phrase.empty() ? Status() : fail_all(phrase);
}

// All ranks send the same number of bytes in every call.
Status ExchangeEngine::compare_by_exchange(const Signature &signature, CountTable &table) {
  Call own{kCallMagic, ++sequence_, signature.format, signature.rows, signature.columns, signature.choice, ""};
  std::snprintf(own.operation, sizeof own.operation, "%s", signature.operation);
  const size_t counts_bytes = call_bytes_ - sizeof own;
  std::memcpy(row_of(rank_), &own, sizeof own);
  std::memcpy(row_of(rank_) + sizeof own, table[static_cast<size_t>(rank_)].data(), counts_bytes);
  const auto count = static_cast<int64_t>(call_bytes_);
  for (int32_t q = 0; q < ranks_; ++q) {
    bytes_.set(q, {row_of(rank_), q == rank_ ? 0 : count}, {row_of(q), q == rank_ ? 0 : count});
  }
  LPT_TRY(functions_->exchange(bytes_, options_.timeout_seconds));
  for (int32_t q = 0; q < ranks_; ++q) LPT_TRY(check_call(signature, q));
  for (int32_t q = 0; q < ranks_; ++q) {
    std::memcpy(table[static_cast<size_t>(q)].data(), row_of(q) + sizeof own, counts_bytes);
  }
  const std::string phrase = describe_mismatch(signature.operation, table);
  return phrase.empty() ? Status() : fail_all(phrase);
}

Status ExchangeEngine::compare(const Signature &signature, CountTable &table) {
  if (messages_ != nullptr) return compare_calls(*messages_, signature, table);
  return compare_by_exchange(signature, table);
}

// Collectives.

Status ExchangeEngine::all_to_all_v(const Signature &signature, const Bytes *outgoing, Bytes *incoming) {
  if (ranks_ == 1) return state();
  const auto move = [&]() -> Status {
    if (!functions_->has_exchange()) return messages_->all_to_all_v(signature, outgoing, incoming);
    CountTable table = make_count_table(rank_, ranks_, outgoing, incoming);
    LPT_TRY(compare(signature, table));
    if (!has_bytes(table)) return {};
    const Bytes nothing{nullptr, 0};
    for (int32_t q = 0; q < ranks_; ++q) {
      bytes_.set(q, q == rank_ ? nothing : outgoing[q], q == rank_ ? nothing : incoming[q]);
    }
    const Status status = functions_->exchange(bytes_, options_.timeout_seconds);
    return status.is_ok() ? status
                          : Status(status.code(), text("%s: %s", signature.operation, status.message().c_str()));
  };
  LPT_TRY(run(move));
  for (int32_t q = 0; q < ranks_; ++q) {
    if (q != rank_) count(outgoing[q].count, incoming[q].count);
  }
  return {};
}

Status ExchangeEngine::publish(const Signature &signature, const void *) {
  return Status(LPT_INTERNAL, text("%s: ranks of a custom transport have nothing to show", signature.operation));
}

Status ExchangeEngine::release() {
  if (functions_->has_exchange()) return state();
  return run([&] { return messages_->release(); });
}

void ExchangeEngine::complete_exchange() noexcept {
  if (!functions_->has_exchange()) messages_->complete_exchange();
}

// Traffic is counted as that of a two-shot all-reduce: 2 (R - 1) / R of the bytes.
Status ExchangeEngine::sum(const Signature &signature, const DeviceSum &sum) {
  const std::vector<Bytes> nothing(static_cast<size_t>(ranks_), Bytes{nullptr, 0});
  const auto add = [&]() -> Status {
    CountTable table = make_count_table(rank_, ranks_, nothing.data(), nothing.data());
    if (ranks_ == 1) return copy_own(sum);
    LPT_TRY(compare(signature, table));
    const Status status = functions_->all_reduce(sum, options_.timeout_seconds);
    return status.is_ok() ? status
                          : Status(status.code(), text("%s: %s", signature.operation, status.message().c_str()));
  };
  LPT_TRY(run(add));
  const int64_t bytes = 2 * (sum.elements * element_bits(sum.format) / 8 * (ranks_ - 1) / ranks_);
  count(bytes, bytes);
  return {};
}

// Messages between two ranks, and splits.

Status ExchangeEngine::send(const Signature &signature, int32_t peer, int32_t tag, const Bytes &bytes) {
  LPT_TRY(run([&] { return messages_->send(signature, peer, tag, bytes); }));
  count(bytes.count, 0);
  return {};
}

Status ExchangeEngine::receive(const Signature &signature, int32_t peer, int32_t tag, const Bytes &bytes) {
  LPT_TRY(run([&] { return messages_->receive(signature, peer, tag, bytes); }));
  count(0, bytes.count);
  return {};
}

Status ExchangeEngine::split(int32_t color, int32_t key, std::unique_ptr<Engine> &out_engine) {
  return run([&] { return messages_->split(color, key, out_engine); });
}

}  // namespace lpt
