// Sums over 16-bit codes: out[i][column] += sum over e of weights[i][e] * code(e, column), the sum computed first. The
// Java reference is ScalarDots.
#include "vectors.h"

INLINE void short_sums_of(const float *w, i64 w_stride, const int rows, const int16_t *codes, i64 codes_stride,
                          i32 entries, float *out, i64 out_stride) {
  Floats sums[4];
  UNROLL for (int i = 0; i < rows; i++) sums[i] = all(0);
  for (i32 e = 0; e < entries; e++) {
    Floats x = load_integers(codes + e * codes_stride);
    UNROLL for (int i = 0; i < rows; i++) sums[i] = fused(all(w[i * w_stride + e]), x, sums[i]);
  }
  UNROLL for (int i = 0; i < rows; i++) {
    float *to = out + i * out_stride;
    store(to, add(load(to), sums[i]));
  }
}

INLINE void short_sums_of_rows(const float *w, i64 w_stride, const int rows, const int16_t *codes, i64 codes_stride,
                               i32 entries, i32 lanes, float *out, i64 out_stride) {
  i32 lane = 0;
  for (; lane + LANES <= lanes; lane += LANES) {
    short_sums_of(w, w_stride, rows, codes + lane, codes_stride, entries, out + lane, out_stride);
  }
  for (; lane < lanes; lane++) {
    for (int i = 0; i < rows; i++) {
      float sum = 0;
      for (i32 e = 0; e < entries; e++) sum = fused1(w[i * w_stride + e], (float)codes[e * codes_stride + lane], sum);
      out[i * out_stride + lane] += sum;
    }
  }
}

EXPORT void KERNEL(short_sums)(const float *weights, i32 at, i32 stride, float *out, i32 out_at, i32 out_stride,
                               i32 rows, const uint8_t *codes, i64 offset, i32 codes_stride, i32 entries, i32 lanes) {
  const int16_t *from = (const int16_t *)(codes + offset);
  const float *w = weights + at;
  float *to = out + out_at;
  i32 i = 0;
  for (; i + 4 <= rows; i += 4) {
    short_sums_of_rows(w + (i64)i * stride, stride, 4, from, codes_stride, entries, lanes, to + (i64)i * out_stride,
                       out_stride);
  }
  for (; i < rows; i++) {
    short_sums_of_rows(w + (i64)i * stride, stride, 1, from, codes_stride, entries, lanes, to + (i64)i * out_stride,
                       out_stride);
  }
}
