// Rows of codes of different widths. Each function's Java reference has the same name in ScalarRowCodes.
//
// Channels are processed in parts, one vector each: a part of the first half of the channels together with the part at
// the same position of the second half, since nibbles of a table row share bytes and channels rotate in pairs.
#include "patterns.h"

#define OCTET 8
#define NIBBLE 15
#define SCALE_INDEX 7
#define ORDERED_ROWS 128

#if LANES == 16
typedef __m512i Ints;
INLINE Ints load_ints(const i32 *at) { return _mm512_loadu_si512(at); }
INLINE int any_bits(Ints masks) { return _mm512_test_epi32_mask(masks, masks) != 0; }
INLINE Ints load_sixteen(const uint8_t *at) { return _mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i *)at)); }
INLINE Floats codes_of(Ints bytes, Ints places, Ints masks) {
  return _mm512_cvtepi32_ps(_mm512_and_si512(_mm512_shuffle_epi8(bytes, places), masks));
}
INLINE Ints load_nibbles(const uint8_t *at) { return _mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)at)); }
// A permutation uses only the lower four bits, and selects the float that they index.
INLINE Floats lower_nibbles(Ints x) {
  return _mm512_permutexvar_ps(x, _mm512_setr_ps(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
}
INLINE Floats upper_nibbles(Ints x) { return _mm512_cvtepi32_ps(_mm512_srli_epi32(x, 4)); }
#elif LANES == 8
typedef __m256i Ints;
INLINE Ints load_ints(const i32 *at) { return _mm256_loadu_si256((const __m256i *)at); }
INLINE int any_bits(Ints masks) { return !_mm256_testz_si256(masks, masks); }
INLINE Ints load_sixteen(const uint8_t *at) { return _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)at)); }
INLINE Floats codes_of(Ints bytes, Ints places, Ints masks) {
  return _mm256_cvtepi32_ps(_mm256_and_si256(_mm256_shuffle_epi8(bytes, places), masks));
}
INLINE Ints load_nibbles(const uint8_t *at) { return _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)at)); }
INLINE Floats lower_nibbles(Ints x) { return _mm256_cvtepi32_ps(_mm256_and_si256(x, _mm256_set1_epi32(NIBBLE))); }
INLINE Floats upper_nibbles(Ints x) { return _mm256_cvtepi32_ps(_mm256_srli_epi32(x, 4)); }
#else
typedef int32x4_t Ints;
INLINE Ints load_ints(const i32 *at) { return vld1q_s32(at); }
INLINE int any_bits(Ints masks) { return vmaxvq_u32(vreinterpretq_u32_s32(masks)) != 0; }
INLINE Ints load_sixteen(const uint8_t *at) { return vreinterpretq_s32_u8(vld1q_u8(at)); }
// The masked bits of integers below 2^23 as the low bits of the float 2^23 / unit; a subtraction completes the
// conversion.
INLINE Floats masked(uint32x4_t lanes, uint32x4_t mask, const int unit) {
  const float lift = 8388608.0f / unit;
  uint32x4_t lifted = vbslq_u32(mask, lanes, vreinterpretq_u32_f32(vdupq_n_f32(lift)));
  return vsubq_f32(vreinterpretq_f32_u32(lifted), vdupq_n_f32(lift));
}
INLINE Floats codes_of(Ints bytes, Ints places, Ints masks) {
  uint8x16_t lanes = vqtbl1q_u8(vreinterpretq_u8_s32(bytes), vreinterpretq_u8_s32(places));
  return masked(vreinterpretq_u32_u8(lanes), vreinterpretq_u32_s32(masks), 1);
}
INLINE Ints load_nibbles(const uint8_t *at) {
  u32 four;
  __builtin_memcpy(&four, at, sizeof four);
  return vreinterpretq_s32_u32(vmovl_u16(vget_low_u16(vmovl_u8(vreinterpret_u8_u32(vdup_n_u32(four))))));
}
INLINE Floats lower_nibbles(Ints x) { return masked(vreinterpretq_u32_s32(x), vdupq_n_u32(NIBBLE), 1); }
INLINE Floats upper_nibbles(Ints x) { return masked(vreinterpretq_u32_s32(x), vdupq_n_u32(NIBBLE << 4), 1 << 4); }
#endif

