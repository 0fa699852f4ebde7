// The layout of weights for products: tiles of 16 rows by 32 columns, in the order in which lanes hold operands of the
// matrix units, as in WeightFormat. Each kind defines a tile's size in a ring slot, how it is fetched, and
// how it is multiplied with 8 rows at a time.
#pragma once
#include "base.cuh"

// A weight matrix of (row tiles, columns / 32) chunks; a chunk is a tile of 16 rows by 32 columns.
struct Weights {
  const u8* codes;
  const u8* scales;
  const u8* minimums;   // null if a kind has none
};

// Quantized activations, in tiles of 8 rows by 32 columns, as the other operand.
//   codes   (row tiles, groups, 8 rows, 4 quads, 2 halves of the group, 4) i8
//   scales  (row tiles, groups, 8 rows), of 32 columns
//   sums    the same: a scale times the sum of its codes, for weights with minimums
//   halves  (row tiles, groups, 8 rows, 4 quads, 4 words, 2), for weights that are halves; null if there are none
struct CodedRows {
  signed char* codes;
  float* scales;
  float* sums;
  u16* halves;
};

// Sums of a group stay below 2^22. Added to this number, whose last bit is one, they are the last bits of a float.
constexpr int SUM_BIAS = 0x4b400000;

DEVICE float sumOf(int dot) { return __int_as_float(dot) - __int_as_float(SUM_BIAS); }

// c = a * b, biased: 16 x 32 signed bytes by 32 x 8. Lane 4r+q holds rows r and r+8 of a, columns 4q to 4q+3 and the same
// plus 16; column r of b, the same rows; and the part of c as in multiplyTiles.
DEVICE void multiplyBytes(int (&c)[4], const uint4& a, u32 b0, u32 b1) {
  asm("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%10,%10,%10,%10};"
      : "=r"(c[0]), "=r"(c[1]), "=r"(c[2]), "=r"(c[3])
      : "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "r"(b0), "r"(b1), "r"(SUM_BIAS));
}

// The same for 16 columns: either half of the registers.
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

// Adds the products of 8 * COLUMNS rows x with 32 codes a of each of 16 rows; s0 and s1 are the scales of the lane's two
// rows.
template <int COLUMNS, class ROWS>
DEVICE void addGroup(const uint4& a, float s0, float s1, const ROWS& x, float (&sums)[COLUMNS][4]) {
#pragma unroll
  for (int c = 0; c < COLUMNS; c++) {
    int dot[4];
    multiplyBytes(dot, a, x.codes[c].x, x.codes[c].y);
    addScaled(sums[c], dot, s0, s1, x.scales[c]);
  }
}

// Adds the products with minimums.
template <int COLUMNS, class ROWS> DEVICE void addMinimums(float m0, float m1, const ROWS& x, float (&sums)[COLUMNS][4]) {
#pragma unroll
  for (int c = 0; c < COLUMNS; c++) {
    sums[c][0] = fmaf(m0, x.sums[c].x, sums[c][0]);
    sums[c][1] = fmaf(m0, x.sums[c].y, sums[c][1]);
    sums[c][2] = fmaf(m1, x.sums[c].x, sums[c][2]);
    sums[c][3] = fmaf(m1, x.sums[c].y, sums[c][3]);
  }
}

// The same for codes with scales for 16: s for the first 16, t for the others.
template <int COLUMNS, class ROWS>
DEVICE void addSixteens(const uint4& a, float s0, float s1, float t0, float t1, const ROWS& x, float (&sums)[COLUMNS][4]) {
#pragma unroll
  for (int c = 0; c < COLUMNS; c++) {
    int dot[4];
    multiplyBytes(dot, a.x, a.y, x.codes[c].x);
    addScaled(sums[c], dot, s0, s1, x.scales[c]);
    multiplyBytes(dot, a.z, a.w, x.codes[c].y);
    addScaled(sums[c], dot, t0, t1, x.scales[c]);
  }
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

// Returns the offset of a column's byte among the 512 of a tile.
DEVICE int byteOf(int row, int column) {
  return 16 * (4 * (row % 8) + column % 16 / 4) + 4 * (row % 16 / 8 + 2 * (column % 32 / 16)) + column % 4;
}

// Copies LANES times 16 bytes of a chunk, by the lanes from FIRST on.
template <int FIRST, int LANES> DEVICE void copyChunk(u32 to, const u8* from, size_t chunk) {
  const int lane = (int)(threadIdx.x % 32) - FIRST;
  if (lane >= 0 && lane < LANES) copyAhead(to + 16 * lane, from + chunk * (16 * LANES) + 16 * lane);
}

// Codes of 8 bits in a slot, followed by their scales, which SCALE_LANES lanes copy.
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
    const u32 scales = slot + 512 + 2 * (lane >> 2);
    addGroup(loadShared(slot + 16 * lane), loadSharedHalf(scales), loadSharedHalf(scales + 16), x, sums);
  }

  DEVICE static float at(const Weights& w, size_t chunk, int row, int column) {
    const u16 scale = reinterpret_cast<const u16*>(w.scales)[chunk * 16 + row % 16];
    return toFloat(scale) * (signed char)w.codes[chunk * 512 + byteOf(row, column)];
  }
};

