#include "tests/api/bad_calls.hpp"

namespace lpt::test {

namespace {

lpt_status attend(World &w, const std::vector<int64_t> &query, const std::vector<int64_t> &key,
                  const std::vector<int64_t> &value, const std::vector<int64_t> &output) {
  const auto make = [&](const std::vector<int64_t> &extents) {
    return make_tensor(w.owner.get(), LPT_FORMAT_F32, extents);
  };
  return lpt_attention_forward(w.c, make(query).get(), make(key).get(), make(value).get(), nullptr, make(output).get());
}

// Runs attention with two heads, four queries, four keys, and options set by `change`.
template <typename Change>
lpt_status attend_with(World &w, Change change, bool is_backward = false) {
  Tensor t[7];
  for (Tensor &tensor : t) tensor = make_tensor(w.owner.get(), LPT_FORMAT_F32, std::vector<int64_t>{2, 4, 8});
  lpt_attention_options options = LPT_ATTENTION_OPTIONS_INIT;
  Tensor other;  // keeps a tensor of the options alive
  change(options, other, w.owner.get());
  if (!is_backward) {
    return lpt_attention_forward(w.c, t[0].get(), t[1].get(), t[2].get(), &options, t[3].get());
  }
  return lpt_attention_backward(w.c, t[0].get(), t[1].get(), t[2].get(), t[3].get(), &options, t[4].get(), t[5].get(),
                                t[6].get());
}

// Returns a change of attend_with() that sets the key lengths.
auto key_lengths(const std::vector<int64_t> &lengths) {
  return [lengths](lpt_attention_options &options, Tensor &other, lpt_context *context) {
    other = indices_of(context, lengths);
    options.key_lengths = other.get();
  };
}

// Runs attention with EXAQ options set by `change`.
template <typename Change>
lpt_status attend_exaq(World &w, Change change, bool is_backward = false) {
  lpt_exaq_options exaq = LPT_EXAQ_OPTIONS_INIT;
  change(exaq);
  return attend_with(
      w, [&](lpt_attention_options &options, Tensor &, lpt_context *) { options.exaq = &exaq; }, is_backward);
}

}  // namespace

const std::vector<BadCall> kAttentionCalls = {
    {"attention_forward: levels of five bits",
     LPT_INVALID_ARGUMENT,
     {"bits is 5", "2, 3 or 4"},
     [](World &w) { return attend_exaq(w, [](lpt_exaq_options &o) { o.bits = 5; }); }},
    {"attention_forward: EXAQ with a scale of its own",
     LPT_INVALID_ARGUMENT,
     {"exaq.scale is 0.5", "expected 1"},
     [](World &w) { return attend_exaq(w, [](lpt_exaq_options &o) { o.scale = 0.5; }); }},
    {"attention_forward: causal EXAQ",
     LPT_INVALID_ARGUMENT,
     {"exaq.is_causal is 1", "expected 0"},
     [](World &w) { return attend_exaq(w, [](lpt_exaq_options &o) { o.is_causal = 1; }); }},
    {"attention_forward: EXAQ with flags",
     LPT_UNSUPPORTED,
     {"exaq.flags is 1", "expected 0"},
     [](World &w) { return attend_exaq(w, [](lpt_exaq_options &o) { o.flags = 1; }); }},
    {"attention_forward: EXAQ options without a size",
     LPT_INVALID_ARGUMENT,
     {"options->exaq->struct_size is 0"},
     [](World &w) { return attend_exaq(w, [](lpt_exaq_options &o) { o.struct_size = 0; }); }},
    {"attention_backward: EXAQ",
     LPT_UNSUPPORTED,
     {"exaq is set", "NULL in a backward pass"},
     [](World &w) {
       return attend_exaq(
           w, [](lpt_exaq_options &) {}, true);
     }},
    {"attention_forward: heads that do not divide",
     LPT_INVALID_ARGUMENT,
     {"key is 3 x 4 x 8", "divides 4"},
     [](World &w) {
       return attend(w, {4, 4, 8}, {3, 4, 8}, {3, 4, 8}, {4, 4, 8});
     }},
    {"attention_forward: keys of another width",
     LPT_INVALID_ARGUMENT,
     {"key is 2 x 4 x 6", "expected 1 x 2 x 4 x 8"},
     [](World &w) {
       return attend(w, {2, 4, 8}, {2, 4, 6}, {2, 4, 8}, {2, 4, 8});
     }},
    {"attention_forward: fewer values than keys",
     LPT_INVALID_ARGUMENT,
     {"value is 2 x 3 x 8", "expected 1 x 2 x 4 x 8"},
     [](World &w) {
       return attend(w, {2, 4, 8}, {2, 4, 8}, {2, 3, 8}, {2, 4, 8});
     }},
    {"attention_forward: an output of another shape",
     LPT_INVALID_ARGUMENT,
     {"output is 2 x 4 x 8", "expected 1 x 2 x 4 x 5"},
     [](World &w) {
       return attend(w, {2, 4, 8}, {2, 4, 8}, {2, 4, 5}, {2, 4, 8});
     }},
    {"attention_forward: five axes",
     LPT_INVALID_ARGUMENT,
     {"query is 1 x 1 x 2 x 4 x 8", "2 to 4 axes"},
     [](World &w) {
       return attend(w, {1, 1, 2, 4, 8}, {2, 4, 8}, {2, 4, 8}, {2, 4, 8});
     }},
    {"attention_forward: the output over the query",
     LPT_INVALID_ARGUMENT,
     {"output overlaps query"},
     [](World &w) { return lpt_attention_forward(w.c, w.gate.get(), w.a.get(), w.a.get(), nullptr, w.gate.get()); }},
    {"attention_forward: an infinite scale",
     LPT_INVALID_ARGUMENT,
     {"scale is inf"},
     [](World &w) {
       lpt_attention_options o = LPT_ATTENTION_OPTIONS_INIT;
       o.scale = INFINITY;
       return lpt_attention_forward(w.c, w.gate.get(), w.a.get(), w.a.get(), &o, w.activation.get());
     }},
    {"attention_forward: keys in blocks of rows",
     LPT_UNSUPPORTED,
     {"key is nvfp4_16x16", "one row high"},
     [](World &w) {
       const Tensor query = make_tensor(w.owner.get(), LPT_FORMAT_F32, 4, 32);
       return lpt_attention_forward(w.c, query.get(), w.square_blocks.get(), w.square_blocks.get(), nullptr,
                                    make_tensor(w.owner.get(), LPT_FORMAT_F32, 4, 32).get());
     }},
    {"attention_forward: a negative window",
     LPT_INVALID_ARGUMENT,
     {"window is -1"},
     [](World &w) { return attend_with(w, [](auto &o, Tensor &, auto *) { o.window = -1; }); }},
    {"attention_forward: a window that is not causal",
     LPT_INVALID_ARGUMENT,
     {"window is 3", "is_causal"},
     [](World &w) { return attend_with(w, [](auto &o, Tensor &, auto *) { o.window = 3; }); }},
    {"attention_forward: a mask of other keys",
     LPT_INVALID_ARGUMENT,
     {"mask is 4 x 1 f32", "expected 1 x 2 x 4 x 4"},
     [](World &w) {
       return attend_with(w, [](auto &o, Tensor &other, auto *c) {
         other = make_tensor(c, LPT_FORMAT_F32, 4, 1);
         o.mask = other.get();
       });
     }},
    {"attention_forward: a mask of integers",
     LPT_UNSUPPORTED,
     {"mask is 4 x 4 int8", "expected f64, f32, bf16 or f16"},
     [](World &w) {
       return attend_with(w, [](auto &o, Tensor &other, auto *c) {
         other = make_tensor(c, LPT_FORMAT_INT8, 4, 4);
         o.mask = other.get();
       });
     }},
    {"attention_forward: sums in bf16",
     LPT_INVALID_ARGUMENT,
     {"log_sum_exp is 2 x 4 bf16", "f32 or f64"},
     [](World &w) {
       return attend_with(w, [](auto &o, Tensor &other, auto *c) {
         other = make_tensor(c, LPT_FORMAT_BF16, 2, 4);
         o.log_sum_exp = other.get();
       });
     }},
    {"attention_forward: sums of other queries",
     LPT_INVALID_ARGUMENT,
     {"log_sum_exp is 2 x 5 f32", "expected 1 x 2 x 4 x 1"},
     [](World &w) {
       return attend_with(w, [](auto &o, Tensor &other, auto *c) {
         other = make_tensor(c, LPT_FORMAT_F32, 2, 5);
         o.log_sum_exp = other.get();
       });
     }},
    {"attention_forward: sums that are read-only",
     LPT_INVALID_ARGUMENT,
     {"log_sum_exp", "read-only"},
     [](World &w) {
       return attend_with(w, [](auto &o, Tensor &other, auto *c) {
         static float sums[8];
         const int64_t extents[] = {2, 4};
         lpt_tensor_description facts = LPT_TENSOR_DESCRIPTION_INIT;
         facts.format = LPT_FORMAT_F32;
         facts.flags = LPT_TENSOR_READ_ONLY;
         facts.data = sums;
         facts.rank = 2;
         facts.extents = extents;
         EXPECT_TRUE(ok(c, lpt_tensor_wrap(c, &facts, out(other))));
         o.log_sum_exp = other.get();
       });
     }},
    {"attention_forward: key lengths of other batches",
     LPT_INVALID_ARGUMENT,
     {"key_lengths is 1 x 2 int64", "expected 1 elements"},
     [](World &w) {
       return attend_with(w, key_lengths({4, 4}));
     }},
    {"attention_forward: more keys than there are",
     LPT_INVALID_ARGUMENT,
     {"key_lengths[0] is 5", "expected 0 to 4"},
     [](World &w) { return attend_with(w, key_lengths({5})); }},
    {"attention_backward: a negative key length",
     LPT_INVALID_ARGUMENT,
     {"key_lengths[0] is -1", "expected 0 to 4"},
     [](World &w) { return attend_with(w, key_lengths({-1}), true); }},
    {"attention_forward: key lengths that are floats",
     LPT_INVALID_ARGUMENT,
     {"key_lengths is f32", "expected int32 or int64"},
     [](World &w) {
       return attend_with(w, [](auto &o, Tensor &other, auto *c) {
         other = make_tensor(c, LPT_FORMAT_F32, 1, 1);
         o.key_lengths = other.get();
       });
     }},
    {"attention_forward: an output in the options",
     LPT_INVALID_ARGUMENT,
     {"options.output", "NULL"},
     [](World &w) {
       return attend_with(w, [](auto &o, Tensor &other, auto *c) {
         other = make_tensor(c, LPT_FORMAT_F32, std::vector<int64_t>{2, 4, 8});
         o.output = other.get();
       });
     }},
    {"attention_backward: sums without the output",
     LPT_INVALID_ARGUMENT,
     {"log_sum_exp alone"},
     [](World &w) {
       return attend_with(
           w,
           [](auto &o, Tensor &other, auto *c) {
             other = make_tensor(c, LPT_FORMAT_F32, 2, 4);
             o.log_sum_exp = other.get();
           },
           true);
     }},
    {"attention_backward: codes",
     LPT_UNSUPPORTED,
     {"key is 16 x 32 nvfp4", "expected f64, f32, bf16 or f16"},
     [](World &w) {
       const Tensor query = make_tensor(w.owner.get(), LPT_FORMAT_F32, 4, 32);
       return lpt_attention_backward(w.c, query.get(), w.square_blocks.get(), w.square_blocks.get(), query.get(),
                                     nullptr, make_tensor(w.owner.get(), LPT_FORMAT_F32, 4, 32).get(),
                                     make_tensor(w.owner.get(), LPT_FORMAT_F32, 16, 32).get(),
                                     make_tensor(w.owner.get(), LPT_FORMAT_F32, 16, 32).get());
     }},
};

}  // namespace lpt::test
