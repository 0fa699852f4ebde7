// The shared memory of attention on Mead pages, and the copies of their codes into it.
#pragma once
#include "attend.cuh"
#include "meadpages.cuh"

// Shared memory of a thread block, then that of its warps.
template <int D> struct MeadMemory {
  static constexpr int STEPS = D / MEAD_STEP;
  static constexpr int HALF_STEPS = STEPS / 2, QUARTER_STEPS = STEPS / 4;
  static constexpr int QUERIES_AT = (sizeof(MeadHead<D>) + 127) / 128 * 128;   // (steps, 4 heads, 4 quads): x and y of two pairs
  static constexpr int BLOCK_BYTES = QUERIES_AT + STEPS * 128;
  static constexpr int PAGE_TURNS_BYTES = STEPS * 64;               // (steps, 4 quads): cosines and sines of two pairs
  static constexpr int QUERY_BYTES = 256;                           // of a step
  static constexpr int ROTATED_BYTES = STEPS * QUERY_BYTES;         // (steps, 8 columns, 4 quads) queries of a block
  static constexpr int SUM_BYTES = STEPS * 256;                     // (steps, 16 lanes) components of rows r and r + 8, of two heads each
  static constexpr int OUTPUT_STRIDE = 2 * D + 8;                   // at the end, from head to head: channels, components, padding
  static constexpr int POINTER_BYTES = 32;                          // (2 blocks) of keys and values
  static constexpr int FACTOR_BYTES = MEAD_GROUP_TILES * TILE_TOKENS * 16;   // of rows: see putFactors
  DEVICE static int warpBytes(int slotBytes) {
    return 2 * slotBytes + PAGE_TURNS_BYTES + ROTATED_BYTES + SUM_BYTES + POINTER_BYTES + FACTOR_BYTES;
  }
};

// The chunks of codes of a warp's blocks, in order, two at a time in shared memory. Slots and the phases of their barriers
// depend on the number of a chunk alone, since it is even. Lanes 0 and 1 know where the keys and the values of a block are.
template <int D> struct MeadChunks {
  static constexpr int COUNT = 2 * MEAD_CHUNKS;
  const Attention& a;
  const PageEntry* entries;
  const MeadHead<D>& head;
  u32 slots, bounds, pointers;   // in shared memory
  u32 barriers;                  // of both slots
  int slotBytes, lane, warps, end;
  PageEntry entry;               // of the block after the next one
  u32 parity;                    // of the current block

  DEVICE void loadEntry(int block) {
    if (lane < 2 && block < end) entry = entries[2 * block + (lane == 0 ? head.keyPage : head.valuePage)];
  }

  // Puts down where a block is, and prefetches it.
  DEVICE void putPointer(u32 parity) const {
    const u8* from = addressOf(entry) + a.packedOffset + (lane == 0 ? head.keyAt : head.valueAt);
    asm volatile("st.shared.u64 [%0], %1;" ::"r"(pointers + 16 * parity + 8 * lane), "l"(from) : "memory");
#if __CUDA_ARCH__ >= 900
    asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(from), "r"(head.bytes[lane]) : "memory");
#else
    for (u32 at = 0; at < head.bytes[lane]; at += 128) expect(from + at);
#endif
  }

  DEVICE void start(int first) {
#if __CUDA_ARCH__ >= 900
    if (lane == 0) {
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(barriers) : "memory");
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(barriers + 8) : "memory");
      asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
      asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    }
#endif
    parity = 1;
    loadEntry(first);
    if (lane < 2 && first < end) putPointer(0);
    __syncwarp();
    if (first < end) fetch<0>(0);
    closeFetch();
    loadEntry(first + warps);
  }

  // Called at the start of a block, by lanes that have read what precedes it.
  DEVICE void startBlock(int next) {
    parity ^= 1;
    if (lane < 2 && next < end) putPointer(parity ^ 1);
    loadEntry(next + warps);
    __syncwarp();
  }

  // Closes the group of a chunk's copies where a barrier does not count them.
  DEVICE static void closeFetch() {
#if __CUDA_ARCH__ < 900
    endCopies();
#endif
  }

  // Starts the copy of a chunk of a block.
  template <int CHUNK> DEVICE void fetch(u32 parity) const {
    const u32 slot = slots + CHUNK % 2 * slotBytes, pointer = pointers + 16 * parity + CHUNK / MEAD_CHUNKS * 8;
#if __CUDA_ARCH__ >= 900
    if (lane == 0) {
      const uint2 bound = loadSharedPair(bounds + 8 * CHUNK);
      u64 from;
      asm volatile("ld.shared.u64 %0, [%1];" : "=l"(from) : "r"(pointer));
      const u32 barrier = barriers + CHUNK % 2 * 8;
      asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bound.y) : "memory");
      if (bound.y > 0) {
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(slot),
                     "l"(from + bound.x), "r"(bound.y), "r"(barrier) : "memory");
      }
    }
#else
    const uint2 bound = loadSharedPair(bounds + 8 * CHUNK);
    u64 from;
    asm volatile("ld.shared.u64 %0, [%1];" : "=l"(from) : "r"(pointer));
    for (u32 at = 16 * lane; at < bound.y; at += 512) copyAhead(slot + at, reinterpret_cast<const u8*>(from + bound.x + at));
#endif
  }

  // Waits for a chunk and returns its address; starts the copy of the one after it, if there is any.
  template <int CHUNK> DEVICE u32 next(bool more = true) const {
    __syncwarp();   // all lanes have read what is replaced
    if (CHUNK < COUNT - 1) {
      fetch<(CHUNK + 1) % COUNT>(parity);
    } else if (more) {
      fetch<0>(parity ^ 1);
    }
#if __CUDA_ARCH__ >= 900
    const u32 barrier = barriers + CHUNK % 2 * 8;
    u32 there;
    do {
      asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0,1,0,p; }"
                   : "=r"(there) : "r"(barrier), "n"(CHUNK / 2 % 2) : "memory");
    } while (!there);
#else
    closeFetch();
    awaitCopies<1>();
    __syncwarp();
#endif
    return slots + CHUNK % 2 * slotBytes;
  }

  // The same for a number that is known when the kernel runs.
  DEVICE u32 nextValues(int quarter, bool more) const {
    return quarter == 1 ? next<MEAD_CHUNKS + 1>() : quarter == 2 ? next<MEAD_CHUNKS + 2>() : next<MEAD_CHUNKS + 3>(more);
  }
};
