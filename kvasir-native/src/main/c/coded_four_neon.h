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

// `half_codes` are those of the group from the first row of the half on.
#define DOT_QUAD(lane)                                                          \
  DOT_LANE(lane, quad_codes(half_codes, kind, i / 4 + lane, 0, levels), \
           quad_codes(half_codes, kind, i / 4 + lane, 16, levels))

INLINE void half_group(HalfBlock *block, const Weights *w, const i8 *half_codes, const Numbers *scales, const int form,
                       const Activations *x, i32 group, const int kind, const int length) {
  const int8x16_t levels = levels_of(w, kind);
  const i32 column = group * length;
  UNROLL for (int r = 0; r < FOUR; r++) {
    block->sums[r][0] = block->sums[r][1] = vdupq_n_s32(lowest_sum(x, r, group, length, lowest_of(w, kind)));
  }
  UNROLL for (int i = 0; i < length; i += 16) {
    int8x16_t columns[FOUR];
    UNROLL for (int r = 0; r < FOUR; r++) columns[r] = vld1q_s8(x->codes + (i64)r * x->columns + column + i);
    DOT_QUAD(0)
    DOT_QUAD(1)
    DOT_QUAD(2)
    DOT_QUAD(3)
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

INLINE void multiply_four_rows(const Weights *w, const Activations *x, const int kind, const int form,
                               const int length, float *out, i64 stride, i32 lanes) {
  const i32 together = groups_together(form, length);
  i32 groups = w->columns / length;
  for (int half = 0; half < 2; half++) {
    HalfBlock block;
    const i8 *codes = w->codes + 32 * half;
    UNROLL for (int r = 0; r < FOUR; r++) block.totals[r][0] = block.totals[r][1] = vdupq_n_f32(0);
    for (i32 first = 0; first < groups; first += together) {
      Numbers scales = numbers_from(numbers_at(w->scales, form, first, length), form, 8 * half);
      for (i32 i = 0; i < together; i++, codes += code_bytes(kind, length), scales.at += TILE) {
        half_group(&block, w, codes, &scales, form, x, first + i, kind, length);
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
