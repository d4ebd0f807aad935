#include "src/backends/queue.hpp"

#include <cstdio>

namespace lpt {
namespace {

// A kind of device. Its backend is part of the library or of a plugin.
struct Kind {
  lpt_device kind;
  const char *name;
  const char *plugin;  // file name; NULL: no plugin
};

constexpr Kind kKinds[] = {{LPT_DEVICE_CPU, "cpu", nullptr}, {LPT_DEVICE_CUDA, "cuda", "liblpt_cuda.so"}};

constexpr size_t kErrorBytes = 512;

// Calls a function of a backend and converts its result to a Status.
template <typename Call>
Status call(const Call &function) {
  char error[kErrorBytes] = "";
  const int32_t code = function(error, sizeof error);
  return code == LPT_OK ? Status() : Status(code, error);
}

// Memory of one device. The allocator's `user` is this object.
struct DeviceMemory : Allocator {
  DeviceMemory(const Backend &given, int32_t place) : Allocator{take, give_back, this}, backend(given), index(place) {}

  static void *take(void *user, size_t bytes, size_t) {
    const auto &self = *static_cast<const DeviceMemory *>(user);
    void *memory = nullptr;
    char error[kErrorBytes];
    return self.backend.allocate(self.index, bytes, &memory, error, sizeof error) == LPT_OK ? memory : nullptr;
  }
  static void give_back(void *user, void *memory, size_t) {
    const auto &self = *static_cast<const DeviceMemory *>(user);
    self.backend.release(self.index, memory);
  }

  const Backend &backend;
  const int32_t index;
};

// Memory of the caller's hooks, for one stream. The allocator's `user` is this object.
struct HookedMemory : Allocator {
  HookedMemory(const DeviceHooks &given, void *work_stream)
      : Allocator{take, give_back, this, "device_allocate"}, hooks(given), stream(work_stream) {}

  static void *take(void *user, size_t bytes, size_t alignment) {
    const auto &self = *static_cast<const HookedMemory *>(user);
    return self.hooks.allocate(self.hooks.user, bytes, alignment, self.stream);
  }
  static void give_back(void *user, void *memory, size_t bytes) {
    const auto &self = *static_cast<const HookedMemory *>(user);
    self.hooks.release(self.hooks.user, memory, bytes, self.stream);
  }

