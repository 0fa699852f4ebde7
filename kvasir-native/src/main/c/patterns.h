// Rows that are picked by number, and vectors that turn; the twins are in ScalarPatterns.
#ifndef KVASIR_PATTERNS_H
#define KVASIR_PATTERNS_H

#include "floats.h"

// Sums of a tile: rows of a by a few vectors that they meet. Every sum takes x and y of a pair in turn, so that a vector
// may be multiplied as it turns, and is never stored.
typedef struct {
  Floats sums[PRODUCT_ROWS][4];
} PairTile;

INLINE void begin_tile(PairTile *tile, const int rows, const int vectors) {
  UNROLL for (int i = 0; i < rows; i++) {
    UNROLL for (int j = 0; j < vectors; j++) tile->sums[i][j] = all(0);
  }
}

// As many pairs of each vector as there are lanes; a (rows, x and y, pairs).
INLINE void add_pairs(PairTile *tile, const float *a, i64 pairs, const int rows, const Floats *x, const Floats *y,
                      const int vectors) {
  UNROLL for (int i = 0; i < rows; i++) {
    Floats ax = load(a + 2 * i * pairs), ay = load(a + (2 * i + 1) * pairs);
    UNROLL for (int j = 0; j < vectors; j++) tile->sums[i][j] = fused(ax, x[j], tile->sums[i][j]);
    UNROLL for (int j = 0; j < vectors; j++) tile->sums[i][j] = fused(ay, y[j], tile->sums[i][j]);
  }
}

INLINE void end_tile(const PairTile *tile, const int rows, const int vectors, float *c, i64 c_stride) {
  UNROLL for (int i = 0; i < rows; i++) {
    float *to = c + i * c_stride;
    if (vectors == 4) {
      float sums[4];
      totals(tile->sums[i][0], tile->sums[i][1], tile->sums[i][2], tile->sums[i][3], sums);
      store_four(to, load_four(to) + load_four(sums));
    } else {
      to[0] += total(tile->sums[i][0]);
    }
  }
}

// ---- turns

// (x, y) becomes (x cos - y sin, y cos + x sin)
INLINE Floats turned_x(Floats x, Floats y, Floats cos, Floats sin) { return fused_off(y, sin, multiply(x, cos)); }
INLINE Floats turned_y(Floats x, Floats y, Floats cos, Floats sin) { return fused(x, sin, multiply(y, cos)); }
INLINE void turn_pairs(Floats x, Floats y, Floats cos, Floats sin, float *x_out, float *y_out) {
  store(x_out, turned_x(x, y, cos, sin));
  store(y_out, turned_y(x, y, cos, sin));
}

// What tokens have picked of b, and the angles of the first of them.
typedef struct {
  const float *b;
  const i32 *picked;
  const float *cosines, *sines;
} Picked;

// c[i][j] += a[i] . b[picked[j]], turned by j where it turns
INLINE void picked_tile(const float *a, const Picked *from, i64 pairs, const int turns, const int rows,
                        const int vectors, float *c, i64 c_stride) {
  const float *b[4];
  UNROLL for (int j = 0; j < vectors; j++) b[j] = from->b + from->picked[j] * 2 * pairs;
  PairTile tile;
  begin_tile(&tile, rows, vectors);
  for (i32 i = 0; i < pairs; i += LANES) {
    Floats x[4], y[4];
    UNROLL for (int j = 0; j < vectors; j++) {
      x[j] = load(b[j] + i);
      y[j] = load(b[j] + pairs + i);
      if (turns) {
        Floats cos = load(from->cosines + j * pairs + i), sin = load(from->sines + j * pairs + i), still = x[j];
        x[j] = turned_x(still, y[j], cos, sin);
        y[j] = turned_y(still, y[j], cos, sin);
      }
    }
    add_pairs(&tile, a + i, pairs, rows, x, y, vectors);
  }
  end_tile(&tile, rows, vectors, c, c_stride);
}

