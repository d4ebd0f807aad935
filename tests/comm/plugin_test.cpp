// Files that are not valid communicator plugins.
#include <sys/stat.h>

#include <cstdlib>
#include <fstream>

#include "tests/comm/suite.hpp"

namespace lpt::test {
namespace {

class Plugins : public testing::Test {
 protected:
  ~Plugins() override {
    unsetenv("LPT_PLUGIN_PATH");
    unsetenv("LPT_MPI");
  }

  void is_rejected(const lpt_comm_options *options, const std::vector<const char *> &words) {
    lpt_comm *comm = nullptr;
    EXPECT_EQ(LPT_UNSUPPORTED, lpt_comm_create_mpi(context_.get(), options, &comm));
    EXPECT_EQ(nullptr, comm);
    for (const char *const word : words) expect_words({word}, lpt_context_error(context_.get()));
  }

  void is_rejected_at(const std::string &path, const std::vector<const char *> &words) {
    setenv("LPT_PLUGIN_PATH", path.c_str(), 1);
    is_rejected(nullptr, words);
    expect_words({path.c_str()}, lpt_context_error(context_.get()));
  }

  const Context context_ = make_context(1);
};

TEST_F(Plugins, ATextIsNone) {
  const std::string path = testing::TempDir() + "lpt_plugin_of_words.so";
  std::ofstream(path) << "not a library\n";
  is_rejected_at(path, {"plugin"});
  std::remove(path.c_str());
}

// Opening a FIFO would block until a writer opens it.
TEST_F(Plugins, AFifoIsNone) {
  const std::string path = testing::TempDir() + "lpt_plugin_fifo.so";
  std::remove(path.c_str());
  ASSERT_EQ(0, mkfifo(path.c_str(), 0600));
  is_rejected_at(path, {"it is no regular file"});
  std::remove(path.c_str());
}

TEST_F(Plugins, ALibraryWithoutTheSymbolIsNone) { is_rejected_at("libm.so.6", {"lpt_plugin_entry"}); }

TEST_F(Plugins, OneOfAnotherInterfaceIsRejected) {
  for (const char *const fault : {"1", "2", "3"}) {
    is_rejected_at(std::string(LPT_FAULTY_PLUGINS) + "/faulty_plugin_" + fault + ".so", {"interface"});
  }
}

TEST_F(Plugins, AMissingFileIsReported) { is_rejected_at("/nowhere/liblpt_openmpi.so", {"cannot open"}); }

TEST_F(Plugins, AnUnknownMpiIsReported) {
  setenv("LPT_MPI", "lam", 1);
  is_rejected(nullptr, {"LPT_MPI is lam", "openmpi or mpich"});
}

TEST_F(Plugins, MpiHasNoEmulatedLinks) {
  lpt_comm_options options = LPT_COMM_OPTIONS_INIT;
  lpt_comm_emulation link = LPT_COMM_EMULATION_INIT;
  link.link_latency_seconds = 0.001;
  options.emulation = &link;
  is_rejected(&options, {"options->emulation has a link", "local ranks"});
}

}  // namespace
}  // namespace lpt::test
