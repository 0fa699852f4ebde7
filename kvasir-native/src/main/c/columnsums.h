// Weighted sums of rows of interleaved codes, with weights rounded to integers. The Java reference is InterleavedSums.
//
// A column is one byte of sixteen rows. A mask leaves sixteen codes in place, so one instruction multiplies them by the
// weights of sixteen rows and adds. The factor from their bit position is removed at the end.
#include "vectors.h"

#define COLUMN 16
#define MOST_COLUMN_ROWS 128
#define TOGETHER 4                   // rows of weights
#define LARGEST_COLUMN_WEIGHT 32767
#define LEAST_COLUMN_WEIGHT 1e-30f
#define COLUMN_SCALES 7              // scale bits of a row's first byte
#define BAND_HEADER 4                // integers of a band before its channels

// Adding this constant to a float below 2^22 leaves the nearest integer in the low bits.
#define ROUNDER 12582912.0f
#define ROUNDER_BITS 0x4B400000

typedef float Sixteen __attribute__((vector_size(64)));
typedef i32 SixteenInts __attribute__((vector_size(64)));
typedef int16_t SixteenShorts __attribute__((vector_size(32)));
typedef i32 FourInts __attribute__((vector_size(16)));
typedef uint8_t ColumnBytes __attribute__((vector_size(COLUMN)));

// Integers of up to four rows of weights, by row of codes.
typedef struct {
#if defined(__ARM_FEATURE_DOTPROD)
  // Low and high digits.
  uint8_t low[TOGETHER][MOST_COLUMN_ROWS], high[TOGETHER][MOST_COLUMN_ROWS];
#else
  int16_t whole[TOGETHER][MOST_COLUMN_ROWS];
#endif
  float unit[TOGETHER];
} Rounded;

INLINE void load_sixteen_floats(const float *at, Sixteen *x) { __builtin_memcpy(x, at, sizeof *x); }

INLINE ColumnBytes load_column(const uint8_t *at) {
  ColumnBytes x;
  __builtin_memcpy(&x, at, sizeof x);
  return x;
}

INLINE Four fused_four(Four a, Four b, Four c) {
#if LANES == 4
  return (Four)vfmaq_f32((float32x4_t)c, (float32x4_t)a, (float32x4_t)b);
#else
  return (Four)_mm_fmadd_ps((__m128)a, (__m128)b, (__m128)c);
#endif
}

// Transposes rows to columns.
INLINE void turn_four(Four *x) {
  Four ab = __builtin_shufflevector(x[0], x[1], 0, 4, 1, 5), cd = __builtin_shufflevector(x[2], x[3], 0, 4, 1, 5);
  Four ef = __builtin_shufflevector(x[0], x[1], 2, 6, 3, 7), gh = __builtin_shufflevector(x[2], x[3], 2, 6, 3, 7);
  x[0] = __builtin_shufflevector(ab, cd, 0, 1, 4, 5);
  x[1] = __builtin_shufflevector(ab, cd, 2, 3, 6, 7);
  x[2] = __builtin_shufflevector(ef, gh, 0, 1, 4, 5);
  x[3] = __builtin_shufflevector(ef, gh, 2, 3, 6, 7);
}

// Interleaves up to four rows of floats; missing ones are zero.
INLINE void lay_side_by_side(const float *rows, i64 stride, int count, i32 width, float *to) {
  for (i32 i = 0; i < width; i += 4) {
    Four x[4];
    UNROLL for (int r = 0; r < 4; r++) x[r] = r < count ? load_four(rows + r * stride + i) : (Four){0};
    turn_four(x);
    UNROLL for (int j = 0; j < 4; j++) store_four(to + 4 * (i + j), x[j]);
  }
}

INLINE void lay_apart(const float *from, i32 width, float *rows, i64 stride, int count) {
  for (i32 i = 0; i < width; i += 4) {
    Four x[4];
    UNROLL for (int j = 0; j < 4; j++) x[j] = load_four(from + 4 * (i + j));
    turn_four(x);
    UNROLL for (int r = 0; r < 4; r++) if (r < count) store_four(rows + r * stride + i, x[r]);
  }
}

