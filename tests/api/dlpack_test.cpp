// DLPack tensors: import, export, ownership and malformed structs. The structs are declared from dlpack.h a second time,
// so that the test does not depend on the declarations of the library.
#include <atomic>
#include <limits>
#include <thread>

#include "tests/api/support.hpp"

namespace lpt::test {
namespace {

struct Array {
  void *data = nullptr;
  int32_t device_type = 1, device_id = 0;
  int32_t ndim = 0;
  uint8_t code = 2, bits = 32;
  uint16_t lanes = 1;
  int64_t *shape = nullptr;
  int64_t *strides = nullptr;
  uint64_t byte_offset = 0;
};

struct Legacy {
  Array array;
  void *owner = nullptr;
  void (*deleter)(Legacy *) = nullptr;
};

struct Versioned {
  uint32_t major = 1, minor = 1;
  void *owner = nullptr;
  void (*deleter)(Versioned *) = nullptr;
  uint64_t flags = 0;
  Array array;
};

// A matrix of another library that counts the calls of its deleter.
template <typename Managed>
struct Foreign {
  alignas(64) float data[64] = {};
  int64_t shape[2] = {3, 4};
  int64_t strides[2] = {5, 1};
  std::atomic<int> ends{0};
  Managed managed;

  Foreign() {
    for (int i = 0; i < 64; ++i) data[i] = static_cast<float>(i);
    managed.array.data = data;
    managed.array.ndim = 2;
    managed.array.shape = shape;
    managed.array.strides = strides;
    managed.owner = this;
    managed.deleter = [](Managed *self) { ++static_cast<Foreign *>(self->owner)->ends; };
  }
};

constexpr int32_t is_versioned(const Versioned &) { return 1; }
constexpr int32_t is_versioned(const Legacy &) { return 0; }

template <typename Managed>
class Dlpack : public testing::Test {};
using Both = testing::Types<Versioned, Legacy>;
TYPED_TEST_SUITE(Dlpack, Both);

TYPED_TEST(Dlpack, BorrowsWithoutACopyAndNeverCallsTheDeleter) {
  const Context context = make_context();
  Foreign<TypeParam> foreign;
  foreign.managed.array.byte_offset = 8;
  Tensor tensor;
  const int32_t versioned = is_versioned(foreign.managed);
  ASSERT_TRUE(
      ok(context.get(), lpt_tensor_from_dlpack(context.get(), &foreign.managed, versioned, nullptr, out(tensor))));
  EXPECT_EQ(foreign.data + 2, describe(context.get(), tensor.get()).data);
  EXPECT_EQ((std::vector<double>{2, 3, 4, 5, 7, 8, 9, 10, 12, 13, 14, 15}), numbers_of(context.get(), tensor.get()));
  tensor.reset();
  EXPECT_EQ(0, foreign.ends);
}

TYPED_TEST(Dlpack, TakesOverAndCallsTheDeleterOnceAfterTheLastViewOnAnyThread) {
  const Context context = make_context();
  Foreign<TypeParam> foreign;
  Tensor tensor, view, part;
  const int32_t versioned = is_versioned(foreign.managed);
  ASSERT_TRUE(
      ok(context.get(), lpt_tensor_take_dlpack(context.get(), &foreign.managed, versioned, nullptr, out(tensor))));
  const int64_t begins[] = {1, 1}, extents[] = {1, 2};
  ASSERT_TRUE(ok(context.get(), lpt_tensor_view(context.get(), tensor.get(), begins, extents, out(view))));
  ASSERT_TRUE(ok(context.get(), lpt_tensor_view_part(context.get(), view.get(), LPT_TENSOR_PART_PAYLOAD, out(part))));
  tensor.reset();
  view.reset();
  EXPECT_EQ(0, foreign.ends);
  EXPECT_EQ((std::vector<double>{6, 7}), numbers_of(context.get(), part.get()));
  std::thread([&] { part.reset(); }).join();
  EXPECT_EQ(1, foreign.ends);
}

TYPED_TEST(Dlpack, TakesStructsWithoutADeleter) {
  const Context context = make_context();
  Foreign<TypeParam> foreign;
  foreign.managed.deleter = nullptr;
  Tensor tensor;
  const int32_t versioned = is_versioned(foreign.managed);
  EXPECT_TRUE(
      ok(context.get(), lpt_tensor_take_dlpack(context.get(), &foreign.managed, versioned, nullptr, out(tensor))));
}

TYPED_TEST(Dlpack, GivesMemoryThatOutlivesTensorAndContext) {
  Context context = make_context();
  Tensor tensor = make_tensor(context.get(), LPT_FORMAT_F32, {2, 3});
  void *data = describe(context.get(), tensor.get()).data;
  static_cast<float *>(data)[5] = 42.0f;
  void *given = nullptr;
  ASSERT_TRUE(ok(context.get(), lpt_tensor_to_dlpack(context.get(), tensor.get(), is_versioned(TypeParam()), &given)));
  tensor.reset();
  context.reset();
  auto *managed = static_cast<TypeParam *>(given);
  const Array &array = managed->array;
  EXPECT_EQ(data, array.data);
  EXPECT_EQ(2, array.ndim);
  EXPECT_EQ(3, array.shape[1]);
  EXPECT_EQ(3, array.strides[0]);
  EXPECT_EQ(1, array.strides[1]);
  EXPECT_EQ(1, array.device_type);
  EXPECT_EQ(0u, array.byte_offset);
  EXPECT_EQ(42.0f, static_cast<float *>(array.data)[5]);
  managed->deleter(managed);
}

struct Code {
  int code, bits;
  lpt_format format;  // NONE: no such format
  const char *name;
};

// Every type code of dlpack.h 1.1 with its possible bits, and codes after the last one.
constexpr Code kCodes[] = {
    {0, 2, LPT_FORMAT_INT2, "int"},
    {0, 4, LPT_FORMAT_INT4, "int"},
    {0, 8, LPT_FORMAT_INT8, "int"},
    {0, 16, LPT_FORMAT_INT16, "int"},
    {0, 32, LPT_FORMAT_INT32, "int"},
    {0, 64, LPT_FORMAT_INT64, "int"},
    {0, 128, LPT_FORMAT_NONE, "int"},
    {1, 4, LPT_FORMAT_UINT4, "uint"},
    {1, 8, LPT_FORMAT_UINT8, "uint"},
    {1, 16, LPT_FORMAT_NONE, "uint"},
    {2, 16, LPT_FORMAT_F16, "float"},
    {2, 32, LPT_FORMAT_F32, "float"},
    {2, 64, LPT_FORMAT_F64, "float"},
    {2, 8, LPT_FORMAT_NONE, "float"},
    {3, 64, LPT_FORMAT_NONE, "opaque"},
    {4, 16, LPT_FORMAT_BF16, "bfloat"},
    {5, 64, LPT_FORMAT_NONE, "complex"},
    {6, 8, LPT_FORMAT_UINT8, "bool"},
    {7, 8, LPT_FORMAT_E3M4, "float8_e3m4"},
    {8, 8, LPT_FORMAT_E4M3, "float8_e4m3"},
    {9, 8, LPT_FORMAT_E4M3B11FNUZ, "float8_e4m3b11fnuz"},
    {10, 8, LPT_FORMAT_E4M3FN, "float8_e4m3fn"},
    {11, 8, LPT_FORMAT_E4M3FNUZ, "float8_e4m3fnuz"},
    {12, 8, LPT_FORMAT_E5M2, "float8_e5m2"},
    {13, 8, LPT_FORMAT_E5M2FNUZ, "float8_e5m2fnuz"},
    {14, 8, LPT_FORMAT_E8M0FNU, "float8_e8m0fnu"},
    {15, 6, LPT_FORMAT_E2M3FN, "float6_e2m3fn"},
    {15, 8, LPT_FORMAT_NONE, "float6_e2m3fn"},
    {16, 6, LPT_FORMAT_E3M2FN, "float6_e3m2fn"},
    {17, 4, LPT_FORMAT_E2M1FN, "float4_e2m1fn"},
    {17, 8, LPT_FORMAT_NONE, "float4_e2m1fn"},
    {18, 8, LPT_FORMAT_NONE, "unknown"},
    {255, 8, LPT_FORMAT_NONE, "unknown"},
};

TEST(DlpackTypes, AreFormatsOrAreRejectedByName) {
  const Context context = make_context();
  for (const Code &code : kCodes) {
    Foreign<Versioned> foreign;
    foreign.managed.array.code = static_cast<uint8_t>(code.code);
    foreign.managed.array.bits = static_cast<uint8_t>(code.bits);
    foreign.strides[0] = 8;
    Tensor tensor;
    const lpt_status status = lpt_tensor_from_dlpack(context.get(), &foreign.managed, 1, nullptr, out(tensor));
    if (code.format == LPT_FORMAT_NONE) {
      EXPECT_EQ(LPT_UNSUPPORTED, status) << code.name << code.bits;
      expect_words({"dtype", code.name, "no such format"}, lpt_context_error(context.get()));
      continue;
    }
    ASSERT_TRUE(ok(context.get(), status)) << code.name << code.bits;
    EXPECT_EQ(code.format, describe(context.get(), tensor.get()).format) << code.name << code.bits;
    void *given = nullptr;
    ASSERT_TRUE(ok(context.get(), lpt_tensor_to_dlpack(context.get(), tensor.get(), 1, &given)));
    auto *managed = static_cast<Versioned *>(given);
    // A bool mask is imported as uint8, so it is exported as uint8.
    EXPECT_EQ(code.code == 6 ? 1 : code.code, managed->array.code);
    EXPECT_EQ(code.bits, managed->array.bits);
    EXPECT_EQ(1, managed->array.lanes);
    managed->deleter(managed);
  }
}

TEST(DlpackTypes, HaveTheirFirstElementInTheLowBits) {
  const Context context = make_context();
  Foreign<Versioned> foreign;
  unsigned char bytes[2] = {0x21, 0x43};  // the codes 1, 2, 3, 4 of e2m1fn: 0.5, 1, 1.5, 2
  foreign.managed.array.data = bytes;
  foreign.managed.array.code = 17;
  foreign.managed.array.bits = 4;
  foreign.shape[0] = 1;
  Tensor tensor;
  ASSERT_TRUE(ok(context.get(), lpt_tensor_from_dlpack(context.get(), &foreign.managed, 1, nullptr, out(tensor))));
  EXPECT_EQ((std::vector<double>{0.5, 1, 1.5, 2}), numbers_of(context.get(), tensor.get()));
}

TEST(DlpackTypes, CountLanesAsElementsOfTheLastAxis) {
  const Context context = make_context();
  Foreign<Versioned> foreign;
  foreign.managed.array.code = 17;
  foreign.managed.array.bits = 4;
  foreign.managed.array.lanes = 2;
  Tensor tensor;
  ASSERT_TRUE(ok(context.get(), lpt_tensor_from_dlpack(context.get(), &foreign.managed, 1, nullptr, out(tensor))));
  const lpt_tensor_description found = describe(context.get(), tensor.get());
  EXPECT_EQ(3, found.extents[0]);
  EXPECT_EQ(8, found.extents[1]);
  EXPECT_EQ(10, found.strides[0]);
}

TEST(DlpackParts, OfAQuantizedMatrixGoOutAndComeBackAsTheSameMatrix) {
  const Context context = make_context();
  for (const lpt_format format : {LPT_FORMAT_NVFP4, LPT_FORMAT_MXFP8_E4M3, LPT_FORMAT_E4M3FN_128X128}) {
    std::vector<float> numbers(4 * 64);
    for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i) - 100.0f;
    Tensor source, back;
    ASSERT_TRUE(ok(context.get(),
                   lpt_tensor_wrap_matrix(context.get(), LPT_FORMAT_F32, numbers.data(), 4, 64, 0, out(source))));
    const Tensor quantized = make_tensor(context.get(), format, 4, 64);
    ASSERT_TRUE(ok(context.get(), lpt_quantize(context.get(), source.get(), nullptr, quantized.get(), nullptr)));
    void *whole = nullptr;
    EXPECT_EQ(LPT_UNSUPPORTED, lpt_tensor_to_dlpack(context.get(), quantized.get(), 1, &whole));
    expect_words({"scales", "lpt_tensor_view_part"}, lpt_context_error(context.get()));
    EXPECT_EQ(nullptr, whole);
    Tensor owned[3];
    const lpt_tensor *parts[3] = {};
    for (int i = 0; i < 3; ++i) {
      Tensor part;
      if (lpt_tensor_view_part(context.get(), quantized.get(), i, out(part)) != LPT_OK) continue;
      void *given = nullptr;
      ASSERT_TRUE(ok(context.get(), lpt_tensor_to_dlpack(context.get(), part.get(), 1, &given)));
      ASSERT_TRUE(ok(context.get(), lpt_tensor_take_dlpack(context.get(), given, 1, nullptr, out(owned[i]))));
      parts[i] = owned[i].get();
    }
    ASSERT_TRUE(ok(context.get(), lpt_tensor_combine(context.get(), format, 4, 64, parts, 3, out(back))));
    EXPECT_EQ(numbers_of(context.get(), quantized.get()), numbers_of(context.get(), back.get()));
  }
}

TEST(DlpackFlags, AreReturnedAndReadOnlyMemoryMakesAReadOnlyTensor) {
  const Context context = make_context();
  Foreign<Versioned> foreign;
  foreign.managed.flags = 3;
  uint64_t flags = 77;
  Tensor tensor;
  ASSERT_TRUE(ok(context.get(), lpt_tensor_from_dlpack(context.get(), &foreign.managed, 1, &flags, out(tensor))));
  EXPECT_EQ(LPT_DLPACK_READ_ONLY | LPT_DLPACK_COPIED, flags);
  EXPECT_EQ(uint64_t{LPT_TENSOR_READ_ONLY}, describe(context.get(), tensor.get()).flags);
  EXPECT_TRUE(ok(context.get(), lpt_tensor_from_dlpack(context.get(), &foreign.managed, 1, nullptr, out(tensor))));
  void *managed = nullptr;
  EXPECT_EQ(LPT_UNSUPPORTED, lpt_tensor_to_dlpack(context.get(), tensor.get(), 0, &managed));
  expect_words({"tensor is read-only", "versioned"}, lpt_context_error(context.get()));
  ASSERT_TRUE(ok(context.get(), lpt_tensor_to_dlpack(context.get(), tensor.get(), 1, &managed)));
  EXPECT_EQ(1u, static_cast<Versioned *>(managed)->flags);
  static_cast<Versioned *>(managed)->deleter(static_cast<Versioned *>(managed));
  foreign.managed.flags = 4;  // the padding flag concerns only elements below a byte
  EXPECT_TRUE(ok(context.get(), lpt_tensor_from_dlpack(context.get(), &foreign.managed, 1, &flags, out(tensor))));
  EXPECT_EQ(0u, flags);
}

TEST(DlpackShapes, OfOneIndexHaveAnyStride) {
  const Context context = make_context();
  Foreign<Versioned> foreign;
  foreign.shape[0] = 1;
  foreign.strides[0] = -999;
  Tensor tensor;
  ASSERT_TRUE(ok(context.get(), lpt_tensor_from_dlpack(context.get(), &foreign.managed, 1, nullptr, out(tensor))));
  EXPECT_EQ((std::vector<double>{0, 1, 2, 3}), numbers_of(context.get(), tensor.get()));
}

TEST(DlpackShapes, WithoutElementsNeedNoMemory) {
  const Context context = make_context();
  Foreign<Versioned> foreign;
  foreign.shape[1] = 0;
  foreign.managed.array.data = nullptr;
  foreign.managed.array.byte_offset = std::numeric_limits<uint64_t>::max();
  Tensor tensor;
  ASSERT_TRUE(ok(context.get(), lpt_tensor_take_dlpack(context.get(), &foreign.managed, 1, nullptr, out(tensor))));
  tensor.reset();
  EXPECT_EQ(1, foreign.ends);
}

struct BadStruct {
  const char *what;
  lpt_status status;
  std::vector<const char *> words;
  void (*corrupt)(Foreign<Versioned> &);
};

const std::vector<BadStruct> kBadStructs = {
    {"major",
     LPT_UNSUPPORTED,
     {"version is 2.0", "major 1"},
     [](auto &f) { f.managed.major = 2, f.managed.minor = 0; }},
    {"device",
     LPT_UNSUPPORTED,
     {"device_type is 2", "cuda", "expected 1, cpu"},
     [](auto &f) { f.managed.array.device_type = 2; }},
    {"no device", LPT_UNSUPPORTED, {"device_type is 5", "unknown"}, [](auto &f) { f.managed.array.device_type = 5; }},
    {"least device",
     LPT_UNSUPPORTED,
     {"device_type is -2147483648", "unknown"},
     [](auto &f) { f.managed.array.device_type = INT32_MIN; }},
    {"rank -1", LPT_INVALID_ARGUMENT, {"ndim is -1", "0 to 8"}, [](auto &f) { f.managed.array.ndim = -1; }},
    {"huge rank", LPT_INVALID_ARGUMENT, {"ndim is 2147483647"}, [](auto &f) { f.managed.array.ndim = INT32_MAX; }},
    {"no shape", LPT_INVALID_ARGUMENT, {"shape is NULL"}, [](auto &f) { f.managed.array.shape = nullptr; }},
    {"extent -1", LPT_INVALID_ARGUMENT, {"extents[1] is -1"}, [](auto &f) { f.shape[1] = -1; }},
    {"extents that overflow",
     LPT_INVALID_ARGUMENT,
     {"extents[1]", "does not fit"},
     [](auto &f) { f.shape[0] = f.shape[1] = int64_t{1} << 32; }},
    {"negative stride", LPT_INVALID_ARGUMENT, {"strides[0] is -4"}, [](auto &f) { f.strides[0] = -4; }},
    {"stride 0", LPT_INVALID_ARGUMENT, {"strides[0] is 0", "share memory"}, [](auto &f) { f.strides[0] = 0; }},
    {"stride that overflows",
     LPT_INVALID_ARGUMENT,
     {"strides[0]", "does not fit"},
     [](auto &f) { f.strides[0] = INT64_MAX; }},
    {"no memory", LPT_INVALID_ARGUMENT, {"data is NULL"}, [](auto &f) { f.managed.array.data = nullptr; }},
    {"misaligned", LPT_INVALID_ARGUMENT, {"data is 0x", "4"}, [](auto &f) { f.managed.array.byte_offset = 2; }},
    {"offset past all memory",
     LPT_INVALID_ARGUMENT,
     {"byte_offset is 18446744073709551612"},
     [](auto &f) { f.managed.array.byte_offset = UINT64_MAX - 3; }},
    {"no lanes", LPT_INVALID_ARGUMENT, {"lanes is 0"}, [](auto &f) { f.managed.array.lanes = 0; }},
    {"lanes that overflow",
     LPT_INVALID_ARGUMENT,
     {"strides[0]", "lanes"},
     [](auto &f) { f.strides[0] = INT64_MAX / 2, f.managed.array.lanes = 3; }},
    {"lanes of strided elements",
     LPT_UNSUPPORTED,
     {"strides[1] is 2", "lanes"},
     [](auto &f) { f.strides[1] = 2, f.managed.array.lanes = 2; }},
    {"lanes without axes",
     LPT_UNSUPPORTED,
     {"lanes is 2", "without axes"},
     [](auto &f) { f.managed.array.ndim = 0, f.managed.array.lanes = 2; }},
    {"padded",
     LPT_UNSUPPORTED,
     {"IS_SUBBYTE_TYPE_PADDED", "4 bits"},
     [](auto &f) { f.managed.flags = 4, f.managed.array.code = 17, f.managed.array.bits = 4; }},
    {"packed rows that begin inside a byte",
     LPT_INVALID_ARGUMENT,
     {"strides[0] is 5", "multiples of 2"},
     [](auto &f) { f.managed.array.code = 17, f.managed.array.bits = 4; }},
};

TEST(DlpackBadStructs, AreRejectedWithTheReasonAndStayTheCallers) {
  const Context context = make_context();
  for (const BadStruct &bad : kBadStructs) {
    Foreign<Versioned> foreign;
    bad.corrupt(foreign);
    lpt_tensor *tensor = reinterpret_cast<lpt_tensor *>(&foreign);
    uint64_t flags = 77;
    EXPECT_EQ(bad.status, lpt_tensor_take_dlpack(context.get(), &foreign.managed, 1, &flags, &tensor)) << bad.what;
    expect_words(bad.words, lpt_context_error(context.get()), bad.what);
    EXPECT_EQ(reinterpret_cast<lpt_tensor *>(&foreign), tensor) << bad.what;
    EXPECT_EQ(77u, flags) << bad.what;
    EXPECT_EQ(0, foreign.ends) << bad.what;
  }
}

TEST(DlpackBadCalls, NameTheirArgument) {
  const Context context = make_context();
  Foreign<Versioned> foreign;
  Tensor tensor = make_tensor(context.get(), LPT_FORMAT_NF4, {2, 2});
  void *given = nullptr;
  const auto expect = [&](lpt_status expected, lpt_status found, const std::vector<const char *> &words) {
    EXPECT_EQ(expected, found);
    expect_words(words, lpt_context_error(context.get()));
  };
  lpt_context *c = context.get();
  lpt_tensor *made = nullptr;
  expect(LPT_INVALID_ARGUMENT, lpt_tensor_from_dlpack(c, nullptr, 1, nullptr, &made), {"managed is NULL"});
  expect(LPT_INVALID_ARGUMENT, lpt_tensor_take_dlpack(c, nullptr, 1, nullptr, &made), {"managed is NULL"});
  expect(LPT_INVALID_ARGUMENT, lpt_tensor_from_dlpack(c, &foreign.managed, 1, nullptr, nullptr), {"out_tensor"});
  expect(LPT_INVALID_ARGUMENT, lpt_tensor_from_dlpack(c, &foreign.managed, 2, nullptr, &made), {"is_versioned is 2"});
  expect(LPT_INVALID_ARGUMENT, lpt_tensor_to_dlpack(c, nullptr, 1, &given), {"tensor is NULL"});
  expect(LPT_INVALID_ARGUMENT, lpt_tensor_to_dlpack(c, tensor.get(), 1, nullptr), {"out_managed is NULL"});
  expect(LPT_UNSUPPORTED, lpt_tensor_to_dlpack(c, tensor.get(), 1, &given), {"nf4", "no such type"});
  tensor = make_tensor(context.get(), LPT_FORMAT_F32, {2, 2});
  expect(LPT_INVALID_ARGUMENT, lpt_tensor_to_dlpack(c, tensor.get(), -1, &given), {"is_versioned is -1"});
}

}  // namespace
}  // namespace lpt::test
