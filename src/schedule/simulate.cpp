// Size and simulated time of schedules.
#include <algorithm>

#include "src/call/operation.hpp"
#include "src/schedule/schedule.hpp"

namespace lpt {
namespace {

class ScheduleClock {
 public:
  ScheduleClock(const SendPlan &plan, double bytes, double reduce_rate, std::span<double> link_seconds)
      : plan_(plan),
        chunk_bytes_(bytes / plan.chunk_count),
        reduce_rate_(reduce_rate),
        link_seconds_(link_seconds),
        ready_(static_cast<size_t>(plan.network->ranks) * static_cast<size_t>(plan.chunk_count), 0.0),
        link_free_(plan.network->links.size(), 0.0),
        adder_free_(static_cast<size_t>(plan.network->ranks), 0.0) {}

  // The sends of a step read what their ranks had before it.
  void run_step(size_t begin, size_t end) {
    arrivals_.clear();
    for (size_t i = begin; i < end; ++i) arrivals_.push_back(transfer(i));
    for (size_t i = begin; i < end; ++i) receive(plan_.sends[i], arrivals_[i - begin]);
  }

  double seconds() const { return *std::max_element(ready_.begin(), ready_.end()); }

 private:
  double &ready(int32_t rank, int32_t chunk) {
    return ready_[static_cast<size_t>(rank) * static_cast<size_t>(plan_.chunk_count) + static_cast<size_t>(chunk)];
  }

  // Returns when the last byte arrives.
  double transfer(size_t index) {
    const lpt_schedule_send &send = plan_.sends[index];
    double start = 0.0, latency = 0.0, byte_seconds = 0.0;
    for (int32_t c = 0; c < send.chunk_count; ++c) start = std::max(start, ready(send.source, send.first_chunk + c));
    for (const int32_t hop : plan_.path(index)) {
      const lpt_topology_link &link = plan_.network->links[static_cast<size_t>(hop)];
      start = std::max(start, link_free_[static_cast<size_t>(hop)] - latency);
      latency += link.latency_seconds;
      if (link.bytes_per_second > 0.0) byte_seconds = std::max(byte_seconds, 1.0 / link.bytes_per_second);
    }
    const double occupied = send.chunk_count * chunk_bytes_ * byte_seconds;
    double begin = start;
    for (const int32_t hop : plan_.path(index)) {
      link_free_[static_cast<size_t>(hop)] = begin + occupied;
      if (!link_seconds_.empty()) link_seconds_[static_cast<size_t>(hop)] += occupied;
      begin += plan_.network->links[static_cast<size_t>(hop)].latency_seconds;
    }
    return begin + occupied;
  }

  void receive(const lpt_schedule_send &send, double arrival) {
    if (send.operation == LPT_SCHEDULE_OPERATION_ADD && reduce_rate_ > 0.0) {
      double &adder = adder_free_[static_cast<size_t>(send.target)];
      adder = arrival = std::max(adder, arrival) + send.chunk_count * chunk_bytes_ / reduce_rate_;
    }
    for (int32_t c = 0; c < send.chunk_count; ++c) {
      double &when = ready(send.target, send.first_chunk + c);
      when = std::max(when, arrival);
    }
  }

  const SendPlan &plan_;
  const double chunk_bytes_, reduce_rate_;
  const std::span<double> link_seconds_;
  std::vector<double> ready_;  // when a rank has each chunk
  std::vector<double> link_free_, adder_free_;
  std::vector<double> arrivals_;
};

}  // namespace

lpt_schedule_info info_of(const SendPlan &plan) {
  lpt_schedule_info info = LPT_SCHEDULE_INFO_INIT;
  const Network &network = *plan.network;
  info.algorithm = plan.algorithm;
  info.rank_count = network.ranks;
  info.chunk_count = plan.chunk_count;
  info.step_count = plan.steps();
  info.send_count = static_cast<int64_t>(plan.sends.size());
  info.hop_count = static_cast<int64_t>(plan.hops.size());
  for (const lpt_schedule_send &send : plan.sends) {
    if (send.operation == LPT_SCHEDULE_OPERATION_ADD) info.add_step_count = send.step + 1;
    const bool is_first_copy = send.operation == LPT_SCHEDULE_OPERATION_COPY && info.copy_step_count == 0;
    if (is_first_copy) info.copy_step_count = info.step_count - send.step;
  }
  int64_t leaving = 0;
  for (int32_t rank = 0; rank < network.ranks; ++rank) {
    leaving += static_cast<int64_t>(network.outgoing[static_cast<size_t>(rank)].size());
  }
  const int64_t moves = int64_t{network.ranks} * (network.ranks - 1);
  info.least_step_count = moves == 0 ? 0 : static_cast<int32_t>((moves + leaving - 1) / leaving);
  return info;
}

int64_t hash_of(const SendPlan &plan) {
  uint64_t hash = UINT64_C(0xcbf29ce484222325);  // FNV-1a, by words
  const auto add = [&](int32_t value) { hash = (hash ^ static_cast<uint32_t>(value)) * UINT64_C(0x100000001b3); };
  add(plan.chunk_count);
  for (const lpt_schedule_send &send : plan.sends) {
    for (const int32_t value :
         {send.step, send.source, send.target, send.first_chunk, send.chunk_count, send.operation}) {
      add(value);
    }
  }
  return static_cast<int64_t>(hash);
}

Status simulate_sends(const SendPlan &plan, double bytes, double reduce_bytes_per_second, double &out_seconds,
                      std::span<double> out_link_seconds) {
  LPT_TRY(check_finite("bytes", bytes, 0.0, 1e30));
  LPT_TRY(check_finite("reduce_bytes_per_second", reduce_bytes_per_second, 0.0, 1e30));
  std::fill(out_link_seconds.begin(), out_link_seconds.end(), 0.0);
  ScheduleClock clock(plan, bytes, reduce_bytes_per_second, out_link_seconds);
  LPT_TRY(for_steps(plan, [&](size_t begin, size_t end) {
    clock.run_step(begin, end);
    return Status();
  }));
  out_seconds = clock.seconds();
  return {};
}

}  // namespace lpt
