#include "bench/gpu/machine.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <random>

namespace lpt::bench {
namespace {

// A prime, so that the rows of a matrix differ.
constexpr size_t kPattern = 1048583;

std::shared_ptr<lpt_context> context_of(lpt_device device, int32_t threads) {
  char text[1024] = "";
  lpt_context_options options = LPT_CONTEXT_OPTIONS_INIT;
  options.device = device;
  options.thread_count = threads;
  options.error_text = text;
  options.error_text_bytes = sizeof text;
  lpt_context *context = nullptr;
  if (lpt_context_create(&options, &context) != LPT_OK) throw Missing(text);
  return owned(context, lpt_context_destroy);
}

std::string name_of(lpt_device device) {
  lpt_device_info facts = LPT_DEVICE_INFO_INIT;
  if (device == LPT_DEVICE_CPU || lpt_device_describe(nullptr, device, 0, &facts) != LPT_OK) return "the CPU";
  if (facts.is_usable == 0) throw Missing(facts.reason);
  return facts.name;
}

}  // namespace

Machine::Machine(lpt_device device, bool is_tiny)
    : device_(device),
      is_tiny_(is_tiny),
      name_(name_of(device)),
      cpu_(context_of(LPT_DEVICE_CPU, is_tiny ? 1 : 0)),
      context_(device == LPT_DEVICE_CPU ? cpu_ : context_of(device, 1)),
      pattern_(kPattern) {
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  for (float &number : pattern_) number = normal(random);
}

void Machine::enable(const char *variable) {
  setenv(variable, "1", 1);
  if (device_ != LPT_DEVICE_CPU) context_ = context_of(device_, 1);
}

void Machine::check(lpt_context *context, lpt_status status) {
  if (status == LPT_OK) return;
  throw Missing(std::string(lpt_status_string(status)) + ": " + lpt_context_error(context));
}

Tensor Machine::made_on(lpt_context *context, lpt_format format, const std::vector<int64_t> &extents) const {
  lpt_tensor *tensor = nullptr;
  check(context, lpt_tensor_create(context, format, static_cast<int32_t>(extents.size()), extents.data(), &tensor));
  return owned(tensor, lpt_tensor_destroy);
}

Tensor Machine::make(lpt_format format, const std::vector<int64_t> &extents) const {
  return made_on(context_.get(), format, extents);
}

Tensor Machine::make(lpt_format format, int64_t rows, int64_t columns) const { return make(format, {rows, columns}); }

Tensor Machine::source(int64_t rows, int64_t columns) const {
  const Tensor numbers = made_on(cpu_.get(), LPT_FORMAT_F32, {rows, columns});
  auto *to = static_cast<float *>(data(cpu_.get(), numbers));
  for (int64_t left = rows * columns; left > 0;) {
    const auto count = std::min<int64_t>(left, kPattern);
    std::memcpy(to, pattern_.data(), static_cast<size_t>(count) * sizeof(float));
    to += count;
    left -= count;
  }
  return numbers;
}

Tensor Machine::there(const Tensor &here, lpt_format format, int64_t rows, int64_t columns) const {
  if (context_ == cpu_) return here;
  const Tensor copy = make(format, rows, columns);
  check(lpt_tensor_copy(context_.get(), here.get(), copy.get()));
  synchronize();
  return copy;
}

Tensor Machine::numbers(lpt_format format, int64_t rows, int64_t columns) const {
  Tensor here = source(rows, columns);
  if (format != LPT_FORMAT_F32) {
    const Tensor cast = made_on(cpu_.get(), format, {rows, columns});
    check(cpu_.get(), lpt_quantize(cpu_.get(), here.get(), nullptr, cast.get(), nullptr));
    here = cast;
  }
  return there(here, format, rows, columns);
}

Tensor Machine::sparse_numbers(lpt_format format, int64_t rows, int64_t columns) const {
  lpt_context *const cpu = cpu_.get();
  const Tensor dense = source(rows, columns), mask = made_on(cpu, LPT_FORMAT_UINT8, {rows, columns});
  check(cpu, lpt_sparse_mask_select(cpu, dense.get(), nullptr, mask.get(), dense.get(), nullptr));
  const Tensor codes = made_on(cpu, format, {rows, columns});
  check(cpu, lpt_quantize(cpu, dense.get(), nullptr, codes.get(), nullptr));
  lpt_format_description parts = LPT_FORMAT_DESCRIPTION_INIT;
  lpt_format compressed = LPT_FORMAT_NONE;
  check(cpu, lpt_format_describe(nullptr, format, &parts));
  parts.sparse_kept = 2;
  parts.sparse_of = 4;
  check(cpu, lpt_format_from_description(nullptr, &parts, &compressed));
  const Tensor packed = made_on(cpu, compressed, {rows, columns});
  check(cpu, lpt_sparse_compress(cpu, codes.get(), mask.get(), packed.get(), nullptr));
  return there(packed, compressed, rows, columns);
}

Tensor Machine::view(const Tensor &matrix, const std::vector<int64_t> &begins,
                     const std::vector<int64_t> &extents) const {
  lpt_tensor *part = nullptr;
  check(lpt_tensor_view(context_.get(), matrix.get(), begins.data(), extents.data(), &part));
  return owned(part, lpt_tensor_destroy);
}

Tensor Machine::columns(const Tensor &matrix, int64_t begin, int64_t count) const {
  lpt_tensor_description facts = LPT_TENSOR_DESCRIPTION_INIT;
  check(lpt_tensor_describe(context_.get(), matrix.get(), &facts));
  return view(matrix, {0, begin}, {facts.extents[0], count});
}

Tensor Machine::rows(const Tensor &matrix, int64_t begin, int64_t count) const {
  lpt_tensor_description facts = LPT_TENSOR_DESCRIPTION_INIT;
  check(lpt_tensor_describe(context_.get(), matrix.get(), &facts));
  return view(matrix, {begin, 0}, {count, facts.extents[1]});
}

double Machine::bytes(const Tensor &tensor) const {
  size_t bytes = 0;
  check(lpt_tensor_size(context_.get(), tensor.get(), &bytes));
  return static_cast<double>(bytes);
}

void *Machine::data(lpt_context *context, const Tensor &tensor) {
  lpt_tensor *payload = nullptr;
  check(context, lpt_tensor_view_part(context, tensor.get(), LPT_TENSOR_PART_PAYLOAD, &payload));
  const Tensor held = owned(payload, lpt_tensor_destroy);
  lpt_tensor_description facts = LPT_TENSOR_DESCRIPTION_INIT;
  check(context, lpt_tensor_describe(context, payload, &facts));
  return facts.data;
}

}  // namespace lpt::bench