// How a part of a row's codes is read, see ShuffleTables. A part of sixteen channels is two octets: if sixteen bytes do
// not hold both, the second starts `further` bytes later.
typedef struct {
  Ints places, masks;
  Floats slopes, lifts;
  i32 start, further;
} Part;

// The maximum distance of two octets of up to seven bits per code that one shuffle can read.
#define NEAR 7

INLINE Part part_of(const i32 *band, i32 width, i32 at) {
  const i32 *starts = band + 2, *places = starts + width / OCTET, *masks = places + width;
  const float *slopes = (const float *)(masks + width), *lifts = slopes + width;
  Part part = {load_ints(places + at), load_ints(masks + at), load(slopes + at), load(lifts + at), starts[at / OCTET], 0};
#if LANES == 16
  i32 apart = starts[at / OCTET + 1] - part.start;
  if (apart <= NEAR) {
    part.places = _mm512_add_epi8(part.places, _mm512_inserti64x4(_mm512_setzero_si512(), _mm256_set1_epi8((char)apart), 1));
  } else {
    part.further = apart;
  }
#endif
  return part;
}

INLINE Floats decoded(const uint8_t *row, const Part *part, float scale, Floats base, const int far) {
  Ints bytes = load_sixteen(row + part->start);
#if LANES == 16
  if (far) {
    __m128i second = _mm_loadu_si128((const __m128i *)(row + part->start + part->further));
    bytes = _mm512_mask_broadcast_i32x4(bytes, 0xFF00, second);
  }
#else
  (void)far;
#endif
  return fused(fused(codes_of(bytes, part->places, part->masks), part->slopes, part->lifts), all(scale), base);
}

// Positions of a row's codes and of its table row.
typedef struct {
  const uint8_t *codes, *nibbles;
  float scale;
} Row;

// Rows of a page: bands one after another, see CodeBands.
typedef struct {
  const uint8_t *codes;
  i32 width;
  const uint8_t *table;
  i64 table_stride;
  const float *lows, *steps, *scales;
  const i32 *picked;
} Coded;

INLINE i64 band_ints(i32 width) { return 2 + width / OCTET + 4 * (i64)width; }

// The positions of some rows of a band, starting at index first of all rows.
INLINE void take_rows(const Coded *from, const uint8_t *codes, i32 row_bytes, i32 first, i32 count, Row *rows) {
  for (i32 i = 0; i < count; i++) {
    const uint8_t *row = codes + (i64)i * row_bytes;
    rows[i] = (Row){row, from->table + from->picked[first + i] * from->table_stride, from->scales[*row & SCALE_INDEX]};
  }
}

// Prefetches rows of the table, which are scattered, and what follows them: a value's row follows its key's.
INLINE void expect_rows(const Coded *from, i32 first, i32 end) {
  for (i32 i = first; i < end; i++) {
    const uint8_t *row = from->table + from->picked[i] * from->table_stride;
    for (i32 byte = 0; byte < from->width; byte += 64) __builtin_prefetch(row + byte);
  }
}

INLINE float *aligned(float *room) { return (float *)(((uintptr_t)room + 63) & ~(uintptr_t)63); }

// Two parts at the same position of the two halves of the channels.
typedef struct {
  Part x, y;
  Floats x_low, y_low, x_step, y_step;
} Parts;

INLINE Parts parts_of(const Coded *from, const i32 *band, i32 at) {
  i32 width = from->width, other = width / 2 + at;
  return (Parts){part_of(band, width, at), part_of(band, width, other), load(from->lows + at),
                 load(from->lows + other), load(from->steps + at), load(from->steps + other)};
}

// Zero is added even without codes: it makes zeros positive.
INLINE void decode_row(const Row *row, i32 at, const Parts *parts, const int x_coded, const int y_coded, const int far,
                       Floats *x, Floats *y) {
  Ints nibbles = load_nibbles(row->nibbles + at);
  Floats x_base = fused(lower_nibbles(nibbles), parts->x_step, parts->x_low);
  Floats y_base = fused(upper_nibbles(nibbles), parts->y_step, parts->y_low);
  *x = x_coded ? decoded(row->codes, &parts->x, row->scale, x_base, far) : add(x_base, all(0));
  *y = y_coded ? decoded(row->codes, &parts->y, row->scale, y_base, far) : add(y_base, all(0));
}

