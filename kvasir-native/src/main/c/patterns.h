// Products with rows selected by index, and rotation of vectors. The Java references are in ScalarPatterns.
#ifndef KVASIR_PATTERNS_H
#define KVASIR_PATTERNS_H

#include "floats.h"

// Sums of a tile: rows of a by a few vectors. Every sum alternates between x and y of a pair, so that a vector can be
// multiplied as it is rotated, without being stored.
#define PAIR_ROWS 4
#if LANES == 16
#define PAIR_VECTORS 4
#else
#define PAIR_VECTORS 1
#endif
typedef struct {
  Partial sums[PAIR_ROWS * PAIR_VECTORS]; // (rows, vectors)
} PairTile;

INLINE void begin_tile(PairTile *tile, const int rows, const int vectors) {
  UNROLL for (int i = 0; i < rows * vectors; i++) tile->sums[i] = no_sum();
}

// Adds as many pairs of each vector as there are lanes, for part v of the sums; a (rows, x and y, pairs).
INLINE void add_pairs(PairTile *tile, const int v, const float *a, i64 pairs, const int rows, const Floats *x,
                      const Floats *y, const int vectors) {
  UNROLL for (int i = 0; i < rows; i++) {
    Floats ax = load(a + 2 * i * pairs), ay = load(a + (2 * i + 1) * pairs);
    Partial *sums = tile->sums + i * vectors;
    UNROLL for (int j = 0; j < vectors; j++) sums[j].v[v] = fused(ax, x[j], sums[j].v[v]);
    UNROLL for (int j = 0; j < vectors; j++) sums[j].v[v] = fused(ay, y[j], sums[j].v[v]);
  }
}

INLINE void end_tile(const PairTile *tile, const int rows, const int vectors, float *c, i64 c_stride) {
  float sums[PAIR_ROWS * PAIR_VECTORS];
  totals_of(tile->sums, rows * vectors, sums);
  UNROLL for (int i = 0; i < rows; i++) {
    UNROLL for (int j = 0; j < vectors; j++) c[i * c_stride + j] += sums[i * vectors + j];
  }
}

// ---- rotation

// (x, y) becomes (x cos - y sin, y cos + x sin)
INLINE Floats turned_x(Floats x, Floats y, Floats cos, Floats sin) { return fused_off(y, sin, multiply(x, cos)); }
INLINE Floats turned_y(Floats x, Floats y, Floats cos, Floats sin) { return fused(x, sin, multiply(y, cos)); }
INLINE void turn_pairs(Floats x, Floats y, Floats cos, Floats sin, float *x_out, float *y_out) {
  store(x_out, turned_x(x, y, cos, sin));
  store(y_out, turned_y(x, y, cos, sin));
}

// c[i][j] += a[i] . b[j], with b[j] rotated by row j of the angles if turns; angles (vectors, cosines and sines, pairs)
INLINE void picked_tile(const float *a, const float *const *b, i64 pairs, const int turns, const float *angles,
                        const int rows, const int vectors, float *c, i64 c_stride) {
  PairTile tile;
  begin_tile(&tile, rows, vectors);
  for (i32 first = 0; first < pairs; first += PARTS) {
    UNROLL for (int v = 0; v < PART_VECTORS; v++) {
      i32 i = first + v * LANES;
      Floats x[PAIR_VECTORS], y[PAIR_VECTORS];
      UNROLL for (int j = 0; j < vectors; j++) {
        x[j] = load(b[j] + i);
        y[j] = load(b[j] + pairs + i);
        if (turns) {
          const float *by = angles + 2 * j * pairs + i;
          Floats cos = load(by), sin = load(by + pairs), still = x[j];
          x[j] = turned_x(still, y[j], cos, sin);
          y[j] = turned_y(still, y[j], cos, sin);
        }
      }
      add_pairs(&tile, v, a + i, pairs, rows, x, y, vectors);
    }
  }
  end_tile(&tile, rows, vectors, c, c_stride);
}

