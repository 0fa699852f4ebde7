// Quantizes the operands of dot products with packed codes. The Java reference is ScalarDots; QuantizedOperand defines
// the layout. Digits are the bytes of the operand.
#include "vectors.h"

#define MOST_WEIGHT_HEADS 8
#define LEAST_LARGEST 1e-30f
#define LARGEST_DIGIT 127
#define LOW_BITS 7

typedef float Floats16 __attribute__((vector_size(64)));
typedef i32 Ints16 __attribute__((vector_size(64)));
typedef i32 Ints8 __attribute__((vector_size(32)));
typedef i32 Ints4 __attribute__((vector_size(16)));
typedef i8 Digits16 __attribute__((vector_size(16)));
#define LOW_HALF(x) __builtin_shufflevector(x, x, 0, 1, 2, 3, 4, 5, 6, 7)
#define HIGH_HALF(x) __builtin_shufflevector(x, x, 8, 9, 10, 11, 12, 13, 14, 15)
#define LOW_QUARTER(x) __builtin_shufflevector(x, x, 0, 1, 2, 3)
#define HIGH_QUARTER(x) __builtin_shufflevector(x, x, 4, 5, 6, 7)
#define LARGER(a, b) (((a) & ((a) > (b))) | ((b) & ~((a) > (b))))

// Loads the first count floats of a vector, up to all; the others are zero and not read.
INLINE Floats load_first(const float *at, i32 count) {
#if LANES == 16
  return _mm512_maskz_loadu_ps((__mmask16)((1u << count) - 1), at);
#elif LANES == 8
  const __m256i places = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
  return _mm256_maskload_ps(at, _mm256_cmpgt_epi32(_mm256_set1_epi32(count), places));
#else
  float32x4_t x = vdupq_n_f32(0);
  if (count > 0) x = vld1q_lane_f32(at, x, 0);
  if (count > 1) x = vld1q_lane_f32(at + 1, x, 1);
  if (count > 2) x = vld1q_lane_f32(at + 2, x, 2);
  if (count > 3) x = vld1q_lane_f32(at + 3, x, 3);
  return x;
#endif
}
INLINE Floats load_first_halves(const uint16_t *at, i32 count) {
#if LANES == 16
  return _mm512_cvtph_ps(_mm256_maskz_loadu_epi16((__mmask16)((1u << count) - 1), at));
#else
  uint16_t halves[LANES];
  UNROLL for (int i = 0; i < LANES; i++) halves[i] = i < count ? at[i] : 0;
  return load_halves(halves);
#endif
}

// Halves as floats, times a factor, padded with zeros.
INLINE void expand_halves(const uint16_t *halves, i32 entries, i32 padded, float factor, float *out) {
  i32 e = 0;
  for (; e + LANES <= entries; e += LANES) store(out + e, multiply(load_halves(halves + e), all(factor)));
  for (; e < padded; e += LANES) {
    Floats last = e < entries ? load_first_halves(halves + e, entries - e) : all(0);
    store(out + e, multiply(last, all(factor)));
  }
}

// Partial sums of a head's weights and of its x * zero, and the largest magnitudes.
typedef struct {
  Partial sums, offsets;
  Floats largest[PART_VECTORS];
} Survey;

INLINE void survey_vector(Survey *survey, const int v, Floats x, i64 e, const float *scales, const float *zeros,
                          float *products) {
  Floats product = x;
  if (scales) {
    product = multiply(x, load(scales + e));
    survey->offsets.v[v] = fused(x, load(zeros + e), survey->offsets.v[v]);
  }
  store(products + e, product);
  survey->sums.v[v] = add(survey->sums.v[v], product);
  survey->largest[v] = larger(survey->largest[v], larger(product, subtract(all(0), product)));
}

