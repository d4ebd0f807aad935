// A folder for one test, and the program that runs in it.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace tool_tests {

class Workplace {
 public:
  Workplace();
  ~Workplace();
  Workplace(const Workplace &) = delete;
  Workplace &operator=(const Workplace &) = delete;

  std::string path(const std::string &name) const { return folder_ + "/" + name; }
  std::string write(const std::string &name, const std::string &bytes) const;  // returns the path
  std::string read(const std::string &name) const;
  bool has(const std::string &name) const;

 private:
  std::string folder_;
};

struct Outcome {
  int status = -1;  // exit status of the program; from 128: ended by a signal
  std::string out;
  std::string err;
};

// Runs `lpt` with these arguments.
Outcome run_lpt(const Workplace &workplace, const std::vector<std::string> &arguments);

// Starts `lpt` without waiting; the caller waits for it. `out` is the file of standard output.
pid_t start_lpt(const Workplace &workplace, const std::vector<std::string> &arguments, const std::string &out = "");
int wait_for(pid_t process);

}  // namespace tool_tests
