#include "src/collective/lossy.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "src/collective/gather.hpp"
#include "src/collective/lossy_exchange.hpp"
#include "src/ranks/reducing.hpp"
#include "src/tensor/checks.hpp"

namespace lpt {
namespace {

struct LossyReduction {
  MatrixView input, output;
  std::vector<Range> parts;  // of all ranks, in elements
  int64_t most_packets;
  lpt_lossy_mode mode;
  std::vector<double> weights;  // HORVITZ_THOMPSON: of each rank
  lpt_format added;             // format of the parts that are added
  const KernelEntry<ReduceRequest> *weigh, *average;
  uint8_t *arrivals;

  bool is_weighted() const { return mode == LPT_LOSSY_MODE_HORVITZ_THOMPSON; }
};

// One rank's side of a reduction.
class LossyReductionRank {
 public:
  LossyReductionRank(Context &worker, Engine &engine, LossyLink &link, const LossyReduction &call)
      : worker_(worker),
        engine_(engine),
        link_(link),
        call_(call),
        input_(call.input),
        self_(static_cast<size_t>(engine.rank())),
        own_(call.parts[self_]),
        added_bytes_(call.added == LPT_FORMAT_F64   ? 8
                     : call.added == LPT_FORMAT_F32 ? 4
                                                    : input_.element_bytes()),
        sources_(call.parts.size()) {}

  Status run() {
    LPT_TRY(take_sources());
    LossyExchange exchange("lossy_reduce_scatter", call_.input, call_.most_packets);
    exchange.agreed.push_back(call_.mode);
    for (size_t q = 0; q < call_.parts.size(); ++q) {
      exchange.agreed.push_back(call_.parts[q].end);
      exchange.outgoing.push_back(q == self_ ? 0 : input_.bytes(call_.parts[q].count()));
      exchange.incoming.push_back(q == self_ ? 0 : input_.bytes(own_.count()));
    }
    const int64_t element = input_.element_bytes();
    exchange.read = [&](size_t q, int64_t begin, int64_t bytes, std::byte *packet) {
      const int64_t first = call_.parts[q].begin + begin / element;
      input_.copy_to({first, first + bytes / element}, packet);
    };
    exchange.write = [&](size_t q, int64_t begin, int64_t bytes, const std::byte *packet) {
      put(q, begin / element, bytes / element, packet);
    };
    LPT_TRY(exchange_packets(link_, engine_, exchange, arrivals_));
    return add_packets();
  }

 private:
  // Takes memory for the parts of all ranks, and fills that of this rank.
  Status take_sources() {
    for (size_t q = 0; q < sources_.size(); ++q) {
      if (q == self_ && input_.is_run(own_) && call_.added == call_.input.format.id) {
        sources_[q] = static_cast<std::byte *>(input_.run(own_).data);
      } else {
        LPT_TRY(take_bytes(worker_, engine_, added_bytes_ * own_.count(), &sources_[q]));
      }
    }
    LPT_TRY(take_bytes(worker_, engine_, added_bytes_ * packet_elements(), &zeros_));
    std::memset(zeros_, 0, static_cast<size_t>(added_bytes_ * packet_elements()));
    if (own_.count() == 0) return {};
    if (call_.added == call_.input.format.id) {
      if (!input_.is_run(own_)) input_.copy_to(own_, sources_[self_]);
      return {};
    }
    std::byte *scratch = nullptr;
    if (!input_.is_run(own_)) LPT_TRY(take_bytes(worker_, engine_, input_.bytes(own_.count()), &scratch));
    put(self_, 0, own_.count(), input_.gathered(own_, scratch).data);
    return {};
  }

  int64_t packet_elements() const { return link_.payload_bytes / input_.element_bytes(); }

