// Attention on a packed page without dequantizing keys or values: scales and zeros are applied to the small operand.
//
//   score[h,t]  = sum_c (q[h,c] * scale[g,c]) * code[t,c] + sum_c q[h,c] * zero[g,c]
//   output[h,c] = sum_t (w[h,t] * scale[t,g]) * code[t,c] + sum_t w[h,t] * zero[t,g]
//
// A masked code is a half as stored: bits in the lower ten of a half are a subnormal number, code * 2^(b - 24) for a field
// that starts at bit b. The matrix units process these at full speed, and the power of two is factored out of the sum.
#pragma once
#include "pages.cuh"
#include "softmax.cuh"

// A word of codes: the fields of its two halves are interleaved. With 2 bits, fields 0, 1, 4, 5 are a fragment of the even
// tile and 2, 3, 6, 7 one of the odd tile. With 4 bits, fields 0 to 3 are a fragment of one tile. With 8 bits, fields 0 and
// 1 are half a fragment, and the next word is the other half. The upper fields are shifted down by a byte, so that all are
// in the lower ten bits.
template <int BITS> struct Fields {
  u32 low, high;
  DEVICE explicit Fields(u32 word) : low(word), high(__byte_perm(word, 0, 0x4341)) {}

  // Returns 2^24 over the value of code one, for rows 0-7 or 8-15 of the even or odd tile.
  DEVICE static float unit(bool odd, bool upper) {
    return BITS == 16  ? 1.f   // halves, not codes
           : BITS == 8 ? 16777216.f
           : BITS == 4 ? (upper ? 1048576.f : 16777216.f)
           : odd     ? (upper ? 262144.f : 1048576.f)
                     : (upper ? 4194304.f : 16777216.f);
  }

  DEVICE void multiply(float (&even)[4], float (&odd)[4], u32 b0, u32 b1) const {
    if constexpr (BITS == 2) {
      multiplyTiles(even, low & 0x00030003u, low & 0x000c000cu, high & 0x00030003u, high & 0x000c000cu, b0, b1);
      multiplyTiles(odd, low & 0x00300030u, low & 0x00c000c0u, high & 0x00300030u, high & 0x00c000c0u, b0, b1);
    } else {
      multiplyTiles(even, low & 0x000f000fu, low & 0x00f000f0u, high & 0x000f000fu, high & 0x00f000f0u, b0, b1);
    }
  }

  // For 8 bits: multiplies together with the other half of the fragment.
  DEVICE void multiplyWith(const Fields& other, float (&sums)[4], u32 b0, u32 b1) const {
    multiplyTiles(sums, low & 0x00ff00ffu, high, other.low & 0x00ff00ffu, other.high, b0, b1);
  }

  // Multiplies with all fields together in place of field 0. The products of the other fields are subtracted once per page
  // (ofFieldZero). This saves masks, which limit the arithmetic. It is not used for values: the matrix units truncate sums,
  // and over thousands of tokens the differences of large sums lose two digits.
  DEVICE void multiplyTogether(float (&even)[4], float (&odd)[4], u32 b0, u32 b1) const {
    if constexpr (BITS == 2) {
      multiplyTiles(even, low & 0x00ff00ffu, low & 0x000c000cu, high, high & 0x000c000cu, b0, b1);
      multiplyTiles(odd, low & 0x00300030u, low & 0x00c000c0u, high & 0x00300030u, high & 0x00c000c0u, b0, b1);
    } else {
      multiplyTiles(even, low & 0x00ff00ffu, low & 0x00f000f0u, high, high & 0x00f000f0u, b0, b1);
    }
  }

  DEVICE static float ofFieldZero(const float (&even)[4], const float (&odd)[4], int k) {
    return BITS == 8   ? even[k]   // field 0 is alone
           : BITS == 4 ? even[k] - even[k + 2]
                       : even[k] - (even[k + 2] + (odd[k] + odd[k + 2]));
  }
};

// The four heads of a set on packed pages. Outputs are in units of codes; the zeros' part is separate.
template <int D> struct PackedHeads : Heads<Twice, D> {
  float zeroOutputs[4];   // rows are groups of channels

  DEVICE void clear() {
    Heads<Twice, D>::clear();
    zeroOutputs[0] = zeroOutputs[1] = zeroOutputs[2] = zeroOutputs[3] = 0.f;
  }

  // Converts outputs to units of codes.
  // step: value of code one, in scales
  template <int BITS> DEVICE void toUnitsOfCodes(float step = 1.f) {
#pragma unroll
    for (int i = 0; i < D / 16; i++) {
      const float lower = 1.f / (step * Fields<BITS>::unit(i & 1, false)), upper = 1.f / (step * Fields<BITS>::unit(i & 1, true));
      this->outputs[i][0] *= lower; this->outputs[i][1] *= lower;
      this->outputs[i][2] *= upper; this->outputs[i][3] *= upper;
    }
  }

  // Converts outputs back from units of codes.
  template <int BITS> DEVICE void fromUnitsOfCodes(float step) {
#pragma unroll
    for (int i = 0; i < D / 16; i++) {
      const float lower = step * Fields<BITS>::unit(i & 1, false), upper = step * Fields<BITS>::unit(i & 1, true);
      this->outputs[i][0] *= lower; this->outputs[i][1] *= lower;
      this->outputs[i][2] *= upper; this->outputs[i][3] *= upper;
    }
  }
};

