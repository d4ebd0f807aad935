// Reads options of reductions with the structs that they point to.
#pragma once

#include "src/api/guard.hpp"
#include "src/collective/collective.hpp"

namespace lpt {

inline Status read_reduce_options(const lpt_reduce_options *given, const std::string &name, OwnedReduceOptions &out,
                                  int32_t levels = 8) {
  LPT_TRY(read_options(given, name.c_str(), out.values));
  if (out.values.codec != nullptr) {
    lpt_comm_codec codec = LPT_COMM_CODEC_INIT;
    LPT_TRY(read_options(out.values.codec, (name + "->codec").c_str(), codec));
    out.codec = std::make_shared<lpt_comm_codec>(codec);
    out.values.codec = out.codec.get();
  }
  if (out.values.outer_comm != nullptr) {
    LPT_TRY(check_handle(out.values.outer_comm, HandleKind::kComm, (name + "->outer_comm").c_str()));
  }
  if (out.values.outer == nullptr) return {};
  if (levels == 1) return invalid("%s->outer is set: expected at most 8 levels", name.c_str());
  auto outer = std::make_shared<OwnedReduceOptions>();
  LPT_TRY(read_reduce_options(out.values.outer, name + "->outer", *outer, levels - 1));
  out.values.outer = &outer->values;
  out.outer = std::move(outer);
  return {};
}

}  // namespace lpt
