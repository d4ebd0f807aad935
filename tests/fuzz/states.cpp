// The fuzz target of saved states: any bytes are loaded correctly or rejected, for any kind of state.
//
// The first byte selects the kind of handle and the use of the other bytes: as a state; as its payload with a matching header;
// or, in groups of three, as an index and a byte that replaces one of a valid state with a matching header.
#include "tests/api/states.hpp"

#include <cstdio>

namespace {

using lpt::states::Bytes;

Bytes state_of(const Bytes &good, unsigned how, const uint8_t *data, size_t size) {
  if (how == 0) return Bytes(data, data + size);
  if (how == 1) {
    Bytes state(good.begin(), good.begin() + lpt::states::kHeaderBytes);
    state.insert(state.end(), data, data + size);
    return lpt::states::resealed(state);
  }
  Bytes state = good;
  for (; size >= 3; data += 3, size -= 3) {
    const size_t place = (data[0] + size_t{256} * data[1]) % state.size();
    state[place] = data[2];
  }
  return lpt::states::resealed(state);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 0) return 0;
  const auto &kinds = lpt::states::holder_kinds();
  lpt::states::Ledger ledger;
  lpt_context *context = ledger.make_context();
  {
    const auto holder = kinds[data[0] % kinds.size()].make(context);
    const Bytes state = state_of(holder->save(), data[0] / kinds.size() % 3, data + 1, size - 1);
    const std::string problem = lpt::states::problem_of(*holder, ledger, state);
    if (!problem.empty()) {
      std::fprintf(stderr, "%s: %s\n", kinds[data[0] % kinds.size()].name, problem.c_str());
      std::abort();
    }
  }
  lpt_context_destroy(context);
  if (ledger.live_bytes != 0) std::abort();
  return 0;
}