// Calls something with constants for which of two parts have codes, and whether they are far apart.
#define BY_CODES(parts, something)                        \
  do {                                                    \
    int x_bits = any_bits((parts).x.masks), y_bits = any_bits((parts).y.masks); \
    if ((parts).x.further | (parts).y.further) {          \
      something(1, 1, 1);                                 \
    } else if (x_bits && y_bits) {                        \
      something(1, 1, 0);                                 \
    } else if (x_bits) {                                  \
      something(1, 0, 0);                                 \
    } else if (y_bits) {                                  \
      something(0, 1, 0);                                 \
    } else {                                              \
      something(0, 0, 0);                                 \
    }                                                     \
  } while (0)

// Few enough for their vectors to stay in L1 cache while their parts are computed, even for wide heads.
#define ROWS_TOGETHER 16
#define SCORED_ROWS 8

// Decodes rows of a band to the positions of their tokens, or contiguously and rotated by their tokens.
INLINE void decode_parts(const Row *rows, i32 count, i32 at, i32 half, const Parts *parts, const uint8_t *tokens,
                         const float *cosines, const float *sines, float *out, const int x_coded, const int y_coded,
                         const int far, const int turning) {
  for (i32 i = 0; i < count; i++) {
    Floats x, y;
    decode_row(rows + i, at, parts, x_coded, y_coded, far, &x, &y);
    if (turning) {
      i64 angles = (i64)tokens[i] * half + at;
      float *to = out + (i64)i * 2 * half + at;
      turn_pairs(x, y, load(cosines + angles), load(sines + angles), to, to + half);
    } else {
      float *to = out + (i64)tokens[i] * 2 * half + at;
      store(to, x);
      store(to + half, y);
    }
  }
}

#if LANES == 4
// Narrow registers hold the tables of few channels. Rows are therefore processed one after another. The tables are
// arranged once per band and loaded for every row, early enough and without copies of initial sums.
#define STEP 16                          // channels of a half
#define STEP_VECTORS (STEP / LANES)
#define PANEL_STEPS 8
#define PANEL (STEP * PANEL_STEPS)

// The tables of a step's channels, and of those at the same position of the second half.
typedef struct {
  Floats x_steps[STEP_VECTORS], x_lows[STEP_VECTORS], y_steps[STEP_VECTORS], y_lows[STEP_VECTORS];
  Ints x_places[STEP_VECTORS], x_masks[STEP_VECTORS];
  Floats x_slopes[STEP_VECTORS], x_lifts[STEP_VECTORS];
  Ints y_places[STEP_VECTORS], y_masks[STEP_VECTORS];
  Floats y_slopes[STEP_VECTORS], y_lifts[STEP_VECTORS];
  i32 x_starts[2], y_starts[2], x_coded, y_coded;
} Step;

INLINE i32 lay_codes(const i32 *band, i32 width, i32 at, i32 *starts, Ints *places, Ints *masks, Floats *slopes,
                     Floats *lifts) {
  i32 coded = 0;
  UNROLL for (int v = 0; v < STEP_VECTORS; v++) {
    Part part = part_of(band, width, at + LANES * v);
    places[v] = part.places;
    masks[v] = part.masks;
    slopes[v] = part.slopes;
    lifts[v] = part.lifts;
    starts[v / 2] = part.start;
    coded |= any_bits(part.masks);
  }
  return coded;
}

// The steps of a band from some channel on.
typedef struct {
  Step steps[PANEL_STEPS];
  const i32 *band;
  i32 first;
} Panel;

INLINE void lay_panel(Panel *panel, const Coded *from, const i32 *band, i32 first) {
  if (panel->band == band && panel->first == first) return;
  panel->band = band;
  panel->first = first;
  Step *step = panel->steps;
  i32 width = from->width, half = width / 2, end = half - first < PANEL ? half : first + PANEL;
  for (i32 at = first; at < end; at += STEP, step++) {
    UNROLL for (int v = 0; v < STEP_VECTORS; v++) {
      step->x_steps[v] = load(from->steps + at + LANES * v);
      step->x_lows[v] = load(from->lows + at + LANES * v);
      step->y_steps[v] = load(from->steps + half + at + LANES * v);
      step->y_lows[v] = load(from->lows + half + at + LANES * v);
    }
    step->x_coded = lay_codes(band, width, at, step->x_starts, step->x_places, step->x_masks, step->x_slopes,
                              step->x_lifts);
    step->y_coded = lay_codes(band, width, half + at, step->y_starts, step->y_places, step->y_masks, step->y_slopes,
                              step->y_lifts);
  }
}

