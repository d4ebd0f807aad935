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

CountTable make_count_table(int32_t rank, int32_t ranks, const Bytes *outgoing, const Bytes *incoming) {
  const auto count = static_cast<size_t>(ranks), self = static_cast<size_t>(rank);
  CountTable table(count, std::vector<int64_t>(2 * count));
  for (size_t q = 0; q < count; ++q) {
    table[self][q] = q == self ? 0 : outgoing[q].count;
    table[self][count + q] = q == self ? 0 : incoming[q].count;
  }
  return table;
}

std::string describe_mismatch(const char *operation, const CountTable &table) {
  const size_t ranks = table.size();
  for (size_t to = 0; to < ranks; ++to) {
    for (size_t from = 0; from < ranks; ++from) {
      const std::string phrase = describe_mismatch(static_cast<int32_t>(to), operation, table[to][ranks + from],
                                                   static_cast<int32_t>(from), table[from][to]);
      if (!phrase.empty()) return phrase;
    }
  }
  return {};
}

Status compare_calls(Engine &control, const Signature &signature, CountTable &table) {
  const auto bytes_of = [](std::vector<int64_t> &row) {
    return Bytes{reinterpret_cast<std::byte *>(row.data()), static_cast<int64_t>(row.size() * sizeof row[0])};
  };
  const std::vector<Bytes> outgoing(table.size(), bytes_of(table[static_cast<size_t>(control.rank())]));
  std::vector<Bytes> incoming;
  for (std::vector<int64_t> &row : table) incoming.push_back(bytes_of(row));
  const ExchangeGuard guard(control);
  LPT_TRY(control.all_to_all_v(signature, outgoing.data(), incoming.data()));
  // With shared memory the received rows are still in the memory of the other ranks.
  for (size_t q = 0; q < table.size(); ++q) {
    if (incoming[q].data != bytes_of(table[q]).data)
      std::memcpy(table[q].data(), incoming[q].data, static_cast<size_t>(incoming[q].count));
  }
  LPT_TRY(control.release());  // before the comparison: every rank then has all rows and finds the same mismatch
  const std::string phrase = describe_mismatch(signature.operation, table);
  return phrase.empty() ? Status() : Status(LPT_MISMATCH, phrase);
}

bool has_bytes(const CountTable &table) {
  return std::any_of(table.begin(), table.end(), [](const std::vector<int64_t> &row) {
    return std::any_of(row.begin(), row.end(), [](int64_t count) { return count != 0; });
  });
}

std::vector<int32_t> subgroup_ranks(const std::vector<SplitKey> &keys, int32_t color) {
  std::vector<int32_t> ranks;
  for (size_t i = 0; i < keys.size(); ++i) {
    if (keys[i].color == color) ranks.push_back(static_cast<int32_t>(i));
  }
  std::stable_sort(ranks.begin(), ranks.end(), [&](int32_t a, int32_t b) {
    return keys[static_cast<size_t>(a)].key < keys[static_cast<size_t>(b)].key;
  });
  return ranks;
}

int32_t rank_in_subgroup(const std::vector<int32_t> &part, int32_t rank) {
  return static_cast<int32_t>(std::find(part.begin(), part.end(), rank) - part.begin());
}

}  // namespace lpt
