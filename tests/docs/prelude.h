/* What fragments of code in the guides take for granted: handles that they do not make themselves. Static, as some stay unused. */
#include <lpt/research.h>
#include <stdlib.h>
#include <string.h>

/* Of CUDA's runtime. */
typedef enum cudaError { cudaSuccess = 0 } cudaError_t;
typedef struct CUstream_st *cudaStream_t;
typedef struct CUmemPoolHandle_st *cudaMemPool_t;
cudaError_t cudaMallocFromPoolAsync(void **memory, size_t bytes, cudaMemPool_t pool, cudaStream_t stream);
cudaError_t cudaFreeAsync(void *memory, cudaStream_t stream);

static lpt_context *context, *cpu, *gpu;
static void *stream, *pool;
static lpt_comm_group *group;
static lpt_comm *comm, *bootstrap;
static lpt_partial_plan *plan;
static lpt_gemm_options transposed = LPT_GEMM_OPTIONS_INIT;
static lpt_tensor *gradient, *attention, *weight, *y, *dy, *dy_before;
static lpt_tensor *source, *codes, *weights_of_the_cpu, *normed, *saved_first, *hidden, *saved_second, *branch;
static lpt_tensor *shard, *input, *rotated, *output, *query, *key, *value, *log_sums;
static lpt_tensor *output_gradient, *query_gradient, *key_gradient, *value_gradient;
static lpt_linear *first, *second;
static lpt_optimizer *optimizer;
static lpt_loss_scaler *scaler;
static const int64_t *indices;
static int64_t count;
static const lpt_tensor *const *gradients;
static lpt_tensor *const *parameters;
static int64_t extents[2];
static int32_t rank;