// Adds the products of 32 channels, from 32 * j on, of the codes of 64 keys. Sums i of a set are those of tokens 8i + r in both
// groups; codeSum takes apart what they have in common.
// b: for each set, the second operands of two times 16 channels
template <int BITS, int SETS>
DEVICE void multiplyKeys(u32 keys, int lane, int j, const u32 (&b)[SETS][4], float (&c)[SETS][4][4]) {
  if constexpr (BITS == 2) {
    const uint4 words = loadShared(keys + (32 * j + lane) * 16);
#pragma unroll
    for (int i = 0; i < 4; i++) {
      const Fields<2> fields(wordOf(words, i));
#pragma unroll
      for (int s = 0; s < SETS; s++) {
        fields.multiplyTogether(c[s][2 * (i & 1)], c[s][2 * (i & 1) + 1], b[s][i & 2], b[s][(i & 2) + 1]);
      }
    }
  } else if constexpr (BITS == 8) {
#pragma unroll
    for (int i = 0; i < 4; i++) {   // two tiles of one of the steps each
      const uint4 words = loadShared(keys + (32 * (4 * j + i) + lane) * 16);
      const Fields<8> first(words.x), second(words.y), third(words.z), fourth(words.w);
#pragma unroll
      for (int s = 0; s < SETS; s++) {
        first.multiplyWith(second, c[s][2 * (i & 1)], b[s][i & 2], b[s][(i & 2) + 1]);
        third.multiplyWith(fourth, c[s][2 * (i & 1) + 1], b[s][i & 2], b[s][(i & 2) + 1]);
      }
    }
  } else {
#pragma unroll
    for (int half = 0; half < 2; half++) {
      const uint4 words = loadShared(keys + (32 * (2 * j + half) + lane) * 16);
#pragma unroll
      for (int i = 0; i < 4; i++) {
        const Fields<4> fields(wordOf(words, i));
#pragma unroll
        for (int s = 0; s < SETS; s++) fields.multiplyTogether(c[s][i], c[s][i], b[s][2 * half], b[s][2 * half + 1]);
      }
    }
  }
}

// Returns the sum of tokens 8i + r that is a lane's own, for the first or second of its heads.
template <int BITS> DEVICE float codeSum(const float (&c)[4][4], int i, int head, bool upper) {
  const bool isOdd = BITS == 2 && (i & 1);
  const float lower = isOdd ? c[i][head] : Fields<BITS>::ofFieldZero(c[i], c[BITS == 2 ? i | 1 : i], head);
  return upper ? c[i][head + 2] : lower;
}

// Computes scores of the 64 tokens: x[i] of a lane is token 8i + r, of the first or the last 32, for its two heads.
// step: value of code one, in scales
template <int BITS, int D, int SETS>
DEVICE void scorePage(u32 keys, int lane, const PackedHeads<D> (&heads)[SETS], float scale, float (&x0)[SETS][4],
                      float (&x1)[SETS][4], float step = 1.f) {
  using Page = PackedPage<BITS, D>;
  const int q = lane & 3;
  const u32 ownGroup = ((lane >> 4) * 4 + q) * 16;
  const bool upper = Twice::upper(lane);
  float c[SETS][4][4], zero[SETS][2][4];
#pragma unroll
  for (int s = 0; s < SETS; s++) {
#pragma unroll
    for (int k = 0; k < 4; k++) {
      c[s][0][k] = c[s][1][k] = c[s][2][k] = c[s][3][k] = 0.f;
      zero[s][0][k] = zero[s][1][k] = 0.f;
    }
  }
#pragma unroll
  for (int j = 0; j < D / 32; j++) {   // two times 16 channels
    const uint4 scales = loadShared(keys + Page::CODE_BYTES + 128 * j + ownGroup);
    const u32 zeros = keys + Page::CODE_BYTES + Page::KEY_SCALE_BYTES + 128 * j + 16 * q;
    const uint4 zeros0 = loadShared(zeros), zeros1 = loadShared(zeros + 64);
    u32 b[SETS][4];
#pragma unroll
    for (int s = 0; s < SETS; s++) {
      const u32* query = heads[s].queries + 4 * j;
      b[s][0] = multiplyHalves(query[0], scales.x);
      b[s][1] = multiplyHalves(query[1], scales.y);
      b[s][2] = multiplyHalves(query[2], scales.z);
      b[s][3] = multiplyHalves(query[3], scales.w);
      // All rows are equal, so that every lane has its own term.
      multiplyTiles(zero[s][0], zeros0.x, zeros0.y, zeros0.z, zeros0.w, query[0], query[1]);
      multiplyTiles(zero[s][1], zeros1.x, zeros1.y, zeros1.z, zeros1.w, query[2], query[3]);
    }
    multiplyKeys<BITS, SETS>(keys, lane, j, b, c);
  }
  const float even = scale * step * Fields<BITS>::unit(false, upper), odd = scale * step * Fields<BITS>::unit(true, upper);
#pragma unroll
  for (int s = 0; s < SETS; s++) {
    const float zero0 = scale * (upper ? zero[s][0][2] + zero[s][1][2] : zero[s][0][0] + zero[s][1][0]);
    const float zero1 = scale * (upper ? zero[s][0][3] + zero[s][1][3] : zero[s][0][1] + zero[s][1][1]);
#pragma unroll
    for (int i = 0; i < 4; i++) {
      const float unit = BITS == 2 && (i & 1) ? odd : even;
      x0[s][i] = fmaf(codeSum<BITS>(c[s], i, 0, upper), unit, zero0);
      x1[s][i] = fmaf(codeSum<BITS>(c[s], i, 1, upper), unit, zero1);
    }
  }
}

