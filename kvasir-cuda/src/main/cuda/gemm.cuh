// Products of many rows with weights in blocks, on the matrix units of a warpgroup (sm_90a). A thread block computes 128
// outputs of ROWS rows at a time. Its two warpgroups take 64 outputs each: they unpack weights to registers as operand A, and
// the activations are operand B in shared memory, so the transposed product is computed. A third warpgroup copies.
//
// For rows of prompts (PARTS 1), an output is one sum over the columns in order. For generated tokens (PARTS 8), it is the sum
// of the parts in gemv.cuh: one thread block adds them, in twice the registers, or several share them and the last one to
// finish adds all. Neither ROWS nor other rows change an output.
#pragma once
#include "gemv.cuh"
#include "wgmma.cuh"

#ifdef __CUDA_ARCH_FEAT_SM90_ALL

struct alignas(64) TensorMap { u8 bytes[128]; };

// The operands and the output of a product; the activations are a tensor map of (rows, columns) halves in permuted order.
struct BlockProduct {
  const u8* weights;   // (outputs / 16 padded to 8, columns / 256) blocks
  float* out;          // (rows, stride), the first outputs of each row
  u32 count;           // of rows
  u32 columns;
  u32 outputs;
  u32 stride;
  u32 firstRow;        // of the map
  u32 sharing;         // thread blocks that share the parts of a tile, a divisor of PARTS; 1 if none do
  float* partials;     // if they do, (tiles, parts, ROWS / 2, 256 threads)
  u32* arrivals;       // (tiles), zero before and after
};

constexpr int GEMM_OUTPUTS = 128;
constexpr int GEMM_THREADS = 384;

// Thread blocks per multiprocessor. With few rows, a warpgroup waits for its own products most of the time, so there are two.
template <int ROWS> constexpr int GEMM_BLOCKS = ROWS == 32 ? 2 : 1;

// Shared memory: rings of activations (ROWS rows by 64 columns) and of weights (8 blocks), and their barriers.
template <class KIND, int ROWS, int ROW_STAGES, int WEIGHT_STAGES> struct GemmMemory {
  static constexpr int ROW_BYTES = ROWS * 128, PIECE_BYTES = KIND::BYTES / 4 * KIND::QUARTERS, WEIGHT_BYTES = 8 * PIECE_BYTES;
  u32 rows, weights, fullRows, emptyRows, fullWeights, emptyWeights;

  DEVICE explicit GemmMemory(u32 memory) {
    rows = (memory + 1023) & ~1023u;   // of the swizzle
    weights = rows + ROW_STAGES * ROW_BYTES;
    fullRows = weights + WEIGHT_STAGES * WEIGHT_BYTES;
    emptyRows = fullRows + 8 * ROW_STAGES;
    fullWeights = emptyRows + 8 * ROW_STAGES;
    emptyWeights = fullWeights + 8 * WEIGHT_STAGES;
  }
};

// A position in a ring of STAGES slots, with the parity of its barriers.
template <int STAGES> struct RingPosition {
  int slot = 0;
  u32 parity;
  DEVICE explicit RingPosition(u32 parity) : parity(parity) {}
  DEVICE void advance() {
    if (++slot == STAGES) { slot = 0; parity ^= 1; }
  }
};

// Computes four steps: two while the two before are multiplied.
template <class KIND, int ROWS>
DEVICE void addQuarter(u32 block, int quarter, const typename KIND::Scales& scales, u32 rows, u32 fullRows, u32 parity, u32 (&a)[2][8],
                       float (&sums)[ROWS / 2], u32 releasedRows) {
  const int lane = threadIdx.x % 32;
  typename KIND::Codes codes = KIND::codes(block, quarter, lane);
  KIND::template unpack<0>(codes, scales, a[0]);
  KIND::template unpack<1>(codes, scales, a[0] + 4);
  awaitBarrier(fullRows, parity);
  const u64 b = swizzledRows(rows);
  fenceProducts();
  WarpgroupProduct<ROWS>::add(sums, a[0], b);
  WarpgroupProduct<ROWS>::add(sums, a[0] + 4, b + 2);
  endProducts();
  awaitProducts<1>();   // those that read the slot before
  if (releasedRows != 0 && threadIdx.x % 128 == 0) arriveAt(releasedRows);
  KIND::hold(codes);
  KIND::template unpack<2>(codes, scales, a[1]);
  KIND::template unpack<3>(codes, scales, a[1] + 4);
  fenceProducts();
  WarpgroupProduct<ROWS>::add(sums, a[1], b + 4);
  WarpgroupProduct<ROWS>::add(sums, a[1] + 4, b + 6);
  endProducts();
}

// Waits for all products and gives their sums back to the compiler.
template <int ROWS> DEVICE void takeSums(float (&sums)[ROWS / 2]) {
  awaitProducts<0>();
#pragma unroll
  for (int i = 0; i < ROWS / 2; i++) asm volatile("" : "+f"(sums[i])::"memory");
}

