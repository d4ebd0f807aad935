#include "src/comm/agreement.hpp"

#include <algorithm>
#include <cstring>

#include "src/formats/format.hpp"

namespace lpt {
namespace {

std::string words(const Signature &signature) {
  return text("%s of %lld x %lld %s (%lld)", signature.operation, static_cast<long long>(signature.rows),
              static_cast<long long>(signature.columns), format_name(signature.format).c_str(),
              static_cast<long long>(signature.choice));
}

}  // namespace

std::string describe_mismatch(int32_t rank, const Signature &mine, int32_t peer, const Signature &theirs) {
  if (std::strcmp(mine.operation, theirs.operation) == 0 && mine.format == theirs.format && mine.rows == theirs.rows &&
      mine.columns == theirs.columns && mine.choice == theirs.choice) {
    return {};
  }
  return text("ranks disagree: rank %d calls %s, rank %d %s", rank, words(mine).c_str(), peer, words(theirs).c_str());
}

std::string describe_mismatch(int32_t rank, const char *operation, int64_t expected, int32_t peer, int64_t sent) {
  if (expected == sent) return {};
  return text("ranks disagree: %s sends %lld bytes from rank %d to rank %d, which expects %lld", operation,
              static_cast<long long>(sent), peer, rank, static_cast<long long>(expected));
}

std::vector<int32_t> ranks_of_part(const std::vector<SplitKey> &keys, int32_t color) {
  std::vector<int32_t> ranks;
  for (size_t i = 0; i < keys.size(); ++i) {
    if (keys[i].color == color) ranks.push_back(static_cast<int32_t>(i));
  }
  std::stable_sort(ranks.begin(), ranks.end(), [&](int32_t a, int32_t b) {
    return keys[static_cast<size_t>(a)].key < keys[static_cast<size_t>(b)].key;
  });
  return ranks;
}

int32_t place_in_part(const std::vector<int32_t> &part, int32_t rank) {
  return static_cast<int32_t>(std::find(part.begin(), part.end(), rank) - part.begin());
}

}  // namespace lpt
