// The rotary position embedding of keys, for patterns that are stored before rotation. KeyRotation writes the tables. Every
// product and sum of floats is rounded separately, as in Java.
#pragma once
#include "pages.cuh"

constexpr int TURN_TOKENS = 32;                  // between two positions of the long table
constexpr int ROTARY_BLOCK = 2 * PAGE_TOKENS;    // tokens of a block

DEVICE float2 rotated(float2 x, float2 angle) {
  return float2{__fsub_rn(__fmul_rn(x.x, angle.x), __fmul_rn(x.y, angle.y)),
                __fadd_rn(__fmul_rn(x.y, angle.x), __fmul_rn(x.x, angle.y))};
}

DEVICE float2 rotatedBack(float2 x, float2 angle) {
  return float2{__fadd_rn(__fmul_rn(x.x, angle.x), __fmul_rn(x.y, angle.y)),
                __fsub_rn(__fmul_rn(x.y, angle.x), __fmul_rn(x.x, angle.y))};
}

// Tables of cosines and sines; angles are float2. A stored pattern is in pair order: a lane reads x and y of the pairs that
// it multiplies as operands of the matrix instruction, 16 bytes at a time.
//
//   0                u32 number of positions in the long table
//   128              u16 (2, D / 2) channels of pairs: x of all, then y
//   128 + 2 D        u16 (D) pair of a channel, and 0x8000 if the channel is y
//   128 + 4 D        offsets 0 to 31, halves in pair order: cosines in place of x, sines in place of y
//   128 + 68 D       (128, D / 2) angles of offsets in a block
//   128 + 580 D      (positions, D / 2) angles of every 32nd position, from the first quantized one on
template <int D> struct RotaryTables {
  static constexpr int PAIRS = D / 2;
  static constexpr int ROW_BYTES = 2 * D;   // of a pattern, or of the angles of an offset
  static constexpr int ORDER_AT = 128;
  static constexpr int PAIR_AT = ORDER_AT + 2 * D;
  static constexpr int OFFSETS_AT = PAIR_AT + 2 * D;
  static constexpr int BLOCK_AT = OFFSETS_AT + TURN_TOKENS * ROW_BYTES;
  static constexpr int POSITIONS_AT = BLOCK_AT + ROTARY_BLOCK * PAIRS * 8;

  const u8* base;   // null if patterns do not rotate

  DEVICE bool none() const { return base == nullptr; }
  DEVICE u32 positions() const { return *reinterpret_cast<const u32*>(base); }
  DEVICE int channel(int pair, int second) const {
    return reinterpret_cast<const u16*>(base + ORDER_AT)[second * PAIRS + pair];
  }
  DEVICE u32 pairOf(int channel) const { return reinterpret_cast<const u16*>(base + PAIR_AT)[channel]; }

  DEVICE const float2* ofOffset(int token) const { return reinterpret_cast<const float2*>(base + BLOCK_AT) + token * PAIRS; }

  // turn: the number of the position in the long table, below positions()
  DEVICE const float2* ofPosition(u32 turn) const {
    return reinterpret_cast<const float2*>(base + POSITIONS_AT) + (size_t)turn * PAIRS;
  }

  // Returns the index of a pair's x in a stored pattern; its y is two further. Sixteen pairs take 64 bytes: 16 for each quad
  // of lanes, of which the halves are for two steps of eight pairs.
  DEVICE static int placeOf(int pair) { return pair / 16 * 32 + pair % 8 / 2 * 8 + pair % 16 / 8 * 4 + pair % 2; }

  // Returns a pair of a key before its rotation.
  // offset: of the token in its block; turn: of the block's first position
  DEVICE float2 unrotated(const u8* page, int offset, u32 turn, int pair) const {
    const int token = offset % PAGE_TOKENS;
    const float2 x{toFloat(*reinterpret_cast<const u16*>(page + HalfPage<D>::keyOffset(token, channel(pair, 0)))),
                   toFloat(*reinterpret_cast<const u16*>(page + HalfPage<D>::keyOffset(token, channel(pair, 1))))};
    return rotatedBack(rotatedBack(x, ofPosition(turn)[pair]), ofOffset(offset)[pair]);
  }

  // Returns a channel of a stored pattern at a token's position.
  DEVICE float rotatedPattern(const u16* pattern, int offset, u32 turn, int channel) const {
    const u32 which = pairOf(channel);
    const int pair = which & 0x7fff, place = placeOf(pair);
    const float2 x{toFloat(pattern[place]), toFloat(pattern[place + 2])};
    const float2 there = rotated(rotated(x, ofOffset(offset)[pair]), ofPosition(turn)[pair]);
    return which & 0x8000 ? there.y : there.x;
  }
};

// x cos - y sin of two pairs.
DEVICE u32 rotatedX(u32 x, u32 y, u32 cosines, u32 sines) {
  u32 r;
  asm("{ .reg .b32 m, n; mul.rn.f16x2 m, %1, %3; neg.f16x2 n, %2; fma.rn.f16x2 %0, n, %4, m; }"
      : "=r"(r) : "r"(x), "r"(y), "r"(cosines), "r"(sines));
  return r;
}

// y cos + x sin of two pairs.
DEVICE u32 rotatedY(u32 x, u32 y, u32 cosines, u32 sines) {
  u32 r;
  asm("{ .reg .b32 m; mul.rn.f16x2 m, %2, %3; fma.rn.f16x2 %0, %1, %4, m; }"
      : "=r"(r) : "r"(x), "r"(y), "r"(cosines), "r"(sines));
  return r;
}
