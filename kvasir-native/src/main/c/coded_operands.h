// What is multiplied: a tile of sixteen coded rows of weights, and coded rows of activations.
#ifndef KVASIR_CODED_OPERANDS_H
#define KVASIR_CODED_OPERANDS_H

#include "kernels.h"

typedef struct {
  const i8 *codes;       // of a tile
  const float *scales;   // (groups, 16)
  const float *minimums; // (groups, 16), or null
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

#endif
