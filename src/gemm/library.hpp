// A vendor's library of GEMMs, opened for one context. What it prepared for a GEMM is kept for the next call.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "kernels/gemm/library.hpp"
#include "src/call/context.hpp"

namespace lpt {

class LibrarySession {
 public:
  // The library may be missing: then every GEMM is rejected with reason().
  LibrarySession(const Queue &queue, const GemmLibrary &library, bool is_tuned);
  ~LibrarySession();
  LibrarySession(const LibrarySession &) = delete;
  LibrarySession &operator=(const LibrarySession &) = delete;

  const char *name() const { return library_.name; }
  const char *reason() const { return session_ == nullptr ? reason_.c_str() : nullptr; }
  int64_t version() const { return version_; }

  struct Prepared {
    void *gemm = nullptr;  // NULL: the library has no way to run it
    size_t workspace_bytes = 0;
    bool is_tuned = false;
  };

  Status prepare(const LibraryGemm &gemm, Prepared **out_prepared);

  // Queues it on the context's stream. If the session is tuned, the first call times all ways, and waits for each.
  Status run(const Queue &queue, const char *kernel, const LibraryGemm &gemm, Prepared &prepared,
             const LibraryAddresses &addresses);

 private:
  void forget_all();

  const Queue queue_;  // of the device
  const GemmLibrary &library_;
  const bool is_tuned_;
  void *session_ = nullptr;
  int64_t version_ = 0;
  std::string reason_;
  std::map<LibraryGemm, Prepared> prepared_;
};

// The context's session; NULL: its device's plugin brings no library.
LibrarySession *library_of(Context &context);

// Likewise the one for 2:4 operands.
LibrarySession *sparse_library_of(Context &context);

}  // namespace lpt
