// Products of up to eight rows with weights in blocks. A thread block stays on a multiprocessor; each of its two
// teams of warps takes 16 outputs at a time. The warps of a team take a part of the columns each, and have ring buffers of
// weights that the copy engine fills.
//
// An output is the sum of COLUMN_PARTS parts of the columns, in order, and each part is a sum over its columns in order. Parts
// depend on the number of columns only, so an output does not depend on other rows. gemm.cuh computes the same sums for more
// rows: both matrix instructions add 16 products to a sum in the same way.
#pragma once
#include "blocks.cuh"

constexpr int COLUMN_PARTS = 8;

// Returns the first block of a part of the columns.
DEVICE int partBegin(int part, int blocks) { return part * blocks / COLUMN_PARTS; }

#ifdef __CUDA_ARCH_FEAT_SM90_ALL
constexpr int GEMV_TEAMS = 2;
constexpr int GEMV_WARPS = GEMV_TEAMS * COLUMN_PARTS;

struct FewRowsProduct {
  const u8* weights;   // (outputs / 16 padded to 8, columns / 256) blocks
  const u16* rows;     // a tile of eight: (column / 256, j / 2, row, q, j % 2, h, e) halves
  float* out;          // (rows, stride), the first outputs of each row
  u32 count;           // of rows
  u32 columns;
  u32 outputs;
  u32 stride;
};

template <class KIND, int S>
DEVICE void addStep(const typename KIND::Codes& codes, const typename KIND::Scales& scales, const uint4& b, float (&sums)[4]) {
  u32 a[4];
  KIND::template unpack<S>(codes, scales, a);
  multiplyTiles(sums, a[0], a[1], a[2], a[3], S % 2 ? b.z : b.x, S % 2 ? b.w : b.y);
}

// Loads a lane's activations of a block of 256 columns, 16 bytes for each two steps. Not as constants, since the previous kernel
// writes them while this one already runs.
// rows: the lane's first bytes
DEVICE void loadBlock(const uint4* rows, int block, uint4 (&b)[8]) {
#pragma unroll
  for (int i = 0; i < 8; i++) b[i] = rows[block * 256 + i * 32];
}

// Adds the products with a block of 256 columns.
template <class KIND> DEVICE void addBlock(u32 slot, const uint4 (&b)[8], float (&sums)[4]) {
  const int lane = threadIdx.x % 32;
  const typename KIND::Scales scales = KIND::scales(slot, lane);
#pragma unroll
  for (int quarter = 0; quarter < 4; quarter++) {
    const typename KIND::Codes codes = KIND::codes(slot, quarter, lane);
    addStep<KIND, 0>(codes, scales, b[2 * quarter], sums);
    addStep<KIND, 1>(codes, scales, b[2 * quarter], sums);
    addStep<KIND, 2>(codes, scales, b[2 * quarter + 1], sums);
    addStep<KIND, 3>(codes, scales, b[2 * quarter + 1], sums);
  }
}

DEVICE void syncTeam(int team) { asm volatile("bar.sync %0, %1;" ::"r"(team + 1), "n"(32 * COLUMN_PARTS) : "memory"); }

// grid (at most the multiprocessors), 512 threads, one block per multiprocessor. Dynamic shared memory: rings of SLOTS blocks
// for each warp. Rows after the last one are computed from whatever is in memory and not stored.
template <class KIND, int SLOTS> DEVICE void multiplyFew(const FewRowsProduct& p) {
  extern __shared__ __align__(128) u8 dynamicMemory[];
  __shared__ u64 barriers[GEMV_WARPS * SLOTS];
  __shared__ float ofWarps[GEMV_WARPS][4][32];
  letNextBegin();
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, team = warp / COLUMN_PARTS, part = warp % COLUMN_PARTS;
  const int blocks = p.columns / BLOCK_COLUMNS, units = (p.outputs + BLOCK_ROWS - 1) / BLOCK_ROWS;
  const int first = blockIdx.x + team * gridDim.x, step = GEMV_TEAMS * gridDim.x;
  const u32 ring = sharedAddress(dynamicMemory) + warp * SLOTS * KIND::BYTES;
  const u32 bars = sharedAddress(barriers) + warp * SLOTS * 8;
  const int begin = partBegin(part, blocks), end = partBegin(part + 1, blocks);
  if (lane == 0) {
#pragma unroll
    for (int i = 0; i < SLOTS; i++) initBarrier(bars + 8 * i, 1);
    publishBarriers();
  }
  __syncwarp();
  int aheadUnit = begin < end ? first : units, aheadBlock = begin;   // what lane 0 fetches next
  auto fetch = [&](int slot) {
    if (aheadUnit >= units) return;
    expectBytes(bars + 8 * slot, KIND::BYTES);
    copyBytes(ring + slot * KIND::BYTES, p.weights + ((size_t)aheadUnit * blocks + aheadBlock) * KIND::BYTES, KIND::BYTES,
              bars + 8 * slot);
    if (++aheadBlock == end) { aheadBlock = begin; aheadUnit += step; }
  };
  if (lane == 0) {   // weights are constant, so copies start before the previous kernel ends
#pragma unroll
    for (int i = 0; i < SLOTS; i++) fetch(i);
  }
  awaitPrevious();
  const uint4* rows = reinterpret_cast<const uint4*>(p.rows) + lane;
  float sums[4];
  uint4 next[8];
  loadBlock(rows, begin, next);
  int slot = 0;
  u32 parity = 0;
#pragma unroll 1
  for (int unit = first; unit < units; unit += step) {
#pragma unroll
    for (int i = 0; i < 4; i++) sums[i] = 0.f;
#pragma unroll 1
    for (int block = begin; block < end; block++) {
      uint4 b[8];   // loaded a block ahead, since each load is a round trip to L2
#pragma unroll
      for (int i = 0; i < 8; i++) b[i] = next[i];
      loadBlock(rows, block + 1 < end ? block + 1 : begin, next);
      awaitBarrier(bars + 8 * slot, parity);
      addBlock<KIND>(ring + slot * KIND::BYTES, b, sums);
      __syncwarp();   // all lanes have read the slot
      if (lane == 0) fetch(slot);
      if (++slot == SLOTS) { slot = 0; parity ^= 1; }
    }
    syncTeam(team);   // the sums before have been read
#pragma unroll
    for (int i = 0; i < 4; i++) ofWarps[warp][i][lane] = sums[i];
    syncTeam(team);
    // Threads take 16 adjacent outputs of a row: lane 4r+q has outputs 2r, 2r+1 and rows 2q, 2q+1.
    const int i = threadIdx.x % (32 * COLUMN_PARTS), output = i % 16, row = i / 16, to = unit * BLOCK_ROWS + output;
    if (row < p.count && to < p.outputs) {
      float sum = 0.f;
#pragma unroll
      for (int w = 0; w < COLUMN_PARTS; w++) {
        sum += ofWarps[team * COLUMN_PARTS + w][output % 2 * 2 + row % 2][output / 2 * 4 + row / 2];
      }
      p.out[(size_t)row * p.stride + to] = sum;
    }
  }
}
#endif