  // Stores elements of rank q, multiplied by its weight.
  void put(size_t q, int64_t first, int64_t elements, const void *from) {
    void *to = sources_[q] + first * added_bytes_;
    if (!call_.is_weighted()) {
      std::memcpy(to, from, static_cast<size_t>(elements * added_bytes_));
      return;
    }
    ReduceRequest request{};
    request.format = call_.input.format.id;
    request.target_format = call_.added;
    request.reduction = Reduction::kSum;
    request.source_count = request.target_count = 1;
    request.factor = call_.weights[q];
    request.elements = elements;
    request.sources = &from;
    request.targets = &to;
    call_.weigh->run(request);
  }

  Status add_packets() {
    const FlatView output(call_.output);
    const Range whole{0, own_.count()};
    std::byte *scratch = nullptr;
    if (!output.is_run(whole)) LPT_TRY(take_bytes(worker_, engine_, output.bytes(own_.count()), &scratch));
    const MatrixView place = output.writable_span(whole, scratch);
    const int64_t packets = packets_of(link_, input_.bytes(own_.count()));
    parallel_parts(worker_, packets, packet_elements() * static_cast<int64_t>(sources_.size()),
                   [&](int64_t first, int64_t count) {
                     std::vector<const void *> sources;
                     for (int64_t k = first; k < first + count; ++k) {
                       add_packet(k, sources, static_cast<std::byte *>(place.data));
                     }
                   });
    output.write_back(whole, place);
    return {};
  }

  // Averages what has arrived of one packet, in rank order. With weights a part that has not is zero.
  void add_packet(int64_t k, std::vector<const void *> &sources, std::byte *output) const {
    sources.clear();
    const int64_t first = k * packet_elements();
    for (size_t q = 0; q < sources_.size(); ++q) {
      const bool is_here = q == self_ || arrivals_[q][static_cast<size_t>(k)] != 0;
      if (call_.arrivals != nullptr) call_.arrivals[static_cast<size_t>(k) * sources_.size() + q] = is_here ? 1 : 0;
      if (is_here) {
        sources.push_back(sources_[q] + first * added_bytes_);
      } else if (call_.is_weighted()) {
        sources.push_back(zeros_);
      }
    }
    void *target = output + first * input_.element_bytes();
    ReduceRequest request{};
    request.format = call_.added;
    request.target_format = call_.output.format.id;
    request.reduction = Reduction::kAverage;
    request.source_count = static_cast<int32_t>(sources.size());
    request.target_count = 1;
    request.factor = 1.0;
    request.elements = std::min(packet_elements(), own_.count() - first);
    request.sources = sources.data();
    request.targets = &target;
    call_.average->run(request);
  }

