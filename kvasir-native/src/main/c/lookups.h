// Sums over packed codes by table look-ups. The twin is ScalarLookups; LookupTables and PlaneLayout say what lies where.
#include "vectors.h"

typedef uint8_t Bytes16 __attribute__((ext_vector_type(16)));
typedef uint16_t Shorts16 __attribute__((ext_vector_type(16)));

#define TOGETHER 64       // quads whose weights are fixed together
#define SUMS 16           // subset sums of a quad
#define ROW_TABLES 32     // bytes of the two tables that a row of codes looks up in
#define LOOKUP_TILE 32    // lanes of a tile
#define STEPS 85          // the largest entry of a table
#define FIXED_BITS 8
#define FINE_BITS 6
#define LEAST_LARGEST 1e-30f

// ---- tables

INLINE float magnitudes(const float *w, i64 quads) {
  float lower = __builtin_fabsf(w[0]) + __builtin_fabsf(w[quads]);
  return lower + (__builtin_fabsf(w[2 * quads]) + __builtin_fabsf(w[3 * quads]));
}

INLINE float quad_sum(const float *w, i64 quads) { return (w[0] + w[quads]) + (w[2 * quads] + w[3 * quads]); }

// Largest sum of magnitudes and the sum of all weights, which is kept in four parts.
INLINE void survey(const float *w, i64 quads, float *largest, float *sum) {
  float most[4] = {0}, parts[4] = {0};
  i64 c = 0;
  for (; c + 4 <= quads; c += 4) {
    UNROLL for (int lane = 0; lane < 4; lane++) {
      float size = magnitudes(w + c + lane, quads);
      most[lane] = size > most[lane] ? size : most[lane];
      parts[lane] += quad_sum(w + c + lane, quads);
    }
  }
  *largest = 0;
  *sum = 0;
  UNROLL for (int lane = 0; lane < 4; lane++) {
    *largest = most[lane] > *largest ? most[lane] : *largest;
    *sum += parts[lane];
  }
  for (; c < quads; c++) {
    float size = magnitudes(w + c, quads);
    *largest = size > *largest ? size : *largest;
    *sum += quad_sum(w + c, quads);
  }
}

INLINE i32 fixed_steps(float weight, float scale) {
  float lifted = weight * scale + 12582912.0f;
  i32 bits;
  __builtin_memcpy(&bits, &lifted, 4);
  return bits - 0x4B400000;
}

// A number twice in 32 bits: vectors are filled with 32 bits of memory at no cost, but not with 16.
INLINE u32 twice(i32 number) { return (u32)number << 16 | ((u32)number & 0xFFFF); }

INLINE Shorts16 everywhere(u32 number) {
  typedef u32 Words8 __attribute__((ext_vector_type(8)));
  return (Shorts16)(Words8)number;
}

INLINE void fix(const float *w, i64 quads, i64 count, float scale, i32 rounding, u32 numbers[5][TOGETHER]) {
  for (i64 c = 0; c < count; c++) {
    i32 s0 = fixed_steps(w[c], scale), s1 = fixed_steps(w[c + quads], scale);
    i32 s2 = fixed_steps(w[c + 2 * quads], scale), s3 = fixed_steps(w[c + 3 * quads], scale);
    i32 below = (s0 < 0 ? s0 : 0) + (s1 < 0 ? s1 : 0) + (s2 < 0 ? s2 : 0) + (s3 < 0 ? s3 : 0);
    numbers[0][c] = twice(s0);
    numbers[1][c] = twice(s1);
    numbers[2][c] = twice(s2);
    numbers[3][c] = twice(s3);
    numbers[4][c] = twice(rounding - below);
  }
}

INLINE void store_bytes(uint8_t *to, Bytes16 bytes) { __builtin_memcpy(to, &bytes, 16); }

// pairs: quad | T | 2 T;  singles: quad | T
INLINE void store_tables(uint8_t *pairs, uint8_t *singles, i64 quad, Bytes16 entries) {
  store_bytes(pairs + quad * ROW_TABLES, entries);
  store_bytes(pairs + quad * ROW_TABLES + SUMS, entries + entries);
  store_bytes(singles + quad * SUMS, entries);
}

INLINE i32 total_of(Shorts16 sums) {
  i32 total = 0;
  UNROLL for (int i = 0; i < 16; i++) total += sums[i];
  return total;
}

