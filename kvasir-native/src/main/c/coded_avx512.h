// AVX-512 with VNNI: the sixteen rows of a tile are the lanes of one vector, and VPDPBUSD multiplies four columns,
// unsigned by signed bytes. Where codes are negative, a lifted code is multiplied, and the lift times the sum of the
// activations' codes is subtracted first.
#include "coded_quads_avx512.h"

#define MOST_ROWS 8

typedef struct {
  __m512 totals[MOST_ROWS];
} Block;

INLINE __m512i four_columns(const i8 *x) {
  i32 four;
  __builtin_memcpy(&four, x, 4);
  return _mm512_set1_epi32(four);
}

INLINE void block_clear(Block *block, const int rows) {
  UNROLL for (int r = 0; r < rows; r++) block->totals[r] = _mm512_setzero_ps();
}

INLINE void add_scaled(Block *block, __m512i *sums, const Numbers *scales, const int form, const Activations *x,
                       const int rows, i32 column) {
  __m512 weight_scale = group_numbers(scales, form, 0);
  UNROLL for (int r = 0; r < rows; r++) {
    __m512 scale = _mm512_mul_ps(weight_scale, _mm512_set1_ps(scale_of(x, r, column)));
    block->totals[r] = _mm512_fmadd_ps(_mm512_cvtepi32_ps(sums[r]), scale, block->totals[r]);
  }
}

INLINE void block_group(Block *block, const Weights *w, const i8 *codes, const Numbers *scales, const int kind,
                        const int form, const Activations *x, const int rows, i32 group, const int length) {
  const __m512i lift = _mm512_set1_epi8((char)0x80);
  const __m512i levels = _mm512_xor_si512(levels_of(w, kind), lift);
  const i32 lowest = kind == NIBBLES ? 0 : kind == BYTES || kind == LEVELS ? -128 : w->lowest;
  __m512i sums[MOST_ROWS];
  UNROLL for (int r = 0; r < rows; r++) sums[r] = _mm512_set1_epi32(lowest_sum(x, r, group, length, lowest));
  UNROLL for (int quad = 0; quad < length / 4; quad++) {
    __m512i code = quad_codes(codes, kind, quad, levels);
    if (kind == BYTES) code = _mm512_xor_si512(code, lift);
    UNROLL for (int r = 0; r < rows; r++) {
      const i8 *at = x->codes + (i64)r * x->columns + group * length + 4 * quad;
      sums[r] = _mm512_dpbusd_epi32(sums[r], code, four_columns(at));
    }
  }
  add_scaled(block, sums, scales, form, x, rows, group * length);
}

INLINE void block_minimum(Block *block, const Floats *minimums, const Activations *x, const int rows, i32 group,
                          const int length) {
  UNROLL for (int r = 0; r < rows; r++) {
    block->totals[r] = _mm512_fmadd_ps(minimums[0], _mm512_set1_ps(sum_of(x, r, group, length)), block->totals[r]);
  }
}

INLINE void block_store(Block *block, const int rows, float *out, i64 stride, i32 lanes) {
  __mmask16 mask = (__mmask16)((1u << lanes) - 1);
  UNROLL for (int r = 0; r < rows; r++) _mm512_mask_storeu_ps(out + r * stride, mask, block->totals[r]);
}
