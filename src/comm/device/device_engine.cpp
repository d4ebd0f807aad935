#include "src/comm/device/device_engine.hpp"

#include <algorithm>

#include "src/comm/agreement.hpp"
#include "src/formats/format.hpp"

namespace lpt {

DeviceEngine::DeviceEngine(std::shared_ptr<DeviceEndpoint> end, std::unique_ptr<Engine> control, int32_t rank,
                           int32_t ranks)
    : end_(std::move(end)),
      control_(std::move(control)),
      last_(std::make_shared<QueuedWork>(end_, "")),
      mail_sent_(static_cast<size_t>(ranks)),
      mail_received_(static_cast<size_t>(ranks)) {
  rank_ = rank;
  ranks_ = ranks;
}

// Other ranks depend on the queued work, so the destructor waits for it.
DeviceEngine::~DeviceEngine() {
  if (has_queued_) static_cast<void>(last_->wait());
  end_->close();
}

Status DeviceEngine::begin(Queue &queue) {
  queue_ = &queue;
  LPT_TRY(end_->look());
  return has_queued_ ? queue.follow(last_->event()) : Status();
}

Status DeviceEngine::mark_last() {
  last_->set_operation(operation_);
  LPT_TRY(last_->mark(*queue_));
  has_queued_ = true;
  return {};
}

Status DeviceEngine::end() {
  LPT_TRY(mark_last());
  queue_->watch(last_);
  return {};
}

Status DeviceEngine::end(std::shared_ptr<QueuedWork> &out_work) {
  LPT_TRY(mark_last());
  std::erase_if(pieces_, [](const std::shared_ptr<QueuedWork> &work) { return work->is_over(); });
  pieces_.push_back(std::make_shared<QueuedWork>(end_, operation_));
  out_work = pieces_.back();
  return out_work->mark(*queue_);
}

// Every rank sends its byte counts to all others, so that all ranks report the same two ranks that disagree.
Status DeviceEngine::compare(const Signature &signature, const Bytes *outgoing, const Bytes *incoming) {
  if (control_ == nullptr) return {};
  CountTable table = make_count_table(rank_, ranks_, outgoing, incoming);
  return compare_calls(*control_, signature, table);
}

Status DeviceEngine::move(const std::vector<DeviceRun> &outgoing, const std::vector<DeviceRun> &incoming) {
  const auto has_bytes = [](const DeviceRun &run) { return run.bytes > 0; };
  if (std::none_of(outgoing.begin(), outgoing.end(), has_bytes) &&
      std::none_of(incoming.begin(), incoming.end(), has_bytes)) {
    return {};
  }
  return end_->call(queue_->wire()->all_to_all_v, queue_->stream(), outgoing.data(), incoming.data(),
                    end_->timeout_seconds());
}

Status DeviceEngine::all_to_all_v(const Signature &signature, const Bytes *outgoing, Bytes *incoming) {
  operation_ = signature.operation;
  LPT_TRY(compare(signature, outgoing, incoming));
  std::vector<DeviceRun> out(static_cast<size_t>(ranks_)), in(static_cast<size_t>(ranks_));
  for (int32_t q = 0; q < ranks_; ++q) {
    if (q == rank_) continue;
    out[static_cast<size_t>(q)] = {outgoing[q].data, outgoing[q].count};
    in[static_cast<size_t>(q)] = {incoming[q].data, incoming[q].count};
    count(outgoing[q].count, incoming[q].count);
  }
  return move(out, in);
}

Status DeviceEngine::publish(const Signature &signature, const void *) {
  return Status(LPT_INTERNAL, text("%s: ranks on devices have nothing to show", signature.operation));
}

// The header of a message is sent over `control`, with a sequence number: the device transport has neither tags nor sizes.
Status DeviceEngine::send(const Signature &signature, int32_t peer, int32_t tag, const Bytes &bytes) {
  operation_ = signature.operation;
  const auto to = static_cast<size_t>(peer);
  int64_t number = mail_sent_[to]++;
  if (control_ != nullptr) {
    LPT_TRY(control_->send(signature, peer, tag, {reinterpret_cast<std::byte *>(&number), sizeof number}));
  }
  std::vector<DeviceRun> out(static_cast<size_t>(ranks_)), in(out.size());
  out[to] = {bytes.data, bytes.count};
  count(bytes.count, 0);
  return move(out, in);
}

Status DeviceEngine::receive(const Signature &signature, int32_t peer, int32_t tag, const Bytes &bytes) {
  operation_ = "receive";
  const auto from = static_cast<size_t>(peer);
  const int64_t expected = mail_received_[from]++;
  int64_t number = expected;
  if (control_ != nullptr) {
    LPT_TRY(control_->receive(signature, peer, tag, {reinterpret_cast<std::byte *>(&number), sizeof number}));
  }
  if (number != expected) {
    return Status(LPT_MISMATCH,
                  text("receive: tag %d is message %lld of rank %d: expected message %lld, they come in the "
                       "order in which they were sent",
                       tag, static_cast<long long>(number), peer, static_cast<long long>(expected)));
  }
  std::vector<DeviceRun> out(static_cast<size_t>(ranks_)), in(out.size());
  in[from] = {bytes.data, bytes.count};
  count(0, bytes.count);
  return move(out, in);
}

// Traffic is counted as that of a two-shot all-reduce: 2 (R - 1) / R of the bytes, or half of it for a reduce-scatter.
Status DeviceEngine::sum(const Signature &signature, const DeviceSum &sum) {
  operation_ = signature.operation;
  const std::vector<Bytes> nothing(static_cast<size_t>(ranks_), Bytes{nullptr, 0});
  LPT_TRY(compare(signature, nothing.data(), nothing.data()));
  const int64_t bytes = sum.elements * element_bits(sum.format) / 8 * (ranks_ - 1) / ranks_;
  count(sum.is_to_parts ? bytes : 2 * bytes, sum.is_to_parts ? bytes : 2 * bytes);
  return end_->call(queue_->wire()->sum, queue_->stream(), &sum, end_->timeout_seconds());
}

Status DeviceEngine::split(int32_t color, int32_t key, std::unique_ptr<Engine> &out_engine) {
  std::unique_ptr<Engine> control;
  if (control_ != nullptr) LPT_TRY(control_->split(color, key, control));
  void *end = nullptr;
  int32_t rank = 0, ranks = 0;
  LPT_TRY(end_->call(end_->queue().wire()->split, color, key, end_->timeout_seconds(), &end, &rank, &ranks));
  if (end == nullptr) return {};
  out_engine = std::make_unique<DeviceEngine>(
      std::make_shared<DeviceEndpoint>(end_->queue(), end, end_->timeout_seconds()), std::move(control), rank, ranks);
  return {};
}

void DeviceEngine::interrupt(const char *reason) noexcept {
  static_cast<void>(
      end_->fail(make_last_status(LPT_ABORTED, [&] { return text("rank %d gave up: %s", rank_, reason); })));
  if (control_ != nullptr) control_->interrupt(reason);
}

}  // namespace lpt