INLINE void picked_tiles(const float *a, i32 rows, const Picked *from, i64 pairs, const int turns, const int vectors,
                         float *c, i64 c_stride) {
  i32 i = 0;
  for (; i + PRODUCT_ROWS <= rows; i += PRODUCT_ROWS) {
    picked_tile(a + 2 * i * pairs, from, pairs, turns, PRODUCT_ROWS, vectors, c + i * c_stride, c_stride);
  }
  for (; i < rows; i++) picked_tile(a + 2 * i * pairs, from, pairs, turns, 1, vectors, c + i * c_stride, c_stride);
}

// c (rows, count)
INLINE void picked_rows(const float *a, i32 rows, const Picked *from, i32 count, i64 pairs, const int turns, float *c,
                        i64 c_stride) {
  Picked some = *from;
  i32 j = 0;
  for (; j + 4 <= count; j += 4) {
    picked_tiles(a, rows, &some, pairs, turns, 4, c + j, c_stride);
    some.picked += 4;
    some.cosines += 4 * pairs;
    some.sines += 4 * pairs;
  }
  for (; j < count; j++) {
    picked_tiles(a, rows, &some, pairs, turns, 1, c + j, c_stride);
    some.picked++;
    some.cosines += pairs;
    some.sines += pairs;
  }
}

// c[i][j] += a[i] . b[picked[j]]; a (rows, x and y, pairs), c (rows, count)
EXPORT void KERNEL(picked_products)(const float *a, i32 rows, const float *b, const i32 *picked, i32 picked_at,
                                    i32 count, i32 pairs, float *c, i32 c_at, i32 c_stride) {
  const Picked from = {b, picked + picked_at, b, b};
  picked_rows(a, rows, &from, count, pairs, 0, c + c_at, c_stride);
}

// ---- the least and the most

// The lesser; the second where the first is not a number. Of zeros of two signs it may be either.
INLINE Floats lesser(Floats a, Floats b) {
#if LANES == 4
  return vminnmq_f32(a, b);
#else
  return smaller(a, b);
#endif
}

// The least lane of each of four, none of which is without a number.
INLINE void least_lanes(Floats a, Floats b, Floats c, Floats d, float *out) {
#if LANES == 16
  __m512 ab = _mm512_min_ps(_mm512_unpacklo_ps(a, b), _mm512_unpackhi_ps(a, b));
  __m512 cd = _mm512_min_ps(_mm512_unpacklo_ps(c, d), _mm512_unpackhi_ps(c, d));
  __m512 low = _mm512_shuffle_ps(ab, cd, 0x44), high = _mm512_shuffle_ps(ab, cd, 0xEE);
  __m512 abcd = _mm512_min_ps(low, high);
  __m256 half = _mm256_min_ps(_mm512_castps512_ps256(abcd), _mm512_extractf32x8_ps(abcd, 1));
  _mm_storeu_ps(out, _mm_min_ps(_mm256_castps256_ps128(half), _mm256_extractf128_ps(half, 1)));
#elif LANES == 8
  __m256 ab = _mm256_min_ps(_mm256_unpacklo_ps(a, b), _mm256_unpackhi_ps(a, b));
  __m256 cd = _mm256_min_ps(_mm256_unpacklo_ps(c, d), _mm256_unpackhi_ps(c, d));
  __m256 low = _mm256_shuffle_ps(ab, cd, 0x44), high = _mm256_shuffle_ps(ab, cd, 0xEE);
  __m256 abcd = _mm256_min_ps(low, high);
  _mm_storeu_ps(out, _mm_min_ps(_mm256_castps256_ps128(abcd), _mm256_extractf128_ps(abcd, 1)));
#else
  vst1q_f32(out, vpminq_f32(vpminq_f32(a, b), vpminq_f32(c, d)));
#endif
}

