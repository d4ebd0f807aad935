#include "src/ranks/reducing.hpp"

#include <algorithm>
#include <bit>

#include "src/call/launch.hpp"

namespace lpt {
namespace {

// Payloads of at most this many bytes are reduced in one shot: a message costs more than its bytes.
constexpr int64_t kSmallBytes = 16 << 10;

// The same limit for two ranks, which send equally many bytes with either algorithm. Above it each rank adds one half, while
// both halves are in a cache.
constexpr int64_t kSmallBytesOfTwo = 128 << 10;

// Results of at least this many bytes are written past the caches, as they are evicted before their next use.
constexpr int64_t kStreamedBytes = 8 << 20;

constexpr int64_t kPartElements = 1 << 16;  // minimum for one task

// Maps indices of matrix elements to addresses, also in the memory of other ranks.
struct Lines {
  std::byte *data;
  int64_t first;  // index of the element at data, the first of a row
  int64_t columns, row_bytes, element_bytes;

  int64_t column_of(int64_t element) const { return (element - first) % columns; }
  std::byte *at(int64_t element) const {
    return data + (element - first) / columns * row_bytes + column_of(element) * element_bytes;
  }
};

Lines lines_of(const MatrixView &view) {
  const int64_t bytes = element_bits(view.format.element) / 8;
  const bool is_dense = view.rows <= 1 || view.row_stride == view.columns;
  const int64_t columns = is_dense ? std::max<int64_t>(view.rows * view.columns, 1) : view.columns;
  return {static_cast<std::byte *>(view.data), 0, columns, view.row_stride * bytes, bytes};
}

// Returns the layout of a range of contiguous elements.
Lines lines_of_run(std::byte *run, const Range &range, int64_t element_bytes) {
  return {run, range.begin, std::max<int64_t>(range.count(), 1), 0, element_bytes};
}

// Reduces a range of elements of `sources` to `targets`, in runs that are contiguous in all of them.
void reduce_runs(const ReductionPlan &reducing, const std::vector<Lines> &sources, const std::vector<Lines> &targets,
                 const Range &range, bool is_streamed) {
  std::vector<const void *> from(sources.size());
  std::vector<void *> to(targets.size());
  ReduceRequest request{};
  request.format = reducing.input.format.id;
  request.target_format = reducing.output.format.id;
  request.reduction = reducing.reduction;
  request.source_count = static_cast<int32_t>(sources.size());
  request.target_count = static_cast<int32_t>(targets.size());
  request.factor = reducing.factor;
  request.sources = from.data();
  request.targets = to.data();
  request.is_streamed = is_streamed;
  for (int64_t i = range.begin; i < range.end; i += request.elements) {
    int64_t run = range.end - i;
    for (size_t q = 0; q < sources.size(); ++q) {
      run = std::min(run, sources[q].columns - sources[q].column_of(i));
      from[q] = sources[q].at(i);
    }
    for (size_t q = 0; q < targets.size(); ++q) {
      run = std::min(run, targets[q].columns - targets[q].column_of(i));
      to[q] = targets[q].at(i);
    }
    request.elements = run;
    reducing.kernel->run(request);
  }
}

void reduce_range(Context &worker, const ReductionPlan &reducing, const std::vector<Lines> &sources,
                  const std::vector<Lines> &targets, const Range &range) {
  const bool is_streamed =
      range.count() * targets.front().element_bytes * static_cast<int64_t>(targets.size()) >= kStreamedBytes;
  const int64_t units = (range.count() + kPartElements - 1) / kPartElements;
  parallel_parts(worker, units, kPartElements * static_cast<int64_t>(sources.size()),
                 [&](int64_t first, int64_t count) {
                   const int64_t begin = range.begin + first * kPartElements;
                   const int64_t end = std::min(range.end, begin + count * kPartElements);
                   reduce_runs(reducing, sources, targets, {begin, end}, is_streamed);
                 });
}

int64_t bytes_of(const ReductionPlan &reducing, const Range &range) {
  return range.count() * (element_bits(reducing.input.format.element) / 8);
}

// Ranks that share memory: each reduces its slice of all inputs and writes it to all outputs.

struct SharedBuffers {
  Lines input, output;
};

// Counts the traffic of an equivalent exchange of messages: the slices of other ranks and, for all ranks, the results.
void count_shared(Engine &engine, const ReductionPlan &reducing, bool is_to_all) {
  const int64_t mine = bytes_of(reducing, reducing.shares[static_cast<size_t>(engine.rank())]);
  int64_t whole = 0;
  for (const Range &share : reducing.shares) whole += bytes_of(reducing, share);
  const int64_t others = mine * (engine.ranks() - 1);
  engine.count(whole - mine + (is_to_all ? others : 0), others + (is_to_all ? whole - mine : 0));
}

Status reduce_shared(Context &worker, Engine &engine, const ReductionPlan &reducing, bool is_to_all) {
  const SharedBuffers face{lines_of(reducing.input), lines_of(reducing.output)};
  const ExchangeGuard guard(engine);
  LPT_TRY(engine.publish(signature_of(reducing), &face));
  const Range &share = reducing.shares[static_cast<size_t>(engine.rank())];
  std::vector<Lines> sources, targets;
  for (int32_t q = 0; q < engine.ranks(); ++q) {
    const SharedBuffers &theirs = *static_cast<const SharedBuffers *>(engine.published(q));
    sources.push_back(theirs.input);
    if (is_to_all || q == engine.rank()) targets.push_back(theirs.output);
    if (!is_to_all && q == engine.rank()) targets.back().first = share.begin;
  }
  reduce_range(worker, reducing, sources, targets, share);
  count_shared(engine, reducing, is_to_all);
  return engine.release();
}

// Ranks that send messages.

// Returns the memory of a range if it is contiguous, otherwise scratch of the same size.
Status place_of(Context &worker, const FlatView &line, const Range &range, Bytes &out_bytes) {
  out_bytes = {nullptr, line.bytes(range.count())};
  if (line.is_run(range)) {
    out_bytes.data = static_cast<std::byte *>(line.run(range).data);
    return {};
  }
  return worker.host_scratch->take(static_cast<size_t>(out_bytes.count), &out_bytes.data);
}

class Messages {
 public:
  Messages(Context &worker, Engine &engine, const ReductionPlan &reducing)
      : worker_(worker), engine_(engine), reducing_(reducing), input_(reducing.input) {}

