// lpt plan: divisions of the training of a model among ranks, by memory, bytes and time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "training_plan.hpp"

namespace tool {

struct PlanOptions {
  std::string machine;  // file
  std::string config;   // config.json of a model; empty: the sizes below
  ModelSize model;      // sizes other than 0 replace those of the file
  int64_t batch = 0;    // sequences of a step
  int64_t ranks = 1;
  std::vector<int64_t> tensor, pipeline;  // allowed numbers of ranks; empty: all
  std::vector<int64_t> micro_batches;     // allowed numbers of micro-batches; empty: all
  std::vector<std::string> recipes = {"f32"}, moments = {"f32"};
  std::vector<double> shares = {1};
  std::vector<std::string> wires = {"f32"}, gradient_wires = {"f32"};
  int64_t top = 10;           // plans to print; 0: all
  std::string json, picture;  // files to write; empty: none
};

struct RankedPlan {
  Division division;
  PlanCost cost;
};

// Returns the plans that fit the memory of the machine, fastest first. Throws Error if there is none.
std::vector<RankedPlan> find_plans(const PlanOptions &options, const ModelSize &model, const Machine &machine);

// "fp8_current TP 2 DP 4 ZeRO 1"
std::string plan_name(const Division &division);

std::string plans_picture(const std::vector<RankedPlan> &plans, const ModelSize &model, int64_t batch);  // SVG

void plan(const PlanOptions &options);

}  // namespace tool