// Adds neighbours until one is left.
INLINE float total_of_sixteen(const Sixteen *x) {
  float sums[COLUMN];
  __builtin_memcpy(sums, x, sizeof sums);
  UNROLL for (int count = COLUMN / 2; count > 0; count /= 2) {
    UNROLL for (int i = 0; i < count; i++) sums[i] = sums[2 * i] + sums[2 * i + 1];
  }
  return sums[0];
}

// The largest of non-negative weights.
INLINE float largest_weight(const float *weights, i32 rows) {
  Sixteen most = {0};
  for (i32 row = 0; row < rows; row += COLUMN) {
    Sixteen x;
    load_sixteen_floats(weights + row, &x);
    most = (Sixteen)(((SixteenInts)x & (x > most)) | ((SixteenInts)most & ~(x > most)));
  }
#if LANES == 16
  return _mm512_reduce_max_ps((__m512)most);
#else
  float largest = 0;
  UNROLL for (int i = 0; i < COLUMN; i++) largest = most[i] > largest ? most[i] : largest;
  return largest;
#endif
}

// The factor from weights to integers, and the unit of those.
INLINE float factor_of(float largest, float *unit) {
  int some = largest >= LEAST_COLUMN_WEIGHT;
  *unit = some ? largest / LARGEST_COLUMN_WEIGHT : 0;
  return some ? LARGEST_COLUMN_WEIGHT / largest : 0;
}

// Rounds weights to integers, ties to even, and sets their unit.
INLINE void round_weights(const float *weights, i32 rows, int r, Rounded *to) {
  float factor = factor_of(largest_weight(weights, rows), &to->unit[r]);
  for (i32 row = 0; row < rows; row += COLUMN) {
    Sixteen x;
    load_sixteen_floats(weights + row, &x);
    SixteenInts lifted = (SixteenInts)(x * factor + ROUNDER);
    SixteenShorts whole = __builtin_convertvector(lifted - ROUNDER_BITS, SixteenShorts);
#if defined(__ARM_FEATURE_DOTPROD)
    ColumnBytes low = __builtin_convertvector(whole, ColumnBytes);
    ColumnBytes high = __builtin_convertvector(whole >> 8, ColumnBytes);
    __builtin_memcpy(to->low[r] + row, &low, COLUMN);
    __builtin_memcpy(to->high[r] + row, &high, COLUMN);
#else
    __builtin_memcpy(to->whole[r] + row, &whole, sizeof whole);
#endif
  }
}

#if defined(__ARM_FEATURE_DOTPROD)
typedef struct {
  uint32x4_t low[TOGETHER], high[TOGETHER];
} CodeSums;

INLINE CodeSums no_sums(void) {
  CodeSums sums;
  UNROLL for (int r = 0; r < TOGETHER; r++) sums.low[r] = sums.high[r] = vdupq_n_u32(0);
  return sums;
}

INLINE void add_codes(CodeSums *sums, ColumnBytes codes, const Rounded *weights, i32 row) {
  UNROLL for (int r = 0; r < TOGETHER; r++) {
    sums->low[r] = vdotq_u32(sums->low[r], (uint8x16_t)codes, vld1q_u8(weights->low[r] + row));
    sums->high[r] = vdotq_u32(sums->high[r], (uint8x16_t)codes, vld1q_u8(weights->high[r] + row));
  }
}

INLINE FourInts totals_of_codes(const CodeSums *sums) {
  const uint32x4_t *l = sums->low, *h = sums->high;
  uint32x4_t low = vpaddq_u32(vpaddq_u32(l[0], l[1]), vpaddq_u32(l[2], l[3]));
  uint32x4_t high = vpaddq_u32(vpaddq_u32(h[0], h[1]), vpaddq_u32(h[2], h[3]));
  return (FourInts)vaddq_u32(low, vshlq_n_u32(high, 8));
}
#else
#if LANES == 4
typedef int32x4_t Dots;
INLINE Dots dots_of(Dots sum, SixteenShorts codes, const int16_t *weights) {
  int16_t x[COLUMN];
  __builtin_memcpy(x, &codes, sizeof x);
  UNROLL for (int i = 0; i < COLUMN; i += 4) sum = vmlal_s16(sum, vld1_s16(x + i), vld1_s16(weights + i));
  return sum;
}
INLINE FourInts totals_of_dots(Dots a, Dots b, Dots c, Dots d) {
  return (FourInts)vpaddq_s32(vpaddq_s32(a, b), vpaddq_s32(c, d));
}
#else
typedef __m256i Dots;
INLINE Dots dots_of(Dots sum, SixteenShorts codes, const int16_t *weights) {
  __m256i w = _mm256_loadu_si256((const __m256i *)weights);
  return _mm256_add_epi32(sum, _mm256_madd_epi16((__m256i)codes, w));
}
INLINE FourInts totals_of_dots(Dots a, Dots b, Dots c, Dots d) {
  __m256i all = _mm256_hadd_epi32(_mm256_hadd_epi32(a, b), _mm256_hadd_epi32(c, d));
  return (FourInts)_mm_add_epi32(_mm256_castsi256_si128(all), _mm256_extracti128_si256(all, 1));
}
#endif

