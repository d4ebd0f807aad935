#include "src/ranks/comm.hpp"

#include <cstddef>

#include "lpt/research/emulation.h"
#include "src/api/guard.hpp"

using namespace lpt;

namespace {

// The options, with defaults for members that the struct of the caller lacks. `emulation` is never NULL.
struct KnownCommOptions {
  lpt_comm_options comm = LPT_COMM_OPTIONS_INIT;
  lpt_comm_emulation emulation = LPT_COMM_EMULATION_INIT;

  Status read(const lpt_comm_options *options) {
    LPT_TRY(read_options(options, "options", comm));
    LPT_TRY(read_options(comm.emulation, "options->emulation", emulation));
    comm.emulation = &emulation;
    return comm.bootstrap == nullptr ? Status() : check_handle(comm.bootstrap, HandleKind::kComm, "options->bootstrap");
  }
};

// Calls close() in its destructor unless a comm has taken ownership of the functions.
class FunctionsGuard {
 public:
  FunctionsGuard(const lpt_comm_functions *functions, void *user) : user_(user) {
    constexpr size_t kEnd = offsetof(lpt_comm_functions, close) + sizeof functions->close;
    const bool is_readable =
        functions != nullptr && functions->struct_size >= kEnd && functions->struct_size <= kMostStructBytes;
    if (is_readable) close_ = functions->close;
  }
  FunctionsGuard(const FunctionsGuard &) = delete;
  FunctionsGuard &operator=(const FunctionsGuard &) = delete;
  ~FunctionsGuard() {
    if (close_ != nullptr) close_(user_);
  }

  void set_taken() { close_ = nullptr; }

 private:
  void *const user_;
  void (*close_)(void *user) = nullptr;
};

}  // namespace

lpt_status lpt_comm_group_create(lpt_context *context, int32_t rank_count, lpt_comm_group **out_group) {
  return guard_optional(context, [&]() -> Status {
    LPT_TRY(check_out(out_group, "out_group"));
    return create_group(rank_count, out_group);
  });
}

void lpt_comm_group_abort(lpt_comm_group *group) {
  if (group == nullptr || group->kind != HandleKind::kCommGroup) return;
  group->group->abort_all(make_last_status(LPT_ABORTED, [] { return "the group was aborted"; }));
}

void lpt_comm_group_destroy(lpt_comm_group *group) { destroy(group, HandleKind::kCommGroup); }

lpt_status lpt_comm_create_local(lpt_context *context, lpt_comm_group *group, int32_t rank,
                                 const lpt_comm_options *options, lpt_comm **out_comm) {
  return guard(context, [&](Context &self) -> Status {
    KnownCommOptions known;
    LPT_TRY(known.read(options));
    LPT_TRY(check_handle(group, HandleKind::kCommGroup, "group"));
    LPT_TRY(check_out(out_comm, "out_comm"));
    return create_local_comm(self, *group, rank, known.comm, out_comm);
  });
}

lpt_status lpt_comm_create_mpi(lpt_context *context, const lpt_comm_options *options, lpt_comm **out_comm) {
  return guard(context, [&](Context &self) -> Status {
    KnownCommOptions known;
    LPT_TRY(known.read(options));
    LPT_TRY(check_out(out_comm, "out_comm"));
    return create_mpi_comm(self, nullptr, known.comm, out_comm);
  });
}

lpt_status lpt_comm_adopt_mpi(lpt_context *context, int32_t fortran_handle, const lpt_comm_options *options,
                              lpt_comm **out_comm) {
  return guard(context, [&](Context &self) -> Status {
    KnownCommOptions known;
    LPT_TRY(known.read(options));
    LPT_TRY(check_out(out_comm, "out_comm"));
    return create_mpi_comm(self, &fortran_handle, known.comm, out_comm);
  });
}

lpt_status lpt_comm_create_nccl(lpt_context *context, const lpt_comm_options *options, lpt_comm **out_comm) {
  return guard(context, [&](Context &self) -> Status {
    KnownCommOptions known;
    LPT_TRY(known.read(options));
    LPT_TRY(check_out(out_comm, "out_comm"));
    return create_nccl_comm(self, nullptr, known.comm, out_comm);
  });
}

lpt_status lpt_comm_adopt_nccl(lpt_context *context, void *nccl_comm, const lpt_comm_options *options,
                               lpt_comm **out_comm) {
  return guard(context, [&](Context &self) -> Status {
    KnownCommOptions known;
    LPT_TRY(known.read(options));
    if (nccl_comm == nullptr) return invalid("nccl_comm is NULL: expected an ncclComm_t");
    LPT_TRY(check_out(out_comm, "out_comm"));
    return create_nccl_comm(self, nccl_comm, known.comm, out_comm);
  });
}

lpt_status lpt_comm_create_custom(lpt_context *context, const lpt_comm_functions *functions, void *user, int32_t rank,
                                  int32_t rank_count, const lpt_comm_options *options, lpt_comm **out_comm) {
  FunctionsGuard untaken(functions, user);
  return guard(context, [&](Context &self) -> Status {
    KnownCommOptions known;
    lpt_comm_functions known_functions = LPT_COMM_FUNCTIONS_INIT;
    LPT_TRY(known.read(options));
    if (functions == nullptr) return invalid("functions is NULL: expected a lpt_comm_functions");
    LPT_TRY(read_options(functions, "functions", known_functions));
    LPT_TRY(check_functions(known_functions));
    LPT_TRY(check_out(out_comm, "out_comm"));
    auto taken = std::make_shared<CustomFunctions>(known_functions, user);
    untaken.set_taken();
    return create_custom_comm(self, std::move(taken), rank, rank_count, known.comm, out_comm);
  });
}

lpt_status lpt_comm_split(lpt_context *context, lpt_comm *comm, int32_t color, int32_t key, lpt_comm **out_comm) {
  return guard(context, [&](Context &self) -> Status {
    LPT_TRY(check_handle(comm, HandleKind::kComm, "comm"));
    LPT_TRY(check_out(out_comm, "out_comm"));
    return split_comm(self, *comm, color, key, out_comm);
  });
}

void lpt_comm_destroy(lpt_comm *comm) { destroy(comm, HandleKind::kComm); }

lpt_status lpt_comm_read(lpt_context *context, const lpt_comm *comm, lpt_comm_info *out_info) {
  return guard(context, [&](Context &) -> Status {
    LPT_TRY(check_handle(comm, HandleKind::kComm, "comm"));
    return write_values(comm_values(*comm), "out_info", out_info);
  });
}

lpt_status lpt_future_wait(lpt_context *context, lpt_future *future) {
  return guard(context, [&](Context &self) -> Status {
    LPT_TRY(check_handle(future, HandleKind::kFuture, "future"));
    return wait_for(self, *future);
  });
}

lpt_status lpt_future_is_done(lpt_context *context, const lpt_future *future, int32_t *out_is_done) {
  return guard(context, [&](Context &) -> Status {
    LPT_TRY(check_handle(future, HandleKind::kFuture, "future"));
    LPT_TRY(check_out(out_is_done, "out_is_done"));
    bool has_ended = false;
    LPT_TRY(is_done(*future, has_ended));
    *out_is_done = has_ended ? 1 : 0;
    return {};
  });
}

void lpt_future_destroy(lpt_future *future) { destroy(future, HandleKind::kFuture); }
