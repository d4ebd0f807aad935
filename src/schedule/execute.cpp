#include "src/schedule/execute.hpp"

#include <algorithm>

#include "src/collective/wire.hpp"
#include "src/ranks/reducing.hpp"
#include "src/tensor/checks.hpp"

namespace lpt {
namespace {

// Messages of callers have smaller tags.
constexpr int32_t kScheduleTag = 1 << 15;

constexpr int64_t kTaskElements = 1 << 16;  // minimum of one task

struct ScheduleRun {
  std::shared_ptr<const SendPlan> plan;
  Tensor input, output;  // keep their memory alive
  MatrixView from, to;
  const KernelEntry<ReduceRequest> *kernel;
  double factor;  // of the last addition of each chunk
};

// One rank's side of a schedule, in contiguous memory that holds its input.
class ScheduleRank {
 public:
  ScheduleRank(Context &worker, Engine &engine, const ScheduleRun &run, std::byte *data, int64_t elements)
      : worker_(worker),
        engine_(engine),
        run_(run),
        data_(data),
        element_bytes_(element_bits(run.from.format.element) / 8),
        chunks_(equal_shares(elements, run.plan->chunk_count)),
        hash_(hash_of(*run.plan)) {}

  // The engine copies what it sends, so that no rank waits before it has sent all messages of a step. A transport may need
  // calls of the sender until a message has arrived: the last barrier makes them.
  Status run() {
    LPT_TRY(compare_calls());
    LPT_TRY(take_received());
    if (engine_.ranks() == 1) add(nullptr, {0, chunks_.back().end}, run_.factor);
    LPT_TRY(for_steps(*run_.plan, [&](size_t begin, size_t end) { return run_step(begin, end); }));
    return compare_calls();
  }

 private:
  Signature signature_of(const char *operation, int64_t rows, int64_t columns) const {
    return {operation, run_.from.format.id, rows, columns, hash_ ^ agreed_factor(run_.factor)};
  }

  // A barrier in which ranks compare their calls.
  Status compare_calls() {
    return engine_.barrier(signature_of("schedule_all_reduce", run_.from.rows, run_.from.columns));
  }

  Status run_step(size_t begin, size_t end) {
    const std::vector<lpt_schedule_send> &sends = run_.plan->sends;
    for (size_t i = begin; i < end; ++i) {
      if (sends[i].source == engine_.rank()) LPT_TRY(send(sends[i]));
    }
    for (size_t i = begin; i < end; ++i) {
      if (sends[i].target == engine_.rank()) LPT_TRY(receive(i));
    }
    return {};
  }

  Range range_of(const lpt_schedule_send &send) const {
    const auto first = static_cast<size_t>(send.first_chunk);
    return {chunks_[first].begin, chunks_[first + static_cast<size_t>(send.chunk_count) - 1].end};
  }

  Bytes bytes_of(const Range &range) const {
    return {data_ + range.begin * element_bytes_, range.count() * element_bytes_};
  }

  // Takes memory for the longest message that this rank adds.
  Status take_received() {
    int64_t most = 0;
    for (const lpt_schedule_send &send : run_.plan->sends) {
      const bool is_added = send.target == engine_.rank() && send.operation == LPT_SCHEDULE_OPERATION_ADD;
      if (is_added) most = std::max(most, bytes_of(range_of(send)).count);
    }
    return most == 0 ? Status() : take_bytes(worker_, engine_, most, &received_);
  }

  Status send(const lpt_schedule_send &send) {
    const Bytes bytes = bytes_of(range_of(send));
    if (bytes.count == 0) return {};
    return engine_.send(signature_of("schedule send", send.step, send.first_chunk), send.target, kScheduleTag, bytes);
  }

  Status receive(size_t index) {
    const lpt_schedule_send &send = run_.plan->sends[index];
    const bool is_added = send.operation == LPT_SCHEDULE_OPERATION_ADD;
    const Range range = range_of(send);
    Bytes bytes = bytes_of(range);
    if (bytes.count == 0) return {};
    if (is_added) bytes.data = received_;
    const Signature signature = signature_of("schedule send", send.step, send.first_chunk);
    LPT_TRY(engine_.receive(signature, send.source, kScheduleTag, bytes));
    if (is_added) add_chunks(index, range.begin);
    return {};
  }

  // Adds the received chunks. Only sums that are complete then are multiplied by the factor.
  void add_chunks(size_t index, int64_t begin) {
    const lpt_schedule_send &send = run_.plan->sends[index];
    for (int32_t c = send.first_chunk; c < send.first_chunk + send.chunk_count; ++c) {
      const Range &chunk = chunks_[static_cast<size_t>(c)];
      const bool is_last = run_.plan->last_adds[static_cast<size_t>(c)] == static_cast<int64_t>(index);
      add(received_ + (chunk.begin - begin) * element_bytes_, chunk, is_last ? run_.factor : 1.0);
    }
  }