typedef struct {
  Dots of[TOGETHER];
} CodeSums;

INLINE CodeSums no_sums(void) {
  CodeSums sums;
  UNROLL for (int r = 0; r < TOGETHER; r++) sums.of[r] = (Dots){0};
  return sums;
}

INLINE void add_codes(CodeSums *sums, ColumnBytes codes, const Rounded *weights, i32 row) {
  SixteenShorts wide = __builtin_convertvector(codes, SixteenShorts);
  UNROLL for (int r = 0; r < TOGETHER; r++) sums->of[r] = dots_of(sums->of[r], wide, weights->whole[r] + row);
}

INLINE FourInts totals_of_codes(const CodeSums *sums) {
  return totals_of_dots(sums->of[0], sums->of[1], sums->of[2], sums->of[3]);
}
#endif

// Sums of the integers alone, as if all codes were one.
INLINE FourInts totals_of_weights(const Rounded *weights, i32 first, i32 end) {
  CodeSums sums = no_sums();
  ColumnBytes ones = (ColumnBytes){0} + 1;
  for (i32 row = first; row < end; row += COLUMN) add_codes(&sums, ones, weights, row);
  return totals_of_codes(&sums);
}

#if LANES == 16
#include "columncodes_avx512.h"
#else
// Codes of one channel in the rows of a band of row_bytes each; the first bit of a code is arbitrary.
INLINE FourInts sum_codes(const uint8_t *columns, i32 row_bytes, i32 bit, i32 bits, const Rounded *weights, i32 first,
                          i32 end) {
  CodeSums sums = no_sums();
  const int shift = bit % 8;
  const uint8_t *column = columns + COLUMN * (i64)(bit / 8);
  if (shift + bits <= 8) {
    ColumnBytes mask = (ColumnBytes){0} + (uint8_t)(((1 << bits) - 1) << shift);
    for (i32 row = first; row < end; row += COLUMN, column += COLUMN * (i64)row_bytes) {
      add_codes(&sums, load_column(column) & mask, weights, row);
    }
    return totals_of_codes(&sums) >> shift;
  }
  ColumnBytes mask = (ColumnBytes){0} + (uint8_t)((1 << bits) - 1);
  for (i32 row = first; row < end; row += COLUMN, column += COLUMN * (i64)row_bytes) {
    ColumnBytes code = (load_column(column) >> (uint8_t)shift) | (load_column(column + COLUMN) << (uint8_t)(8 - shift));
    add_codes(&sums, code & mask, weights, row);
  }
  return totals_of_codes(&sums);
}

typedef Rounded Digits;

// weights (TOGETHER, rows)
INLINE void round_to_digits(const float *weights, i32 rows, Digits *to) {
  for (int r = 0; r < TOGETHER; r++) round_weights(weights + r * (i64)rows, rows, r, to);
}

// Adds the codes of a band; sums (width, TOGETHER)
INLINE void add_band(const uint8_t *codes, const i32 *band, i32 width, const Digits *digits, i32 first, i32 end,
                     float *sums) {
  FourInts of_weights = totals_of_weights(digits, first, end);
  const i32 *entries = band + BAND_HEADER;
  const float *halves = (const float *)(entries + 2 * (i64)width);
  Four units = load_four(digits->unit);
  for (i32 j = 0; j < band[2]; j++) {
    i32 bit = entries[2 * j], bits = entries[2 * j + 1] & 15, channel = entries[2 * j + 1] >> 4;
    FourInts sum = sum_codes(codes, band[1], bit, bits, digits, first, end) * 2 + of_weights * (1 - (1 << bits));
    Four product = __builtin_convertvector(sum, Four), before = load_four(sums + TOGETHER * (i64)channel);
    store_four(sums + TOGETHER * (i64)channel, fused_four(product, units * halves[j], before));
  }
}
#endif

