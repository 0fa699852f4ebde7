// A warp's state for its heads: outputs, and a maximum and a sum of weights for each head.
//
// Columns of the matrix instruction are heads, eight of them. With fp16 pages these are eight heads (Eight). With packed
// pages they are four heads twice (Twice): the first four columns are for rows 0-7, the last four for rows 8-15, and the
// other two quadrants are unused. So a lane has two heads in either case, and scores of all its rows.
#pragma once
#include "base.cuh"

constexpr float WEIGHT_SHIFT = 5.f;     // weights are stored times 2^5, so that halves cover those above and below one
constexpr float MAXIMUM_SLACK = 5.f;    // the maximum is updated when a score exceeds it by this: weights stay below 2^10

// Returns the factor of weights when their maximum rises; 0 if there was no score before.
DEVICE float shrinking(float from, float to) { return from == minusInfinity() ? 0.f : powerOfTwo(from - to); }

struct Eight {
  static constexpr int HEADS = 8;
  static constexpr int NEAREST_LANE = 4;                        // with other scores of the same heads
  DEVICE static int column(int lane) { return lane >> 2; }      // the head of a lane's column in the second operand
  DEVICE static int firstHead(int lane) { return 2 * (lane & 3); }
};

struct Twice {
  static constexpr int HEADS = 4;
  static constexpr int NEAREST_LANE = 2;
  DEVICE static int column(int lane) { return lane >> 2 & 3; }
  DEVICE static int firstHead(int lane) { return 2 * (lane & 1); }
  DEVICE static bool upper(int lane) { return (lane & 2) != 0; }  // whether the lane's own rows are 8-15
};

template <class COLUMNS, int D> struct Heads {
  u32 queries[D / 8];       // channels 16j + 2q, +1 at 2j and those 8 further at 2j + 1, of the lane's column
  float outputs[D / 16][4];
  float most0, most1;       // of the lane's two heads, in powers of two
  float sum0, sum1;         // of the lane's own weights; of all lanes at the end

  DEVICE void clear() {
#pragma unroll
    for (int i = 0; i < D / 16; i++) { outputs[i][0] = outputs[i][1] = outputs[i][2] = outputs[i][3] = 0.f; }
    most0 = most1 = minusInfinity();
    sum0 = sum1 = 0.f;
  }

  // rows: `count` queries, from the first head on; columns without a head are zero
  DEVICE void load(const u16* rows, int count, int lane) {
    const int head = COLUMNS::column(lane);
    const u32* row = reinterpret_cast<const u32*>(rows + head * D) + (lane & 3);
#pragma unroll
    for (int j = 0; j < D / 8; j++) queries[j] = head < count ? loadShareable(row + 4 * j) : 0;
  }

  // Raises the maxima to those of new scores that exceed them. Returns whether outputs were rescaled.
  template <int N> DEVICE bool follow(const float (&x0)[N], const float (&x1)[N], float& factor0, float& factor1) {
    float new0 = x0[0], new1 = x1[0];
#pragma unroll
    for (int i = 1; i < N; i++) { new0 = fmaxf(new0, x0[i]); new1 = fmaxf(new1, x1[i]); }
    if (!__any_sync(ALL_LANES, new0 > most0 + MAXIMUM_SLACK || new1 > most1 + MAXIMUM_SLACK)) return false;
#pragma unroll
    for (int s = COLUMNS::NEAREST_LANE; s < 32; s <<= 1) {
      new0 = fmaxf(new0, __shfl_xor_sync(ALL_LANES, new0, s));
      new1 = fmaxf(new1, __shfl_xor_sync(ALL_LANES, new1, s));
    }
    new0 = fmaxf(new0, most0);
    new1 = fmaxf(new1, most1);
    factor0 = shrinking(most0, new0);
    factor1 = shrinking(most1, new1);
    most0 = new0;
    most1 = new1;
    sum0 *= factor0;
    sum1 *= factor1;
#pragma unroll
    for (int i = 0; i < D / 16; i++) {
      outputs[i][0] *= factor0; outputs[i][1] *= factor1; outputs[i][2] *= factor0; outputs[i][3] *= factor1;
    }
    return true;
  }

  // Returns the weights of two scores as halves and adds them to the sums.
  DEVICE u32 weigh(float x0, float x1) {
    const float w0 = powerOfTwo(x0 + (WEIGHT_SHIFT - most0)), w1 = powerOfTwo(x1 + (WEIGHT_SHIFT - most1));
    sum0 += w0;
    sum1 += w1;
    return toHalves(w0, w1);
  }

  DEVICE void addSumsOfLanes() {
#pragma unroll
    for (int s = COLUMNS::NEAREST_LANE; s < 32; s <<= 1) {
      sum0 += __shfl_xor_sync(ALL_LANES, sum0, s);
      sum1 += __shfl_xor_sync(ALL_LANES, sum1, s);
    }
  }
};
