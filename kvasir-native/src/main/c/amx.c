// GEMM with quantized weights and sixteen rows of activations at a time, by AMX. The Java reference is
// ScalarGemm.products.
//
// 8-bit weights in the layout of QuantizedWeights already are a matrix operand: a row of a tile register is four
// columns of sixteen rows. A scale belongs to 16 or 32 columns, so a register holds no more than that. Its sums pass
// through memory to vectors, which scale and accumulate them. Four groups are in flight at once, since a sum takes 50
// cycles.
#define ISA amx
#include "coded_quads_avx512.h"

#define ROWS 16

// Tile registers: four of sums, and two pairs of operands.
#define SUMS 0
#define ACTIVATIONS 4
#define WEIGHTS 5

typedef struct {
  uint8_t palette, first_row, zeros[14];
  uint16_t row_bytes[16];
  uint8_t rows[16];
} Shapes;

_Static_assert(sizeof(Shapes) == 64, "as the processor reads it");

INLINE void begin_tiles(i32 length) {
  Shapes shapes = {.palette = 1};
  for (int sums = SUMS; sums < SUMS + 4; sums++) {
    shapes.row_bytes[sums] = 4 * TILE;
    shapes.rows[sums] = ROWS;
  }
  for (int pair = 0; pair < 4; pair += 2) {
    shapes.row_bytes[ACTIVATIONS + pair] = (uint16_t)length;
    shapes.rows[ACTIVATIONS + pair] = ROWS;
    shapes.row_bytes[WEIGHTS + pair] = 4 * TILE;
    shapes.rows[WEIGHTS + pair] = (uint8_t)(length / 4);
  }
  _tile_loadconfig(&shapes);
}

// Integer sums of a group for sixteen rows of activations (down) and of weights (across).
#define MULTIPLY_GROUP(sums, pair, group)                                                                            \
  _tile_zero(SUMS + sums);                                                                                           \
  _tile_loadd(ACTIVATIONS + pair, x->codes + (group) * length, x->columns);                                          \
  _tile_loadd(WEIGHTS + pair, w->codes + (i64)(group) * length * TILE, 4 * TILE);                                    \
  _tile_dpbssd(SUMS + sums, ACTIVATIONS + pair, WEIGHTS + pair)

INLINE void add_scaled(__m512 *totals, const i32 *sums, const Weights *w, const Activations *x, const int form,
                       i32 group, const int length) {
  Numbers scales = numbers_at(w->scales, form, group, length);
  __m512 weight_scale = group_numbers(&scales, form, 0);
  UNROLL for (int r = 0; r < ROWS; r++) {
    __m512 scale = _mm512_mul_ps(weight_scale, _mm512_set1_ps(scale_of(x, r, group * length)));
    totals[r] = _mm512_fmadd_ps(_mm512_cvtepi32_ps(_mm512_load_si512(sums + r * TILE)), scale, totals[r]);
  }
}

INLINE void add_products(__m512 *totals, const Weights *w, const Activations *x, const int form, const int length) {
  i32 sums[4][ROWS * TILE] __attribute__((aligned(64)));
  i32 groups = w->columns / length, group = 0;
  for (; group + 4 <= groups; group += 4) {
    MULTIPLY_GROUP(0, 0, group);
    MULTIPLY_GROUP(1, 2, group + 1);
    _tile_stored(SUMS, sums[0], 4 * TILE);
    MULTIPLY_GROUP(2, 0, group + 2);
    _tile_stored(SUMS + 1, sums[1], 4 * TILE);
    MULTIPLY_GROUP(3, 2, group + 3);
    _tile_stored(SUMS + 2, sums[2], 4 * TILE);
    _tile_stored(SUMS + 3, sums[3], 4 * TILE);
    UNROLL for (int i = 0; i < 4; i++) add_scaled(totals, sums[i], w, x, form, group + i, length);
  }
  for (; group < groups; group++) {
    MULTIPLY_GROUP(0, 0, group);
    _tile_stored(SUMS, sums[0], 4 * TILE);
    add_scaled(totals, sums[0], w, x, form, group, length);
  }
}

