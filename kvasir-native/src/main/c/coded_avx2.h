// AVX2: the sixteen rows of a tile are the lanes of two vectors. Without VNNI, VPMADDUBSW multiplies four columns,
// unsigned by signed bytes: the magnitude of the weight by the activation with the weight's sign. Pairs of products, at
// most 2 * 128 * 127, fit 16 bits, since an activation is never -128.
#include <immintrin.h>

#define MOST_ROWS 2

typedef struct {
  __m256 totals[MOST_ROWS][2];
} Block;

INLINE __m256i four_columns(const i8 *x) {
  i32 four;
  __builtin_memcpy(&four, x, 4);
  return _mm256_set1_epi32(four);
}

INLINE void block_clear(Block *block, const int rows) {
  UNROLL for (int r = 0; r < rows; r++) block->totals[r][0] = block->totals[r][1] = _mm256_setzero_ps();
}

// Unsigned by signed bytes. Without VNNI codes are below 64, so that pairs of products, at most 2 * 63 * 127, fit.
#ifdef __AVXVNNI__
INLINE __m256i dot_unsigned(__m256i sum, __m256i codes, __m256i x) { return _mm256_dpbusd_avx_epi32(sum, codes, x); }
#else
INLINE __m256i dot_unsigned(__m256i sum, __m256i codes, __m256i x) {
  __m256i pairs = _mm256_maddubs_epi16(codes, x);
  return _mm256_add_epi32(sum, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
}
#endif

INLINE void add_scaled(Block *block, __m256i sums[][2], const Numbers *scales, const int form, const Activations *x,
                       const int rows, i32 column) {
  __m256 scale0 = group_numbers(scales, form, 0), scale1 = group_numbers(scales, form, 1);
  UNROLL for (int r = 0; r < rows; r++) {
    __m256 scale = _mm256_set1_ps(scale_of(x, r, column));
    block->totals[r][0] =
        _mm256_fmadd_ps(_mm256_cvtepi32_ps(sums[r][0]), _mm256_mul_ps(scale0, scale), block->totals[r][0]);
    block->totals[r][1] =
        _mm256_fmadd_ps(_mm256_cvtepi32_ps(sums[r][1]), _mm256_mul_ps(scale1, scale), block->totals[r][1]);
  }
}

// Codes of a quad for half of a tile's rows: signed for bytes and levels, else unsigned.
INLINE __m256i quad_codes(const i8 *codes, const int kind, const int quad, const int half, __m256i levels) {
  const int rows = 32 * half;
  if (kind == BYTES) return _mm256_loadu_si256((const __m256i *)(codes + 64 * quad + rows));
  __m256i both = _mm256_loadu_si256((const __m256i *)(nibbles_of(codes, kind, quad) + rows));
  __m256i code = _mm256_and_si256(quad % 2 ? _mm256_srli_epi16(both, 4) : both, _mm256_set1_epi8(15));
  if (kind == LEVELS) return _mm256_shuffle_epi8(levels, code);
  if (upper_bits(kind)) {
    __m256i upper = _mm256_loadu_si256((const __m256i *)(uppers_of(codes, kind, quad) + rows));
    const int left = 4 - upper_shift(kind, quad);
    upper = left > 0 ? _mm256_slli_epi16(upper, left > 0 ? left : 0) : _mm256_srli_epi16(upper, left > 0 ? 0 : -left);
    code = _mm256_or_si256(code, _mm256_and_si256(upper, _mm256_set1_epi8((char)upper_mask(kind))));
  }
  return code;
}

INLINE void block_group(Block *block, const Weights *w, const i8 *codes, const Numbers *scales, const int kind,
                        const int form, const Activations *x, const int rows, i32 group, const int length) {
  const int is_signed = kind == BYTES || kind == LEVELS;
  __m256i sums[MOST_ROWS][2], levels = _mm256_setzero_si256();
  if (kind == LEVELS) levels = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)w->levels));
#ifdef __AVXVNNI__
  const __m256i lift = _mm256_set1_epi8((char)0x80);
  const i32 lowest = kind == NIBBLES ? 0 : is_signed ? -128 : w->lowest;
#else
  const __m256i ones = _mm256_set1_epi16(1);
  const i32 lowest = kind == NIBBLES || is_signed ? 0 : w->lowest;
#endif
  UNROLL for (int r = 0; r < rows; r++) {
    sums[r][0] = sums[r][1] = _mm256_set1_epi32(lowest_sum(x, r, group, length, lowest));
  }
  UNROLL for (int quad = 0; quad < length / 4; quad++) {
    UNROLL for (int half = 0; half < 2; half++) {
      __m256i code = quad_codes(codes, kind, quad, half, levels);
#ifdef __AVXVNNI__
      if (is_signed) code = _mm256_xor_si256(code, lift);
#else
      __m256i magnitude = _mm256_abs_epi8(code);
#endif
      UNROLL for (int r = 0; r < rows; r++) {
        __m256i four = four_columns(x->codes + (i64)r * x->columns + group * length + 4 * quad);
#ifndef __AVXVNNI__
        if (is_signed) {
          __m256i pairs = _mm256_maddubs_epi16(magnitude, _mm256_sign_epi8(four, code));
          sums[r][half] = _mm256_add_epi32(sums[r][half], _mm256_madd_epi16(pairs, ones));
          continue;
        }
#endif
        sums[r][half] = dot_unsigned(sums[r][half], code, four);
      }
    }
  }
  add_scaled(block, sums, scales, form, x, rows, group * length);
}

INLINE void block_minimum(Block *block, const Floats *minimums, const Activations *x, const int rows, i32 group,
                          const int length) {
  UNROLL for (int r = 0; r < rows; r++) {
    __m256 sum = _mm256_set1_ps(sum_of(x, r, group, length));
    block->totals[r][0] = _mm256_fmadd_ps(minimums[0], sum, block->totals[r][0]);
    block->totals[r][1] = _mm256_fmadd_ps(minimums[1], sum, block->totals[r][1]);
  }
}

INLINE void block_store(Block *block, const int rows, float *out, i64 stride, i32 lanes) {
  UNROLL for (int r = 0; r < rows; r++) {
    if (lanes == TILE) {
      _mm256_storeu_ps(out + r * stride, block->totals[r][0]);
      _mm256_storeu_ps(out + r * stride + 8, block->totals[r][1]);
    } else {
      float all[TILE];
      _mm256_storeu_ps(all, block->totals[r][0]);
      _mm256_storeu_ps(all + 8, block->totals[r][1]);
      for (i32 lane = 0; lane < lanes; lane++) out[r * stride + lane] = all[lane];
    }
  }
}