// Tables of one head; fine is null where one digit is enough. Answers the sums of all entries.
INLINE void fill_tables(const float *w, i64 quads, float scale, uint8_t *coarse, uint8_t *coarse_singles,
                        uint8_t *fine, uint8_t *fine_singles, i32 *coarse_total, i32 *fine_total) {
  const Shorts16 has0 = {0, -1, 0, -1, 0, -1, 0, -1, 0, -1, 0, -1, 0, -1, 0, -1};
  const Shorts16 has1 = {0, 0, -1, -1, 0, 0, -1, -1, 0, 0, -1, -1, 0, 0, -1, -1};
  const Shorts16 has2 = {0, 0, 0, 0, -1, -1, -1, -1, 0, 0, 0, 0, -1, -1, -1, -1};
  const Shorts16 has3 = {0, 0, 0, 0, 0, 0, 0, 0, -1, -1, -1, -1, -1, -1, -1, -1};
  i32 rounding = fine ? 1 << (FIXED_BITS - FINE_BITS - 1) : 1 << (FIXED_BITS - 1);
  Shorts16 coarse_sums = 0, fine_sums = 0;
  u32 numbers[5][TOGETHER]; // four weights of each quad, and where its subset sums begin
  for (i64 first = 0; first < quads; first += TOGETHER) {
    i64 count = quads - first < TOGETHER ? quads - first : TOGETHER;
    fix(w + first, quads, count, scale, rounding, numbers);
    for (i64 c = 0; c < count; c++) {
      Shorts16 sums = everywhere(numbers[4][c]);
      sums += has0 & everywhere(numbers[0][c]);
      sums += has1 & everywhere(numbers[1][c]);
      sums += has2 & everywhere(numbers[2][c]);
      sums += has3 & everywhere(numbers[3][c]);
      Shorts16 entries = sums >> FIXED_BITS;
      coarse_sums += entries;
      store_tables(coarse, coarse_singles, first + c, __builtin_convertvector(entries, Bytes16));
      if (fine) {
        Shorts16 rest = (sums >> (FIXED_BITS - FINE_BITS)) & (Shorts16)((1 << FINE_BITS) - 1);
        fine_sums += rest;
        store_tables(fine, fine_singles, first + c, __builtin_convertvector(rest, Bytes16));
      }
    }
  }
  *coarse_total = total_of(coarse_sums);
  *fine_total = total_of(fine_sums);
}

// weights: (heads, 4 quads), rows a stride apart. Tables lie table_bytes apart, those of the second digit after those
// of the first of all heads; their singles begin singles_at bytes after them.
// sums: (heads, 2): the largest sum of magnitudes, the sum of weights; totals: (heads, 2), of first and second digits.
EXPORT void KERNEL(build_tables)(const float *weights, i32 at, i32 stride, i32 heads, i32 quads, i32 exact,
                                 uint8_t *tables, i32 table_bytes, i32 singles_at, float *sums, i32 *totals) {
  for (i64 head = 0; head < heads; head++) {
    const float *w = weights + at + head * stride;
    float largest;
    survey(w, quads, &largest, sums + 2 * head + 1);
    sums[2 * head] = largest;
    float scale = largest < LEAST_LARGEST ? 0 : (STEPS << FIXED_BITS) / largest;
    uint8_t *coarse = tables + head * table_bytes;
    uint8_t *fine = tables + (heads + head) * table_bytes;
    if (exact) {
      fill_tables(w, quads, scale, coarse, coarse + singles_at, fine, fine + singles_at, totals + 2 * head,
                  totals + 2 * head + 1);
    } else {
      fill_tables(w, quads, scale, coarse, coarse + singles_at, 0, 0, totals + 2 * head, totals + 2 * head + 1);
    }
  }
}

// ---- look-ups
//
// Sums of a table for the lanes of a tile are 16-bit numbers while the rows of a pair of planes are read, and then
// added to 32-bit ones. Within sixteen lanes byte b belongs to lane (b & 3) * 4 + (b >> 2): bytes 0 4 8 12 are lanes
// 0 to 3, and so on, so that masks and shifts of 32-bit lanes put them in order.

// Tables that look up together, as many as have their sums in registers.
#if LANES == 8
#define MOST_TABLES 4
#else
#define MOST_TABLES 8
#endif

#if LANES == 4
typedef struct {
  uint16x8_t low, high;   // bytes 0..7, 8..15
} Sums16;

INLINE void look_up(Sums16 *sums, const uint8_t *table, uint8x16_t low_nibbles, uint8x16_t high_nibbles) {
  uint8x16_t first = vqtbl1q_u8(vld1q_u8(table), low_nibbles);
  uint8x16_t found = vaddq_u8(first, vqtbl1q_u8(vld1q_u8(table + SUMS), high_nibbles));
  sums->low = vaddw_u8(sums->low, vget_low_u8(found));
  sums->high = vaddw_high_u8(sums->high, found);
}