// ---- rows of a table, whose bytes hold two channels each

#if defined(__ARM_FEATURE_DOTPROD)
// Four rows of weights for four rows of the table, as one vector holds them.
typedef struct {
  u32 low[MOST_COLUMN_ROWS], high[MOST_COLUMN_ROWS];
} Quads;

INLINE void lay_quads(const Rounded *weights, i32 rows, Quads *quads) {
  for (i32 quad = 0; quad < rows / 4; quad++) {
    UNROLL for (int r = 0; r < TOGETHER; r++) {
      __builtin_memcpy(quads->low + 4 * quad + r, weights->low[r] + 4 * quad, 4);
      __builtin_memcpy(quads->high + 4 * quad + r, weights->high[r] + 4 * quad, 4);
    }
  }
}

// Interleaves sixteen bytes of four rows.
INLINE void lay_four_bytes(const uint8_t *a, const uint8_t *b, const uint8_t *c, const uint8_t *d, uint8_t *to) {
  uint8x16_t w = vld1q_u8(a), x = vld1q_u8(b), y = vld1q_u8(c), z = vld1q_u8(d);
  uint16x8_t wx = vreinterpretq_u16_u8(vzip1q_u8(w, x)), yz = vreinterpretq_u16_u8(vzip1q_u8(y, z));
  vst1q_u8(to, vreinterpretq_u8_u16(vzip1q_u16(wx, yz)));
  vst1q_u8(to + 16, vreinterpretq_u8_u16(vzip2q_u16(wx, yz)));
  wx = vreinterpretq_u16_u8(vzip2q_u8(w, x)), yz = vreinterpretq_u16_u8(vzip2q_u8(y, z));
  vst1q_u8(to + 32, vreinterpretq_u8_u16(vzip1q_u16(wx, yz)));
  vst1q_u8(to + 48, vreinterpretq_u8_u16(vzip2q_u16(wx, yz)));
}

#define DOT_NIBBLES(r)                                                  \
  UNROLL for (int v = 0; v < 2; v++) {                                  \
    low[r][v] = vdotq_laneq_u32(low[r][v], x[v], low_weights, r);       \
    high[r][v] = vdotq_laneq_u32(high[r][v], x[v], high_weights, r);    \
  }

// Eight channels; laid (rows / 4, 64), out (TOGETHER, width)
INLINE void sum_nibbles(const uint8_t *laid, i32 rows, const Quads *quads, i64 width, i32 *out, const int upper) {
  uint32x4_t low[TOGETHER][2], high[TOGETHER][2];
  UNROLL for (int r = 0; r < TOGETHER; r++) UNROLL for (int v = 0; v < 2; v++) low[r][v] = high[r][v] = vdupq_n_u32(0);
  for (i32 quad = 0; quad < rows / 4; quad++) {
    uint8x16_t low_weights = vreinterpretq_u8_u32(vld1q_u32(quads->low + 4 * quad));
    uint8x16_t high_weights = vreinterpretq_u8_u32(vld1q_u32(quads->high + 4 * quad));
    uint8x16_t x[2];
    UNROLL for (int v = 0; v < 2; v++) {
      x[v] = vld1q_u8(laid + 64 * (i64)quad + 16 * v);
      x[v] = upper ? vshrq_n_u8(x[v], 4) : vandq_u8(x[v], vdupq_n_u8(15));
    }
    DOT_NIBBLES(0)
    DOT_NIBBLES(1)
    DOT_NIBBLES(2)
    DOT_NIBBLES(3)
  }
  UNROLL for (int r = 0; r < TOGETHER; r++) UNROLL for (int v = 0; v < 2; v++) {
    vst1q_u32((u32 *)out + r * width + 4 * v, vaddq_u32(low[r][v], vshlq_n_u32(high[r][v], 8)));
  }
}

