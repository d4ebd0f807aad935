// A session of a vendor library of GEMMs, for one context. Prepared GEMMs are cached for later calls.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "kernels/gemm/library.hpp"
#include "src/call/context.hpp"

namespace lpt {

class LibrarySession {
 public:
  // If the library is missing, reason() is not nullptr and no GEMM is run.
  LibrarySession(const Queue &queue, const GemmLibrary &library, bool is_tuned);
  ~LibrarySession();
  LibrarySession(const LibrarySession &) = delete;
  LibrarySession &operator=(const LibrarySession &) = delete;

  const char *name() const { return library_.name; }
  const char *reason() const { return session_ == nullptr ? reason_.c_str() : nullptr; }
  int64_t version() const { return version_; }

  struct Prepared {
    void *gemm = nullptr;  // NULL: the library cannot run it
    size_t workspace_bytes = 0;
    bool is_tuned = false;
  };

  Status prepare(const LibraryGemm &gemm, Prepared **out_prepared);

  // Queues the GEMM on the stream of the context. If the session is tuned, the first call measures all algorithms and waits
  // for each.
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

// Returns the session of the context; NULL if the plugin of its device has no library.
LibrarySession *library_of(Context &context);

// Returns the session for 2:4 operands, or NULL.
LibrarySession *sparse_library_of(Context &context);

}  // namespace lpt
