// Dot products of packed codes with quantized operands. The Java reference is ScalarDots; QuantizedOperand and
// WordLayout define the layouts. Digits are the bytes of the operand, and lanes of a tile are columns of the matrix.
//
// A vector holds one word per lane. A shift and a mask leave the four codes of a quad, and one or a few instructions
// multiply them by the four digits of a row and add them to the row's sums. COLUMNS vectors are processed together
// with up to MOST_DOT_ROWS rows, as many as have their sums in registers.
#include "vectors.h"

#define DOT_TILE 16
#define WORD_ROW 64   // bytes of a word of all lanes of a tile

typedef u32 Words __attribute__((vector_size(4 * LANES)));

INLINE Words load_words(const uint8_t *at) {
  Words x;
  __builtin_memcpy(&x, at, sizeof x);
  return x;
}
INLINE Words all_words(u32 x) { return x - (Words){0}; }

#if LANES == 16
#define COLUMNS 2   // tiles
#define MOST_DOT_ROWS 8
INLINE Words load_bytes(const uint8_t *at) { return (Words)_mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)at)); }
INLINE Words dot_quad(Words sums, Words codes, Words digits) {
  return (Words)_mm512_dpbusd_epi32((__m512i)sums, (__m512i)codes, (__m512i)digits);
}
INLINE Words dot_byte_quad(Words sums, Words codes, Words digits) { return dot_quad(sums, codes, digits); }
#elif LANES == 8
#define COLUMNS 2   // halves of a tile
#define MOST_DOT_ROWS 4
INLINE Words load_bytes(const uint8_t *at) { return (Words)_mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)at)); }
#if defined(__AVXVNNI__)
INLINE Words dot_quad(Words sums, Words codes, Words digits) {
  return (Words)_mm256_dpbusd_avx_epi32((__m256i)sums, (__m256i)codes, (__m256i)digits);
}
INLINE Words dot_byte_quad(Words sums, Words codes, Words digits) { return dot_quad(sums, codes, digits); }
#else
// Two products of a nibble and a digit fit 16 bits; those of a byte do not.
INLINE Words dot_quad(Words sums, Words codes, Words digits) {
  __m256i pairs = _mm256_maddubs_epi16((__m256i)codes, (__m256i)digits);
  return sums + (Words)_mm256_madd_epi16(pairs, _mm256_set1_epi16(1));
}
INLINE Words dot_byte_quad(Words sums, Words codes, Words digits) {
  __m256i c = (__m256i)codes, d = (__m256i)digits;
  __m256i even = _mm256_madd_epi16(_mm256_and_si256(c, _mm256_set1_epi16(0xFF)),
                                   _mm256_srai_epi16(_mm256_slli_epi16(d, 8), 8));
  __m256i odd = _mm256_madd_epi16(_mm256_srli_epi16(c, 8), _mm256_srai_epi16(d, 8));
  return sums + (Words)even + (Words)odd;
}
#endif
#else
#if defined(__ARM_FEATURE_DOTPROD)
#define COLUMNS 2   // of a tile's quarters
#define MOST_DOT_ROWS 8
#else
#define COLUMNS 4
#define MOST_DOT_ROWS 4
#endif
INLINE Words load_bytes(const uint8_t *at) {
  u32 four;
  __builtin_memcpy(&four, at, 4);
  return (Words)vmovl_u16(vget_low_u16(vmovl_u8(vreinterpret_u8_u32(vdup_n_u32(four)))));
}
// Codes from -128 to 127.
INLINE Words dot_quad(Words sums, Words codes, Words digits) {
  int8x16_t c = (int8x16_t)codes, d = (int8x16_t)digits;
#if defined(__ARM_FEATURE_DOTPROD)
  return (Words)vdotq_s32((int32x4_t)sums, c, d);
#else
  // Two products fit 16 bits: 2 * 128 * 127.
  int16x8_t low = vmull_s8(vget_low_s8(c), vget_low_s8(d)), high = vmull_s8(vget_high_s8(c), vget_high_s8(d));
  return (Words)vpadalq_s16((int32x4_t)sums, vpaddq_s16(low, high));
#endif
}
// Bytes are read as 128 less, and 128 times the digits are added.
INLINE Words dot_byte_quad(Words sums, Words codes, Words digits) {
  Words taken = dot_quad((Words){0}, all_words(0x40404040), digits) << 1;
  return dot_quad(sums, codes ^ all_words(0x80808080), digits) + taken;
}
#endif

