// Products, sums and row operations on floats. Each function's Java reference has the same name in ScalarFloats,
// ScalarRows and ScalarHalves.
#ifndef KVASIR_FLOATS_H
#define KVASIR_FLOATS_H

#include "vectors.h"

// ---- stored numbers: halves, bfloat16 (the upper half of a float), floats

#define FLOATS 2

INLINE Floats load_16(const uint16_t *at, const int brains) { return brains ? load_brains(at) : load_halves(at); }

INLINE float load_one(const uint16_t *at, const int brains) {
  uint16_t some[LANES] = {0};
  some[0] = *at;
  float wide[LANES];
  store(wide, load_16(some, brains));
  return wide[0];
}

// kind: 0 half, 1 bfloat16, 2 float
INLINE Floats load_weights(const uint8_t *row, i64 k, const int kind) {
  return kind == FLOATS ? load((const float *)row + k) : load_16((const uint16_t *)row + k, kind);
}

INLINE float load_weight(const uint8_t *row, i64 k, const int kind) {
  return kind == FLOATS ? ((const float *)row)[k] : load_one((const uint16_t *)row + k, kind);
}

// ---- products of rows: c[i][j] = a[i] . b[j]

INLINE float dot(const float *a, const float *b, i32 depth) {
  Partial partial = no_sum();
  i32 k = 0;
  for (; k + PARTS <= depth; k += PARTS) {
    UNROLL for (int v = 0; v < PART_VECTORS; v++) {
      i32 at = k + v * LANES;
      partial.v[v] = fused(load(a + at), load(b + at), partial.v[v]);
    }
  }
  float sum = total(&partial);
  for (; k < depth; k++) sum = fused1(a[k], b[k], sum);
  return sum;
}

// Rows of a by rows of b whose sums fit into registers: 32 registers, or sixteen with AVX2.
#if LANES == 16
#define TILE_ROWS 4
#define TILE_COLUMNS 4
#else
#define TILE_ROWS 2
#define TILE_COLUMNS 3
#endif

// A register tile: c[i][j] = a[i] . b[j], for rows b_bytes apart. Sums are those of dot.
INLINE void dot_tile(const float *a, i64 a_stride, const int rows, const uint8_t *b, i64 b_bytes, const int columns,
                     i64 depth, float *c, i64 c_stride, const int kind) {
  Partial partial[16];
  UNROLL for (int i = 0; i < rows * columns; i++) partial[i] = no_sum();
  i64 k = 0;
  for (; k + PARTS <= depth; k += PARTS) {
    UNROLL for (int v = 0; v < PART_VECTORS; v++) {
      i64 at = k + v * LANES;
      Floats x[4];
      UNROLL for (int j = 0; j < columns; j++) x[j] = load_weights(b + j * b_bytes, at, kind);
      UNROLL for (int i = 0; i < rows; i++) {
        Floats y = load(a + i * a_stride + at);
        UNROLL for (int j = 0; j < columns; j++) {
          partial[i * columns + j].v[v] = fused(y, x[j], partial[i * columns + j].v[v]);
        }
      }
    }
  }
  float sums[16];
  totals_of(partial, rows * columns, sums);
  UNROLL for (int i = 0; i < rows; i++) {
    UNROLL for (int j = 0; j < columns; j++) {
      float sum = sums[i * columns + j];
      for (i64 rest = k; rest < depth; rest++) {
        sum = fused1(a[i * a_stride + rest], load_weight(b + j * b_bytes, rest, kind), sum);
      }
      c[i * c_stride + j] = sum;
    }
  }
}

