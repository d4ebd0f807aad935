// Rows of a table, as tests walk them: what this processor lacks is skipped by name.
#pragma once

#include <gtest/gtest.h>

#include <cstdio>
#include <span>
#include <string>
#include <vector>

#include "src/base/cpu.hpp"
#include "src/base/row.hpp"

namespace lpt::test {

template <typename AnyRow>
CpuFeatures missing_of(const AnyRow &row) {
  return row.needs & ~cpu_features();
}

template <typename AnyRow>
bool is_here(const AnyRow &row) {
  return missing_of(row) == 0;
}

template <typename AnyRow>
bool can_run(const AnyRow &row) {
  if (!is_here(row)) std::printf("skipped %s: needs %s\n", row.name, feature_names(missing_of(row)).c_str());
  return is_here(row);
}

template <typename AnyRow, typename Request>
bool takes(const AnyRow &row, const Request &request) {
  return row.refuses == nullptr || row.refuses(request) == nullptr;
}

template <typename Request>
const Row<Request> &reference_of(std::span<const Row<Request>> rows) {
  return rows.back();
}

// ---- one test per row

template <typename Request>
class RowTest : public testing::TestWithParam<const Row<Request> *> {
 protected:
  void SetUp() override {
    const Row<Request> &row = *this->GetParam();
    if (!is_here(row)) GTEST_SKIP() << row.name << " needs " << feature_names(missing_of(row));
  }
  bool takes(const Request &request) const { return test::takes(*this->GetParam(), request); }
};

template <typename Request>
std::vector<const Row<Request> *> all_rows(std::span<const Row<Request>> rows) {
  std::vector<const Row<Request> *> result;
  for (const Row<Request> &row : rows) result.push_back(&row);
  return result;
}

// All rows but the last, which is the reference.
template <typename Request>
std::vector<const Row<Request> *> fast_rows(std::span<const Row<Request>> rows) {
  return all_rows(rows.first(rows.size() - 1));
}

template <typename Request>
std::string row_name(const testing::TestParamInfo<const Row<Request> *> &info) {
  return info.param->name;
}

}  // namespace lpt::test
