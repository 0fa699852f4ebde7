// Many rows of a prompt on the same rows of 16-bit floats: a tile of those is made floats once, in a room of the
// caller's, and stays in the first cache while all query rows pass. The sums, and so the bits, are those of
// half_products and half_sums.
#ifndef KVASIR_MANYROWS_H
#define KVASIR_MANYROWS_H

#include "floats.h"

// Floats of the room: 128 tokens by four vectors of the widest kind.
#define ROOM_FLOATS 8192
// Floats of a tile of keys: half of a small first cache.
#define KEY_TILE_FLOATS 4096

// Rows whose sums are in registers: by four tokens where keys are met, by some vectors of channels where values are.
// AVX2 has sixteen registers.
#if LANES == 8
#define DOT_ROWS 2
#define MANY_VECTORS 2
#else
#define DOT_ROWS 4
#define MANY_VECTORS 4
#endif
#define SUM_ROWS 4
#define MANY_CHANNELS (MANY_VECTORS * LANES)

// tile: (tokens, columns), whole vectors arranged as queries are
INLINE void arrange_tile(const uint16_t *b, i32 tokens, i64 columns, float *tile, const int brains) {
  for (i32 t = 0; t < tokens; t++, b += columns, tile += columns) {
    i64 k = 0;
    for (; k + 2 * LANES <= columns; k += 2 * LANES) {
      Floats low = load_16(b + k, brains), high = load_16(b + k + LANES, brains);
      store(tile + k, evens(low, high));
      store(tile + k + LANES, odds(low, high));
    }
    for (; k < columns; k++) tile[k] = load_one(b + k, brains);
  }
}

// Query rows by four tokens, or by one.
INLINE void arranged_dots(const Queries *q, i64 first, const int rows, const float *tile, const int tokens, float *c,
                          i64 c_stride) {
  Floats partial[4][4];
  UNROLL for (int i = 0; i < rows; i++) {
    UNROLL for (int j = 0; j < 4; j++) partial[i][j] = all(0);
  }
  i64 columns = q->columns, whole = columns - columns % (2 * LANES);
  const float *queries = q->arranged + first * columns;
  for (i64 k = 0; k < whole; k += LANES) {
    Floats x[4];
    UNROLL for (int j = 0; j < tokens; j++) x[j] = load(tile + j * columns + k);
    UNROLL for (int i = 0; i < rows; i++) {
      Floats query = load(queries + i * columns + k);
      UNROLL for (int j = 0; j < tokens; j++) partial[i][j] = fused(query, x[j], partial[i][j]);
    }
  }
  UNROLL for (int i = 0; i < rows; i++) {
    float sums[4];
    totals(partial[i][0], partial[i][1], partial[i][2], partial[i][3], sums);
    for (int j = 0; j < tokens; j++) {
      for (i64 rest = whole; rest < columns; rest++) {
        sums[j] = fused1(q->rows[(first + i) * columns + rest], tile[j * columns + rest], sums[j]);
      }
      c[i * c_stride + j] = sums[j];
    }
  }
}

INLINE void tile_dots(const Queries *q, i64 first, const int rows, const float *tile, i32 tokens, float *c,
                      i64 c_stride) {
  i32 j = 0;
  for (; j + 4 <= tokens; j += 4) arranged_dots(q, first, rows, tile + j * q->columns, 4, c + j, c_stride);
  for (; j < tokens; j++) arranged_dots(q, first, rows, tile + j * q->columns, 1, c + j, c_stride);
}

INLINE void many_products(const Queries *q, i32 rows, const uint16_t *b, i32 b_rows, float *c, i64 c_stride,
                          float *room, const int brains) {
  i32 together = (i32)(KEY_TILE_FLOATS / q->columns);
  if (together < 4) together = (i32)(ROOM_FLOATS / q->columns);
  for (i32 j = 0; j < b_rows; j += together) {
    i32 tokens = b_rows - j < together ? b_rows - j : together, i = 0;
    arrange_tile(b + j * q->columns, tokens, q->columns, room, brains);
    for (; i + DOT_ROWS <= rows; i += DOT_ROWS) {
      tile_dots(q, i, DOT_ROWS, room, tokens, c + i * c_stride + j, c_stride);
    }
    for (; i < rows; i++) tile_dots(q, i, 1, room, tokens, c + i * c_stride + j, c_stride);
  }
}

// c[i][j] = query i . row j; columns up to ROOM_FLOATS
EXPORT void KERNEL(many_products)(float *c, i32 c_at, i32 c_stride, const float *q_rows, const float *q_arranged,
                                  i32 first, i32 rows, const uint8_t *b, i64 b_offset, i32 b_rows, i32 columns,
                                  i32 brains, float *room) {
  const uint16_t *from = (const uint16_t *)(b + b_offset);
  Queries queries = {q_rows + (i64)first * columns, q_arranged + (i64)first * columns, columns};
  if (brains) {
    many_products(&queries, rows, from, b_rows, c + c_at, c_stride, room, 1);
  } else {
    many_products(&queries, rows, from, b_rows, c + c_at, c_stride, room, 0);
  }
}

// Adds what some tokens weigh to the sums of a few rows; tile: (tokens, MANY_CHANNELS)
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

// The sum of all tokens is made first and added as a whole.
INLINE void tile_sums(const float *w, i64 w_stride, const int rows, const float *tile, i32 tokens, float *out,
                      i64 out_stride) {
  Floats sums[SUM_ROWS][MANY_VECTORS];
  UNROLL for (int i = 0; i < rows; i++) {
    UNROLL for (int d = 0; d < MANY_VECTORS; d++) sums[i][d] = all(0);
  }
  i32 t = 0;
#if LANES == 4
  // A load has a row's weights of four tokens, and an instruction names the one it multiplies by.
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
      half_sums_of(w + i * w_stride, w_stride, 1, v + d, columns, tokens, to, out_stride, 1, brains);
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
