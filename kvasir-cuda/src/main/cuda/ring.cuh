// A warp's ring buffer in shared memory, filled by copies that overlap with the arithmetic. A slot holds the keys of a unit
// (a packed page, or an fp16 tile), then its values; both are awaited and refilled separately.
//
// The implementation depends on the compute capability. From 9.0 on, one lane starts a bulk copy of half a slot, and a
// barrier in shared memory counts the bytes that have arrived. Before 9.0, every lane copies 16 bytes at a time (cp.async),
// and groups of copies are counted. Every fill closes a group, even an empty one, so that the number of groups after the
// awaited one is constant.
#pragma once
#include "base.cuh"

constexpr int MOST_WARPS = 16;
constexpr int MOST_STAGES = 4;

// Two per slot, for keys and values.
struct RingBarriers { u64 of[MOST_WARPS * MOST_STAGES * 2]; };

// The sizes of a slot's halves, multiples of 16: constants, or known when a kernel runs.
template <int KEYS, int VALUES> struct FixedSlots {
  static constexpr int keyBytes = KEYS, valueBytes = VALUES, slotBytes = KEYS + VALUES;
};

struct SizedSlots {
  int keyBytes, valueBytes, slotBytes;
};

template <class SLOTS> struct RingOf : SLOTS {
  u32 slots;      // address of the first one in shared memory
  u32 barriers;   // of the first slot's keys
  int stages;     // number of slots
  int slot;       // being read
  u32 phase;      // of that slot's barriers
  int lane;
  u64 once;       // pages are read once per step, so L2 evicts them first

  DEVICE RingOf(u8* memory, RingBarriers& all, int warp, int lane, int stages, const SLOTS& sizes = SLOTS())
      : SLOTS(sizes),
        slots(sharedAddress(memory) + warp * stages * this->slotBytes),
        barriers(sharedAddress(all.of) + warp * MOST_STAGES * 16),
        stages(stages), slot(0), phase(0), lane(lane), once(0) {
#if __CUDA_ARCH__ >= 900
    asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(once));
    if (lane == 0) {
#pragma unroll 1
      for (int i = 0; i < 2 * stages; i++) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(barriers + 8 * i) : "memory");
      }
      asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
      asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    }
    __syncwarp();
#endif
  }

  // Called when everything that was filled has been read and the memory is reused.
  DEVICE void close() const {
    __syncwarp();
#if __CUDA_ARCH__ >= 900
    if (lane == 0) {
#pragma unroll 1
      for (int i = 0; i < 2 * stages; i++) {
        asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(barriers + 8 * i) : "memory");
      }
    }
#else
    asm volatile("cp.async.wait_all;" ::: "memory");
#endif
    __syncwarp();
  }

  DEVICE u32 keys() const { return slots + slot * this->slotBytes; }
  DEVICE u32 values() const { return keys() + this->keyBytes; }

  // unit: address in global memory; null if none is left
  DEVICE void fillKeys(int into, const u8* unit) const { fill(into, 0, this->keyBytes, 0, unit); }
  DEVICE void fillValues(int into, const u8* unit) const { fill(into, this->keyBytes, this->valueBytes, 8, unit); }

  DEVICE void awaitKeys() const { await(0); }
  DEVICE void awaitValues() const { await(8); }

  // Called when all lanes have read what is replaced.
  DEVICE void refillKeys(const u8* unit) const { __syncwarp(); fillKeys(slot, unit); }
  DEVICE void refillValues(const u8* unit) const { __syncwarp(); fillValues(slot, unit); }

  DEVICE void advance() {
    if (++slot == stages) { slot = 0; phase ^= 1; }
  }

  // Fetches a unit into L2, while the previous kernel may still write to it.
  DEVICE void expectUnit(const u8* unit) const {
#if __CUDA_ARCH__ >= 900
    if (lane == 0 && unit != nullptr) {
      asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(unit), "r"((u32)this->slotBytes) : "memory");
    }
#endif
  }

#if __CUDA_ARCH__ >= 900
  DEVICE void fill(int into, int offset, int bytes, int barrierOffset, const u8* unit) const {
    if (lane != 0 || unit == nullptr) return;
    const u32 barrier = barriers + 16 * into + barrierOffset;
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" :: "r"(barrier), "r"((u32)bytes) : "memory");
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1], %2, [%3], %4;"
                 :: "r"(slots + into * this->slotBytes + offset), "l"(unit + offset), "r"((u32)bytes), "r"(barrier), "l"(once)
                 : "memory");
  }

  DEVICE void await(int barrierOffset) const {
    const u32 barrier = barriers + 16 * slot + barrierOffset;
    u32 there;
    do {
      asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0,1,0,p; }"
                   : "=r"(there) : "r"(barrier), "r"(phase) : "memory");
    } while (!there);
  }
#else
  DEVICE void fill(int into, int offset, int bytes, int, const u8* unit) const {
    if (unit != nullptr) {
      const u32 to = slots + into * this->slotBytes + offset;
#pragma unroll
      for (int i = 0; i < (bytes + 511) / 512; i++) {
        const int at = 512 * i + 16 * lane;
        if (at < bytes) {
          asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"(to + at), "l"(unit + offset + at) : "memory");
        }
      }
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
  }

  DEVICE void await(int) const {
    switch (stages) {
      case 1: asm volatile("cp.async.wait_group 1;" ::: "memory"); break;
      case 2: asm volatile("cp.async.wait_group 3;" ::: "memory"); break;
      case 3: asm volatile("cp.async.wait_group 5;" ::: "memory"); break;
      default: asm volatile("cp.async.wait_group 7;" ::: "memory");
    }
    __syncwarp();
  }
#endif
};

template <int KEY_BYTES, int VALUE_BYTES> using Ring = RingOf<FixedSlots<KEY_BYTES, VALUE_BYTES>>;