INLINE Words quad_of(const i8 *digits) {
  u32 four;
  __builtin_memcpy(&four, digits, 4);
  return all_words(four);
}

#if defined(__ARM_FEATURE_DOTPROD)
#define DOT_OF_LANE(row) \
  sums[row][c] = (Words)vdotq_laneq_s32((int32x4_t)sums[row][c], (int8x16_t)codes[c], quads, row % 4)

// A load holds the digits of four rows, and the instruction selects the lane it multiplies by.
INLINE void dot_four_rows(Words sums[][COLUMNS], const Words *codes, const i8 *digits, const int columns) {
  int8x16_t quads = vld1q_s8(digits);
  UNROLL for (int c = 0; c < columns; c++) {
    DOT_OF_LANE(0);
    DOT_OF_LANE(1);
    DOT_OF_LANE(2);
    DOT_OF_LANE(3);
  }
}
#endif

INLINE void dot_rows(Words sums[][COLUMNS], const Words *codes, const i8 *digits, const int width, const int rows,
                     const int columns) {
#if defined(__ARM_FEATURE_DOTPROD)
  if (width < 8 && rows % 4 == 0) {
    UNROLL for (int r = 0; r < rows; r += 4) dot_four_rows(sums + r, codes, digits + 4 * r, columns);
    return;
  }
#endif
  UNROLL for (int r = 0; r < rows; r++) {
    Words quad = quad_of(digits + 4 * r);
    UNROLL for (int c = 0; c < columns; c++) {
      sums[r][c] = width == 8 ? dot_byte_quad(sums[r][c], codes[c], quad) : dot_quad(sums[r][c], codes[c], quad);
    }
  }
}

// The codes of a quad: some bits of each byte, from a bit on. Byte-wise shifts need no mask at the end.
INLINE Words codes_at(Words words, const int from, const int width) {
#if LANES == 4
  typedef uint8_t Bytes __attribute__((vector_size(4 * LANES)));
  Bytes shifted = (Bytes)words >> from;
  return from + width == 8 ? (Words)shifted : (Words)shifted & all_words(0x01010101u * ((1u << width) - 1));
#else
  return words >> from & all_words(0x01010101u * ((1u << width) - 1));
#endif
}

// The quads that fill no word: their codes are contiguous in rows of bytes, columns `apart` bytes from each other.
INLINE void dot_rest(Words sums[][COLUMNS], const uint8_t *at, i64 quads, const i8 *digits, i64 digit_step, i64 apart,
                     const int width, const int rows, const int columns) {
  Words left[COLUMNS], codes[COLUMNS];
  UNROLL for (int c = 0; c < columns; c++) left[c] = (Words){0};
  for (i64 row = (quads * width + 1) / 2 - 1; row >= 0; row--) {
    UNROLL for (int c = 0; c < columns; c++) left[c] = left[c] << 8 | load_bytes(at + row * DOT_TILE + c * apart);
  }
  for (i64 quad = 0; quad < quads; quad++, digits += digit_step) {
    UNROLL for (int c = 0; c < columns; c++) {
      codes[c] = (Words){0};
      UNROLL for (int j = 0; j < 4; j++) {
        codes[c] |= (left[c] & all_words((1 << width) - 1)) << (8 * j);
        left[c] >>= width;
      }
    }
    dot_rows(sums, codes, digits, width, rows, columns);
  }
}

// Position of columns: the first lane in a tile, and the distances of words and of rows of bytes.
typedef struct {
  i64 lane, words, bytes;
} Apart;