INLINE void survey_head(Survey *survey, const float *x, i32 entries, const float *scales, const float *zeros,
                        float *products) {
  survey->sums = survey->offsets = no_sum();
  UNROLL for (int v = 0; v < PART_VECTORS; v++) survey->largest[v] = all(0);
  i32 e = 0;
  for (; e + PARTS <= entries; e += PARTS) {
    UNROLL for (int v = 0; v < PART_VECTORS; v++) {
      survey_vector(survey, v, load(x + e + v * LANES), e + v * LANES, scales, zeros, products);
    }
  }
  if (e < entries) {
    UNROLL for (int v = 0; v < PART_VECTORS; v++) {
      i32 left = entries - e - v * LANES, count = left < 0 ? 0 : left > LANES ? LANES : left;
      survey_vector(survey, v, load_first(x + e + v * LANES, count), e + v * LANES, scales, zeros, products);
    }
  }
}

// The totals of two heads: sum and offset of the first, and of the second.
INLINE void totals_of_two(const Survey *first, const Survey *second, float *out) {
  totals(&first->sums, &first->offsets, &second->sums, &second->offsets, out);
}

// Non-negative floats compare like their bits.
INLINE float largest_of_parts(const Floats *parts) {
  Ints16 bits;
  UNROLL for (int v = 0; v < PART_VECTORS; v++) __builtin_memcpy((i32 *)&bits + v * LANES, &parts[v], 4 * LANES);
  Ints8 eight = LARGER(LOW_HALF(bits), HIGH_HALF(bits));
  Ints4 four = LARGER(LOW_QUARTER(eight), HIGH_QUARTER(eight));
  four = LARGER(four, __builtin_shufflevector(four, four, 2, 3, 0, 1));
  four = LARGER(four, __builtin_shufflevector(four, four, 1, 0, 3, 2));
  i32 first = four[0];
  float largest;
  __builtin_memcpy(&largest, &first, 4);
  return largest;
}

// Rounds sixteen weights to integers, ties to even.
INLINE void nearest(const float *products, float scale, Ints16 *rounded) {
  Floats16 weights;
  __builtin_memcpy(&weights, products, sizeof weights);
  *rounded = (Ints16)(weights * scale + 12582912.0f) - 0x4B400000;
}

INLINE Ints4 quads_of(const Ints16 *digits) { return (Ints4)__builtin_convertvector(*digits, Digits16); }

INLINE i32 total_of_integers(const Ints16 *integers) {
  Ints8 eight = LOW_HALF(*integers) + HIGH_HALF(*integers);
  Ints4 four = LOW_QUARTER(eight) + HIGH_QUARTER(eight);
  return (four[0] + four[1]) + (four[2] + four[3]);
}

// Four quads of one row.
INLINE void lay_row(Ints4 quads, i64 rows, i8 *digits) {
  UNROLL for (int i = 0; i < 4; i++) __builtin_memcpy(digits + 4 * i * rows, (i32 *)&quads + i, 4);
}

// Four quads of four consecutive rows.
INLINE void lay_four_rows(const Ints4 *r, i64 rows, i8 *digits) {
  Ints4 ab = __builtin_shufflevector(r[0], r[1], 0, 4, 1, 5), cd = __builtin_shufflevector(r[2], r[3], 0, 4, 1, 5);
  Ints4 ef = __builtin_shufflevector(r[0], r[1], 2, 6, 3, 7), gh = __builtin_shufflevector(r[2], r[3], 2, 6, 3, 7);
  Ints4 quads[4] = {__builtin_shufflevector(ab, cd, 0, 1, 4, 5), __builtin_shufflevector(ab, cd, 2, 3, 6, 7),
                     __builtin_shufflevector(ef, gh, 0, 1, 4, 5), __builtin_shufflevector(ef, gh, 2, 3, 6, 7)};
  UNROLL for (int i = 0; i < 4; i++) __builtin_memcpy(digits + 4 * i * rows, &quads[i], 16);
}

