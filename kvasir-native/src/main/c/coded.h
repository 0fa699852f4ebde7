// GEMM with quantized weights and activations. The Java reference is ScalarGemm.products.
//
// A file that includes this defines, for its instruction set,
//   MOST_ROWS               maximum rows of activations per block of registers: 1, 2, 4 or 8
//   Block                   registers for MOST_ROWS rows by the sixteen rows of a tile
//   block_clear, block_group, block_minimum, block_store, each with a constant count of rows, and with constant kinds of
//   codes and scales where they take them
//
// Layout of a tile (QuantizedWeights), in bytes from its start:
//   8 bits: (columns / 4, 16 rows, 4)   4 bits: (columns / 8, 16 rows, 4), columns 4..7 in the high nibbles
//   5 and 6 bits: (columns / 32 or 16, nibbles as above and then (16 rows, 4) upper bits)
#include "coded_operands.h"
#include "coded_rows.h"

#include CODED_BLOCK
#if defined(__ARM_FEATURE_DOTPROD)
#include "coded_four_neon.h"
#endif

// Prefetch distances in bytes. The last rows of a tile are often its only ones, as in decoding: codes and scales then
// come from memory, and runs of scales and minimums are too short for the hardware prefetcher.
#define CODES_AHEAD 4096
#define SCALES_AHEAD 768

// Prefetches data behind a group. A tile's minimums are used after all of its groups.
INLINE void prefetch(const Weights *w, const i8 *codes, const int code_bytes, const Numbers *scales) {
  UNROLL for (int line = 0; line < code_bytes; line += 64) __builtin_prefetch(codes + CODES_AHEAD + line);
  __builtin_prefetch(scales->at + SCALES_AHEAD);
  if (w->minimums) __builtin_prefetch(w->minimums + (scales->at - w->scales));
}

INLINE void add_minimums(Block *block, const Weights *w, const Activations *x, const int rows, const int form,
                         const int length, const int computed) {
  const i32 together = groups_together(form, length);
  i32 groups = w->columns / length;
  for (i32 first = 0; first < groups; first += together) {
    Numbers numbers = minimums_at(w, form, first, length);
    for (i32 i = 0; i < together; i++, numbers.at += TILE) {
      Floats minimums[ROW_VECTORS];
      UNROLL for (int v = 0; v < ROW_VECTORS; v++) minimums[v] = minimums_of(w, &numbers, form, v, computed);
      block_minimum(block, minimums, x, rows, first + i, length);
    }
  }
}

INLINE void multiply_rows(const Weights *w, const Activations *x, const int rows, i32 is_last, const int kind,
                          const int form, const int length, float *out, i64 stride, i32 lanes) {
  Block block;
  block_clear(&block, rows);
  const i32 together = groups_together(form, length);
  i32 groups = w->columns / length;
  const i8 *codes = w->codes;
  for (i32 first = 0; first < groups; first += together) {
    Numbers scales = numbers_at(w->scales, form, first, length);
    for (i32 i = 0; i < together; i++, codes += code_bytes(kind, length), scales.at += TILE) {
      if (is_last) prefetch(w, codes, (int)code_bytes(kind, length), &scales);
      block_group(&block, w, codes, &scales, kind, form, x, rows, first + i, length);
    }
  }
  if (w->minimums) {
    add_minimums(&block, w, x, rows, form, length, 0);
  } else if (w->minimum_factor) {
    add_minimums(&block, w, x, rows, form, length, 1);
  }
  block_store(&block, rows, out, stride, lanes);
}

#define ROWS_OF_BLOCK(count, is_last)                                                               \
  {                                                                                                 \
    Activations from = from_row(x, row);                                                            \
    multiply_rows(w, &from, count, is_last, kind, form, length, out + row * stride, stride, lanes); \
    row += count;                                                                                   \
  }

