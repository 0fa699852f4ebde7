// Sums of codebook vectors selected by codes. Each function's Java reference has the same name in ScalarCodebooks.
//
// Every set has 64 rows, and a page 128 tokens. Indices are (sets, page tokens) and have six bits; the upper bits of a
// byte are ignored, so that no index leaves its set.
#include "patterns.h"

#define SET_ROWS 64

INLINE i64 index_of(uint8_t byte) { return byte & (SET_ROWS - 1); }

// ---- codes of 12 bits, see StageCodes

#define STAGE_BYTES (PAGE * 3 / 2)
#define HALF_PAGE (PAGE / 2)

INLINE void unpack_stage(const uint8_t *restrict low, const uint8_t *restrict high, uint8_t *restrict first,
                         uint8_t *restrict second) {
  for (int u = 0; u < HALF_PAGE; u++) {
    first[u] = low[u] & 63;
    first[HALF_PAGE + u] = low[HALF_PAGE + u] & 63;
    second[u] = low[u] >> 6 | (high[u] << 2 & 60);
    second[HALF_PAGE + u] = low[HALF_PAGE + u] >> 6 | (high[u] >> 2 & 60);
  }
}

// indices (stages, first and second, page tokens). Prefetches the data behind the codes: a head's values follow its
// keys, and the next head follows those.
EXPORT void KERNEL(unpack_stages)(uint8_t *indices, const uint8_t *source, i64 offset, i32 stages) {
  const uint8_t *next = source + offset + (i64)stages * STAGE_BYTES;
  for (i32 byte = 0; byte < stages * STAGE_BYTES; byte += 64) __builtin_prefetch(next + byte);
  for (i32 stage = 0; stage < stages; stage++) {
    const uint8_t *low = source + offset + (i64)stage * STAGE_BYTES;
    uint8_t *first = indices + (i64)stage * 2 * PAGE;
    unpack_stage(low, low + PAGE, first, first + PAGE);
  }
}

// ---- rows of bytes that represent numbers from -128 on, x and y of a pair adjacent

// 16-bit sums of a slice of at most 64 pairs. Bytes are added two at a time as 16-bit numbers, and the upper ones once
// more separately; subtracting those leaves the lower ones. Where instructions add bytes to wider numbers, the sums are
// in the order of the rows: those of the first half of a vector of bytes, and of the second.
#if LANES == 4
typedef struct {
  uint16x8_t low[8], high[8];
} Sums;
#else
typedef struct {
  Shorts both[4], upper[4];
} Sums;
#endif

// Sets that are added without a loop: ten are one bit of a head of 64 channels, and the end of so short a loop is
// mispredicted.
#define SETS_TOGETHER 10

#define SLICE_LANES(pairs) (pairs < SHORT_LANES ? pairs : SHORT_LANES)

INLINE const uint8_t *picked_row(const uint8_t *rows, const uint8_t *indices, i64 row_bytes, const int set) {
  return rows + (set * SET_ROWS + index_of(indices[set * PAGE])) * row_bytes;
}

#if LANES == 4
// Compilers reorder sums of integers, here to the slowest order.
INLINE uint16x8_t as_written(uint16x8_t x) {
  __asm__("" : "+w"(x));
  return x;
}
#endif