  // Every rank sends its full input to all ranks: one message latency, for small tensors.
  Status one_shot() {
    const Range whole{0, reducing_.shares.back().end};
    Bytes mine{};
    LPT_TRY(contiguous_bytes(whole, mine));
    const std::vector<Bytes> outgoing(static_cast<size_t>(engine_.ranks()), mine);
    LPT_TRY(exchange(outgoing, whole, mine));
    reduce_range(worker_, reducing_, sources_, {lines_of(reducing_.output)}, whole);
    return {};
  }

  // Every rank reduces its slice.
  Status scatter(Lines target) {
    std::vector<Bytes> outgoing;
    for (const Range &share : reducing_.shares) {
      Bytes run{};
      LPT_TRY(contiguous_bytes(share, run));
      outgoing.push_back(run);
    }
    const Range &share = my_share();
    LPT_TRY(exchange(outgoing, share, outgoing[static_cast<size_t>(engine_.rank())]));
    target.first = share.begin;
    reduce_range(worker_, reducing_, sources_, {target}, share);
    return {};
  }

 private:
  const Range &my_share() const { return reducing_.shares[static_cast<size_t>(engine_.rank())]; }

  // Returns a range of the input: in place if it is contiguous, otherwise copied.
  Status contiguous_bytes(const Range &range, Bytes &out_bytes) {
    LPT_TRY(place_of(worker_, input_, range, out_bytes));
    if (!input_.is_run(range)) input_.copy_to(range, out_bytes.data);
    return {};
  }

  // Receives `range` from every other rank. Sets sources_ to these bytes and `mine`, in rank order.
  Status exchange(const std::vector<Bytes> &outgoing, const Range &range, const Bytes &mine) {
    std::vector<Bytes> incoming(outgoing.size(), mine);
    for (int32_t q = 0; q < engine_.ranks(); ++q) {
      if (q != engine_.rank()) LPT_TRY(take_space(worker_, engine_, mine.count, incoming[static_cast<size_t>(q)]));
    }
    const ExchangeGuard guard(engine_);
    LPT_TRY(engine_.all_to_all_v(signature_of(reducing_), outgoing.data(), incoming.data()));
    LPT_TRY(engine_.release());  // before the output is written, which may be the input
    sources_.clear();
    for (const Bytes &bytes : incoming) sources_.push_back(lines_of_run(bytes.data, range, input_.element_bytes()));
    return {};
  }