INLINE void sum_table(const uint8_t *table, i64 stride, const i32 *picked, i32 rows, i32 width, const Rounded *weights,
                      i32 *out) {
  Quads quads;
  uint8_t laid[16 * MOST_COLUMN_ROWS];
  lay_quads(weights, rows, &quads);
  for (i32 at = 0; at < width / 2; at += 16) {
    for (i32 row = 0; row < rows; row += 4) {
      lay_four_bytes(table + picked[row] * stride + at, table + picked[row + 1] * stride + at,
                     table + picked[row + 2] * stride + at, table + picked[row + 3] * stride + at, laid + 16 * row);
    }
    for (i32 v = 0; v < 2; v++) {
      sum_nibbles(laid + 32 * v, rows, &quads, width, out + at + 8 * v, 0);
      sum_nibbles(laid + 32 * v, rows, &quads, width, out + width / 2 + at + 8 * v, 1);
    }
  }
}
#else
// Alternating bytes of two rows, widened; each 32-bit lane of a product is the sum of two.
#if LANES == 16
typedef __m512i Pairs;
#define PAIR_BYTES 16
INLINE Pairs pairs_of(const uint8_t *a, const uint8_t *b) {
  __m128i x = _mm_loadu_si128((const __m128i *)a), y = _mm_loadu_si128((const __m128i *)b);
  __m256i both = _mm256_set_m128i(_mm_unpackhi_epi8(x, y), _mm_unpacklo_epi8(x, y));
  return _mm512_cvtepu8_epi16(both);
}
INLINE Pairs lower_of(Pairs x) { return _mm512_and_si512(x, _mm512_set1_epi16(15)); }
INLINE Pairs upper_of(Pairs x) { return _mm512_srli_epi16(x, 4); }
INLINE Pairs all_pairs(u32 pair) { return _mm512_set1_epi32((i32)pair); }
INLINE Pairs add_products(Pairs sum, Pairs x, Pairs w) { return _mm512_dpwssd_epi32(sum, x, w); }
#elif LANES == 8
typedef __m256i Pairs;
#define PAIR_BYTES 8
INLINE Pairs pairs_of(const uint8_t *a, const uint8_t *b) {
  __m128i x = _mm_loadl_epi64((const __m128i *)a), y = _mm_loadl_epi64((const __m128i *)b);
  return _mm256_cvtepu8_epi16(_mm_unpacklo_epi8(x, y));
}
INLINE Pairs lower_of(Pairs x) { return _mm256_and_si256(x, _mm256_set1_epi16(15)); }
INLINE Pairs upper_of(Pairs x) { return _mm256_srli_epi16(x, 4); }
INLINE Pairs all_pairs(u32 pair) { return _mm256_set1_epi32((i32)pair); }
INLINE Pairs add_products(Pairs sum, Pairs x, Pairs w) {
#if defined(__AVXVNNI__)
  return _mm256_dpwssd_avx_epi32(sum, x, w);
#else
  return _mm256_add_epi32(sum, _mm256_madd_epi16(x, w));
#endif
}
#else
typedef int32x4_t Pairs;
#define PAIR_BYTES 4
INLINE Pairs pairs_of(const uint8_t *a, const uint8_t *b) {
  u32 x, y;
  __builtin_memcpy(&x, a, 4);
  __builtin_memcpy(&y, b, 4);
  uint8x8_t both = vzip1_u8(vreinterpret_u8_u32(vdup_n_u32(x)), vreinterpret_u8_u32(vdup_n_u32(y)));
  return vreinterpretq_s32_u16(vmovl_u8(both));
}
INLINE Pairs lower_of(Pairs x) { return vandq_s32(x, vdupq_n_s32(0xF000F)); }
INLINE Pairs upper_of(Pairs x) { return vreinterpretq_s32_u16(vshrq_n_u16(vreinterpretq_u16_s32(x), 4)); }
INLINE Pairs all_pairs(u32 pair) { return vreinterpretq_s32_u32(vdupq_n_u32(pair)); }
INLINE Pairs add_products(Pairs sum, Pairs x, Pairs w) {
  int16x8_t a = vreinterpretq_s16_s32(x), b = vreinterpretq_s16_s32(w);
  int32x4_t low = vmull_s16(vget_low_s16(a), vget_low_s16(b)), high = vmull_high_s16(a, b);
  return vaddq_s32(sum, vpaddq_s32(low, high));
}
#endif

