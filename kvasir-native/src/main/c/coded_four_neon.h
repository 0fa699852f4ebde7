// Four rows of activations by a tile, as prompts have them, with dot products: half a tile from its first column to its
// last, and then the other half. So the totals of eight rows of weights, the sums of a group and what they multiply are
// in registers at once. The floats are those of the blocks of coded_neon.h, in the same order.

#define FOUR 4

typedef struct {
  int32x4_t sums[FOUR][2];     // of a group
  float32x4_t totals[FOUR][2];
} HalfBlock;

// Four columns of each row: a load has those of four steps, and an instruction names the ones that it multiplies.
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

INLINE void half_group(HalfBlock *block, const i8 *codes, const float *scales, const Activations *x, i32 column,
                       const int bits, const int length) {
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
  float32x4_t scale0 = vld1q_f32(scales), scale1 = vld1q_f32(scales + 4);
  UNROLL for (int r = 0; r < FOUR; r++) {
    float scale = scale_of(x, r, column);
    float32x4_t sum0 = vcvtq_f32_s32(block->sums[r][0]);
    float32x4_t sum1 = vcvtq_f32_s32(block->sums[r][1]);
    block->totals[r][0] = vfmaq_f32(block->totals[r][0], sum0, vmulq_n_f32(scale0, scale));
    block->totals[r][1] = vfmaq_f32(block->totals[r][1], sum1, vmulq_n_f32(scale1, scale));
  }
}

INLINE void half_minimum(HalfBlock *block, const float *minimums, const Activations *x, i32 group, const int length) {
  float32x4_t minimum0 = vld1q_f32(minimums), minimum1 = vld1q_f32(minimums + 4);
  UNROLL for (int r = 0; r < FOUR; r++) {
    float sum = sum_of(x, r, group, length);
    block->totals[r][0] = vfmaq_n_f32(block->totals[r][0], minimum0, sum);
    block->totals[r][1] = vfmaq_n_f32(block->totals[r][1], minimum1, sum);
  }
}

INLINE void multiply_four_rows(const Weights *w, const Activations *x, const int bits, const int length, float *out,
                               i64 stride, i32 lanes) {
  i32 groups = w->columns / length;
  for (int half = 0; half < 2; half++) {
    HalfBlock block;
    const i8 *codes = w->codes + 32 * half;
    const float *scales = w->scales + 8 * half;
    UNROLL for (int r = 0; r < FOUR; r++) block.totals[r][0] = block.totals[r][1] = vdupq_n_f32(0);
    for (i32 group = 0; group < groups; group++, codes += TILE * length * bits / 8) {
      half_group(&block, codes, scales + group * TILE, x, group * length, bits, length);
    }
    if (w->minimums) {
      const float *minimums = w->minimums + 8 * half;
      for (i32 group = 0; group < groups; group++) half_minimum(&block, minimums + group * TILE, x, group, length);
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