// Expands four of sixteen bytes to lanes.
INLINE Ints spread_bytes(uint8x16_t bytes, const int from) {
  const u32 above = 0xFFFFFF00u;
  const uint32x4_t places = {above | from, above | (from + 1), above | (from + 2), above | (from + 3)};
  return vreinterpretq_s32_u8(vqtbl1q_u8(bytes, vreinterpretq_u8_u32(places)));
}

INLINE void decode_step(const Step *step, const Row *row, i32 at, const i64 half, const float *cosines,
                        const float *sines, float *out, const int x_coded, const int y_coded) {
  uint8x16_t nibbles = vld1q_u8(row->nibbles + at);
  Ints x_bytes[2], y_bytes[2];
  UNROLL for (int i = 0; i < 2; i++) {
    if (x_coded) x_bytes[i] = load_sixteen(row->codes + step->x_starts[i]);
    if (y_coded) y_bytes[i] = load_sixteen(row->codes + step->y_starts[i]);
  }
  UNROLL for (int v = 0; v < STEP_VECTORS; v++) {
    Ints four = spread_bytes(nibbles, LANES * v);
    Floats x = fused(lower_nibbles(four), step->x_steps[v], step->x_lows[v]);
    Floats y = fused(upper_nibbles(four), step->y_steps[v], step->y_lows[v]);
    if (x_coded) {
      Floats codes = codes_of(x_bytes[v / 2], step->x_places[v], step->x_masks[v]);
      x = fused(fused(codes, step->x_slopes[v], step->x_lifts[v]), all(row->scale), x);
    } else {
      x = add(x, all(0));
    }
    if (y_coded) {
      Floats codes = codes_of(y_bytes[v / 2], step->y_places[v], step->y_masks[v]);
      y = fused(fused(codes, step->y_slopes[v], step->y_lifts[v]), all(row->scale), y);
    } else {
      y = add(y, all(0));
    }
    float *to = out + at + LANES * v;
    turn_pairs(x, y, load(cosines + at + LANES * v), load(sines + at + LANES * v), to, to + half);
  }
}

INLINE void decode_one(const Step *step, const Row *row, i32 first, const i32 end, const i64 half,
                       const float *cosines, const float *sines, float *out) {
  for (i32 at = first; at < end; at += STEP, step++) {
#define DECODE(x, y) decode_step(step, row, at, half, cosines, sines, out, x, y)
    if (step->x_coded && step->y_coded) {
      DECODE(1, 1);
    } else if (step->x_coded) {
      DECODE(1, 0);
    } else if (step->y_coded) {
      DECODE(0, 1);
    } else {
      DECODE(0, 0);
    }
#undef DECODE
  }
}

// Decodes channels of some rows of a band from the panel's first on, row after row, rotated by their tokens.
INLINE void decode_panel(const Panel *panel, const Row *rows, i32 count, const uint8_t *tokens, const i32 end,
                         const i64 half, const float *cosines, const float *sines, float *out) {
  for (i32 i = 0; i < count; i++) {
    i64 angles = tokens[i] * half;
    decode_one(panel->steps, rows + i, panel->first, end, half, cosines + angles, sines + angles, out + i * 2 * half);
  }
}

INLINE void decode_by_row(const Coded *from, const i32 *band, Panel *panel, const Row *rows, i32 count,
                          const uint8_t *tokens, const float *cosines, const float *sines, float *out) {
  i32 half = from->width / 2;
  if (half == 32) {
    lay_panel(panel, from, band, 0);
    decode_panel(panel, rows, count, tokens, 32, 32, cosines, sines, out);
    return;
  }
  for (i32 first = 0; first < half; first += PANEL) {
    lay_panel(panel, from, band, first);
    i32 end = half - first < PANEL ? half : first + PANEL;
    decode_panel(panel, rows, count, tokens, end, half, cosines, sines, out);
  }
}
#endif

