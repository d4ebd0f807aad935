// The completed tensors of a conversion, so that a second run can resume.
//
// Every line is a checksum and a JSON value, and is synced to the disk before the next tensor begins. An incomplete or damaged
// line ends the journal. A lock excludes other processes.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "file.hpp"

namespace tool {

class Journal {
 public:
  // Creates the file, or opens a file of this user and reads its valid lines.
  explicit Journal(const std::string &path);

  bool is_new() const { return is_new_; }                              // the file did not exist
  const std::vector<nlohmann::json> &lines() const { return lines_; }  // those read from the file when it was opened

  void clear();  // removes all lines
  void add(const nlohmann::json &line);

 private:
  bool is_new_;
  File file_;
  uint64_t end_ = 0;  // of the valid lines
  std::vector<nlohmann::json> lines_;
};

}  // namespace tool
