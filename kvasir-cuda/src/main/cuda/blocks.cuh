// Weights in blocks of 16 rows by 256 columns, which products convert to halves in registers. Blocks of a matrix are
// contiguous, (rows / 16, columns / 256), as dev.kvasir.cuda.kernels.WeightBlocks writes them.
//
// Columns are permuted so that a lane needs the scales of two groups only. Of 256 columns, column c belongs to step
// j = c % 32 / 2, to group g = c / 32 = 2q + h, and is the e = c % 2 -th of its pair. A matrix instruction takes a step: two
// columns of each of the eight groups. Rows are permuted too: lane 4r+q has rows 2r and 2r+1, groups 2q and 2q+1, as the
// registers (2r, 2q), (2r+1, 2q), (2r, 2q+1), (2r+1, 2q+1) of operand A. mma.m16n8k16 and wgmma have the same operand.
// Activations, which are operand B, store a pair of columns at word 8j + 4h + q of 128.
#pragma once
#include "base.cuh"

constexpr int BLOCK_ROWS = 16;
constexpr int BLOCK_COLUMNS = 256;

DEVICE u32 addHalves(u32 a, u32 b) { u32 r; asm("add.rn.f16x2 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b)); return r; }
DEVICE u32 fuseHalves(u32 a, u32 b, u32 c) {
  u32 r;
  asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));
  return r;
}
DEVICE u32 lowTwice(u32 a) { u32 r; asm("{ .reg .b16 l, h; mov.b32 {l, h}, %1; mov.b32 %0, {l, l}; }" : "=r"(r) : "r"(a)); return r; }
DEVICE u32 highTwice(u32 a) { u32 r; asm("{ .reg .b16 l, h; mov.b32 {l, h}, %1; mov.b32 %0, {h, h}; }" : "=r"(r) : "r"(a)); return r; }
DEVICE u32 selectBytes(u32 a, u32 b, u32 selector) {
  u32 r;
  asm("prmt.b32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(selector));
  return r;
}

// Returns (a & MASK) | ONES. The compiler splits this into two instructions where the constants are not immediates.
template <u32 MASK, u32 ONES> DEVICE u32 maskAndSet(u32 a) {
  u32 r;
  asm("lop3.b32 %0, %1, %2, %3, 0xea;" : "=r"(r) : "r"(a), "n"(MASK), "n"(ONES));
  return r;
}

// Volatile, so that loads stay behind the wait for the copy.
DEVICE u32 loadBlockWord(u32 address) {
  u32 v;
  asm volatile("ld.shared.u32 %0, [%1];" : "=r"(v) : "r"(address) : "memory");
  return v;
}
DEVICE u32 loadBlockShort(u32 address) {
  u16 v;
  asm volatile("ld.shared.u16 %0, [%1];" : "=h"(v) : "r"(address) : "memory");
  return v;
}
DEVICE uint2 loadBlockPair(u32 address) {
  uint2 v;
  asm volatile("ld.shared.v2.u32 {%0,%1}, [%2];" : "=r"(v.x), "=r"(v.y) : "r"(address) : "memory");
  return v;
}
DEVICE uint4 loadBlockQuad(u32 address) {
  uint4 v;
  asm volatile("ld.shared.v4.u32 {%0,%1,%2,%3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "r"(address) : "memory");
  return v;
}

// Halves 1024, whose last bit is one: codes in the lower bits of a half with this exponent are 1024 + code.
constexpr u32 TWICE_1024 = 0x64006400;
constexpr u32 TWICE_MINUS_1024 = 0xe400e400;
constexpr u32 TWICE_MINUS_1152 = 0xe480e480;
constexpr u32 TWICE_SIXTEENTH = 0x2c002c00;

// Each kind of block defines
//   BYTES, CODE_BYTES   of a block, and of its codes, which come first; a quarter of them are four steps
//   QUARTERS            that are copied at once; fewer than four only if a block has no scales
//   Scales, Codes       a lane's scales of a block, and its codes of four steps
//   unpack<S>           operand A of the S-th of these steps
//   hold                keeps loads of codes where they are: the matrix units still read the registers before
//   at                  one weight

// Four bits of every code: (j / 4, lane, j % 4) words, nibble 4e + 2h + row. A step's codes of row 2r are the lower nibbles of
// each byte, which become 1024 + code as halves; those of row 2r + 1 become 1024 + 16 * code.
struct NibbleWords {
  static constexpr int BYTES = 2048;

  DEVICE static uint4 load(u32 block, int quarter, int lane) { return loadBlockQuad(block + 512 * quarter + 16 * lane); }
  DEVICE static void hold(uint4& v) { asm volatile("" : "+r"(v.x), "+r"(v.y), "+r"(v.z), "+r"(v.w)); }

  DEVICE static u32 at(const u8* block, int row, int column) {
    const int j = column % 32 / 2, lane = row % 16 / 2 * 4 + column % 256 / 64;
    const u32 word = reinterpret_cast<const u32*>(block)[j / 4 * 128 + lane * 4 + j % 4];
    return word >> 4 * (4 * (column % 2) + 2 * (column / 32 % 2) + row % 2) & 15;
  }
};

// Codes less ZERO, as halves, from halves 1024 + code (of row 2r) and 1024 + 16 * code (of row 2r + 1); all of it is exact.
template <int ZERO> DEVICE u32 lowerCodes(u32 lifted) { return addHalves(lifted, 0xe400e400 + ZERO * 0x10001); }
template <int ZERO> DEVICE u32 upperCodes(u32 lifted) {
  constexpr u32 MINUS = ZERO == 0 ? 0xd400d400 : ZERO == 8 ? 0xd480d480 : 0xd600d600;   // -(64 + ZERO)
  static_assert(ZERO == 0 || ZERO == 8 || ZERO == 32, "the constant of another zero is missing");
  return fuseHalves(lifted, TWICE_SIXTEENTH, MINUS);
}

// 6-bit scales and minimums of 32 columns, for Q4_K and Q5_K:
//   (lane) words: their lower four bits   bit 15        12 11          8 7        4 3       0
//                 of row 2r, and above       | minimum 2q+1 | scale 2q+1 | minimum 2q | scale 2q |
//                 those of row 2r + 1
//   (lane) halves: their upper two bits, a byte for each row, in the same order
//   (r) four halves: factors of scales of rows 2r, 2r+1, and of minimums, with the opposite sign
struct SixBitPairs {
  static constexpr int BYTES = 256;
  u32 of[2], minimums[2];   // of both rows in a word

  template <int SHIFT> DEVICE static u32 field(u32 low, u32 high) {   // the six bits of both rows as halves
    const u32 upper = SHIFT < 2 ? high << (4 - 2 * SHIFT) : high >> (2 * SHIFT - 4);
    const u32 lower = maskAndSet<0x000f000f, TWICE_1024>(low >> (4 * SHIFT));
    return addHalves((upper & 0x00300030) | lower, TWICE_MINUS_1024);
  }

  DEVICE static SixBitPairs load(u32 at, int lane) {
    const u32 low = loadBlockWord(at + 4 * lane), high = selectBytes(loadBlockShort(at + 128 + 2 * lane), 0, 0x4140);
    const uint2 factors = loadBlockPair(at + 192 + 8 * (lane >> 2));
    return SixBitPairs{{multiplyHalves(field<0>(low, high), factors.x), multiplyHalves(field<2>(low, high), factors.x)},
                       {multiplyHalves(field<1>(low, high), factors.y), multiplyHalves(field<3>(low, high), factors.y)}};
  }

  // Turns the codes of a step into weights.
  DEVICE void apply(u32* a) const {
    a[0] = fuseHalves(a[0], lowTwice(of[0]), lowTwice(minimums[0]));
    a[1] = fuseHalves(a[1], highTwice(of[0]), highTwice(minimums[0]));
    a[2] = fuseHalves(a[2], lowTwice(of[1]), lowTwice(minimums[1]));
    a[3] = fuseHalves(a[3], highTwice(of[1]), highTwice(minimums[1]));
  }

  DEVICE static float at(const u8* scales, int row, int column, u32 code) {
    const int h = column / 32 % 2, r = row % 16 / 2, lane = 4 * r + column % 256 / 64;
    const u32 low = reinterpret_cast<const u32*>(scales)[lane] >> (16 * (row % 2) + 8 * h);
    const u32 high = reinterpret_cast<const u16*>(scales + 128)[lane] >> (8 * (row % 2) + 4 * h);
    const u16* factors = reinterpret_cast<const u16*>(scales + 192) + 4 * r + row % 2;
    const float scale = toFloat(factors[0]) * (float)((low & 15) | (high & 3) << 4);
    return fmaf(scale, (float)code, toFloat(factors[2]) * (float)((low >> 4 & 15) | (high >> 2 & 3) << 4));
  }
};

// Scales of 32 columns: (lane, h, row) halves.
struct HalfScales {
  static constexpr int BYTES = 256;
  u32 of[2];

  DEVICE static HalfScales load(u32 at, int lane) {
    const uint2 v = loadBlockPair(at + 8 * lane);
    return HalfScales{{v.x, v.y}};
  }

  DEVICE void apply(u32* a) const {
    a[0] = multiplyHalves(a[0], lowTwice(of[0]));
    a[1] = multiplyHalves(a[1], highTwice(of[0]));
    a[2] = multiplyHalves(a[2], lowTwice(of[1]));
    a[3] = multiplyHalves(a[3], highTwice(of[1]));
  }

  DEVICE static float at(const u8* scales, int row, int column) {
    const int lane = row % 16 / 2 * 4 + column % 256 / 64;
    return toFloat(reinterpret_cast<const u16*>(scales)[lane * 4 + column / 32 % 2 * 2 + row % 2]);
  }
};

// Q8_0: codes plus 128 (j / 2, lane, j % 2, h, row, e), then scales.
struct ByteBlock {
  static constexpr int CODE_BYTES = 4096, BYTES = CODE_BYTES + HalfScales::BYTES, QUARTERS = 4;
  using Scales = HalfScales;
  struct Codes { uint4 of[2]; };

  DEVICE static Scales scales(u32 block, int lane) { return Scales::load(block + CODE_BYTES, lane); }
  DEVICE static Codes codes(u32 block, int quarter, int lane) {
    const u32 at = block + 1024 * quarter + 16 * lane;
    return Codes{{loadBlockQuad(at), loadBlockQuad(at + 512)}};
  }
  DEVICE static void hold(Codes& c) { NibbleWords::hold(c.of[1]); }

  template <int S> DEVICE static void unpack(const Codes& codes, const Scales& scales, u32* a) {
    const uint4& v = codes.of[S / 2];
    const u32 near = S % 2 ? v.z : v.x, far = S % 2 ? v.w : v.y;
    a[0] = addHalves(selectBytes(near, 0x64646464, 0x4140), TWICE_MINUS_1152);
    a[1] = addHalves(selectBytes(near, 0x64646464, 0x4342), TWICE_MINUS_1152);
    a[2] = addHalves(selectBytes(far, 0x64646464, 0x4140), TWICE_MINUS_1152);
    a[3] = addHalves(selectBytes(far, 0x64646464, 0x4342), TWICE_MINUS_1152);
    scales.apply(a);
  }

  DEVICE static float at(const u8* block, int row, int column) {
    const int j = column % 32 / 2, h = column / 32 % 2, lane = row % 16 / 2 * 4 + column % 256 / 64;
    const int code = block[j / 2 * 512 + lane * 16 + j % 2 * 8 + h * 4 + row % 2 * 2 + column % 2] - 128;
    return Scales::at(block + CODE_BYTES, row, column) * (float)code;
  }
};

// Q4_0: nibbles, of codes plus 8, then scales.
struct SignedNibbleBlock {
  static constexpr int CODE_BYTES = NibbleWords::BYTES, BYTES = CODE_BYTES + HalfScales::BYTES, QUARTERS = 4;
  using Scales = HalfScales;
  struct Codes { uint4 of; };

  DEVICE static Scales scales(u32 block, int lane) { return Scales::load(block + CODE_BYTES, lane); }
  DEVICE static Codes codes(u32 block, int quarter, int lane) { return Codes{NibbleWords::load(block, quarter, lane)}; }
  DEVICE static void hold(Codes& c) { NibbleWords::hold(c.of); }

  template <int S> DEVICE static void unpack(const Codes& codes, const Scales& scales, u32* a) {
    const u32 near = wordOf(codes.of, S), far = near >> 8;
    a[0] = lowerCodes<8>(maskAndSet<0x000f000f, TWICE_1024>(near));
    a[1] = upperCodes<8>(maskAndSet<0x00f000f0, TWICE_1024>(near));
    a[2] = lowerCodes<8>(maskAndSet<0x000f000f, TWICE_1024>(far));
    a[3] = upperCodes<8>(maskAndSet<0x00f000f0, TWICE_1024>(far));
    scales.apply(a);
  }

  DEVICE static float at(const u8* block, int row, int column) {
    return Scales::at(block + CODE_BYTES, row, column) * (float)((int)NibbleWords::at(block, row, column) - 8);
  }
};

// Q4_K: nibbles, then scales and minimums.
struct NibbleBlock {
  static constexpr int CODE_BYTES = NibbleWords::BYTES, BYTES = CODE_BYTES + SixBitPairs::BYTES, QUARTERS = 4;
  using Scales = SixBitPairs;
  struct Codes { uint4 of; };

  DEVICE static Scales scales(u32 block, int lane) { return Scales::load(block + CODE_BYTES, lane); }
  DEVICE static Codes codes(u32 block, int quarter, int lane) { return Codes{NibbleWords::load(block, quarter, lane)}; }
  DEVICE static void hold(Codes& c) { NibbleWords::hold(c.of); }

  template <int S> DEVICE static void unpack(const Codes& codes, const Scales& scales, u32* a) {
    const u32 near = wordOf(codes.of, S), far = near >> 8;
    a[0] = lowerCodes<0>(maskAndSet<0x000f000f, TWICE_1024>(near));
    a[1] = upperCodes<0>(maskAndSet<0x00f000f0, TWICE_1024>(near));
    a[2] = lowerCodes<0>(maskAndSet<0x000f000f, TWICE_1024>(far));
    a[3] = upperCodes<0>(maskAndSet<0x00f000f0, TWICE_1024>(far));
    scales.apply(a);
  }

  DEVICE static float at(const u8* block, int row, int column) {
    return Scales::at(block + CODE_BYTES, row, column, NibbleWords::at(block, row, column));
  }
};

// Q5_K: nibbles, then fifth bits (j / 4, lane) words, then scales and minimums. Of a word, the lower half has the first columns
// of pairs and the upper half the second ones; bit 4 (j % 4) + 2h + row of it.
struct FiveBitBlock {
  static constexpr int FIFTHS_AT = NibbleWords::BYTES, CODE_BYTES = FIFTHS_AT + 512;
  static constexpr int BYTES = CODE_BYTES + SixBitPairs::BYTES, QUARTERS = 4;
  using Scales = SixBitPairs;
  struct Codes { uint4 of; u32 fifths; };

  DEVICE static Scales scales(u32 block, int lane) { return Scales::load(block + CODE_BYTES, lane); }
  DEVICE static Codes codes(u32 block, int quarter, int lane) {
    return Codes{NibbleWords::load(block, quarter, lane), loadBlockWord(block + FIFTHS_AT + 128 * quarter + 4 * lane)};
  }
  DEVICE static void hold(Codes& c) { NibbleWords::hold(c.of); asm volatile("" : "+r"(c.fifths)); }

  // Moves a bit of either half to another place.
  template <int FROM, int TO> DEVICE static u32 move(u32 v) {
    return (FROM > TO ? v >> (FROM > TO ? FROM - TO : 0) : v << (FROM > TO ? 0 : TO - FROM)) & (0x10001u << TO);
  }

  template <int S> DEVICE static void unpack(const Codes& codes, const Scales& scales, u32* a) {
    const u32 near = wordOf(codes.of, S), far = near >> 8, f = codes.fifths;
    a[0] = lowerCodes<0>(maskAndSet<0x000f000f, TWICE_1024>(near) | move<4 * S, 4>(f));
    a[1] = upperCodes<0>(maskAndSet<0x00f000f0, TWICE_1024>(near) | move<4 * S + 1, 8>(f));
    a[2] = lowerCodes<0>(maskAndSet<0x000f000f, TWICE_1024>(far) | move<4 * S + 2, 4>(f));
    a[3] = upperCodes<0>(maskAndSet<0x00f000f0, TWICE_1024>(far) | move<4 * S + 3, 8>(f));
    scales.apply(a);
  }

  DEVICE static float at(const u8* block, int row, int column) {
    const int j = column % 32 / 2, lane = row % 16 / 2 * 4 + column % 256 / 64;
    const u32 word = reinterpret_cast<const u32*>(block + FIFTHS_AT)[j / 4 * 32 + lane];
    const u32 fifth = word >> (16 * (column % 2) + 4 * (j % 4) + 2 * (column / 32 % 2) + row % 2) & 1;
    return Scales::at(block + CODE_BYTES, row, column, NibbleWords::at(block, row, column) | fifth << 4);
  }
};

// Q6_K: nibbles of codes plus 32, then their upper two bits, then signed bytes as scales of 16 columns, then (row) halves as
// factors of scales.
//   upper bits (j / 4, lane, j / 2 % 2) words: of a word, the lower half has the first columns of pairs and the upper half the
//              second ones; bits 8 (j % 2) + 4h + 2 row of it
//   scales     (lane, columns % 32 / 16, h, row)
struct SixBitBlock {
  static constexpr int UPPER_AT = NibbleWords::BYTES, CODE_BYTES = UPPER_AT + 1024;
  static constexpr int FACTORS_AT = CODE_BYTES + 256, BYTES = FACTORS_AT + 32, QUARTERS = 4;
  struct Scales { HalfScales of[2]; };   // of steps 0 to 7, and of the others
  struct Codes { uint4 of; uint2 upper; int quarter; };

  // Signed bytes as halves, times a factor for each.
  DEVICE static u32 scalePair(u32 bytes, u32 selector, u32 factors) {
    return multiplyHalves(addHalves(selectBytes(bytes ^ 0x80808080, 0x64646464, selector), TWICE_MINUS_1152), factors);
  }

  DEVICE static Scales scales(u32 block, int lane) {
    const uint2 v = loadBlockPair(block + CODE_BYTES + 8 * lane);
    const u32 factors = loadBlockWord(block + FACTORS_AT + 4 * (lane >> 2));
    return Scales{{{{scalePair(v.x, 0x4140, factors), scalePair(v.x, 0x4342, factors)}},
                   {{scalePair(v.y, 0x4140, factors), scalePair(v.y, 0x4342, factors)}}}};
  }
  DEVICE static Codes codes(u32 block, int quarter, int lane) {
    return Codes{NibbleWords::load(block, quarter, lane), loadBlockPair(block + UPPER_AT + 256 * quarter + 8 * lane), quarter};
  }
  DEVICE static void hold(Codes& c) { NibbleWords::hold(c.of); asm volatile("" : "+r"(c.upper.x), "+r"(c.upper.y)); }

  template <int S> DEVICE static void unpack(const Codes& codes, const Scales& scales, u32* a) {
    const u32 near = wordOf(codes.of, S), far = near >> 8;
    const u32 word = S / 2 ? codes.upper.y : codes.upper.x, upper = S % 2 ? word >> 8 : word;
    a[0] = lowerCodes<32>(maskAndSet<0x000f000f, TWICE_1024>(near) | (upper << 4 & 0x00300030));
    a[1] = upperCodes<32>(maskAndSet<0x00f000f0, TWICE_1024>(near) | (upper << 6 & 0x03000300));
    a[2] = lowerCodes<32>(maskAndSet<0x000f000f, TWICE_1024>(far) | (upper & 0x00300030));
    a[3] = upperCodes<32>(maskAndSet<0x00f000f0, TWICE_1024>(far) | (upper << 2 & 0x03000300));
    scales.of[codes.quarter / 2].apply(a);
  }

  DEVICE static float at(const u8* block, int row, int column) {
    const int j = column % 32 / 2, h = column / 32 % 2, lane = row % 16 / 2 * 4 + column % 256 / 64;
    const u32 word = reinterpret_cast<const u32*>(block + UPPER_AT)[j / 4 * 64 + lane * 2 + j / 2 % 2];
    const u32 upper = word >> (16 * (column % 2) + 8 * (j % 2) + 4 * h + 2 * (row % 2)) & 3;
    const int code = (int)(NibbleWords::at(block, row, column) | upper << 4) - 32;
    const signed char scale = (signed char)block[CODE_BYTES + lane * 8 + j / 8 * 4 + h * 2 + row % 2];
    return toFloat(reinterpret_cast<const u16*>(block + FACTORS_AT)[row % 16]) * (float)scale * (float)code;
  }
};

// F16, and BF16 converted: (j, lane, h, row, e). Codes are loaded where they are used, since the matrix units may still read
// registers that a load would overwrite.
struct HalfBlock {
  static constexpr int CODE_BYTES = 8192, BYTES = CODE_BYTES, QUARTERS = 1;
  struct Scales {};
  struct Codes { u32 at; };

  DEVICE static Scales scales(u32, int) { return Scales{}; }
  DEVICE static Codes codes(u32 block, int quarter, int lane) { return Codes{block + 2048 * quarter + 16 * lane}; }
  DEVICE static void hold(Codes&) {}

  template <int S> DEVICE static void unpack(const Codes& codes, const Scales&, u32* a) {
    const uint4 v = loadBlockQuad(codes.at + 512 * S);
    a[0] = v.x; a[1] = v.y; a[2] = v.z; a[3] = v.w;
  }

  DEVICE static float at(const u8* block, int row, int column) {
    const int j = column % 32 / 2, h = column / 32 % 2, lane = row % 16 / 2 * 4 + column % 256 / 64;
    return toFloat(reinterpret_cast<const u16*>(block)[j * 256 + lane * 8 + h * 4 + row % 2 * 2 + column % 2]);
  }
};

// Stores two adjacent outputs of a row of floats; the second one may be after the last.
DEVICE void storePair(float* to, float x, float y, bool both) {
  if (both && ((size_t)to & 7) == 0) {
    *reinterpret_cast<float2*>(to) = float2{x, y};
  } else {
    to[0] = x;
    if (both) to[1] = y;
  }
}

// Barriers in shared memory that count copied bytes, and the copies.
#if __CUDA_ARCH__ >= 900
DEVICE void initBarrier(u32 barrier, u32 count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(count) : "memory");
}
DEVICE void publishBarriers() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }
DEVICE void expectBytes(u32 barrier, u32 bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}
DEVICE void arriveAt(u32 barrier) { asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory"); }
DEVICE void awaitBarrier(u32 barrier, u32 parity) {
  asm volatile("{ .reg .pred p;\n WAIT: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n @p bra DONE;\n bra WAIT;\n DONE: }"
               ::"r"(barrier), "r"(parity) : "memory");
}
DEVICE void copyBytes(u32 to, const void* from, u32 bytes, u32 barrier) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
               ::"r"(to), "l"(from), "r"(bytes), "r"(barrier) : "memory");
}
#endif
