// Quantizes activations to signed bytes. The Java reference is QuantizedActivations.quantize. The result does not
// depend on any order: largest values are compared as integers, and sums are integers.
#include "kernels.h"

INLINE i32 bits_of(float x) {
  i32 bits;
  __builtin_memcpy(&bits, &x, 4);
  return bits;
}

INLINE float float_of(i32 bits) {
  float x;
  __builtin_memcpy(&x, &bits, 4);
  return x;
}

#define INFINITE 0x7f800000
#define SMALLEST_CODED 1e-36f

INLINE void code_group(const float *x, i8 *codes, float *scale, i32 *code_sums, float *sums) {
  // Magnitudes compare like their bits, and NaN compares greater than infinity.
  i32 largest_bits = 0;
  for (int i = 0; i < GROUP; i++) {
    i32 magnitude = bits_of(x[i]) & 0x7fffffff;
    largest_bits = magnitude > largest_bits ? magnitude : largest_bits;
  }
  float largest = float_of(largest_bits);
  if (largest_bits >= INFINITE || largest < SMALLEST_CODED) {
    *scale = largest_bits >= INFINITE ? float_of(0x7fc00000) : 0;
    for (int i = 0; i < GROUP; i++) {
      codes[i] = 0;
    }
    for (int half = 0; half < GROUP / SUM_GROUP; half++) {
      code_sums[half] = 0;
      sums[half] = *scale;
    }
    return;
  }
  float inverse = 127 / largest;
  *scale = largest / 127;
  for (int half = 0; half < GROUP / SUM_GROUP; half++) {
    i32 sum = 0;
    for (int i = half * SUM_GROUP; i < (half + 1) * SUM_GROUP; i++) {
      // Adding 128 first turns truncation into rounding to nearest, also for negative values.
      i32 code = (i32)(x[i] * inverse + 128.5f) - 128;
      codes[i] = (i8)code;
      sum += code;
    }
    code_sums[half] = sum;
    sums[half] = *scale * (float)sum;
  }
}

#if defined(__AVX512VNNI__)
#include "coded_rows_avx512.h"
#else
#define GROUPS_TOGETHER 1
// The compiler vectorizes this.
INLINE int code_groups(const float *x, i8 *codes, float *scales, i32 *code_sums, float *sums) {
  code_group(x, codes, scales, code_sums, sums);
  return 1;
}
#endif

// x, codes: (rows, columns); scales: (rows, columns / 32); both kinds of sums: (rows, columns / 16)
EXPORT void KERNEL(code_rows)(const float *x, i8 *codes, float *scales, i32 *code_sums, float *sums, i32 columns,
                              i32 first, i32 end) {
  i64 group = (i64)first * columns / GROUP, to = (i64)end * columns / GROUP;
  while (group < to) {
    i64 half = group * (GROUP / SUM_GROUP);
    if (group + GROUPS_TOGETHER <= to &&
        code_groups(x + group * GROUP, codes + group * GROUP, scales + group, code_sums + half, sums + half)) {
      group += GROUPS_TOGETHER;
    } else {
      code_group(x + group * GROUP, codes + group * GROUP, scales + group, code_sums + half, sums + half);
      group++;
    }
  }
}
