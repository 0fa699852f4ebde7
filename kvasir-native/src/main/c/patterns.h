// Rows that are picked by number, and vectors that turn; the twins are in ScalarPatterns.
#ifndef KVASIR_PATTERNS_H
#define KVASIR_PATTERNS_H

#include "floats.h"

// The tile of products, added to c.
INLINE void add_dots(const float *a, i64 depth, const int rows, const float *const b[4], float *c, i64 c_stride) {
  float sums[PRODUCT_ROWS * 4];
  dots_by_four(a, depth, rows, b, (i32)depth, sums, 4);
  UNROLL for (int i = 0; i < rows; i++) {
    float *to = c + i * c_stride;
    store_four(to, load_four(to) + load_four(sums + 4 * i));
  }
}

#define MOST_FAN 16
static const i32 IN_ORDER[MOST_FAN] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

// c[i][j] += a[i] . b[pick[j]]; a (rows, depth), c (rows, count)
INLINE void add_products(const float *a, i32 rows, const float *b, const i32 *pick, i32 count, i32 depth, float *c,
                         i64 c_stride) {
  i64 width = depth;
  i32 j = 0;
  for (; j + 4 <= count; j += 4) {
    const float *const from[4] = {b + pick[j] * width, b + pick[j + 1] * width, b + pick[j + 2] * width,
                                  b + pick[j + 3] * width};
    i32 i = 0;
    for (; i + PRODUCT_ROWS <= rows; i += PRODUCT_ROWS) {
      add_dots(a + i * width, width, PRODUCT_ROWS, from, c + i * c_stride + j, c_stride);
    }
    for (; i < rows; i++) add_dots(a + i * width, width, 1, from, c + i * c_stride + j, c_stride);
  }
  for (; j < count; j++) {
    for (i32 i = 0; i < rows; i++) c[i * c_stride + j] += dot(a + i * width, b + pick[j] * width, depth);
  }
}

EXPORT void KERNEL(picked_products)(const float *a, i32 rows, const float *b, const i32 *picked, i32 picked_at,
                                    i32 count, i32 depth, float *c, i32 c_at, i32 c_stride) {
  add_products(a, rows, b, picked + picked_at, count, depth, c + c_at, c_stride);
}

// (x, y) becomes (x cos - y sin, y cos + x sin)
INLINE void turn_pairs(Floats x, Floats y, Floats cos, Floats sin, float *x_out, float *y_out) {
  store(x_out, fused_off(y, sin, multiply(x, cos)));
  store(y_out, fused(x, sin, multiply(y, cos)));
}

// vectors (count, x and y, pairs), with pairs a multiple of 16; one row of angles for all
EXPORT void KERNEL(turn)(float *vectors, i32 at, i32 count, i32 pairs, const float *cosines, const float *sines,
                         i32 angles_at) {
  for (i32 row = 0; row < count; row++) {
    float *x = vectors + at + (i64)row * 2 * pairs, *y = x + pairs;
    for (i32 i = 0; i < pairs; i += LANES) {
      Floats cos = load(cosines + angles_at + i), sin = load(sines + angles_at + i);
      turn_pairs(load(x + i), load(y + i), cos, sin, x + i, y + i);
    }
  }
}

INLINE void turn_row(const float *from, i32 pairs, const float *cosines, const float *sines, float *to) {
  for (i32 i = 0; i < pairs; i += LANES) {
    turn_pairs(load(from + i), load(from + pairs + i), load(cosines + i), load(sines + i), to + i, to + pairs + i);
  }
}

// c[i][j] += a[i] . b[picked[j]], turned by j % fan; a is turned back by fan after as many products. Rows are turned
// into a room that begins where a line of the cache does.
EXPORT void KERNEL(turning_products)(float *a, i32 rows, const float *b, const i32 *picked, i32 count, i32 fan,
                                     i32 pairs, const float *cosines, const float *sines, const float *back_sines,
                                     float *room, float *c, i32 c_stride) {
  i64 width = 2 * pairs;
  float *turned = (float *)(((uintptr_t)room + 63) & ~(uintptr_t)63);
  for (i32 j = 0; j < count; j += fan) {
    i32 some = count - j < fan ? count - j : fan;
    for (i32 i = 0; i < some; i++) {
      turn_row(b + picked[j + i] * width, pairs, cosines + i * pairs, sines + i * pairs, turned + i * width);
    }
    add_products(a, rows, turned, IN_ORDER, some, (i32)width, c + j, c_stride);
    KERNEL(turn)(a, 0, rows, pairs, cosines, back_sines, fan * pairs);
  }
}

#endif
