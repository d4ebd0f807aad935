// Operations without a GPU kernel reject GPU tensors before they read an element: a host access to GPU memory ends the process.
#include "tests/device/support.hpp"

namespace lpt::test {
namespace {

// Tensors of one device, for calls that are valid except for the device.
struct Operands {
  explicit Operands(lpt_context *context) : own(context) {}

  lpt_context *own;
  Tensor f32 = make_tensor(own, LPT_FORMAT_F32, 32, 32), other = make_tensor(own, LPT_FORMAT_F32, 32, 32);
  Tensor mask = make_tensor(own, LPT_FORMAT_UINT8, 32, 32), codes = make_tensor(own, LPT_FORMAT_MXFP8_E4M3, 32, 32);
  Tensor plain = make_tensor(own, LPT_FORMAT_E4M3FN, 32, 32), related = make_tensor(own, LPT_FORMAT_E4M3, 32, 32);
};

struct Call {
  const char *name;
  lpt_status (*run)(lpt_context *, Operands &);
};

lpt_status pack(lpt_context *context, Operands &o) {
  Tensor packed;
  return lpt_weights_pack(context, o.f32.get(), nullptr, out(packed));
}

lpt_status absorb(lpt_context *context, Operands &o) {
  return lpt_sparse_absorb(context, o.f32.get(), o.mask.get(), 4, LPT_SPARSE_DIRECTION_ROW, o.other.get());
}

lpt_status convert(lpt_context *context, Operands &o) {
  return lpt_convert(context, o.plain.get(), nullptr, o.related.get());
}

lpt_status export_on_device(lpt_context *context, Operands &o) {
  std::vector<uint8_t> bytes(1 << 16);
  return lpt_foreign_layout_export(context, o.codes.get(), LPT_FOREIGN_LAYOUT_CUBLAS_SCALES, bytes.data(),
                                   bytes.size());
}

constexpr Call kCalls[] = {
    {"convert", convert},
    {"foreign_layout_export", export_on_device},
    {"sparse_mask_check",
     [](lpt_context *c, Operands &o) {
       int64_t count = 0;
       return lpt_sparse_mask_check(c, o.mask.get(), 2, 4, LPT_SPARSE_DIRECTION_ROW, &count);
     }},
    {"sparse_absorb", absorb},
};

using DeviceRejections = Devices;

TEST_F(DeviceRejections, NameTheTensorAndItsDevice) {
  Operands operands(gpu());
  for (lpt_context *const context : {gpu(), cpu()}) {
    for (const Call &call : kCalls) {
      EXPECT_EQ(LPT_UNSUPPORTED, call.run(context, operands)) << call.name << ": " << lpt_context_error(context);
      expect_words({" on cuda:0", "no kernel there takes it", "lpt_tensor_copy()"}, lpt_context_error(context),
                   call.name);
    }
  }
}

TEST_F(DeviceRejections, SayWhatStandsInForPackedWeights) {
  Operands operands(gpu());
  for (lpt_context *const context : {gpu(), cpu()}) {
    EXPECT_EQ(LPT_UNSUPPORTED, pack(context, operands));
    expect_words({"weights is on cuda:0", "packed weights", "lpt_gemm()"}, lpt_context_error(context));
  }
}

// The calls of the list above are valid on the CPU.
TEST_F(DeviceRejections, AreOfTheDeviceAlone) {
  Operands operands(cpu());
  for (const Call &call : kCalls) EXPECT_TRUE(ok(cpu(), call.run(cpu(), operands))) << call.name;
}

TEST_F(DeviceRejections, StatisticsOfAGpuDoNotCountTensorsOfTheCpu) {
  Operands operands(cpu());
  lpt_statistics *made = nullptr;
  ASSERT_TRUE(ok(gpu(), lpt_statistics_create(gpu(), &made)));
  const std::unique_ptr<lpt_statistics, decltype(&lpt_statistics_destroy)> statistics(made, lpt_statistics_destroy);
  lpt_convert_options options = LPT_CONVERT_OPTIONS_INIT;
  options.statistics = statistics.get();
  EXPECT_EQ(LPT_UNSUPPORTED, lpt_convert(gpu(), operands.plain.get(), &options, operands.related.get()));
  expect_words({"statistics is on cuda:0", "CPU context"}, lpt_context_error(gpu()));
}

TEST_F(DeviceRejections, ContextsOfAGpuRunNoKernelsOfTheCpu) {
  Operands operands(cpu());
  EXPECT_EQ(LPT_UNSUPPORTED, absorb(gpu(), operands));
  expect_words({": no kernel takes", "on cuda:0", "_ref: it runs on the CPU"}, lpt_context_error(gpu()));
}

}  // namespace
}  // namespace lpt::test
