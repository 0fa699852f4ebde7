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

#ifdef __AVXVNNI__
INLINE __m256i dot_lifted(__m256i sum, __m256i lifted, __m256i x) { return _mm256_dpbusd_avx_epi32(sum, lifted, x); }
#else
// Nibbles by bytes: pairs of products are at most 2 * 15 * 127.
INLINE __m256i dot_lifted(__m256i sum, __m256i codes, __m256i x) {
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

INLINE void block_group8(Block *block, const i8 *codes, const Numbers *scales, const int form, const Activations *x,
                         const int rows, i32 group, const int length) {
  __m256i sums[MOST_ROWS][2];
#ifdef __AVXVNNI__
  __m256i lift = _mm256_set1_epi8((char)0x80);
  UNROLL for (int r = 0; r < rows; r++) {
    sums[r][0] = sums[r][1] = _mm256_set1_epi32(-128 * code_sum(x, r, group, length));
  }
#else
  __m256i ones = _mm256_set1_epi16(1);
  UNROLL for (int r = 0; r < rows; r++) sums[r][0] = sums[r][1] = _mm256_setzero_si256();
#endif
  UNROLL for (int quad = 0; quad < length / 4; quad++) {
    UNROLL for (int half = 0; half < 2; half++) {
      __m256i w = _mm256_loadu_si256((const __m256i *)(codes + 64 * quad + 32 * half));
#ifdef __AVXVNNI__
      w = _mm256_xor_si256(w, lift);
#else
      __m256i magnitude = _mm256_abs_epi8(w);
#endif
      UNROLL for (int r = 0; r < rows; r++) {
        __m256i four = four_columns(x->codes + (i64)r * x->columns + group * length + 4 * quad);
#ifdef __AVXVNNI__
        sums[r][half] = dot_lifted(sums[r][half], w, four);
#else
        __m256i pairs = _mm256_maddubs_epi16(magnitude, _mm256_sign_epi8(four, w));
        sums[r][half] = _mm256_add_epi32(sums[r][half], _mm256_madd_epi16(pairs, ones));
#endif
      }
    }
  }
  add_scaled(block, sums, scales, form, x, rows, group * length);
}

INLINE void block_group4(Block *block, const i8 *codes, const Numbers *scales, const int form, const Activations *x,
                         const int rows, i32 group, const int length) {
  __m256i sums[MOST_ROWS][2], low = _mm256_set1_epi8(15);
  UNROLL for (int r = 0; r < rows; r++) sums[r][0] = sums[r][1] = _mm256_setzero_si256();
  UNROLL for (int eight = 0; eight < length / 8; eight++) {
    UNROLL for (int half = 0; half < 2; half++) {
      __m256i both = _mm256_loadu_si256((const __m256i *)(codes + 64 * eight + 32 * half));
      __m256i first = _mm256_and_si256(both, low);
      __m256i second = _mm256_and_si256(_mm256_srli_epi16(both, 4), low);
      UNROLL for (int r = 0; r < rows; r++) {
        const i8 *at = x->codes + (i64)r * x->columns + group * length + 8 * eight;
        sums[r][half] = dot_lifted(sums[r][half], first, four_columns(at));
        sums[r][half] = dot_lifted(sums[r][half], second, four_columns(at + 4));
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
