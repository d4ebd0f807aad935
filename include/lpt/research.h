/**
 * @file research.h
 * @brief LPT with its research features, whose interface may change from release to release.
 */
#ifndef LPT_RESEARCH_H
#define LPT_RESEARCH_H

#include "../lpt.h"
#include "research/autopilot.h"
#include "research/codec.h"
#include "research/cost.h"
#include "research/delay.h"
#include "research/drop_compute.h"
#include "research/emulation.h"
#include "research/exaq.h"
#include "research/lossy.h"
#include "research/monitor.h"
#include "research/power.h"
#include "research/schedule.h"
#include "research/sparsity.h"

#endif
