// Vectors of floats of the width of an instruction set, under one set of names.
#ifndef KVASIR_VECTORS_H
#define KVASIR_VECTORS_H

#include "kernels.h"

#if defined(__AVX512F__)
#include <immintrin.h>
#define LANES 16
typedef __m512 Floats;
INLINE Floats load(const float *at) { return _mm512_loadu_ps(at); }
INLINE void store(float *at, Floats x) { _mm512_storeu_ps(at, x); }
INLINE Floats all(float x) { return _mm512_set1_ps(x); }
INLINE Floats add(Floats a, Floats b) { return _mm512_add_ps(a, b); }
INLINE Floats subtract(Floats a, Floats b) { return _mm512_sub_ps(a, b); }
INLINE Floats multiply(Floats a, Floats b) { return _mm512_mul_ps(a, b); }
INLINE Floats divide(Floats a, Floats b) { return _mm512_div_ps(a, b); }
// a * b + c
INLINE Floats fused(Floats a, Floats b, Floats c) { return _mm512_fmadd_ps(a, b, c); }
// c - a * b
INLINE Floats fused_off(Floats a, Floats b, Floats c) { return _mm512_fnmadd_ps(a, b, c); }
INLINE Floats load_halves(const uint16_t *at) {
  return _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)at));
}
INLINE Floats load_brains(const uint16_t *at) {
  __m256i halves = _mm256_loadu_si256((const __m256i *)at);
  return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(halves), 16));
}
// Integers of 16 bits.
INLINE Floats load_integers(const int16_t *at) {
  return _mm512_cvtepi32_ps(_mm512_cvtepi16_epi32(_mm256_loadu_si256((const __m256i *)at)));
}
// Those of a and then those of b: every second one, from the first on or from the second on.
INLINE Floats evens(Floats a, Floats b) {
  const __m512i places = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
  return _mm512_permutex2var_ps(a, places, b);
}
INLINE Floats odds(Floats a, Floats b) {
  const __m512i places = _mm512_setr_epi32(1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
  return _mm512_permutex2var_ps(a, places, b);
}
// The larger; either where they are equal. Where one is not a number, the second, or on ARM none.
#define LARGER_STAYS_UNORDERED 0
INLINE Floats larger(Floats a, Floats b) { return _mm512_max_ps(a, b); }
INLINE Floats smaller(Floats a, Floats b) { return _mm512_min_ps(a, b); }
INLINE int any_unordered(Floats a) { return _mm512_cmp_ps_mask(a, a, _CMP_UNORD_Q) != 0; }
// 2^n of a float whose low bits hold n, times p.
INLINE Floats scaled_by_power(Floats p, Floats lifted) {
  __m512i power = _mm512_slli_epi32(_mm512_castps_si512(lifted), 23);
  return _mm512_castsi512_ps(_mm512_add_epi32(_mm512_castps_si512(p), power));
}

#elif defined(__AVX2__)
#include <immintrin.h>
#define LANES 8
typedef __m256 Floats;
INLINE Floats load(const float *at) { return _mm256_loadu_ps(at); }
INLINE void store(float *at, Floats x) { _mm256_storeu_ps(at, x); }
INLINE Floats all(float x) { return _mm256_set1_ps(x); }
INLINE Floats add(Floats a, Floats b) { return _mm256_add_ps(a, b); }
INLINE Floats subtract(Floats a, Floats b) { return _mm256_sub_ps(a, b); }
INLINE Floats multiply(Floats a, Floats b) { return _mm256_mul_ps(a, b); }
INLINE Floats divide(Floats a, Floats b) { return _mm256_div_ps(a, b); }
INLINE Floats fused(Floats a, Floats b, Floats c) { return _mm256_fmadd_ps(a, b, c); }
INLINE Floats fused_off(Floats a, Floats b, Floats c) { return _mm256_fnmadd_ps(a, b, c); }
INLINE Floats load_halves(const uint16_t *at) { return _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)at)); }
INLINE Floats load_brains(const uint16_t *at) {
  __m128i halves = _mm_loadu_si128((const __m128i *)at);
  return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(halves), 16));
}
INLINE Floats load_integers(const int16_t *at) {
  return _mm256_cvtepi32_ps(_mm256_cvtepi16_epi32(_mm_loadu_si128((const __m128i *)at)));
}
INLINE Floats in_order(Floats mixed) {
  return _mm256_castpd_ps(_mm256_permute4x64_pd(_mm256_castps_pd(mixed), 0xD8));
}
INLINE Floats evens(Floats a, Floats b) { return in_order(_mm256_shuffle_ps(a, b, 0x88)); }
INLINE Floats odds(Floats a, Floats b) { return in_order(_mm256_shuffle_ps(a, b, 0xDD)); }
#define LARGER_STAYS_UNORDERED 0
INLINE Floats larger(Floats a, Floats b) { return _mm256_max_ps(a, b); }
INLINE Floats smaller(Floats a, Floats b) { return _mm256_min_ps(a, b); }
INLINE int any_unordered(Floats a) { return _mm256_movemask_ps(_mm256_cmp_ps(a, a, _CMP_UNORD_Q)) != 0; }
INLINE Floats scaled_by_power(Floats p, Floats lifted) {
  __m256i power = _mm256_slli_epi32(_mm256_castps_si256(lifted), 23);
  return _mm256_castsi256_ps(_mm256_add_epi32(_mm256_castps_si256(p), power));
}