// Sets the sums of a part of the codes.
INLINE void dot_sums(const uint8_t *at, i64 quads, const i8 *digits, i64 all_rows, Apart apart, Words sums[][COLUMNS],
                     const int width, const int rows, const int columns) {
  const int together = 8 / width;
  Words codes[COLUMNS], words[COLUMNS];
  i64 count = quads / together, digit_step = 4 * all_rows;
  UNROLL for (int r = 0; r < rows; r++) UNROLL for (int c = 0; c < columns; c++) sums[r][c] = (Words){0};
  for (i64 word = 0; word < count; word++) {
    UNROLL for (int c = 0; c < columns; c++) words[c] = load_words(at + word * WORD_ROW + 4 * apart.lane + c * apart.words);
    UNROLL for (int k = 0; k < together; k++, digits += digit_step) {
      UNROLL for (int c = 0; c < columns; c++) codes[c] = codes_at(words[c], k * width, width);
      dot_rows(sums, codes, digits, width, rows, columns);
    }
  }
  if (width < 8 && quads % together) {
    const uint8_t *rest = at + count * WORD_ROW + apart.lane;
    dot_rest(sums, rest, quads % together, digits, digit_step, apart.bytes, width, rows, columns);
  }
}

// Adds the sums of a part of the codes, times 2^shift, to totals: (rows, lanes of the columns)
INLINE void dot_part(const uint8_t *at, i64 quads, int shift, const i8 *digits, i64 all_rows, Apart apart, i32 *totals,
                     const int width, const int rows, const int columns) {
  Words sums[MOST_DOT_ROWS][COLUMNS];
  dot_sums(at, quads, digits, all_rows, apart, sums, width, rows, columns);
  UNROLL for (int r = 0; r < rows; r++) {
    UNROLL for (int c = 0; c < columns; c++) {
      i32 *to = totals + (r * columns + c) * LANES;
      Words sum = load_words((const uint8_t *)to) + (sums[r][c] << shift);
      __builtin_memcpy(to, &sum, sizeof sum);
    }
  }
}

// All parts of the codes of some columns for a few rows of digits.
INLINE void dot_codes(const uint8_t *at, i64 quads, i32 bits, const i8 *digits, i64 all_rows, Apart apart, i32 *totals,
                      const int rows, const int columns) {
  if (bits & 8) dot_part(at, quads, 0, digits, all_rows, apart, totals, 8, rows, columns);
  if (bits & 4) {
    dot_part(at, quads, 0, digits, all_rows, apart, totals, 4, rows, columns);
    at += DOT_TILE * 2 * quads;
  }
  if (bits & 2) {
    dot_part(at, quads, bits & 4, digits, all_rows, apart, totals, 2, rows, columns);
    at += DOT_TILE * quads;
  }
  if (bits & 1) dot_part(at, quads, bits & 6, digits, all_rows, apart, totals, 1, rows, columns);
}

INLINE void add_floats(const i32 *high, const i32 *low, i32 lanes, float unit, float constant, float *out) {
  if (low) {
    for (i32 lane = 0; lane < lanes; lane++) {
      out[lane] += fused1(fused1(128, (float)high[lane], (float)low[lane]), unit, constant);
    }
  } else {
    for (i32 lane = 0; lane < lanes; lane++) out[lane] += fused1((float)high[lane], unit, constant);
  }
}

#if MOST_DOT_ROWS == 8
#define FOUR_HEADS 4

INLINE Floats floats_of(Words integers) {
  typedef i32 Integers __attribute__((vector_size(4 * LANES)));
  typedef float Numbers __attribute__((vector_size(4 * LANES)));
  return (Floats)__builtin_convertvector((Integers)integers, Numbers);
}

// Both digits of four heads, for codes of one part: their sums stay in registers. 128 times the high sum plus the low
// sum fits 32 bits, 1024 * (128 * 127 + 64) * 15 < 2^31. It converts to the float fma(128, high, low), since each of
// the two is below 2^24 and thus exact as a float.
INLINE void add_four_heads(const uint8_t *at, i64 quads, const i8 *digits, Apart apart, const float *units,
                           const float *constants, float *out, i64 out_stride, const int width, const int columns) {
  Words sums[MOST_DOT_ROWS][COLUMNS];
  dot_sums(at, quads, digits, MOST_DOT_ROWS, apart, sums, width, MOST_DOT_ROWS, columns);
  UNROLL for (int head = 0; head < FOUR_HEADS; head++) {
    UNROLL for (int c = 0; c < columns; c++) {
      Words both = (sums[head][c] << 7) + sums[FOUR_HEADS + head][c];
      float *to = out + head * out_stride + c * LANES;
      store(to, add(load(to), fused(floats_of(both), all(units[head]), all(constants[head]))));
    }
  }
}
#endif

