/**
 * @file schedule.h
 * @brief Research: networks of ranks, switches and directed links.
 */
#ifndef LPT_RESEARCH_SCHEDULE_H
#define LPT_RESEARCH_SCHEDULE_H

#include "../common.h"
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
 * @param[in]  links         `link_count` links, one for two nodes and a direction.
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
 * @brief Destroys a topology.
 *
 * @param[in] topology  NULL is allowed.
 */
LPT_API void lpt_topology_destroy(lpt_topology *topology);

#ifdef __cplusplus
}
#endif

#endif
