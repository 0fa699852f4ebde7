// Four groups of activations at once, so that their maxima, divisions and sums fill a vector.
#include <immintrin.h>

#define GROUPS_TOGETHER 4

INLINE __m512i magnitudes(const float *x) {
  return _mm512_and_si512(_mm512_loadu_si512(x), _mm512_set1_epi32(0x7fffffff));
}

// The largest magnitude of a group is one of four lanes.
INLINE __m128i four_largest(const float *x) {
  __m512i sixteen = _mm512_max_epi32(magnitudes(x), magnitudes(x + 16));
  __m256i eight = _mm256_max_epi32(_mm512_castsi512_si256(sixteen), _mm512_extracti64x4_epi64(sixteen, 1));
  return _mm_max_epi32(_mm256_castsi256_si128(eight), _mm256_extracti128_si256(eight, 1));
}

INLINE __m128i largest_of_groups(const float *x) {
  __m128i a = four_largest(x), b = four_largest(x + GROUP);
  __m128i c = four_largest(x + 2 * GROUP), d = four_largest(x + 3 * GROUP);
  __m128i ab = _mm_max_epi32(_mm_unpacklo_epi32(a, b), _mm_unpackhi_epi32(a, b));
  __m128i cd = _mm_max_epi32(_mm_unpacklo_epi32(c, d), _mm_unpackhi_epi32(c, d));
  return _mm_max_epi32(_mm_unpacklo_epi64(ab, cd), _mm_unpackhi_epi64(ab, cd));
}

INLINE __m512i sixteen_codes(const float *x, float inverse) {
  __m512 scaled = _mm512_mul_ps(_mm512_loadu_ps(x), _mm512_set1_ps(inverse));
  __m512i lifted = _mm512_cvttps_epi32(_mm512_add_ps(scaled, _mm512_set1_ps(128.5f)));
  return _mm512_sub_epi32(lifted, _mm512_set1_epi32(128));
}

// Codes of two groups as bytes. Packing interleaves four of each operand.
INLINE __m512i codes_of_two(const float *x, const float *inverses) {
  __m512i first = _mm512_packs_epi32(sixteen_codes(x, inverses[0]), sixteen_codes(x + 16, inverses[0]));
  __m512i second = _mm512_packs_epi32(sixteen_codes(x + 32, inverses[1]), sixteen_codes(x + 48, inverses[1]));
  const __m512i places = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  return _mm512_permutexvar_epi32(places, _mm512_packs_epi16(first, second));
}

// Sums of sixteen codes each, for four groups in order.
INLINE __m256i eight_sums(__m512i first, __m512i second) {
  const __m512i ones = _mm512_set1_epi8(1), zeros = _mm512_setzero_si512();
  __m512i a = _mm512_dpbusd_epi32(zeros, ones, first), b = _mm512_dpbusd_epi32(zeros, ones, second);
  __m256i low = _mm256_hadd_epi32(_mm512_castsi512_si256(a), _mm512_extracti64x4_epi64(a, 1));
  __m256i high = _mm256_hadd_epi32(_mm512_castsi512_si256(b), _mm512_extracti64x4_epi64(b, 1));
  return _mm256_permutevar8x32_epi32(_mm256_hadd_epi32(low, high), _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
}

// Returns whether the groups were quantized; those without a finite, normal scale need code_group.
INLINE int code_groups(const float *x, i8 *codes, float *scales, i32 *code_sums, float *sums) {
  __m128i largest_bits = largest_of_groups(x);
  __m128 largest = _mm_castsi128_ps(largest_bits);
  __mmask8 odd = _mm_cmpge_epi32_mask(largest_bits, _mm_set1_epi32(INFINITE)) |
                 _mm_cmp_ps_mask(largest, _mm_set1_ps(SMALLEST_CODED), _CMP_LT_OQ);
  if (odd) {
    return 0;
  }
  float inverses[GROUPS_TOGETHER];
  _mm_storeu_ps(inverses, _mm_div_ps(_mm_set1_ps(127), largest));
  __m128 scale = _mm_div_ps(largest, _mm_set1_ps(127));
  __m512i first = codes_of_two(x, inverses), second = codes_of_two(x + 2 * GROUP, inverses + 2);
  __m256i found = eight_sums(first, second);
  __m256 twice = _mm256_permutevar8x32_ps(_mm256_castps128_ps256(scale), _mm256_setr_epi32(0, 0, 1, 1, 2, 2, 3, 3));
  _mm_storeu_ps(scales, scale);
  _mm512_storeu_si512(codes, first);
  _mm512_storeu_si512(codes + 2 * GROUP, second);
  _mm256_storeu_si256((__m256i *)code_sums, found);
  _mm256_storeu_ps(sums, _mm256_mul_ps(twice, _mm256_cvtepi32_ps(found)));
  return 1;
}