// The lanes of some columns, for all rows of digits.
INLINE void add_columns(const uint8_t *at, i64 quads, i32 bits, const i8 *digits, i32 heads, i32 exact, Apart apart,
                        const float *units, const float *constants, float *out, i64 out_stride, const int columns) {
#if MOST_DOT_ROWS == 8
  if (exact && heads == FOUR_HEADS) {
#define ADD(width) add_four_heads(at, quads, digits, apart, units, constants, out, out_stride, width, columns)
    switch (bits) {
      case 1: ADD(1); return;
      case 2: ADD(2); return;
      case 4: ADD(4); return;
    }
#undef ADD
  }
#endif
  i32 totals[16 * COLUMNS * LANES], rows = exact ? 2 * heads : heads, lanes = columns * LANES, row = 0;
  for (i32 i = 0; i < rows * lanes; i++) totals[i] = 0;
#if MOST_DOT_ROWS > 4
  for (; row + 8 <= rows; row += 8) {
    dot_codes(at, quads, bits, digits + 4 * row, rows, apart, totals + row * lanes, 8, columns);
  }
#endif
  for (; row + 4 <= rows; row += 4) {
    dot_codes(at, quads, bits, digits + 4 * row, rows, apart, totals + row * lanes, 4, columns);
  }
  for (; row + 2 <= rows; row += 2) {
    dot_codes(at, quads, bits, digits + 4 * row, rows, apart, totals + row * lanes, 2, columns);
  }
  for (; row < rows; row++) {
    dot_codes(at, quads, bits, digits + 4 * row, rows, apart, totals + row * lanes, 1, columns);
  }
  for (i32 head = 0; head < heads; head++) {
    const i32 *low = exact ? totals + (heads + head) * lanes : 0;
    add_floats(totals + head * lanes, low, lanes, units[head], constants[head], out + head * out_stride);
  }
}

INLINE i64 bytes_of_tile(i64 quads, i32 bits) {
  return DOT_TILE * (quads * (bits / 2) + (bits % 2 ? (quads + 1) / 2 : 0));
}

// out[h][lane - 16 first_tile] += unit[h] * sum + constant[h], for the lanes of some tiles
SHARED void add_dots(float *out, i32 out_at, i32 out_stride, const uint8_t *codes, i64 offset, i32 quads, i32 bits,
                     i32 first_tile, i32 end_tile, const i8 *digits, i32 heads, i32 exact, const float *units,
                     const float *constants) {
  i64 tile_bytes = bytes_of_tile(quads, bits);
  const uint8_t *at = codes + offset + first_tile * tile_bytes;
  float *to = out + out_at;
  i32 tile = first_tile;
#if LANES == 16
  Apart apart = {0, tile_bytes, tile_bytes};
  for (; tile + 2 <= end_tile; tile += 2, at += 2 * tile_bytes, to += 2 * DOT_TILE) {
    add_columns(at, quads, bits, digits, heads, exact, apart, units, constants, to, out_stride, 2);
  }
  for (; tile < end_tile; tile++, at += tile_bytes, to += DOT_TILE) {
    add_columns(at, quads, bits, digits, heads, exact, apart, units, constants, to, out_stride, 1);
  }
#else
  for (; tile < end_tile; tile++, at += tile_bytes, to += DOT_TILE) {
    for (i32 lane = 0; lane < DOT_TILE; lane += COLUMNS * LANES) {
      Apart apart = {lane, 4 * LANES, LANES};
      add_columns(at, quads, bits, digits, heads, exact, apart, units, constants, to + lane, out_stride, COLUMNS);
    }
  }
#endif
}

EXPORT void KERNEL(add_dots)(float *out, i32 out_at, i32 out_stride, const uint8_t *codes, i64 offset, i32 quads,
                             i32 bits, i32 first_tile, i32 end_tile, const i8 *digits, i32 heads, i32 exact,
                             const float *units, const float *constants) {
  add_dots(out, out_at, out_stride, codes, offset, quads, bits, first_tile, end_tile, digits, heads, exact, units,
           constants);
}
