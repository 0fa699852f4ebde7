// Float vectors of the width of the instruction set, under common names.
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
// Integers of 8 bits.
INLINE Floats load_signed(const i8 *at) {
  return _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_loadu_si128((const __m128i *)at)));
}
// The larger; either if they are equal. If one is NaN, the second, or NaN on ARM.
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
INLINE Floats load_signed(const i8 *at) {
  return _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_loadl_epi64((const __m128i *)at)));
}
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
INLINE Floats load_signed(const i8 *at) {
  u32 four;
  __builtin_memcpy(&four, at, 4);
  int8x8_t bytes = vreinterpret_s8_u32(vdup_n_u32(four));
  return vcvtq_f32_s32(vmovl_s16(vget_low_s16(vmovl_s8(bytes))));
}
#define LARGER_STAYS_UNORDERED 1
INLINE Floats larger(Floats a, Floats b) { return vmaxq_f32(a, b); }
INLINE Floats smaller(Floats a, Floats b) { return vminq_f32(a, b); }
INLINE int any_unordered(Floats a) { return vminvq_u32(vceqq_f32(a, a)) == 0; }
INLINE Floats scaled_by_power(Floats p, Floats lifted) {
  int32x4_t power = vshlq_n_s32(vreinterpretq_s32_f32(lifted), 23);
  return vreinterpretq_f32_s32(vaddq_s32(vreinterpretq_s32_f32(p), power));
}
#endif

// Vectors that the compiler maps to the available registers. Vectors of 16-bit integers are as wide as Floats.
#define SHORT_LANES (2 * LANES)
typedef uint16_t Shorts __attribute__((vector_size(2 * SHORT_LANES)));
typedef float Four __attribute__((vector_size(16)));

// Loads the first lanes; the others are zero.
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

// ---- long sums

// A long sum has sixteen partial sums on every processor, in one to four vectors. PartialSums defines the order.
#define PARTS 16
#define PART_VECTORS (PARTS / LANES)
typedef struct {
  Floats v[PART_VECTORS];
} Partial;

INLINE Partial no_sum(void) {
  Partial sum;
  UNROLL for (int v = 0; v < PART_VECTORS; v++) sum.v[v] = all(0);
  return sum;
}

// Adds neighbours until one is left: (0 + 1) + (2 + 3) ...
INLINE float total(const Partial *sum) {
  float parts[PARTS];
  UNROLL for (int v = 0; v < PART_VECTORS; v++) store(parts + v * LANES, sum->v[v]);
  UNROLL for (int count = PARTS / 2; count > 0; count /= 2) {
    UNROLL for (int i = 0; i < count; i++) parts[i] = parts[2 * i] + parts[2 * i + 1];
  }
  return parts[0];
}

// The totals of four. Shuffles are scarce on x86, so two vectors are blended both ways and one blend is shuffled; the
// order within a sum of two does not matter.
INLINE void totals(const Partial *a, const Partial *b, const Partial *c, const Partial *d, float *out) {
#if LANES == 16
#define NEIGHBOURS(x, y) add(_mm512_mask_blend_ps(0xAAAA, x, y), _mm512_permute_ps(_mm512_mask_blend_ps(0x5555, x, y), 0xB1))
#define SECONDS(x, y) add(_mm512_mask_blend_ps(0xCCCC, x, y), _mm512_permute_ps(_mm512_mask_blend_ps(0x3333, x, y), 0x4E))
  __m512 four = SECONDS(NEIGHBOURS(a->v[0], b->v[0]), NEIGHBOURS(c->v[0], d->v[0]));
  __m128 low = _mm_add_ps(_mm512_castps512_ps128(four), _mm512_extractf32x4_ps(four, 1));
  __m128 high = _mm_add_ps(_mm512_extractf32x4_ps(four, 2), _mm512_extractf32x4_ps(four, 3));
  _mm_storeu_ps(out, _mm_add_ps(low, high));
#elif LANES == 8
#define NEIGHBOURS(x, y) add(_mm256_blend_ps(x, y, 0xAA), _mm256_permute_ps(_mm256_blend_ps(x, y, 0x55), 0xB1))
#define SECONDS(x, y) add(_mm256_blend_ps(x, y, 0xCC), _mm256_permute_ps(_mm256_blend_ps(x, y, 0x33), 0x4E))
  __m128 halves[2];
  UNROLL for (int v = 0; v < 2; v++) {
    __m256 four = SECONDS(NEIGHBOURS(a->v[v], b->v[v]), NEIGHBOURS(c->v[v], d->v[v]));
    halves[v] = _mm_add_ps(_mm256_castps256_ps128(four), _mm256_extractf128_ps(four, 1));
  }
  _mm_storeu_ps(out, _mm_add_ps(halves[0], halves[1]));
#else
  float32x4_t quarters[4];
  UNROLL for (int v = 0; v < 4; v++) {
    quarters[v] = vpaddq_f32(vpaddq_f32(a->v[v], b->v[v]), vpaddq_f32(c->v[v], d->v[v]));
  }
  vst1q_f32(out, vaddq_f32(vaddq_f32(quarters[0], quarters[1]), vaddq_f32(quarters[2], quarters[3])));
#endif
}

// The totals of some sums, four at a time.
INLINE void totals_of(const Partial *sums, const int count, float *out) {
  UNROLL for (int i = 0; i + 4 <= count; i += 4) totals(sums + i, sums + i + 1, sums + i + 2, sums + i + 3, out + i);
  const int left = count % 4;
  if (left) {
    const Partial *last = sums + count - left;
    float some[4];
    totals(last, last + (left > 1), last + (left > 2 ? 2 : 0), last, some);
    UNROLL for (int i = 0; i < left; i++) out[count - left + i] = some[i];
  }
}

#endif