  Context &worker_;
  Engine &engine_;
  LossyLink &link_;
  const LossyReduction &call_;
  const FlatView input_;
  const size_t self_;
  const Range own_;
  const int64_t added_bytes_;         // of an element that is added
  std::vector<std::byte *> sources_;  // the part of this rank, of each rank
  std::byte *zeros_ = nullptr;        // of a packet
  PacketArrivals arrivals_;
};

Status choose_kernels(Context &context, LossyReduction &call) {
  const lpt_format format = call.input.format.id;
  call.added = format;
  if (call.is_weighted() && format != LPT_FORMAT_F64) call.added = LPT_FORMAT_F32;
  ReduceRequest request{};
  request.source_count = request.target_count = 1;
  request.factor = 1.0;
  request.reduction = Reduction::kSum;
  request.format = format;
  request.target_format = call.added;
  LPT_TRY(choose_sum(context, {}, request, &call.weigh));
  request.reduction = Reduction::kAverage;
  request.format = call.added;
  request.target_format = format;
  return choose_sum(context, {}, request, &call.average);
}

// Sets the weight of each rank: 1 / (1 - p), with the estimate p = lost / (lost + received + 1) if `loss` is NULL.
Status find_weights(const LossyLink &link, const double *loss, LossyReduction &call) {
  LPT_TRY(check_choice("mode", call.mode, LPT_LOSSY_MODE_HORVITZ_THOMPSON));
  if (!call.is_weighted()) {
    return loss == nullptr ? Status() : invalid("loss is set: expected NULL for LPT_LOSSY_MODE_COUNT");
  }
  for (size_t q = 0; q < link.peers.size(); ++q) {
    const LossyPeer &peer = link.peers[q];
    const bool is_self = q == static_cast<size_t>(link.rank);
    if (loss != nullptr && !is_self && !(loss[q] >= 0.0 && loss[q] < 1.0)) {
      return invalid("loss[%zu] is %g: expected at least 0 and less than 1", q, loss[q]);
    }
    const auto arrived = static_cast<double>(peer.received + 1);
    const double estimate = (static_cast<double>(peer.lost) + arrived) / arrived;
    call.weights.push_back(is_self ? 1.0 : loss != nullptr ? 1.0 / (1.0 - loss[q]) : estimate);
  }
  return {};
}

// Checks the length of an array for results; it may be NULL.
Status check_length(const char *name, int64_t count, const char *array_name, const void *array, int64_t expected) {
  if (array == nullptr) expected = 0;
  if (count == expected) return {};
  return invalid("%s is %lld: expected %lld, as %s %s", name, number(count), number(expected), array_name,
                 array == nullptr ? "is NULL" : "has an element per packet and source");
}

}  // namespace

Status lossy_reduce_scatter(Context &context, LossyLink &link, const LossyReduceArguments &arguments) {
  const auto ranks = static_cast<int32_t>(link.peers.size());
  LossyReduction call{};
  call.mode = arguments.mode;
  call.arrivals = arguments.out_arrivals;
  LPT_TRY(find_weights(link, arguments.loss, call));
  LPT_TRY(check_wide_matrix(arguments.input, "input", true, call.input));
  LPT_TRY(check_wide_matrix(arguments.output, "output", true, call.output));
  if (call.output.format.id != call.input.format.id) {
    return invalid("output is %s: expected %s, as input", format_name(call.output.format.id).c_str(),
                   format_name(call.input.format.id).c_str());
  }
  const FirstAxis axis = first_axis_of(*arguments.input);
  std::vector<int64_t> extents;
  LPT_TRY(find_counts("counts", arguments.counts, ranks, axis, call.input, "input", extents));
  call.parts = element_ranges(axis, call.input, extents);
  const auto self = static_cast<size_t>(link.rank);
  const MatrixView part = cut_first(axis, call.input, 0, extents[self]);
  LPT_TRY(check_shape(call.output, "output", part.rows, part.columns, "this rank's part of input"));
  LPT_TRY(check_no_overlap(call.input, "input", call.output, "output"));
  const FlatView flat(call.input);
  LPT_TRY(count_most_packets(link, flat, call.parts, call.most_packets));
  LPT_TRY(check_length("arrival_count", arguments.arrival_count, "out_arrivals", arguments.out_arrivals,
                       packets_of(link, flat.bytes(call.parts[self].count())) * ranks));
  LPT_TRY(choose_kernels(context, call));
  return run_collective(
      context, *link.comm,
      [&](Context &worker, Engine &engine) { return LossyReductionRank(worker, engine, link, call).run(); }, nullptr);
}

namespace {

// Copies the part of this rank to the output, by way of the packet buffer.
void copy_own(LossyLink &link, const FlatView &from, const FlatView &to, const Range &own) {
  const int64_t length = link.payload_bytes / from.element_bytes();
  for (int64_t begin = 0; begin < own.count(); begin += length) {
    const int64_t end = std::min(own.count(), begin + length);
    from.copy_to({begin, end}, link.packet.data());
    to.copy_from({own.begin + begin, own.begin + end}, link.packet.data());
  }
}

void count_ages(const LossyLink &link, const PacketArrivals &arrivals, const FlatView &view,
                const std::vector<Range> &parts, int32_t *ages) {
  for (size_t q = 0; q < parts.size(); ++q) {
    const auto packets = static_cast<size_t>(packets_of(link, view.bytes(parts[q].count())));
    for (size_t k = 0; k < packets; ++k, ++ages) {
      const bool is_new = q == static_cast<size_t>(link.rank) || arrivals[q][k] != 0;
      *ages = is_new ? 0 : *ages + (*ages < std::numeric_limits<int32_t>::max() ? 1 : 0);
    }
  }
}

Status check_ages(const LossyLink &link, const LossyGatherArguments &arguments, const FlatView &view,
                  const std::vector<Range> &parts) {
  int64_t packets = 0;
  for (const Range &part : parts) packets += packets_of(link, view.bytes(part.count()));
  LPT_TRY(check_length("age_count", arguments.age_count, "ages", arguments.ages, packets));
  for (int64_t i = 0; i < arguments.age_count; ++i) {
    if (arguments.ages[i] < 0) return invalid("ages[%lld] is %d: expected at least 0", number(i), arguments.ages[i]);
  }
  return {};
}

}  // namespace

Status lossy_all_gather(Context &context, LossyLink &link, const LossyGatherArguments &arguments) {
  GatherOperands operands;
  LPT_TRY(check_gather(*link.comm, arguments.input, arguments.counts, arguments.output, operands));
  LPT_TRY(check_wide_float(operands.from, "input"));
  const std::vector<Range> parts = element_ranges(operands.axis, operands.to, operands.extents);
  const FlatView from(operands.from), to(operands.to);
  int64_t most_packets = 0;
  LPT_TRY(count_most_packets(link, to, parts, most_packets));
  LPT_TRY(check_ages(link, arguments, to, parts));
  const auto self = static_cast<size_t>(link.rank);
  LossyExchange exchange("lossy_all_gather", operands.to, most_packets);
  for (size_t q = 0; q < parts.size(); ++q) {
    exchange.agreed.push_back(parts[q].end);
    exchange.outgoing.push_back(q == self ? 0 : to.bytes(parts[self].count()));
    exchange.incoming.push_back(q == self ? 0 : to.bytes(parts[q].count()));
  }
  const int64_t element = to.element_bytes();
  exchange.read = [&](size_t, int64_t begin, int64_t bytes, std::byte *packet) {
    from.copy_to({begin / element, (begin + bytes) / element}, packet);
  };
  exchange.write = [&](size_t q, int64_t begin, int64_t bytes, const std::byte *packet) {
    const int64_t first = parts[q].begin + begin / element;
    to.copy_from({first, first + bytes / element}, packet);
  };
  return run_collective(
      context, *link.comm,
      [&](Context &, Engine &engine) -> Status {
        PacketArrivals arrivals;
        LPT_TRY(exchange_packets(link, engine, exchange, arrivals));
        copy_own(link, from, to, parts[self]);
        if (arguments.ages != nullptr) count_ages(link, arrivals, to, parts, arguments.ages);
        return {};
      },
      nullptr);
}

Status estimate_lossy(double loss, int32_t rank_count, lpt_lossy_info &out_info) {
  constexpr int32_t kMostRanks = 1 << 20;
  if (!(loss >= 0.0 && loss < 1.0)) return invalid("loss is %g: expected at least 0 and less than 1", loss);
  if (rank_count < 1 || rank_count > kMostRanks) {
    return invalid("rank_count is %d: expected 1 to %d", rank_count, kMostRanks);
  }
  const double arrives = 1.0 - loss, ranks = rank_count;
  out_info.drift = 2.0 * loss / (arrives * (1.0 + loss));
  out_info.one_step_drift = 2.0 * loss / (1.0 + loss);
  out_info.mean_age = loss / arrives;
  out_info.owner_weight = -std::expm1(ranks * std::log(loss)) / arrives;
  out_info.other_weight = rank_count == 1 ? 0.0 : (ranks - out_info.owner_weight) / (ranks - 1.0);
  out_info.horvitz_thompson_variance = (1.0 + (ranks - 1.0) / arrives) / ranks;
  return {};
}

}  // namespace lpt