  Context &worker_;
  Engine &engine_;
  const ReductionPlan &reducing_;
  const FlatView input_;
  std::vector<Lines> sources_;
};

// Every rank reduces its slice, then sends it to all others.
Status reduce_in_two_shots(Context &worker, Engine &engine, const ReductionPlan &reducing, const PartWork &between) {
  const auto self = static_cast<size_t>(engine.rank());
  const FlatView output(reducing.output);
  std::vector<Bytes> incoming;
  for (size_t q = 0; q < reducing.shares.size(); ++q) {
    const bool is_placed = q == self || !engine.shares_memory();
    incoming.push_back({nullptr, output.bytes(reducing.shares[q].count())});
    if (is_placed) LPT_TRY(place_of(worker, output, reducing.shares[q], incoming.back()));
  }
  const Bytes mine = incoming[self];
  ReductionPlan parts = reducing;
  parts.output = dense_view(reducing.output.format.id, mine.data, 1, reducing.shares[self].count());
  LPT_TRY(reduce_to_parts(worker, engine, parts));
  if (between) LPT_TRY(between(worker, parts.output));
  const std::vector<Bytes> outgoing(incoming.size(), mine);
  const ExchangeGuard guard(engine);
  LPT_TRY(engine.all_to_all_v(signature_of(reducing), outgoing.data(), incoming.data()));
  for (size_t q = 0; q < incoming.size(); ++q) {
    const Range &theirs = reducing.shares[q];
    const bool is_in_place = output.is_run(theirs) && (q == self || !engine.shares_memory());
    if (!is_in_place && theirs.count() > 0) output.copy_from(theirs, incoming[q].data);
  }
  return engine.release();
}

// Devices: the same exchanges and sums, queued.

// The limit of one-shot reductions on devices, in bytes.
constexpr int64_t kSmallBytesOnDevice = 64 << 10;

Status queue_sum(Context &worker, const ReductionPlan &reducing, const std::vector<const void *> &sources, void *target,
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

// Returns the sources of one range in rank order: `incoming`, and `own` for this rank.
std::vector<const void *> in_order(const std::vector<Bytes> &incoming, int32_t rank, const void *own) {
  std::vector<const void *> sources;
  for (const Bytes &bytes : incoming) sources.push_back(bytes.data);
  sources[static_cast<size_t>(rank)] = own;
  return sources;
}

class QueuedSum {
 public:
  QueuedSum(Context &worker, DeviceEngine &engine, const ReductionPlan &reducing)
      : worker_(worker), engine_(engine), reducing_(reducing), shares_(reducing.shares) {}

  // Every rank sends its full input to all ranks: one message latency, for small tensors.
  Status one_shot() {
    const Range whole{0, shares_.back().end};
    LPT_TRY(input_.gather(worker_, reducing_.input));
    LPT_TRY(output_.place(worker_, reducing_.output));
    const std::vector<Bytes> outgoing(shares_.size(), bytes_of(input_, whole));
    LPT_TRY(exchange(outgoing, whole));
    LPT_TRY(queue_sum(worker_, reducing_, sources_, output_.at(0), whole.count()));
    return output_.write_back(worker_);
  }

  // Every rank reduces its slice and sends it to all others.
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
    return queue_sum(worker_, reducing_, sources_, target, my_share().count());
  }

  // Receives `range` from every other rank and sets sources_.
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

// All-reduce on CPUs by Engine::sum().
Status reduce_natively_on_cpu(Context &worker, Engine &engine, const ReductionPlan &reducing) {
  const Range whole{0, reducing.shares.back().end};
  const FlatView input(reducing.input), output(reducing.output);
  std::byte *read = nullptr, *written = nullptr;
  const auto bytes = static_cast<size_t>(input.bytes(whole.count()));
  if (!input.is_run(whole)) LPT_TRY(worker.host_scratch->take(bytes, &read));
  if (!output.is_run(whole)) LPT_TRY(worker.host_scratch->take(bytes, &written));
  const MatrixView from = input.gathered(whole, read), to = output.writable_span(whole, written);
  LPT_TRY(engine.sum(signature_of(reducing), {reducing.input.format.id, static_cast<lpt_reduction>(reducing.reduction),
                                              from.data, to.data, whole.count(), false}));
  output.write_back(whole, to);
  return {};
}

Status queue_to_all(Context &worker, DeviceEngine &engine, const ReductionPlan &reducing) {
  const int64_t elements = reducing.shares.back().end;
  if (elements == 0) return engine.barrier(signature_of(reducing));
  const int64_t bytes = elements * (element_bits(reducing.input.format.element) / 8);
  QueuedSum sum(worker, engine, reducing);
  return engine.ranks() == 1 || bytes <= kSmallBytesOnDevice ? sum.one_shot() : sum.two_shots();
}

Status queue_to_parts(Context &worker, DeviceEngine &engine, const ReductionPlan &reducing) {
  if (reducing.shares.back().end == 0) return engine.barrier(signature_of(reducing));
  return QueuedSum(worker, engine, reducing).to_parts();
}

}  // namespace

Signature signature_of(const ReductionPlan &reducing) {
  const int64_t choice =
      (static_cast<int64_t>(reducing.reduction) | reducing.site << 4) ^ agreed_factor(reducing.factor);
  return {reducing.operation, reducing.input.format.id, reducing.input.rows, reducing.input.columns, choice};
}

int64_t agreed_factor(double factor) { return std::bit_cast<int64_t>(factor) ^ std::bit_cast<int64_t>(1.0); }

std::vector<Range> equal_shares(int64_t elements, int32_t ranks, int64_t unit) {
  const int64_t length = (elements / unit + ranks - 1) / ranks * unit;
  std::vector<Range> shares;
  for (int64_t q = 0; q < ranks; ++q) {
    const int64_t end = q + 1 == ranks ? elements : std::min(elements, (q + 1) * length);
    shares.push_back({std::min(elements, q * length), end});
  }
  return shares;
}

Status choose_sum(Context &context, const Device &device, const ReduceRequest &request,
                  const KernelEntry<ReduceRequest> **out_kernel) {
  const std::initializer_list<lpt_format> formats = {request.format, request.target_format};
  if (device.is_cpu()) return select_kernel(context, "reduce", reduce_kernels(), request, formats, out_kernel);
  if (!(context.queue.device() == device)) {
    return invalid("context works on %s: expected %s, where the comm does", device_text(context.queue.device()).c_str(),
                   device_text(device).c_str());
  }
  return select_kernel(context, "reduce", request, formats, out_kernel);
}

Status reduce_to_all(Context &worker, Engine &engine, const ReductionPlan &reducing, const PartWork &between) {
  if (!engine.device().is_cpu()) return queue_to_all(worker, static_cast<DeviceEngine &>(engine), reducing);
  if (between) return reduce_in_two_shots(worker, engine, reducing, between);
  if (engine.shares_memory()) return reduce_shared(worker, engine, reducing, true);
  const int64_t bytes = bytes_of(reducing, {0, reducing.shares.back().end});
  const bool is_small = bytes <= (engine.ranks() == 2 ? kSmallBytesOfTwo : kSmallBytes);
  if (engine.ranks() == 1 || is_small) return Messages(worker, engine, reducing).one_shot();
  return reduce_in_two_shots(worker, engine, reducing, {});
}

Status reduce_to_parts(Context &worker, Engine &engine, const ReductionPlan &reducing) {
  if (!engine.device().is_cpu()) return queue_to_parts(worker, static_cast<DeviceEngine &>(engine), reducing);
  if (engine.shares_memory()) return reduce_shared(worker, engine, reducing, false);
  return Messages(worker, engine, reducing).scatter(lines_of(reducing.output));
}

Status reduce_natively(Context &worker, Engine &engine, const ReductionPlan &reducing, bool is_to_all) {
  const int64_t elements = reducing.shares.back().end;
  if (elements == 0) return engine.barrier(signature_of(reducing));
  if (engine.device().is_cpu()) return reduce_natively_on_cpu(worker, engine, reducing);
  DeviceFlatView input, output;
  LPT_TRY(input.gather(worker, reducing.input));
  LPT_TRY(output.place(worker, reducing.output));
  LPT_TRY(engine.sum(signature_of(reducing), {reducing.input.format.id, static_cast<lpt_reduction>(reducing.reduction),
                                              input.at(0), output.at(0), elements, !is_to_all}));
  return output.write_back(worker);
}

}  // namespace lpt
