// Rows of codes of many widths; each function's twin has the same name in ScalarRowCodes.
//
// Channels go by in parts, as many as a vector has lanes. A part of sixteen is two octets, as the nibbles of a table's
// row lie: eight channels of the first half and the same of the second.
#include "patterns.h"

#define OCTET 8
#define NIBBLE 15
#define SCALE_INDEX 7

// What a RowCodes knows of its channels; CodeOctets says how they are read.
typedef struct {
  const i32 *starts;
  const uint8_t *places;
  const i32 *masks;
  const float *powers, *lifts, *halves;
} Codes;

#if LANES == 16
typedef __m512i Ints;
INLINE i32 first_channel(i32 part) { return part * OCTET; }
INLINE Floats load_part(const float *at, i32 half) {
  return _mm512_insertf32x8(_mm512_castps256_ps512(_mm256_loadu_ps(at)), _mm256_loadu_ps(at + half), 1);
}
INLINE Ints load_ints(const i32 *at, i32 half) { return _mm512_castps_si512(load_part((const float *)at, half)); }
INLINE void store_part(float *to, i32 half, Floats x) {
  _mm256_storeu_ps(to, _mm512_castps512_ps256(x));
  _mm256_storeu_ps(to + half, _mm512_extractf32x8_ps(x, 1));
}
INLINE int any_bits(Ints masks) { return _mm512_test_epi32_mask(masks, masks) != 0; }
INLINE Floats codes_of(const uint8_t *first, const uint8_t *second, Ints places, Ints masks) {
  __m512i bytes = _mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i *)first));
  bytes = _mm512_mask_broadcast_i32x4(bytes, 0xFF00, _mm_loadu_si128((const __m128i *)second));
  return _mm512_cvtepi32_ps(_mm512_and_si512(_mm512_shuffle_epi8(bytes, places), masks));
}
// How far the nibbles of a part lie above the lowest bit.
INLINE Ints nibble_shifts(i32 part, i32 half) {
  (void)part, (void)half;
  return _mm512_inserti32x8(_mm512_setzero_si512(), _mm256_set1_epi32(4), 1);
}
INLINE Floats nibbles_of(const uint8_t *at, Ints shifts) {
  __m512i bytes = _mm512_cvtepu8_epi32(_mm_castpd_si128(_mm_loaddup_pd((const double *)at)));
  return _mm512_cvtepi32_ps(_mm512_and_si512(_mm512_srlv_epi32(bytes, shifts), _mm512_set1_epi32(NIBBLE)));
}

#elif LANES == 8
typedef __m256i Ints;
INLINE i32 first_channel(i32 part) { return part * OCTET; }
INLINE Floats load_part(const float *at, i32 half) {
  (void)half;
  return load(at);
}
INLINE Ints load_ints(const i32 *at, i32 half) { return _mm256_castps_si256(load_part((const float *)at, half)); }
INLINE void store_part(float *to, i32 half, Floats x) {
  (void)half;
  store(to, x);
}
INLINE int any_bits(Ints masks) { return !_mm256_testz_si256(masks, masks); }
INLINE Floats codes_of(const uint8_t *first, const uint8_t *second, Ints places, Ints masks) {
  (void)second;
  __m256i bytes = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)first));
  return _mm256_cvtepi32_ps(_mm256_and_si256(_mm256_shuffle_epi8(bytes, places), masks));
}
INLINE Ints nibble_shifts(i32 part, i32 half) { return _mm256_set1_epi32(first_channel(part) < half ? 0 : 4); }
INLINE Floats nibbles_of(const uint8_t *at, Ints shifts) {
  __m256i bytes = _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)at));
  return _mm256_cvtepi32_ps(_mm256_and_si256(_mm256_srlv_epi32(bytes, shifts), _mm256_set1_epi32(NIBBLE)));
}

