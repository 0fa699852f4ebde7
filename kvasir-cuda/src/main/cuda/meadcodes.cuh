// Codes of Mead pages in shared memory, as operands of the matrix instruction. MeadPlanes and MeadLastPlanes have their places.
#pragma once
#include "meadpages.cuh"

// Returns 2^-n in both halves.
constexpr __host__ __device__ u32 meadPower(int n) { return (u32)(15 - n) << 10 | (u32)(15 - n) << 26; }

// A lane's codes of a plane of four tiles, as registers of operands. MeadPlanes has their places.
template <int BITS, int BELOW> struct MeadGroupCodes {
  u32 words[BITS], swapped[BITS];

  DEVICE MeadGroupCodes(u32 plane, int lane) {
    const u32 at = plane + 4 * BITS * lane;
    if constexpr (BITS == 1) {
      words[0] = loadSharedWord(at);
    } else if constexpr (BITS == 2) {
      const uint2 two = loadSharedPair(at);
      words[0] = two.x;
      words[1] = two.y;
    } else {
      const uint4 four = loadShared(at);
#pragma unroll
      for (int i = 0; i < 4; i++) words[i] = wordOf(four, i);
    }
#pragma unroll
    for (int i = 0; i < BITS; i++) swapped[i] = __byte_perm(words[i], 0, 0x2301);
  }

  DEVICE u32 of(int tile, int reg) const {
    const int start = 2 * tile + reg % 2 + BELOW;
    return (reg < 2 ? words : swapped)[start % BITS] & (((1u << BITS) - 1) * 0x10001u << start);
  }
};

// The same of a plane of the last tile alone.
template <int BITS> struct MeadLastCodes {
  u32 regs[4];

  DEVICE MeadLastCodes(u32 plane, int lane) {
    constexpr u32 lower = ((1u << BITS) - 1) * 0x10001u << 6, upper = 2 * lower;
    const u32 at = plane + BITS * lane;
    if constexpr (BITS == 1) {
      const u32 bits = loadSharedByte(at), near = bits * (0x1001u << 6), far = bits * (0x1001u << 4);
      regs[0] = near & lower; regs[1] = near & upper; regs[2] = far & lower; regs[3] = far & upper;
    } else if constexpr (BITS == 2) {
      const u32 word = __byte_perm(loadSharedShort(at), 0, 0x4140);
      regs[0] = word << 6 & lower; regs[1] = word << 5 & upper; regs[2] = word << 2 & lower; regs[3] = word << 1 & upper;
    } else {
      const u32 word = loadSharedWord(at), swapped = __byte_perm(word, 0, 0x2301);
      regs[0] = word & lower; regs[1] = word >> 3 & upper; regs[2] = swapped & lower; regs[3] = swapped >> 3 & upper;
    }
  }
};

// A plane of a step: bits, bits of the group below that start at the same place, and whether it is the first one.
template <int N, int M, bool F = false> struct MeadWidth {
  static constexpr int BITS = N, BELOW = M;
  static constexpr bool FIRST = F;
};

// Calls plane(MeadWidth, rest) for each plane of a group's width, the upper bits first. Units of planes agree but for the first
// one of more than four bits, which is 2^rest times the others.
template <class PLANE> DEVICE void withGroupPlanes(int width, const PLANE& plane) {
  int left = width;
  if (left >= 4) {
#pragma unroll 1
    do {
      left -= 4;
      plane(MeadWidth<4, 0>(), left);
    } while (left >= 4);
  }
  if (left == 2) plane(MeadWidth<2, 0>(), 0);
  if (left == 3) plane(MeadWidth<2, 1>(), 0);
  if (left & 1) plane(MeadWidth<1, 0>(), 0);
}

// The same, where the first plane has instructions of its own.
template <class PLANE> DEVICE void withFirstPlane(int width, const PLANE& plane) {
  if (width == 2) {
    plane(MeadWidth<2, 0, true>(), 0);
  } else if (width == 1) {
    plane(MeadWidth<1, 0, true>(), 0);
  } else if (width == 3) {
    plane(MeadWidth<2, 1, true>(), 0);
    plane(MeadWidth<1, 0>(), 0);
  } else if (width >= 4) {
    plane(MeadWidth<4, 0, true>(), width - 4);
    withGroupPlanes(width - 4, plane);
  }
}

// Calls plane(MeadWidth) for each plane of the last tile.
template <class PLANE> DEVICE void withLastPlanes(int width, const PLANE& plane) {
  if (width >= 4) {
#pragma unroll 1
    for (int left = width; left >= 4; left -= 4) plane(MeadWidth<4, 0>());
  }
  if (width & 2) plane(MeadWidth<2, 0>());
  if (width & 1) plane(MeadWidth<1, 0>());
}
