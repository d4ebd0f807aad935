#include "lossy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <numeric>

namespace lm {

namespace {

// Returns the rank of each parameter: the largest parameters first, each to the rank with the fewest elements.
std::vector<int64_t> owners_of(const std::deque<Parameter> &parameters, int64_t rank_count) {
  std::vector<size_t> order(parameters.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return parameters[a].elements() > parameters[b].elements(); });
  std::vector<int64_t> loads(static_cast<size_t>(rank_count), 0), owners(parameters.size());
  for (const size_t i : order) {
    const auto least = std::min_element(loads.begin(), loads.end());
    *least += parameters[i].elements();
    owners[i] = least - loads.begin();
  }
  return owners;
}

}  // namespace

LossyRanks::LossyRanks(lpt_context *context, DataRanks &ranks, const std::deque<Parameter> &parameters,
                       const LossySettings &settings, uint64_t seed)
    : ranks_(ranks), parameters_(parameters), settings_(settings), seed_(seed) {
  lpt_comm_info values = LPT_COMM_INFO_INIT;
  check(context, lpt_comm_read(context, ranks.handle(), &values));
  rank_ = values.rank;
  rank_count_ = values.rank_count;
  if (std::ssize(parameters) < rank_count_) {
    throw Error(
        fmt::format("{} ranks share {} parameters, expected at least one each", rank_count_, parameters.size()));
  }
  owners_ = owners_of(parameters, rank_count_);
  std::vector<int64_t> indices;
  for (int64_t owner = 0; owner < rank_count_; ++owner) {
    int64_t elements = 0;
    for (const Parameter &parameter : parameters) {
      if (owners_[parameter.index] == owner) {
        indices.push_back(parameter.index);
        elements += parameter.elements();
      }
    }
    counts_.push_back(elements);
  }
  flat_ = std::make_unique<FlatValues>(context, parameters, indices);
  part_ = Matrix<float>(context, own_count(), 1);
}

// Trainers of one process are created by one thread, and a link by all ranks at once.
void LossyRanks::connect_once(lpt_context *context) {
  if (link_ != nullptr) {
    return;
  }
  lpt_lossy_link_options options = LPT_LOSSY_LINK_OPTIONS_INIT;
  if (settings_.address.size() >= sizeof(options.address)) {
    throw Error(fmt::format("--lossy-address is {}, expected an IPv4 or IPv6 address", settings_.address));
  }
  std::memset(options.address, 0, sizeof(options.address));
  settings_.address.copy(options.address, sizeof(options.address) - 1);
  options.injected_loss = settings_.injected_loss;
  options.seed = seed_;
  lpt_lossy_link *link = nullptr;
  check(context, lpt_lossy_link_create(context, ranks_.handle(), &options, &link));
  link_.reset(link);
}

// Makes a call that sends packets, and adds its time.
template <typename Call>
void LossyRanks::timed(lpt_context *context, const Call &call) {
  connect_once(context);
  const double before = ranks_.traffic(context).seconds;
  const auto start = std::chrono::steady_clock::now();
  check(context, call());
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
  traffic_.seconds += passed.count() - (ranks_.traffic(context).seconds - before);
}

// Returns the elements of this rank.
Tensor LossyRanks::own_part(lpt_context *context) const {
  const int64_t begin = std::accumulate(counts_.begin(), counts_.begin() + rank_, int64_t{0});
  return matrix_view(context, flat_->numbers().tensor(), begin, 0, own_count(), 1);
}

void LossyRanks::average_gradients(lpt_context *context) {
  for (const Parameter &parameter : parameters_) {
    check(context, lpt_tensor_copy(context, parameter.gradient.get(), flat_->view(context, parameter).get()));
  }
  timed(context, [&] {
    return lpt_lossy_reduce_scatter(context, link_.get(), flat_->numbers().tensor(), counts_.data(),
                                    LPT_LOSSY_MODE_COUNT, nullptr, 0, part_.tensor(), nullptr);
  });
  traffic_.bytes_sent += (flat_->elements() - own_count()) * static_cast<int64_t>(sizeof(float));
  check(context, lpt_tensor_copy(context, part_.tensor(), own_part(context).get()));
  for (const Parameter &parameter : parameters_) {
    if (owns(parameter)) {
      check(context, lpt_tensor_copy(context, flat_->view(context, parameter).get(), parameter.gradient.get()));
    }
  }
}

void LossyRanks::unpack_values(lpt_context *context) {
  for (const Parameter &parameter : parameters_) {
    if (!owns(parameter)) {
      flat_->unpack(context, parameter);
    }
  }
}

void LossyRanks::gather_values(lpt_context *context) {
  flat_->pack(context);
  timed(context, [&] {
    return lpt_lossy_all_gather(context, link_.get(), own_part(context).get(), counts_.data(), 0,
                                flat_->numbers().tensor(), nullptr);
  });
  traffic_.bytes_sent += own_count() * (rank_count_ - 1) * static_cast<int64_t>(sizeof(float));
  unpack_values(context);
}

void LossyRanks::make_equal(lpt_context *context) {
  flat_->pack(context);
  check(context, lpt_all_gather(context, ranks_.handle(), own_part(context).get(), counts_.data(), nullptr,
                                flat_->numbers().tensor(), nullptr));
  unpack_values(context);
}

std::vector<LinkCounts> LossyRanks::counts(lpt_context *context) const {
  std::vector<LinkCounts> links;
  for (int64_t peer = 0; peer < rank_count_; ++peer) {
    if (peer != rank_ && link_ != nullptr) {
      lpt_lossy_link_info values = LPT_LOSSY_LINK_INFO_INIT;
      check(context, lpt_lossy_link_read(context, link_.get(), static_cast<int32_t>(peer), &values));
      links.push_back({peer, values.sent_count, values.received_count, values.lost_count});
    }
  }
  return links;
}

}  // namespace lm