#else
typedef int32x4_t Ints;
INLINE i32 first_channel(i32 part) { return part * LANES; }
INLINE Floats load_part(const float *at, i32 half) {
  (void)half;
  return load(at);
}
INLINE Ints load_ints(const i32 *at, i32 half) {
  (void)half;
  return vld1q_s32(at);
}
INLINE void store_part(float *to, i32 half, Floats x) {
  (void)half;
  store(to, x);
}
INLINE int any_bits(Ints masks) { return vmaxvq_u32(vreinterpretq_u32_s32(masks)) != 0; }
INLINE Floats codes_of(const uint8_t *first, const uint8_t *second, Ints places, Ints masks) {
  (void)second;
  uint8x16_t lanes = vqtbl1q_u8(vld1q_u8(first), vreinterpretq_u8_s32(places));
  return vcvtq_f32_s32(vandq_s32(vreinterpretq_s32_u8(lanes), masks));
}
// To the right, that is below zero.
INLINE Ints nibble_shifts(i32 part, i32 half) { return vdupq_n_s32(first_channel(part) < half ? 0 : -4); }
INLINE Floats nibbles_of(const uint8_t *at, Ints shifts) {
  u32 four;
  __builtin_memcpy(&four, at, sizeof four);
  uint32x4_t bytes = vmovl_u16(vget_low_u16(vmovl_u8(vreinterpret_u8_u32(vdup_n_u32(four)))));
  return vcvtq_f32_u32(vandq_u32(vshlq_u32(bytes, shifts), vdupq_n_u32(NIBBLE)));
}
#endif

// Where a row's codes, its row of the table and its token's vector lie.
typedef struct {
  const uint8_t *codes, *nibbles;
  float *to;
  float scale;
} Row;

// So few that the vectors of wide heads stay in the first cache while their parts come.
#define ROWS_TOGETHER 16

// A part of some rows: what is the same for all of them stays in registers.
INLINE void decode_part(const Row *rows, i32 count, i32 part, i32 half, const Codes *codes, const float *lows,
                        const float *steps) {
  i32 at = first_channel(part);
  Ints places = load_ints((const i32 *)codes->places + at, half), masks = load_ints(codes->masks + at, half);
  Floats powers = load_part(codes->powers + at, half), lifts = load_part(codes->lifts + at, half);
  Floats halves = load_part(codes->halves + at, half);
  Floats low = load_part(lows + at, half), step = load_part(steps + at, half);
  Ints shifts = nibble_shifts(part, half);
  i32 nibble = at < half ? at : at - half;
  i32 first = codes->starts[at / OCTET], second = LANES > OCTET ? codes->starts[(at + half) / OCTET] : 0;
  if (any_bits(masks)) {
    for (i32 i = 0; i < count; i++) {
      const Row *row = rows + i;
      Floats base = fused(nibbles_of(row->nibbles + nibble, shifts), step, low);
      Floats whole = fused(codes_of(row->codes + first, row->codes + second, places, masks), powers, lifts);
      store_part(row->to + at, half, fused(multiply(whole, halves), all(row->scale), base));
    }
  } else {
    // Zero is added as everywhere: it makes zeros positive.
    for (i32 i = 0; i < count; i++) {
      Floats base = fused(nibbles_of(rows[i].nibbles + nibble, shifts), step, low);
      store_part(rows[i].to + at, half, add(base, all(0)));
    }
  }
}

// tokens (count), picked by token, table (..., width / 2), out (tokens, width); width is a multiple of 16
EXPORT void KERNEL(decode)(const uint8_t *source, i64 offset, i32 row_bytes, const uint8_t *tokens, i32 from,
                           i32 count, i32 width, const i32 *starts, const uint8_t *places, const i32 *masks,
                           const float *powers, const float *lifts, const float *halves, const float *scales,
                           const uint8_t *table, const float *lows, const float *steps, const i32 *picked,
                           float *out) {
  const Codes codes = {starts, places, masks, powers, lifts, halves};
  i32 half = width / 2;
  Row rows[ROWS_TOGETHER];
  for (i32 first = 0; first < count; first += ROWS_TOGETHER) {
    i32 some = count - first < ROWS_TOGETHER ? count - first : ROWS_TOGETHER;
    for (i32 i = 0; i < some; i++) {
      i32 token = tokens[from + first + i];
      const uint8_t *row = source + offset + (i64)(first + i) * row_bytes;
      rows[i] = (Row){row, table + (i64)picked[token] * half, out + (i64)token * width, scales[*row & SCALE_INDEX]};
    }
    for (i32 part = 0; part < width / LANES; part++) decode_part(rows, some, part, half, &codes, lows, steps);
  }
}

// source (rows, stride) of halves, out (end, width)
EXPORT void KERNEL(gather)(const uint8_t *source, i64 offset, i32 stride, const i32 *picked, i32 first, i32 end,
                           i32 width, float *out) {
  for (i32 token = first; token < end; token++) {
    const uint8_t *row = source + offset + (i64)sizeof(uint16_t) * stride * picked[token];
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