INLINE void decode_some(const Coded *from, const i32 *band, const Row *rows, i32 count, const uint8_t *tokens,
                        const float *cosines, const float *sines, float *out, const int turning) {
  i32 half = from->width / 2;
  for (i32 at = 0; at < half; at += LANES) {
    Parts parts = parts_of(from, band, at);
#define DECODE(x, y, far) decode_parts(rows, count, at, half, &parts, tokens, cosines, sines, out, x, y, far, turning)
    BY_CODES(parts, DECODE);
#undef DECODE
  }
}

// tokens (rows of all bands), picked by row, out (rows, width), by token; width is a multiple of 32
EXPORT void KERNEL(decode)(const i32 *bands, i32 band_count, const float *lows, const float *steps, const float *scales,
                           const uint8_t *tokens, const i32 *picked, float *out, const uint8_t *source, i64 offset,
                           i32 width, const uint8_t *table, i32 table_stride) {
  const Coded from = {source + offset, width, table, table_stride, lows, steps, scales, picked};
  const uint8_t *codes = from.codes;
  Row rows[ROWS_TOGETHER];
  i32 row = 0;
  for (i32 band = 0; band < band_count; band++, bands += band_ints(width)) {
    for (i32 end = row + bands[0], some; row < end; row += some, codes += (i64)some * bands[1]) {
      some = end - row < ROWS_TOGETHER ? end - row : ROWS_TOGETHER;
      take_rows(&from, codes, bands[1], row, some, rows);
      decode_some(&from, bands, rows, some, tokens + row, 0, 0, out, 0);
    }
  }
}

// c[i][tokens[j]] = a[i] . b[j], for a few rows b; c (rows, page tokens)
INLINE void score_rows(const float *a, i32 a_rows, const float *b, i32 count, i64 width, const uint8_t *tokens,
                       float *c, i64 c_stride) {
  float sums[SCORED_ROWS * ROWS_TOGETHER];
  for (i32 i = 0; i < a_rows; i += SCORED_ROWS) {
    i32 rows = a_rows - i < SCORED_ROWS ? a_rows - i : SCORED_ROWS;
    products(a + i * width, width, rows, b, width, count, width, sums, ROWS_TOGETHER);
    for (i32 k = 0; k < rows; k++) {
      for (i32 j = 0; j < count; j++) c[(i + k) * c_stride + tokens[j]] = sums[k * ROWS_TOGETHER + j];
    }
  }
}

#if LANES == 16
#include "keyrows_avx512.h"
#endif

// a (a_rows, width), cosines and sines (tokens, width / 2), c (a_rows, rows of all bands), scratch memory for 16 rows
EXPORT void KERNEL(decoded_products)(const i32 *bands, i32 band_count, const float *lows, const float *steps,
                                     const float *scales, const uint8_t *tokens, const i32 *picked,
                                     const float *cosines, const float *sines, const float *a, i32 a_rows, float *room,
                                     float *c, i32 c_stride, const uint8_t *source, i64 offset, i32 width,
                                     const uint8_t *table, i32 table_stride) {
  const Coded from = {source + offset, width, table, table_stride, lows, steps, scales, picked};
#if LANES == 16
  if (are_whole_rounds(bands, band_count, width, a_rows)) {
    const KeyProducts to = {tokens, cosines, sines, c_stride, bytes_of_bands(bands, band_count, width)};
    if (width == 64) {
      multiply_bands(&from, bands, band_count, &to, a, 4, aligned(room), c);
    } else {
      multiply_bands(&from, bands, band_count, &to, a, 8, aligned(room), c);
    }
    return;
  }
#endif
  const uint8_t *codes = from.codes;
  float *vectors = aligned(room);
  Row rows[ROWS_TOGETHER];
#if LANES == 4
  Panel panel;
  panel.band = 0;
#endif
  i32 row = 0;
  for (i32 band = 0; band < band_count; band++, bands += band_ints(width)) {
    for (i32 end = row + bands[0], some; row < end; row += some, codes += (i64)some * bands[1]) {
      some = end - row < ROWS_TOGETHER ? end - row : ROWS_TOGETHER;
      i32 next = row + some, after = c_stride - next < ROWS_TOGETHER ? c_stride - next : ROWS_TOGETHER;
      expect_rows(&from, next, next + after);
      take_rows(&from, codes, bands[1], row, some, rows);
#if LANES == 4
      decode_by_row(&from, bands, &panel, rows, some, tokens + row, cosines, sines, vectors);
#else
      decode_some(&from, bands, rows, some, tokens + row, cosines, sines, vectors, 1);
#endif
      score_rows(a, a_rows, vectors, some, width, tokens + row, c, c_stride);
    }
  }
}