// Sums of groups of 32 are those of two halves: sixteen of them are added at once.
INLINE void add_minimums(__m512 *totals, const Weights *w, const Activations *x, const int form, const int length,
                         const int computed) {
  const __m512i evens = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
  const __m512i odds = _mm512_setr_epi32(1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
  float sums[ROWS][16] __attribute__((aligned(64)));
  i32 groups = w->columns / length, halves = x->columns / SUM_GROUP;
  for (i32 first = 0; first < groups; first += 16) {
    i32 count = groups - first < 16 ? groups - first : 16;
    UNROLL for (int r = 0; r < ROWS; r++) {
      const float *from = x->sums + (i64)r * halves + first * (length / SUM_GROUP);
      if (length == SUM_GROUP) {
        _mm512_store_ps(sums[r], _mm512_maskz_loadu_ps((__mmask16)((1u << count) - 1), from));
      } else {
        u32 there = count == 16 ? ~0u : (1u << 2 * count) - 1;
        __m512 low = _mm512_maskz_loadu_ps((__mmask16)there, from);
        __m512 high = _mm512_maskz_loadu_ps((__mmask16)(there >> 16), from + 16);
        _mm512_store_ps(sums[r], _mm512_add_ps(_mm512_permutex2var_ps(low, evens, high),
                                               _mm512_permutex2var_ps(low, odds, high)));
      }
    }
    for (i32 group = 0; group < count; group++) {
      Numbers minimums = minimums_at(w, form, first + group, length);
      __m512 minimum = minimums_of(w, &minimums, form, 0, computed);
      UNROLL for (int r = 0; r < ROWS; r++) {
        totals[r] = _mm512_fmadd_ps(minimum, _mm512_set1_ps(sums[r][group]), totals[r]);
      }
    }
  }
}

INLINE void multiply_rows(const Weights *w, const Activations *x, const int form, const int length, float *out,
                          i64 stride, i32 lanes) {
  __m512 totals[ROWS];
  UNROLL for (int r = 0; r < ROWS; r++) totals[r] = _mm512_setzero_ps();
  add_products(totals, w, x, form, length);
  if (w->minimums) {
    add_minimums(totals, w, x, form, length, 0);
  } else if (w->minimum_factor) {
    add_minimums(totals, w, x, form, length, 1);
  }
  __mmask16 mask = (__mmask16)((1u << lanes) - 1);
  UNROLL for (int r = 0; r < ROWS; r++) _mm512_mask_storeu_ps(out + r * stride, mask, totals[r]);
}

// Unpacks a tile to signed bytes, some quads at a time.
INLINE void expand_kind(const Weights *w, const i8 *from, const int kind, i8 *to) {
  const __m512i lowest = _mm512_set1_epi8((char)w->lowest), levels = levels_of(w, kind);
  for (i32 column = 0; column < w->columns; column += 32, from += code_bytes(kind, 32), to += TILE * 32) {
    UNROLL for (int quad = 0; quad < 8; quad++) {
      __m512i code = quad_codes(from, kind, quad, levels);
      if (upper_bits(kind)) code = _mm512_add_epi8(code, lowest);
      _mm512_storeu_si512(to + 64 * quad, code);
    }
  }
}

INLINE void expand(const Weights *w, const i8 *from, i32 bits, i8 *to) {
  if (w->levels) {
    expand_kind(w, from, LEVELS, to);
  } else if (bits == NIBBLES) {
    expand_kind(w, from, NIBBLES, to);
  } else if (bits == FIVE_BITS) {
    expand_kind(w, from, FIVE_BITS, to);
  } else {
    expand_kind(w, from, SIX_BITS, to);
  }
}

INLINE void multiply_form(const Weights *w, const Activations *x, const int form, i32 group, float *out, i64 stride,
                          i32 lanes) {
  if (group == 32) {
    multiply_rows(w, x, form, 32, out, stride, lanes);
  } else if (form != HALVES) {
    multiply_rows(w, x, form, 16, out, stride, lanes);
  }
}

// As coded_products of the other files, but for a multiple of sixteen rows. Codes are unpacked into a buffer of
// 16 * columns bytes, which holds the last tile afterwards. The caller says if it already holds the first tile.
EXPORT void KERNEL(coded_products)(float *out, const i8 *codes, const uint8_t *scales, const uint8_t *minimums,
                                   const i8 *levels, i32 has_levels, i32 has_minimums, i32 form, i32 minimum_factor,
                                   i32 bits, i32 lowest, i32 group, i32 columns, i32 matrix_rows, i32 first_tile,
                                   i32 end_tile, const i8 *x_codes, const float *x_scales, const i32 *x_code_sums,
                                   const float *x_sums, i32 first_row, i32 rows, i8 *workspace, i32 expanded) {
  Activations all = {x_codes, x_scales, x_code_sums, x_sums, columns};
  i64 tile_codes = (i64)TILE * columns * bits / 8, tile_scales = number_bytes(form, columns, group);
  begin_tiles(group);
  for (i32 tile = first_tile; tile < end_tile; tile++) {
    const i8 *tile_at = codes + tile * tile_codes;
    Weights w = {bits == BYTES ? tile_at : workspace, scales + tile * tile_scales,
                 has_minimums ? minimums + tile * tile_scales : 0, (float)minimum_factor, has_levels ? levels : 0, lowest,
                 columns};
    if (bits != BYTES && !(expanded && tile == first_tile)) expand(&w, tile_at, bits, workspace);
    i32 left = matrix_rows - tile * TILE, lanes = left < TILE ? left : TILE;
    for (i32 row = first_row; row < first_row + rows; row += ROWS) {
      Activations x = from_row(&all, row);
      float *to = out + (i64)row * matrix_rows + tile * TILE;
      if (form == FLOATS) {
        multiply_form(&w, &x, FLOATS, group, to, matrix_rows, lanes);
      } else if (form == HALVES) {
        multiply_form(&w, &x, HALVES, group, to, matrix_rows, lanes);
      } else {
        multiply_form(&w, &x, PRODUCTS, group, to, matrix_rows, lanes);
      }
    }
  }
  // While a thread holds tile state, every context switch has to save it.
  _tile_release();
}