INLINE void products(const float *a, i64 a_stride, i32 a_rows, const float *b, i64 b_stride, i32 b_rows, i64 depth,
                     float *c, i64 c_stride) {
  i32 j = 0;
  i64 b_bytes = 4 * b_stride;
  for (; j + TILE_COLUMNS <= b_rows; j += TILE_COLUMNS) {
    const uint8_t *from = (const uint8_t *)(b + j * b_stride);
    i32 i = 0;
    for (; i + TILE_ROWS <= a_rows; i += TILE_ROWS) {
      dot_tile(a + i * a_stride, a_stride, TILE_ROWS, from, b_bytes, TILE_COLUMNS, depth, c + i * c_stride + j,
               c_stride, FLOATS);
    }
    for (; i < a_rows; i++) {
      dot_tile(a + i * a_stride, a_stride, 1, from, b_bytes, TILE_COLUMNS, depth, c + i * c_stride + j, c_stride,
               FLOATS);
    }
  }
  for (; j < b_rows; j++) {
    const uint8_t *from = (const uint8_t *)(b + j * b_stride);
    i32 i = 0;
    for (; i + 4 <= a_rows; i += 4) {
      dot_tile(a + i * a_stride, a_stride, 4, from, b_bytes, 1, depth, c + i * c_stride + j, c_stride, FLOATS);
    }
    for (; i < a_rows; i++) {
      dot_tile(a + i * a_stride, a_stride, 1, from, b_bytes, 1, depth, c + i * c_stride + j, c_stride, FLOATS);
    }
  }
}

EXPORT void KERNEL(products)(const float *a, i32 a_at, i32 a_stride, i32 a_rows, const float *b, i32 b_at,
                             i32 b_stride, i32 b_rows, i32 depth, float *c, i32 c_at, i32 c_stride) {
  products(a + a_at, a_stride, a_rows, b + b_at, b_stride, b_rows, depth, c + c_at, c_stride);
}

// ---- weighted sums: out[i] += sum over t of weights[i][t] * v[t]

#define SUM_VECTORS 2

INLINE void sums_by_four(const float *w, i64 w_stride, const int rows, const float *v, i64 v_stride, i32 tokens,
                         float *out, i64 out_stride, const int vectors) {
  Floats sums[4][SUM_VECTORS];
  UNROLL for (int i = 0; i < rows; i++) {
    UNROLL for (int d = 0; d < vectors; d++) sums[i][d] = load(out + i * out_stride + d * LANES);
  }
  for (i32 t = 0; t < tokens; t++) {
    Floats x[SUM_VECTORS];
    UNROLL for (int d = 0; d < vectors; d++) x[d] = load(v + t * v_stride + d * LANES);
    UNROLL for (int i = 0; i < rows; i++) {
      Floats weight = all(w[i * w_stride + t]);
      UNROLL for (int d = 0; d < vectors; d++) sums[i][d] = fused(weight, x[d], sums[i][d]);
    }
  }
  UNROLL for (int i = 0; i < rows; i++) {
    UNROLL for (int d = 0; d < vectors; d++) store(out + i * out_stride + d * LANES, sums[i][d]);
  }
}

INLINE void sums_of_rows(const float *w, i64 w_stride, const int rows, const float *v, i64 v_stride, i32 tokens,
                         i32 length, float *out, i64 out_stride) {
  i32 d = 0;
  for (; d + SUM_VECTORS * LANES <= length; d += SUM_VECTORS * LANES) {
    sums_by_four(w, w_stride, rows, v + d, v_stride, tokens, out + d, out_stride, SUM_VECTORS);
  }
  for (; d + LANES <= length; d += LANES) {
    sums_by_four(w, w_stride, rows, v + d, v_stride, tokens, out + d, out_stride, 1);
  }
  for (; d < length; d++) {
    for (int i = 0; i < rows; i++) {
      float sum = out[i * out_stride + d];
      for (i32 t = 0; t < tokens; t++) sum = fused1(w[i * w_stride + t], v[t * v_stride + d], sum);
      out[i * out_stride + d] = sum;
    }
  }
}

INLINE void weighted_sums(const float *w, i64 w_stride, i32 rows, const float *v, i64 v_stride, i32 tokens, i32 length,
                          float *out, i64 out_stride) {
  i32 i = 0;
  for (; i + 4 <= rows; i += 4) {
    sums_of_rows(w + i * w_stride, w_stride, 4, v, v_stride, tokens, length, out + i * out_stride, out_stride);
  }
  for (; i < rows; i++) {
    sums_of_rows(w + i * w_stride, w_stride, 1, v, v_stride, tokens, length, out + i * out_stride, out_stride);
  }
}

