// Noise, alignment and the log of a run, against sums in long double.
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>

#include "tests/api/support.hpp"

namespace lpt::test {
namespace {

struct DestroyMonitor {
  void operator()(lpt_monitor *handle) const { lpt_monitor_destroy(handle); }
};
using Monitor = std::unique_ptr<lpt_monitor, DestroyMonitor>;

Monitor make_monitor(lpt_context *context) {
  lpt_monitor *monitor = nullptr;
  EXPECT_TRUE(ok(context, lpt_monitor_create(context, &monitor)));
  return Monitor(monitor);
}

lpt_noise_info noise_of(lpt_context *context, const std::vector<const lpt_tensor *> &first,
                        const std::vector<const lpt_tensor *> &second, lpt_noise_kind kind = LPT_NOISE_KIND_REFERENCE) {
  lpt_noise_options options = LPT_NOISE_OPTIONS_INIT;
  options.kind = kind;
  lpt_noise_info values = LPT_NOISE_INFO_INIT;
  EXPECT_TRUE(ok(context, lpt_noise_measure(context, first.data(), second.data(), static_cast<int64_t>(first.size()),
                                            &options, &values)));
  return values;
}

// Returns values with the given norm.
std::vector<float> draw_of_norm(uint64_t seed, int64_t count, double norm) {
  std::vector<double> numbers = draw_normal(seed, count);
  long double sum = 0;
  for (const double number : numbers) sum += static_cast<long double>(number) * number;
  const double factor = norm / static_cast<double>(std::sqrt(sum));
  std::vector<float> result;
  for (const double number : numbers) result.push_back(static_cast<float>(number * factor));
  return result;
}

std::vector<float> sum_of(const std::vector<float> &a, const std::vector<float> &b) {
  std::vector<float> sum(a.size());
  for (size_t i = 0; i < a.size(); ++i) sum[i] = a[i] + b[i];
  return sum;
}

TEST(Noise, IsTheNormOfTheDifference) {
  const Context context = make_context(2);
  for (const lpt_format format : {LPT_FORMAT_F32, LPT_FORMAT_BF16, LPT_FORMAT_F16, LPT_FORMAT_F64}) {
    for (const auto &[rows, columns] : {std::pair<int64_t, int64_t>{1, 1}, {3, 17}, {5, 4097}, {2, 12289}}) {
      const Tensor g = tensor_of(context.get(), format, rows, columns, draw_normal(901, rows * columns));
      const Tensor q = tensor_of(context.get(), LPT_FORMAT_F32, rows, columns, draw_normal(902, rows * columns));
      const std::vector<double> a = numbers_of(context.get(), g.get()), b = numbers_of(context.get(), q.get());
      long double squares = 0, differences = 0;
      for (size_t i = 0; i < a.size(); ++i) {
        squares += static_cast<long double>(a[i]) * a[i];
        differences += (static_cast<long double>(a[i]) - b[i]) * (static_cast<long double>(a[i]) - b[i]);
      }
      const lpt_noise_info values = noise_of(context.get(), {g.get()}, {q.get()});
      // Sums of n values in double: 4096 in lanes, then runs in order. n · 2^-53 bounds the error for all sizes of this test.
      const double bound = static_cast<double>(a.size() + 2) * 0x1p-53;
      EXPECT_NEAR(1.0, values.gradient_norm / static_cast<double>(std::sqrt(squares)), bound) << name_of(format);
      EXPECT_NEAR(1.0, values.noise_norm / static_cast<double>(std::sqrt(differences)), bound) << name_of(format);
      EXPECT_DOUBLE_EQ(values.gradient_norm / values.noise_norm, values.ratio);
    }
  }
}

TEST(Noise, TheThresholdIsTheRootOfThree) {
  const Context context = make_context();
  constexpr int64_t kCount = 4096;
  const std::vector<float> g = draw_of_norm(903, kCount, 1.0);
  const Tensor gradient = wrap(context.get(), g, 1, kCount);
  for (const double share : {2.0, 1.005, 0.995, 0.5}) {  // of the critical noise
    const std::vector<float> q = sum_of(g, draw_of_norm(904, kCount, share / std::sqrt(3.0)));
    const Tensor noisy = wrap(context.get(), q, 1, kCount);
    const lpt_noise_info values = noise_of(context.get(), {gradient.get()}, {noisy.get()});
    EXPECT_NEAR(std::sqrt(3.0) / share, values.ratio, 0.01 * values.ratio);
    EXPECT_EQ(share > 1.0 ? 1 : 0, values.is_noisy) << share;
  }
}

TEST(Noise, OfTwoDrawsNeedsNoExactGradient) {
  const Context context = make_context(2);
  constexpr int64_t kCount = 1 << 20;
  const std::vector<float> g = draw_of_norm(905, kCount, 2.0);
  const std::vector<float> a = sum_of(g, draw_of_norm(906, kCount, 1.0));
  const std::vector<float> b = sum_of(g, draw_of_norm(907, kCount, 1.0));
  const Tensor first = wrap(context.get(), a, 1024, 1024), second = wrap(context.get(), b, 1024, 1024);
  const lpt_noise_info values = noise_of(context.get(), {first.get()}, {second.get()}, LPT_NOISE_KIND_TWO_DRAWS);
  // The inner product of independent directions of n elements has a deviation of |a||b| / sqrt(n). Four sigma of the sums are
  // below 0.4 % of the norms.
  EXPECT_NEAR(2.0, values.gradient_norm, 0.02);
  EXPECT_NEAR(1.0, values.noise_norm, 0.01);
  EXPECT_NEAR(2.0, values.ratio, 0.03);
}

TEST(Noise, LeavesOutWhatIsNotFinite) {
  const Context context = make_context();
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const std::vector<float> g = {3.0f, 1.0f, kInfinity, 4.0f}, q = {3.0f, std::nanf(""), 1.0f, 9.0f};
  const Tensor first = wrap(context.get(), g, 2, 2), second = wrap(context.get(), q, 2, 2);
  const lpt_noise_info values = noise_of(context.get(), {first.get()}, {second.get()});
  EXPECT_EQ(2, values.nonfinite_count);
  EXPECT_EQ(5.0, values.gradient_norm);
  EXPECT_EQ(5.0, values.noise_norm);
}

TEST(Noise, AddsUpOverTensorsAndDoesNotDependOnThreads) {
  constexpr int64_t kRows = 37, kColumns = 5000;
  const std::vector<float> g = draw_of_norm(908, kRows * kColumns, 1.0), q = draw_of_norm(909, kRows * kColumns, 1.0);
  lpt_noise_info values[2];
  for (int32_t threads = 1; threads <= 2; ++threads) {
    const Context context = make_context(threads);
    // Column ranges of one matrix: the row stride differs from the number of columns.
    std::vector<Tensor> owners;
    std::vector<const lpt_tensor *> first, second;
    for (const auto &[begin, columns] : {std::pair<int64_t, int64_t>{0, 4999}, {4999, 1}}) {
      owners.push_back(wrap(context.get(), LPT_FORMAT_F32, g.data() + begin, kRows, columns, kColumns));
      first.push_back(owners.back().get());
      owners.push_back(wrap(context.get(), LPT_FORMAT_F32, q.data() + begin, kRows, columns, kColumns));
      second.push_back(owners.back().get());
    }
    values[threads - 1] = noise_of(context.get(), first, second);
  }
  EXPECT_NEAR(1.0, values[0].gradient_norm, 1e-6);
  EXPECT_EQ(values[0].gradient_norm, values[1].gradient_norm);
  EXPECT_EQ(values[0].noise_norm, values[1].noise_norm);
}

TEST(Noise, WithoutNoiseTheRatioIsInfinite) {
  const Context context = make_context();
  const std::vector<float> g = {1.0f, 2.0f};
  const Tensor gradient = wrap(context.get(), g, 1, 2);
  EXPECT_TRUE(std::isinf(noise_of(context.get(), {gradient.get()}, {gradient.get()}).ratio));
  EXPECT_TRUE(std::isinf(noise_of(context.get(), {}, {}).ratio));
}

TEST(Noise, RejectsWhatDoesNotMatch) {
  const Context context = make_context();
  const std::vector<float> g(6, 1.0f);
  const Tensor a = wrap(context.get(), g, 2, 3), b = wrap(context.get(), g, 3, 2);
  const lpt_tensor *first[] = {a.get()}, *second[] = {b.get()};
  lpt_noise_info values = LPT_NOISE_INFO_INIT;
  values.ratio = 7.0;
  EXPECT_EQ(LPT_INVALID_ARGUMENT, lpt_noise_measure(context.get(), first, second, 1, nullptr, &values));
  expect_words({"noisy[0]", "3 x 2", "2 x 3", "gradients[0]"}, lpt_context_error(context.get()));
  EXPECT_EQ(LPT_INVALID_ARGUMENT, lpt_noise_measure(context.get(), first, nullptr, 1, nullptr, &values));
  expect_words({"noisy is NULL"}, lpt_context_error(context.get()));
  EXPECT_EQ(LPT_INVALID_ARGUMENT, lpt_noise_measure(context.get(), nullptr, second, 1, nullptr, &values));
  expect_words({"gradients is NULL"}, lpt_context_error(context.get()));
  EXPECT_EQ(LPT_INVALID_ARGUMENT, lpt_noise_measure(context.get(), first, first, -1, nullptr, &values));
  expect_words({"count is -1"}, lpt_context_error(context.get()));
  EXPECT_EQ(LPT_INVALID_ARGUMENT, lpt_noise_measure(context.get(), first, first, 1, nullptr, nullptr));
  expect_words({"out_info is NULL"}, lpt_context_error(context.get()));
  lpt_noise_options options = LPT_NOISE_OPTIONS_INIT;
  options.kind = 2;
  EXPECT_EQ(LPT_INVALID_ARGUMENT, lpt_noise_measure(context.get(), first, first, 1, &options, &values));
  expect_words({"kind is 2", "0 to 1"}, lpt_context_error(context.get()));
  const Tensor codes = make_tensor(context.get(), LPT_FORMAT_E4M3FN_TENSOR, 2, 3);
  const lpt_tensor *third[] = {codes.get()};
  EXPECT_EQ(LPT_UNSUPPORTED, lpt_noise_measure(context.get(), first, third, 1, nullptr, &values));
  expect_words({"noisy[0] is e4m3fn_tensor", "f64, f32, bf16 or f16"}, lpt_context_error(context.get()));
  EXPECT_EQ(7.0, values.ratio);
}

TEST(Alignment, IsTheCosineOfEachChannel) {
  const Context context = make_context(2);
  constexpr int64_t kColumns = 4100;
  std::vector<double> gate = draw_normal(911, 4 * kColumns), up = draw_normal(912, 4 * kColumns);
  for (int64_t i = 0; i < kColumns; ++i) {
    up[static_cast<size_t>(i)] = 2.0 * gate[static_cast<size_t>(i)];  // channel 0: same direction
    up[static_cast<size_t>(2 * kColumns + i)] = -gate[static_cast<size_t>(2 * kColumns + i)];  // 2: opposite
    gate[static_cast<size_t>(3 * kColumns + i)] = 0.0;                                         // 3: zero
  }
  long double gemm = 0, gate_squares = 0, up_squares = 0;
  for (int64_t i = kColumns; i < 2 * kColumns; ++i) {
    const long double a = gate[static_cast<size_t>(i)], b = up[static_cast<size_t>(i)];
    gemm += a * b;
    gate_squares += a * a;
    up_squares += b * b;
  }
  const auto cosine = static_cast<double>(gemm / std::sqrt(gate_squares * up_squares));
  const Tensor gate_weight = wrap(context.get(), gate, 4, kColumns), up_weight = wrap(context.get(), up, 4, kColumns);
  const Tensor cosines = make_tensor(context.get(), LPT_FORMAT_F32, {4});
  lpt_swiglu_alignment_info values = LPT_SWIGLU_ALIGNMENT_INFO_INIT;
  ASSERT_TRUE(ok(context.get(),
                 lpt_swiglu_alignment(context.get(), gate_weight.get(), up_weight.get(), cosines.get(), &values)));
  const std::vector<double> given = numbers_of(context.get(), cosines.get());
  EXPECT_NEAR(1.0, given[0], 1e-7);
  EXPECT_NEAR(cosine, given[1], 1e-7);
  EXPECT_NEAR(-1.0, given[2], 1e-7);
  EXPECT_EQ(0.0, given[3]);
  EXPECT_NEAR(cosine / 4.0, values.mean, 1e-12);
  EXPECT_NEAR((2.0 + std::abs(cosine)) / 4.0, values.mean_magnitude, 1e-12);
  EXPECT_NEAR(1.0, std::abs(values.largest), 1e-12);
  EXPECT_TRUE(values.largest_channel == 0 || values.largest_channel == 2);

  const Tensor short_vector = make_tensor(context.get(), LPT_FORMAT_F32, {3});
  EXPECT_EQ(LPT_INVALID_ARGUMENT,
            lpt_swiglu_alignment(context.get(), gate_weight.get(), up_weight.get(), short_vector.get(), &values));
  expect_words({"cosines", "vector of 4"}, lpt_context_error(context.get()));
}

// A temporary file, removed by the destructor.
class File {
 public:
  explicit File(const char *name) : path_(std::filesystem::temp_directory_path() / name) {}
  ~File() { std::filesystem::remove(path_); }
  std::string path() const { return path_.string(); }
  std::string text() const {
    std::ostringstream all;
    all << std::ifstream(path_).rdbuf();
    return all.str();
  }