// Rows of sixteen lanes, row_bytes apart, for a few tables; adds to totals: (tables, 32), in the order of lanes.
INLINE void look_up_rows(const uint8_t *codes, i64 row_bytes, i64 rows, const uint8_t *tables, i64 table_bytes,
                         const int count, const int shift, i32 *totals) {
  Sums16 sums[MOST_TABLES];
  UNROLL for (int t = 0; t < count; t++) sums[t].low = sums[t].high = vdupq_n_u16(0);
  for (i64 row = 0; row < rows; row++) {
    uint8x16_t bytes = vld1q_u8(codes + row * row_bytes);
    uint8x16_t low = vandq_u8(bytes, vdupq_n_u8(15)), high = vshrq_n_u8(bytes, 4);
    UNROLL for (int t = 0; t < count; t++) look_up(&sums[t], tables + t * table_bytes + row * ROW_TABLES, low, high);
  }
  UNROLL for (int t = 0; t < count; t++) {
    // Bytes 0 4 8 12, then 1 5 9 13 ...: of two vectors of eight, every fourth.
    uint16x8_t even = vuzp1q_u16(sums[t].low, sums[t].high), odd = vuzp2q_u16(sums[t].low, sums[t].high);
    uint16x8_t first = vuzp1q_u16(even, odd), second = vuzp2q_u16(even, odd);
    i32 *to = totals + t * LOOKUP_TILE;
    int32x4_t by = vdupq_n_s32(shift);
    uint16x4_t parts[4] = {vget_low_u16(first), vget_high_u16(first), vget_low_u16(second), vget_high_u16(second)};
    UNROLL for (int part = 0; part < 4; part++) {
      int32x4_t wide = vreinterpretq_s32_u32(vmovl_u16(parts[part]));
      vst1q_s32(to + 4 * part, vaddq_s32(vld1q_s32(to + 4 * part), vshlq_s32(wide, by)));
    }
  }
}
#else
// Pairs of bytes are added whole, as 16-bit numbers that wrap, and their odd bytes once more: what even bytes add up to
// is then the first less 256 times the second.
typedef struct {
  __m256i pairs, odd;
} Sums16;

INLINE __m256i both_halves(const uint8_t *at) { return _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)at)); }

INLINE void look_up(Sums16 *sums, const uint8_t *table, __m256i low_nibbles, __m256i high_nibbles) {
  __m256i first = _mm256_shuffle_epi8(both_halves(table), low_nibbles);
  __m256i found = _mm256_add_epi8(first, _mm256_shuffle_epi8(both_halves(table + SUMS), high_nibbles));
  sums->pairs = _mm256_add_epi16(sums->pairs, found);
  sums->odd = _mm256_add_epi16(sums->odd, _mm256_srli_epi16(found, 8));
}

INLINE void add_lanes(i32 *to, __m256i wide, const int halves, const int shift) {
  __m256i shifted = _mm256_slli_epi32(wide, shift);
  __m128i *first = (__m128i *)to, *second = (__m128i *)(to + 16);
  _mm_storeu_si128(first, _mm_add_epi32(_mm_loadu_si128(first), _mm256_castsi256_si128(shifted)));
  if (halves == 2) {
    _mm_storeu_si128(second, _mm_add_epi32(_mm_loadu_si128(second), _mm256_extracti128_si256(shifted, 1)));
  }
}

// Rows of sixteen lanes, or of twice sixteen.
INLINE void look_up_rows(const uint8_t *codes, i64 row_bytes, i64 rows, const uint8_t *tables, i64 table_bytes,
                         const int count, const int shift, const int halves, i32 *totals) {
  Sums16 sums[MOST_TABLES];
  const __m256i low_bits = _mm256_set1_epi8(15), low_half = _mm256_set1_epi32(0xFFFF);
  UNROLL for (int t = 0; t < count; t++) sums[t].pairs = sums[t].odd = _mm256_setzero_si256();
  for (i64 row = 0; row < rows; row++) {
    const __m128i *at = (const __m128i *)(codes + row * row_bytes);
    __m256i bytes = halves == 2 ? _mm256_loadu_si256((const __m256i *)at) : _mm256_castsi128_si256(_mm_loadu_si128(at));
    __m256i low = _mm256_and_si256(bytes, low_bits), high = _mm256_and_si256(_mm256_srli_epi16(bytes, 4), low_bits);
    UNROLL for (int t = 0; t < count; t++) look_up(&sums[t], tables + t * table_bytes + row * ROW_TABLES, low, high);
  }
  UNROLL for (int t = 0; t < count; t++) {
    i32 *to = totals + t * LOOKUP_TILE;
    __m256i even = _mm256_sub_epi16(sums[t].pairs, _mm256_slli_epi16(sums[t].odd, 8));
    add_lanes(to, _mm256_and_si256(even, low_half), halves, shift);
    add_lanes(to + 4, _mm256_and_si256(sums[t].odd, low_half), halves, shift);
    add_lanes(to + 8, _mm256_srli_epi32(even, 16), halves, shift);
    add_lanes(to + 12, _mm256_srli_epi32(sums[t].odd, 16), halves, shift);
  }
}
#endif

