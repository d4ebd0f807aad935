/**
 * @file schedule.h
 * @brief Research: schedules of all-reduces for a network of links.
 *
 * A topology has ranks, switches and directed links. A schedule states which rank sends which chunk of the payload to
 * which rank in which step. The library builds schedules, verifies any list of sends, simulates its time, and runs it
 * on a comm.
 */
#ifndef LPT_RESEARCH_SCHEDULE_H
#define LPT_RESEARCH_SCHEDULE_H

#include "../collective.h"
#include "cost.h"

#ifdef __cplusplus
extern "C" {
#endif

/** @brief Shape of a topology; one of lpt_topology_kind_values. */
typedef int32_t lpt_topology_kind;

/**
 * @brief Values of lpt_topology_kind.
 *
 * The last axis is the fastest: in a torus of {Y, X}, rank y · X + x is at (y, x). Switches follow the ranks.
 */
enum lpt_topology_kind_values {
  /**
   * {ranks of each axis}, 1 to 4 axes. Each rank has a link to both neighbors of every axis, which wrap around; one
   * link where both are the same rank.
   */
  LPT_TOPOLOGY_KIND_TORUS = 0,
  LPT_TOPOLOGY_KIND_MESH = 1,            /**< A torus without the links that wrap around. */
  LPT_TOPOLOGY_KIND_FULLY_CONNECTED = 2, /**< {ranks}: each rank has a link to every other rank. */
  /**
   * {spine switches, leaf switches, ranks of each leaf switch}. Ranks have a link to and from their leaf switch, leaf
   * switches one to and from every spine switch.
   */
  LPT_TOPOLOGY_KIND_FAT_TREE = 3,
  /**
   * {sites, ranks of each site}. The ranks of a site are fully connected. Each also has a link to and from the router
   * of its site, which is a switch. Routers are fully connected.
   */
  LPT_TOPOLOGY_KIND_TWO_LEVEL = 4,
  LPT_TOPOLOGY_KIND_GRAPH = 5 /**< A result only: lpt_topology_create_graph() made it. */
};

/**
 * @brief A directed link between two nodes.
 *
 * Nodes are the ranks from 0 on, then the switches. A message of b bytes takes b / bytes_per_second, and
 * latency_seconds. The struct has no `struct_size` and never changes, because arrays contain it.
 */
typedef struct lpt_topology_link {
  int32_t source;          /**< Node that sends. */
  int32_t target;          /**< Node that receives. */
  double latency_seconds;  /**< 0 to 1e9. */
  double bytes_per_second; /**< Up to 1e30; 0: infinite. */
} lpt_topology_link;

/** @brief Size of a topology. */
typedef struct lpt_topology_info {
  size_t struct_size;     /**< sizeof(lpt_topology_info) of the caller. */
  lpt_topology_kind kind; /**< Its shape. */
  int32_t rank_count;     /**< Ranks. */
  int32_t switch_count;   /**< Switches. */
  int32_t link_count;     /**< Directed links. */
} lpt_topology_info;

/** @brief Defaults of lpt_topology_info. */
#define LPT_TOPOLOGY_INFO_INIT \
  { sizeof(lpt_topology_info), LPT_TOPOLOGY_KIND_TORUS, 0, 0, 0 }

/**
 * @brief Creates a topology of a known shape.
 *
 * The links of a rank are ordered as the axes, each first to the next rank, then to the previous one: +y, -y, +x, -x.
 * This order decides which of several equal schedules lpt_schedule_create() builds.
 *
 * @param[in]  kind          Any but GRAPH.
 * @param[in]  extents       See lpt_topology_kind_values; each at least 1, at most 1024 ranks and 1024 switches in
 *                           total.
 * @param[in]  extent_count  Number of extents.
 * @param[in]  link          Latency and bandwidth of links; NULL for the defaults. reduce_bytes_per_second: 0.
 * @param[in]  upper_link    Links between switches; NULL: as `link`. Only for FAT_TREE and TWO_LEVEL.
 * @param[out] out_topology  Destroy with lpt_topology_destroy().
 * @retval LPT_INVALID_ARGUMENT  An argument is out of range.
 */
LPT_API lpt_status lpt_topology_create(lpt_context *context, lpt_topology_kind kind, const int64_t *extents,
                                       int32_t extent_count, const lpt_cost_link *link, const lpt_cost_link *upper_link,
                                       lpt_topology **out_topology);

/**
 * @brief Creates a topology from a list of links.
 *
 * @param[in]  rank_count    1 to 1024.
 * @param[in]  switch_count  0 to 1024.
 * @param[in]  links         `link_count` links in the order in which lpt_schedule_create() tries them.
 * @param[in]  link_count    0 to 1048576.
 * @param[out] out_topology  Destroy with lpt_topology_destroy().
 * @retval LPT_INVALID_ARGUMENT  A member is out of range, two links have the same nodes, or a rank cannot reach
 *                               another.
 */
LPT_API lpt_status lpt_topology_create_graph(lpt_context *context, int32_t rank_count, int32_t switch_count,
                                             const lpt_topology_link *links, int64_t link_count,
                                             lpt_topology **out_topology);

/**
 * @brief Reads the size of a topology.
 *
 * @param[in]  topology  Topology to read.
 * @param[out] out_info  The caller sets `struct_size`.
 */
LPT_API lpt_status lpt_topology_read(lpt_context *context, const lpt_topology *topology, lpt_topology_info *out_info);

/**
 * @brief Copies the links of a topology.
 *
 * @param[in]  topology    Topology to read.
 * @param[in]  link_count  Length of the array: the link_count of lpt_topology_read().
 * @param[out] out_links   Array of all links. The index of a link in it is its number.
 * @retval LPT_INVALID_ARGUMENT  `link_count` differs from that of the topology.
 */
LPT_API lpt_status lpt_topology_links(lpt_context *context, const lpt_topology *topology, int64_t link_count,
                                      lpt_topology_link *out_links);

/**
 * @brief Destroys a topology; its schedules stay valid.
 *
 * @param[in] topology  NULL is allowed.
 */
LPT_API void lpt_topology_destroy(lpt_topology *topology);

/** @brief Algorithm of a schedule; one of lpt_schedule_algorithm_values. */
typedef int32_t lpt_schedule_algorithm;

/**
 * @brief Values of lpt_schedule_algorithm.
 *
 * R ranks. A send takes a shortest path. Where its links are in use, it takes a later step.
 * docs/reference/collectives.md describes each algorithm.
 */
enum lpt_schedule_algorithm_values {
  LPT_SCHEDULE_ALGORITHM_MULTITREE = 0, /**< R trees that grow together over free links, one for each of R chunks. */
  /**
   * R chunks around a ring: along a cycle of links in a torus or mesh that has one, otherwise in the order of ranks.
   */
  LPT_SCHEDULE_ALGORITHM_RING = 1,
  /** Two binary trees, each for half of the payload. A rank that adds in one tree is a leaf of the other. */
  LPT_SCHEDULE_ALGORITHM_DOUBLE_TREE = 2,
  /** Recursive halving and doubling: partners exchange halves of what remains. Also for R that is no power of two. */
  LPT_SCHEDULE_ALGORITHM_HALVING = 3,
  /**
   * Sums within groups of ranks, then between groups. Ranks of different groups exchange 1 / group_ranks of the
   * payload.
   */
  LPT_SCHEDULE_ALGORITHM_HIERARCHICAL = 4,
  LPT_SCHEDULE_ALGORITHM_CUSTOM = 5 /**< A result only: lpt_schedule_create_sends() made it. */
};

/** @brief What the receiver of a send does; one of lpt_schedule_operation_values. */
typedef int32_t lpt_schedule_operation;

/** @brief Values of lpt_schedule_operation. */
enum lpt_schedule_operation_values {
  LPT_SCHEDULE_OPERATION_ADD = 0, /**< It adds the chunks to its own: own + received. */
  LPT_SCHEDULE_OPERATION_COPY = 1 /**< It replaces its chunks by the sums of all ranks. */
};

/**
 * @brief A message of a schedule.
 *
 * All messages of a step send what their ranks had before the step. The struct has no `struct_size` and never changes,
 * because arrays contain it.
 */
typedef struct lpt_schedule_send {
  int32_t step;                     /**< From 0 on. */
  int32_t source;                   /**< Rank that sends. */
  int32_t target;                   /**< Rank that receives. */
  int32_t first_chunk;              /**< First of adjacent chunks. */
  int32_t chunk_count;              /**< Number of chunks, at least 1. */
  lpt_schedule_operation operation; /**< What `target` does. */
} lpt_schedule_send;

/** @brief Options of lpt_schedule_create(). */
typedef struct lpt_schedule_options {
  size_t struct_size; /**< sizeof(lpt_schedule_options) of the caller. */
  /** HIERARCHICAL: ranks of a group, a divisor of R. 0, the default: the last extent of the topology. */
  int32_t group_ranks;
  int32_t tree_chunks; /**< DOUBLE_TREE: chunks of each tree, which follow one another, 1 to 1024. Default 8. */
} lpt_schedule_options;

/** @brief Defaults of lpt_schedule_options. */
#define LPT_SCHEDULE_OPTIONS_INIT \
  { sizeof(lpt_schedule_options), 0, 8 }

/** @brief Size of a schedule. */
typedef struct lpt_schedule_info {
  size_t struct_size;               /**< sizeof(lpt_schedule_info) of the caller. */
  lpt_schedule_algorithm algorithm; /**< How it was built. */
  int32_t rank_count;               /**< R. */
  int32_t chunk_count;              /**< Chunks of the payload, of equal size. */
  int32_t step_count;               /**< Steps of all sends. */
  int32_t add_step_count;           /**< Steps up to the last one that adds. */
  int32_t copy_step_count;          /**< Steps from the first one that copies. Both phases may overlap. */
  /**
   * R (R - 1) / links that leave ranks, rounded up: no phase of R chunks with each in one message takes fewer steps.
   */
  int32_t least_step_count;
  int32_t reserved;   /**< 0. */
  int64_t send_count; /**< Number of sends. */
  int64_t hop_count;  /**< Links of the paths of all sends. */
} lpt_schedule_info;

/** @brief Defaults of lpt_schedule_info. */
#define LPT_SCHEDULE_INFO_INIT \
  { sizeof(lpt_schedule_info), LPT_SCHEDULE_ALGORITHM_MULTITREE, 0, 0, 0, 0, 0, 0, 0, 0, 0 }

/**
 * @brief Builds a schedule of an all-reduce, and verifies it as lpt_schedule_create_sends() does.
 *
 * Source    MULTITREE: Huang et al., "Communication Algorithm-Architecture Co-Design for Distributed Deep Learning",
 *           ISCA 2021.
 *
 * @param[in]  topology      Topology of the ranks.
 * @param[in]  algorithm     Any but CUSTOM.
 * @param[in]  options       NULL for the defaults.
 * @param[out] out_schedule  Destroy with lpt_schedule_destroy().
 * @retval LPT_INVALID_ARGUMENT  An argument or a member of `options` is out of range.
 */
LPT_API lpt_status lpt_schedule_create(lpt_context *context, const lpt_topology *topology,
                                       lpt_schedule_algorithm algorithm, const lpt_schedule_options *options,
                                       lpt_schedule **out_schedule);

/**
 * @brief Verifies a list of sends symbolically and makes a schedule of it.
 *
 * Each chunk is summed on one rank, which has received the part of every other rank exactly once; then every other rank
 * receives a copy. Hence all ranks have the same bits. In the order of the list, each send gets a shortest path over
 * links that no send of its step uses.
 *
 * @param[in]  topology      Topology of the ranks.
 * @param[in]  chunk_count   1 to 4096.
 * @param[in]  sends         `send_count` sends, in the order of their steps; every step has one.
 * @param[in]  send_count    0 to 2 · R · chunk_count.
 * @param[out] out_schedule  Destroy with lpt_schedule_destroy().
 * @retval LPT_INVALID_ARGUMENT  A member is out of range, or the sends are no all-reduce; the text names the send, its
 *                               step and the chunk. Two sends of a step need the same link; the text names it.
 */
LPT_API lpt_status lpt_schedule_create_sends(lpt_context *context, const lpt_topology *topology, int32_t chunk_count,
                                             const lpt_schedule_send *sends, int64_t send_count,
                                             lpt_schedule **out_schedule);

/**
 * @brief Reads the size of a schedule.
 *
 * @param[in]  schedule  Schedule to read.
 * @param[out] out_info  The caller sets `struct_size`.
 */
LPT_API lpt_status lpt_schedule_read(lpt_context *context, const lpt_schedule *schedule, lpt_schedule_info *out_info);

/**
 * @brief Copies the sends of a schedule and their paths.
 *
 * @param[in]  schedule        Schedule to read.
 * @param[in]  send_count      Length of `out_sends` and `out_hop_counts`: that of lpt_schedule_read().
 * @param[in]  hop_count       Length of `out_hops`: that of lpt_schedule_read().
 * @param[out] out_sends       All sends in the order of steps.
 * @param[out] out_hop_counts  Number of links of each send; NULL: not copied.
 * @param[out] out_hops        Numbers of the links of all sends, one send after another; NULL: not copied.
 * @retval LPT_INVALID_ARGUMENT  A count differs from that of the schedule.
 */
LPT_API lpt_status lpt_schedule_sends(lpt_context *context, const lpt_schedule *schedule, int64_t send_count,
                                      int64_t hop_count, lpt_schedule_send *out_sends, int32_t *out_hop_counts,
                                      int32_t *out_hops);

/**
 * @brief Simulates the time of a schedule.
 *
 * A send begins when its rank has the chunks and every link of its path is free. Links serve sends in the order of the
 * list. The message occupies each link for its bytes over the least bandwidth of the path, one latency later on each
 * next link. Ranks do not wait for other ranks between steps.
 *
 * @param[in]  schedule                 Schedule to simulate.
 * @param[in]  bytes                    Payload of each rank, 0 to 1e30.
 * @param[in]  reduce_bytes_per_second  Rate at which a rank adds received payload, up to 1e30; 0: infinite.
 * @param[in]  link_count               Length of `out_link_seconds`: that of the topology.
 * @param[out] out_seconds              Time until the last rank has the result.
 * @param[out] out_link_seconds         Time in which each link is occupied; NULL: not computed.
 * @retval LPT_INVALID_ARGUMENT  An argument is out of range.
 */
LPT_API lpt_status lpt_schedule_simulate(lpt_context *context, const lpt_schedule *schedule, double bytes,
                                         double reduce_bytes_per_second, int64_t link_count, double *out_seconds,
                                         double *out_link_seconds);

/**
 * @brief Reduces a tensor over all ranks by a schedule; every rank gets the result.
 *
 * Rank r of the comm is rank r of the topology. Every rank gets the same bits, on every engine, for any number of
 * threads. A rank adds one received chunk after another in the order of the list: own + received.
 *
 * Shapes    Any shape, the same on all ranks; rows with any stride. The n elements in row order are cut into
 *           `chunk_count` chunks of 32 · ceil(floor(n / 32) / chunk_count) elements. The last chunk ends at n, and
 *           chunks may be empty.
 *
 * Formats   f64, f32, bf16 or f16; `output` as `input`.
 *
 * Rounding  f16 and bf16 are added in f32 and rounded after each addition, f64 in f64. The last addition of a chunk
 *           multiplies by the factor before it rounds; AVERAGE has the factor `factor` / R.
 *
 * Overlap   `output` may be `input`.
 *
 * Device    Ranks on CPUs, whose transport has messages between two ranks.
 *
 * @param[in,out] comm        Communicator of this rank.
 * @param[in]     schedule    The same sends on all ranks.
 * @param[in]     input       The same shape on all ranks.
 * @param[in]     options     NULL for the defaults; the same on all ranks. SUM or AVERAGE, `factor` and LPT_CHECK_ONLY.
 * @param[out]    output      The shape and format of `input`.
 * @param[out]    out_future  NULL: complete on return. Otherwise destroy with lpt_future_destroy().
 * @retval LPT_INVALID_ARGUMENT  `schedule` has another number of ranks than `comm`.
 * @retval LPT_UNSUPPORTED       `options` has a wire, a codec, an algorithm or another reduction. The comm is of GPUs
 *                               or has no messages.
 */
LPT_API lpt_status lpt_schedule_all_reduce(lpt_context *context, lpt_comm *comm, const lpt_schedule *schedule,
                                           const lpt_tensor *input, const lpt_reduce_options *options,
                                           lpt_tensor *output, lpt_future **out_future);

/**
 * @brief Destroys a schedule; collectives in progress keep what they need.
 *
 * @param[in] schedule  NULL is allowed.
 */
LPT_API void lpt_schedule_destroy(lpt_schedule *schedule);

#ifdef __cplusplus
}
#endif

#endif
