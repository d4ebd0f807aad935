// What a conversion has finished, so that a second run can go on where the first one ended.
//
// Every line is a checksum and a JSON value, and is on the disk before the next tensor begins: a line that is torn or
// damaged ends the journal there. The lock keeps a second process away.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "file.hpp"

namespace tool {

class Journal {
 public:
  // Makes the file, or opens one of this user's and reads its valid lines.
  explicit Journal(const std::string &path);

  bool is_new() const { return is_new_; }                              // the file did not exist
  const std::vector<nlohmann::json> &lines() const { return lines_; }  // that the file had when it was opened

  void clear();  // removes all lines
  void add(const nlohmann::json &line);

 private:
  bool is_new_;
  File file_;
  uint64_t end_ = 0;  // of the valid lines
  std::vector<nlohmann::json> lines_;
};

}  // namespace tool
