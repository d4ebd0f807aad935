// Collectives that copy tensors between ranks without arithmetic.
#include <algorithm>
#include <cstring>

#include "src/collective/collective.hpp"
#include "src/collective/gather.hpp"
#include "src/ranks/codec_reducing.hpp"
#include "src/ranks/segments.hpp"
#include "src/tensor/checks.hpp"

namespace lpt {
namespace {

// Segments that one exchange sends to and receives from each rank, and the tensors that own the memory.
struct TransferPlan {
  Signature signature;
  std::vector<SegmentList> outgoing, incoming;  // empty lists: no bytes
  Tensor input, output;
  bool has_one_scale = false;  // all received parts end with the same tensor scale
};

// Returns the bytes of segments as one run: in place if they are contiguous, otherwise copied to scratch.
Status contiguous_bytes(Context &worker, const Engine &engine, const SegmentList &segments, Bytes &out_bytes) {
  out_bytes = {segments.run(), segments.bytes()};
  if (out_bytes.data != nullptr || out_bytes.count == 0) return {};
  LPT_TRY(take_bytes(worker, engine, out_bytes.count, &out_bytes.data));
  return segments.copy_to(queue_of(worker, engine), out_bytes.data);
}

// Returns the receive buffer of segments: in place if they are contiguous, otherwise scratch. Shared memory needs no scratch.
Status place_of(Context &worker, Engine &engine, const SegmentList &segments, Bytes &out_bytes) {
  out_bytes = {segments.run(), segments.bytes()};
  if (engine.shares_memory() || out_bytes.data != nullptr || out_bytes.count == 0) return {};
  return take_bytes(worker, engine, out_bytes.count, &out_bytes.data);
}

// Compares the tensor scales of all parts, which are their last bytes. Runs before the output is written, with the same result
// on all ranks.
Status check_one_scale(const std::vector<Bytes> &parts) {
  const Bytes *first = nullptr;
  float expected = 0.0f, found = 0.0f;
  const auto scale_of = [](const Bytes &part, float &out_scale) {
    std::memcpy(&out_scale, part.data + part.count - sizeof out_scale, sizeof out_scale);
  };
  for (const Bytes &part : parts) {
    if (part.count == 0) continue;
    scale_of(part, found);
    if (first == nullptr) {
      first = &part;
      expected = found;
    }
    if (std::memcmp(&expected, &found, sizeof found) == 0) continue;
    return Status(LPT_MISMATCH, text("ranks disagree: the tensor scale of rank %lld is %.9g, that of rank %lld is %.9g",
                                     static_cast<long long>(first - parts.data()), static_cast<double>(expected),
                                     static_cast<long long>(&part - parts.data()), static_cast<double>(found)));
  }
  return {};
}

Status exchange_pieces(Context &worker, Engine &engine, const TransferPlan &moving) {
  const auto ranks = static_cast<size_t>(engine.ranks());
  std::vector<Bytes> outgoing(ranks), incoming(ranks);
  for (size_t q = 0; q < ranks; ++q) {
    // Often the same for all ranks.
    const bool is_same = q > 0 && moving.outgoing[q].is_same(moving.outgoing[q - 1]);
    if (is_same) {
      outgoing[q] = outgoing[q - 1];
    } else {
      LPT_TRY(contiguous_bytes(worker, engine, moving.outgoing[q], outgoing[q]));
    }
    LPT_TRY(place_of(worker, engine, moving.incoming[q], incoming[q]));
  }
  const auto self = static_cast<size_t>(engine.rank());
  incoming[self] = outgoing[self];
  const ExchangeGuard guard(engine);
  LPT_TRY(engine.all_to_all_v(moving.signature, outgoing.data(), incoming.data()));
  if (moving.has_one_scale) LPT_TRY(check_one_scale(incoming));
  const Queue &queue = queue_of(worker, engine);
  for (size_t q = 0; q < ranks; ++q) LPT_TRY(moving.incoming[q].copy_from(queue, incoming[q].data));
  return engine.release();
}

Status run_moving(Context &context, Comm &comm, TransferPlan moving, Future **out_future) {
  return run_collective(
      context, comm,
      [moving = std::move(moving)](Context &worker, Engine &engine) { return exchange_pieces(worker, engine, moving); },
      out_future, DeviceSupport::kDevices);
}

// Checks a tensor to transfer: dense, with adjacent columns, on the device of the comm.
Status check_moved(const Comm &comm, const Tensor *tensor, const char *name, MatrixView &out_view) {
  return check_any_matrix(tensor, name, true, out_view, device_of(comm));
}

// Checks a tensor whose parts are exchanged with several ranks: the scales of each part must be separate.
Status check_parted(const Comm &comm, const Tensor *tensor, const char *name, MatrixView &out_view) {
  LPT_TRY(check_moved(comm, tensor, name, out_view));
  if (!out_view.format.has_tensor_scale()) return {};
  return unsupported("%s is %s, whose parts share one scale: expected a format without one", name,
                     format_name(out_view.format.id).c_str());
}

Status check_like(const MatrixView &output, const MatrixView &input, bool is_columns) {
  if (output.format.id != input.format.id) {
    return invalid("output is %s: expected %s, as input", format_name(output.format.id).c_str(),
                   format_name(input.format.id).c_str());
  }
  if (is_columns || output.columns == input.columns) return {};
  return invalid("output has %lld columns: expected %lld, as input", number(output.columns), number(input.columns));
}

Status check_axes(const FirstAxis &input, const FirstAxis &output) {
  if (input.is_columns == output.is_columns &&
      (input.is_columns || input.fold == output.fold || input.extent == 0 || output.extent == 0)) {
    return {};
  }
  return invalid("output has another shape than input: expected the same extents behind the first axis");
}

// Returns the parts of a view along its first axis.
std::vector<SegmentList> parts_of(const FirstAxis &axis, const MatrixView &view, const std::vector<int64_t> &counts) {
  std::vector<SegmentList> parts;
  int64_t begin = 0;
  for (const int64_t count : counts) {
    parts.emplace_back(count == 0 ? SegmentList() : SegmentList(cut_first(axis, view, begin, count)));
    begin += count;
  }
  return parts;
}

Status check_peer(const Comm &comm, int32_t peer) {
  const int32_t ranks = comm.engine->ranks();
  if (peer < 0 || peer >= ranks || peer == comm.engine->rank()) {
    return invalid("peer is %d: expected another rank, 0 to %d", peer, ranks - 1);
  }
  return {};
}

Status check_mail(const Comm &comm, const Tensor *tensor, int32_t peer, int32_t tag, MatrixView &out_view) {
  LPT_TRY(check_has_messages(comm));
  LPT_TRY(check_moved(comm, tensor, "tensor", out_view));
  LPT_TRY(check_peer(comm, peer));
  return tag >= 0 && tag <= 32767 ? Status() : invalid("tag is %d: expected 0 to 32767", tag);
}

Signature signature_of(const char *operation, const MatrixView &view, int64_t choice) {
  return {operation, view.format.id, view.rows, view.columns, choice};
}

// Signature of collectives whose ranks own parts of different extents.
Signature parted_signature(const char *operation, const FirstAxis &axis, const MatrixView &view) {
  return {operation, view.format.id, 0, axis.is_columns ? 0 : view.columns, axis.is_columns ? 0 : axis.fold};
}

// On a device the hosts compare the scales before they queue transfers, and each waits for the scale of its part. Empty parts
// have no scale.
Status compare_scales(Context &context, Comm &comm, const GatherOperands &parts) {
  constexpr int64_t kBytes = sizeof(float);
  const auto ranks = parts.extents.size(), self = static_cast<size_t>(comm.engine->rank());
  std::vector<float> scales(ranks);
  LPT_TRY(check_works_on(context, device_of(comm)));
  LPT_TRY(context.queue.copy({&scales[self], kBytes, parts.from.tensor_scale, kBytes, kBytes, 1}));
  LPT_TRY(context.queue.synchronize());
  std::vector<Bytes> incoming;
  for (size_t q = 0; q < ranks; ++q) {
    incoming.push_back({reinterpret_cast<std::byte *>(&scales[q]), parts.extents[q] > 0 ? kBytes : 0});
  }
  const std::vector<Bytes> outgoing(ranks, incoming[self]);
  const auto exchange = [&](Context &, Engine &engine) -> Status {
    Engine &control = static_cast<DeviceEngine &>(engine).control();
    const ExchangeGuard guard(control);
    LPT_TRY(control.all_to_all_v(signature_of("all_gather, scales", parts.to, 0), outgoing.data(), incoming.data()));
    incoming[self] = outgoing[self];
    LPT_TRY(check_one_scale(incoming));
    return control.release();
  };
  return run_collective(context, comm, exchange, nullptr, DeviceSupport::kDevices);
}

}  // namespace

Status check_gather(const Comm &comm, const Tensor *input, const int64_t *counts, const Tensor *output,
                    GatherOperands &out_parts) {
  auto &[from, to, axis, extents] = out_parts;
  LPT_TRY(check_moved(comm, input, "input", from));
  LPT_TRY(check_moved(comm, output, "output", to));
  axis = first_axis_of(*output);
  const FirstAxis part = first_axis_of(*input);
  LPT_TRY(check_like(to, from, axis.is_columns));
  LPT_TRY(check_axes(part, axis));
  const int32_t ranks = comm.engine->ranks();
  LPT_TRY(find_counts("counts", counts, ranks, axis, to, "output", extents));
  const auto self = static_cast<size_t>(comm.engine->rank());
  if (part.extent != extents[self]) {
    return invalid("input has extent %lld along its first axis: expected %lld, the part of rank %zu",
                   number(part.extent), number(extents[self]), self);
  }
  int64_t begin = 0;
  for (size_t q = 0; q < self; ++q) begin += extents[q];
  if (extents[self] > 0) {
    const MatrixView place = cut_first(axis, to, begin, extents[self]);
    if (place.data != from.data) LPT_TRY(check_no_overlap(from, "input", to, "output"));
  }
  return {};
}

Status all_gather(Context &context, Comm &comm, const Tensor *input, const int64_t *counts, Tensor *output,
                  Future **out_future) {
  GatherOperands parts;
  LPT_TRY(check_gather(comm, input, counts, output, parts));
  const bool has_one_scale = parts.to.format.has_tensor_scale();
  if (has_one_scale && comm.device_engine != nullptr && comm.device_engine->compares()) {
    LPT_TRY(compare_scales(context, comm, parts));
  }
  const SegmentList mine(parts.from);
  TransferPlan moving{signature_of("all_gather", parts.to, 0),
                      std::vector<SegmentList>(parts.extents.size(), mine),
                      parts_of(parts.axis, parts.to, parts.extents),
                      *input,
                      *output,
                      has_one_scale && device_of(comm).is_cpu()};
  return run_moving(context, comm, std::move(moving), out_future);
}

Status all_gather_by_codec(Context &context, Comm &comm, const lpt_comm_codec &codec, const Tensor *input,
                           const int64_t *counts, Tensor *output, Future **out_future) {
  GatherOperands parts;
  LPT_TRY(check_gather(comm, input, counts, output, parts));
  LPT_TRY(check_wide_float(parts.from, "input"));
  if (parts.from.format.id == LPT_FORMAT_F64)
    return unsupported("input is f64: expected f32, bf16 or f16 with a codec");
  CodecPlan moving{};
  moving.input = parts.from;
  moving.output = parts.to;
  moving.rows = parts.to.rows;
  moving.columns = parts.to.columns;
  moving.shares = element_ranges(parts.axis, parts.to, parts.extents);
  LPT_TRY(prepare_codec(context, codec, "all_gather", moving));
  return run_collective(
      context, comm,
      [moving, from = *input, to = *output](Context &worker, Engine &engine) {
        return gather_by_codec(worker, engine, moving);
      },
      out_future);
}

Status broadcast(Context &context, Comm &comm, int32_t root, Tensor *tensor, Future **out_future) {
  MatrixView view;
  LPT_TRY(check_moved(comm, tensor, "tensor", view));
  const int32_t ranks = comm.engine->ranks();
  if (root < 0 || root >= ranks) return invalid("root is %d: expected 0 to %d", root, ranks - 1);
  const std::vector<SegmentList> nothing(static_cast<size_t>(ranks));
  TransferPlan moving{signature_of("broadcast", view, root), nothing, nothing, *tensor, *tensor};
  if (comm.engine->rank() == root) {
    std::fill(moving.outgoing.begin(), moving.outgoing.end(), SegmentList(view));
    moving.outgoing[static_cast<size_t>(root)] = SegmentList();
  } else {
    moving.incoming[static_cast<size_t>(root)] = SegmentList(view);
  }
  return run_moving(context, comm, std::move(moving), out_future);
}

Status all_to_all(Context &context, Comm &comm, const Tensor *input, const int64_t *send_counts,
                  const int64_t *receive_counts, Tensor *output, Future **out_future) {
  MatrixView from, to;
  LPT_TRY(check_parted(comm, input, "input", from));
  LPT_TRY(check_parted(comm, output, "output", to));
  const FirstAxis send_axis = first_axis_of(*input), receive_axis = first_axis_of(*output);
  LPT_TRY(check_like(to, from, send_axis.is_columns));
  LPT_TRY(check_axes(send_axis, receive_axis));
  std::vector<int64_t> sent, received;
  const int32_t ranks = comm.engine->ranks();
  LPT_TRY(find_counts("send_counts", send_counts, ranks, send_axis, from, "input", sent));
  LPT_TRY(find_counts("receive_counts", receive_counts, ranks, receive_axis, to, "output", received));
  const auto self = static_cast<size_t>(comm.engine->rank());
  if (sent[self] != received[self]) {
    return invalid("receive_counts[%zu] is %lld: expected %lld, what this rank sends to itself", self,
                   number(received[self]), number(sent[self]));
  }
  LPT_TRY(check_no_overlap(from, "input", to, "output"));
  TransferPlan moving{parted_signature("all_to_all", send_axis, from), parts_of(send_axis, from, sent),
                      parts_of(receive_axis, to, received), *input, *output};
  return run_moving(context, comm, std::move(moving), out_future);
}

Status send(Context &context, Comm &comm, const Tensor *tensor, int32_t peer, int32_t tag, Future **out_future) {
  MatrixView view;
  LPT_TRY(check_mail(comm, tensor, peer, tag, view));
  return run_collective(
      context, comm,
      [view, peer, tag, owner = *tensor](Context &worker, Engine &engine) -> Status {
        Bytes bytes;
        LPT_TRY(contiguous_bytes(worker, engine, SegmentList(view), bytes));
        return engine.send(signature_of("send", view, 0), peer, tag, bytes);
      },
      out_future, DeviceSupport::kDevices);
}

Status receive(Context &context, Comm &comm, Tensor *tensor, int32_t peer, int32_t tag, Future **out_future) {
  MatrixView view;
  LPT_TRY(check_mail(comm, tensor, peer, tag, view));
  return run_collective(
      context, comm,
      [view, peer, tag, owner = *tensor](Context &worker, Engine &engine) -> Status {
        const SegmentList segments(view);
        Bytes bytes{segments.run(), segments.bytes()};
        const bool is_copied = bytes.data == nullptr && bytes.count > 0;
        if (is_copied) LPT_TRY(take_bytes(worker, engine, bytes.count, &bytes.data));
        LPT_TRY(engine.receive(signature_of("send", view, 0), peer, tag, bytes));
        return is_copied ? segments.copy_from(queue_of(worker, engine), bytes.data) : Status();
      },
      out_future, DeviceSupport::kDevices);
}

}  // namespace lpt
