// Four rows of activations by a tile, for prefill, with dot products: half a tile over all columns, then the other
// half. The totals of eight rows of weights, the sums of a group and their operands then fit into registers. The
// floats, and their order, are those of the blocks of coded_neon.h.

#define FOUR 4

typedef struct {
  int32x4_t sums[FOUR][2];     // of a group
  float32x4_t totals[FOUR][2];
} HalfBlock;

// Four columns of each row: a load holds those of four steps, and the instruction selects the lane it multiplies.
#define DOT_LANE(lane, w0, w1)                                                       \
  {                                                                                  \
    int8x16_t first = w0, second = w1;                                               \
    UNROLL for (int r = 0; r < FOUR; r++) {                                          \
      block->sums[r][0] = vdotq_laneq_s32(block->sums[r][0], first, columns[r], lane);  \
      block->sums[r][1] = vdotq_laneq_s32(block->sums[r][1], second, columns[r], lane); \
    }                                                                                \
  }

// Sixteen columns.
INLINE void dot_bytes(HalfBlock *block, const i8 *codes, const int8x16_t *columns) {
  DOT_LANE(0, vld1q_s8(codes), vld1q_s8(codes + 16))
  DOT_LANE(1, vld1q_s8(codes + 64), vld1q_s8(codes + 80))
  DOT_LANE(2, vld1q_s8(codes + 128), vld1q_s8(codes + 144))
  DOT_LANE(3, vld1q_s8(codes + 192), vld1q_s8(codes + 208))
}

INLINE int8x16_t high_nibbles(int8x16_t both) { return vreinterpretq_s8_u8(vshrq_n_u8(vreinterpretq_u8_s8(both), 4)); }

INLINE void dot_nibbles(HalfBlock *block, const i8 *codes, const int8x16_t *columns) {
  const int8x16_t low = vdupq_n_s8(15);
  int8x16_t a0 = vld1q_s8(codes), a1 = vld1q_s8(codes + 16), b0 = vld1q_s8(codes + 64), b1 = vld1q_s8(codes + 80);
  DOT_LANE(0, vandq_s8(a0, low), vandq_s8(a1, low))
  DOT_LANE(1, high_nibbles(a0), high_nibbles(a1))
  DOT_LANE(2, vandq_s8(b0, low), vandq_s8(b1, low))
  DOT_LANE(3, high_nibbles(b0), high_nibbles(b1))
}

INLINE void half_group(HalfBlock *block, const i8 *codes, const Numbers *scales, const int form, const Activations *x,
                       i32 column, const int bits, const int length) {
  UNROLL for (int r = 0; r < FOUR; r++) block->sums[r][0] = block->sums[r][1] = vdupq_n_s32(0);
  UNROLL for (int i = 0; i < length; i += 16) {
    int8x16_t columns[FOUR];
    UNROLL for (int r = 0; r < FOUR; r++) columns[r] = vld1q_s8(x->codes + (i64)r * x->columns + column + i);
    if (bits == 8) {
      dot_bytes(block, codes + TILE * i, columns);
    } else {
      dot_nibbles(block, codes + TILE / 2 * i, columns);
    }
  }
  float32x4_t scale0 = group_numbers(scales, form, 0), scale1 = group_numbers(scales, form, 1);
  UNROLL for (int r = 0; r < FOUR; r++) {
    float scale = scale_of(x, r, column);
    float32x4_t sum0 = vcvtq_f32_s32(block->sums[r][0]);
    float32x4_t sum1 = vcvtq_f32_s32(block->sums[r][1]);
    block->totals[r][0] = vfmaq_f32(block->totals[r][0], sum0, vmulq_n_f32(scale0, scale));
    block->totals[r][1] = vfmaq_f32(block->totals[r][1], sum1, vmulq_n_f32(scale1, scale));
  }
}

INLINE void half_minimum(HalfBlock *block, Floats minimum0, Floats minimum1, const Activations *x, i32 group,
                         const int length) {
  UNROLL for (int r = 0; r < FOUR; r++) {
    float sum = sum_of(x, r, group, length);
    block->totals[r][0] = vfmaq_n_f32(block->totals[r][0], minimum0, sum);
    block->totals[r][1] = vfmaq_n_f32(block->totals[r][1], minimum1, sum);
  }
}

INLINE void half_minimums(HalfBlock *block, const Weights *w, i32 half, const Activations *x, const int form,
                          const int length, const int computed) {
  const i32 together = groups_together(form, length);
  i32 groups = w->columns / length;
  for (i32 first = 0; first < groups; first += together) {
    Numbers numbers = numbers_from(minimums_at(w, form, first, length), form, 8 * half);
    for (i32 i = 0; i < together; i++, numbers.at += TILE) {
      half_minimum(block, minimums_of(w, &numbers, form, 0, computed), minimums_of(w, &numbers, form, 1, computed), x,
                   first + i, length);
    }
  }
}

INLINE void multiply_four_rows(const Weights *w, const Activations *x, const int bits, const int form,
                               const int length, float *out, i64 stride, i32 lanes) {
  const i32 together = groups_together(form, length);
  i32 groups = w->columns / length;
  for (int half = 0; half < 2; half++) {
    HalfBlock block;
    const i8 *codes = w->codes + 32 * half;
    UNROLL for (int r = 0; r < FOUR; r++) block.totals[r][0] = block.totals[r][1] = vdupq_n_f32(0);
    for (i32 first = 0; first < groups; first += together) {
      Numbers scales = numbers_from(numbers_at(w->scales, form, first, length), form, 8 * half);
      for (i32 i = 0; i < together; i++, codes += TILE * length * bits / 8, scales.at += TILE) {
        half_group(&block, codes, &scales, form, x, (first + i) * length, bits, length);
      }
    }
    if (w->minimums) {
      half_minimums(&block, w, half, x, form, length, 0);
    } else if (w->minimum_factor) {
      half_minimums(&block, w, half, x, form, length, 1);
    }
    UNROLL for (int r = 0; r < FOUR; r++) {
      float *to = out + r * stride + 8 * half;
      if (lanes == TILE) {
        vst1q_f32(to, block.totals[r][0]);
        vst1q_f32(to + 4, block.totals[r][1]);
      } else {
        float eight[8];
        vst1q_f32(eight, block.totals[r][0]);
        vst1q_f32(eight + 4, block.totals[r][1]);
        for (i32 lane = 0; lane < 8 && 8 * half + lane < lanes; lane++) to[lane] = eight[lane];
      }
    }
  }
}