  const DeviceHooks hooks;
  void *const stream;
};

Status find_kind(lpt_device kind, const Kind **out_kind) {
  for (const Kind &known : kKinds) {
    if (known.kind != kind) continue;
    *out_kind = &known;
    return {};
  }
  return invalid("device is %d: expected one of lpt_device_values, 0 to %d", kind, LPT_DEVICE_CUDA);
}

struct LoadedBackend {
  const Backend *backend = &cpu_backend();
  std::span<const DeviceFamily> families;
  const DeviceTransport *wire = nullptr;
};

Status find_backend(const Kind &kind, LoadedBackend &out_found) {
  if (kind.plugin == nullptr) return {};
  const DevicePlugin *plugin = nullptr;
  LPT_TRY(find_device_plugin(kind.plugin, &plugin));
  out_found = {plugin->backend, {plugin->families, static_cast<size_t>(plugin->family_count)}, plugin->wire};
  return {};
}

Status check_device(const Device &device, const Kind **out_kind) {
  LPT_TRY(find_kind(device.kind, out_kind));
  if (device.index < 0 || device.index > 4096 || (device.is_cpu() && device.index != 0)) {
    return invalid("device_index is %d: expected %s", device.index, device.is_cpu() ? "0, the CPU" : "0 to 4096");
  }
  return {};
}

Status describe(const LoadedBackend &found, const Device &device, lpt_device_info &out_description) {
  out_description = LPT_DEVICE_INFO_INIT;
  out_description.device = device.kind;
  out_description.index = device.index;
  return call(
      [&](char *error, size_t bytes) { return found.backend->describe(device.index, &out_description, error, bytes); });
}

}  // namespace

std::string device_text(const Device &device) {
  const Kind *kind = nullptr;
  const Status status = find_kind(device.kind, &kind);
  if (!status.is_ok()) return text("device %d", device.kind);
  return device.is_cpu() ? kind->name : text("%s:%d", kind->name, device.index);
}

Status describe_device(const Device &device, lpt_device_info &out_description) {
  const Kind *kind = nullptr;
  LPT_TRY(check_device(device, &kind));
  LoadedBackend found;
  const Status status = find_backend(*kind, found);
  if (status.is_ok()) return describe(found, device, out_description);
  out_description = LPT_DEVICE_INFO_INIT;
  out_description.device = device.kind;
  out_description.index = device.index;
  std::snprintf(out_description.reason, sizeof out_description.reason, "%s", status.message().c_str());
  return {};
}

Status Queue::open(const Device &device, Queue &out_queue) {
  const Kind *kind = nullptr;
  LPT_TRY(check_device(device, &kind));
  LoadedBackend found;
  LPT_TRY(find_backend(*kind, found));
  lpt_device_info facts;
  LPT_TRY(describe(found, device, facts));
  if (facts.is_usable == 0) return unsupported("%s: %s", device_text(device).c_str(), facts.reason);
  out_queue.backend_ = found.backend;
  out_queue.device_ = device;
  out_queue.capability_ = 10 * facts.capability_major + facts.capability_minor;
  out_queue.families_ = found.families;
  out_queue.wire_ = found.wire;
  return {};
}

std::shared_ptr<const Allocator> Queue::allocator(const DeviceHooks &hooks, void *stream) const {
  if (hooks.allocate != nullptr) return std::make_shared<const HookedMemory>(hooks, stream);
  return std::make_shared<const DeviceMemory>(*backend_, device_.index);
}

Status Queue::check(const void *memory, const char *name) const {
  const Status status =
      call([&](char *error, size_t bytes) { return backend_->check(device_.index, memory, error, bytes); });
  return status.is_ok() ? status : Status(status.code(), text("%s is %p: %s", name, memory, status.message().c_str()));
}

Status Queue::fill(void *memory, uint8_t value, size_t count) const {
  if (count == 0) return {};
  return call([&](char *error, size_t bytes) {
    return backend_->fill(device_.index, stream_, memory, value, count, error, bytes);
  });
}

Status Queue::copy(const CopyRequest &request) const {
  if (request.rows == 0 || request.row_bytes == 0) return {};
  return call(
      [&](char *error, size_t bytes) { return backend_->copy(device_.index, stream_, &request, error, bytes); });
}

Status Queue::copy_between(const CopyRequest &request, const Device &target, const Device &source) const {
  if (request.rows == 0 || request.row_bytes == 0) return {};
  return call([&](char *error, size_t bytes) {
    return backend_->copy_between(device_.index, stream_, &request, target.index, source.index, error, bytes);
  });
}

Status Queue::synchronize() const {
  const std::vector<std::weak_ptr<Watch>> watched = std::move(watched_);
  watched_.clear();
  for (const std::weak_ptr<Watch> &work : watched) {
    if (const std::shared_ptr<Watch> live = work.lock()) LPT_TRY(live->wait());
  }
  return call([&](char *error, size_t bytes) { return backend_->synchronize(device_.index, stream_, error, bytes); });
}

void Queue::watch(const std::shared_ptr<Watch> &work) {
  std::erase_if(watched_, [&](const std::weak_ptr<Watch> &known) { return known.expired() || known.lock() == work; });
  watched_.push_back(work);
}

Status Queue::make_stream(Stream &out_stream) const {
  void *stream = nullptr;
  LPT_TRY(call([&](char *error, size_t bytes) { return backend_->make_stream(device_.index, &stream, error, bytes); }));
  const auto drop = [backend = backend_, index = device_.index](void *made) { backend->drop_stream(index, made); };
  out_stream = Stream(stream, drop);
  return {};
}

Status Queue::make_event(Event &out_event) const {
  void *event = nullptr;
  LPT_TRY(call([&](char *error, size_t bytes) { return backend_->make_event(device_.index, &event, error, bytes); }));
  const auto drop = [backend = backend_, index = device_.index](void *made) { backend->drop_event(index, made); };
  out_event = Event(event, drop);
  return {};
}

Status Queue::record(void *event) const {
  return call([&](char *error, size_t bytes) { return backend_->record(device_.index, event, stream_, error, bytes); });
}

Status Queue::follow(void *event) const {
  return call([&](char *error, size_t bytes) { return backend_->follow(device_.index, stream_, event, error, bytes); });
}

Status Queue::follow_stream(void *later, void *earlier) const {
  if (later == earlier) return {};
  Event event;
  LPT_TRY(make_event(event));
  LPT_TRY(call(
      [&](char *error, size_t bytes) { return backend_->record(device_.index, event.get(), earlier, error, bytes); }));
  return call(
      [&](char *error, size_t bytes) { return backend_->follow(device_.index, later, event.get(), error, bytes); });
}

Status Queue::is_past(const Event &event, bool &out_is_past) const {
  int32_t is_past = 0;
  LPT_TRY(call([&](char *error, size_t bytes) {
    return backend_->is_past(device_.index, event.get(), &is_past, error, bytes);
  }));
  out_is_past = is_past != 0;
  return {};
}

Status Queue::enter(int32_t &out_previous) const {
  return call(
      [&](char *error, size_t bytes) { return backend_->enter(device_.index, stream_, &out_previous, error, bytes); });
}

Status Queue::leave(int32_t previous, const char *row) const {
  const Status status =
      call([&](char *error, size_t bytes) { return backend_->leave(device_.index, previous, error, bytes); });
  return status.is_ok() ? status : Status(status.code(), text("%s: %s", row, status.message().c_str()));
}

}  // namespace lpt