INLINE void add_sets(const uint8_t *rows, const uint8_t *indices, i64 row_bytes, const int sets, Sums *sums,
                     const int pairs) {
#if LANES == 4
  // Two rows are added to wider numbers, and those are added in pairs; adding row after row would be bound by latency.
  const uint8_t *picked[SETS_TOGETHER];
  UNROLL for (int set = 0; set < sets; set++) picked[set] = picked_row(rows, indices, row_bytes, set);
  UNROLL for (int v = 0; v < pairs / 8; v++) {
    uint16x8_t low[SETS_TOGETHER / 2], high[SETS_TOGETHER / 2];
    UNROLL for (int two = 0; two < sets / 2; two++) {
      uint8x16_t x = vld1q_u8(picked[2 * two] + 16 * v), y = vld1q_u8(picked[2 * two + 1] + 16 * v);
      low[two] = as_written(vaddl_u8(vget_low_u8(x), vget_low_u8(y)));
      high[two] = as_written(vaddl_high_u8(x, y));
    }
    UNROLL for (int step = 1; step < sets / 2; step *= 2) {
      UNROLL for (int two = 0; two + step < sets / 2; two += 2 * step) {
        low[two] = vaddq_u16(low[two], low[two + step]);
        high[two] = vaddq_u16(high[two], high[two + step]);
      }
    }
    if (sets >= 2) {
      sums->low[v] = vaddq_u16(sums->low[v], low[0]);
      sums->high[v] = vaddq_u16(sums->high[v], high[0]);
    }
    if (sets % 2) {
      uint8x16_t x = vld1q_u8(picked[sets - 1] + 16 * v);
      sums->low[v] = vaddw_u8(sums->low[v], vget_low_u8(x));
      sums->high[v] = vaddw_high_u8(sums->high[v], x);
    }
  }
#else
  const int lanes = SLICE_LANES(pairs);
  UNROLL for (int set = 0; set < sets; set++) {
    const uint8_t *row = picked_row(rows, indices, row_bytes, set);
    UNROLL for (int v = 0; v < pairs / lanes; v++) {
      Shorts two = load_shorts(row + 2 * lanes * v, lanes);
      sums->both[v] += two;
      sums->upper[v] += two >> 8;
    }
  }
#endif
}

// As many x and y as a vector has floats, from pair i on, minus the sum of the zero points.
INLINE void numbers_of(const Sums *sums, const int i, const int pairs, i32 zero, Floats *x, Floats *y) {
#if LANES == 4
  // As the low halves of 2^23 + sum, minus 2^23: this avoids a conversion.
  (void)pairs;
  uint16x8_t upper = vdupq_n_u16(0x4B00), from = i % 8 ? sums->high[i / 8] : sums->low[i / 8];
  Floats lift = all((float)(0x800000 + zero));
  *x = subtract(vreinterpretq_f32_u16(vtrn1q_u16(from, upper)), lift);
  *y = subtract(vreinterpretq_f32_u16(vtrn2q_u16(from, upper)), lift);
#else
  typedef int16_t Part __attribute__((vector_size(2 * LANES)));
  typedef float Wide __attribute__((vector_size(4 * LANES)));
  const int v = i / SLICE_LANES(pairs), part = i % SLICE_LANES(pairs) / LANES;
  Shorts zeros = all_shorts((uint16_t)zero), x_sums = sums->both[v] - (sums->upper[v] << 8) - zeros;
  Shorts y_sums = sums->upper[v] - zeros;
  Part x_part, y_part;
  __builtin_memcpy(&x_part, (const char *)&x_sums + part * 2 * LANES, sizeof x_part);
  __builtin_memcpy(&y_part, (const char *)&y_sums + part * 2 * LANES, sizeof y_part);
  *x = (Floats)__builtin_convertvector(x_part, Wide);
  *y = (Floats)__builtin_convertvector(y_part, Wide);
#endif
}

// A slice of a token's vector: its sums stay in registers while the rows are added, and are then rotated. Indices are
// relative to the slice's first pair.
INLINE void turned_slice(const uint8_t *rows, const uint8_t *indices, i32 sets, i64 all_pairs,
                         const float *restrict units, const float *restrict mean, float scale,
                         const float *restrict cosines, const float *restrict sines, float *restrict out,
                         const int pairs) {
  i64 row_bytes = 2 * all_pairs, set_bytes = SET_ROWS * row_bytes;
  Sums sums = {0};
  i32 set = 0;
  for (; set + SETS_TOGETHER <= sets; set += SETS_TOGETHER) {
    add_sets(rows + set * set_bytes, indices + set * PAGE, row_bytes, SETS_TOGETHER, &sums, pairs);
  }
  for (; set + 2 <= sets; set += 2) {
    add_sets(rows + set * set_bytes, indices + set * PAGE, row_bytes, 2, &sums, pairs);
  }
  if (set < sets) add_sets(rows + set * set_bytes, indices + set * PAGE, row_bytes, 1, &sums, pairs);
  UNROLL for (int i = 0; i < pairs; i += LANES) {
    Floats x, y, factor = multiply(load(units + i), all(scale));
    numbers_of(&sums, i, pairs, 128 * sets, &x, &y);
    x = fused(x, factor, load(mean + i));
    y = fused(y, factor, load(mean + all_pairs + i));
    turn_pairs(x, y, load(cosines + i), load(sines + i), out + i, out + all_pairs + i);
  }
}