// Four bits of every code. A lane has eight bytes: the first four are the nibbles of its first two words, lower ones first,
// and the others those of its third and fourth words.
struct Nibbles {
  static constexpr int BYTES = 256;

  DEVICE static uint2 load(u32 slot) { return loadSharedPair(slot + 8 * (threadIdx.x % 32)); }

  DEVICE static uint4 lower(const uint2& v) {
    return uint4{v.x & 0x0f0f0f0f, v.x >> 4 & 0x0f0f0f0f, v.y & 0x0f0f0f0f, v.y >> 4 & 0x0f0f0f0f};
  }

  // Returns nibbles as the upper bits of bytes, which gives them their sign.
  DEVICE static uint4 upper(const uint2& v) {
    return uint4{v.x << 4 & 0xf0f0f0f0, v.x & 0xf0f0f0f0, v.y << 4 & 0xf0f0f0f0, v.y & 0xf0f0f0f0};
  }

  DEVICE static int at(const u8* codes, int row, int column) {
    const int byte = byteOf(row, column), word = byte / 4 % 4;
    return codes[byte / 16 * 8 + word / 2 * 4 + byte % 4] >> 4 * (word % 2) & 15;
  }
};

// Q4_K: codes of 0 to 15.
struct FourBits {
  static constexpr int BYTES = Nibbles::BYTES;

  DEVICE static uint4 load(u32 slot) { return Nibbles::lower(Nibbles::load(slot)); }

  DEVICE static int at(const u8* codes, int row, int column) { return Nibbles::at(codes, row, column); }
};

// Q5_K: codes of 0 to 31. The fifth bits of two lanes share a word. The even lane has the lower nibble of each byte, one
// bit for each of its words.
struct FiveBits {
  static constexpr int BYTES = Nibbles::BYTES + 64;

  DEVICE static uint4 load(u32 slot) {
    const int lane = threadIdx.x % 32;
    uint4 a = Nibbles::lower(Nibbles::load(slot));
    const u32 fifth = loadSharedWord(slot + Nibbles::BYTES + 4 * (lane / 2)) >> 4 * (lane % 2);
    a.x |= fifth << 4 & 0x10101010;
    a.y |= fifth << 3 & 0x10101010;
    a.z |= fifth << 2 & 0x10101010;
    a.w |= fifth << 1 & 0x10101010;
    return a;
  }

  DEVICE static int at(const u8* codes, int row, int column) {
    const int byte = byteOf(row, column), lane = byte / 16;
    const int fifth = codes[Nibbles::BYTES + lane / 2 * 4 + byte % 4] >> (lane % 2 * 4 + byte / 4 % 4) & 1;
    return Nibbles::at(codes, row, column) | fifth << 4;
  }
};

// Eight adjacent chunks share a super-block for each row, whose scales are stored together: halves of all rows first, then
// CHUNK_BYTES of each chunk.
template <int CODE_BYTES, int HALF_BYTES, int CHUNK_BYTES> struct SuperBlocks {
  static constexpr int HALVES_AT = CODE_BYTES, SCALES_AT = CODE_BYTES + HALF_BYTES;
  static constexpr int BYTES = (SCALES_AT + CHUNK_BYTES + 15) / 16 * 16;

  DEVICE static const u8* halvesOf(const Weights& w, size_t chunk) {
    return w.scales + chunk / 8 * (HALF_BYTES + 8 * CHUNK_BYTES);
  }

  DEVICE static const u8* scalesOf(const Weights& w, size_t chunk) {
    return halvesOf(w, chunk) + HALF_BYTES + chunk % 8 * CHUNK_BYTES;
  }

  DEVICE static void fetch(u32 slot, const Weights& w, size_t chunk) {
    copyChunk<0, CODE_BYTES / 16>(slot, w.codes, chunk);
    const int at = 8 * (threadIdx.x % 32);   // of both, consecutively; all warps of a block read the same halves
    const u8* from = at < HALF_BYTES ? halvesOf(w, chunk) : scalesOf(w, chunk) - HALF_BYTES;
    if (at < HALF_BYTES + CHUNK_BYTES) copyShareable<8>(slot + HALVES_AT + at, from + at);
  }
};

