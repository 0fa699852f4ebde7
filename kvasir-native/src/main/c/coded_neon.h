// NEON: the sixteen rows of a tile are the lanes of four vectors. With dot product instructions, four columns are one
// SDOT; without them, two widening multiplications and two pairwise additions.
#include <arm_neon.h>

#define MOST_ROWS 4

typedef struct {
  float32x4_t totals[MOST_ROWS][4];
} Block;

INLINE void block_clear(Block *block, const int rows) {
  UNROLL for (int r = 0; r < rows; r++) {
    UNROLL for (int part = 0; part < 4; part++) block->totals[r][part] = vdupq_n_f32(0);
  }
}

INLINE int8x16_t four_columns(const i8 *x) {
  i32 four;
  __builtin_memcpy(&four, x, 4);
  return vreinterpretq_s8_s32(vdupq_n_s32(four));
}

#ifdef __ARM_FEATURE_DOTPROD
INLINE int32x4_t dot_columns(int32x4_t sum, int8x16_t w, int8x16_t x) { return vdotq_s32(sum, w, x); }
#else
INLINE int32x4_t dot_columns(int32x4_t sum, int8x16_t w, int8x16_t x) {
  int32x4_t low = vpaddlq_s16(vmull_s8(vget_low_s8(w), vget_low_s8(x)));
  int32x4_t high = vpaddlq_s16(vmull_high_s8(w, x));
  return vaddq_s32(sum, vpaddq_s32(low, high));
}
#endif

// Half a tile at a time: two vectors of sums for each of four rows, which leaves registers for the operands.
INLINE void add_scaled(Block *block, int32x4_t sums[][2], const int half, const Numbers *scales, const int form,
                       const Activations *x, const int rows, i32 column) {
  float32x4_t scale0 = group_numbers(scales, form, 2 * half), scale1 = group_numbers(scales, form, 2 * half + 1);
  UNROLL for (int r = 0; r < rows; r++) {
    float scale = scale_of(x, r, column);
    float32x4_t *totals = block->totals[r] + 2 * half;
    totals[0] = vfmaq_f32(totals[0], vcvtq_f32_s32(sums[r][0]), vmulq_n_f32(scale0, scale));
    totals[1] = vfmaq_f32(totals[1], vcvtq_f32_s32(sums[r][1]), vmulq_n_f32(scale1, scale));
  }
}

// Codes of a quad for the four rows from `rows` bytes on. Those of five and six bits are above the lowest one.
INLINE int8x16_t quad_codes(const i8 *codes, const int kind, const int quad, const int rows, int8x16_t levels) {
  if (kind == BYTES) return vld1q_s8(codes + 64 * quad + rows);
  uint8x16_t both = vreinterpretq_u8_s8(vld1q_s8(nibbles_of(codes, kind, quad) + rows));
  uint8x16_t code = quad % 2 ? vshrq_n_u8(both, 4) : vandq_u8(both, vdupq_n_u8(15));
  if (kind == LEVELS) return vqtbl1q_s8(levels, code);
  if (upper_bits(kind)) {
    uint8x16_t upper = vreinterpretq_u8_s8(vld1q_s8(uppers_of(codes, kind, quad) + rows));
    upper = vshlq_u8(upper, vdupq_n_s8((i8)(4 - upper_shift(kind, quad))));
    code = vorrq_u8(code, vandq_u8(upper, vdupq_n_u8((uint8_t)upper_mask(kind))));
  }
  return vreinterpretq_s8_u8(code);
}

INLINE int8x16_t levels_of(const Weights *w, const int kind) {
  return kind == LEVELS ? vld1q_s8(w->levels) : vdupq_n_s8(0);
}

INLINE i32 lowest_of(const Weights *w, const int kind) { return upper_bits(kind) ? w->lowest : 0; }

INLINE void block_group(Block *block, const Weights *w, const i8 *codes, const Numbers *scales, const int kind,
                        const int form, const Activations *x, const int rows, i32 group, const int length) {
  const int8x16_t levels = levels_of(w, kind);
  UNROLL for (int half = 0; half < 2; half++) {
    int32x4_t sums[MOST_ROWS][2];
    UNROLL for (int r = 0; r < rows; r++) {
      sums[r][0] = sums[r][1] = vdupq_n_s32(lowest_sum(x, r, group, length, lowest_of(w, kind)));
    }
    UNROLL for (int quad = 0; quad < length / 4; quad++) {
      int8x16_t w0 = quad_codes(codes, kind, quad, 32 * half, levels);
      int8x16_t w1 = quad_codes(codes, kind, quad, 32 * half + 16, levels);
      UNROLL for (int r = 0; r < rows; r++) {
        int8x16_t four = four_columns(x->codes + (i64)r * x->columns + group * length + 4 * quad);
        sums[r][0] = dot_columns(sums[r][0], w0, four);
        sums[r][1] = dot_columns(sums[r][1], w1, four);
      }
    }
    add_scaled(block, sums, half, scales, form, x, rows, group * length);
  }
}

INLINE void block_minimum(Block *block, const Floats *minimums, const Activations *x, const int rows, i32 group,
                          const int length) {
  UNROLL for (int part = 0; part < 4; part++) {
    UNROLL for (int r = 0; r < rows; r++) {
      block->totals[r][part] = vfmaq_n_f32(block->totals[r][part], minimums[part], sum_of(x, r, group, length));
    }
  }
}

INLINE void block_store(Block *block, const int rows, float *out, i64 stride, i32 lanes) {
  UNROLL for (int r = 0; r < rows; r++) {
    if (lanes == TILE) {
      UNROLL for (int part = 0; part < 4; part++) vst1q_f32(out + r * stride + 4 * part, block->totals[r][part]);
    } else {
      float all[TILE];
      UNROLL for (int part = 0; part < 4; part++) vst1q_f32(all + 4 * part, block->totals[r][part]);
      for (i32 lane = 0; lane < lanes; lane++) out[r * stride + lane] = all[lane];
    }
  }
}