// The arguments of turned_sums.
typedef struct {
  const uint8_t *rows, *indices;
  i32 sets;
  const float *units, *mean, *scales, *cosines, *sines;
} Turned;

INLINE void turned_slices(const Turned *from, i32 token, const i64 pairs, i32 at, float *out, const int slice) {
  i64 angles = token * pairs + at;
  turned_slice(from->rows + 2 * at, from->indices + token, from->sets, pairs, from->units + at, from->mean + at,
               from->scales[token], from->cosines + angles, from->sines + angles, out + at, slice);
}

// With a constant number of pairs, rows are addressed by shifts: some processors multiply addresses slowly.
INLINE void turned_tokens(const Turned *from, i32 first, i32 end, const i64 pairs, float *out) {
  for (i32 token = first; token < end; token++, out += 2 * pairs) {
    i32 i = 0;
    for (; i + 64 <= pairs; i += 64) turned_slices(from, token, pairs, i, out, 64);
    for (; i + 32 <= pairs; i += 32) turned_slices(from, token, pairs, i, out, 32);
    for (; i < pairs; i += 16) turned_slices(from, token, pairs, i, out, 16);
  }
}

// Not inlined into its callers, since it is long.
static __attribute__((noinline)) void turned_vectors(const Turned *from, i32 first, i32 end, i32 pairs, float *out) {
  switch (pairs) {
    case 32: turned_tokens(from, first, end, 32, out); break;
    case 64: turned_tokens(from, first, end, 64, out); break;
    default: turned_tokens(from, first, end, pairs, out);
  }
}

// rows (sets, 64, pairs, x and y), scales (page tokens), cosines and sines (page tokens, pairs), units (pairs),
// mean (x and y, pairs), out (end - first, x and y, pairs); pairs is a multiple of 16
EXPORT void KERNEL(turned_sums)(const uint8_t *rows, const uint8_t *indices, i32 sets, i32 pairs, i32 first, i32 end,
                                const float *units, const float *mean, const float *scales, const float *cosines,
                                const float *sines, float *out, i32 out_at) {
  const Turned from = {rows, indices, sets, units, mean, scales, cosines, sines};
  turned_vectors(&from, first, end, pairs, out + out_at);
}

// Tokens whose vectors are computed before they are multiplied: they stay in L1 cache.
#define SCORED_TOGETHER 16

// Products of queries with the vectors of turned_sums; queries (count, x and y, pairs), room (SCORED_TOGETHER, x and y,
// pairs), scores (count, page tokens)
EXPORT void KERNEL(turned_scores)(const uint8_t *rows, const uint8_t *indices, i32 sets, i32 pairs, i32 first, i32 end,
                                  const float *units, const float *mean, const float *scales, const float *cosines,
                                  const float *sines, const float *queries, i32 count, float *room, float *scores) {
  const Turned from = {rows, indices, sets, units, mean, scales, cosines, sines};
  const i32 width = 2 * pairs;
  for (i32 token = first; token < end; token += SCORED_TOGETHER) {
    i32 some = end - token < SCORED_TOGETHER ? end - token : SCORED_TOGETHER;
    turned_vectors(&from, token, token + some, pairs, room);
    products(queries, width, count, room, width, some, width, scores + token, PAGE);
  }
}

// ---- rows of floats

