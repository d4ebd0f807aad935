// Data-parallel training over a network that loses packets (arXiv 2507.07114).
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "flat_values.hpp"
#include "ranks.hpp"

namespace lm {

struct LossySettings {
  bool is_enabled = false;
  double injected_loss = 0.0;         // probability that a rank does not send a packet
  std::string address = "127.0.0.1";  // of this rank, numeric
};

// Packets between this rank and another one.
struct LinkCounts {
  int64_t peer = 0;
  int64_t sent = 0;
  int64_t received = 0;
  int64_t lost = 0;
};

// Each rank owns some parameters: it averages their gradients that arrive, steps them, and sends their values. Ranks that miss
// packets of values keep the previous ones, so that replicas drift apart until make_equal().
class LossyRanks {
 public:
  // Sends nothing. `ranks` and `parameters` must outlive the object. Throws Error if there are more ranks than parameters.
  LossyRanks(lpt_context *context, DataRanks &ranks, const std::deque<Parameter> &parameters,
             const LossySettings &settings, uint64_t seed);

  bool owns(const Parameter &parameter) const { return owners_[parameter.index] == rank_; }

  // Replaces the gradients of the parameters of this rank by averages. Other gradients are undefined after it.
  void average_gradients(lpt_context *context);

  // Replaces the values of other ranks' parameters by those that arrive.
  void gather_values(lpt_context *context);

  // Replaces the values of other ranks' parameters, without loss.
  void make_equal(lpt_context *context);

  // Returns the sum over all ranks. They have the same.
  void sum(lpt_context *context, lpt_tensor *numbers) const { ranks_.sum(context, numbers); }

  // Returns the bytes in packets that this rank sent, and its time in these calls without that of the comm.
  Traffic traffic() const { return traffic_; }

  // Returns the counts of packets of this rank since its first step in this process.
  std::vector<LinkCounts> counts(lpt_context *context) const;

 private:
  using Link = std::unique_ptr<lpt_lossy_link, Destroy<lpt_lossy_link_destroy>>;

  int64_t own_count() const { return counts_[static_cast<size_t>(rank_)]; }
  void connect_once(lpt_context *context);
  template <typename Call>
  void timed(lpt_context *context, const Call &call);
  Tensor own_part(lpt_context *context) const;
  void unpack_values(lpt_context *context);

  DataRanks &ranks_;
  const std::deque<Parameter> &parameters_;
  LossySettings settings_;
  uint64_t seed_;
  int64_t rank_, rank_count_;
  std::vector<int64_t> owners_;       // by index of the parameter
  std::vector<int64_t> counts_;       // elements of each owner
  std::unique_ptr<FlatValues> flat_;  // gradients or values; those of an owner are adjacent
  Matrix<float> part_;                // averages of the gradients of this rank
  Link link_;
  Traffic traffic_;
};

}  // namespace lm
