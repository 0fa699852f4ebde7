// The operands: a tile of sixteen quantized rows of weights, and quantized rows of activations.
#ifndef KVASIR_CODED_OPERANDS_H
#define KVASIR_CODED_OPERANDS_H

#include "coded_scales.h"

// What codes are, see WeightCodes: bits of an integer, or indices of levels. Constant in the functions that take one.
enum { NIBBLES = 4, FIVE_BITS = 5, SIX_BITS = 6, BYTES = 8, LEVELS = 20 };

typedef struct {
  const i8 *codes;         // of a tile
  const uint8_t *scales;   // of its groups, see coded_scales.h
  const uint8_t *minimums; // of its groups, or null
  float minimum_factor;    // for minimums that are multiples of the scales, or zero
  const i8 *levels;        // sixteen, or null
  i32 lowest;              // what zero bits mean, where codes have five or six
  i32 columns;
} Weights;

INLINE i64 code_bytes(const int kind, i64 columns) { return TILE * columns * (kind == LEVELS ? 4 : kind) / 8; }

// Bits of a code above its nibble.
INLINE int upper_bits(const int kind) { return kind == FIVE_BITS ? 1 : kind == SIX_BITS ? 2 : 0; }

// Four columns of sixteen rows are a quad. The upper bits of a run of quads share bytes, behind the run's nibbles.
INLINE int run_quads(const int kind) { return upper_bits(kind) ? 8 / upper_bits(kind) : 2; }

INLINE const i8 *run_of(const i8 *codes, const int kind, const int quad) {
  return codes + quad / run_quads(kind) * code_bytes(kind, 4 * run_quads(kind));
}

INLINE const i8 *nibbles_of(const i8 *codes, const int kind, const int quad) {
  return run_of(codes, kind, quad) + 64 * (quad % run_quads(kind) / 2);
}

INLINE const i8 *uppers_of(const i8 *codes, const int kind, const int quad) {
  return run_of(codes, kind, quad) + 32 * run_quads(kind);
}

// Where the upper bits of a quad begin in their bytes.
INLINE int upper_shift(const int kind, const int quad) { return quad % run_quads(kind) * upper_bits(kind); }

// Upper bits where a code has them.
INLINE int upper_mask(const int kind) { return ((1 << upper_bits(kind)) - 1) << 4; }

typedef struct {
  const i8 *codes;       // (rows, columns)
  const float *scales;   // (rows, columns / 32)
  const i32 *code_sums;  // (rows, columns / 16)
  const float *sums;     // (rows, columns / 16)
  i32 columns;
} Activations;

INLINE Activations from_row(const Activations *x, i64 row) {
  Activations from = *x;
  from.codes += row * x->columns;
  from.scales += row * (x->columns / GROUP);
  from.code_sums += row * (x->columns / SUM_GROUP);
  from.sums += row * (x->columns / SUM_GROUP);
  return from;
}

INLINE i32 code_sum(const Activations *x, i64 row, i32 group, i32 length) {
  const i32 *sums = x->code_sums + row * (x->columns / SUM_GROUP);
  return length == SUM_GROUP ? sums[group] : sums[2 * group] + sums[2 * group + 1];
}

// The sum that a group starts from, if kernels multiply codes that are lower by `lowest` than they should be.
INLINE i32 lowest_sum(const Activations *x, i64 row, i32 group, i32 length, i32 lowest) {
  return lowest * code_sum(x, row, group, length);
}

INLINE float sum_of(const Activations *x, i64 row, i32 group, i32 length) {
  const float *sums = x->sums + row * (x->columns / SUM_GROUP);
  return length == SUM_GROUP ? sums[group] : sums[2 * group] + sums[2 * group + 1];
}

INLINE float scale_of(const Activations *x, i64 row, i32 column) {
  return x->scales[row * (x->columns / GROUP) + column / GROUP];
}

// The stored minimums of a group, or the scales that they are multiples of.
INLINE Numbers minimums_at(const Weights *w, const int form, i32 group, const int length) {
  return numbers_at(w->minimums ? w->minimums : w->scales, form, group, length);
}

INLINE Floats minimums_of(const Weights *w, const Numbers *numbers, const int form, const int part,
                          const int computed) {
  Floats stored = group_numbers(numbers, form, part);
  return computed ? multiply(all(w->minimum_factor), stored) : stored;
}

#endif
