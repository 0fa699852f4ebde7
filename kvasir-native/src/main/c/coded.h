// Products of coded weights with coded activations; the twin is ScalarCoded.products.
//
// A file that includes this defines, for its instruction set,
//   MOST_ROWS               rows of activations that a block of registers takes at the most: 1, 2, 4 or 8
//   Block                   registers for MOST_ROWS rows by the sixteen rows of a tile
//   block_clear, block_group8, block_group4, block_minimum, block_store, each with a constant count of rows
//
// Layout of a tile (CodedLayout.DOTS), in bytes from its beginning:
//   8 bits: (columns / 4, 16 rows, 4)   4 bits: (columns / 8, 16 rows, 4), columns 4..7 in the high nibbles
#include "coded_operands.h"
#include "coded_rows.h"

#include CODED_BLOCK
#if defined(__ARM_FEATURE_DOTPROD)
#include "coded_four_neon.h"
#endif

INLINE void multiply_rows(const Weights *w, const Activations *x, const int rows, const int bits, const int length,
                          float *out, i64 stride, i32 lanes) {
  Block block;
  block_clear(&block, rows);
  i32 groups = w->columns / length;
  const i8 *codes = w->codes;
  for (i32 group = 0; group < groups; group++) {
    if (bits == 8) {
      block_group8(&block, codes, w->scales + group * TILE, x, rows, group, length);
    } else {
      block_group4(&block, codes, w->scales + group * TILE, x, rows, group, length);
    }
    codes += TILE * length * bits / 8;
  }
  if (w->minimums) {
    for (i32 group = 0; group < groups; group++) {
      block_minimum(&block, w->minimums + group * TILE, x, rows, group, length);
    }
  }
  block_store(&block, rows, out, stride, lanes);
}

INLINE void multiply_tile(const Weights *w, const Activations *x, i32 rows, const int bits, const int length,
                          float *out, i64 stride, i32 lanes) {
  i32 row = 0;
  for (; row + MOST_ROWS <= rows; row += MOST_ROWS) {
    Activations from = from_row(x, row);
#if defined(__ARM_FEATURE_DOTPROD)
    multiply_four_rows(w, &from, bits, length, out + row * stride, stride, lanes);
#else
    multiply_rows(w, &from, MOST_ROWS, bits, length, out + row * stride, stride, lanes);
#endif
  }
#if MOST_ROWS > 4
  for (; row + 4 <= rows; row += 4) {
    Activations from = from_row(x, row);
    multiply_rows(w, &from, 4, bits, length, out + row * stride, stride, lanes);
  }
#endif
  for (; row < rows; row++) {
    Activations from = from_row(x, row);
    multiply_rows(w, &from, 1, bits, length, out + row * stride, stride, lanes);
  }
}

// Rows first_tile * 16 to end_tile * 16 of a matrix, but no further than matrix_rows, times rows of activations:
// out (rows, matrix_rows).
EXPORT void KERNEL(coded_products)(float *out, const i8 *codes, const float *scales, const float *minimums,
                                   i32 has_minimums, i32 bits, i32 group, i32 columns, i32 matrix_rows, i32 first_tile,
                                   i32 end_tile, const i8 *x_codes, const float *x_scales, const i32 *x_code_sums,
                                   const float *x_sums, i32 first_row, i32 rows) {
  Activations all = {x_codes, x_scales, x_code_sums, x_sums, columns};
  Activations x = from_row(&all, first_row);
  i64 tile_codes = (i64)TILE * columns * bits / 8, tile_scales = (i64)TILE * (columns / group);
  for (i32 tile = first_tile; tile < end_tile; tile++) {
    Weights w = {codes + tile * tile_codes,
                 scales + tile * tile_scales,
                 has_minimums ? minimums + tile * tile_scales : 0,
                 columns};
    i32 left = matrix_rows - tile * TILE, lanes = left < TILE ? left : TILE;
    float *to = out + (i64)first_row * matrix_rows + tile * TILE;
    if (bits == 8 && group == 32) {
      multiply_tile(&w, &x, rows, 8, 32, to, matrix_rows, lanes);
    } else if (bits == 8) {
      multiply_tile(&w, &x, rows, 8, 16, to, matrix_rows, lanes);
    } else if (group == 32) {
      multiply_tile(&w, &x, rows, 4, 32, to, matrix_rows, lanes);
    } else {
      multiply_tile(&w, &x, rows, 4, 16, to, matrix_rows, lanes);
    }
  }
}
