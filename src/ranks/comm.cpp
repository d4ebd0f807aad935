#include "src/ranks/comm.hpp"

#include <chrono>
#include <cmath>
#include <new>

#include "lpt/research/emulation.h"
#include "src/call/launch.hpp"
#include "src/comm/custom/custom_transport.hpp"
#include "src/comm/exchange_engine.hpp"
#include "src/comm/local/local_engine.hpp"
#include "src/comm/local/local_transport.hpp"
#include "src/comm/message_engine.hpp"
#include "src/comm/plugin.hpp"

lpt_comm::~lpt_comm() {
  if (!progress_thread.is_idle()) engine->interrupt("its comm was destroyed while collectives were under way");
  progress_thread.close();
  engine.reset();  // ends queued work, which would block the release of device scratch
}

namespace lpt {
namespace {

constexpr int32_t kMostRanks = 1024;

Status check_options(const lpt_comm_options &options) {
  LPT_TRY(check_flags("options->flags", options.flags, LPT_COMM_CHECKSUMS | LPT_COMM_MESSAGES));
  LPT_TRY(check_finite("options->timeout_seconds", options.timeout_seconds, 0.0, 1e9));
  const lpt_comm_emulation &link = *options.emulation;
  LPT_TRY(check_finite("options->emulation->link_latency_seconds", link.link_latency_seconds, 0.0, 3600.0));
  LPT_TRY(check_finite("options->emulation->link_bytes_per_second", link.link_bytes_per_second, 0.0, 1e18));
  if (link.damaged_message < 0) {
    return invalid("options->emulation->damaged_message is %lld: expected at least 0", number(link.damaged_message));
  }
  if (options.bootstrap == nullptr) return {};
  return unsupported("options->bootstrap is set: expected NULL, it is for ranks on GPUs");
}

Status check_has_no_link(const lpt_comm_options &options) {
  const lpt_comm_emulation &link = *options.emulation;
  if (link.link_latency_seconds <= 0.0 && link.link_bytes_per_second <= 0.0) return {};
  return unsupported("options->emulation has a link: expected none, links are emulated for local ranks");
}

EngineOptions engine_options(const lpt_comm_options &options) {
  const lpt_comm_emulation &link = *options.emulation;
  return {options.timeout_seconds, (options.flags & LPT_COMM_CHECKSUMS) != 0, link.link_latency_seconds,
          link.link_bytes_per_second, link.damaged_message};
}

bool has_messages(const lpt_comm_options &options) {
  const lpt_comm_emulation &link = *options.emulation;
  return (options.flags & (LPT_COMM_MESSAGES | LPT_COMM_CHECKSUMS)) != 0 || link.damaged_message != 0 ||
         link.link_latency_seconds > 0.0 || link.link_bytes_per_second > 0.0;
}

// Options that must be the same on all ranks: latency in ns as rows, bytes per second as columns.
Signature agreed_options(const lpt_comm_options &options) {
  const uint64_t choice = options.flags | (has_messages(options) ? LPT_COMM_MESSAGES : 0);
  const lpt_comm_emulation &link = *options.emulation;
  return {"comm_create", 0, std::llround(link.link_latency_seconds * 1e9), std::llround(link.link_bytes_per_second),
          static_cast<int64_t>(choice)};
}

// Makes a context for the progress thread, with the kernels and the allocator of `context`. It logs nothing.
Status make_worker(const Context &context, std::unique_ptr<Context> &out_worker) {
  auto worker = std::make_unique<Context>();
  worker->isa = context.isa;
  worker->machine = {.cpu = context.machine.cpu, .options = context.machine.options};
  worker->allocator = context.allocator;
  worker->host_scratch = std::make_unique<Arena>(context.allocator);
  worker->scratch = worker->host_scratch.get();
  worker->device_hooks = context.device_hooks;
  LPT_TRY(set_threads(*worker, 1));
  out_worker = std::move(worker);
  return {};
}

// Opens the device of the engine for the worker, with a separate stream.
Status open_worker_device(const Device &device, Comm &comm) {
  Context &worker = *comm.worker;
  LPT_TRY(open_device(worker, device, nullptr));
  LPT_TRY(worker.queue.make_stream(comm.stream));
  return set_stream(worker, comm.stream.get());
}

// Runs the collective on `worker`. An error is reported to the other ranks, since they wait for this one.
Status run_here(Comm &comm, Context &worker, const Collective &collective) {
  const auto begin = std::chrono::steady_clock::now();
  const SuppressProgress silence(worker);
  Status status;
  try {
    status = collective(worker, *comm.engine);
  } catch (const std::bad_alloc &) {
    status = Status(LPT_OUT_OF_MEMORY, "out of memory");
  }
  if (!status.is_ok()) comm.engine->interrupt(status.message().c_str());
  const std::lock_guard<std::mutex> lock(comm.mutex);
  comm.traffic = comm.engine->traffic();
  comm.collectives += status.is_ok() ? 1 : 0;
  comm.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return status;
}

std::shared_ptr<Completion> run_on_progress_thread(Comm &comm, Collective collective) {
  return comm.progress_thread.add([&comm, collective = std::move(collective)] {
    comm.worker->choices.clear();
    comm.worker->host_scratch->reset();
    return run_here(comm, *comm.worker, collective);
  });
}

// Collectives that are queued on a device.

Status queue_here(Context &context, Comm &comm, const Collective &collective) {
  LPT_TRY(comm.device_engine->begin(context.queue));
  LPT_TRY(run_here(comm, context, collective));
  return comm.device_engine->end();
}

// Queues the collective on the comm's stream, after the work that the context has queued.
Status queue_async(Context &context, Comm &comm, Collective collective, Future **out_future) {
  auto future = std::make_unique<Future>();
  Context &worker = *comm.worker;
  worker.choices.clear();
  worker.host_scratch->reset();
  worker.scratch->reset();
  Event ready;
  LPT_TRY(context.queue.make_event(ready));
  LPT_TRY(context.queue.record(ready));
  LPT_TRY(worker.queue.follow(ready));
  LPT_TRY(comm.device_engine->begin(worker.queue));
  LPT_TRY(run_here(comm, worker, collective));
  LPT_TRY(comm.device_engine->end(future->queued));
  future->keeps = [collective = std::move(collective)] {};
  *out_future = future.release();
  return {};
}

Status queue_collective(Context &context, Comm &comm, Collective collective, Future **out_future, DeviceSupport reach) {
  if (reach == DeviceSupport::kCpu) return check_on_cpus(comm);
  LPT_TRY(check_works_on(context, device_of(comm)));
  if (out_future == nullptr) return queue_here(context, comm, collective);
  return queue_async(context, comm, std::move(collective), out_future);
}

}  // namespace

Status make_comm(const Context &context, std::unique_ptr<Engine> engine, Comm **out_comm) {
  auto comm = std::make_unique<Comm>();
  LPT_TRY(make_worker(context, comm->worker));
  if (!engine->device().is_cpu()) {
    LPT_TRY(open_worker_device(engine->device(), *comm));
    comm->device_engine = static_cast<DeviceEngine *>(engine.get());
  }
  comm->engine = std::move(engine);
  *out_comm = comm.release();
  return {};
}

Status create_group(int32_t rank_count, CommGroup **out_group) {
  if (rank_count < 1 || rank_count > kMostRanks) {
    return invalid("rank_count is %d: expected 1 to %d", rank_count, kMostRanks);
  }
  auto group = std::make_unique<CommGroup>();
  group->group = std::make_shared<LocalGroup>(rank_count);
  *out_group = group.release();
  return {};
}

Status create_local_comm(Context &context, CommGroup &group, int32_t rank, const lpt_comm_options &options,
                         Comm **out_comm) {
  if (rank < 0 || rank >= group.group->ranks()) {
    return invalid("rank is %d: expected 0 to %d", rank, group.group->ranks() - 1);
  }
  LPT_TRY(check_options(options));
  LPT_TRY(group.group->take_slot(rank));
  auto local = std::make_unique<LocalEngine>(group.group, rank, engine_options(options));
  LPT_TRY(local->barrier(agreed_options(options)));
  if (!has_messages(options)) return make_comm(context, std::move(local), out_comm);
  std::unique_ptr<Endpoint> link = open_local_endpoint(local->hand_over(), rank, engine_options(options));
  return make_comm(
      context, std::make_unique<MessageEngine>(std::move(link), rank, group.group->ranks(), engine_options(options)),
      out_comm);
}

Status create_mpi_comm(Context &context, const int32_t *fortran_handle, const lpt_comm_options &options,
                       Comm **out_comm) {
  LPT_TRY(check_options(options));
  LPT_TRY(check_has_no_link(options));
  const lpt_transport_table *table = nullptr;
  LPT_TRY(find_mpi(&table));
  void *end = nullptr;
  int32_t rank = 0, ranks = 0, world_ranks = 0;
  LPT_TRY(Endpoint::call(table->open, fortran_handle, &end, &rank, &ranks, &world_ranks));
  auto endpoint = std::make_unique<Endpoint>(*table, end);
  LPT_TRY(check_world(*table, world_ranks));
  auto engine = std::make_unique<MessageEngine>(std::move(endpoint), rank, ranks, engine_options(options));
  LPT_TRY(engine->barrier(agreed_options(options)));
  return make_comm(context, std::move(engine), out_comm);
}

namespace {

// Rejects options that only messages support.
Status check_exchange_options(const CustomFunctions &functions, const lpt_comm_options &options) {
  if (!functions.has_exchange()) return {};
  const char *const given = (options.flags & LPT_COMM_CHECKSUMS) != 0 ? "options->flags has LPT_COMM_CHECKSUMS"
                            : options.emulation->damaged_message != 0 ? "options->emulation has a damaged message"
                                                                      : nullptr;
  if (given == nullptr) return {};
  return unsupported("%s: expected none, functions->exchange has no checksums", given);
}

}  // namespace

Status create_custom_comm(Context &context, std::shared_ptr<CustomFunctions> functions, int32_t rank,
                          int32_t rank_count, const lpt_comm_options &options, Comm **out_comm) {
  if (rank_count < 1 || rank_count > kMostRanks) {
    return invalid("rank_count is %d: expected 1 to %d", rank_count, kMostRanks);
  }
  if (rank < 0 || rank >= rank_count) return invalid("rank is %d: expected 0 to %d", rank, rank_count - 1);
  if (!context.queue.device().is_cpu()) {
    return unsupported("context works on %s: expected the CPU", device_text(context.queue.device()).c_str());
  }
  LPT_TRY(check_options(options));
  LPT_TRY(check_has_no_link(options));
  LPT_TRY(check_exchange_options(*functions, options));
  std::unique_ptr<Engine> engine;
  if (functions->has_messages()) {
    engine = std::make_unique<MessageEngine>(open_custom_endpoint(functions, rank, rank_count), rank, rank_count,
                                             engine_options(options));
  }
  if (functions->has_exchange() || functions->has_all_reduce()) {
    engine = std::make_unique<ExchangeEngine>(std::move(functions), std::move(engine), rank, rank_count,
                                              engine_options(options));
  }
  LPT_TRY(engine->barrier(agreed_options(options)));
  return make_comm(context, std::move(engine), out_comm);
}

Status split_comm(Context &context, Comm &comm, int32_t color, int32_t key, Comm **out_comm) {
  if (color < -1) return invalid("color is %d: expected at least 0, or -1 for no part", color);
  LPT_TRY(check_has_messages(comm));
  std::unique_ptr<Engine> part;
  LPT_TRY(run_collective(
      context, comm, [&](Context &, Engine &engine) { return engine.split(color, key, part); }, nullptr,
      DeviceSupport::kDevices));
  if (part == nullptr) {
    *out_comm = nullptr;
    return {};
  }
  return make_comm(context, std::move(part), out_comm);
}

lpt_comm_info comm_values(const Comm &comm) {
  lpt_comm_info values = LPT_COMM_INFO_INIT;
  values.rank = comm.engine->rank();
  values.rank_count = comm.engine->ranks();
  std::snprintf(values.engine, sizeof values.engine, "%s", comm.engine->name());
  const std::lock_guard<std::mutex> lock(comm.mutex);
  values.collectives = comm.collectives;
  values.bytes_sent = comm.traffic.bytes_sent;
  values.bytes_received = comm.traffic.bytes_received;
  values.seconds = comm.seconds;
  return values;
}

Status check_works_on(const Context &context, const Device &device) {
  if (context.queue.device() == device) return {};
  return invalid("context works on %s: expected %s, where the comm does", device_text(context.queue.device()).c_str(),
                 device_text(device).c_str());
}

Status check_has_messages(const Comm &comm) {
  if (comm.engine->has_messages()) return {};
  return unsupported("the transport %s has only exchange: expected send, receive, test and cancel",
                     comm.engine->name());
}

Status check_on_cpus(const Comm &comm) {
  if (device_of(comm).is_cpu()) return {};
  return unsupported("the comm works on %s: this call takes ranks on CPUs alone", device_text(device_of(comm)).c_str());
}

const Queue &queue_of(const Context &worker, const Engine &engine) {
  static const Queue cpu;
  return engine.device().is_cpu() ? cpu : worker.queue;
}

Status take_bytes(Context &worker, const Engine &engine, int64_t count, std::byte **out) {
  Arena &arena = engine.device().is_cpu() ? *worker.host_scratch : *worker.scratch;
  return arena.take(static_cast<size_t>(count), out);
}

Status take_space(Context &worker, const Engine &engine, int64_t count, Bytes &out_bytes) {
  out_bytes = {nullptr, count};
  if (engine.shares_memory() || count == 0) return {};
  return take_bytes(worker, engine, count, &out_bytes.data);
}

Status run_collective(Context &context, Comm &comm, Collective collective, Future **out_future, DeviceSupport reach) {
  if (comm.device_engine != nullptr) {
    return queue_collective(context, comm, std::move(collective), out_future, reach);
  }
  if (out_future != nullptr) {
    auto future = std::make_unique<Future>();
    future->completion = run_on_progress_thread(comm, std::move(collective));
    *out_future = future.release();
    return {};
  }
  if (comm.progress_thread.is_idle()) return run_here(comm, context, collective);
  return run_on_progress_thread(comm, std::move(collective))->wait();
}

Status wait_for(Context &context, Future &future) {
  if (future.queued == nullptr) return future.completion->wait();
  if (!(context.queue.device() == future.queued->device())) return future.queued->wait();
  LPT_TRY(context.queue.follow(future.queued->event()));
  context.queue.watch(future.queued);
  return {};
}

Status is_done(const Future &future, bool &out_is_done) {
  if (future.queued != nullptr) return future.queued->is_past(out_is_done);
  out_is_done = future.completion->is_complete();
  return {};
}

}  // namespace lpt
