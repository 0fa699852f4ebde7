// Products of coded weights with rows of coded activations, on the matrix units: 32 columns that share a scale are one
// instruction, whose sums are integers and the host's; floats are added up over the groups.
#pragma once
#include "rows.cuh"

constexpr int PRODUCT_WARPS = 8;
constexpr int PRODUCT_DEPTH = 4;   // groups of columns that a warp has on the way

// c = a * b: 16 x 32 signed bytes by 32 x 8. Lane 4r+q has of a the rows r and r+8, columns 4q to 4q+3 and sixteen further;
// of b the column r, the same four rows and those sixteen further; of c what it has in multiplyTiles.
DEVICE void multiplyBytes(int (&c)[4], const uint4& a, u32 b0, u32 b1) {
  asm("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%10,%10,%10,%10};"
      : "=r"(c[0]), "=r"(c[1]), "=r"(c[2]), "=r"(c[3])
      : "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "r"(b0), "r"(b1), "r"(0));
}

// out (rows, outputs): a block takes 16 * TILES outputs for 8 * COLUMNS rows, its warps every eighth group of columns.
// grid (outputs / (16 * TILES), rows / (8 * COLUMNS)), 256 threads.
template <int COLUMNS, int TILES>
DEVICE void multiplyCoded(CodedWeights weights, const signed char* codes, const float* scales, int rows, int columns,
                          int outputs, float* out) {
  __shared__ float ofWarps[PRODUCT_WARPS][TILES * COLUMNS * 4][32];
  letNextBegin();
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, r = lane >> 2, q = lane & 3;
  const int groups = columns / 32, firstTile = blockIdx.x * TILES, firstRow = blockIdx.y * 8 * COLUMNS;
  uint4 a[PRODUCT_DEPTH][TILES];
  u16 low[PRODUCT_DEPTH][TILES], high[PRODUCT_DEPTH][TILES];   // scales of rows r and r + 8
  auto load = [&](int begin) {
#pragma unroll
    for (int d = 0; d < PRODUCT_DEPTH; d++) {
#pragma unroll
      for (int t = 0; t < TILES; t++) {
        const int group = begin + d * PRODUCT_WARPS;
        if (group < groups) {
          const size_t chunk = (size_t)(firstTile + t) * groups + group;
          a[d][t] = *reinterpret_cast<const uint4*>(weights.codes + chunk * 512 + 16 * lane);
          low[d][t] = weights.scales[chunk * 16 + r];
          high[d][t] = weights.scales[chunk * 16 + r + 8];
        }
      }
    }
  };
  float sums[TILES][COLUMNS][4];
#pragma unroll
  for (int t = 0; t < TILES; t++) {
#pragma unroll
    for (int c = 0; c < COLUMNS; c++) { sums[t][c][0] = sums[t][c][1] = sums[t][c][2] = sums[t][c][3] = 0.f; }
  }
  load(warp);   // weights do not change: these come while the kernel before still computes the rows
  awaitPrevious();
#pragma unroll 1
  for (int begin = warp; begin < groups; begin += PRODUCT_DEPTH * PRODUCT_WARPS) {
    if (begin != warp) load(begin);
#pragma unroll
    for (int d = 0; d < PRODUCT_DEPTH; d++) {
      const int group = begin + d * PRODUCT_WARPS;
      if (group >= groups) break;
#pragma unroll
      for (int c = 0; c < COLUMNS; c++) {
        const int row = firstRow + 8 * c + r, pair = firstRow + 8 * c + 2 * q;
        const u32* word = reinterpret_cast<const u32*>(codes + (size_t)row * columns + 32 * group) + q;
        const u32 b0 = row < rows ? word[0] : 0, b1 = row < rows ? word[4] : 0;
        const float x0 = pair < rows ? scales[(size_t)pair * groups + group] : 0.f;
        const float x1 = pair + 1 < rows ? scales[(size_t)(pair + 1) * groups + group] : 0.f;
#pragma unroll
        for (int t = 0; t < TILES; t++) {
          int dot[4];
          multiplyBytes(dot, a[d][t], b0, b1);
          const float s0 = toFloat(low[d][t]), s1 = toFloat(high[d][t]);
          sums[t][c][0] = fmaf((float)dot[0], s0 * x0, sums[t][c][0]);
          sums[t][c][1] = fmaf((float)dot[1], s0 * x1, sums[t][c][1]);
          sums[t][c][2] = fmaf((float)dot[2], s1 * x0, sums[t][c][2]);
          sums[t][c][3] = fmaf((float)dot[3], s1 * x1, sums[t][c][3]);
        }
      }
    }
  }
#pragma unroll
  for (int i = 0; i < TILES * COLUMNS * 4; i++) ofWarps[warp][i][lane] = sums[i / (4 * COLUMNS)][i / 4 % COLUMNS][i % 4];
  __syncthreads();
  for (int i = threadIdx.x; i < TILES * COLUMNS * 4 * 32; i += 32 * PRODUCT_WARPS) {
    const int of = i / 32, its = i % 32;
    float sum = 0.f;
#pragma unroll
    for (int w = 0; w < PRODUCT_WARPS; w++) sum += ofWarps[w][of][its];
    const int output = 16 * (firstTile + of / (4 * COLUMNS)) + its / 4 + (of & 2 ? 8 : 0);
    const int row = firstRow + 8 * (of / 4 % COLUMNS) + 2 * (its & 3) + (of & 1);
    if (row < rows && output < outputs) out[(size_t)row * outputs + output] = sum;
  }
}

// The likeliest token of each row: the first one of the largest logit. grid (rows), 256 threads.
DEVICE void pickLikeliest(const float* logits, int vocabulary, u32* tokens) {
  __shared__ float best[ROW_THREADS];
  __shared__ int where[ROW_THREADS];
  letNextBegin();
  awaitPrevious();
  const float* row = logits + (size_t)blockIdx.x * vocabulary;
  float most = minusInfinity();
  int at = 0;
  for (int i = threadIdx.x; i < vocabulary; i += ROW_THREADS) {
    if (row[i] > most) { most = row[i]; at = i; }
  }
  best[threadIdx.x] = most;
  where[threadIdx.x] = at;
  for (int half = ROW_THREADS / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) {
      const int other = threadIdx.x + half;
      const bool later = best[other] < best[threadIdx.x] ||
                         (best[other] == best[threadIdx.x] && where[other] >= where[threadIdx.x]);
      if (!later) { best[threadIdx.x] = best[other]; where[threadIdx.x] = where[other]; }
    }
  }
  if (threadIdx.x == 0) tokens[blockIdx.x] = where[0];
}
