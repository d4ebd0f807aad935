// Memory, bytes and time of one step of distributed training, before it runs. docs/reference/plans.md has every formula.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>

#include "handles.hpp"
#include "machine.hpp"

namespace tool {

// A decoder: in each layer an RMS norm, causal attention with rotary positions, another norm and a SwiGLU. Linear layers have
// no biases. Embedding and head are separate matrices.
struct ModelSize {
  int64_t layers = 0, width = 0, hidden = 0, heads = 0, key_value_heads = 0, vocabulary = 0, sequence = 0;

  int64_t key_width() const { return width / heads * key_value_heads; }
  double parameters() const;
};

// How ranks divide a step. Tensor ranks are adjacent, then data ranks, then stages.
struct Division {
  std::string recipe = "f32";
  std::string moments = "f32";
  int64_t tensor = 1, pipeline = 1, data = 1;
  int64_t micro_batches = 1;          // of each data rank
  int64_t sequences = 1;              // of a micro-batch
  int32_t zero = 0;                   // 1: data ranks share the state of the optimizer
  double share = 1;                   // of the columns that tensor ranks reduce (CAAT)
  std::string wire = "f32";           // of tensor ranks
  std::string gradient_wire = "f32";  // of data ranks
};

// Costs of a step. Bytes and seconds are those of the rank with the most.
struct PlanCost {
  double weight_bytes = 0;      // in f32
  double cast_bytes = 0;        // of linear layers
  double gradient_bytes = 0;    // in f32
  double optimizer_bytes = 0;   // moments
  double activation_bytes = 0;  // saved from forward to backward
  double scratch_bytes = 0;     // that layers share
  double memory_bytes = 0;      // of the stage with the most

  double tensor_bytes = 0, pipeline_bytes = 0, data_bytes = 0;  // that a rank sends

  double linear_seconds = 0;
  double attention_seconds = 0;
  double elementwise_seconds = 0;
  double tensor_seconds = 0;
  double pipeline_seconds = 0;
  double bubble_seconds = 0;  // in which a stage waits for the first and the last micro-batch
  double data_seconds = 0;    // beyond the overlap
  double optimizer_seconds = 0;
  double step_seconds = 0;  // the sum of these

  double flops = 0;   // of the GEMMs and of attention on all ranks
  double alpha = 0;   // time of linear layers relative to that of their FLOPs alone
  double joules = 0;  // on all ranks
};

class PlanModel {
 public:
  PlanModel(const ModelSize &model, const Machine &machine);

  // Throws Error if the machine lacks a time, or the library rejects a recipe.
  PlanCost cost(const Division &division);

 private:
  struct LinearBytes {
    double cast, saved;
  };
  LinearBytes linear_bytes(const std::string &recipe, int64_t rows, int64_t inputs, int64_t outputs);

  friend class PlanEstimate;

  ModelSize model_;
  const Machine &machine_;
  Context context_;
  std::map<std::tuple<std::string, int64_t, int64_t, int64_t>, LinearBytes> linear_bytes_;
};

}  // namespace tool