INLINE void picked_tiles(const float *a, i32 rows, const float *const *b, i64 pairs, const int turns,
                         const float *angles, const int vectors, float *c, i64 c_stride) {
  i32 i = 0;
  for (; i + PAIR_ROWS <= rows; i += PAIR_ROWS) {
    picked_tile(a + 2 * i * pairs, b, pairs, turns, angles, PAIR_ROWS, vectors, c + i * c_stride, c_stride);
  }
  for (; i < rows; i++) {
    picked_tile(a + 2 * i * pairs, b, pairs, turns, angles, 1, vectors, c + i * c_stride, c_stride);
  }
}

// c[i][j] += a[i] . b[picked[j]]; a (rows, x and y, pairs), c (rows, count)
EXPORT void KERNEL(picked_products)(const float *a, i32 rows, const float *b, const i32 *picked, i32 picked_at,
                                    i32 count, i32 pairs, float *c, i32 c_at, i32 c_stride) {
  const i32 *at = picked + picked_at;
  const i64 width = 2 * pairs;
  i32 j = 0;
  for (; j + PAIR_VECTORS <= count; j += PAIR_VECTORS) {
    const float *some[PAIR_VECTORS];
    UNROLL for (int i = 0; i < PAIR_VECTORS; i++) some[i] = b + at[j + i] * width;
    picked_tiles(a, rows, some, pairs, 0, b, PAIR_VECTORS, c + c_at + j, c_stride);
  }
  for (; j < count; j++) {
    const float *one = b + at[j] * width;
    picked_tiles(a, rows, &one, pairs, 0, b, 1, c + c_at + j, c_stride);
  }
}

// ---- minimum and maximum

// The lesser, or the second if the first is NaN. The sign of a zero is unspecified.
INLINE Floats lesser(Floats a, Floats b) {
#if LANES == 4
  return vminnmq_f32(a, b);
#else
  return smaller(a, b);
#endif
}

// The least lane of each of four vectors without NaN.
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

// Minimum and maximum of x - b for each row. The maximum of x - b is the negated minimum of b - x.
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

// ---- weights by the rows that tokens select

#define PAGE 128

// Transposes four rows of four.
INLINE void exchange(const Four *rows, Four *columns) {
  Four low01 = __builtin_shufflevector(rows[0], rows[1], 0, 4, 1, 5);
  Four low23 = __builtin_shufflevector(rows[2], rows[3], 0, 4, 1, 5);
  Four high01 = __builtin_shufflevector(rows[0], rows[1], 2, 6, 3, 7);
  Four high23 = __builtin_shufflevector(rows[2], rows[3], 2, 6, 3, 7);
  columns[0] = __builtin_shufflevector(low01, low23, 0, 1, 4, 5);
  columns[1] = __builtin_shufflevector(low01, low23, 2, 3, 6, 7);
  columns[2] = __builtin_shufflevector(high01, high23, 0, 1, 4, 5);
  columns[3] = __builtin_shufflevector(high01, high23, 2, 3, 6, 7);
}

#define NONE 255

// weights (rows, page tokens), bins (256, stride). Tokens without a row would wait for each other at one bin, so they
// are added to four unused places.
EXPORT void KERNEL(collect_rows)(const float *weights, i32 rows, float *bins, i32 stride, const uint8_t *indices,
                                 i64 at) {
  const uint8_t *picked = indices + at;
  float unread[4][4] = {{0}};
  i32 row = 0;
  for (; row + 4 <= rows; row += 4) {
    for (i32 token = 0; token < PAGE; token += 4) {
      Four of_rows[4], of_tokens[4];
      UNROLL for (int i = 0; i < 4; i++) of_rows[i] = load_four(weights + (i64)(row + i) * PAGE + token);
      exchange(of_rows, of_tokens);
      UNROLL for (int i = 0; i < 4; i++) {
        i64 index = picked[token + i];
        float *bin = index == NONE ? unread[i] : bins + index * stride + row;
        store_four(bin, load_four(bin) + of_tokens[i]);
      }
    }
  }
  for (; row < rows; row++) {
    for (i32 token = 0; token < PAGE; token++) {
      float *bin = picked[token] == NONE ? unread[0] : bins + (i64)picked[token] * stride + row;
      *bin += weights[(i64)row * PAGE + token];
    }
  }
}