// Converts scores to weights as the second operand. The first four have each group of tokens in its own columns; the others
// have the groups exchanged.
// own: the weights of x0[i] and x1[i] as the lane has them
// Returns true if the maxima have risen, by these factors.
template <int D>
DEVICE bool weighPage(PackedHeads<D>& heads, const float (&x0)[4], const float (&x1)[4], u32 (&own)[4], u32 (&weights)[8],
                      float& factor0, float& factor1) {
  const bool risen = heads.follow(x0, x1, factor0, factor1);
  if (risen) {
    heads.zeroOutputs[0] *= factor0; heads.zeroOutputs[1] *= factor1;
    heads.zeroOutputs[2] *= factor0; heads.zeroOutputs[3] *= factor1;
  }
#pragma unroll
  for (int i = 0; i < 4; i++) own[i] = heads.weigh(x0[i], x1[i]);
#pragma unroll
  for (int i = 0; i < 4; i++) weights[i] = transpose(own[i]);
#pragma unroll
  for (int i = 0; i < 4; i++) weights[4 + i] = __shfl_xor_sync(ALL_LANES, weights[i], 16);
  return risen;
}

// Adds values of the 64 tokens, 16 at a time. In the first two steps rows 0-7, the lower channels, take the first 32 tokens
// and rows 8-15 the others. In the last two steps it is the reverse.
template <int BITS, int D, int SETS>
DEVICE void addPage(u32 values, int lane, const u32 (&weights)[SETS][8], PackedHeads<D> (&heads)[SETS]) {
  using Page = PackedPage<BITS, D>;
  constexpr int SCALES = 2 * Page::PAIRS;   // words of a step, per lane
  const int q = lane & 3, r = lane >> 2;
  const u32 ownGroup = ((lane >> 4) * 4 + q) * 16;
  const u32 scales = values + Page::CODE_BYTES, zeros = scales + Page::VALUE_SCALE_BYTES;
#pragma unroll
  for (int step = 0; step < 2; step++) {
    const int group = r < Page::GROUPS ? r : 0;
    const uint4 z = loadShared(zeros + ((step * Page::GROUPS + group) * 4 + q) * 16);
#pragma unroll
    for (int s = 0; s < SETS; s++) {
      multiplyTiles(heads[s].zeroOutputs, z.x, z.y, z.z, z.w, weights[s][2 * step], weights[s][2 * step + 1]);
    }
  }
  uint4 scale, words;
#pragma unroll
  for (int step = 0; step < 4; step++) {
    u32 b[SETS][SCALES];
#pragma unroll
    for (int e = 0; e < SCALES; e++) {
      const int index = step * SCALES + e;
      if (index % 4 == 0) scale = loadShared(scales + 128 * (index / 4) + ownGroup);
#pragma unroll
      for (int s = 0; s < SETS; s++) b[s][e] = multiplyHalves(weights[s][2 * step + (e & 1)], wordOf(scale, index % 4));
    }
#pragma unroll
    for (int u = 0; u < Page::WORDS; u++) {
      const int index = step * Page::WORDS + u, pair = 2 * Page::pairOf(u);
      if (index % 4 == 0) words = loadShared(values + (32 * (index / 4) + lane) * 16);
      if (BITS == 8 && u % 2 == 1) continue;   // the second half of the previous fragment
      const Fields<BITS> fields(wordOf(words, index % 4));
#pragma unroll
      for (int s = 0; s < SETS; s++) {
        if constexpr (BITS == 2) {
          fields.multiply(heads[s].outputs[2 * u], heads[s].outputs[2 * u + 1], b[s][pair], b[s][pair + 1]);
        } else if constexpr (BITS == 8) {
          fields.multiplyWith(Fields<8>(wordOf(words, index % 4 + 1)), heads[s].outputs[u / 2], b[s][pair], b[s][pair + 1]);
        } else {
          fields.multiply(heads[s].outputs[u], heads[s].outputs[u], b[s][pair], b[s][pair + 1]);
        }
      }
    }
  }
}
