// Weights as they lie for products: tiles of 16 rows by 32 columns, in the order in which lanes hold them as an operand of
// the matrix units. dev.kvasir.cuda.WeightKind lays them out. Each kind says what a tile takes of a ring's slot, how it is
// fetched, and how it is multiplied with 8 rows at a time.
#pragma once
#include "base.cuh"

// Of a matrix: a chunk is a tile of 16 rows by 32 columns, (row tiles, columns / 32) of them.
struct Weights {
  const u8* codes;
  const u8* scales;
  const u8* minimums;   // null where a kind has none
};

// Rows that are multiplied, in tiles of 8 rows by 32 columns, as the other operand.
//   codes   (row tiles, groups, 8 rows, 4 quads, 2 halves of the group, 4) i8
//   scales  (row tiles, groups, 8 rows), of 32 columns
//   sums    the same: a scale times the sum of its codes, for weights with minimums
//   halves  (row tiles, groups, 8 rows, 4 quads, 4 words, 2), for weights that are no codes; null where there are none
struct CodedRows {
  signed char* codes;
  float* scales;
  float* sums;
  u16* halves;
};

// Sums of a group stay below 2^22. Added to this number, whose last bit is one, they are a float's last bits.
constexpr int SUM_BIAS = 0x4b400000;

DEVICE float sumOf(int dot) { return __int_as_float(dot) - __int_as_float(SUM_BIAS); }