// ---- rotated rows

INLINE void turn_rows(const float *from, float *to, i32 count, const i64 pairs, const float *cosines,
                      const float *sines) {
  for (i32 row = 0; row < count; row++) {
    const float *x = from + row * 2 * pairs, *y = x + pairs;
    float *x_to = to + row * 2 * pairs, *y_to = x_to + pairs;
    for (i32 i = 0; i < pairs; i += LANES) {
      turn_pairs(load(x + i), load(y + i), load(cosines + i), load(sines + i), x_to + i, y_to + i);
    }
  }
}

// vectors (count, x and y, pairs), with pairs a multiple of 16; one row of angles for all
EXPORT void KERNEL(turn)(float *vectors, i32 at, i32 count, i32 pairs, const float *cosines, const float *sines,
                         i32 angles_at) {
  float *rows = vectors + at;
  turn_rows(rows, rows, count, pairs, cosines + angles_at, sines + angles_at);
}

// (x, y) becomes (x cos + y sin, y cos - x sin)
INLINE void turn_rows_back(float *vectors, i32 count, const i64 pairs, const float *cosines, const float *sines) {
  for (i32 row = 0; row < count; row++) {
    float *at = vectors + row * 2 * pairs;
    for (i32 i = 0; i < pairs; i += LANES) {
      Floats x = load(at + i), y = load(at + pairs + i), cos = load(cosines + i), sin = load(sines + i);
      store(at + i, fused(y, sin, multiply(x, cos)));
      store(at + pairs + i, fused_off(x, sin, multiply(y, cos)));
    }
  }
}

// Tokens between two rotations of the queries; each token is rotated by its offset.
#define FAN 32

// fan (FAN + 1, cosines and sines, pairs)
INLINE void turning_products_of(float *a, i32 rows, const i64 pairs, const float *fan, float *scores, const float *b,
                                const uint8_t *picked) {
  const i64 width = 2 * pairs;
  for (i32 first = 0; first < PAGE; first += FAN) {
    for (i32 j = 0; j < FAN; j += PAIR_VECTORS) {
      const float *some[PAIR_VECTORS];
      UNROLL for (int i = 0; i < PAIR_VECTORS; i++) some[i] = b + picked[first + j + i] * width;
      picked_tiles(a, rows, some, pairs, 1, fan + j * width, PAIR_VECTORS, scores + first + j, PAGE);
    }
    turn_rows_back(a, rows, pairs, fan + FAN * width, fan + FAN * width + pairs);
  }
}

// The next start of a cache line.
INLINE float *begin_line(float *at) { return (float *)(((uintptr_t)at + 63) & ~(uintptr_t)63); }

// scores[i][j] += queries[i] . b[picked[j]], rotated by j % FAN, for the tokens of a page. Queries are first rotated by
// the page's angles, then rotated back by FAN after as many tokens. Heads of 64 and 128 channels have their own loops
// with constant bounds.
EXPORT void KERNEL(turning_products)(const float *queries, i32 rows, const float *page_cosines, const float *page_sines,
                                     i32 pairs, float *room, float *scores, const float *fan, const float *b,
                                     const uint8_t *indices, i64 at) {
  const uint8_t *picked = indices + at;
  float *a = begin_line(room);
  turn_rows(queries, a, rows, pairs, page_cosines, page_sines);
  switch (pairs) {
    case 32: turning_products_of(a, rows, 32, fan, scores, b, picked); break;
    case 64: turning_products_of(a, rows, 64, fan, scores, b, picked); break;
    default: turning_products_of(a, rows, pairs, fan, scores, b, picked);
  }
}

#endif