EXPORT void KERNEL(weighted_sums)(const float *w, i32 w_at, i32 w_stride, i32 rows, const float *v, i32 v_at,
                                  i32 v_stride, i32 tokens, i32 length, float *out, i32 out_at, i32 out_stride) {
  weighted_sums(w + w_at, w_stride, rows, v + v_at, v_stride, tokens, length, out + out_at, out_stride);
}

// ---- rows

EXPORT float KERNEL(maximum)(const float *x, i32 at, i32 count) {
  const float *from = x + at;
  float largest = -__builtin_inff();
  Floats most = all(largest);
  int unordered = 0;
  i32 i = 0;
  for (; i + LANES <= count; i += LANES) {
    Floats values = load(from + i);
    most = larger(most, values);
    if (!LARGER_STAYS_UNORDERED) unordered |= any_unordered(values);
  }
  if (LARGER_STAYS_UNORDERED) unordered = any_unordered(most);
  float lanes[LANES];
  store(lanes, most);
  UNROLL for (int lane = 0; lane < LANES; lane++) largest = lanes[lane] > largest ? lanes[lane] : largest;
  for (; i < count; i++) {
    unordered |= from[i] != from[i];
    largest = from[i] > largest ? from[i] : largest;
  }
  if (unordered) return __builtin_nanf("");
  if (largest == 0) {
    // Comparisons treat -0 and 0 as equal; Java's maximum does not.
    largest = -0.0f;
    for (i = 0; i < count; i++) {
      if (from[i] == 0 && !__builtin_signbit(from[i])) largest = 0;
    }
  }
  return largest;
}

// e^x as Exponential defines it; NaN stays NaN.
INLINE Floats exponential(Floats x) {
  const Floats rounder = all(12582912.0f);
  Floats v = smaller(all(88), larger(all(-87), x));
  Floats lifted = fused(v, all(1.4426950409f), rounder);
  Floats n = subtract(lifted, rounder);
  Floats r = fused(n, all(2.12194440e-4f), fused(n, all(-0.693359375f), v));
  Floats p = fused(all(1.9875691500e-4f), r, all(1.3981999507e-3f));
  p = fused(p, r, all(8.3334519073e-3f));
  p = fused(p, r, all(4.1665795894e-2f));
  p = fused(p, r, all(1.6666665459e-1f));
  p = fused(p, r, all(5.0000001201e-1f));
  p = add(fused(p, multiply(r, r), r), all(1));
  return scaled_by_power(p, lifted);
}

#define EXPONENTIALS 4
INLINE void exponentials(Floats *x) {
  UNROLL for (int j = 0; j < EXPONENTIALS; j++) x[j] = exponential(x[j]);
}

// Loads a vector padded with zeros.
INLINE Floats load_some(const float *at, i32 count) {
  float some[LANES] = {0};
  for (i32 i = 0; i < count; i++) some[i] = at[i];
  return load(some);
}

INLINE void store_some(float *at, Floats x, i32 count) {
  float some[LANES];
  store(some, x);
  for (i32 i = 0; i < count; i++) at[i] = some[i];
}

EXPORT float KERNEL(exponentiate)(float *x, i32 at, i32 count, float shift) {
  float *to = x + at;
  Partial partial = no_sum();
  Floats shifts = all(shift);
  i32 i = 0;
  // An exponential is bound by latency, so several run at once.
  for (; i + EXPONENTIALS * LANES <= count; i += EXPONENTIALS * LANES) {
    Floats powers[EXPONENTIALS];
    UNROLL for (int j = 0; j < EXPONENTIALS; j++) powers[j] = subtract(load(to + i + j * LANES), shifts);
    exponentials(powers);
    UNROLL for (int j = 0; j < EXPONENTIALS; j++) {
      store(to + i + j * LANES, powers[j]);
      partial.v[j % PART_VECTORS] = add(partial.v[j % PART_VECTORS], powers[j]);
    }
  }
  for (; i + PARTS <= count; i += PARTS) {
    UNROLL for (int v = 0; v < PART_VECTORS; v++) {
      Floats powers = exponential(subtract(load(to + i + v * LANES), shifts));
      store(to + i + v * LANES, powers);
      partial.v[v] = add(partial.v[v], powers);
    }
  }
  float sum = total(&partial);
  for (i32 first = i; first < count; first += LANES) {
    i32 some = count - first < LANES ? count - first : LANES;
    store_some(to + first, exponential(subtract(load_some(to + first, some), shifts)), some);
  }
  for (; i < count; i++) sum += to[i];
  return sum;
}

