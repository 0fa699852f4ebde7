// Many rows of a prompt with the same rows of 16-bit floats. A tile is converted to floats once, in a buffer of the
// caller, and stays in L1 cache while all query rows pass. The sums, and so the bits, are those of dense_products and
// half_sums.
#ifndef KVASIR_MANYROWS_H
#define KVASIR_MANYROWS_H

#include "floats.h"

// Floats of the buffer: 128 tokens by four of the widest vectors.
#define ROOM_FLOATS 8192
// Floats of a tile of keys: half of a small L1 cache.
#define KEY_TILE_FLOATS 4096

// Rows whose sums of values fit into registers, by some vectors of channels. AVX2 has sixteen registers.
#if LANES == 8
#define MANY_VECTORS 2
#else
#define MANY_VECTORS 4
#endif
#define SUM_ROWS 4
#define MANY_CHANNELS (MANY_VECTORS * LANES)

INLINE void many_products(const float *a, i32 rows, const uint16_t *b, i32 b_rows, i64 columns, float *c, i64 c_stride,
                          float *room, const int brains) {
  i32 together = (i32)(KEY_TILE_FLOATS / columns);
  if (together < TILE_COLUMNS) together = (i32)(ROOM_FLOATS / columns);
  if (together > TILE_COLUMNS) together -= together % TILE_COLUMNS;
  for (i32 j = 0; j < b_rows; j += together) {
    i32 tokens = b_rows - j < together ? b_rows - j : together;
    expand(b + j * columns, room, tokens * columns, brains);
    products(a, columns, rows, room, columns, tokens, columns, c + j, c_stride);
  }
}

// c[i][j] = row i of a . row j of b; columns up to ROOM_FLOATS
EXPORT void KERNEL(many_products)(const float *a, i32 first, float *c, i32 c_at, i32 c_stride, i32 rows,
                                  const uint8_t *b, i64 b_offset, i32 b_rows, i32 columns, i32 brains, float *room) {
  const float *rows_of_a = a + (i64)first * columns;
  const uint16_t *from = (const uint16_t *)(b + b_offset);
  if (brains) {
    many_products(rows_of_a, rows, from, b_rows, columns, c + c_at, c_stride, room, 1);
  } else {
    many_products(rows_of_a, rows, from, b_rows, columns, c + c_at, c_stride, room, 0);
  }
}

// Adds the weighted values of some tokens to the sums of a few rows; tile: (tokens, MANY_CHANNELS)
#if LANES == 4
#define ADD_TOKEN(lane)                                                                          \
  {                                                                                              \
    Floats x[MANY_VECTORS];                                                                      \
    const float *token = tile + (t + lane) * MANY_CHANNELS;                                      \
    UNROLL for (int d = 0; d < MANY_VECTORS; d++) x[d] = load(token + d * LANES);                \
    UNROLL for (int i = 0; i < rows; i++) {                                                      \
      UNROLL for (int d = 0; d < MANY_VECTORS; d++) {                                            \
        sums[i][d] = vfmaq_laneq_f32(sums[i][d], x[d], weights[i], lane);                        \
      }                                                                                          \
    }                                                                                            \
  }
#endif

// Computes the sum over all tokens first, then adds it.
INLINE void tile_sums(const float *w, i64 w_stride, const int rows, const float *tile, i32 tokens, float *out,
                      i64 out_stride) {
  Floats sums[SUM_ROWS][MANY_VECTORS];
  UNROLL for (int i = 0; i < rows; i++) {
    UNROLL for (int d = 0; d < MANY_VECTORS; d++) sums[i][d] = all(0);
  }
  i32 t = 0;
#if LANES == 4
  // A load holds a row's weights of four tokens, and the instruction selects the lane it multiplies by.
  for (; t + 4 <= tokens; t += 4) {
    Floats weights[SUM_ROWS];
    UNROLL for (int i = 0; i < rows; i++) weights[i] = load(w + i * w_stride + t);
    ADD_TOKEN(0)
    ADD_TOKEN(1)
    ADD_TOKEN(2)
    ADD_TOKEN(3)
  }
#endif
  for (; t < tokens; t++) {
    Floats x[MANY_VECTORS];
    UNROLL for (int d = 0; d < MANY_VECTORS; d++) x[d] = load(tile + t * MANY_CHANNELS + d * LANES);
    UNROLL for (int i = 0; i < rows; i++) {
      Floats weight = all(w[i * w_stride + t]);
      UNROLL for (int d = 0; d < MANY_VECTORS; d++) sums[i][d] = fused(weight, x[d], sums[i][d]);
    }
  }
  UNROLL for (int i = 0; i < rows; i++) {
    UNROLL for (int d = 0; d < MANY_VECTORS; d++) {
      float *to = out + i * out_stride + d * LANES;
      store(to, add(load(to), sums[i][d]));
    }
  }
}

INLINE void many_sums(const float *w, i64 w_stride, i32 rows, const uint16_t *v, i32 tokens, i64 columns, float *out,
                      i64 out_stride, float *room, const int brains) {
  i64 d = 0;
  for (; d + MANY_CHANNELS <= columns; d += MANY_CHANNELS) {
    for (i64 t = 0; t < tokens; t++) {
      UNROLL for (int i = 0; i < MANY_VECTORS; i++) {
        store(room + t * MANY_CHANNELS + i * LANES, load_16(v + t * columns + d + i * LANES, brains));
      }
    }
    i32 i = 0;
    for (; i + SUM_ROWS <= rows; i += SUM_ROWS) {
      tile_sums(w + i * w_stride, w_stride, SUM_ROWS, room, tokens, out + i * out_stride + d, out_stride);
    }
    for (; i < rows; i++) tile_sums(w + i * w_stride, w_stride, 1, room, tokens, out + i * out_stride + d, out_stride);
  }
  for (; d + LANES <= columns; d += LANES) {
    for (i64 i = 0; i < rows; i++) {
      float *to = out + i * out_stride + d;
      half_sums_of(w + i * w_stride, w_stride, 1, v + d, columns, tokens, to, out_stride, 1, brains, 0);
    }
  }
  for (; d < columns; d++) {
    for (i64 i = 0; i < rows; i++) {
      float sum = 0;
      for (i64 t = 0; t < tokens; t++) sum = fused1(w[i * w_stride + t], load_one(v + t * columns + d, brains), sum);
      out[i * out_stride + d] += sum;
    }
  }
}

// As half_sums; tokens up to ROOM_FLOATS / MANY_CHANNELS.
EXPORT void KERNEL(many_sums)(const float *w, i32 w_at, i32 w_stride, float *out, i32 out_at, i32 out_stride, i32 rows,
                              const uint8_t *v, i64 v_offset, i32 tokens, i32 columns, i32 brains, float *room) {
  const uint16_t *from = (const uint16_t *)(v + v_offset);
  if (brains) {
    many_sums(w + w_at, w_stride, rows, from, tokens, columns, out + out_at, out_stride, room, 1);
  } else {
    many_sums(w + w_at, w_stride, rows, from, tokens, columns, out + out_at, out_stride, room, 0);
  }
}

#endif