// Converts an integer below 2^22, less another one, to a float without a conversion instruction.
DEVICE float fieldOf(u32 field, int zero = 0) {
  return __int_as_float((int)field | SUM_BIAS) - __int_as_float(SUM_BIAS + zero);
}

// Q4_K, Q5_K: a 6-bit scale and minimum for 32 codes, times two halves of a super-block.
//
//   halves  (16 rows, 2): of scales, of minimums
//   scales  (8) u16, then (8) u8: 24 bits for rows r and r + 8
//           bit 23        18 17         12 11          6 5           0
//              | min. r + 8 | scale r + 8 | minimum r   | scale r    |
template <class CODES> struct SuperWeights : SuperBlocks<CODES::BYTES, 64, 24> {
  using Blocks = SuperBlocks<CODES::BYTES, 64, 24>;
  static constexpr bool HALVES = false, SUMS = true;

  template <int COLUMNS, class ROWS> DEVICE static void multiply(u32 slot, const ROWS& x, float (&sums)[COLUMNS][4]) {
    const int row = threadIdx.x % 32 >> 2;
    const u32 near = loadSharedWord(slot + Blocks::HALVES_AT + 4 * row);
    const u32 far = loadSharedWord(slot + Blocks::HALVES_AT + 4 * row + 32);
    const u32 low = loadSharedShort(slot + Blocks::SCALES_AT + 2 * row);
    const u32 fields = low | loadSharedByte(slot + Blocks::SCALES_AT + 16 + row) << 16;
    const float s0 = toFloat((u16)near) * fieldOf(fields & 63), s1 = toFloat((u16)far) * fieldOf(fields >> 12 & 63);
    const float m0 = toFloat((u16)(near >> 16)) * -fieldOf(fields >> 6 & 63);
    const float m1 = toFloat((u16)(far >> 16)) * -fieldOf(fields >> 18);
    addGroup(CODES::load(slot), s0, s1, x, sums);
    addMinimums(m0, m1, x, sums);
  }

  DEVICE static float at(const Weights& w, size_t chunk, int row, int column) {
    const u16* halves = reinterpret_cast<const u16*>(Blocks::halvesOf(w, chunk)) + row % 16 * 2;
    const u8* scales = Blocks::scalesOf(w, chunk);
    const u32 low = reinterpret_cast<const u16*>(scales)[row % 8];
    const u32 fields = (low | (u32)scales[16 + row % 8] << 16) >> (row % 16 / 8 * 12);
    const float scale = toFloat(halves[0]) * (float)(fields & 63), minimum = toFloat(halves[1]) * (float)(fields >> 6 & 63);
    return fmaf(scale, (float)CODES::at(w.codes + chunk * CODES::BYTES, row, column), -minimum);
  }
};

// Q6_K: codes of -32 to 31 with a signed byte for 16 of them, times a half of a super-block. The upper four bits are
// nibbles. The lower two bits of a lane's four words are in one byte, those of the first word lowest. The operand is four
// times the codes.
//
//   halves  (16 rows)
//   scales  (8 rows, 2 halves of the group, rows r and r + 8)
struct SixBitWeights : SuperBlocks<Nibbles::BYTES + 128, 32, 32> {
  static constexpr int CODE_BYTES = Nibbles::BYTES + 128;
  static constexpr bool HALVES = false, SUMS = false;

  DEVICE static uint4 codes(u32 slot) {
    uint4 a = Nibbles::upper(Nibbles::load(slot));
    const u32 low = loadSharedWord(slot + Nibbles::BYTES + 4 * (threadIdx.x % 32));
    a.x |= low << 2 & 0x0c0c0c0c;
    a.y |= low & 0x0c0c0c0c;
    a.z |= low >> 2 & 0x0c0c0c0c;
    a.w |= low >> 4 & 0x0c0c0c0c;
    return a;
  }

