// GEMM with quantized weights and activations. The Java reference is ScalarGemm.products.
//
// A file that includes this defines, for its instruction set,
//   MOST_ROWS               maximum rows of activations per block of registers: 1, 2, 4 or 8
//   Block                   registers for MOST_ROWS rows by the sixteen rows of a tile
//   block_clear, block_group8, block_group4, block_minimum, block_store, each with a constant count of rows, and with a
//   constant scale encoding where they take one
//
// Layout of a tile (QuantizedWeights), in bytes from its start:
//   8 bits: (columns / 4, 16 rows, 4)   4 bits: (columns / 8, 16 rows, 4), columns 4..7 in the high nibbles
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

INLINE void multiply_rows(const Weights *w, const Activations *x, const int rows, const int is_last, const int bits,
                          const int form, const int length, float *out, i64 stride, i32 lanes) {
  Block block;
  block_clear(&block, rows);
  const i32 together = groups_together(form, length);
  i32 groups = w->columns / length;
  const i8 *codes = w->codes;
  for (i32 first = 0; first < groups; first += together) {
    Numbers scales = numbers_at(w->scales, form, first, length);
    for (i32 i = 0; i < together; i++, codes += TILE * length * bits / 8, scales.at += TILE) {
      if (is_last) prefetch(w, codes, TILE * length * bits / 8, &scales);
      if (bits == 8) {
        block_group8(&block, codes, &scales, form, x, rows, first + i, length);
      } else {
        block_group4(&block, codes, &scales, form, x, rows, first + i, length);
      }
    }
  }
  if (w->minimums) {
    add_minimums(&block, w, x, rows, form, length, 0);
  } else if (w->minimum_factor) {
    add_minimums(&block, w, x, rows, form, length, 1);
  }
  block_store(&block, rows, out, stride, lanes);
}

#define LAST_ROWS(count)                                                                     \
  case count:                                                                                \
    multiply_rows(w, &from, count, 1, bits, form, length, out + row * stride, stride, lanes); \
    break

// Each block unpacks the weights again, so the rows that remain after whole blocks share one too.
INLINE void multiply_tile(const Weights *w, const Activations *x, i32 rows, const int bits, const int form,
                          const int length, float *out, i64 stride, i32 lanes) {
  i32 row = 0;
#if defined(__ARM_FEATURE_DOTPROD)
  for (; row + MOST_ROWS <= rows; row += MOST_ROWS) {
    Activations from = from_row(x, row);
    multiply_four_rows(w, &from, bits, form, length, out + row * stride, stride, lanes);
  }
#else
  for (; row + MOST_ROWS < rows; row += MOST_ROWS) {
    Activations from = from_row(x, row);
    multiply_rows(w, &from, MOST_ROWS, 0, bits, form, length, out + row * stride, stride, lanes);
  }
#endif
  Activations from = from_row(x, row);
  switch (rows - row) {
    LAST_ROWS(1);
#if MOST_ROWS > 2
    LAST_ROWS(2);
    LAST_ROWS(3);
#endif
#if MOST_ROWS > 4
    LAST_ROWS(4);
    LAST_ROWS(5);
    LAST_ROWS(6);
    LAST_ROWS(7);
#endif
#if !defined(__ARM_FEATURE_DOTPROD)
    LAST_ROWS(MOST_ROWS);
#endif
  }
}

// Dispatches on the combinations of encoding and group that formats have; Java passes no others.
INLINE void multiply_form(const Weights *w, const Activations *x, i32 rows, i32 bits, i32 group, const int form,
                          float *out, i64 stride, i32 lanes) {
  if (bits == 8 && group == 32) {
    multiply_tile(w, x, rows, 8, form, 32, out, stride, lanes);
  } else if (group == 32) {
    multiply_tile(w, x, rows, 4, form, 32, out, stride, lanes);
  } else if (form == HALVES) {
    return;
  } else if (bits == 8) {
    multiply_tile(w, x, rows, 8, form, 16, out, stride, lanes);
  } else {
    multiply_tile(w, x, rows, 4, form, 16, out, stride, lanes);
  }
}

// Multiplies rows first_tile * 16 to end_tile * 16 of a matrix, up to matrix_rows, with rows of activations:
// out (rows, matrix_rows).
EXPORT void KERNEL(coded_products)(float *out, const i8 *codes, const uint8_t *scales, const uint8_t *minimums,
                                   i32 has_minimums, i32 form, i32 minimum_factor, i32 bits, i32 group, i32 columns,
                                   i32 matrix_rows, i32 first_tile, i32 end_tile, const i8 *x_codes,
                                   const float *x_scales, const i32 *x_code_sums, const float *x_sums, i32 first_row,
                                   i32 rows) {
  Activations all = {x_codes, x_scales, x_code_sums, x_sums, columns};
  Activations x = from_row(&all, first_row);
  i64 tile_codes = (i64)TILE * columns * bits / 8, tile_scales = number_bytes(form, columns, group);
  for (i32 tile = first_tile; tile < end_tile; tile++) {
    Weights w = {codes + tile * tile_codes, scales + tile * tile_scales,
                 has_minimums ? minimums + tile * tile_scales : 0, (float)minimum_factor, columns};
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