#if LANES == 16
#define WIDE_BYTES 32
// Thirty-two bytes, so that weights are arranged once for a whole row of 64 channels; out (TOGETHER, width)
INLINE void sum_wide_nibbles(const uint8_t *table, i64 stride, const i32 *picked, i32 rows, const Rounded *weights,
                             i64 width, i32 *out) {
  Pairs sums[TOGETHER][4];
  UNROLL for (int r = 0; r < TOGETHER; r++) UNROLL for (int v = 0; v < 4; v++) sums[r][v] = (Pairs){0};
  for (i32 row = 0; row < rows; row += 2) {
    __m256i a = _mm256_loadu_si256((const __m256i *)(table + picked[row] * stride));
    __m256i b = _mm256_loadu_si256((const __m256i *)(table + picked[row + 1] * stride));
    // Bytes 0-7 and 16-23, then 8-15 and 24-31.
    Pairs low = _mm512_cvtepu8_epi16(_mm256_unpacklo_epi8(a, b)), high = _mm512_cvtepu8_epi16(_mm256_unpackhi_epi8(a, b));
    Pairs x[4] = {lower_of(low), lower_of(high), upper_of(low), upper_of(high)};
    UNROLL for (int r = 0; r < TOGETHER; r++) {
      u32 pair;
      __builtin_memcpy(&pair, weights->whole[r] + row, 4);
      UNROLL for (int v = 0; v < 4; v++) sums[r][v] = add_products(sums[r][v], x[v], all_pairs(pair));
    }
  }
  UNROLL for (int r = 0; r < TOGETHER; r++) UNROLL for (int half = 0; half < 2; half++) {
    Pairs low = sums[r][2 * half], high = sums[r][2 * half + 1];
    i32 *to = out + r * width + half * (width / 2);
    _mm512_storeu_si512(to, _mm512_inserti64x4(low, _mm512_castsi512_si256(high), 1));
    _mm512_storeu_si512(to + 16, _mm512_inserti64x4(high, _mm512_extracti64x4_epi64(low, 1), 0));
  }
}
#endif

// As many bytes as fill a vector; out (TOGETHER, width)
INLINE void sum_nibbles(const uint8_t *table, i64 stride, const i32 *picked, i32 rows, const Rounded *weights, i64 width,
                        i32 *out) {
  Pairs lower[TOGETHER], upper[TOGETHER];
  UNROLL for (int r = 0; r < TOGETHER; r++) lower[r] = upper[r] = (Pairs){0};
  for (i32 row = 0; row < rows; row += 2) {
    Pairs both = pairs_of(table + picked[row] * stride, table + picked[row + 1] * stride);
    Pairs x = lower_of(both), y = upper_of(both);
    UNROLL for (int r = 0; r < TOGETHER; r++) {
      u32 pair;
      __builtin_memcpy(&pair, weights->whole[r] + row, 4);
      lower[r] = add_products(lower[r], x, all_pairs(pair));
      upper[r] = add_products(upper[r], y, all_pairs(pair));
    }
  }
  UNROLL for (int r = 0; r < TOGETHER; r++) {
    __builtin_memcpy(out + r * width, &lower[r], sizeof(Pairs));
    __builtin_memcpy(out + r * width + width / 2, &upper[r], sizeof(Pairs));
  }
}

INLINE void sum_table(const uint8_t *table, i64 stride, const i32 *picked, i32 rows, i32 width, const Rounded *weights,
                      i32 *out) {
  i32 at = 0;
#if LANES == 16
  for (; at + WIDE_BYTES <= width / 2; at += WIDE_BYTES) {
    sum_wide_nibbles(table + at, stride, picked, rows, weights, width, out + at);
  }
#endif
  for (; at < width / 2; at += PAIR_BYTES) {
    sum_nibbles(table + at, stride, picked, rows, weights, width, out + at);
  }
}
#endif

// Sums of rows that are all the same: the sum of the weights times that row; of_weights (TOGETHER)
INLINE void sum_same_row(const uint8_t *row, i32 width, FourInts of_weights, i32 *out) {
  for (int r = 0; r < TOGETHER; r++) {
    i32 *to = out + r * (i64)width;
    for (i32 i = 0; i < width / 2; i++) {
      to[i] = of_weights[r] * (row[i] & 15);
      to[width / 2 + i] = of_weights[r] * (row[i] >> 4);
    }
  }
}

