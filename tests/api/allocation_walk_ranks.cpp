// Walks over two ranks. The allocations of the first rank fail.
#include <thread>

#include "tests/api/allocation_walk.hpp"
#include "tests/comm/mailboxes.hpp"

namespace lpt::test {
namespace {

// Comm and tensors of one rank. The tensors are created before the counted call.
struct Ranked {
  explicit Ranked(lpt_context *context) : c(context) {
    const Paused paused;
    x = tensor_of(c, LPT_FORMAT_F32, kSide, kSide, draw_normal(910, kSideElements));
    y = make_tensor(c, LPT_FORMAT_F32, kSide, kSide);
    half = make_tensor(c, LPT_FORMAT_F32, kSide / 2, kSide);
  }

  lpt_context *const c;
  OwnComm comm;
  int32_t rank = 0;
  Tensor x, y, half;
};

lpt_status call_collectives(Ranked &r) {
  LPT_TEST_TRY(lpt_barrier(r.c, r.comm));
  lpt_reduce_options options = LPT_REDUCE_OPTIONS_INIT;
  LPT_TEST_TRY(lpt_all_reduce(r.c, r.comm, r.x.get(), &options, r.y.get(), nullptr));
  options.wire = LPT_FORMAT_MXFP8_E4M3;
  LPT_TEST_TRY(lpt_all_reduce(r.c, r.comm, r.x.get(), &options, r.y.get(), nullptr));
  OwnFuture future;
  LPT_TEST_TRY(lpt_all_reduce(r.c, r.comm, r.x.get(), nullptr, r.y.get(), future.out()));
  int32_t is_done = 0;
  LPT_TEST_TRY(lpt_future_is_done(r.c, future, &is_done));
  LPT_TEST_TRY(lpt_future_wait(r.c, future));
  LPT_TEST_TRY(lpt_reduce_scatter(r.c, r.comm, r.x.get(), nullptr, nullptr, r.half.get(), nullptr));
  LPT_TEST_TRY(lpt_all_gather(r.c, r.comm, r.half.get(), nullptr, nullptr, r.y.get(), nullptr));
  LPT_TEST_TRY(lpt_broadcast(r.c, r.comm, 1, r.y.get(), nullptr));
  const int64_t counts[] = {kSide / 2, kSide / 2};
  LPT_TEST_TRY(lpt_all_to_all(r.c, r.comm, r.x.get(), counts, counts, r.y.get(), nullptr));
  LPT_TEST_TRY(r.rank == 0 ? lpt_send(r.c, r.comm, r.x.get(), 1, 7, nullptr)
                           : lpt_receive(r.c, r.comm, r.y.get(), 0, 7, nullptr));
  lpt_tensor *const many[] = {r.y.get(), r.half.get()};
  LPT_TEST_TRY(lpt_all_reduce_many(r.c, r.comm, many, 2, nullptr, nullptr));
  int32_t is_same = 0;
  LPT_TEST_TRY(lpt_comm_compare(r.c, r.comm, r.x.get(), &is_same));
  OwnComm part;
  LPT_TEST_TRY(lpt_comm_split(r.c, r.comm, 0, -r.rank, part.out()));
  lpt_comm_info values = LPT_COMM_INFO_INIT;
  LPT_TEST_TRY(lpt_comm_read(r.c, part, &values));
  return lpt_barrier(r.c, part);
}

lpt_status call_schedules(Ranked &r) {
  OwnTopology topology, graph;
  OwnSchedule schedule;
  const int64_t extents[] = {2};
  LPT_TEST_TRY(lpt_topology_create(r.c, LPT_TOPOLOGY_KIND_TORUS, extents, 1, nullptr, nullptr, topology.out()));
  for (lpt_schedule_algorithm algorithm = 0; algorithm <= LPT_SCHEDULE_ALGORITHM_HIERARCHICAL; ++algorithm) {
    LPT_TEST_TRY(lpt_schedule_create(r.c, topology, algorithm, nullptr, schedule.out()));
  }
  const lpt_topology_link links[] = {{0, 1, 0.0, 0.0}, {1, 0, 0.0, 0.0}};
  LPT_TEST_TRY(lpt_topology_create_graph(r.c, 2, 0, links, 2, graph.out()));
  const lpt_schedule_send sends[] = {{0, 0, 1, 0, 1, LPT_SCHEDULE_OPERATION_ADD},
                                     {1, 1, 0, 0, 1, LPT_SCHEDULE_OPERATION_COPY}};
  LPT_TEST_TRY(lpt_schedule_create_sends(r.c, graph, 1, sends, 2, schedule.out()));
  double seconds = 0.0;
  LPT_TEST_TRY(lpt_schedule_simulate(r.c, schedule, 1e6, 0.0, 0, &seconds, nullptr));
  OwnFuture future;
  LPT_TEST_TRY(lpt_schedule_all_reduce(r.c, r.comm, schedule, r.x.get(), nullptr, r.y.get(), future.out()));
  return lpt_future_wait(r.c, future);
}

lpt_status call_lossy(Ranked &r) {
  OwnLossyLink link;
  lpt_lossy_link_options options = LPT_LOSSY_LINK_OPTIONS_INIT;
  options.injected_reordering = 0.5;
  LPT_TEST_TRY(lpt_lossy_link_create(r.c, r.comm, &options, link.out()));
  for (const lpt_lossy_mode mode : {LPT_LOSSY_MODE_COUNT, LPT_LOSSY_MODE_HORVITZ_THOMPSON}) {
    LPT_TEST_TRY(lpt_lossy_reduce_scatter(r.c, link, r.x.get(), nullptr, mode, nullptr, 0, r.half.get(), nullptr));
  }
  LPT_TEST_TRY(lpt_lossy_all_gather(r.c, link, r.half.get(), nullptr, 0, r.y.get(), nullptr));
  lpt_lossy_link_info info = LPT_LOSSY_LINK_INFO_INIT;
  LPT_TEST_TRY(lpt_lossy_link_read(r.c, link, -1, &info));
  lpt_lossy_info estimate = LPT_LOSSY_INFO_INIT;
  return lpt_lossy_estimate(r.c, 0.1, 8, &estimate);
}

lpt_status call_buckets(Ranked &r) {
  lpt_tensor *const gradients[] = {r.y.get(), r.half.get()};
  lpt_gradient_buckets_options options = LPT_GRADIENT_BUCKETS_OPTIONS_INIT;
  const char *const names[] = {"layers.0.attention.query.weight", "layers.0.attention.key.weight"};
  options.bucket_bytes = 1024;
  options.names = names;
  OwnBuckets buckets;
  LPT_TEST_TRY(lpt_gradient_buckets_create(r.c, r.comm, gradients, 2, &options, buckets.out()));
  for (int pass = 0; pass < 2; ++pass) {
    LPT_TEST_TRY(lpt_gradient_buckets_begin(r.c, buckets, 1, nullptr));
    LPT_TEST_TRY(lpt_gradient_buckets_ready(r.c, buckets, 1));
    LPT_TEST_TRY(lpt_gradient_buckets_ready(r.c, buckets, 0));
    LPT_TEST_TRY(lpt_gradient_buckets_wait(r.c, buckets));
  }
  lpt_gradient_buckets_info values = LPT_GRADIENT_BUCKETS_INFO_INIT;
  return lpt_gradient_buckets_read(r.c, buckets, &values);
}

lpt_status call_shards(Ranked &r) {
  OwnOptimizer optimizer;
  LPT_TEST_TRY(lpt_optimizer_create(r.c, nullptr, optimizer.out()));
  lpt_optimizer_parameter parameter = LPT_OPTIMIZER_PARAMETER_INIT;
  parameter.elements = kSideElements;
  parameter.first_moment = LPT_FORMAT_E4M3FN_TENSOR;
  parameter.second_moment = LPT_FORMAT_E5M2_TENSOR;
  parameter.first_scaling = LPT_SCALER_KIND_DELAYED;
  const lpt_optimizer_parameter *const parameters[] = {&parameter, &parameter};
  int64_t indices[2] = {};
  LPT_TEST_TRY(lpt_optimizer_add_shards(r.c, r.comm, optimizer, nullptr, parameters, 2, indices));
  const lpt_tensor *const gradients[] = {r.x.get(), r.x.get()};
  OwnTensor other;
  const int64_t extents[] = {kSide, kSide};
  LPT_TEST_TRY(lpt_tensor_create(r.c, LPT_FORMAT_F32, 2, extents, other.out()));
  lpt_tensor *const values[] = {r.y.get(), other};
  lpt_optimizer_step_options options = LPT_OPTIMIZER_STEP_OPTIONS_INIT;
  options.largest_norm = 1.0;
  lpt_reduce_options reduce = LPT_REDUCE_OPTIONS_INIT;
  lpt_optimizer_shard_options shards = LPT_OPTIMIZER_SHARD_OPTIONS_INIT;
  shards.reduce = &reduce;
  return lpt_optimizer_step_shards(r.c, r.comm, optimizer, indices, 2, gradients, &options, &shards, values);
}

lpt_status call_layers(Ranked &r) {
  static const std::vector<int64_t> targets(kSide, 70);
  OwnRecipe recipe;
  OwnLinear linear;
  OwnPartialPlan plan;
  OwnTensor loss, logs, classes;
  lpt_linear_shape shape = LPT_LINEAR_SHAPE_INIT;
  shape.input_columns = shape.output_columns = kSide;
  LPT_TEST_TRY(lpt_recipe_create(r.c, "fp8_trillion", recipe.out()));
  LPT_TEST_TRY(lpt_linear_create(r.c, recipe, &shape, linear.out()));
  LPT_TEST_TRY(lpt_linear_prepare(r.c, linear, r.x.get(), nullptr));
  lpt_linear_options options = LPT_LINEAR_OPTIONS_INIT;
  options.comm = r.comm;
  options.parallel = LPT_LINEAR_PARALLEL_ROWS;
  LPT_TEST_TRY(lpt_linear_forward(r.c, linear, r.x.get(), &options, nullptr, r.y.get()));
  lpt_linear *const linears[] = {linear};
  LPT_TEST_TRY(lpt_linear_share_amax(r.c, r.comm, linears, 1));
  lpt_partial_plan_options oracle = LPT_PARTIAL_PLAN_OPTIONS_INIT;
  oracle.hidden_columns = kSide;
  oracle.shared_columns = kSide / 2;
  oracle.rank_count = 2;
  LPT_TEST_TRY(lpt_partial_plan_create(r.c, &oracle, plan.out()));
  LPT_TEST_TRY(lpt_partial_all_reduce(r.c, r.comm, plan, LPT_PARTIAL_PASS_FORWARD, r.x.get(), r.y.get(), nullptr));
  LPT_TEST_TRY(lpt_partial_gemm(r.c, r.comm, plan, r.x.get(), r.x.get(), nullptr, r.y.get()));
  lpt_sequence_attention_options sequence = LPT_SEQUENCE_ATTENTION_OPTIONS_INIT;
  OwnTensor sums, gradients[3];
  const int64_t square[] = {kSide, kSide};
  LPT_TEST_TRY(lpt_tensor_create(r.c, LPT_FORMAT_F32, 1, square, sums.out()));
  for (OwnTensor &gradient : gradients) LPT_TEST_TRY(lpt_tensor_create(r.c, LPT_FORMAT_F32, 2, square, gradient.out()));
  sequence.log_sum_exp = sums;
  const lpt_tensor *const x = r.x.get();
  LPT_TEST_TRY(lpt_sequence_attention_forward(r.c, r.comm, nullptr, x, x, x, &sequence, r.y.get()));
  sequence.output = r.y.get();
  LPT_TEST_TRY(lpt_sequence_attention_backward(r.c, r.comm, nullptr, x, x, x, x, &sequence, gradients[0], gradients[1],
                                               gradients[2]));
  const int64_t one[] = {1}, rows[] = {kSide};
  LPT_TEST_TRY(lpt_tensor_create(r.c, LPT_FORMAT_F32, 1, one, loss.out()));
  LPT_TEST_TRY(lpt_tensor_create(r.c, LPT_FORMAT_F64, 1, rows, logs.out()));
  lpt_cross_entropy_options entropy = LPT_CROSS_ENTROPY_OPTIONS_INIT;
  entropy.comm = r.comm;
  LPT_TEST_TRY(lpt_tensor_wrap_const_matrix(r.c, LPT_FORMAT_INT64, targets.data(), 1, kSide, 0, classes.out()));
  LPT_TEST_TRY(lpt_cross_entropy_forward(r.c, r.x.get(), classes, &entropy, loss, logs));
  return lpt_cross_entropy_backward(r.c, r.x.get(), classes, logs, nullptr, &entropy, r.y.get());
}

// Runs call(rank) on two ranks, rank 0 on this thread. The other rank must receive a failure at once, not at the timeout.
template <typename Create>
lpt_status walk_two(WalkWorld &w, const Create &create, lpt_status (*call)(Ranked &)) {
  lpt_status statuses[2] = {};
  const auto run = [&](lpt_context *context, int32_t rank) {
    Ranked ranked(context);
    ranked.rank = rank;
    lpt_status &status = statuses[rank];
    status = create(context, rank, ranked.comm.out());
    if (status == LPT_OK) status = call(ranked);
  };
  std::unique_ptr<std::thread> other;
  {
    const Paused paused;
    other = std::make_unique<std::thread>([&] { run(make_context(1).get(), 1); });
  }
  run(w.c, 0);
  other->join();
  const Paused paused;
  EXPECT_TRUE(statuses[1] == LPT_OK || statuses[1] == LPT_ABORTED) << lpt_status_string(statuses[1]);
  return statuses[0];
}

lpt_status walk_ranks(WalkWorld &w, uint64_t flags, lpt_status (*call)(Ranked &)) {
  OwnGroup group;
  LPT_TEST_TRY(lpt_comm_group_create(nullptr, 2, group.out()));
  lpt_comm_options options = LPT_COMM_OPTIONS_INIT;
  options.flags = flags;
  options.timeout_seconds = 20.0;
  const auto create = [&](lpt_context *context, int32_t rank, lpt_comm **out_comm) {
    const lpt_status status = lpt_comm_create_local(context, group, rank, &options, out_comm);
    if (status != LPT_OK) lpt_comm_group_abort(group);
    return status;
  };
  return walk_two(w, create, call);
}

// Wraps a function of the test transport so that its allocations are not counted.
template <auto kFunction>
struct Uncounted;
template <typename Result, typename... Arguments, Result (*lpt_comm_functions::*kFunction)(Arguments...)>
struct Uncounted<kFunction> {
  static Result call(Arguments... arguments) {
    const Paused paused;
    return (MailRank::functions(MailForm::kBoth).*kFunction)(arguments...);
  }
};

lpt_status walk_custom_ranks(WalkWorld &w, MailForm form, lpt_status (*call)(Ranked &)) {
  Mailboxes boxes;
  MailRank mails[] = {{boxes, 0}, {boxes, 1}};
  lpt_comm_functions functions = MailRank::functions(form);
  if (form != MailForm::kExchange) {
    functions.send = Uncounted<&lpt_comm_functions::send>::call;
    functions.receive = Uncounted<&lpt_comm_functions::receive>::call;
    functions.test = Uncounted<&lpt_comm_functions::test>::call;
    functions.cancel = Uncounted<&lpt_comm_functions::cancel>::call;
  }
  if (form != MailForm::kMessages) functions.exchange = Uncounted<&lpt_comm_functions::exchange>::call;
  lpt_comm_options options = LPT_COMM_OPTIONS_INIT;
  options.timeout_seconds = 20.0;
  const auto create = [&](lpt_context *context, int32_t rank, lpt_comm **out_comm) {
    const lpt_status status = lpt_comm_create_custom(context, &functions, &mails[rank], rank, 2, &options, out_comm);
    // A rank that fails before its first transport call cannot notify the other rank, so the test closes the transport.
    if (status != LPT_OK) boxes.is_down = true;
    return status;
  };
  const lpt_status status = walk_two(w, create, call);
  const Paused paused;
  for (const MailRank &mail : mails) EXPECT_EQ(1, mail.closes);
  return status;
}

}  // namespace

const std::vector<Walk> kRankWalks = {
    {"Collectives", [](WalkWorld &w) { return walk_ranks(w, 0, call_collectives); }},
    {"CollectivesByMessages", [](WalkWorld &w) { return walk_ranks(w, LPT_COMM_MESSAGES, call_collectives); }, false},
    {"CollectivesByCustomMessages",
     [](WalkWorld &w) { return walk_custom_ranks(w, MailForm::kMessages, call_collectives); }, false},
    {"CollectivesByExchangeAndMessages",
     [](WalkWorld &w) { return walk_custom_ranks(w, MailForm::kBoth, call_collectives); }, false},
    {"Schedules", [](WalkWorld &w) { return walk_ranks(w, 0, call_schedules); }},
    {"LossyLinks", [](WalkWorld &w) { return walk_ranks(w, 0, call_lossy); }},
    {"Buckets", [](WalkWorld &w) { return walk_ranks(w, 0, call_buckets); }},
    {"Shards", [](WalkWorld &w) { return walk_ranks(w, 0, call_shards); }},
    {"ShardsByMessages", [](WalkWorld &w) { return walk_ranks(w, LPT_COMM_MESSAGES, call_shards); }, false},
    {"LayersOfRanks", [](WalkWorld &w) { return walk_ranks(w, 0, call_layers); }},
};

}  // namespace lpt::test