#else
#include <arm_neon.h>
#define LANES 4
typedef float32x4_t Floats;
INLINE Floats load(const float *at) { return vld1q_f32(at); }
INLINE void store(float *at, Floats x) { vst1q_f32(at, x); }
INLINE Floats all(float x) { return vdupq_n_f32(x); }
INLINE Floats add(Floats a, Floats b) { return vaddq_f32(a, b); }
INLINE Floats subtract(Floats a, Floats b) { return vsubq_f32(a, b); }
INLINE Floats multiply(Floats a, Floats b) { return vmulq_f32(a, b); }
INLINE Floats divide(Floats a, Floats b) { return vdivq_f32(a, b); }
INLINE Floats fused(Floats a, Floats b, Floats c) { return vfmaq_f32(c, a, b); }
INLINE Floats fused_off(Floats a, Floats b, Floats c) { return vfmsq_f32(c, a, b); }
INLINE Floats load_halves(const uint16_t *at) { return vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(at))); }
INLINE Floats load_brains(const uint16_t *at) { return vreinterpretq_f32_u32(vshll_n_u16(vld1_u16(at), 16)); }
INLINE Floats load_integers(const int16_t *at) { return vcvtq_f32_s32(vmovl_s16(vld1_s16(at))); }
INLINE Floats evens(Floats a, Floats b) { return vuzp1q_f32(a, b); }
INLINE Floats odds(Floats a, Floats b) { return vuzp2q_f32(a, b); }
#define LARGER_STAYS_UNORDERED 1
INLINE Floats larger(Floats a, Floats b) { return vmaxq_f32(a, b); }
INLINE Floats smaller(Floats a, Floats b) { return vminq_f32(a, b); }
INLINE int any_unordered(Floats a) { return vminvq_u32(vceqq_f32(a, a)) == 0; }
INLINE Floats scaled_by_power(Floats p, Floats lifted) {
  int32x4_t power = vshlq_n_s32(vreinterpretq_s32_f32(lifted), 23);
  return vreinterpretq_f32_s32(vaddq_s32(vreinterpretq_s32_f32(p), power));
}
#endif

// Vectors that the compiler makes of whatever registers there are. Those of 16-bit numbers are as wide as Floats.
#define SHORT_LANES (2 * LANES)
typedef uint16_t Shorts __attribute__((vector_size(2 * SHORT_LANES)));
typedef float Four __attribute__((vector_size(16)));

// The first so many lanes; the others are zero.
INLINE Shorts load_shorts(const void *at, const int lanes) {
  Shorts x = {0};
  __builtin_memcpy(&x, at, 2 * lanes);
  return x;
}
INLINE void store_shorts(void *at, Shorts x, const int lanes) { __builtin_memcpy(at, &x, 2 * lanes); }
INLINE Shorts all_shorts(uint16_t x) { return x - (Shorts){0}; }
INLINE Four load_four(const float *at) {
  Four x;
  __builtin_memcpy(&x, at, sizeof x);
  return x;
}
INLINE void store_four(float *at, Four x) { __builtin_memcpy(at, &x, sizeof x); }

INLINE float fused1(float a, float b, float c) { return __builtin_fmaf(a, b, c); }

// Neighbours are added until one is left: (0 + 1) + (2 + 3) ... The twin is PartialSums.total.
INLINE float total(Floats partial) {
  float sums[LANES];
  store(sums, partial);
  UNROLL for (int count = LANES / 2; count > 0; count /= 2) {
    UNROLL for (int i = 0; i < count; i++) sums[i] = sums[2 * i] + sums[2 * i + 1];
  }
  return sums[0];
}

// The totals of four.
INLINE void totals(Floats a, Floats b, Floats c, Floats d, float *out) {
#if LANES == 16
  __m512 ab = _mm512_add_ps(_mm512_shuffle_ps(a, b, 0x88), _mm512_shuffle_ps(a, b, 0xDD));
  __m512 cd = _mm512_add_ps(_mm512_shuffle_ps(c, d, 0x88), _mm512_shuffle_ps(c, d, 0xDD));
  __m512 abcd = _mm512_add_ps(_mm512_shuffle_ps(ab, cd, 0x88), _mm512_shuffle_ps(ab, cd, 0xDD));
  __m128 low = _mm_add_ps(_mm512_castps512_ps128(abcd), _mm512_extractf32x4_ps(abcd, 1));
  __m128 high = _mm_add_ps(_mm512_extractf32x4_ps(abcd, 2), _mm512_extractf32x4_ps(abcd, 3));
  _mm_storeu_ps(out, _mm_add_ps(low, high));
#elif LANES == 8
  __m256 abcd = _mm256_hadd_ps(_mm256_hadd_ps(a, b), _mm256_hadd_ps(c, d));
  _mm_storeu_ps(out, _mm_add_ps(_mm256_castps256_ps128(abcd), _mm256_extractf128_ps(abcd, 1)));
#else
  vst1q_f32(out, vpaddq_f32(vpaddq_f32(a, b), vpaddq_f32(c, d)));
#endif
}

#endif