// What x leaves of rows, at the least and at the most. The most of x - b is the least of b - x with its sign turned.
EXPORT void KERNEL(spans)(const float *x, i32 at, const float *b, i32 b_at, i32 count, i32 depth, float *least,
                          float *most) {
  const float *from = x + at;
  for (i32 j = 0; j < count; j += 4) {
    const float *row[4];
    Floats low[4], high[4];
    UNROLL for (int i = 0; i < 4; i++) {
      row[i] = b + b_at + (i64)(j + i < count ? j + i : count - 1) * depth;
      low[i] = high[i] = all(__builtin_inff());
    }
    i32 k = 0;
    for (; k + LANES <= depth; k += LANES) {
      Floats values = load(from + k);
      UNROLL for (int i = 0; i < 4; i++) {
        Floats pattern = load(row[i] + k);
        low[i] = lesser(subtract(values, pattern), low[i]);
        high[i] = lesser(subtract(pattern, values), high[i]);
      }
    }
    float lows[4], highs[4];
    least_lanes(low[0], low[1], low[2], low[3], lows);
    least_lanes(high[0], high[1], high[2], high[3], highs);
    for (i32 i = 0; i < 4 && j + i < count; i++) {
      for (i32 rest = k; rest < depth; rest++) {
        float left = from[rest] - row[i][rest];
        lows[i] = left < lows[i] ? left : lows[i];
        highs[i] = -left < highs[i] ? -left : highs[i];
      }
      least[j + i] = lows[i];
      most[j + i] = -highs[i];
    }
  }
}

// ---- weights by what tokens have picked

#define PAGE 128

// weights (rows, page tokens), bins (256, stride)
EXPORT void KERNEL(collect_rows)(const uint8_t *indices, const float *weights, i32 rows, float *bins, i32 stride) {
  i32 row = 0;
  for (; row + 4 <= rows; row += 4) {
    const float *from = weights + (i64)row * PAGE;
    for (i32 token = 0; token < PAGE; token++) {
      float *bin = bins + (i64)indices[token] * stride + row;
      Four weight = {from[token], from[PAGE + token], from[2 * PAGE + token], from[3 * PAGE + token]};
      store_four(bin, load_four(bin) + weight);
    }
  }
  for (; row < rows; row++) {
    for (i32 token = 0; token < PAGE; token++) bins[(i64)indices[token] * stride + row] += weights[(i64)row * PAGE + token];
  }
}

// ---- rows that turn

INLINE void turn_rows(float *restrict vectors, i32 count, const i64 pairs, const float *restrict cosines,
                      const float *restrict sines) {
  for (i32 row = 0; row < count; row++) {
    float *x = vectors + row * 2 * pairs, *y = x + pairs;
    for (i32 i = 0; i < pairs; i += LANES) {
      turn_pairs(load(x + i), load(y + i), load(cosines + i), load(sines + i), x + i, y + i);
    }
  }
}

// vectors (count, x and y, pairs), with pairs a multiple of 16; one row of angles for all
EXPORT void KERNEL(turn)(float *vectors, i32 at, i32 count, i32 pairs, const float *cosines, const float *sines,
                         i32 angles_at) {
  turn_rows(vectors + at, count, pairs, cosines + angles_at, sines + angles_at);
}

INLINE void turning_products_of(float *a, i32 rows, const Picked *from, i32 count, i32 fan, const i64 pairs,
                                const float *back_sines, float *c, i64 c_stride) {
  for (i32 j = 0; j < count; j += fan) {
    const Picked some = {from->b, from->picked + j, from->cosines, from->sines};
    picked_rows(a, rows, &some, count - j < fan ? count - j : fan, pairs, 1, c + j, c_stride);
    turn_rows(a, rows, pairs, from->cosines + fan * pairs, back_sines + fan * pairs);
  }
}

// c[i][j] += a[i] . b[picked[j]], turned by j % fan; a is turned back by fan after as many products. Heads of 64 and 128
// channels have loops of their own, whose ends are known.
EXPORT void KERNEL(turning_products)(float *a, i32 rows, const float *b, const i32 *picked, i32 count, i32 fan,
                                     i32 pairs, const float *cosines, const float *sines, const float *back_sines,
                                     float *c, i32 c_stride) {
  const Picked from = {b, picked, cosines, sines};
  switch (pairs) {
    case 32: turning_products_of(a, rows, &from, count, fan, 32, back_sines, c, c_stride); break;
    case 64: turning_products_of(a, rows, &from, count, fan, 64, back_sines, c, c_stride); break;
    default: turning_products_of(a, rows, &from, count, fan, pairs, back_sines, c, c_stride);
  }
}

#endif
