/* Four ranks, one thread each, reduce a gradient: in f32, in one byte per element, and only half of its columns. */
#include <lpt.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>

enum { kRanks = 4, kRows = 64, kColumns = 256 };

/* Inputs and results of a rank. */
struct rank {
  lpt_comm_group *group;
  int index;
  double errors[3];   /* largest difference from the sum, of values up to 4 */
  long long bytes[3]; /* sent by the rank */
  lpt_status status;
};

static float number_of(int rank, int i) { return (float)((i * 37 + rank * 11) % 200 - 100) / 100.0f; }

/* Compares the first `columns` of every row, which the ranks share. */
static double largest_error(const float *found, int columns) {
  double largest = 0.0;
  for (int i = 0; i < kRows * kColumns; ++i) {
    if (i % kColumns >= columns) continue;
    float sum = 0.0f;
    for (int q = 0; q < kRanks; ++q) sum += number_of(q, i);
    largest = fmax(largest, fabs((double)found[i] - sum));
  }
  return largest;
}

static lpt_status send_all(lpt_context *context, lpt_comm *comm, lpt_partial_plan *plan, struct rank *self) {
  static float gradients[kRanks][kRows * kColumns]; /* one per thread */
  float *const mine = gradients[self->index];
  lpt_tensor *tensor = NULL;
  lpt_status status = lpt_tensor_wrap_matrix(context, LPT_FORMAT_F32, mine, kRows, kColumns, 0, &tensor);
  long long sent = 0;
  for (int way = 0; way < 3 && status == LPT_OK; ++way) {
    lpt_reduce_options options = LPT_REDUCE_OPTIONS_INIT;
    lpt_comm_info values = LPT_COMM_INFO_INIT;
    if (way == 1) options.wire = LPT_FORMAT_INT8_1X32;
    for (int i = 0; i < kRows * kColumns; ++i) mine[i] = number_of(self->index, i);
    status = way < 2 ? lpt_all_reduce(context, comm, tensor, &options, tensor, NULL)
                     : lpt_partial_all_reduce(context, comm, plan, LPT_PARTIAL_PASS_FORWARD, tensor, tensor, NULL);
    if (status == LPT_OK) status = lpt_comm_read(context, comm, &values);
    self->errors[way] = largest_error(mine, way < 2 ? kColumns : kColumns / 2);
    self->bytes[way] = (long long)values.bytes_sent - sent;
    sent = (long long)values.bytes_sent;
  }
  lpt_tensor_destroy(tensor);
  return status;
}

static void *work(void *argument) {
  struct rank *self = argument;
  lpt_context_options own = LPT_CONTEXT_OPTIONS_INIT;
  lpt_partial_plan_options half = LPT_PARTIAL_PLAN_OPTIONS_INIT;
  lpt_context *context = NULL;
  lpt_comm *comm = NULL;
  lpt_partial_plan *plan = NULL;
  own.thread_count = 1; /* ranks share the cores */
  half.hidden_columns = kColumns;
  half.shared_columns = kColumns / 2;
  half.rank_count = kRanks;
  self->status = lpt_context_create(&own, &context);
  if (self->status == LPT_OK) self->status = lpt_comm_create_local(context, self->group, self->index, NULL, &comm);
  if (self->status == LPT_OK) self->status = lpt_partial_plan_create(context, &half, &plan);
  if (self->status == LPT_OK) self->status = send_all(context, comm, plan, self);
  if (self->status != LPT_OK) fprintf(stderr, "rank %d: %s\n", self->index, lpt_context_error(context));
  lpt_partial_plan_destroy(plan);
  lpt_comm_destroy(comm); /* reports an error to ranks that wait for this one */
  lpt_context_destroy(context);
  return NULL;
}

int main(void) {
  static const char *const kWays[] = {"as it is", "in int8_1x32", "half of the columns"};
  static const double kMost[] = {0.0, 0.05, 0.0};
  struct rank ranks[kRanks] = {{0}};
  pthread_t threads[kRanks];
  lpt_comm_group *group = NULL;
  int is_good = lpt_comm_group_create(NULL, kRanks, &group) == LPT_OK;
  for (int q = 0; q < kRanks; ++q) {
    ranks[q].group = group;
    ranks[q].index = q;
    if (pthread_create(&threads[q], NULL, work, &ranks[q]) != 0) return 1;
  }
  for (int q = 0; q < kRanks; ++q) pthread_join(threads[q], NULL);
  for (int q = 0; q < kRanks; ++q) is_good = is_good && ranks[q].status == LPT_OK;
  for (int way = 0; way < 3 && is_good; ++way) {
    printf("%-20s rank 0 sent %6lld bytes, largest error %.4f\n", kWays[way], ranks[0].bytes[way],
           ranks[0].errors[way]);
    for (int q = 0; q < kRanks; ++q) is_good = is_good && ranks[q].errors[way] <= kMost[way];
  }
  lpt_comm_group_destroy(group);
  return is_good ? 0 : 1;
}
