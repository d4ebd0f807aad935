// Assigns gradients to buckets, in the same way on all ranks.
#include <algorithm>
#include <cstring>

#include "src/call/operation.hpp"
#include "src/parallel/gradient_buckets.hpp"

namespace lpt {
namespace {

// A bucket has one format. Gradients of each format fill a separate bucket, in the given order.
struct OpenBucket {
  lpt_format format;
  Bucket bucket;
  int64_t bytes = 0;
  size_t last = 0;  // position of its last member in the order
};

OpenBucket &bucket_for(std::vector<OpenBucket> &open, lpt_format format) {
  const auto found = std::find_if(open.begin(), open.end(), [&](const OpenBucket &b) { return b.format == format; });
  if (found != open.end()) return *found;
  open.push_back({format, {}});
  return open.back();
}

void close(OpenBucket &open, std::vector<OpenBucket> &full) {
  if (open.bucket.members.empty()) return;
  full.push_back(std::move(open));
  open = {full.back().format, {}};
}

bool is_each_once(const std::vector<int64_t> &order) {
  std::vector<bool> is_present(order.size(), false);
  for (const int64_t index : order) {
    if (index < 0 || index >= static_cast<int64_t>(order.size()) || is_present[static_cast<size_t>(index)])
      return false;
    is_present[static_cast<size_t>(index)] = true;
  }
  return true;
}

// Rank 0 sends its order to all other ranks.
Status broadcast_order(Engine &engine, std::vector<int64_t> &order) {
  const auto ranks = static_cast<size_t>(engine.ranks());
  const Bytes numbers{reinterpret_cast<std::byte *>(order.data()),
                      static_cast<int64_t>(order.size() * sizeof order[0])};
  std::vector<Bytes> outgoing(ranks, Bytes{nullptr, 0}), incoming = outgoing;
  if (engine.rank() == 0) {
    std::fill(outgoing.begin(), outgoing.end(), numbers);
    outgoing[0] = {nullptr, 0};
  } else {
    incoming[0] = numbers;
  }
  const ExchangeGuard guard(engine);
  LPT_TRY(engine.all_to_all_v({"gradient_buckets order", 0, static_cast<int64_t>(order.size()), 1, 0}, outgoing.data(),
                              incoming.data()));
  // With shared memory the received order is in the memory of rank 0.
  if (incoming[0].count > 0 && incoming[0].data != numbers.data) {
    std::memcpy(numbers.data, incoming[0].data, static_cast<size_t>(numbers.count));
  }
  return engine.release();
}

}  // namespace

// Buckets are sorted by their last members: the order in which they can be complete.
void fill_buckets(GradientBuckets &buckets, const std::vector<size_t> &order) {
  std::vector<OpenBucket> open, full;
  for (size_t place = 0; place < order.size(); ++place) {
    const BucketedGradient &gradient = buckets.gradients[order[place]];
    OpenBucket &bucket = bucket_for(open, gradient.format);
    if (bucket.bytes > 0 && bucket.bytes + gradient.bytes > buckets.bucket_bytes) close(bucket, full);
    bucket.bucket.members.push_back(order[place]);
    bucket.bytes += gradient.bytes;
    bucket.last = place;
  }
  for (OpenBucket &bucket : open) close(bucket, full);
  std::sort(full.begin(), full.end(), [](const OpenBucket &a, const OpenBucket &b) { return a.last < b.last; });
  buckets.buckets.clear();
  int64_t elements = 0;
  for (OpenBucket &bucket : full) {
    bucket.bucket.first_element = elements;
    for (const size_t index : bucket.bucket.members) {
      buckets.gradients[index].bucket = buckets.buckets.size();
      elements += buckets.gradients[index].elements;
    }
    buckets.buckets.push_back(std::move(bucket.bucket));
  }
}

Status agree_on_order(Context &context, GradientBuckets &buckets) {
  std::vector<int64_t> order(buckets.ready.begin(), buckets.ready.end());
  LPT_TRY(run_collective(
      context, *buckets.comm, [&](Context &, Engine &engine) { return broadcast_order(engine, order); }, nullptr));
  if (!is_each_once(order))
    return Status(LPT_MISMATCH, "the order of gradients that rank 0 reported has not each once");
  fill_buckets(buckets, {order.begin(), order.end()});
  buckets.is_recorded = true;
  return {};
}

std::string gradient_text(const GradientBuckets &buckets, size_t index) {
  const std::string &name = buckets.gradients[index].name;
  return item("gradients", static_cast<int64_t>(index)) + (name.empty() ? "" : " (" + name + ")");
}

}  // namespace lpt
