// Weights of sums over packed codes, rounded to integers. The twin is ScalarDots; CodeWeights says what lies where.
#include "vectors.h"

#define WEIGHT_PARTS 16   // partial sums of weights, on every machine; entries are filled up to a multiple of them
#define MOST_ENTRIES 1024
#define LEAST_LARGEST 1e-30f
#define LARGEST_DIGIT 127
#define LOW_BITS 7

// Where entries are filled up: within the last parts.
INLINE void clear_last(float *products, i32 padded) {
  UNROLL for (int v = 1; v <= WEIGHT_PARTS / LANES; v++) store(products + padded - v * LANES, all(0));
}

// x * unit, filled up with zeros.
INLINE void copy_weights(const float *x, float unit, i32 entries, i32 padded, float *products) {
  clear_last(products, padded);
  for (i32 e = 0; e < entries; e++) products[e] = x[e] * unit;
}

INLINE float half_to_float(uint16_t half) {
  uint16_t halves[LANES] = {half};
  float floats[LANES];
  store(floats, load_halves(halves));
  return floats[0];
}

// x * (scale * unit), filled up with zeros; answers the sum of x * zero.
INLINE float scale_weights(const float *x, const uint16_t *scales, const uint16_t *zeros, float unit, i32 entries,
                           i32 padded, float *products) {
  Floats units = all(unit), partial = all(0);
  clear_last(products, padded);
  i32 e = 0;
  for (; e + LANES <= entries; e += LANES) {
    Floats weights = load(x + e);
    store(products + e, multiply(weights, multiply(load_halves(scales + e), units)));
    partial = fused(weights, load_halves(zeros + e), partial);
  }
  float offset = total(partial);
  for (; e < entries; e++) {
    products[e] = x[e] * (half_to_float(scales[e]) * unit);
    offset = fused1(x[e], half_to_float(zeros[e]), offset);
  }
  return offset;
}

INLINE void survey(const float *products, i32 padded, float *largest, float *sum) {
  Floats parts[WEIGHT_PARTS / LANES], most[WEIGHT_PARTS / LANES];
  UNROLL for (int v = 0; v < WEIGHT_PARTS / LANES; v++) parts[v] = most[v] = all(0);
  for (i32 e = 0; e < padded; e += WEIGHT_PARTS) {
    UNROLL for (int v = 0; v < WEIGHT_PARTS / LANES; v++) {
      Floats w = load(products + e + v * LANES);
      parts[v] = add(parts[v], w);
      most[v] = larger(most[v], larger(w, subtract(all(0), w)));
    }
  }
  float sums[WEIGHT_PARTS], sizes[WEIGHT_PARTS];
  UNROLL for (int v = 0; v < WEIGHT_PARTS / LANES; v++) {
    store(sums + v * LANES, parts[v]);
    store(sizes + v * LANES, most[v]);
  }
  UNROLL for (int count = WEIGHT_PARTS / 2; count > 0; count /= 2) {
    UNROLL for (int i = 0; i < count; i++) {
      sums[i] = sums[2 * i] + sums[2 * i + 1];
      sizes[i] = sizes[2 * i] > sizes[2 * i + 1] ? sizes[2 * i] : sizes[2 * i + 1];
    }
  }
  *largest = sizes[0];
  *sum = sums[0];
}

INLINE i32 nearest(float units) {
  float lifted = units + 12582912.0f;
  i32 bits;
  __builtin_memcpy(&bits, &lifted, 4);
  return bits - 0x4B400000;
}

// Answers the sum of the integers; low is null where one digit is enough.
INLINE i32 round_weights(const float *products, i32 padded, float scale, i8 *high, i8 *low) {
  i32 sum = 0;
  if (low) {
    for (i32 e = 0; e < padded; e++) {
      i32 rounded = nearest(products[e] * scale), upper = (rounded + (1 << (LOW_BITS - 1))) >> LOW_BITS;
      sum += rounded;
      high[e] = (i8)upper;
      low[e] = (i8)(rounded - (upper << LOW_BITS));
    }
  } else {
    for (i32 e = 0; e < padded; e++) {
      i32 rounded = nearest(products[e] * scale);
      sum += rounded;
      high[e] = (i8)rounded;
    }
  }
  return sum;
}

// A row of digits becomes the row's quads.
INLINE void lay_digits(const i8 *row, i32 entries, i64 rows, i8 *digits) {
  for (i32 e = 0; e < entries; e += 4, digits += 4 * rows) __builtin_memcpy(digits, row + e, 4);
}

// Leaves digits, and for each head the largest weight, the sum of weights, that of x * zero, and that of the integers.
EXPORT void KERNEL(weigh)(const float *x, i32 at, i32 stride, i32 heads, i32 entries, const uint8_t *bytes,
                          i64 scales_at, i64 zeros_at, float unit, i32 scaled, i32 exact, float *products, i8 *digits,
                          float *surveys, i32 *totals) {
  i8 high[MOST_ENTRIES], low[MOST_ENTRIES];
  i32 rows = exact ? 2 * heads : heads;
  i32 padded = (entries + WEIGHT_PARTS - 1) / WEIGHT_PARTS * WEIGHT_PARTS;
  const uint16_t *scales = (const uint16_t *)(bytes + scales_at), *zeros = (const uint16_t *)(bytes + zeros_at);
  for (i32 head = 0; head < heads; head++) {
    const float *from = x + at + (i64)head * stride;
    float *survey_to = surveys + 3 * head;
    if (scaled) {
      survey_to[2] = scale_weights(from, scales, zeros, unit, entries, padded, products);
    } else {
      copy_weights(from, unit, entries, padded, products);
      survey_to[2] = 0;
    }
    survey(products, padded, survey_to, survey_to + 1);
    float limit = exact ? LARGEST_DIGIT << LOW_BITS : LARGEST_DIGIT;
    float scale = survey_to[0] < LEAST_LARGEST ? 0 : limit / survey_to[0];
    totals[head] = round_weights(products, padded, scale, high, exact ? low : 0);
    lay_digits(high, entries, rows, digits + 4 * head);
    if (exact) lay_digits(low, entries, rows, digits + 4 * (heads + head));
  }
}