  template <int COLUMNS, class ROWS> DEVICE static void multiply(u32 slot, const ROWS& x, float (&sums)[COLUMNS][4]) {
    const int row = threadIdx.x % 32 >> 2;
    const float near = loadSharedHalf(slot + HALVES_AT + 2 * row) * 0.25f;
    const float far = loadSharedHalf(slot + HALVES_AT + 2 * row + 16) * 0.25f;
    const u32 of = loadSharedWord(slot + SCALES_AT + 4 * row) ^ 0x80808080;   // now 0 to 255, for -128 to 127
    const float s0 = near * fieldOf(of & 255, 128), s1 = far * fieldOf(of >> 8 & 255, 128);
    const float t0 = near * fieldOf(of >> 16 & 255, 128), t1 = far * fieldOf(of >> 24, 128);
    addSixteens(codes(slot), s0, s1, t0, t1, x, sums);
  }

  DEVICE static float at(const Weights& w, size_t chunk, int row, int column) {
    const u16 half = reinterpret_cast<const u16*>(halvesOf(w, chunk))[row % 16];
    const u8 scale = scalesOf(w, chunk)[row % 8 * 4 + column % 32 / 16 * 2 + row % 16 / 8];
    const u8* codes = w.codes + chunk * CODE_BYTES;
    const int byte = byteOf(row, column);
    const int low = codes[Nibbles::BYTES + byte / 16 * 4 + byte % 4] >> byte / 4 % 4 * 2 & 3;
    const int code = (signed char)(Nibbles::at(codes, row, column) << 4) / 4 + low;
    return toFloat(half) * (signed char)scale * (float)code;
  }
};

// Q4_0: codes of -8 to 7, a half for 32 of them. The operand is sixteen times the codes.
struct NibbleWeights {
  static constexpr int BYTES = Nibbles::BYTES + 32;
  static constexpr bool HALVES = false, SUMS = false;

  DEVICE static void fetch(u32 slot, const Weights& w, size_t chunk) {
    copyChunk<0, 16>(slot, w.codes, chunk);
    copyChunk<16, 2>(slot + Nibbles::BYTES, w.scales, chunk);
  }

  template <int COLUMNS, class ROWS> DEVICE static void multiply(u32 slot, const ROWS& x, float (&sums)[COLUMNS][4]) {
    const u32 scales = slot + Nibbles::BYTES + 2 * (threadIdx.x % 32 >> 2);
    const float s0 = loadSharedHalf(scales) * 0.0625f, s1 = loadSharedHalf(scales + 16) * 0.0625f;
    addGroup(Nibbles::upper(Nibbles::load(slot)), s0, s1, x, sums);
  }

  DEVICE static float at(const Weights& w, size_t chunk, int row, int column) {
    const u16 scale = reinterpret_cast<const u16*>(w.scales)[chunk * 16 + row % 16];
    const int code = (signed char)(Nibbles::at(w.codes + chunk * Nibbles::BYTES, row, column) << 4) / 16;
    return toFloat(scale) * (float)code;
  }
};

// Types with other compact scales: codes of 4 or 8 bits with a float scale and minimum for 32 of them.
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
    return BITS == 8 ? loadShared(slot + 16 * (threadIdx.x % 32)) : Nibbles::lower(Nibbles::load(slot));
  }

  template <int COLUMNS, class ROWS> DEVICE static void multiply(u32 slot, const ROWS& x, float (&sums)[COLUMNS][4]) {
    const u32 scales = slot + CODE_BYTES + 4 * (threadIdx.x % 32 >> 2);
    addGroup(codes(slot), loadSharedFloat(scales), loadSharedFloat(scales + 32), x, sums);
    addMinimums(loadSharedFloat(scales + 64), loadSharedFloat(scales + 96), x, sums);
  }

  DEVICE static float at(const Weights& w, size_t chunk, int row, int column) {
    const float scale = reinterpret_cast<const float*>(w.scales)[chunk * 16 + row % 16];
    const float minimum = reinterpret_cast<const float*>(w.minimums)[chunk * 16 + row % 16];
    const u8* codes = w.codes + chunk * CODE_BYTES;
    const int code = BITS == 8 ? (signed char)codes[byteOf(row, column)] : Nibbles::at(codes, row, column);
    return fmaf(scale, (float)code, minimum);
  }
};

// The same without minimums, with a float scale for 16. Scales (2 halves of the group, 16 rows).
struct SixteenWeights : CodesAndScales<8> {
  template <int COLUMNS, class ROWS> DEVICE static void multiply(u32 slot, const ROWS& x, float (&sums)[COLUMNS][4]) {
    const int lane = threadIdx.x % 32;
    const u32 scales = slot + 512 + 4 * (lane >> 2);
    addSixteens(loadShared(slot + 16 * lane), loadSharedFloat(scales), loadSharedFloat(scales + 32),
                loadSharedFloat(scales + 64), loadSharedFloat(scales + 96), x, sums);
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
