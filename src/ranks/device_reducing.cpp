#include "src/ranks/device_reducing.hpp"

#include "src/call/launch.hpp"
#include "src/tensor/flat_view.hpp"

namespace lpt {
namespace {

// Below it a message costs more than its bytes.
constexpr int64_t kSmallBytesOnDevice = 64 << 10;

Status add_up(Context &worker, const ReductionPlan &reducing, const std::vector<const void *> &sources, void *target,
              int64_t elements) {
  ReduceRequest request{};
  request.format = reducing.input.format.id;
  request.target_format = reducing.output.format.id;
  request.reduction = reducing.reduction;
  request.source_count = static_cast<int32_t>(sources.size());
  request.target_count = 1;
  request.factor = reducing.factor;
  request.elements = elements;
  request.sources = sources.data();
  request.targets = &target;
  return queue_kernel(worker, *reducing.kernel, request);
}

// The same numbers of all ranks, in their order: incoming is what came, own what this rank has of them.
std::vector<const void *> in_order(const std::vector<Bytes> &incoming, int32_t rank, const void *own) {
  std::vector<const void *> sources;
  for (const Bytes &bytes : incoming) sources.push_back(bytes.data);
  sources[static_cast<size_t>(rank)] = own;
  return sources;
}

class Sum {
 public:
  Sum(Context &worker, DeviceEngine &engine, const ReductionPlan &reducing)
      : worker_(worker), engine_(engine), reducing_(reducing), shares_(reducing.shares) {}

  // All send all of it to all: one way, for little.
  Status one_shot() {
    const Range whole{0, shares_.back().end};
    LPT_TRY(input_.gather(worker_, reducing_.input));
    LPT_TRY(output_.place(worker_, reducing_.output));
    const std::vector<Bytes> outgoing(shares_.size(), bytes_of(input_, whole));
    LPT_TRY(exchange(outgoing, whole));
    LPT_TRY(add_up(worker_, reducing_, sources_, output_.at(0), whole.count()));
    return output_.write_back(worker_);
  }

  // Every rank reduces its share, and tells all others what came of it.
  Status two_shots() {
    LPT_TRY(output_.place(worker_, reducing_.output));
    LPT_TRY(scatter(output_.at(my_share().begin)));
    const std::vector<Bytes> outgoing(shares_.size(), bytes_of(output_, my_share()));
    std::vector<Bytes> incoming;
    for (const Range &share : shares_) incoming.push_back(bytes_of(output_, share));
    LPT_TRY(engine_.all_to_all_v(signature_of(reducing_), outgoing.data(), incoming.data()));
    return output_.write_back(worker_);
  }

  Status to_parts() {
    LPT_TRY(output_.place(worker_, reducing_.output));
    LPT_TRY(scatter(output_.at(0)));
    return output_.write_back(worker_);
  }

 private:
  const Range &my_share() const { return shares_[static_cast<size_t>(engine_.rank())]; }

  static Bytes bytes_of(const DeviceFlatView &line, const Range &range) {
    return {line.at(range.begin), line.bytes(range.count())};
  }

  Status scatter(void *target) {
    LPT_TRY(input_.gather(worker_, reducing_.input));
    std::vector<Bytes> outgoing;
    for (const Range &share : shares_) outgoing.push_back(bytes_of(input_, share));
    LPT_TRY(exchange(outgoing, my_share()));
    return add_up(worker_, reducing_, sources_, target, my_share().count());
  }

  // Receives `range` of every other rank.
  Status exchange(const std::vector<Bytes> &outgoing, const Range &range) {
    const Bytes own = bytes_of(input_, range);
    std::vector<Bytes> incoming(outgoing.size(), own);
    for (int32_t q = 0; q < engine_.ranks(); ++q) {
      if (q != engine_.rank()) LPT_TRY(take_space(worker_, engine_, own.count, incoming[static_cast<size_t>(q)]));
    }
    LPT_TRY(engine_.all_to_all_v(signature_of(reducing_), outgoing.data(), incoming.data()));
    sources_ = in_order(incoming, engine_.rank(), own.data);
    return {};
  }

  Context &worker_;
  DeviceEngine &engine_;
  const ReductionPlan &reducing_;
  const std::vector<Range> &shares_;
  DeviceFlatView input_, output_;
  std::vector<const void *> sources_;
};

}  // namespace

Status choose_sum_on_device(Context &context, const Device &device, const ReduceRequest &request,
                            const KernelEntry<ReduceRequest> **out_kernel) {
  if (!(context.queue.device() == device)) {
    return invalid("context works on %s: expected %s, where the comm does", device_text(context.queue.device()).c_str(),
                   device_text(device).c_str());
  }
  return select_kernel(context, "reduce", request, {request.format, request.target_format}, out_kernel);
}

Status reduce_to_all_on_device(Context &worker, DeviceEngine &engine, const ReductionPlan &reducing) {
  const int64_t elements = reducing.shares.back().end;
  if (elements == 0) return engine.barrier(signature_of(reducing));
  const int64_t bytes = elements * (element_bits(reducing.input.format.element) / 8);
  Sum sum(worker, engine, reducing);
  return engine.ranks() == 1 || bytes <= kSmallBytesOnDevice ? sum.one_shot() : sum.two_shots();
}

Status reduce_to_parts_on_device(Context &worker, DeviceEngine &engine, const ReductionPlan &reducing) {
  if (reducing.shares.back().end == 0) return engine.barrier(signature_of(reducing));
  return Sum(worker, engine, reducing).to_parts();
}

Status reduce_natively(Context &worker, DeviceEngine &engine, const ReductionPlan &reducing, bool is_to_all) {
  const int64_t elements = reducing.shares.back().end;
  if (elements == 0) return engine.barrier(signature_of(reducing));
  DeviceFlatView input, output;
  LPT_TRY(input.gather(worker, reducing.input));
  LPT_TRY(output.place(worker, reducing.output));
  LPT_TRY(engine.sum(signature_of(reducing), {reducing.input.format.id, static_cast<lpt_reduction>(reducing.reduction),
                                              input.at(0), output.at(0), elements, !is_to_all}));
  return output.write_back(worker);
}

}  // namespace lpt
