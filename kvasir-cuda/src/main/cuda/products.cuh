// Products of weights and activations on the matrix units. 32 columns of codes that share a scale are one instruction,
// whose integer sums equal those on the host. Floats are summed over the groups.
#pragma once
#include "rows.cuh"

constexpr int PRODUCT_WARPS = 8;
constexpr int RING_BYTES = 4608;   // maximum per warp: 48 KB in all, with the block's own memory

// The column groups that a warp has in flight, each of TILES tiles.
template <class KIND, int TILES> struct WeightRing {
  static constexpr int SLOT_BYTES = TILES * KIND::BYTES;
  static constexpr int STAGES = RING_BYTES / SLOT_BYTES < 8 ? RING_BYTES / SLOT_BYTES : 8;
  static constexpr int BYTES = STAGES * SLOT_BYTES;

  // Starts the copies of a column group. Every call closes a group of copies, even an empty one.
  DEVICE static void fetch(u32 ring, int i, int count, const Weights& weights, int firstTile, int groups, int group) {
    if (i < count) {
#pragma unroll
      for (int t = 0; t < TILES; t++) {
        KIND::fetch(ring + i % STAGES * SLOT_BYTES + t * KIND::BYTES, weights, (size_t)(firstTile + t) * groups + group);
      }
    }
    endCopies();
  }
};

// A lane's part of 32 columns of 8 * COLUMNS rows. Scales and sums belong to the rows of its products.
template <class KIND, int COLUMNS> struct RowFragments {
  uint2 codes[COLUMNS];
  float2 scales[COLUMNS];
  float2 sums[COLUMNS];
  uint4 halves[COLUMNS];

  DEVICE void load(const CodedRows& rows, int firstTile, int groups, int group) {
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int c = 0; c < COLUMNS; c++) {
      const size_t chunk = (size_t)(firstTile + c) * groups + group;
      if (KIND::HALVES) {
        halves[c] = *reinterpret_cast<const uint4*>(rows.halves + chunk * 256 + 8 * lane);
      } else {
        codes[c] = *reinterpret_cast<const uint2*>(rows.codes + chunk * 256 + 8 * lane);
        scales[c] = *reinterpret_cast<const float2*>(rows.scales + chunk * 8 + 2 * (lane & 3));
        if (KIND::SUMS) sums[c] = *reinterpret_cast<const float2*>(rows.sums + chunk * 8 + 2 * (lane & 3));
      }
    }
  }
};

// The operands and the output of a product.
struct Product {
  Weights weights;
  CodedRows rows;
  float* out;     // (rows, stride), the first outputs of each row
  u32 count;      // of rows
  u32 columns;
  u32 outputs;
  u32 stride;
};