// Digits of a few heads, one or four; returns the sums of their integers.
INLINE void round_heads(const float *products, i32 padded, const float *scales, i32 heads, i8 *digits, i32 *totals,
                        const int exact, const int count) {
  Ints16 sums[4];
  i64 rows = exact ? 2 * heads : heads;
  UNROLL for (int h = 0; h < count; h++) sums[h] = (Ints16){0};
  for (i32 e = 0; e < padded; e += PARTS, digits += 16 * rows) {
    Ints4 high[4], low[4];
    UNROLL for (int h = 0; h < count; h++) {
      Ints16 rounded;
      nearest(products + h * padded + e, scales[h], &rounded);
      sums[h] += rounded;
      if (exact) {
        Ints16 upper = (rounded + (1 << (LOW_BITS - 1))) >> LOW_BITS, lower = rounded - (upper << LOW_BITS);
        low[h] = quads_of(&lower);
        rounded = upper;
      }
      high[h] = quads_of(&rounded);
    }
    if (count == 4) {
      lay_four_rows(high, rows, digits);
      if (exact) lay_four_rows(low, rows, digits + 4 * heads);
    } else {
      lay_row(high[0], rows, digits);
      if (exact) lay_row(low[0], rows, digits + 4 * heads);
    }
  }
  UNROLL for (int h = 0; h < count; h++) totals[h] = total_of_integers(&sums[h]);
}

INLINE void round_all(const float *products, i32 padded, const float *scales, i32 heads, i8 *digits, i32 *totals,
                      const int exact) {
  i32 head = 0;
  for (; head + 4 <= heads; head += 4) {
    round_heads(products + head * padded, padded, scales + head, heads, digits + 4 * head, totals + head, exact, 4);
  }
  for (; head < heads; head++) {
    round_heads(products + head * padded, padded, scales + head, heads, digits + 4 * head, totals + head, exact, 1);
  }
}

// Writes digits and, for each head, the largest weight, the sum of weights, that of x * zero, and that of the integers.
SHARED void weigh(const float *x, i32 at, i32 stride, i32 heads, i32 entries, const uint8_t *bytes, i64 scales_at,
                  i64 zeros_at, float unit, i32 scaled, i32 exact, float *room, float *products, i8 *digits,
                  float *surveys, i32 *totals) {
  i32 padded = (entries + PARTS - 1) / PARTS * PARTS;
  float *scales = room, *zeros = room + padded, units[MOST_WEIGHT_HEADS], sums[2 * MOST_WEIGHT_HEADS];
  float limit = exact ? LARGEST_DIGIT << LOW_BITS : LARGEST_DIGIT;
  Survey found[MOST_WEIGHT_HEADS];
  if (scaled) {
    expand_halves((const uint16_t *)(bytes + scales_at), entries, padded, unit, scales);
    expand_halves((const uint16_t *)(bytes + zeros_at), entries, padded, 1, zeros);
  }
  for (i32 head = 0; head < heads; head++) {
    const float *from = x + at + (i64)head * stride;
    if (scaled) {
      survey_head(found + head, from, entries, scales, zeros, products + head * padded);
    } else {
      survey_head(found + head, from, entries, 0, 0, products + head * padded);
    }
  }
  for (i32 head = 0; head < heads; head += 2) {
    totals_of_two(found + head, found + (head + 1 < heads ? head + 1 : head), sums + 2 * head);
  }
  for (i32 head = 0; head < heads; head++) {
    float largest = largest_of_parts(found[head].largest);
    units[head] = largest < LEAST_LARGEST ? 0 : limit / largest;
    surveys[3 * head] = largest;
    surveys[3 * head + 1] = sums[2 * head];
    surveys[3 * head + 2] = sums[2 * head + 1];
  }
  if (exact) {
    round_all(products, padded, units, heads, digits, totals, 1);
  } else {
    round_all(products, padded, units, heads, digits, totals, 0);
  }
}

EXPORT void KERNEL(weigh)(const float *x, i32 at, i32 stride, i32 heads, i32 entries, const uint8_t *bytes,
                          i64 scales_at, i64 zeros_at, float unit, i32 scaled, i32 exact, float *room, float *products,
                          i8 *digits, float *surveys, i32 *totals) {
  weigh(x, at, stride, heads, entries, bytes, scales_at, zeros_at, unit, scaled, exact, room, products, digits, surveys,
        totals);
}
