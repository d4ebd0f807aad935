#include "src/api/reduce_options.hpp"

using namespace lpt;

namespace {

// Checks the comm, reads the options of a reduction, and runs body(context, comm, options).
template <typename Body>
lpt_status reduce(lpt_context *context, lpt_comm *comm, const lpt_reduce_options *options, const Body &body) {
  return guard(context, [&](Context &self) -> Status {
    OwnedReduceOptions known;
    LPT_TRY(read_reduce_options(options, "options", known));
    LPT_TRY(check_handle(comm, HandleKind::kComm, "comm"));
    return body(self, *comm, known.values);
  });
}

template <typename Body>
lpt_status move(lpt_context *context, lpt_comm *comm, const Body &body) {
  return guard(context, [&](Context &self) -> Status {
    LPT_TRY(check_handle(comm, HandleKind::kComm, "comm"));
    return body(self, *comm);
  });
}

}  // namespace

lpt_status lpt_barrier(lpt_context *context, lpt_comm *comm) {
  return move(context, comm, [&](Context &self, Comm &ours) { return barrier(self, ours); });
}

lpt_status lpt_all_reduce(lpt_context *context, lpt_comm *comm, const lpt_tensor *input,
                          const lpt_reduce_options *options, lpt_tensor *output, lpt_future **out_future) {
  return reduce(context, comm, options, [&](Context &self, Comm &ours, const lpt_reduce_options &known) -> Status {
    LPT_TRY(check_writable(output, "output"));
    return all_reduce(self, ours, input, known, output, out_future);
  });
}

lpt_status lpt_all_reduce_many(lpt_context *context, lpt_comm *comm, lpt_tensor *const *tensors, int64_t count,
                               const lpt_reduce_options *options, lpt_future **out_future) {
  return reduce(context, comm, options, [&](Context &self, Comm &ours, const lpt_reduce_options &known) -> Status {
    LPT_TRY(check_writable(tensors, count, "tensors"));
    return all_reduce_many(self, ours, tensors, count, known, out_future);
  });
}

lpt_status lpt_comm_compare(lpt_context *context, lpt_comm *comm, const lpt_tensor *tensor, int32_t *out_is_same) {
  return move(context, comm, [&](Context &self, Comm &ours) -> Status {
    LPT_TRY(check_out(out_is_same, "out_is_same"));
    bool is_same = false;
    LPT_TRY(compare_over_ranks(self, ours, tensor, is_same));
    *out_is_same = is_same ? 1 : 0;
    return {};
  });
}

lpt_status lpt_reduce_scatter(lpt_context *context, lpt_comm *comm, const lpt_tensor *input, const int64_t *counts,
                              const lpt_reduce_options *options, lpt_tensor *output, lpt_future **out_future) {
  return reduce(context, comm, options, [&](Context &self, Comm &ours, const lpt_reduce_options &known) -> Status {
    LPT_TRY(check_writable(output, "output"));
    return reduce_scatter(self, ours, input, counts, known, output, out_future);
  });
}

lpt_status lpt_all_gather(lpt_context *context, lpt_comm *comm, const lpt_tensor *input, const int64_t *counts,
                          const lpt_all_gather_options *options, lpt_tensor *output, lpt_future **out_future) {
  return move(context, comm, [&](Context &self, Comm &ours) -> Status {
    lpt_all_gather_options known = LPT_ALL_GATHER_OPTIONS_INIT;
    lpt_comm_codec codec = LPT_COMM_CODEC_INIT;
    LPT_TRY(check_writable(output, "output"));
    LPT_TRY(read_options(options, "options", known));
    if (known.flags != 0) return unsupported("flags is %llu: expected 0", static_cast<unsigned long long>(known.flags));
    if (known.codec != nullptr && known.cast != nullptr) {
      return invalid("options->codec and options->cast are set: expected one of them");
    }
    if (known.cast != nullptr) {
      lpt_quantize_options cast = LPT_QUANTIZE_OPTIONS_INIT;
      LPT_TRY(read_options(known.cast, "options->cast", cast));
      return all_gather_with_cast(self, ours, cast, input, counts, output, out_future);
    }
    if (known.codec == nullptr) return all_gather(self, ours, input, counts, output, out_future);
    LPT_TRY(read_options(known.codec, "options->codec", codec));
    return all_gather_by_codec(self, ours, codec, input, counts, output, out_future);
  });
}

lpt_status lpt_broadcast(lpt_context *context, lpt_comm *comm, int32_t root, lpt_tensor *tensor,
                         lpt_future **out_future) {
  return move(context, comm, [&](Context &self, Comm &ours) -> Status {
    LPT_TRY(check_writable(tensor, "tensor"));
    return broadcast(self, ours, root, tensor, out_future);
  });
}

lpt_status lpt_all_to_all(lpt_context *context, lpt_comm *comm, const lpt_tensor *input, const int64_t *send_counts,
                          const int64_t *receive_counts, lpt_tensor *output, lpt_future **out_future) {
  return move(context, comm, [&](Context &self, Comm &ours) -> Status {
    LPT_TRY(check_writable(output, "output"));
    return all_to_all(self, ours, input, send_counts, receive_counts, output, out_future);
  });
}

lpt_status lpt_all_reduce_signs(lpt_context *context, lpt_comm *comm, const lpt_tensor *input, lpt_tensor *worker_error,
                                lpt_tensor *server_error, lpt_tensor *output, lpt_future **out_future) {
  return move(context, comm, [&](Context &self, Comm &ours) -> Status {
    LPT_TRY(check_writable(worker_error, "worker_error"));
    LPT_TRY(check_writable(server_error, "server_error"));
    LPT_TRY(check_writable(output, "output"));
    return all_reduce_signs(self, ours, input, worker_error, server_error, output, out_future);
  });
}

lpt_status lpt_all_reduce_signs_share(lpt_context *context, const lpt_comm *comm, int64_t element_count,
                                      int64_t *out_element_count) {
  return guard(context, [&](Context &) -> Status {
    LPT_TRY(check_handle(comm, HandleKind::kComm, "comm"));
    LPT_TRY(check_out(out_element_count, "out_element_count"));
    return signs_share(*comm, element_count, out_element_count);
  });
}

lpt_status lpt_send(lpt_context *context, lpt_comm *comm, const lpt_tensor *tensor, int32_t peer, int32_t tag,
                    lpt_future **out_future) {
  return move(context, comm,
              [&](Context &self, Comm &ours) { return send(self, ours, tensor, peer, tag, out_future); });
}

lpt_status lpt_receive(lpt_context *context, lpt_comm *comm, lpt_tensor *tensor, int32_t peer, int32_t tag,
                       lpt_future **out_future) {
  return move(context, comm, [&](Context &self, Comm &ours) -> Status {
    LPT_TRY(check_writable(tensor, "tensor"));
    return receive(self, ours, tensor, peer, tag, out_future);
  });
}