INLINE void vectors_of_rows(const float *rows, i64 width, const uint8_t *indices, i32 sets, float *to,
                            const int vectors) {
  Floats sums[8];
  UNROLL for (int v = 0; v < vectors; v++) sums[v] = all(0);
  for (i32 set = 0; set < sets; set++) {
    const float *row = rows + ((i64)set * SET_ROWS + index_of(indices[set * PAGE])) * width;
    UNROLL for (int v = 0; v < vectors; v++) sums[v] = add(sums[v], load(row + v * LANES));
  }
  UNROLL for (int v = 0; v < vectors; v++) store(to + v * LANES, sums[v]);
}

#if LANES == 16
// A vector is as long as a cache line, and a Java array starts within one, so every load would touch two lines. These
// loads are aligned: one more of them, with only the row's part of the first and the last.
INLINE void lines_of_rows(const float *rows, i64 width, const uint8_t *indices, i32 sets, float *to, i32 skip,
                          const int vectors) {
  Floats sums[9];
  __mmask16 head = (__mmask16)(0xFFFF << skip), tail = (__mmask16)~head;
  UNROLL for (int v = 0; v <= vectors; v++) sums[v] = all(0);
  for (i32 set = 0; set < sets; set++) {
    const float *row = rows - skip + ((i64)set * SET_ROWS + index_of(indices[set * PAGE])) * width;
    sums[0] = add(sums[0], _mm512_maskz_loadu_ps(head, row));
    UNROLL for (int v = 1; v < vectors; v++) sums[v] = add(sums[v], load(row + v * LANES));
    sums[vectors] = add(sums[vectors], _mm512_maskz_loadu_ps(tail, row + vectors * LANES));
  }
  _mm512_mask_storeu_ps(to - skip, head, sums[0]);
  UNROLL for (int v = 1; v < vectors; v++) store(to - skip + v * LANES, sums[v]);
  _mm512_mask_storeu_ps(to - skip + vectors * LANES, tail, sums[vectors]);
}
#endif

INLINE void slice_of_rows(const float *rows, i64 width, const uint8_t *indices, i32 sets, float *to,
                          const int vectors) {
#if LANES == 16
  // Rows with different alignments share no aligned loads.
  i32 skip = width % LANES == 0 ? (uintptr_t)rows / sizeof(float) % LANES : 0;
  if (skip) {
    lines_of_rows(rows, width, indices, sets, to, skip, vectors);
    return;
  }
#endif
  vectors_of_rows(rows, width, indices, sets, to, vectors);
}

// rows (sets, 64, width), sums (tokens, width)
EXPORT void KERNEL(picked_sums)(const float *rows, i32 at, const uint8_t *indices, i32 sets, i32 first, i32 end,
                                i32 width, float *sums) {
  const float *from = rows + at;
  for (i32 token = first; token < end; token++) {
    const uint8_t *picks = indices + token;
    float *to = sums + (i64)token * width;
    i32 i = 0;
    for (; i + 8 * LANES <= width; i += 8 * LANES) slice_of_rows(from + i, width, picks, sets, to + i, 8);
    for (; i + 4 * LANES <= width; i += 4 * LANES) slice_of_rows(from + i, width, picks, sets, to + i, 4);
    for (; i + LANES <= width; i += LANES) vectors_of_rows(from + i, width, picks, sets, to + i, 1);
    for (; i < width; i++) {
      float sum = 0;
      for (i32 set = 0; set < sets; set++) sum += from[((i64)set * SET_ROWS + index_of(picks[set * PAGE])) * width + i];
      to[i] = sum;
    }
  }
}

// out[i] = a[i] . b[i]; four rows at a time, whose sums are independent
EXPORT void KERNEL(row_products)(const float *a, const float *b, i32 first, i32 end, i32 width, float *out) {
  i32 i = first;
  for (; i + 4 <= end; i += 4) {
    const float *x = a + (i64)i * width, *y = b + (i64)i * width;
    Partial partial[4];
    UNROLL for (int row = 0; row < 4; row++) partial[row] = no_sum();
    i32 k = 0;
    for (; k + PARTS <= width; k += PARTS) {
      UNROLL for (int row = 0; row < 4; row++) {
        UNROLL for (int v = 0; v < PART_VECTORS; v++) {
          i64 at = (i64)row * width + k + v * LANES;
          partial[row].v[v] = fused(load(x + at), load(y + at), partial[row].v[v]);
        }
      }
    }
    totals_of(partial, 4, out + i);
    for (; k < width; k++) {
      UNROLL for (int row = 0; row < 4; row++) {
        i64 at = (i64)row * width + k;
        out[i + row] = fused1(x[at], y[at], out[i + row]);
      }
    }
  }
  for (; i < end; i++) out[i] = dot(a + (i64)i * width, b + (i64)i * width, width);
}

