#include "src/gemm/library.hpp"

#include "src/call/launch.hpp"

namespace lpt {
namespace {

constexpr size_t kMostPrepared = 1024;  // some kB each; all are released at this limit
constexpr size_t kErrorBytes = 512;

// Calls a function of the library while the device is the current device of the thread.
template <typename Call>
Status call(const Queue &queue, const char *name, const Call &function) {
  char error[kErrorBytes] = "";
  int32_t code = LPT_OK;
  LPT_TRY(queue.run(name, [&] { code = function(error, sizeof error); }));
  return code == LPT_OK ? Status() : Status(code, error);
}

LibrarySession *session_of(Context &context, const char *family, std::shared_ptr<LibrarySession> &session) {
  if (session != nullptr) return session.get();
  for (const DeviceFamily &known : context.queue.families()) {
    if (std::strcmp(known.name, family) != 0 || known.entry_bytes != sizeof(GemmLibrary)) continue;
    session = std::make_shared<LibrarySession>(context.queue, *static_cast<const GemmLibrary *>(known.entries),
                                               context.machine.options.tunes_library);
  }
  return session.get();
}

}  // namespace

LibrarySession::LibrarySession(const Queue &queue, const GemmLibrary &library, bool is_tuned)
    : queue_(queue), library_(library), is_tuned_(is_tuned) {
  const Status status = call(queue_, library_.name, [&](char *error, size_t bytes) {
    return library_.open(&session_, &version_, error, bytes);
  });
  if (status.is_ok()) return;
  session_ = nullptr;
  reason_ = status.message();
}

LibrarySession::~LibrarySession() {
  if (session_ == nullptr) return;
  const Status unheard = queue_.run(library_.name, [&] {
    forget_all();
    library_.close(session_);
  });
  static_cast<void>(unheard);  // a destructor cannot report an error
}

void LibrarySession::forget_all() {
  for (const auto &[gemm, prepared] : prepared_) {
    if (prepared.gemm != nullptr) library_.release(prepared.gemm);
  }
  prepared_.clear();
}

Status LibrarySession::prepare(const LibraryGemm &gemm, Prepared **out_prepared) {
  auto known = prepared_.find(gemm);
  if (known == prepared_.end()) {
    if (prepared_.size() >= kMostPrepared) forget_all();
    Prepared made;
    const Status status = call(queue_, library_.name, [&](char *error, size_t bytes) {
      return library_.prepare(session_, &gemm, &made.gemm, &made.workspace_bytes, error, bytes);
    });
    if (!status.is_ok() && status.code() != LPT_UNSUPPORTED) return status;
    known = prepared_.emplace(gemm, made).first;
  }
  *out_prepared = &known->second;
  return {};
}

Status LibrarySession::run(const Queue &queue, const char *kernel, const LibraryGemm &gemm, Prepared &prepared,
                           const LibraryAddresses &addresses) {
  if (is_tuned_ && library_.tune != nullptr && !prepared.is_tuned && !gemm.reads_c) {
    LPT_TRY(call(queue, kernel, [&](char *error, size_t bytes) {
      return library_.tune(session_, prepared.gemm, &addresses, queue.stream(), error, bytes);
    }));
    prepared.is_tuned = true;
  }
  return call(queue, kernel, [&](char *error, size_t bytes) {
    return library_.run(session_, prepared.gemm, &addresses, queue.stream(), error, bytes);
  });
}

LibrarySession *library_of(Context &context) { return session_of(context, "gemm_library", context.gemm_library); }

LibrarySession *sparse_library_of(Context &context) {
  return session_of(context, "gemm_sparse_library", context.gemm_sparse_library);
}

}  // namespace lpt