EXPORT void KERNEL(rms_norm)(const float *x, i32 at, const float *weight, float epsilon, float *out, i32 out_at,
                             i32 count) {
  const float *from = x + at;
  float *to = out + out_at;
  float mean = dot(from, from, count) / (float)count + epsilon;
  float inverse = (float)(1 / __builtin_sqrt((double)mean));
  Floats factor = all(inverse);
  i32 i = 0;
  for (; i + LANES <= count; i += LANES) store(to + i, multiply(multiply(load(from + i), factor), load(weight + i)));
  for (; i < count; i++) to[i] = from[i] * inverse * weight[i];
}

INLINE Floats silu(Floats gate, Floats up) {
  Floats negated = subtract(all(-0.0f), gate);
  return multiply(divide(gate, add(exponential(negated), all(1))), up);
}

EXPORT void KERNEL(gated_silu)(float *gate, const float *up, i32 at, i32 count) {
  float *to = gate + at;
  const float *from = up + at;
  i32 i = 0;
  for (; i + LANES <= count; i += LANES) store(to + i, silu(load(to + i), load(from + i)));
  if (i < count) store_some(to + i, silu(load_some(to + i, count - i), load_some(from + i, count - i)), count - i);
}

// As Gelu defines it.
INLINE Floats gelu(Floats gate, Floats up) {
  Floats curve = fused(multiply(gate, gate), all(-0.07135481627f), all(-1.5957691216f));
  return multiply(divide(gate, add(exponential(multiply(gate, curve)), all(1))), up);
}

EXPORT void KERNEL(gated_gelu)(float *gate, const float *up, i32 at, i32 count) {
  float *to = gate + at;
  const float *from = up + at;
  i32 i = 0;
  for (; i + LANES <= count; i += LANES) store(to + i, gelu(load(to + i), load(from + i)));
  if (i < count) store_some(to + i, gelu(load_some(to + i, count - i), load_some(from + i, count - i)), count - i);
}

EXPORT void KERNEL(add)(float *x, i32 at, const float *y, i32 y_at, i32 count) {
  float *to = x + at;
  const float *from = y + y_at;
  i32 i = 0;
  for (; i + LANES <= count; i += LANES) store(to + i, add(load(to + i), load(from + i)));
  for (; i < count; i++) to[i] += from[i];
}

EXPORT void KERNEL(multiply)(const float *x, i32 at, const float *y, i32 y_at, float *out, i32 out_at, i32 count) {
  i32 i = 0;
  for (; i + LANES <= count; i += LANES) store(out + out_at + i, multiply(load(x + at + i), load(y + y_at + i)));
  for (; i < count; i++) out[out_at + i] = x[at + i] * y[y_at + i];
}

EXPORT void KERNEL(scale)(float *x, i32 at, i32 count, float factor) {
  float *to = x + at;
  Floats factors = all(factor);
  i32 i = 0;
  for (; i + LANES <= count; i += LANES) store(to + i, multiply(load(to + i), factors));
  for (; i < count; i++) to[i] *= factor;
}

// ---- rows of 16-bit floats

INLINE void expand(const uint16_t *from, float *to, i64 count, const int brains) {
  i64 i = 0;
  for (; i + LANES <= count; i += LANES) store(to + i, load_16(from + i, brains));
  for (; i < count; i++) to[i] = load_one(from + i, brains);
}