// c = a * b, biased: 16 x 32 signed bytes by 32 x 8. Lane 4r+q has of a the rows r and r+8, columns 4q to 4q+3 and sixteen further;
// of b the column r, the same four rows and those sixteen further; of c what it has in multiplyTiles.
DEVICE void multiplyBytes(int (&c)[4], const uint4& a, u32 b0, u32 b1) {
  asm("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%10,%10,%10,%10};"
      : "=r"(c[0]), "=r"(c[1]), "=r"(c[2]), "=r"(c[3])
      : "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "r"(b0), "r"(b1), "r"(SUM_BIAS));
}

// The same of 16 columns: either half of the registers.
DEVICE void multiplyBytes(int (&c)[4], u32 a0, u32 a1, u32 b) {
  asm("mma.sync.aligned.m16n8k16.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%7,%7,%7,%7};"
      : "=r"(c[0]), "=r"(c[1]), "=r"(c[2]), "=r"(c[3])
      : "r"(a0), "r"(a1), "r"(b), "r"(SUM_BIAS));
}

DEVICE void addScaled(float (&sums)[4], const int (&dot)[4], float s0, float s1, const float2& x) {
  sums[0] = fmaf(sumOf(dot[0]), s0 * x.x, sums[0]);
  sums[1] = fmaf(sumOf(dot[1]), s0 * x.y, sums[1]);
  sums[2] = fmaf(sumOf(dot[2]), s1 * x.x, sums[2]);
  sums[3] = fmaf(sumOf(dot[3]), s1 * x.y, sums[3]);
}

DEVICE float loadSharedHalf(u32 address) {
  u16 v;
  asm volatile("ld.shared.u16 %0, [%1];" : "=h"(v) : "r"(address));
  return toFloat(v);
}

DEVICE float loadSharedFloat(u32 address) {
  float v;
  asm volatile("ld.shared.f32 %0, [%1];" : "=f"(v) : "r"(address));
  return v;
}

DEVICE uint2 loadSharedPair(u32 address) {
  uint2 v;
  asm volatile("ld.shared.v2.u32 {%0,%1}, [%2];" : "=r"(v.x), "=r"(v.y) : "r"(address));
  return v;
}

// Where the byte of a column lies among a tile's 512, and the word of a lane that it is in.
DEVICE int byteOf(int row, int column) {
  return 16 * (4 * (row % 8) + column % 16 / 4) + 4 * (row % 16 / 8 + 2 * (column % 32 / 16)) + column % 4;
}

// Copies LANES times 16 bytes of a chunk by the lanes from FIRST on.
template <int FIRST, int LANES> DEVICE void copyChunk(u32 to, const u8* from, size_t chunk) {
  const int lane = (int)(threadIdx.x % 32) - FIRST;
  if (lane >= 0 && lane < LANES) copyAhead(to + 16 * lane, from + chunk * (16 * LANES) + 16 * lane);
}

// Codes of 8 bits in a slot, and their scales behind them, which so many lanes bring.
template <int SCALE_LANES> struct CodesAndScales {
  static constexpr int BYTES = 512 + 16 * SCALE_LANES;
  static constexpr bool HALVES = false, SUMS = false;

  DEVICE static void fetch(u32 slot, const Weights& w, size_t chunk) {
    copyChunk<0, 32>(slot, w.codes, chunk);
    copyChunk<0, SCALE_LANES>(slot + 512, w.scales, chunk);
  }
};

// Q8_0: codes of 8 bits, a half for 32 of them.
struct ByteWeights : CodesAndScales<2> {
  template <int COLUMNS, class ROWS> DEVICE static void multiply(u32 slot, const ROWS& x, float (&sums)[COLUMNS][4]) {
    const int lane = threadIdx.x % 32;
    const uint4 a = loadShared(slot + 16 * lane);
    const u32 scales = slot + 512 + 2 * (lane >> 2);
    const float s0 = loadSharedHalf(scales), s1 = loadSharedHalf(scales + 16);
#pragma unroll
    for (int c = 0; c < COLUMNS; c++) {
      int dot[4];
      multiplyBytes(dot, a, x.codes[c].x, x.codes[c].y);
      addScaled(sums[c], dot, s0, s1, x.scales[c]);
    }
  }

  DEVICE static float at(const Weights& w, size_t chunk, int row, int column) {
    const u16 scale = reinterpret_cast<const u16*>(w.scales)[chunk * 16 + row % 16];
    return toFloat(scale) * (signed char)w.codes[chunk * 512 + byteOf(row, column)];
  }
};

// Codes of 4 or 8 bits with a float and a minimum for 32 of them: Q4_0, Q4_1, Q4_K and the like; Q5_0, Q5_K.
// Four bits: a lane's first word and its second are the lower and the upper nibbles of eight bytes' first four.
template <int BITS> struct GroupWeights {
  static constexpr int CODE_BYTES = 64 * BITS;
  static constexpr int BYTES = CODE_BYTES + 128;
  static constexpr bool HALVES = false, SUMS = true;

  DEVICE static void fetch(u32 slot, const Weights& w, size_t chunk) {
    copyChunk<0, CODE_BYTES / 16>(slot, w.codes, chunk);
    copyChunk<16, 4>(slot + CODE_BYTES, w.scales, chunk);
    copyChunk<20, 4>(slot + CODE_BYTES + 64, w.minimums, chunk);
  }

  DEVICE static uint4 codes(u32 slot) {
    const int lane = threadIdx.x % 32;
    if (BITS == 8) return loadShared(slot + 16 * lane);
    const uint2 v = loadSharedPair(slot + 8 * lane);
    uint4 a;
    a.x = v.x & 0x0f0f0f0f;
    a.y = v.x >> 4 & 0x0f0f0f0f;
    a.z = v.y & 0x0f0f0f0f;
    a.w = v.y >> 4 & 0x0f0f0f0f;
    return a;
  }

  template <int COLUMNS, class ROWS> DEVICE static void multiply(u32 slot, const ROWS& x, float (&sums)[COLUMNS][4]) {
    const uint4 a = codes(slot);
    const u32 scales = slot + CODE_BYTES + 4 * (threadIdx.x % 32 >> 2);
    const float s0 = loadSharedFloat(scales), s1 = loadSharedFloat(scales + 32);
    const float m0 = loadSharedFloat(scales + 64), m1 = loadSharedFloat(scales + 96);
#pragma unroll
    for (int c = 0; c < COLUMNS; c++) {
      int dot[4];
      multiplyBytes(dot, a, x.codes[c].x, x.codes[c].y);
      addScaled(sums[c], dot, s0, s1, x.scales[c]);
      sums[c][0] = fmaf(m0, x.sums[c].x, sums[c][0]);
      sums[c][1] = fmaf(m0, x.sums[c].y, sums[c][1]);
      sums[c][2] = fmaf(m1, x.sums[c].x, sums[c][2]);
      sums[c][3] = fmaf(m1, x.sums[c].y, sums[c][3]);
    }
  }

  DEVICE static float at(const Weights& w, size_t chunk, int row, int column) {
    const float scale = reinterpret_cast<const float*>(w.scales)[chunk * 16 + row % 16];
    const float minimum = reinterpret_cast<const float*>(w.minimums)[chunk * 16 + row % 16];
    const int byte = byteOf(row, column);
    if (BITS == 8) return fmaf(scale, (float)(signed char)w.codes[chunk * 512 + byte], minimum);
    const int word = byte / 4 % 4;   // of the lane
    const int code = w.codes[chunk * 256 + byte / 16 * 8 + word / 2 * 4 + byte % 4] >> 4 * (word % 2) & 15;
    return fmaf(scale, (float)code, minimum);
  }
};

// Codes of 8 bits with a float for 16 of them: Q6_K. Scales (2 halves of the group, 16 rows).
struct SixteenWeights : CodesAndScales<8> {
  template <int COLUMNS, class ROWS> DEVICE static void multiply(u32 slot, const ROWS& x, float (&sums)[COLUMNS][4]) {
    const int lane = threadIdx.x % 32;
    const uint4 a = loadShared(slot + 16 * lane);
    const u32 scales = slot + 512 + 4 * (lane >> 2);
    const float s0 = loadSharedFloat(scales), s1 = loadSharedFloat(scales + 32);
    const float t0 = loadSharedFloat(scales + 64), t1 = loadSharedFloat(scales + 96);
#pragma unroll
    for (int c = 0; c < COLUMNS; c++) {
      int dot[4];
      multiplyBytes(dot, a.x, a.y, x.codes[c].x);
      addScaled(sums[c], dot, s0, s1, x.scales[c]);
      multiplyBytes(dot, a.z, a.w, x.codes[c].y);
      addScaled(sums[c], dot, t0, t1, x.scales[c]);
    }
  }

  DEVICE static float at(const Weights& w, size_t chunk, int row, int column) {
    const float scale = reinterpret_cast<const float*>(w.scales)[chunk * 32 + column % 32 / 16 * 16 + row % 16];
    return scale * (signed char)w.codes[chunk * 512 + byteOf(row, column)];
  }
};

// F16, and BF16 as halves: two fragments of 16 columns.
struct HalfWeights {
  static constexpr int BYTES = 1024;
  static constexpr bool HALVES = true, SUMS = false;

  DEVICE static void fetch(u32 slot, const Weights& w, size_t chunk) {
    copyChunk<0, 32>(slot, w.codes, 2 * chunk);
    copyChunk<0, 32>(slot + 512, w.codes, 2 * chunk + 1);
  }

  template <int COLUMNS, class ROWS> DEVICE static void multiply(u32 slot, const ROWS& x, float (&sums)[COLUMNS][4]) {
    const int lane = threadIdx.x % 32;
    const uint4 a = loadShared(slot + 16 * lane), b = loadShared(slot + 512 + 16 * lane);
#pragma unroll
    for (int c = 0; c < COLUMNS; c++) {
      multiplyTiles(sums[c], a.x, a.y, a.z, a.w, x.halves[c].x, x.halves[c].y);
      multiplyTiles(sums[c], b.x, b.y, b.z, b.w, x.halves[c].z, x.halves[c].w);
    }
  }

  DEVICE static float at(const Weights& w, size_t chunk, int row, int column) {
    const int lane = 4 * (row % 8) + column % 8 / 2, word = row % 16 / 8 + 2 * (column % 16 / 8);
    const size_t half = (2 * chunk + column % 32 / 16) * 256 + 8 * lane + 2 * word + column % 2;
    return toFloat(reinterpret_cast<const u16*>(w.codes)[half]);
  }
};