// ---- bins

// As one vector where processors have it, else as several.
typedef float Eight __attribute__((vector_size(32)));
typedef float Sixteen __attribute__((vector_size(64)));

#define ADD_VECTOR(type, to, from)               \
  do {                                           \
    type sum, weight;                            \
    __builtin_memcpy(&sum, to, sizeof sum);      \
    __builtin_memcpy(&weight, from, sizeof sum); \
    sum += weight;                               \
    __builtin_memcpy(to, &sum, sizeof sum);      \
  } while (0)

INLINE void add_fours(float *to, const float *from, const int fours) {
  if (fours == 4) {
    ADD_VECTOR(Sixteen, to, from);
  } else if (fours == 2) {
    ADD_VECTOR(Eight, to, from);
  } else {
    ADD_VECTOR(Four, to, from);
  }
}

// A few sets at a time: a single set would wait for its own stores if tokens select the same bin, and each further set
// is another index to load for every token.
INLINE void collect_sets(const uint8_t *indices, const int sets, i32 first, i32 end, const float *weights, i64 lanes,
                         float *bins, const int fours) {
  for (i32 token = first; token < end; token++) {
    const float *weight = weights + token * lanes;
    UNROLL for (int set = 0; set < sets; set++) {
      float *bin = bins + (set * SET_ROWS + index_of(indices[set * PAGE + token])) * lanes;
      add_fours(bin, weight, fours);
    }
  }
}

INLINE void collect_lanes(const uint8_t *indices, i32 sets, i32 first, i32 end, const float *weights, i64 lanes,
                          float *bins, const int fours) {
  i64 set_bins = SET_ROWS * lanes;
  i32 set = 0;
  for (; set + 8 <= sets; set += 8) {
    collect_sets(indices + set * PAGE, 8, first, end, weights, lanes, bins + set * set_bins, fours);
  }
  for (; set + 2 <= sets; set += 2) {
    collect_sets(indices + set * PAGE, 2, first, end, weights, lanes, bins + set * set_bins, fours);
  }
  if (set < sets) collect_sets(indices + set * PAGE, 1, first, end, weights, lanes, bins + set * set_bins, fours);
}

// weights (tokens, lanes), bins (sets, 64, lanes); lanes is a multiple of 4
EXPORT void KERNEL(collect)(const uint8_t *indices, i32 sets, i32 first, i32 end, const float *weights, i32 lanes,
                            float *bins) {
  if (lanes == 4) {
    collect_lanes(indices, sets, first, end, weights, 4, bins, 1);
  } else if (lanes == 8) {
    collect_lanes(indices, sets, first, end, weights, 8, bins, 2);
  } else if (lanes == 16) {
    collect_lanes(indices, sets, first, end, weights, 16, bins, 4);
  } else {
    i32 lane = 0;
    for (; lane + 16 <= lanes; lane += 16) {
      collect_lanes(indices, sets, first, end, weights + lane, lanes, bins + lane, 4);
    }
    for (; lane + 8 <= lanes; lane += 8) {
      collect_lanes(indices, sets, first, end, weights + lane, lanes, bins + lane, 2);
    }
    if (lane < lanes) collect_lanes(indices, sets, first, end, weights + lane, lanes, bins + lane, 1);
  }
}

// ---- sums by bit

#define NIBBLE_SETS (PAGE / 4)
#define SUBSETS 16
#define SET_BYTES (PAGE / 8)