// What a thread block computes at a time: a tile of outputs and rows, of the columns of some parts.
template <int PARTS> struct TileWork {
  int tile, firstPart, endPart;
  DEVICE TileWork(int unit, int sharing)
      : tile(unit / sharing), firstPart(unit % sharing * (PARTS / sharing)), endPart(firstPart + PARTS / sharing) {}
  DEVICE static int begin(int part, int blocks) { return PARTS == 1 ? part * blocks : partBegin(part, blocks); }
};

DEVICE void syncMultipliers() { asm volatile("bar.sync 1, 256;" ::: "memory"); }

// Leaves the sums of a part in memory, for the thread block that adds them.
template <int ROWS, int PARTS> DEVICE void leavePart(const BlockProduct& p, int tile, int part, const float (&sums)[ROWS / 2]) {
  float* to = p.partials + ((size_t)tile * PARTS + part) * (ROWS / 2) * 256 + threadIdx.x;
#pragma unroll
  for (int i = 0; i < ROWS / 2; i++) __stcg(to + i * 256, sums[i]);
}

// Returns whether this is the last thread block that leaves parts of a tile; it gets the sum of all parts in order.
template <int ROWS, int PARTS> DEVICE bool addParts(const BlockProduct& p, int tile, float (&sums)[ROWS / 2]) {
  __shared__ u32 before;
  syncMultipliers();
  if (threadIdx.x == 0) {   // covers all writes before the barrier; the counter is zero again after the last one
    asm volatile("fence.acq_rel.gpu;" ::: "memory");
    asm volatile("atom.relaxed.gpu.global.inc.u32 %0, [%1], %2;"
                 : "=r"(before) : "l"(p.arrivals + tile), "r"(p.sharing - 1) : "memory");
    asm volatile("fence.acq_rel.gpu;" ::: "memory");
  }
  syncMultipliers();
  if (before != p.sharing - 1) return false;
  const float* parts = p.partials + (size_t)tile * PARTS * (ROWS / 2) * 256 + threadIdx.x;
#pragma unroll
  for (int i = 0; i < ROWS / 2; i++) sums[i] = 0.f;
#pragma unroll ROWS <= 64 ? 4 : 2   // as many loads in flight as there are registers
  for (int part = 0; part < PARTS; part++) {
#pragma unroll
    for (int i = 0; i < ROWS / 2; i++) sums[i] += __ldcg(parts + (part * (ROWS / 2) + i) * 256);
  }
  return true;
}

// Stores a tile: lane 4r+q has outputs 2r and 2r+1 of the warp's 16, and rows 2q and 2q+1 of every eight.
template <int ROWS> DEVICE void storeTile(const BlockProduct& p, int firstOutput, int firstRow, const float (&sums)[ROWS / 2]) {
  const int lane = threadIdx.x % 32;
  const int output = firstOutput + threadIdx.x / 32 * 16 + 2 * (lane >> 2), first = firstRow + 2 * (lane & 3);
  if (output >= p.outputs) return;
  const bool both = output + 1 < p.outputs;
  float* out = p.out + (size_t)first * p.stride + output;
#pragma unroll
  for (int j = 0; j < ROWS / 8; j++) {
    if (first + 8 * j < p.count) storePair(out + (size_t)(8 * j) * p.stride, sums[4 * j], sums[4 * j + 2], both);
    if (first + 8 * j + 1 < p.count) storePair(out + (size_t)(8 * j + 1) * p.stride, sums[4 * j + 1], sums[4 * j + 3], both);
  }
}