// Each block unpacks the weights again, so as many of the remaining rows as possible share one.
INLINE void multiply_tile(const Weights *w, const Activations *x, i32 rows, const int kind, const int form,
                          const int length, float *out, i64 stride, i32 lanes) {
  i32 row = 0;
#if defined(__ARM_FEATURE_DOTPROD)
  for (; row + MOST_ROWS <= rows; row += MOST_ROWS) {
    Activations from = from_row(x, row);
    multiply_four_rows(w, &from, kind, form, length, out + row * stride, stride, lanes);
  }
#else
  while (row + MOST_ROWS <= rows) ROWS_OF_BLOCK(MOST_ROWS, row + MOST_ROWS == rows)
#endif
#if MOST_ROWS > 4
  if (row + 4 <= rows) ROWS_OF_BLOCK(4, row + 4 == rows)
#endif
#if MOST_ROWS > 2
  if (row + 3 == rows) ROWS_OF_BLOCK(3, 1)
  if (row + 2 == rows) ROWS_OF_BLOCK(2, 1)
#endif
  if (row < rows) ROWS_OF_BLOCK(1, 1)
}

// Dispatches on the combinations of codes, encoding and group that formats have; Java passes no others.
INLINE void multiply_form(const Weights *w, const Activations *x, i32 rows, i32 bits, i32 group, const int form,
                          float *out, i64 stride, i32 lanes) {
  if (group == 32) {
    if (w->levels) {
      multiply_tile(w, x, rows, LEVELS, form, 32, out, stride, lanes);
    } else if (bits == NIBBLES) {
      multiply_tile(w, x, rows, NIBBLES, form, 32, out, stride, lanes);
    } else if (bits == FIVE_BITS && form != FLOATS) {
      multiply_tile(w, x, rows, FIVE_BITS, form, 32, out, stride, lanes);
    } else if (bits == BYTES && form != PRODUCTS) {
      multiply_tile(w, x, rows, BYTES, form, 32, out, stride, lanes);
    }
  } else if (form == FLOATS && w->levels) {
    multiply_tile(w, x, rows, LEVELS, form, 16, out, stride, lanes);
  } else if (form != HALVES && bits == NIBBLES) {
    multiply_tile(w, x, rows, NIBBLES, form, 16, out, stride, lanes);
  } else if (form == PRODUCTS && bits == SIX_BITS) {
    multiply_tile(w, x, rows, SIX_BITS, form, 16, out, stride, lanes);
  }
}

// Multiplies rows first_tile * 16 to end_tile * 16 of a matrix, up to matrix_rows, with rows of activations:
// out (rows, matrix_rows).
EXPORT void KERNEL(coded_products)(float *out, const i8 *codes, const uint8_t *scales, const uint8_t *minimums,
                                   const i8 *levels, i32 has_levels, i32 has_minimums, i32 form, i32 minimum_factor,
                                   i32 bits, i32 lowest, i32 group, i32 columns, i32 matrix_rows, i32 first_tile,
                                   i32 end_tile, const i8 *x_codes, const float *x_scales, const i32 *x_code_sums,
                                   const float *x_sums, i32 first_row, i32 rows) {
  Activations all = {x_codes, x_scales, x_code_sums, x_sums, columns};
  Activations x = from_row(&all, first_row);
  i64 tile_codes = (i64)TILE * columns * bits / 8, tile_scales = number_bytes(form, columns, group);
  for (i32 tile = first_tile; tile < end_tile; tile++) {
    Weights w = {codes + tile * tile_codes, scales + tile * tile_scales,
                 has_minimums ? minimums + tile * tile_scales : 0, (float)minimum_factor, has_levels ? levels : 0, lowest,
                 columns};
    i32 left = matrix_rows - tile * TILE, lanes = left < TILE ? left : TILE;
    float *to = out + (i64)first_row * matrix_rows + tile * TILE;
    if (form == FLOATS) {
      multiply_form(&w, &x, rows, bits, group, FLOATS, to, matrix_rows, lanes);
    } else if (form == HALVES) {
      multiply_form(&w, &x, rows, bits, group, HALVES, to, matrix_rows, lanes);
    } else {
      multiply_form(&w, &x, rows, bits, group, PRODUCTS, to, matrix_rows, lanes);
    }
  }
}
