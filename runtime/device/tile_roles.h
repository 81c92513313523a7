/* tile_roles.h: what kernels in the form roles are written in, on sm_90a (docs/reference/device.md). */
#ifndef TILE_DEVICE_TILE_ROLES_H
#define TILE_DEVICE_TILE_ROLES_H

#include "device/tile_ring.h"

#include "device/tile_box.h"
#include "device/tile_gather.h"
#include "device/tile_order.h"
#include "device/tile_piece.h"
#include "device/tile_ragged_warp.h"
#include "device/tile_share.h"
#include "device/tile_chain.h"
#include "device/tile_sums.h"
#include "device/tile_task.h"

#endif
