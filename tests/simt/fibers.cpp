// Fibers of kernels/common/simt.hpp: the threads of a block alternate on one CPU thread.
#include <ucontext.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <vector>

#include "kernels/common/simt.hpp"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#define LPT_SIMT_ASAN
#endif

namespace lpt::simt {
namespace {

constexpr std::size_t kStackBytes = 128 * 1024;  // sanitizers have large frames
constexpr uint32_t kWarp = 32;

enum class State { kReady, kAtBarrier, kInWarp, kDone };

// Resume state of a fiber or the scheduler: frame, stack and address, as __builtin_setjmp stores them.
using Resumption = void *[5];

struct Fiber {
  Resumption resumption;
  std::unique_ptr<std::byte[]> stack;
  bool is_started = false;
  void *fake_stack = nullptr;  // of AddressSanitizer
  dim3 thread;
  State state = State::kDone;
  Where where;
  // Operands and results of a warp operation.
  const char *operation = nullptr;
  uint32_t mask = 0, source = 0;
  bool is_true = false;
  uint64_t value = 0, exchanged = 0;
  uint32_t votes = 0;
};

// The grid that is running.
struct Machine {
  const char *kernel = "";
  void (*body)(void *) = nullptr;
  void *closure = nullptr;
  ThreadCoords place;
  Order order = Order::kForward;
  std::minstd_rand shuffle;
  Resumption scheduler;
  void *scheduler_fake_stack = nullptr;
  const void *scheduler_stack = nullptr;
  std::size_t scheduler_stack_bytes = 0;
  std::vector<Fiber> fibers;
  std::vector<uint32_t> sequence;  // order of the threads of a block
  uint32_t running = 0;
  uint32_t count = 0;
  std::vector<std::byte> shared;
  std::string fault;  // of the running fiber; the scheduler throws it
};

Machine machine;
Queue streams = nullptr;

// Limits of CUDA. Blocks of compute capability 9.0 have the most shared memory; more than 48 KiB must be enabled per kernel.
constexpr uint32_t kMostGridX = 0x7FFFFFFF, kMostGridYz = 65535, kMostBlockXy = 1024, kMostBlockZ = 64;
constexpr uint64_t kMostThreads = 1024;
constexpr std::size_t kSharedBytes = 48 * 1024, kMostSharedBytes = 227 * 1024;

std::mutex allowed_lock;                                // launches of a plugin are from several threads
std::map<const void *, std::size_t> allowed_of_kernel;  // enabled bytes of shared memory beyond 48 KiB

Fiber &running() { return machine.fibers[machine.running]; }

std::string text_of(dim3 place) {
  return "(" + std::to_string(place.x) + ", " + std::to_string(place.y) + ", " + std::to_string(place.z) + ")";
}

std::string text_of(const Fiber &fiber, const std::string &what, const Where &where) {
  const std::string file = where.file_name();
  return std::string("kernel ") + machine.kernel + ", block " + text_of(machine.place.block) + ", thread " +
         text_of(fiber.thread) + ", " + file.substr(file.rfind('/') + 1) + ":" + std::to_string(where.line()) + ": " +
         what;
}

// Switches between fibers and the scheduler.

// swapcontext() calls the operating system twice, and the version of AddressSanitizer clears the shadow of a full stack, at
// every switch.
[[noreturn, gnu::noinline, gnu::no_sanitize("address")]] void resume(Resumption &at) { __builtin_longjmp(at, 1); }

// Returns when `from` is resumed.
[[gnu::noinline, gnu::no_sanitize("address")]] void switch_between(Resumption &from, Resumption &to) {
  if (__builtin_setjmp(from) == 0) resume(to);
}

void leave_fiber(Fiber &fiber) {
#ifdef LPT_SIMT_ASAN
  __sanitizer_start_switch_fiber(&fiber.fake_stack, machine.scheduler_stack, machine.scheduler_stack_bytes);
#endif
  switch_between(fiber.resumption, machine.scheduler);
#ifdef LPT_SIMT_ASAN
  __sanitizer_finish_switch_fiber(fiber.fake_stack, &machine.scheduler_stack, &machine.scheduler_stack_bytes);
#endif
}

[[noreturn]] void fiber_main() {
#ifdef LPT_SIMT_ASAN
  __sanitizer_finish_switch_fiber(nullptr, &machine.scheduler_stack, &machine.scheduler_stack_bytes);
#endif
  for (;;) {
    machine.body(machine.closure);
    running().state = State::kDone;
    leave_fiber(running());  // resumed for the next block: setting up a fiber is slow under AddressSanitizer
  }
}

// Switches to a fiber for the first time, onto its stack.
[[gnu::noinline, gnu::no_sanitize("address")]] void switch_to_start(Resumption &from, Fiber &fiber) {
  if (__builtin_setjmp(from) != 0) return;
  ucontext_t context;
  getcontext(&context);
  context.uc_stack.ss_sp = fiber.stack.get();
  context.uc_stack.ss_size = kStackBytes;
  context.uc_link = nullptr;
  makecontext(&context, fiber_main, 0);
  setcontext(&context);
}

void enter_fiber(uint32_t index) {
  machine.running = index;
  Fiber &fiber = running();
  machine.place.thread = fiber.thread;
#ifdef LPT_SIMT_ASAN
  __sanitizer_start_switch_fiber(&machine.scheduler_fake_stack, fiber.stack.get(), kStackBytes);
#endif
  if (fiber.is_started) {
    switch_between(machine.scheduler, fiber.resumption);
  } else {
    fiber.is_started = true;
    switch_to_start(machine.scheduler, fiber);
  }
#ifdef LPT_SIMT_ASAN
  __sanitizer_finish_switch_fiber(machine.scheduler_fake_stack, nullptr, nullptr);
#endif
  if (machine.fault.empty()) return;
  const Fault fault(machine.fault);
  machine.fault.clear();
  throw fault;
}

void wait(State state, const Where &where) {
  Fiber &fiber = running();
  fiber.state = state;
  fiber.where = where;
  leave_fiber(fiber);
}

// Warps.

Fiber *lane_of(const Fiber &fiber, uint32_t lane) {
  const uint32_t index = static_cast<uint32_t>(&fiber - machine.fibers.data()) / kWarp * kWarp + lane;
  return index < machine.count ? &machine.fibers[index] : nullptr;
}

bool has_joined(const Fiber *other, const Fiber &fiber) {
  return other != nullptr && other->state == State::kInWarp && other->mask == fiber.mask &&
         other->operation == fiber.operation;
}

// The last lane of a mask to arrive distributes the results to all lanes.
bool complete(Fiber &fiber) {
  uint32_t votes = 0;
  for (uint32_t lane = 0; lane < kWarp; ++lane) {
    if ((fiber.mask >> lane & 1) == 0) continue;
    const Fiber *other = lane_of(fiber, lane);
    if (!has_joined(other, fiber)) return false;
    votes |= static_cast<uint32_t>(other->is_true) << lane;
  }
  for (uint32_t lane = 0; lane < kWarp; ++lane) {
    if ((fiber.mask >> lane & 1) == 0) continue;
    Fiber &other = *lane_of(fiber, lane);
    other.exchanged = lane_of(fiber, other.source)->value;
    other.votes = votes;
    other.state = State::kReady;
  }
  return true;
}

void join_warp(uint32_t mask, uint32_t source, const char *operation, const Where &where) {
  if ((mask >> lane() & 1) == 0) fault(operation, " by a lane that its mask leaves out", where);
  if ((mask >> source & 1) == 0) fault(operation, " from a lane that its mask leaves out", where);
  Fiber &fiber = running();
  fiber.mask = mask;
  fiber.source = source;
  fiber.operation = operation;
  fiber.state = State::kInWarp;
  fiber.where = where;
  if (!complete(fiber)) wait(State::kInWarp, where);
}

// Blocks.

void start_fiber(Fiber &fiber, uint32_t index, dim3 block) {
  fiber.thread = dim3(index % block.x, index / block.x % block.y, index / (block.x * block.y));
  if (fiber.stack == nullptr) fiber.stack.reset(new std::byte[kStackBytes]);
  if (fiber.state != State::kDone) {  // its frames remain from a fault
#ifdef LPT_SIMT_ASAN
    __asan_unpoison_memory_region(fiber.stack.get(), kStackBytes);
#endif
    fiber.is_started = false;
    fiber.fake_stack = nullptr;
  }
  fiber.state = State::kReady;
}

// Releases the threads at the barrier if all threads have reached it; returns false otherwise.
bool open_barrier() {
  const Fiber *first = nullptr;
  const Fiber *gone = nullptr;
  for (uint32_t i = 0; i < machine.count; ++i) {
    const Fiber &fiber = machine.fibers[i];
    if (fiber.state == State::kDone) gone = &fiber;
    if (fiber.state == State::kReady || fiber.state == State::kInWarp) return false;
    if (fiber.state != State::kAtBarrier) continue;
    if (first == nullptr) first = &fiber;
    if (fiber.where.line() != first->where.line()) {
      throw Fault(text_of(fiber,
                          "waits at this barrier, and thread " + text_of(first->thread) + " at that of line " +
                              std::to_string(first->where.line()),
                          fiber.where));
    }
  }
  if (first == nullptr) return false;
  if (gone != nullptr) {
    throw Fault(text_of(*first, "waits at a barrier that thread " + text_of(gone->thread) + " left out", first->where));
  }
  for (uint32_t i = 0; i < machine.count; ++i) machine.fibers[i].state = State::kReady;
  return true;
}

void order_threads() {
  if (machine.order == Order::kShuffled)
    std::shuffle(machine.sequence.begin(), machine.sequence.end(), machine.shuffle);
}

// Runs every ready thread once; returns false if none is ready.
bool run_in_order() {
  order_threads();
  bool has_run = false;
  for (const uint32_t index : machine.sequence) {
    if (machine.fibers[index].state != State::kReady) continue;
    enter_fiber(index);
    has_run = true;
  }
  return has_run;
}

void report_deadlock() {
  for (uint32_t i = 0; i < machine.count; ++i) {
    const Fiber &fiber = machine.fibers[i];
    if (fiber.state != State::kInWarp) continue;
    throw Fault(
        text_of(fiber, std::string(fiber.operation) + " waits for lanes of its mask that never join", fiber.where));
  }
}

void run_block(dim3 block, std::size_t shared_bytes) {
  machine.shared = std::vector<std::byte>(shared_bytes, std::byte{0xA5});
  for (uint32_t i = 0; i < machine.count; ++i) start_fiber(machine.fibers[i], i, block);
  while (run_in_order() || open_barrier()) {
  }
  report_deadlock();
}

void prepare(uint32_t count) {
  machine.count = count;
  if (machine.fibers.size() < count) machine.fibers = std::vector<Fiber>(count);
  machine.sequence.resize(count);
  for (uint32_t i = 0; i < count; ++i) {
    machine.sequence[i] = machine.order == Order::kBackward ? count - 1 - i : i;
  }
}

}  // namespace

const ThreadCoords &place() { return machine.place; }

void set_order(Order order) { machine.order = order; }

void *dynamic_shared() { return machine.shared.data(); }

void wait_for_block(const Where &where) { wait(State::kAtBarrier, where); }

uint32_t lane() { return machine.running % kWarp; }

uint64_t exchange(uint32_t mask, uint64_t value, uint32_t source, const char *operation, const Where &where) {
  running().value = value;
  running().is_true = false;
  join_warp(mask, source, operation, where);
  return running().exchanged;
}

uint32_t vote(uint32_t mask, bool is_true, const char *operation, const Where &where) {
  running().value = 0;
  running().is_true = is_true;
  join_warp(mask, lane(), operation, where);
  return running().votes;
}

void fault(const char *subject, const char *what, const Where &where) {
  machine.fault = text_of(running(), std::string(subject) + what, where);
  leave_fiber(running());
  std::abort();  // not reached: the scheduler does not resume it
}

void set_queue(Queue queue) { streams = queue; }

void queue_work(void *stream, std::function<void()> work) {
  if (streams == nullptr) return work();
  streams(stream, std::move(work));
}

void allow_shared_bytes(const void *function, std::size_t bytes) {
  const std::lock_guard<std::mutex> hold(allowed_lock);
  allowed_of_kernel[function] = bytes;
}

void check_launch(const char *kernel, const void *function, dim3 grid, dim3 block, std::size_t shared_bytes) {
  const auto check = [&](bool is_taken, const std::string &expected) {
    if (is_taken) return;
    throw Fault(std::string("kernel ") + kernel + ": a grid of " + text_of(grid) + " blocks of " + text_of(block) +
                " threads with " + std::to_string(shared_bytes) + " bytes: expected " + expected);
  };
  const uint64_t threads = uint64_t{block.x} * block.y * block.z;
  check(threads >= 1 && threads <= kMostThreads, "1 to 1024 threads");
  check(block.x <= kMostBlockXy && block.y <= kMostBlockXy && block.z <= kMostBlockZ,
        "1024 x 1024 x 64 threads at most");
  check(grid.x >= 1 && grid.y >= 1 && grid.z >= 1, "at least one block");
  check(grid.x <= kMostGridX && grid.y <= kMostGridYz && grid.z <= kMostGridYz,
        "2147483647 x 65535 x 65535 blocks at most");
  const std::lock_guard<std::mutex> hold(allowed_lock);
  const auto found = allowed_of_kernel.find(function);
  const std::size_t allowed = found == allowed_of_kernel.end() ? kSharedBytes : std::max(found->second, kSharedBytes);
  check(shared_bytes <= std::min(allowed, kMostSharedBytes),
        std::to_string(std::min(allowed, kMostSharedBytes)) + " bytes at most");
}

void run_grid(const char *kernel, dim3 grid, dim3 block, std::size_t shared_bytes, void (*body)(void *),
              void *closure) {
  const uint64_t threads = uint64_t{block.x} * block.y * block.z;
  const uint64_t blocks = uint64_t{grid.x} * grid.y * grid.z;
  machine.kernel = kernel;
  machine.body = body;
  machine.closure = closure;
  machine.place.block_extent = block;
  machine.place.grid_extent = grid;
  prepare(static_cast<uint32_t>(threads));
  for (uint64_t i = 0; i < blocks; ++i) {
    const uint64_t at = machine.order == Order::kBackward ? blocks - 1 - i : i;
    machine.place.block = dim3(static_cast<uint32_t>(at % grid.x), static_cast<uint32_t>(at / grid.x % grid.y),
                               static_cast<uint32_t>(at / (uint64_t{grid.x} * grid.y)));
    run_block(block, shared_bytes);
  }
}

}  // namespace lpt::simt
