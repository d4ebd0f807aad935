#include "workplace.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "tests/support/program_folder.hpp"

namespace tool_tests {

Workplace::Workplace() {
  std::string form = (std::filesystem::temp_directory_path() / "lpt_tool_XXXXXX").string();
  if (mkdtemp(form.data()) == nullptr) throw std::runtime_error("no folder for the test");
  folder_ = form;
}

Workplace::~Workplace() {
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

std::string Workplace::write(const std::string &name, const std::string &bytes) const {
  std::ofstream(path(name), std::ios::binary) << bytes;
  return path(name);
}

std::string Workplace::read(const std::string &name) const {
  std::ifstream file(path(name), std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

bool Workplace::has(const std::string &name) const { return std::filesystem::exists(path(name)); }

pid_t start_lpt(const Workplace &workplace, const std::vector<std::string> &arguments, const std::string &out_path) {
  const std::string out = out_path.empty() ? workplace.path("stdout") : out_path;
  const std::string err = workplace.path("stderr");
  static const std::string program = program_folder() + "/../../tools/lpt/lpt";
  std::vector<char *> words = {const_cast<char *>(program.c_str())};
  for (const std::string &argument : arguments) words.push_back(const_cast<char *>(argument.c_str()));
  words.push_back(nullptr);
  const pid_t process = fork();
  if (process == 0) {
    dup2(open(out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), STDOUT_FILENO);
    dup2(open(err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), STDERR_FILENO);
    execv(program.c_str(), words.data());
    _exit(127);
  }
  return process;
}

int wait_for(pid_t process) {
  int status = 0;
  waitpid(process, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

Outcome run_lpt(const Workplace &workplace, const std::vector<std::string> &arguments) {
  const int status = wait_for(start_lpt(workplace, arguments));
  return {status, workplace.read("stdout"), workplace.read("stderr")};
}

}  // namespace tool_tests