// grid (units, at most as many as run at once), 384 threads; tiles of the same weights are consecutive, so that weights are read
// from memory once. Rows after the last one are computed from whatever is in memory and not stored.
template <class KIND, int ROWS, int ROW_STAGES, int WEIGHT_STAGES, int PARTS>
DEVICE void multiplyBlocks(const TensorMap& map, const BlockProduct& p) {
  extern __shared__ __align__(128) u8 dynamicMemory[];
  using Memory = GemmMemory<KIND, ROWS, ROW_STAGES, WEIGHT_STAGES>;
  using Unit = TileWork<PARTS>;
  constexpr int PIECES = 4 / KIND::QUARTERS;   // of a block of columns
  const Memory memory(sharedAddress(dynamicMemory));
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  if (threadIdx.x == 0) {
    for (int i = 0; i < ROW_STAGES; i++) { initBarrier(memory.fullRows + 8 * i, 1); initBarrier(memory.emptyRows + 8 * i, 2); }
    for (int i = 0; i < WEIGHT_STAGES; i++) { initBarrier(memory.fullWeights + 8 * i, 1); initBarrier(memory.emptyWeights + 8 * i, 8); }
    publishBarriers();
  }
  __syncthreads();
  letNextBegin();
  const int rowTiles = (p.count + ROWS - 1) / ROWS, blocks = p.columns / BLOCK_COLUMNS;
  const int sharing = PARTS > 1 ? p.sharing : 1;
  const int units = (p.outputs + GEMM_OUTPUTS - 1) / GEMM_OUTPUTS * rowTiles * sharing;

  if (warp >= 8) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(GEMM_BLOCKS<ROWS> == 2 ? 32 : 40));
    if (warp == 8 && lane < 8) {   // weights are constant, so their copies start before the previous kernel ends
      RingPosition<WEIGHT_STAGES> weight(1);
      for (int u = blockIdx.x; u < units; u += gridDim.x) {
        const Unit unit(u, sharing);
        const int first = Unit::begin(unit.firstPart, blocks) * PIECES;
        const u8* from = p.weights + ((size_t)(unit.tile / rowTiles) * 8 + lane) * blocks * KIND::BYTES;   // a lane's rows
        from += (size_t)first * Memory::PIECE_BYTES;
#pragma unroll 1
        for (int left = Unit::begin(unit.endPart, blocks) * PIECES - first; left > 0; left--) {
          const u32 full = memory.fullWeights + 8 * weight.slot;
          awaitBarrier(memory.emptyWeights + 8 * weight.slot, weight.parity);
          if (lane == 0) expectBytes(full, Memory::WEIGHT_BYTES);   // bytes of other lanes may arrive before they are expected
          copyBytes(memory.weights + weight.slot * Memory::WEIGHT_BYTES + lane * Memory::PIECE_BYTES, from, Memory::PIECE_BYTES,
                    full);
          from += Memory::PIECE_BYTES;
          weight.advance();
        }
      }
    } else if (warp == 9 && lane == 0) {
      awaitPrevious();
      RingPosition<ROW_STAGES> row(1);
      for (int u = blockIdx.x; u < units; u += gridDim.x) {
        const Unit unit(u, sharing);
        const int firstRow = p.firstRow + unit.tile % rowTiles * ROWS;
        const int end = Unit::begin(unit.endPart, blocks) * 4;
#pragma unroll 1
        for (int quarter = Unit::begin(unit.firstPart, blocks) * 4; quarter < end; quarter++) {
          awaitBarrier(memory.emptyRows + 8 * row.slot, row.parity);
          expectBytes(memory.fullRows + 8 * row.slot, Memory::ROW_BYTES);
          copyBox(memory.rows + row.slot * Memory::ROW_BYTES, &map, quarter * 64, firstRow, memory.fullRows + 8 * row.slot);
          row.advance();
        }
      }
    }
    return;
  }

  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(GEMM_BLOCKS<ROWS> == 2 ? 104 : 232));
  awaitPrevious();
  RingPosition<ROW_STAGES> row(0);
  RingPosition<WEIGHT_STAGES> weight(0);
  float sums[ROWS / 2], totals[PARTS > 1 ? ROWS / 2 : 1];
  u32 a[2][8];
  for (int u = blockIdx.x; u < units; u += gridDim.x) {
    const Unit unit(u, sharing);
    u32 released = 0;
#pragma unroll
    for (int i = 0; i < (PARTS > 1 ? ROWS / 2 : 1); i++) totals[i] = 0.f;
#pragma unroll 1
    for (int part = unit.firstPart; part < unit.endPart; part++) {
#pragma unroll
      for (int i = 0; i < ROWS / 2; i++) sums[i] = 0.f;
      const int end = Unit::begin(part + 1, blocks) * PIECES;
#pragma unroll 1
      for (int piece = Unit::begin(part, blocks) * PIECES; piece < end; piece++) {
        awaitBarrier(memory.fullWeights + 8 * weight.slot, weight.parity);
        const u32 block = memory.weights + weight.slot * Memory::WEIGHT_BYTES + warp * Memory::PIECE_BYTES;
        const typename KIND::Scales scales = KIND::scales(block, lane);
#pragma unroll
        for (int quarter = 0; quarter < KIND::QUARTERS; quarter++) {
          addQuarter<KIND, ROWS>(block, quarter, scales, memory.rows + row.slot * Memory::ROW_BYTES,
                                 memory.fullRows + 8 * row.slot, row.parity, a, sums, released);
          if (quarter == KIND::QUARTERS - 1) {
            __syncwarp();
            if (lane == 0) arriveAt(memory.emptyWeights + 8 * weight.slot);   // all codes are in registers
          }
          awaitProducts<1>();
          released = memory.emptyRows + 8 * row.slot;
          row.advance();
        }
        weight.advance();
      }
      takeSums<ROWS>(sums);
      if (PARTS > 1 && sharing > 1) {
        leavePart<ROWS, PARTS>(p, unit.tile, part, sums);
      } else if (PARTS > 1) {
#pragma unroll
        for (int i = 0; i < ROWS / 2; i++) totals[i] += sums[i];
      }
    }
    if (released != 0 && threadIdx.x % 128 == 0) arriveAt(released);
    if (PARTS > 1 && sharing > 1) {
      if (!addParts<ROWS, PARTS>(p, unit.tile, sums)) continue;
    } else if (PARTS > 1) {
#pragma unroll
      for (int i = 0; i < ROWS / 2; i++) sums[i] = totals[i];
    }
    storeTile<ROWS>(p, unit.tile / rowTiles * GEMM_OUTPUTS, unit.tile % rowTiles * ROWS, sums);
  }
}
#endif
