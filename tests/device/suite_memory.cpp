// Tensors in GPU memory.
#include "tests/device/support.hpp"

namespace lpt::test {
namespace {

using DeviceMemory = Devices;

std::vector<lpt_format> kinds_of_formats() {
  lpt_format_description sparse = describe(LPT_FORMAT_E4M3FN_ROW);
  sparse.sparse_kept = 2;
  sparse.sparse_of = 4;
  lpt_format format = LPT_FORMAT_NONE;
  EXPECT_EQ(LPT_OK, lpt_format_from_description(nullptr, &sparse, &format));
  return {LPT_FORMAT_F32,          LPT_FORMAT_BF16,       LPT_FORMAT_E4M3FN_TENSOR,
          LPT_FORMAT_E4M3FN_1X128, LPT_FORMAT_MXFP8_E4M3, LPT_FORMAT_MXFP4,
          LPT_FORMAT_NVFP4,        LPT_FORMAT_UINT4_1X32, format};
}

TEST_F(DeviceMemory, ANewTensorIsAsOneOfTheCpu) {
  for (const lpt_format format : kinds_of_formats()) {
    const Tensor expected = make_tensor(cpu(), format, 5, 264), made = make_tensor(gpu(), format, 5, 264);
    EXPECT_EQ(bytes_of(cpu(), expected.get()), bytes_on_device(made.get())) << name_of(format);
  }
}

TEST_F(DeviceMemory, NumbersGoThereAndBack) {
  for (const lpt_format format : kinds_of_formats()) {
    if (describe(format).sparse_of != 0) continue;
    const Tensor source = tensor_of(cpu(), format, 7, 96, draw_normal(1, 7 * 96));
    EXPECT_EQ(bytes_of(cpu(), source.get()), bytes_on_device(there(source.get()).get())) << name_of(format);
  }
}

TEST_F(DeviceMemory, RowsWithGapsAreCopiedAlone) {
  const std::vector<double> numbers = draw_normal(2, 6 * 128);
  const Tensor source = tensor_of(cpu(), LPT_FORMAT_MXFP8_E4M3, 6, 128, numbers);
  const Tensor whole = make_tensor(gpu(), LPT_FORMAT_MXFP8_E4M3, 6, 128);
  const Tensor part = view(gpu(), whole.get(), {2, 32}, {3, 64});
  ASSERT_TRUE(ok(gpu(), lpt_tensor_copy(gpu(), view(cpu(), source.get(), {2, 32}, {3, 64}).get(), part.get())));
  Tensor expected = make_tensor(cpu(), LPT_FORMAT_MXFP8_E4M3, 6, 128);
  const Tensor expected_part = view(cpu(), expected.get(), {2, 32}, {3, 64});
  ASSERT_TRUE(
      ok(cpu(), lpt_tensor_copy(cpu(), view(cpu(), source.get(), {2, 32}, {3, 64}).get(), expected_part.get())));
  EXPECT_EQ(bytes_of(cpu(), expected.get()), bytes_on_device(whole.get()));
  const std::vector<double> found = numbers_of(cpu(), expected.get()), cast = numbers_of(cpu(), source.get());
  EXPECT_EQ(0.0, found[2 * 128 + 31]);
  EXPECT_EQ(cast[2 * 128 + 32], found[2 * 128 + 32]);
}

TEST_F(DeviceMemory, ATensorTellsWhereItLies) {
  const Tensor tensor = make_tensor(gpu(), LPT_FORMAT_NVFP4, 2, 32);
  for (const lpt_tensor_part part : parts_of(LPT_FORMAT_NVFP4)) {
    EXPECT_EQ(LPT_DEVICE_CUDA, describe(gpu(), part_of(gpu(), tensor.get(), part).get()).device);
  }
  EXPECT_EQ(LPT_DEVICE_CPU, describe(cpu(), make_tensor(cpu(), LPT_FORMAT_F32, 1, 1).get()).device);
}

TEST_F(DeviceMemory, PartsMakeATensorOnTheDevice) {
  const Tensor source = tensor_of(cpu(), LPT_FORMAT_NVFP4, 3, 64, draw_normal(3, 3 * 64)), copy = there(source.get());
  const Tensor payload = part_of(gpu(), copy.get(), LPT_TENSOR_PART_PAYLOAD);
  const Tensor scales = part_of(gpu(), copy.get(), LPT_TENSOR_PART_BLOCK_SCALES);
  const Tensor scale = part_of(gpu(), copy.get(), LPT_TENSOR_PART_TENSOR_SCALE);
  const lpt_tensor *const parts[] = {payload.get(), scales.get(), scale.get()};
  Tensor joined;
  ASSERT_TRUE(ok(gpu(), lpt_tensor_combine(gpu(), LPT_FORMAT_NVFP4, 3, 64, parts, 3, out(joined))));
  EXPECT_EQ(bytes_of(cpu(), source.get()), bytes_on_device(joined.get()));
  const Tensor elsewhere = part_of(cpu(), source.get(), LPT_TENSOR_PART_BLOCK_SCALES);
  const lpt_tensor *const mixed[] = {payload.get(), elsewhere.get(), scale.get()};
  EXPECT_EQ(LPT_INVALID_ARGUMENT, lpt_tensor_combine(gpu(), LPT_FORMAT_NVFP4, 3, 64, mixed, 3, out(joined)));
  expect_words({"parts[1]", "cuda:0"}, lpt_context_error(gpu()));
}

TEST_F(DeviceMemory, MemoryOfTheGpuIsWrapped) {
  const Tensor source = tensor_of(cpu(), LPT_FORMAT_F32, 2, 2, {1.0, 2.0, 3.0, 4.0}), owner = there(source.get());
  const Tensor borrowed = wrap(gpu(), LPT_FORMAT_F32, describe(gpu(), owner.get()).data, 2, 2);
  EXPECT_EQ(bytes_of(cpu(), source.get()), bytes_on_device(borrowed.get()));
}

TEST_F(DeviceMemory, MemoryOfTheCpuIsNotWrapped) {
  std::vector<float> numbers(4);
  Tensor tensor;
  EXPECT_EQ(LPT_INVALID_ARGUMENT, lpt_tensor_wrap_matrix(gpu(), LPT_FORMAT_F32, numbers.data(), 2, 2, 0, out(tensor)));
  expect_words({"data is", "expected memory of cuda:0", "CPU"}, lpt_context_error(gpu()));
}

TEST_F(DeviceMemory, IsNotCheckedOnRequest) {
  std::vector<float> numbers(4);
  const int64_t extents[] = {2, 2};
  lpt_tensor_description given = LPT_TENSOR_DESCRIPTION_INIT;
  given.format = LPT_FORMAT_F32;
  given.data = numbers.data();  // host memory, used only as an address
  given.rank = 2;
  given.extents = extents;
  Tensor tensor;
  EXPECT_EQ(LPT_INVALID_ARGUMENT, lpt_tensor_wrap(gpu(), &given, out(tensor)));
  for (const lpt_flags more : {lpt_flags{0}, lpt_flags{LPT_TENSOR_READ_ONLY}}) {
    given.flags = LPT_TENSOR_UNCHECKED | more;
    ASSERT_TRUE(ok(gpu(), lpt_tensor_wrap(gpu(), &given, out(tensor))));
    EXPECT_EQ(more, describe(gpu(), tensor.get()).flags);
    EXPECT_EQ(LPT_DEVICE_CUDA, lpt_tensor_device(tensor.get(), nullptr));
  }
  const Tensor source = tensor_of(cpu(), LPT_FORMAT_F32, 2, 2, {1.0, 2.0, 3.0, 4.0}), owner = there(source.get());
  given.data = describe(gpu(), owner.get()).data;
  ASSERT_TRUE(ok(gpu(), lpt_tensor_wrap(gpu(), &given, out(tensor))));
  EXPECT_EQ(bytes_of(cpu(), source.get()), bytes_on_device(tensor.get()));
}

TEST_F(DeviceMemory, ATensorOutlivesItsContext) {
  const Tensor source = tensor_of(cpu(), LPT_FORMAT_F32, 1, 2, {5.0, 6.0});
  Tensor made;
  {
    const Context brief = make_gpu_context();
    made = make_tensor(brief.get(), LPT_FORMAT_F32, 1, 2);
    ASSERT_TRUE(ok(brief.get(), lpt_tensor_copy(brief.get(), source.get(), made.get())));
  }
  EXPECT_EQ(bytes_of(cpu(), source.get()), bytes_on_device(made.get()));
}

TEST_F(DeviceMemory, CopiesRejectWhatIsNotAlike) {
  const Tensor wide = make_tensor(gpu(), LPT_FORMAT_F32, 2, 3), narrow = make_tensor(gpu(), LPT_FORMAT_F32, 3, 2);
  const Tensor other = make_tensor(gpu(), LPT_FORMAT_BF16, 2, 3);
  EXPECT_EQ(LPT_INVALID_ARGUMENT, lpt_tensor_copy(gpu(), wide.get(), narrow.get()));
  expect_words({"target is 3 x 2 f32 on cuda:0", "2 x 3 f32"}, lpt_context_error(gpu()));
  EXPECT_EQ(LPT_INVALID_ARGUMENT, lpt_tensor_copy(gpu(), wide.get(), other.get()));
  EXPECT_EQ(LPT_INVALID_ARGUMENT, lpt_tensor_copy(gpu(), wide.get(), wide.get()));
  expect_words({"overlaps"}, lpt_context_error(gpu()));
  const Tensor here = make_tensor(cpu(), LPT_FORMAT_F32, 2, 3);
  EXPECT_EQ(LPT_INVALID_ARGUMENT, lpt_tensor_copy(cpu(), wide.get(), here.get()));
  expect_words({"source is 2 x 3 f32 on cuda:0", "expected the CPU"}, lpt_context_error(cpu()));
}

TEST_F(DeviceMemory, MoreThanThereIsIsRejected) {
  const int64_t extents[] = {1 << 20, 1 << 20};
  Tensor tensor;
  EXPECT_EQ(LPT_OUT_OF_MEMORY, lpt_tensor_create(gpu(), LPT_FORMAT_F32, 2, extents, out(tensor)));
}

}  // namespace
}  // namespace lpt::test
