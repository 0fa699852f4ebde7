// Attention on an fp16 tile of 16 tokens. Fragments load a chunk from shared memory, or straight from global memory, whose
// order is that of the registers.
#pragma once
#include "limits.cuh"
#include "pages.cuh"
#include "softmax.cuh"

struct SharedFragments {
  u32 at;   // of the lane's 16 bytes of the first chunk
  DEVICE uint4 operator()(int chunk) const { return loadShared(at + 512 * chunk); }
};

struct GlobalFragments {
  const u8* at;
  DEVICE uint4 operator()(int chunk) const { return loadGlobal(at + 512 * chunk); }
};

// Computes unscaled scores of rows r and r + 8.
template <int D, class FRAGMENTS>
DEVICE void scoreTile(const FRAGMENTS& keys, const u32 (&queries)[D / 8], float (&scores)[4]) {
#pragma unroll
  for (int j = 0; j < D / 16; j++) {
    const uint4 a = keys(j);
    multiplyTiles(scores, a.x, a.y, a.z, a.w, queries[2 * j], queries[2 * j + 1]);
  }
}

// Masks the four halves of a lane's row of values that belong to tokens of the tile. A weight of zero is not enough, since
// memory after the last token may hold NaN.
struct TokenMask {
  u32 near, far;   // columns 2q, 2q + 1 and 2q + 8, 2q + 9
  DEVICE TokenMask(int tokens, int lane) {
    const int column = 2 * (lane & 3);
    near = mask(tokens - column);
    far = mask(tokens - column - 8);
  }
  DEVICE static u32 mask(int left) { return left >= 2 ? 0xffffffffu : left == 1 ? 0xffffu : 0u; }
};

template <int D, class FRAGMENTS>
DEVICE void addValues(const FRAGMENTS& values, int tokens, int lane, u32 near, u32 far, float (&outputs)[D / 16][4]) {
  if (tokens >= TILE_TOKENS) {
#pragma unroll
    for (int i = 0; i < D / 16; i++) {
      const uint4 a = values(i);
      multiplyTiles(outputs[i], a.x, a.y, a.z, a.w, near, far);
    }
  } else {
    const TokenMask mask(tokens, lane);
#pragma unroll
    for (int i = 0; i < D / 16; i++) {
      const uint4 a = values(i);
      multiplyTiles(outputs[i], a.x & mask.near, a.y & mask.near, a.z & mask.far, a.w & mask.far, near, far);
    }
  }
}

// position: of the tile's first token
template <int D, class FRAGMENTS, class LIMITS>
DEVICE void attendTile(Heads<Eight, D>& heads, const FRAGMENTS& keys, const LIMITS& limits, int position, int tokens, int lane,
                       float scale, u32& near, u32& far) {
  float c[4] = {0.f, 0.f, 0.f, 0.f};
  scoreTile<D>(keys, heads.queries, c);
  const int row = lane >> 2;
  const bool first = row < tokens && limits.sees(position + row);
  const bool second = row + 8 < tokens && limits.sees(position + row + 8);
  const float x0[2] = {first ? limits.cap(c[0] * scale) : minusInfinity(), second ? limits.cap(c[2] * scale) : minusInfinity()};
  const float x1[2] = {first ? limits.cap(c[1] * scale) : minusInfinity(), second ? limits.cap(c[3] * scale) : minusInfinity()};
  float factor0, factor1;
  heads.follow(x0, x1, factor0, factor1);
  near = transpose(heads.weigh(x0[0], x1[0]));
  far = transpose(heads.weigh(x0[1], x1[1]));
}

// The same for four heads in two column groups: a lane computes the weights of its own rows and gets the others by a
// shuffle.
template <int D, class LIMITS>
DEVICE void attendTile(Heads<Twice, D>& heads, const float (&c)[4], const LIMITS& limits, int position, int tokens, int lane,
                       float scale, u32& near, u32& far) {
  const bool upper = Twice::upper(lane);
  const int row = (lane >> 2) + (upper ? 8 : 0);
  const bool there = row < tokens && limits.sees(position + row);
  const float x0[1] = {there ? limits.cap((upper ? c[2] : c[0]) * scale) : minusInfinity()};
  const float x1[1] = {there ? limits.cap((upper ? c[3] : c[1]) * scale) : minusInfinity()};
  float factor0, factor1;
  heads.follow(x0, x1, factor0, factor1);
  const u32 own = transpose(heads.weigh(x0[0], x1[0]));
  const u32 others = __shfl_xor_sync(ALL_LANES, own, 16);
  near = lane < 16 ? own : others;
  far = lane < 16 ? others : own;
}
