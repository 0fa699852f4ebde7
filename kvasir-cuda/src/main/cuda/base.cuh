// Named wrappers of the instructions that the kernels use. No header is included, so that both nvcc and NVRTC compile the
// sources.
#pragma once

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;

#define DEVICE __device__ __forceinline__

constexpr u32 ALL_LANES = 0xffffffffu;
constexpr int PAGE_TOKENS = 64;
constexpr int TILE_TOKENS = 16;   // of an fp16 page: the rows of a matrix instruction
constexpr int PAGE_TILES = PAGE_TOKENS / TILE_TOKENS;

DEVICE float minusInfinity() { return __int_as_float(0xff800000); }

DEVICE u32 sharedAddress(const void* p) {
  u32 address;
  asm("{ .reg .u64 t; cvta.to.shared.u64 t, %1; cvt.u32.u64 %0, t; }" : "=r"(address) : "l"(p));
  return address;
}

DEVICE uint4 loadShared(u32 address) {
  uint4 v;
  asm volatile("ld.shared.v4.u32 {%0,%1,%2,%3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "r"(address));
  return v;
}

DEVICE u32 loadSharedWord(u32 address) {
  u32 v;
  asm volatile("ld.shared.u32 %0, [%1];" : "=r"(v) : "r"(address));
  return v;
}

DEVICE uint2 loadSharedPair(u32 address) {
  uint2 v;
  asm volatile("ld.shared.v2.u32 {%0,%1}, [%2];" : "=r"(v.x), "=r"(v.y) : "r"(address));
  return v;
}

DEVICE u32 loadSharedShort(u32 address) {
  u16 v;
  asm volatile("ld.shared.u16 %0, [%1];" : "=h"(v) : "r"(address));
  return v;
}

DEVICE u32 loadSharedByte(u32 address) {
  u32 v;
  asm volatile("ld.shared.u8 %0, [%1];" : "=r"(v) : "r"(address));
  return v;
}

// Bypasses the L1 cache, for data that is read once.
DEVICE uint4 loadGlobal(const u8* p) {
  uint4 v;
  asm volatile("ld.global.cg.v4.u32 {%0,%1,%2,%3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(p));
  return v;
}

DEVICE uint2 loadGlobalTwo(const u8* p) {
  uint2 v;
  asm volatile("ld.global.cg.v2.u32 {%0,%1}, [%2];" : "=r"(v.x), "=r"(v.y) : "l"(p));
  return v;
}

// Prefetches 128 bytes into the L2 cache.
DEVICE void expect(const u8* p) { asm volatile("prefetch.global.L2 [%0];" ::"l"(p)); }

// Loads through the L1 cache, for data that all warps of a block read.
DEVICE u32 loadShareable(const u32* p) {
  u32 v;
  asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(v) : "l"(p));
  return v;
}

// Copies 16 bytes from global to shared memory asynchronously; awaitCopies waits for them.
DEVICE void copyAhead(u32 to, const void* from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
}

// Copies 4, 8 or 16 bytes through the L1 cache, for data that other warps of the block copy too.
template <int BYTES> DEVICE void copyShareable(u32 to, const void* from) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(to), "l"(from), "n"(BYTES) : "memory");
}

// Closes a group of this lane's copies, which may be empty.
DEVICE void endCopies() { asm volatile("cp.async.commit_group;" ::: "memory"); }

// Waits for all but the last LEFT groups of this lane's copies.
template <int LEFT> DEVICE void awaitCopies() { asm volatile("cp.async.wait_group %0;" ::"n"(LEFT) : "memory"); }

// Multiplies two halves in a word with two others.
DEVICE u32 multiplyHalves(u32 a, u32 b) {
  u32 r;
  asm("mul.rn.f16x2 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
  return r;
}

DEVICE u32 toHalves(float low, float high) {
  u32 r;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(high), "f"(low));
  return r;
}

DEVICE u16 toHalf(float x) {
  u16 r;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(r) : "f"(x));
  return r;
}

DEVICE float toFloat(u16 half) {
  float r;
  asm("cvt.f32.f16 %0, %1;" : "=f"(r) : "h"(half));
  return r;
}

DEVICE float powerOfTwo(float x) {
  float r;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
  return r;
}

// Bounds a score or a logit smoothly; a cap of 0 is none.
DEVICE float softCap(float x, float cap) { return cap > 0.f ? cap * tanhf(x / cap) : x; }

// Transposes 8 x 8 halves; each lane holds two of a row.
DEVICE u32 transpose(u32 a) {
  u32 r;
  asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(r) : "r"(a));
  return r;
}

// c += a * b: 16 x 16 halves by 16 x 8, sums in floats. Lane 4r+q holds rows r and r+8 of a, columns 2q, 2q+1 and 2q+8,
// 2q+9; column r of b, rows 2q, 2q+1 and 2q+8, 2q+9; and rows r and r+8 of c, columns 2q, 2q+1.
DEVICE void multiplyTiles(float (&c)[4], u32 a0, u32 a1, u32 a2, u32 a3, u32 b0, u32 b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
}

DEVICE u32 wordOf(const uint4& v, int i) { return i == 0 ? v.x : i == 1 ? v.y : i == 2 ? v.z : v.w; }

// Lets the next kernel of the stream start as soon as resources allow. It waits where it needs what this one writes.
DEVICE void letNextBegin() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

// Waits until the previous kernel has ended and its writes are visible. Returns at once unless this kernel started early.
DEVICE void awaitPrevious() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
