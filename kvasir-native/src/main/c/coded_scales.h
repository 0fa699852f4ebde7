// Scales and minimums of a tile's groups, sixteen numbers each. The Java reference is ScaleFormat.
#ifndef KVASIR_CODED_SCALES_H
#define KVASIR_CODED_SCALES_H

#include "vectors.h"

// ScaleFormat.ScaleEncoding, in its order.
enum { FLOATS, HALVES, PRODUCTS };

// Columns that share the half of a product.
#define SUPER_BLOCK 256

// Vectors that hold one number per row of a tile.
#define ROW_VECTORS (TILE / LANES)

// The numbers of a group.
typedef struct {
  const uint8_t *at;     // sixteen floats, halves or signed bytes
  const uint8_t *halves; // factors of the bytes
} Numbers;

// Bytes of the numbers of all groups in some columns of a tile.
INLINE i64 number_bytes(const int form, i64 columns, const int length) {
  i64 groups = columns / length;
  return TILE * (form == FLOATS ? 4 * groups : form == HALVES ? 2 * groups : groups + columns / SUPER_BLOCK * 2);
}

// Groups that share halves, which stay in registers meanwhile; the bytes of the groups are contiguous.
INLINE i32 groups_together(const int form, const int length) { return form == PRODUCTS ? SUPER_BLOCK / length : 1; }

INLINE Numbers numbers_at(const uint8_t *tile, const int form, i32 group, const int length) {
  if (form != PRODUCTS) {
    Numbers numbers = {tile + group * number_bytes(form, length, length), 0};
    return numbers;
  }
  const i32 groups = groups_together(form, length);
  const uint8_t *halves = tile + group / groups * number_bytes(form, SUPER_BLOCK, length);
  Numbers numbers = {halves + (2 + group % groups) * TILE, halves};
  return numbers;
}

// The numbers from a row on.
INLINE Numbers numbers_from(Numbers numbers, const int form, i32 row) {
  Numbers from = {numbers.at + row * (form == FLOATS ? 4 : form == HALVES ? 2 : 1), numbers.halves + 2 * row};
  return from;
}

// The vector of rows part * LANES and on. The product of a half and a byte is exact.
INLINE Floats group_numbers(const Numbers *numbers, const int form, const int part) {
  if (form == FLOATS) {
    return load((const float *)numbers->at + part * LANES);
  }
  if (form == HALVES) {
    return load_halves((const uint16_t *)numbers->at + part * LANES);
  }
  Floats halves = load_halves((const uint16_t *)numbers->halves + part * LANES);
  return multiply(halves, load_signed((const i8 *)numbers->at + part * LANES));
}

#endif