// The rows of a tile, of sixteen lanes or of twice sixteen.
INLINE void look_up_tile(const uint8_t *codes, i32 lanes, i64 rows, const uint8_t *tables, i64 table_bytes,
                         const int count, int shift, i32 *totals) {
#if LANES == 4
  for (i32 lane = 0; lane < lanes; lane += 16) {
    look_up_rows(codes + lane, lanes, rows, tables, table_bytes, count, shift, totals + lane);
  }
#else
  if (lanes == LOOKUP_TILE) {
    look_up_rows(codes, lanes, rows, tables, table_bytes, count, shift, 2, totals);
  } else {
    look_up_rows(codes, lanes, rows, tables, table_bytes, count, shift, 1, totals);
  }
#endif
}

// All planes of a tile for a few tables. Pairs of planes come first, two quads share a byte of a single one.
INLINE void look_up_planes(const uint8_t *codes, i32 lanes, i64 quads, i32 bits, const uint8_t *tables, i64 table_bytes,
                           i64 singles_at, const int count, i32 *totals) {
  i64 pairs = bits / 2;
  for (i64 pair = 0; pair < pairs; pair++) {
    look_up_tile(codes + pair * quads * lanes, lanes, quads, tables, table_bytes, count, 2 * (int)pair, totals);
  }
  if (bits % 2) {
    look_up_tile(codes + pairs * quads * lanes, lanes, (quads + 1) / 2, tables + singles_at, table_bytes, count,
                 2 * (int)pairs, totals);
  }
}

INLINE void add_floats(const i32 *coarse, const i32 *fine, i32 lanes, float unit, float constant, float *out) {
  for (i32 lane = 0; lane < lanes; lane++) {
    i32 sum = fine ? (coarse[lane] << FINE_BITS) + fine[lane] : coarse[lane];
    out[lane] += fused1((float)sum, unit, constant);
  }
}

// out[h][lane - 32 first_tile] += unit[h] * sum + constant[h], for the lanes of some tiles
EXPORT void KERNEL(look_up)(const uint8_t *codes, i64 offset, i32 all_lanes, i32 quads, i32 bits, i32 first_tile,
                            i32 end_tile, const uint8_t *tables, i32 table_bytes, i32 singles_at, i32 heads, i32 exact,
                            const float *units, const float *constants, float *out, i32 out_at, i32 out_stride) {
  i32 count = exact ? 2 * heads : heads;
  i64 lane_bytes = (i64)quads * (bits / 2) + (bits % 2 ? (quads + 1) / 2 : 0);
  i32 totals[16 * LOOKUP_TILE];
  for (i32 tile = first_tile; tile < end_tile; tile++) {
    i32 left = all_lanes - tile * LOOKUP_TILE, lanes = left < LOOKUP_TILE ? left : LOOKUP_TILE;
    const uint8_t *from = codes + offset + tile * LOOKUP_TILE * lane_bytes;
    for (i32 i = 0; i < count * LOOKUP_TILE; i++) totals[i] = 0;
    i32 table = 0;
#if MOST_TABLES > 4
    for (; table + 8 <= count; table += 8) {
      look_up_planes(from, lanes, quads, bits, tables + (i64)table * table_bytes, table_bytes, singles_at, 8,
                     totals + table * LOOKUP_TILE);
    }
#endif
    for (; table + 4 <= count; table += 4) {
      look_up_planes(from, lanes, quads, bits, tables + (i64)table * table_bytes, table_bytes, singles_at, 4,
                     totals + table * LOOKUP_TILE);
    }
    for (; table + 2 <= count; table += 2) {
      look_up_planes(from, lanes, quads, bits, tables + (i64)table * table_bytes, table_bytes, singles_at, 2,
                     totals + table * LOOKUP_TILE);
    }
    for (; table < count; table++) {
      look_up_planes(from, lanes, quads, bits, tables + (i64)table * table_bytes, table_bytes, singles_at, 1,
                     totals + table * LOOKUP_TILE);
    }
    for (i32 head = 0; head < heads; head++) {
      const i32 *coarse = totals + head * LOOKUP_TILE, *fine = exact ? totals + (heads + head) * LOOKUP_TILE : 0;
      float *to = out + out_at + head * out_stride + (tile - first_tile) * LOOKUP_TILE;
      add_floats(coarse, fine, lanes, units[head], constants[head], to);
    }
  }
}

// ---- 16-bit codes: out[i][lane] += sum over e of weights[i][e] * code(e, lane), the sum made first

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

EXPORT void KERNEL(short_sums)(const float *weights, i32 at, i32 stride, i32 rows, const uint8_t *codes, i64 offset,
                               i32 codes_stride, i32 entries, i32 lanes, float *out, i32 out_at, i32 out_stride) {
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
