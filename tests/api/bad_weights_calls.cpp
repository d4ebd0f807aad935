#include <cmath>

#include "tests/api/bad_calls.hpp"

namespace lpt::test {
namespace {

// Chooses among two candidates of two tensors.
lpt_status choose(World &w, std::vector<double> errors, std::vector<int64_t> bytes, int64_t budget) {
  int64_t choices[2];
  return lpt_format_choose(w.c, errors.data(), bytes.data(), 2, 2, budget, choices, nullptr);
}

lpt_status choose_of(World &w, int64_t tensors, int64_t candidates) {
  const double errors[] = {1.0};
  const int64_t bytes[] = {1};
  int64_t choices[1];
  return lpt_format_choose(w.c, errors, bytes, tensors, candidates, 8, choices, nullptr);
}

}  // namespace

const std::vector<BadCall> kWeightsCalls = {
    {"weights: blocks of scales over experts",
     LPT_UNSUPPORTED,
     {"weights is 2 x 8 x 32 nvfp4_16x16", "span experts"},
     [](World &w) {
       const Tensor weights = make_tensor(w.owner.get(), LPT_FORMAT_NVFP4_16X16, {2, 8, 32});
       return lpt_weights_pack(w.c, weights.get(), nullptr, &w.out_tensor);
     }},
    {"weights: f64",
     LPT_UNSUPPORTED,
     {"weights is f64"},
     [](World &w) { return lpt_weights_pack(w.c, w.f64_tensor.get(), nullptr, &w.out_tensor); }},
    {"weights: an order beyond the columns",
     LPT_INVALID_ARGUMENT,
     {"input_order[1] is 8", "expected 0 to 7"},
     [](World &w) {
       const int32_t order[8] = {0, 8};
       lpt_weights_options options = LPT_WEIGHTS_OPTIONS_INIT;
       options.input_order = order;
       return lpt_weights_pack(w.c, w.a.get(), &options, &w.out_tensor);
     }},
    {"weights: unpacked to another shape",
     LPT_INVALID_ARGUMENT,
     {"weights is 4 x 32 f32", "expected 4 x 8 f32", "as packed"},
     [](World &w) {
       Tensor packed;
       EXPECT_EQ(LPT_OK, lpt_weights_pack(w.owner.get(), w.a.get(), nullptr, out(packed)));
       return lpt_weights_unpack(w.c, packed.get(), w.wide.get());
     }},
    {"weights: square blocks unpacked",
     LPT_UNSUPPORTED,
     {"packed is nvfp4_16x16", "its blocks span rows"},
     [](World &w) {
       Tensor packed;
       EXPECT_EQ(LPT_OK, lpt_weights_pack(w.owner.get(), w.square_blocks.get(), nullptr, out(packed)));
       return lpt_weights_unpack(w.c, packed.get(), w.square_blocks.get());
     }},
    {"weights: an order that is none",
     LPT_INVALID_ARGUMENT,
     {"output_order[2] is 1", "each number once"},
     [](World &w) {
       const int32_t order[] = {0, 1, 1, 3};
       lpt_weights_options options = LPT_WEIGHTS_OPTIONS_INIT;
       options.output_order = order;
       Tensor packed;
       return lpt_weights_pack(w.c, w.a.get(), &options, out(packed));
     }},
    {"weights: a vector",
     LPT_INVALID_ARGUMENT,
     {"weights is 7 f32", "n x k"},
     [](World &w) {
       Tensor packed;
       return lpt_weights_pack(w.c, w.long_bias.get(), nullptr, out(packed));
     }},
    {"weights: rows that are not packed",
     LPT_INVALID_ARGUMENT,
     {"packed is 4 x 8 f32, not packed", "lpt_weights_pack"},
     [](World &w) {
       size_t bytes = 0;
       return lpt_weights_state_size(w.c, w.a.get(), &bytes);
     }},
    {"weights: a state that is none",
     LPT_INVALID_STATE,
     {"saved state", "LPTS"},
     [](World &w) {
       const uint8_t bytes[64] = {};
       Tensor packed;
       return lpt_weights_state_load(w.c, bytes, sizeof bytes, out(packed));
     }},
    {"format_choose: a budget below the smallest formats",
     LPT_INVALID_ARGUMENT,
     {"budget_bytes is 6", "at least 7"},
     [](World &w) {
       return choose(w, {1.0, 2.0, 1.0, 2.0}, {8, 4, 3, 5}, 6);
     }},
    {"format_choose: an error that is no number",
     LPT_INVALID_ARGUMENT,
     {"errors[2] is", "0 to 1e+100"},
     [](World &w) {
       return choose(w, {1.0, 2.0, NAN, 2.0}, {8, 4, 3, 5}, 99);
     }},
    {"format_choose: an error whose sums overflow",
     LPT_INVALID_ARGUMENT,
     {"errors[0] is 1e+300", "0 to 1e+100, or infinity"},
     [](World &w) {
       return choose(w, {1e300, 2.0, 1.0, 2.0}, {8, 4, 3, 5}, 99);
     }},
    {"format_choose: a tensor without a format",
     LPT_INVALID_ARGUMENT,
     {"errors of tensor 1 are all infinite"},
     [](World &w) {
       return choose(w, {1.0, 2.0, INFINITY, INFINITY}, {8, 4, 3, 5}, 99);
     }},
    {"format_choose: negative bytes",
     LPT_INVALID_ARGUMENT,
     {"bytes[3] is -5", "0 to 1099511627776"},
     [](World &w) {
       return choose(w, {1.0, 2.0, 1.0, 2.0}, {8, 4, 3, -5}, 99);
     }},
    {"format_choose: too many tensors",
     LPT_INVALID_ARGUMENT,
     {"tensor_count is 16385", "0 to 16384"},
     [](World &w) { return choose_of(w, 16385, 1); }},
    {"format_choose: no candidates",
     LPT_INVALID_ARGUMENT,
     {"candidate_count is 0", "1 to 64"},
     [](World &w) { return choose_of(w, 1, 0); }},
    {"format_choose: no errors",
     LPT_INVALID_ARGUMENT,
     {"errors is NULL", "2 numbers"},
     [](World &w) { return lpt_format_choose(w.c, nullptr, nullptr, 1, 2, 8, nullptr, nullptr); }},
    {"format_choose: no bytes",
     LPT_INVALID_ARGUMENT,
     {"bytes is NULL", "1 numbers"},
     [](World &w) {
       const double errors[] = {1.0};
       return lpt_format_choose(w.c, errors, nullptr, 1, 1, 8, nullptr, nullptr);
     }},
    {"format_choose: no memory for the choices",
     LPT_INVALID_ARGUMENT,
     {"out_choices is NULL", "1 numbers"},
     [](World &w) {
       const double errors[] = {1.0};
       const int64_t bytes[] = {1};
       return lpt_format_choose(w.c, errors, bytes, 1, 1, 8, nullptr, nullptr);
     }},
};

}  // namespace lpt::test
