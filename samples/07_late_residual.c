/* Two ranks share every layer of a small model (Ladder residual, arXiv 2501.06589). A block reads the residual stream
 * without the sum of the previous block, so that this sum is reduced while the block is computed. */
#include <lpt/research.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>

enum {
  kRanks = 2,
  kBlocks = 6,
  kRows = 8,
  kWidth = 32,
  kHidden = 48
}; /* each rank has kHidden of the hidden columns */

struct rank {
  lpt_comm_group *group;
  int index;
  double error; /* largest difference from one rank with the full model */
  lpt_status status;
  float stream[kRows * kWidth], sums[2][kRows * kWidth], hidden[kRows * kHidden];
  float up[kWidth * kHidden], down[kHidden * kWidth]; /* slices of a block of this rank */
};

static float up_of(int block, int i, int h) { return (float)((block * 7 + i * 13 + h * 5) % 17 - 8) / 64.0f; }
static float down_of(int block, int h, int i) { return (float)((block * 5 + h * 11 + i * 3) % 19 - 9) / 64.0f; }
static float start_of(int row, int i) { return (float)((row * 3 + i * 7) % 11 - 5) / 8.0f; }

/* Computes one row of the model in double. */
static void expect_row(int row, double *stream) {
  double late[kWidth] = {0};
  for (int i = 0; i < kWidth; ++i) stream[i] = start_of(row, i);
  for (int block = 0; block < kBlocks; ++block) {
    double sum[kWidth] = {0};
    for (int h = 0; h < kRanks * kHidden; ++h) {
      double hidden = 0.0;
      for (int i = 0; i < kWidth; ++i) hidden += stream[i] * up_of(block, i, h);
      for (int i = 0; i < kWidth; ++i) sum[i] += hidden * down_of(block, h, i);
    }
    for (int i = 0; i < kWidth; ++i) stream[i] += late[i], late[i] = sum[i];
  }
  for (int i = 0; i < kWidth; ++i) stream[i] += late[i];
}

/* tensors: stream, up, hidden, down, and two alternating sums. */
static lpt_status run_blocks(lpt_context *context, lpt_comm *comm, struct rank *self, lpt_tensor **t) {
  lpt_status status = LPT_OK;
  lpt_future *flying = NULL; /* the sum of the previous block */
  for (int block = 0; block <= kBlocks && status == LPT_OK; ++block) {
    lpt_tensor *const sum = t[4 + block % 2];
    lpt_future *next = NULL;
    for (int i = 0; i < kWidth * kHidden; ++i) {
      self->up[i] = up_of(block, i / kHidden, self->index * kHidden + i % kHidden);
      self->down[i] = down_of(block, self->index * kHidden + i / kWidth, i % kWidth);
    }
    if (block < kBlocks) status = lpt_gemm(context, t[0], t[1], NULL, t[2]); /* without the pending sum */
    if (block < kBlocks && status == LPT_OK) status = lpt_gemm(context, t[2], t[3], NULL, sum);
    if (block < kBlocks && status == LPT_OK) status = lpt_all_reduce(context, comm, sum, NULL, sum, &next);
    if (block > 0 && status == LPT_OK) status = lpt_future_wait(context, flying);
    for (int i = 0; i < kRows * kWidth && block > 0; ++i) self->stream[i] += self->sums[(block + 1) % 2][i];
    lpt_future_destroy(flying);
    flying = next;
  }
  lpt_future_destroy(flying);
  return status;
}

static void *work(void *argument) {
  struct rank *self = argument;
  float *const places[] = {self->stream, self->up, self->hidden, self->down, self->sums[0], self->sums[1]};
  static const int kTall[] = {kRows, kWidth, kRows, kHidden, kRows, kRows};
  static const int kWide[] = {kWidth, kHidden, kHidden, kWidth, kWidth, kWidth};
  lpt_context_options own = LPT_CONTEXT_OPTIONS_INIT;
  lpt_comm_options link = LPT_COMM_OPTIONS_INIT;
  lpt_comm_emulation emulated = LPT_COMM_EMULATION_INIT;
  lpt_context *context = NULL;
  lpt_comm *comm = NULL;
  lpt_tensor *tensors[6] = {NULL};
  own.thread_count = 1;                 /* ranks share the cores */
  emulated.link_latency_seconds = 1e-3; /* emulates ranks without shared memory */
  link.emulation = &emulated;
  for (int i = 0; i < kRows * kWidth; ++i) self->stream[i] = start_of(i / kWidth, i % kWidth);
  self->status = lpt_context_create(&own, &context);
  for (int k = 0; k < 6 && self->status == LPT_OK; ++k)
    self->status = lpt_tensor_wrap_matrix(context, LPT_FORMAT_F32, places[k], kTall[k], kWide[k], 0, &tensors[k]);
  if (self->status == LPT_OK) self->status = lpt_comm_create_local(context, self->group, self->index, &link, &comm);
  if (self->status == LPT_OK) self->status = run_blocks(context, comm, self, tensors);
  if (self->status != LPT_OK) fprintf(stderr, "rank %d: %s\n", self->index, lpt_context_error(context));
  for (int row = 0; row < kRows; ++row) {
    double expected[kWidth];
    expect_row(row, expected);
    for (int i = 0; i < kWidth; ++i)
      self->error = fmax(self->error, fabs(expected[i] - self->stream[row * kWidth + i]));
  }
  lpt_comm_destroy(comm); /* first, because it cancels pending reductions */
  for (int k = 0; k < 6; ++k) lpt_tensor_destroy(tensors[k]);
  lpt_context_destroy(context);
  return NULL;
}

int main(void) {
  static struct rank ranks[kRanks];
  pthread_t threads[kRanks];
  lpt_comm_group *group = NULL;
  int is_good = lpt_comm_group_create(NULL, kRanks, &group) == LPT_OK;
  for (int q = 0; q < kRanks; ++q) {
    ranks[q].group = group;
    ranks[q].index = q;
    if (pthread_create(&threads[q], NULL, work, &ranks[q]) != 0) return 1;
  }
  for (int q = 0; q < kRanks; ++q) pthread_join(threads[q], NULL);
  for (int q = 0; q < kRanks; ++q) is_good = is_good && ranks[q].status == LPT_OK && ranks[q].error < 1e-5;
  printf("%d blocks, each reading the stream of two before: largest error %.1e\n", kBlocks, ranks[0].error);
  lpt_comm_group_destroy(group);
  return is_good ? 0 : 1;
}