// An expression, because functions cannot return vectors that are longer than those of the processor.
#define LOADED(Vector, from)                        \
  ({                                                \
    Vector loaded;                                  \
    __builtin_memcpy(&loaded, from, sizeof loaded); \
    loaded;                                         \
  })

// Four sets at a time, because an addition to a bin waits for the one before. A nibble of a set selects the sum of a
// subset of four tokens.
#define SET_BIT_SUMS(name, Vector)                                                                             \
  INLINE void name##_subsets(const float *weights, i64 lanes, float *sums) {                                   \
    const int width = sizeof(Vector) / sizeof(float);                                                          \
    for (int nibble = 0; nibble < NIBBLE_SETS; nibble++, weights += 4 * lanes, sums += SUBSETS * width) {      \
      Vector subset[SUBSETS] = {{0}};                                                                          \
      UNROLL for (int i = 0; i < 4; i++) {                                                                     \
        Vector weight = LOADED(Vector, weights + i * lanes);                                                   \
        UNROLL for (int j = 0; j < 1 << i; j++) subset[(1 << i) + j] = subset[j] + weight;                     \
      }                                                                                                        \
      UNROLL for (int j = 0; j < SUBSETS; j++) __builtin_memcpy(sums + j * width, &subset[j], sizeof(Vector)); \
    }                                                                                                          \
  }                                                                                                            \
  INLINE void name##_add(const uint8_t *bits, const int sets, const float *sums, i64 lanes, float *bins) {     \
    const int width = sizeof(Vector) / sizeof(float);                                                          \
    Vector total[4];                                                                                           \
    UNROLL for (int set = 0; set < sets; set++) total[set] = LOADED(Vector, bins + set * lanes);               \
    for (int i = 0; i < SET_BYTES; i++) {                                                                      \
      const float *low = sums + 2 * i * SUBSETS * width, *high = low + SUBSETS * width;                        \
      UNROLL for (int set = 0; set < sets; set++) {                                                            \
        i64 eight = bits[set * SET_BYTES + i];                                                                 \
        total[set] += LOADED(Vector, low + (eight & SUBSETS - 1) * width);                                     \
        total[set] += LOADED(Vector, high + (eight >> 4) * width);                                             \
      }                                                                                                        \
    }                                                                                                          \
    UNROLL for (int set = 0; set < sets; set++) {                                                              \
      __builtin_memcpy(bins + set * lanes, &total[set], sizeof(Vector));                                       \
    }                                                                                                          \
  }                                                                                                            \
  static __attribute__((noinline)) void name(const uint8_t *bits, i32 sets, const float *weights, i64 lanes,   \
                                             float *sums, float *bins) {                                       \
    name##_subsets(weights, lanes, sums);                                                                      \
    i32 set = 0;                                                                                               \
    for (; set + 4 <= sets; set += 4) name##_add(bits + set * SET_BYTES, 4, sums, lanes, bins + set * lanes);  \
    for (; set < sets; set++) name##_add(bits + set * SET_BYTES, 1, sums, lanes, bins + set * lanes);          \
  }

SET_BIT_SUMS(set_bits_of_four, Four)
SET_BIT_SUMS(set_bits_of_eight, Eight)
SET_BIT_SUMS(set_bits_of_sixteen, Sixteen)

// bits (sets, page tokens / 8), weights (page tokens, lanes), sums (page tokens / 4, 16, lanes) as scratch, bins (sets,
// lanes); lanes is a multiple of 4
EXPORT void KERNEL(add_to_set_bits)(const uint8_t *bits, i32 sets, const float *weights, i32 lanes, float *sums,
                                    float *bins) {
  i32 lane = 0;
  for (; lane + 16 <= lanes; lane += 16) set_bits_of_sixteen(bits, sets, weights + lane, lanes, sums, bins + lane);
  for (; lane + 8 <= lanes; lane += 8) set_bits_of_eight(bits, sets, weights + lane, lanes, sums, bins + lane);
  if (lane < lanes) set_bits_of_four(bits, sets, weights + lane, lanes, sums, bins + lane);
}