INLINE int are_same_rows(const i32 *picked, i32 rows) {
  i32 other = 0;
  for (i32 i = 0; i < rows; i++) other |= picked[i] ^ picked[0];
  return other == 0;
}

// ---- a page

// Data common to all rows of weights. Each band, as in CodeBands: rows, bytes per row, the number of channels with
// codes and how many of them are within one byte, which come first; of each channel the first bit, and its width and
// index; half a step of each.
typedef struct {
  const uint8_t *codes;
  const i32 *bands;
  i32 band_count, width;
  const uint8_t *table;
  i64 stride;
  const float *lows, *steps;
  const i32 *picked;
  i32 rows;
} Columns;

INLINE i64 column_ints(i32 width) { return BAND_HEADER + 3 * (i64)width; }

// Scales of sixteen rows, from their first bytes.
INLINE void scales_of_column(const uint8_t *column, const float *scales, float *to) {
#if LANES == 16
  __m512i indices = _mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)column));
  __m512 known = _mm512_castps256_ps512(_mm256_loadu_ps(scales));
  store(to, _mm512_permutexvar_ps(_mm512_and_si512(indices, _mm512_set1_epi32(COLUMN_SCALES)), known));
#else
  for (i32 i = 0; i < COLUMN; i++) to[i] = scales[column[i] & COLUMN_SCALES];
#endif
}

// Scales of all rows; zero for a row without codes.
INLINE void read_scales(const Columns *from, const float *scales, float *by_row) {
  const uint8_t *codes = from->codes;
  const i32 *band = from->bands;
  for (i32 b = 0, row = 0; b < from->band_count; b++, band += column_ints(from->width)) {
    for (i32 end = row + band[0]; row < end; row += COLUMN, codes += COLUMN * (i64)band[1]) {
      if (band[1]) {
        scales_of_column(codes, scales, by_row + row);
      } else {
        for (i32 i = 0; i < COLUMN; i++) by_row[row + i] = 0;
      }
    }
  }
}

#if LANES == 16
// The floats at some of 128 places.
INLINE __m512 picked_floats(const __m512 *from, __m512i places) {
  __mmask16 second = _mm512_test_epi32_mask(places, _mm512_set1_epi32(32));
  __mmask16 upper = _mm512_test_epi32_mask(places, _mm512_set1_epi32(64));
  __m512 a = _mm512_permutex2var_ps(from[0], places, from[1]), b = _mm512_permutex2var_ps(from[2], places, from[3]);
  __m512 c = _mm512_permutex2var_ps(from[4], places, from[5]), d = _mm512_permutex2var_ps(from[6], places, from[7]);
  return _mm512_mask_blend_ps(upper, _mm512_mask_blend_ps(second, a, b), _mm512_mask_blend_ps(second, c, d));
}

// Weights by row of codes, from weights by token, which registers hold; missing ones are zero. to (TOGETHER, rows)
INLINE void take_weights(const float *w, i32 rows, int count, const uint8_t *tokens, float *room, float *to) {
  (void)room;
  for (int r = 0; r < TOGETHER; r++) {
    __m512 from[MOST_COLUMN_ROWS / COLUMN];
    UNROLL for (int i = 0; i < MOST_COLUMN_ROWS / COLUMN; i++) {
      from[i] = r < count && COLUMN * i < rows ? load(w + r * (i64)rows + COLUMN * i) : all(0);
    }
    for (i32 row = 0; row < rows; row += COLUMN) {
      __m512i places = _mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)(tokens + row)));
      store(to + r * (i64)rows + row, picked_floats(from, places));
    }
  }
}
#else
// Weights by row of codes, from weights by token; missing ones are zero. room (rows, TOGETHER), to (TOGETHER, rows)
INLINE void take_weights(const float *w, i32 rows, int count, const uint8_t *tokens, float *room, float *to) {
  lay_side_by_side(w, rows, count, rows, room);
  for (i32 row = 0; row < rows; row += 4) {
    Four x[4];
    UNROLL for (int j = 0; j < 4; j++) x[j] = load_four(room + 4 * tokens[row + j]);
    turn_four(x);
    UNROLL for (int r = 0; r < TOGETHER; r++) store_four(to + r * (i64)rows + row, x[r]);
  }
}
#endif

