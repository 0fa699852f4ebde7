// Products of coded weights with rows of coded activations: sums of integers for 32 columns, and of floats over those.
#pragma once
#include "rows.cuh"

// out[row][o] = sum over groups of scale * scale * (codes . codes), (rows, outputs). A warp takes one output for ROWS rows;
// a lane takes 16 columns at a time, half a group. grid (outputs / 8, rows / ROWS), 256 threads.
template <int ROWS>
DEVICE void multiplyCoded(CodedWeights weights, const signed char* codes, const float* scales, int rows, int columns,
                          int outputs, float* out) {
  letNextBegin();
  const int lane = threadIdx.x % 32, output = blockIdx.x * 8 + threadIdx.x / 32, first = blockIdx.y * ROWS;
  if (output >= outputs) return;
  const signed char* own = weights.codes + (size_t)output * columns;
  const u16* ownScales = weights.scales + (size_t)output * (columns / 32);
  float sums[ROWS];
#pragma unroll
  for (int r = 0; r < ROWS; r++) sums[r] = 0.f;
  // Weights do not change: those of the first columns are asked for while the kernel before still computes the rows.
  int column = 16 * lane;
  int4 w = column < columns ? *reinterpret_cast<const int4*>(own + column) : int4{0, 0, 0, 0};
  float scale = column < columns ? toFloat(ownScales[column / 32]) : 0.f;
  awaitPrevious();
  while (column < columns) {
    const int next = column + 512;
    int4 nextW = {0, 0, 0, 0};
    float nextScale = 0.f;
    if (next < columns) {
      nextW = *reinterpret_cast<const int4*>(own + next);
      nextScale = toFloat(ownScales[next / 32]);
    }
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
      if (first + r < rows) {
        const size_t at = (size_t)(first + r) * columns + column;
        const int4 x = __ldcg(reinterpret_cast<const int4*>(codes + at));
        const int dot = __dp4a(w.x, x.x, __dp4a(w.y, x.y, __dp4a(w.z, x.z, __dp4a(w.w, x.w, 0))));
        sums[r] = fmaf(scale * __ldcg(scales + at / 32), (float)dot, sums[r]);
      }
    }
    column = next;
    w = nextW;
    scale = nextScale;
  }
#pragma unroll
  for (int r = 0; r < ROWS; r++) {
#pragma unroll
    for (int s = 1; s < 32; s <<= 1) sums[r] += __shfl_xor_sync(ALL_LANES, sums[r], s);
    if (lane == 0 && first + r < rows) out[(size_t)(first + r) * outputs + output] = sums[r];
  }
}