EXPORT void KERNEL(expand)(float *out, i32 out_at, const uint8_t *source, i64 offset, i32 count, i32 brains) {
  const uint16_t *from = (const uint16_t *)(source + offset);
  if (brains) {
    expand(from, out + out_at, count, 1);
  } else {
    expand(from, out + out_at, count, 0);
  }
}

// Rows that are multiplied with rows of weights in registers, and the number of those at a time.
#define DENSE_ROWS 4
#if LANES == 16
#define DENSE_COLUMNS 4
#else
#define DENSE_COLUMNS 1
#endif

// A processor's own prefetching starts anew in every page of 4 KiB, which costs a quarter of the bandwidth where rows of
// one head after another are read. Long rows are read from several places at once and gain nothing. On ARM, products of
// a few rows take longer than their bytes.
#if defined(__x86_64__)
#define AHEAD_BYTES 8192
#else
#define AHEAD_BYTES 0
#endif
#define LINE_BYTES 64
#define LONG_ROW_BYTES 1024

INLINE void fetch(const uint8_t *at, i64 bytes) {
  for (i64 i = 0; i < bytes; i += LINE_BYTES) __builtin_prefetch(at + i);
}

INLINE void dense_products(const float *a, i32 a_rows, const uint8_t *b, i32 b_rows, i64 columns, float *c,
                           i64 c_stride, const int kind) {
  i64 row_bytes = columns * (kind == FLOATS ? 4 : 2);
  const uint8_t *fetched = AHEAD_BYTES && row_bytes < LONG_ROW_BYTES ? b + b_rows * row_bytes : b;
  i32 j = 0;
  for (; j + DENSE_COLUMNS <= b_rows; j += DENSE_COLUMNS) {
    const uint8_t *from = b + j * row_bytes;
    if (from + AHEAD_BYTES < fetched) fetch(from + AHEAD_BYTES, DENSE_COLUMNS * row_bytes);
    i32 i = 0;
    for (; i + DENSE_ROWS <= a_rows; i += DENSE_ROWS) {
      dot_tile(a + i * columns, columns, DENSE_ROWS, from, row_bytes, DENSE_COLUMNS, columns, c + i * c_stride + j,
               c_stride, kind);
    }
    for (; i < a_rows; i++) {
      dot_tile(a + i * columns, columns, 1, from, row_bytes, DENSE_COLUMNS, columns, c + i * c_stride + j, c_stride,
               kind);
    }
  }
  for (; j < b_rows; j++) {
    for (i32 i = 0; i < a_rows; i++) {
      dot_tile(a + i * columns, columns, 1, b + j * row_bytes, row_bytes, 1, columns, c + i * c_stride + j, c_stride,
               kind);
    }
  }
}

// c[i][j] = a[i] . b[j]; a (a_rows, columns), b (b_rows, columns)
EXPORT void KERNEL(dense_products)(const float *a, i32 a_rows, float *c, i32 c_at, i32 c_stride, const uint8_t *b,
                                   i64 offset, i32 b_rows, i32 columns, i32 kind) {
  switch (kind) {
    case 0: dense_products(a, a_rows, b + offset, b_rows, columns, c + c_at, c_stride, 0); break;
    case 1: dense_products(a, a_rows, b + offset, b_rows, columns, c + c_at, c_stride, 1); break;
    default: dense_products(a, a_rows, b + offset, b_rows, columns, c + c_at, c_stride, FLOATS);
  }
}

// Vectors of channels that a pass over the tokens sums. Fewer passes read more of a row at a time.
#if LANES == 16
#define HALF_SUM_VECTORS 4
#else
#define HALF_SUM_VECTORS SUM_VECTORS
#endif