// out[row][i] = bins[i][column + row] * factors[row]; bins (count, lanes), out (rows, count)
EXPORT void KERNEL(scaled_columns)(const float *factors, float *out, const float *bins, i32 count, i32 lanes,
                                   i32 column, i32 rows) {
  bins += column;
  i32 row = 0;
  for (; row + 4 <= rows; row += 4) {
    Four by = load_four(factors + row);
    const float *from = bins + row;
    float *to = out + (i64)row * count;
    i32 i = 0;
    for (; i + 4 <= count; i += 4, from += 4 * (i64)lanes) {
      Four a = load_four(from) * by, b = load_four(from + lanes) * by;
      Four c = load_four(from + 2 * (i64)lanes) * by, d = load_four(from + 3 * (i64)lanes) * by;
      Four ab = __builtin_shufflevector(a, b, 0, 4, 1, 5), cd = __builtin_shufflevector(c, d, 0, 4, 1, 5);
      Four ef = __builtin_shufflevector(a, b, 2, 6, 3, 7), gh = __builtin_shufflevector(c, d, 2, 6, 3, 7);
      store_four(to + i, __builtin_shufflevector(ab, cd, 0, 1, 4, 5));
      store_four(to + count + i, __builtin_shufflevector(ab, cd, 2, 3, 6, 7));
      store_four(to + 2 * (i64)count + i, __builtin_shufflevector(ef, gh, 0, 1, 4, 5));
      store_four(to + 3 * (i64)count + i, __builtin_shufflevector(ef, gh, 2, 3, 6, 7));
    }
    for (; i < count; i++, from += lanes) {
      for (int k = 0; k < 4; k++) to[(i64)k * count + i] = from[k] * factors[row + k];
    }
  }
  for (; row < rows; row++) {
    for (i32 i = 0; i < count; i++) out[(i64)row * count + i] = bins[(i64)i * lanes + row] * factors[row];
  }
}

// The weights of tokens by row for collect: probability * back * scale. Totals of probability * back are added in the
// order of tokens. probabilities (rows, page tokens), back and totals (rows), weights (page tokens, lanes): the columns
// of rows are those from at on
EXPORT void KERNEL(weigh_tokens)(const float *probabilities, i32 rows, const float *back, const float *scales, i32 lanes,
                                 float *totals, float *weights, i32 at) {
  weights += at;
  i32 row = 0;
  for (; row + 4 <= rows; row += 4) {
    const float *from = probabilities + (i64)row * PAGE;
    Four backs = load_four(back + row), sum = {0};
    for (i32 token = 0; token < PAGE; token++) {
      Four four = {from[token], from[PAGE + token], from[2 * PAGE + token], from[3 * PAGE + token]};
      four *= backs;
      sum += four;
      store_four(weights + (i64)token * lanes + row, four * scales[token]);
    }
    store_four(totals + row, load_four(totals + row) + sum);
  }
  for (; row < rows; row++) {
    float sum = 0;
    for (i32 token = 0; token < PAGE; token++) {
      float probability = probabilities[(i64)row * PAGE + token] * back[row];
      sum += probability;
      weights[(i64)token * lanes + row] = probability * scales[token];
    }
    totals[row] += sum;
  }
}

// ---- distances

// out[a] = min over b of squares[a][b] - 2 products[b], ignoring NaN; squares (64, 64)
EXPORT void KERNEL(least_distances)(const float *squares, i32 at, const float *products, i32 products_at, float *out) {
  for (i32 a = 0; a < SET_ROWS; a += 4) {
    const float *rows = squares + at + a * SET_ROWS;
    Floats least[4];
    UNROLL for (int i = 0; i < 4; i++) least[i] = all(__builtin_inff());
    for (i32 b = 0; b < SET_ROWS; b += LANES) {
      Floats product = load(products + products_at + b), doubled = add(product, product);
      UNROLL for (int i = 0; i < 4; i++) {
        least[i] = lesser(subtract(load(rows + i * SET_ROWS + b), doubled), least[i]);
      }
    }
    least_lanes(least[0], least[1], least[2], least[3], out + a);
  }
}
