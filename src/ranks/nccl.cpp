// Comms of ranks with one GPU each: bootstrap and connection.
#include <cstring>

#include "lpt/research/emulation.h"
#include "src/call/operation.hpp"
#include "src/comm/endpoint.hpp"
#include "src/ranks/comm.hpp"

namespace lpt {
namespace {

Status check_nccl_options(const lpt_comm_options &options) {
  LPT_TRY(check_flags("options->flags", options.flags, LPT_COMM_SKIP_CHECKS));
  LPT_TRY(check_finite("options->timeout_seconds", options.timeout_seconds, 0.0, 1e9));
  const lpt_comm_emulation &link = *options.emulation;
  const char *const given = link.link_latency_seconds != 0.0    ? "link_latency_seconds"
                            : link.link_bytes_per_second != 0.0 ? "link_bytes_per_second"
                            : link.damaged_message != 0         ? "damaged_message"
                                                                : nullptr;
  if (given == nullptr) return {};
  return unsupported("options->emulation->%s is set: expected 0, it is for ranks on CPUs", given);
}

Status check_place(const Context &context, const Comm *bootstrap, const void *communicator) {
  if (context.queue.wire() == nullptr) {
    return invalid("context works on %s: expected an NVIDIA GPU", device_text(context.queue.device()).c_str());
  }
  if (bootstrap == nullptr && communicator == nullptr) {
    return invalid("options->bootstrap is NULL: expected a comm of the same ranks on CPUs");
  }
  if (bootstrap == nullptr) return {};
  if (device_of(*bootstrap).is_cpu()) return check_has_messages(*bootstrap);
  return invalid("options->bootstrap works on %s: expected ranks on CPUs", device_text(device_of(*bootstrap)).c_str());
}

// Data that ranks exchange before they connect their GPUs.
struct BootstrapInfo {
  int32_t code = LPT_OK;
  char words[380] = "";
  uint8_t id[DeviceTransport::kIdBytes] = {};  // of rank 0
};

BootstrapInfo make_bootstrap_info(const DeviceTransport &wire, int32_t rank) {
  BootstrapInfo mine;
  Status status = Endpoint::call(wire.check);
  if (status.is_ok() && rank == 0) status = Endpoint::call(wire.make_id, mine.id);
  mine.code = status.code();
  std::snprintf(mine.words, sizeof mine.words, "%s", status.message().c_str());
  return mine;
}

// Exchanges the bootstrap data. If ranks are not ready, all ranks fail with the text of the first of them.
Status share_readiness(Engine &control, BootstrapInfo &mine) {
  std::vector<BootstrapInfo> all(static_cast<size_t>(control.ranks()), mine);
  const auto bytes_of = [](BootstrapInfo &one) { return Bytes{reinterpret_cast<std::byte *>(&one), sizeof one}; };
  const std::vector<Bytes> outgoing(all.size(), bytes_of(mine));
  std::vector<Bytes> incoming;
  for (BootstrapInfo &theirs : all) incoming.push_back(bytes_of(theirs));
  const ExchangeGuard guard(control);
  LPT_TRY(control.all_to_all_v({"comm_create_nccl", 0, 0, 0, 0}, outgoing.data(), incoming.data()));
  for (size_t q = 0; q < all.size(); ++q) std::memcpy(&all[q], incoming[q].data, sizeof all[q]);
  LPT_TRY(control.release());
  for (size_t q = 0; q < all.size(); ++q) {
    if (all[q].code != LPT_OK) return Status(all[q].code, text("rank %zu: %s", q, all[q].words));
  }
  std::memcpy(mine.id, all[0].id, sizeof mine.id);
  return {};
}

struct DeviceRankInfo {
  void *end = nullptr;
  int32_t rank = 0, ranks = 1;
};

Status open_own(const Queue &queue, Engine &control, double seconds, DeviceRankInfo &out_place) {
  const DeviceTransport &wire = *queue.wire();
  BootstrapInfo mine = make_bootstrap_info(wire, control.rank());
  LPT_TRY(share_readiness(control, mine));
  out_place.rank = control.rank();
  out_place.ranks = control.ranks();
  const uint8_t *const id = mine.id;
  return Endpoint::call(wire.open, queue.device().index, id, out_place.rank, out_place.ranks, seconds, &out_place.end);
}

Status adopt(const Queue &queue, void *communicator, DeviceRankInfo &out_place) {
  const DeviceTransport &wire = *queue.wire();
  LPT_TRY(Endpoint::call(wire.check));
  return Endpoint::call(wire.adopt, queue.device().index, communicator, &out_place.end, &out_place.rank,
                        &out_place.ranks);
}

Status check_same_ranks(const Engine *control, const DeviceRankInfo &place) {
  if (control == nullptr || (control->rank() == place.rank && control->ranks() == place.ranks)) return {};
  return invalid("nccl_comm has rank %d of %d: expected %d of %d, as options->bootstrap", place.rank, place.ranks,
                 control->rank(), control->ranks());
}

// The other ranks wait for this rank meanwhile: the caller reports an error to them.
Status connect_devices(const Context &context, Engine *control, void *communicator, const lpt_comm_options &options,
                       std::shared_ptr<DeviceEndpoint> &out_end, DeviceRankInfo &out_place) {
  LPT_TRY(communicator == nullptr ? open_own(context.queue, *control, options.timeout_seconds, out_place)
                                  : adopt(context.queue, communicator, out_place));
  out_end = std::make_shared<DeviceEndpoint>(context.queue, out_place.end, options.timeout_seconds);
  LPT_TRY(check_same_ranks(control, out_place));
  if (control == nullptr) return {};
  return control->barrier(
      {"comm_create_nccl, all there", 0, 0, communicator == nullptr ? 0 : 1, static_cast<int64_t>(options.flags)});
}

}  // namespace

Status create_nccl_comm(Context &context, void *communicator, const lpt_comm_options &options, Comm **out_comm) {
  Comm *const bootstrap = options.bootstrap;
  LPT_TRY(check_nccl_options(options));
  LPT_TRY(check_place(context, bootstrap, communicator));
  std::unique_ptr<Engine> control;
  if (bootstrap != nullptr) {
    LPT_TRY(run_collective(
        context, *bootstrap, [&](Context &, Engine &engine) { return engine.split(0, 0, control); }, nullptr));
  }
  std::shared_ptr<DeviceEndpoint> end;
  DeviceRankInfo place;
  const Status status = connect_devices(context, control.get(), communicator, options, end, place);
  if (!status.is_ok()) {
    if (control != nullptr) control->interrupt(status.message().c_str());
    return status;
  }
  if ((options.flags & LPT_COMM_SKIP_CHECKS) != 0) control.reset();
  return make_comm(context, std::make_unique<DeviceEngine>(end, std::move(control), place.rank, place.ranks), out_comm);
}

}  // namespace lpt