 private:
  std::filesystem::path path_;
};

TEST(Monitor, SavesItsNumbersAsCsv) {
  const Context context = make_context();
  const Monitor monitor = make_monitor(context.get());
  lpt_context *c = context.get();
  EXPECT_TRUE(ok(c, lpt_monitor_record(c, monitor.get(), 3, "loss", 0.1)));
  EXPECT_TRUE(ok(c, lpt_monitor_record(c, monitor.get(), -1, "a,\"b\"", -2.0)));
  EXPECT_TRUE(ok(c, lpt_monitor_record(c, monitor.get(), 4, "two\nlines", HUGE_VAL)));
  int64_t count = 0;
  EXPECT_TRUE(ok(c, lpt_monitor_count(c, monitor.get(), &count)));
  EXPECT_EQ(3, count);
  const File file("lpt_monitor_test.csv");
  for (int i = 0; i < 2; ++i) {  // the second save replaces the file
    EXPECT_TRUE(ok(c, lpt_monitor_save(c, monitor.get(), file.path().c_str())));
    EXPECT_EQ("step,name,value\n3,loss,0.10000000000000001\n-1,\"a,\"\"b\"\"\",-2\n4,\"two\nlines\",inf\n",
              file.text());
  }
}

TEST(Monitor, RecordsLayersAndCasts) {
  const Context context = make_context();
  lpt_context *c = context.get();
  const Monitor monitor = make_monitor(c);
  Recipe recipe;
  ASSERT_TRUE(ok(c, lpt_recipe_create(c, "fp8_trillion", out(recipe))));
  lpt_linear_shape shape = LPT_LINEAR_SHAPE_INIT;
  shape.input_columns = shape.output_columns = 2;
  Linear linear;
  ASSERT_TRUE(ok(c, lpt_linear_create(c, recipe.get(), &shape, out(linear))));
  const std::vector<float> w = {1.0f, -3.0f, 0.5f, 2.0f};
  const Tensor weight = wrap(c, w, 2, 2);
  ASSERT_TRUE(ok(c, lpt_linear_prepare(c, linear.get(), weight.get(), nullptr)));
  lpt_linear *const linears[] = {linear.get()};
  ASSERT_TRUE(ok(c, lpt_linear_update_scalers(c, linears, 1)));
  ASSERT_TRUE(ok(c, lpt_monitor_record_linear(c, monitor.get(), 1, "up", linear.get())));

  lpt_statistics *statistics = nullptr;
  ASSERT_TRUE(ok(c, lpt_statistics_create(c, &statistics)));
  const std::vector<float> x = {1000.0f, 1.0f, 0.0001f, 2.0f};
  const Tensor source = wrap(c, x, 1, 4), codes = make_tensor(c, LPT_FORMAT_E4M3FN, 1, 4);
  lpt_quantize_options options = LPT_QUANTIZE_OPTIONS_INIT;
  options.statistics = statistics;
  ASSERT_TRUE(ok(c, lpt_quantize(c, source.get(), &options, codes.get(), nullptr)));
  ASSERT_TRUE(ok(c, lpt_monitor_record_statistics(c, monitor.get(), 2, "x", statistics)));
  lpt_statistics_destroy(statistics);

  const File file("lpt_monitor_layers_test.csv");
  ASSERT_TRUE(ok(c, lpt_monitor_save(c, monitor.get(), file.path().c_str())));
  const double error = (552.0 * 552.0 + 1e-8) / (1e6 + 5.0 + 1e-8);
  char last[64];
  std::snprintf(last, sizeof last, "2,x/relative_error,%.4g", error);
  expect_words({"step,name,value\n1,up/input/amax,0\n1,up/weight/amax,3\n1,up/gradient/amax,0\n2,x/amax,1000\n"
                "2,x/clipped,0.25\n2,x/underflow,0.25\n2,x/nan,0\n",
                last},
               file.text());
}

TEST(Monitor, RecordsWhatTheCastsOfAWatchedLayerDid) {
  const Context context = make_context();
  lpt_context *c = context.get();
  const Monitor monitor = make_monitor(c);
  Recipe recipe;
  ASSERT_TRUE(ok(c, lpt_recipe_create(c, "unit_scaling", out(recipe))));  // without scales: e4m3fn saturates at 448
  lpt_linear_shape shape = LPT_LINEAR_SHAPE_INIT;
  shape.input_columns = shape.output_columns = 2;
  Linear linear;
  ASSERT_TRUE(ok(c, lpt_linear_create(c, recipe.get(), &shape, out(linear))));
  const std::vector<float> w = {1.0f, -3.0f, 0.5f, 2.0f}, x = {1000.0f, 1.0f};
  const Tensor weight = wrap(c, w, 2, 2), input = wrap(c, x, 1, 2), output = make_tensor(c, LPT_FORMAT_F32, 1, 2);
  ASSERT_TRUE(ok(c, lpt_linear_watch(c, linear.get(), 1)));
  ASSERT_TRUE(ok(c, lpt_linear_prepare(c, linear.get(), weight.get(), nullptr)));
  ASSERT_TRUE(ok(c, lpt_linear_forward(c, linear.get(), input.get(), nullptr, nullptr, output.get())));
  ASSERT_TRUE(ok(c, lpt_monitor_record_linear(c, monitor.get(), 7, "up", linear.get())));
  ASSERT_TRUE(ok(c, lpt_linear_watch(c, linear.get(), 0)));
  ASSERT_TRUE(ok(c, lpt_monitor_record_linear(c, monitor.get(), 8, "up", linear.get())));
  const File file("lpt_monitor_casts_test.csv");
  ASSERT_TRUE(ok(c, lpt_monitor_save(c, monitor.get(), file.path().c_str())));
  char error[64];
  std::snprintf(error, sizeof error, "%.17g", 552.0 * 552.0 / (1e6 + 1.0));
  EXPECT_EQ(std::string("step,name,value\n7,up/input/amax,0\n7,up/weight/amax,0\n7,up/gradient/amax,0\n"
                        "7,up/forward_input/amax,1000\n7,up/forward_input/clipped,0.5\n"
                        "7,up/forward_input/underflow,0\n7,up/forward_input/nan,0\n"
                        "7,up/forward_input/relative_error,") +
                error +
                "\n7,up/forward_weight/amax,3\n7,up/forward_weight/clipped,0\n7,up/forward_weight/underflow,0\n"
                "7,up/forward_weight/nan,0\n7,up/forward_weight/relative_error,0\n"
                "8,up/input/amax,0\n8,up/weight/amax,0\n8,up/gradient/amax,0\n",
            file.text());
}

TEST(Monitor, RejectsBadArguments) {
  const Context context = make_context();
  lpt_context *c = context.get();
  const Monitor monitor = make_monitor(c);
  EXPECT_EQ(LPT_INVALID_ARGUMENT, lpt_monitor_create(c, nullptr));
  expect_words({"out_monitor is NULL"}, lpt_context_error(c));
  EXPECT_EQ(LPT_INVALID_ARGUMENT, lpt_monitor_record(c, nullptr, 0, "a", 0.0));
  expect_words({"monitor is NULL"}, lpt_context_error(c));
  EXPECT_EQ(LPT_INVALID_ARGUMENT, lpt_monitor_record(c, monitor.get(), 0, nullptr, 0.0));
  expect_words({"name is NULL"}, lpt_context_error(c));
  EXPECT_EQ(LPT_INVALID_ARGUMENT, lpt_monitor_record(c, monitor.get(), 0, "", 0.0));
  expect_words({"name is empty"}, lpt_context_error(c));
  EXPECT_EQ(LPT_INVALID_ARGUMENT, lpt_monitor_record_linear(c, monitor.get(), 0, "a", nullptr));
  expect_words({"linear is NULL"}, lpt_context_error(c));
  EXPECT_EQ(LPT_INVALID_ARGUMENT, lpt_monitor_record_statistics(c, monitor.get(), 0, "a", nullptr));
  expect_words({"statistics is NULL"}, lpt_context_error(c));
  EXPECT_EQ(LPT_INVALID_ARGUMENT, lpt_monitor_save(c, monitor.get(), nullptr));
  expect_words({"path is NULL"}, lpt_context_error(c));
  EXPECT_EQ(LPT_INVALID_ARGUMENT, lpt_monitor_save(c, monitor.get(), "/no/such/folder/file.csv"));
  expect_words({"/no/such/folder/file.csv", "cannot be written"}, lpt_context_error(c));
  int64_t count = -1;
  EXPECT_TRUE(ok(c, lpt_monitor_count(c, monitor.get(), &count)));
  EXPECT_EQ(0, count);
  lpt_monitor_destroy(nullptr);
}

}  // namespace
}  // namespace lpt::test
