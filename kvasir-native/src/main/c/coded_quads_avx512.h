// Codes of a quad, four columns of sixteen rows, in AVX-512: bytes and levels are signed, others unsigned.
#ifndef KVASIR_CODED_QUADS_AVX512_H
#define KVASIR_CODED_QUADS_AVX512_H

#include "coded_operands.h"

#include <immintrin.h>

INLINE __m512i levels_of(const Weights *w, const int kind) {
  return kind == LEVELS ? _mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i *)w->levels)) : _mm512_setzero_si512();
}

INLINE __m512i quad_codes(const i8 *codes, const int kind, const int quad, __m512i levels) {
  if (kind == BYTES) return _mm512_loadu_si512(codes + 64 * quad);
  __m512i both = _mm512_loadu_si512(nibbles_of(codes, kind, quad));
  __m512i code = _mm512_and_si512(quad % 2 ? _mm512_srli_epi16(both, 4) : both, _mm512_set1_epi8(15));
  if (kind == LEVELS) return _mm512_shuffle_epi8(levels, code);
  if (upper_bits(kind)) {
    __m512i upper = _mm512_loadu_si512(uppers_of(codes, kind, quad));
    const int left = 4 - upper_shift(kind, quad);
    upper = left > 0 ? _mm512_slli_epi16(upper, left > 0 ? left : 0) : _mm512_srli_epi16(upper, left > 0 ? 0 : -left);
    code = _mm512_or_si512(code, _mm512_and_si512(upper, _mm512_set1_epi8((char)upper_mask(kind))));
  }
  return code;
}

#endif
