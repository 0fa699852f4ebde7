// The operands: a tile of sixteen quantized rows of weights, and quantized rows of activations.
#ifndef KVASIR_CODED_OPERANDS_H
#define KVASIR_CODED_OPERANDS_H

#include "coded_scales.h"

typedef struct {
  const i8 *codes;         // of a tile
  const uint8_t *scales;   // of its groups, see coded_scales.h
  const uint8_t *minimums; // of its groups, or null
  float minimum_factor;    // for minimums that are multiples of the scales, or zero
  i32 columns;
} Weights;

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