// Assigns the next row of a class to a token.
INLINE void order_row(i32 row, i32 token, const i32 *row_of_id, i32 known, const uint8_t *ids, uint8_t *tokens,
                      i32 *picked) {
  tokens[row] = (uint8_t)token;
  picked[row] = 0;
  if (known) {
    u32 id;
    __builtin_memcpy(&id, ids + sizeof id * token, sizeof id);
    picked[row] = row_of_id[id < (u32)known ? id : 0];
  }
}

// The order of 128 rows in three classes and the table row of each. Whatever the bits are, each index is that of a row.
EXPORT void KERNEL(order_rows)(const i32 *row_of_id, i32 known, uint8_t *tokens, i32 *picked, const uint8_t *classes,
                               i64 classes_at, const uint8_t *ids, i64 ids_at) {
  uint64_t bits[3];
  __builtin_memcpy(bits, classes + classes_at, sizeof bits);
  uint64_t last = bits[2];
  i32 first_row = 0, middle_row = ORDERED_ROWS - __builtin_popcountll(bits[0]) - __builtin_popcountll(bits[1]);
  i32 last_row = ORDERED_ROWS - __builtin_popcountll(last);
  for (i32 half = 0; half < 2; half++) {
    for (uint64_t left = ~bits[half]; left; left &= left - 1) {
      order_row(first_row++, 64 * half + __builtin_ctzll(left), row_of_id, known, ids + ids_at, tokens, picked);
    }
    // Without a branch, since the two classes alternate at random.
    for (uint64_t left = bits[half]; left; left &= left - 1, last >>= 1) {
      i32 is_last = (i32)last & 1, row = middle_row + (-is_last & (last_row - middle_row));
      order_row(row, 64 * half + __builtin_ctzll(left), row_of_id, known, ids + ids_at, tokens, picked);
      last_row += is_last;
      middle_row += 1 - is_last;
    }
  }
}

#define GATHERED_AHEAD 8

// source (rows, stride) of halves, out (end, width)
EXPORT void KERNEL(gather)(const i32 *picked, float *out, const uint8_t *source, i64 offset, i32 stride, i32 first,
                           i32 end, i32 width) {
  for (i32 token = first; token < end; token++) {
    const uint8_t *row = source + offset + (i64)sizeof(uint16_t) * stride * picked[token];
    if (token + GATHERED_AHEAD < end) {
      const uint8_t *soon = source + offset + (i64)sizeof(uint16_t) * stride * picked[token + GATHERED_AHEAD];
      for (i32 byte = 0; byte < 2 * width; byte += 64) __builtin_prefetch(soon + byte);
    }
    expand((const uint16_t *)row, out + (i64)token * width, width, 0);
  }
}

// rows (end, x and y, pairs), cosines and sines (end, pairs)
EXPORT void KERNEL(turn_each)(float *rows, i32 first, i32 end, i32 pairs, const float *cosines, const float *sines) {
  for (i32 row = first; row < end; row++) {
    float *x = rows + (i64)row * 2 * pairs, *y = x + pairs;
    const float *cos = cosines + (i64)row * pairs, *sin = sines + (i64)row * pairs;
    i32 i = 0;
    for (; i + LANES <= pairs; i += LANES) {
      turn_pairs(load(x + i), load(y + i), load(cos + i), load(sin + i), x + i, y + i);
    }
    for (; i < pairs; i++) {
      float left = x[i], right = y[i];
      x[i] = fused1(-right, sin[i], left * cos[i]);
      y[i] = fused1(left, sin[i], right * cos[i]);
    }
  }
}