// A block computes 16 * TILES outputs for 8 * COLUMNS rows; its warps take every eighth column group.
// grid (rows / (8 * COLUMNS), outputs / (16 * TILES)), 256 threads: blocks that read the same weights are consecutive. Rows
// after the last one are computed from whatever is in memory and not stored.
template <class KIND, int COLUMNS, int TILES> DEVICE void multiply(const Product& p) {
  using Ring = WeightRing<KIND, TILES>;
  constexpr int SUMS = TILES * COLUMNS * 4;
  constexpr int AHEAD = COLUMNS == 1 ? 4 : 1;   // loads of activations in flight, each of which is a round trip to L2
  constexpr int ROOM = PRODUCT_WARPS * (Ring::BYTES > SUMS * 128 ? Ring::BYTES : SUMS * 128);
  __shared__ __align__(128) u8 room[ROOM];   // rings, and at the end sums of warps
  letNextBegin();
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int groups = p.columns / 32, firstTile = blockIdx.y * TILES, firstRow = blockIdx.x * 8 * COLUMNS;
  const int mine = (groups - warp + PRODUCT_WARPS - 1) / PRODUCT_WARPS;
  const u32 ring = sharedAddress(room) + warp * Ring::BYTES;
  float sums[TILES][COLUMNS][4];
#pragma unroll
  for (int t = 0; t < TILES; t++) {
#pragma unroll
    for (int c = 0; c < COLUMNS; c++) { sums[t][c][0] = sums[t][c][1] = sums[t][c][2] = sums[t][c][3] = 0.f; }
  }
#pragma unroll
  for (int i = 0; i < Ring::STAGES - 1; i++) {   // weights are constant, so copies start before the previous kernel ends
    Ring::fetch(ring, i, mine, p.weights, firstTile, groups, warp + i * PRODUCT_WARPS);
  }
  awaitPrevious();
  RowFragments<KIND, COLUMNS> next[AHEAD];
#pragma unroll
  for (int k = 0; k < AHEAD; k++) {
    if (k < mine) next[k].load(p.rows, firstRow / 8, groups, warp + k * PRODUCT_WARPS);
  }
#pragma unroll 1
  for (int begin = 0; begin < mine; begin += AHEAD) {
#pragma unroll
    for (int k = 0; k < AHEAD; k++) {
      const int i = begin + k;
      if (i >= mine) break;
      const RowFragments<KIND, COLUMNS> x = next[k];
      if (i + AHEAD < mine) next[k].load(p.rows, firstRow / 8, groups, warp + (i + AHEAD) * PRODUCT_WARPS);
      awaitCopies<Ring::STAGES - 2>();
      __syncwarp();   // all lanes have each other's copies and have finished with the slot that is filled next
      const int ahead = i + Ring::STAGES - 1;
      Ring::fetch(ring, ahead, mine, p.weights, firstTile, groups, warp + ahead * PRODUCT_WARPS);
#pragma unroll
      for (int t = 0; t < TILES; t++) {
        KIND::template multiply<COLUMNS>(ring + i % Ring::STAGES * Ring::SLOT_BYTES + t * KIND::BYTES, x, sums[t]);
      }
    }
  }
  awaitCopies<0>();
  __syncthreads();
  float* ofWarps = reinterpret_cast<float*>(room);   // (warps, sums, lanes)
#pragma unroll
  for (int i = 0; i < SUMS; i++) ofWarps[(warp * SUMS + i) * 32 + lane] = sums[i / (4 * COLUMNS)][i / 4 % COLUMNS][i % 4];
  __syncthreads();
  for (int i = threadIdx.x; i < SUMS * 32; i += 32 * PRODUCT_WARPS) {
    const int of = i / 32, its = i % 32;
    float sum = 0.f;
#pragma unroll
    for (int w = 0; w < PRODUCT_WARPS; w++) sum += ofWarps[w * SUMS * 32 + i];
    const int output = 16 * (firstTile + of / (4 * COLUMNS)) + its / 4 + (of & 2 ? 8 : 0);
    const int row = firstRow + 8 * (of / 4 % COLUMNS) + 2 * (its & 3) + (of & 1);
    if (row < p.count && output < p.outputs) p.out[(size_t)row * p.stride + output] = sum;
  }
}

// Finds the argmax token of each row: the first with the largest logit, none if any logit is not finite. grid (rows), 1024
// threads.
DEVICE void pickLikeliest(const float* logits, int vocabulary, u32* tokens) {
  __shared__ float best[ROW_THREADS];
  __shared__ int where[ROW_THREADS];
  letNextBegin();
  awaitPrevious();
  const float* row = logits + (size_t)blockIdx.x * vocabulary;
  float most = minusInfinity();
  int at = 0;
  bool damaged = false;
#pragma unroll 8
  for (int i = threadIdx.x; i < vocabulary; i += ROW_THREADS) {
    const float x = row[i];
    damaged |= !isfinite(x);
    if (x > most) { most = x; at = i; }
  }
  best[threadIdx.x] = most;
  where[threadIdx.x] = at;
  damaged = __syncthreads_or(damaged);
  for (int half = ROW_THREADS / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) {
      const int other = threadIdx.x + half;
      const bool later = best[other] < best[threadIdx.x] ||
                         (best[other] == best[threadIdx.x] && where[other] >= where[threadIdx.x]);
      if (!later) { best[threadIdx.x] = best[other]; where[threadIdx.x] = where[other]; }
    }
  }
  if (threadIdx.x == 0) tokens[blockIdx.x] = damaged ? ~0u : where[0];
}
