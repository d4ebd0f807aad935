// State in files: same bits as in memory, and a bound on its resident bytes.
#include <dirent.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "tests/api/optimizer.hpp"
#include "tests/support/sanitized.hpp"

namespace lpt::test {
namespace {

// A temporary directory, removed by the destructor. It must be empty then.
class Directory {
 public:
  Directory() {
    const char *base = std::getenv("TMPDIR");
    path_ = std::string(base != nullptr ? base : "/var/tmp") + "/lpt-stream-XXXXXX";
    EXPECT_NE(nullptr, mkdtemp(path_.data()));
  }
  ~Directory() { rmdir(path_.c_str()); }
  Directory(const Directory &) = delete;
  Directory &operator=(const Directory &) = delete;
  const char *path() const { return path_.c_str(); }

  int count_of_files() const {
    int count = 0;
    DIR *directory = opendir(path());
    while (const dirent *entry = readdir(directory)) count += entry->d_name[0] != '.';
    closedir(directory);
    return count;
  }

 private:
  std::string path_;
};

struct Kind {
  const char *name;
  lpt_optimizer_method method;
  Option option;
};

std::vector<Kind> kinds() {
  std::vector<Kind> kinds = {{"f32", LPT_OPTIMIZER_METHOD_ADAMW, {}},
                             {"lion, one scale", LPT_OPTIMIZER_METHOD_LION, {}},
                             {"expanded", LPT_OPTIMIZER_METHOD_ADAMW, {}},
                             {"trees, compensated", LPT_OPTIMIZER_METHOD_ADAMW, {}}};
  kinds[1].option.first = LPT_FORMAT_E4M3FN_TENSOR;
  kinds[2].option.first = kinds[2].option.second = LPT_FORMAT_E4M3FN_1X128;
  kinds[2].option.is_first_expanded = kinds[2].option.is_second_expanded = true;
  kinds[3].option.first = kinds[3].option.second = LPT_FORMAT_DYNAMIC_1X256;
  kinds[3].option.compensation = LPT_FORMAT_BF16;
  return kinds;
}

std::vector<uint8_t> trained(const Kind &kind, const char *directory, int64_t elements, int32_t threads) {
  const Context context = make_context(threads);
  Trainee trainee(context.get(), options_of(kind.method), kind.option, draw_normal(560, elements),
                  kind.option.compensation != LPT_FORMAT_NONE ? kind.option.compensation : kF32, directory);
  for (uint32_t t = 0; t < 2; ++t) {
    trainee.step(floats(draw_normal(561 + t, elements)), stochastic_at(0.01, t));
  }
  return trainee.bits();
}

TEST(OptimizerStream, GivesTheBitsOfMemory) {
  const int64_t kElements = kIsSanitized ? 400'001 : 1'500'001;  // up to thirteen blocks of 1 MiB
  const Directory directory;
  for (const Kind &kind : kinds()) {
    EXPECT_EQ(trained(kind, nullptr, kElements, 1), trained(kind, directory.path(), kElements, 2)) << kind.name;
  }
}

TEST(OptimizerStream, TakesSmallParameters) {
  const Directory directory;
  for (const int64_t elements : {1, 2, 300}) {
    for (const Kind &kind : kinds()) {
      EXPECT_EQ(trained(kind, nullptr, elements, 1), trained(kind, directory.path(), elements, 1))
          << kind.name << ' ' << elements;
    }
  }
}

// Returns the resident bytes of the file mappings of the process in this directory.
int64_t resident_bytes(const Directory &directory) {
  std::ifstream maps("/proc/self/smaps");
  int64_t bytes = 0;
  bool is_ours = false;
  for (std::string line; std::getline(maps, line);) {
    if (line.find('-') < line.find(' ')) {  // the address range of a mapping
      is_ours = line.find(directory.path()) != std::string::npos || line.find("(deleted)") != std::string::npos;
    } else if (is_ours && line.rfind("Rss:", 0) == 0) {
      std::istringstream words(line.substr(4));
      int64_t kilobytes = 0;
      words >> kilobytes;
      bytes += kilobytes * 1024;
    }
  }
  return bytes;
}

// The loop function of the host runs between two sections of a step, where most bytes are mapped.
struct Watch {
  const Directory *directory;
  int64_t most;
};

void watch_parts(void *user, int64_t count, lpt_task_function task, void *argument) {
  auto *watch = static_cast<Watch *>(user);
  for (int64_t i = 0; i < count; ++i) task(argument, i);
  watch->most = std::max(watch->most, resident_bytes(*watch->directory));
}

TEST(OptimizerStream, KeepsWhatIsMappedBelowItsBudget) {
  constexpr int64_t kElements = 6'000'000;  // 48 MB of moments with a budget of 4 MiB
  const Directory directory;
  Watch watch{&directory, 0};
  lpt_context_options context_options = LPT_CONTEXT_OPTIONS_INIT;
  context_options.parallel_for = watch_parts;
  context_options.parallel_for_user = &watch;
  context_options.parallel_for_width = 4;
  Context context;
  ASSERT_EQ(LPT_OK, lpt_context_create(&context_options, out(context)));
  Trainee trainee(context.get(), options_of(LPT_OPTIMIZER_METHOD_ADAMW), {}, std::vector<double>(kElements, 0.0), kF32,
                  directory.path());
  const std::vector<float> gradient(kElements, 0.5f);
  for (uint32_t t = 0; t < 2; ++t) trainee.step(gradient, step_at(0.01, t));
  std::printf("at most %.2f MiB of 45.8 resident, %.2f after the step\n", static_cast<double>(watch.most) / 0x1p20,
              static_cast<double>(resident_bytes(directory)) / 0x1p20);
  EXPECT_GT(watch.most, 0) << "the mappings are seen";
  EXPECT_LE(watch.most, static_cast<int64_t>(kLeastResidentBytes));
  EXPECT_LE(resident_bytes(directory), 0x10000);
}

TEST(OptimizerStream, LeavesNoFile) {
  const Directory directory;
  const Context context = make_context();
  const Trainee trainee(context.get(), options_of(LPT_OPTIMIZER_METHOD_ADAMW), {}, std::vector<double>(1000, 0.0), kF32,
                        directory.path());
  EXPECT_EQ(0, directory.count_of_files());
}

TEST(OptimizerStream, TellsWhichDirectoryTakesNoFile) {
  const Context context = make_context();
  lpt_context *c = context.get();
  Optimizer optimizer;
  ASSERT_TRUE(ok(c, lpt_optimizer_create(c, nullptr, out(optimizer))));
  for (const char *path : {"/nowhere/at/all", "/proc/self/maps"}) {
    EXPECT_EQ(LPT_INVALID_ARGUMENT, lpt_optimizer_set_directory(c, optimizer.get(), path, 0));
    expect_words({"directory", path}, lpt_context_error(c));
  }
}

TEST(OptimizerStream, TellsWhenADiskIsFull) {
  const Directory directory;
  const Context context = make_context();
  lpt_context *c = context.get();
  Optimizer optimizer;
  ASSERT_TRUE(ok(c, lpt_optimizer_create(c, nullptr, out(optimizer))));
  ASSERT_TRUE(ok(c, lpt_optimizer_set_directory(c, optimizer.get(), directory.path(), 0)));
  const lpt_optimizer_parameter parameter = parameter_of({}, int64_t{1} << 50);  // 8 PiB
  int64_t index = -1;
  EXPECT_EQ(LPT_OUT_OF_MEMORY, lpt_optimizer_add(c, optimizer.get(), nullptr, &parameter, &index));
  expect_words({"has no space"}, lpt_context_error(c));
  const lpt_optimizer_parameter small = parameter_of({}, 100);
  EXPECT_TRUE(ok(c, lpt_optimizer_add(c, optimizer.get(), nullptr, &small, &index)));
  EXPECT_EQ(0, index);
}

}  // namespace
}  // namespace lpt::test