// Adds the table's part of up to four sums; weights (TOGETHER, rows), out (count, width), room (TOGETHER, width)
INLINE void add_table(const Columns *from, const float *weights, int count, i32 *room, float *out) {
  Rounded rounded;
  float sums[TOGETHER];
  for (int r = 0; r < TOGETHER; r++) {
    const float *w = weights + r * (i64)from->rows;
    Sixteen sum = {0}, x;
    for (i32 row = 0; row < from->rows; row += COLUMN) {
      load_sixteen_floats(w + row, &x);
      sum += x;
    }
    sums[r] = total_of_sixteen(&sum);
    round_weights(w, from->rows, r, &rounded);
  }
  FourInts of_weights = totals_of_weights(&rounded, 0, from->rows);
  if (are_same_rows(from->picked, from->rows)) {
    sum_same_row(from->table + from->picked[0] * from->stride, from->width, of_weights, room);
  } else {
    sum_table(from->table, from->stride, from->picked, from->rows, from->width, &rounded, room);
  }
  for (int r = 0; r < count; r++) {
    const i32 *nibbles = room + r * (i64)from->width;
    float half = rounded.unit[r] * 0.5f;
    i32 middle = 15 * of_weights[r];
    float *to = out + r * (i64)from->width;
    for (i32 i = 0; i < from->width; i += LANES) {
      Floats steps = load(from->steps + i), sum = load(to + i);
      sum = fused(all(sums[r]), fused(all(7.5f), steps, load(from->lows + i)), sum);
      float shifted[LANES];
      UNROLL for (int l = 0; l < LANES; l++) shifted[l] = (float)(2 * nibbles[i + l] - middle);
      store(to + i, fused(load(shifted), multiply(all(half), steps), sum));
    }
  }
}

// Adds the codes' part; sums (width, TOGETHER)
INLINE void add_coded_columns(const Columns *from, const Digits *digits, float *sums) {
  const uint8_t *codes = from->codes;
  const i32 *band = from->bands;
  for (i32 b = 0, row = 0; b < from->band_count; b++, band += column_ints(from->width)) {
    i32 end = row + band[0];
    if (band[1] && end > row) add_band(codes, band, from->width, digits, row, end, sums);
    codes += band[0] * (i64)band[1];
    row = end;
  }
}

// w (w_rows, rows of all bands), by token; out (w_rows, width); the rows of a band are a multiple of 16. Intermediate
// data exceeds the stack that Windows commits without a probe, so the caller passes scratch memory: four rows of
// channels, then nine floats for each row of codes.
EXPORT void KERNEL(column_sums)(const i32 *bands, i32 band_count, const float *lows, const float *steps,
                                const float *scales, const uint8_t *tokens, const i32 *picked, const float *w,
                                i32 w_rows, float *room, float *out, const uint8_t *source, i64 offset, i32 width,
                                const uint8_t *table, i32 table_stride, i32 rows) {
  const Columns from = {source + offset, bands, band_count, width, table, table_stride, lows, steps, picked, rows};
  float *by_row = room + TOGETHER * (i64)width, *weights = by_row + rows, *by_token = weights + TOGETHER * (i64)rows;
  if (rows == 0) return;
  read_scales(&from, scales, by_row);
  for (i32 first = 0; first < w_rows; first += TOGETHER) {
    int count = w_rows - first < TOGETHER ? w_rows - first : TOGETHER;
    float *to = out + first * (i64)width;
    take_weights(w + first * (i64)rows, rows, count, tokens, by_token, weights);
    add_table(&from, weights, count, (i32 *)room, to);
    for (int r = 0; r < TOGETHER; r++) {
      for (i32 row = 0; row < rows; row++) weights[r * (i64)rows + row] *= by_row[row];
    }
    Digits digits;
    round_to_digits(weights, rows, &digits);
    if (count == TOGETHER) {
      lay_side_by_side(to, width, TOGETHER, width, room);
    } else {
      lay_side_by_side(to, width, count, width, room);
    }
    add_coded_columns(&from, &digits, room);
    if (count == TOGETHER) {
      lay_apart(room, width, to, width, TOGETHER);
    } else {
      lay_apart(room, width, to, width, count);
    }
  }
}