// Computes the sum over all tokens first, then adds it. Fetches the same channels of a row some rows ahead, if not 0, and
// behind the last one those of the next pass.
INLINE void half_sums_of(const float *w, i64 w_stride, const int rows, const uint16_t *v, i64 v_stride, i32 tokens,
                         float *out, i64 out_stride, const int vectors, const int brains, i32 ahead) {
  Floats sums[4][HALF_SUM_VECTORS];
  UNROLL for (int i = 0; i < rows; i++) {
    UNROLL for (int d = 0; d < vectors; d++) sums[i][d] = all(0);
  }
  for (i32 t = 0; t < tokens; t++) {
    if (ahead) {
      i64 later = t + ahead < tokens ? (t + ahead) * v_stride : (t + ahead - tokens) * v_stride + vectors * LANES;
      fetch((const uint8_t *)(v + later), 2 * vectors * LANES);
    }
    Floats x[HALF_SUM_VECTORS];
    UNROLL for (int d = 0; d < vectors; d++) x[d] = load_16(v + t * v_stride + d * LANES, brains);
    UNROLL for (int i = 0; i < rows; i++) {
      Floats weight = all(w[i * w_stride + t]);
      UNROLL for (int d = 0; d < vectors; d++) sums[i][d] = fused(weight, x[d], sums[i][d]);
    }
  }
  UNROLL for (int i = 0; i < rows; i++) {
    UNROLL for (int d = 0; d < vectors; d++) {
      float *to = out + i * out_stride + d * LANES;
      store(to, add(load(to), sums[i][d]));
    }
  }
}

INLINE void half_sums_of_rows(const float *w, i64 w_stride, const int rows, const uint16_t *v, i32 tokens, i32 columns,
                              float *out, i64 out_stride, const int brains) {
  i32 d = 0, ahead = AHEAD_BYTES / (2 * columns);
#if HALF_SUM_VECTORS > SUM_VECTORS
  for (; d + HALF_SUM_VECTORS * LANES <= columns; d += HALF_SUM_VECTORS * LANES) {
    half_sums_of(w, w_stride, rows, v + d, columns, tokens, out + d, out_stride, HALF_SUM_VECTORS, brains, ahead);
  }
#endif
  for (; d + SUM_VECTORS * LANES <= columns; d += SUM_VECTORS * LANES) {
    half_sums_of(w, w_stride, rows, v + d, columns, tokens, out + d, out_stride, SUM_VECTORS, brains,
                 2 * d % LINE_BYTES ? 0 : ahead);
  }
  for (; d + LANES <= columns; d += LANES) {
    half_sums_of(w, w_stride, rows, v + d, columns, tokens, out + d, out_stride, 1, brains,
                 2 * d % LINE_BYTES ? 0 : ahead);
  }
  for (; d < columns; d++) {
    for (int i = 0; i < rows; i++) {
      float sum = 0;
      for (i32 t = 0; t < tokens; t++) {
        sum = fused1(w[i * w_stride + t], load_one(v + (i64)t * columns + d, brains), sum);
      }
      out[i * out_stride + d] += sum;
    }
  }
}

INLINE void half_sums(const float *w, i64 w_stride, i32 rows, const uint16_t *v, i32 tokens, i32 columns, float *out,
                      i64 out_stride, const int brains) {
  i32 i = 0;
  for (; i + 4 <= rows; i += 4) {
    half_sums_of_rows(w + i * w_stride, w_stride, 4, v, tokens, columns, out + i * out_stride, out_stride, brains);
  }
  for (; i < rows; i++) {
    half_sums_of_rows(w + i * w_stride, w_stride, 1, v, tokens, columns, out + i * out_stride, out_stride, brains);
  }
}

EXPORT void KERNEL(half_sums)(const float *w, i32 w_at, i32 w_stride, float *out, i32 out_at, i32 out_stride, i32 rows,
                              const uint8_t *v, i64 v_offset, i32 tokens, i32 columns, i32 brains) {
  const uint16_t *from = (const uint16_t *)(v + v_offset);
  if (brains) {
    half_sums(w + w_at, w_stride, rows, from, tokens, columns, out + out_at, out_stride, 1);
  } else {
    half_sums(w + w_at, w_stride, rows, from, tokens, columns, out + out_at, out_stride, 0);
  }
}

#endif