  // Computes own = (own + received) · factor; without `received` own · factor.
  void add(const std::byte *received, const Range &range, double factor) {
    const int64_t units = (range.count() + kTaskElements - 1) / kTaskElements;
    parallel_parts(worker_, units, 2 * kTaskElements, [&](int64_t first, int64_t count) {
      const int64_t begin = range.begin + first * kTaskElements;
      const int64_t end = std::min(range.end, begin + count * kTaskElements);
      void *own = data_ + begin * element_bytes_;
      const void *const sources[] = {own, received + (begin - range.begin) * element_bytes_};
      ReduceRequest request{};
      request.format = request.target_format = run_.from.format.id;
      request.reduction = Reduction::kSum;
      request.source_count = received == nullptr ? 1 : 2;
      request.target_count = 1;
      request.factor = factor;
      request.elements = end - begin;
      request.sources = sources;
      request.targets = &own;
      run_.kernel->run(request);
    });
  }

  Context &worker_;
  Engine &engine_;
  const ScheduleRun &run_;
  std::byte *const data_;
  const int64_t element_bytes_;
  const std::vector<Range> chunks_;
  const int64_t hash_;
  std::byte *received_ = nullptr;
};

Status run_schedule(Context &worker, Engine &engine, const ScheduleRun &run) {
  const FlatView input(run.from), output(run.to);
  const Range whole{0, run.from.rows * run.from.columns};
  std::byte *scratch = nullptr;
  if (!output.is_run(whole)) LPT_TRY(take_bytes(worker, engine, output.bytes(whole.count()), &scratch));
  const MatrixView place = output.writable_span(whole, scratch);
  auto *data = static_cast<std::byte *>(place.data);
  if (data != run.from.data) input.copy_to(whole, data);
  ScheduleRank rank(worker, engine, run, data, whole.count());
  LPT_TRY(rank.run());
  output.write_back(whole, place);
  return {};
}

Status check_schedule_options(const lpt_reduce_options &options) {
  LPT_TRY(check_reduce_options(options));
  if (options.reduction > LPT_REDUCTION_AVERAGE) {
    return unsupported("options->reduction is %d: expected LPT_REDUCTION_SUM or LPT_REDUCTION_AVERAGE",
                       options.reduction);
  }
  if (options.algorithm != LPT_REDUCE_ALGORITHM_AUTO) {
    return unsupported("options->algorithm is %d: expected LPT_REDUCE_ALGORITHM_AUTO, the schedule is the algorithm",
                       options.algorithm);
  }
  if (options.outer_comm != nullptr || options.outer != nullptr) {
    return unsupported("options has an outer comm: expected none, see LPT_SCHEDULE_ALGORITHM_HIERARCHICAL");
  }
  if (options.wire == LPT_FORMAT_NONE && options.codec == nullptr && options.rounding == LPT_ROUNDING_NEAREST_EVEN) {
    return {};
  }
  return unsupported("options has a wire, a rounding or a codec: expected none, a schedule sends elements as they are");
}

Status choose_schedule_sum(Context &context, const ScheduleRun &run, const KernelEntry<ReduceRequest> **out_kernel) {
  ReduceRequest request{};
  request.format = request.target_format = run.from.format.id;
  request.reduction = Reduction::kSum;
  request.source_count = 2;
  request.target_count = 1;
  request.factor = run.factor;
  return choose_sum(context, {}, request, out_kernel);
}

}  // namespace

Status all_reduce_by_schedule(Context &context, Comm &comm, const Schedule &schedule, const Tensor *input,
                              const lpt_reduce_options &options, Tensor *output, Future **out_future) {
  ScheduleRun run{schedule.plan, {}, {}, {}, {}, nullptr, options.factor};
  LPT_TRY(check_schedule_options(options));
  LPT_TRY(check_on_cpus(comm));
  LPT_TRY(check_has_messages(comm));
  const int32_t ranks = comm.engine->ranks();
  if (run.plan->network->ranks != ranks) {
    return invalid("schedule is for %d ranks: expected %d, as comm", run.plan->network->ranks, ranks);
  }
  const bool needs_data = !is_check_only(options.flags);
  LPT_TRY(check_wide_matrix(input, "input", needs_data, run.from));
  LPT_TRY(check_wide_matrix(output, "output", needs_data, run.to));
  if (run.to.format.id != run.from.format.id) {
    return invalid("output is %s: expected %s, as input", format_name(run.to.format.id).c_str(),
                   format_name(run.from.format.id).c_str());
  }
  LPT_TRY(check_shape(run.to, "output", run.from.rows, run.from.columns, "input"));
  LPT_TRY(check_in_place(run.from, "input", run.to, "output"));
  if (options.reduction == LPT_REDUCTION_AVERAGE) run.factor /= ranks;
  LPT_TRY(choose_schedule_sum(context, run, &run.kernel));
  if (is_check_only(options.flags)) return {};
  run.input = *input;
  run.output = *output;
  return run_collective(
      context, comm,
      [run = std::move(run)](Context &worker, Engine &engine) { return run_schedule(worker, engine, run); },
      out_future);
}

}  // namespace lpt
