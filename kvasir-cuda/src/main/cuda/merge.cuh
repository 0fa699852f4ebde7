// Merges the outputs of warps into a block, and of the blocks that share a sequence into its output. The last block to
// arrive adds what the others wrote to global memory, so there is no second kernel.
#pragma once
#include "attention.cuh"
#include "ring.cuh"
#include "softmax.cuh"

struct BlockMemory {
  RingBarriers barriers;
  float most[MOST_WARPS][8];
  float sums[MOST_WARPS][8];
  int last;
};

// A running sum of parts with different maxima.
struct Merged {
  float4 output = {0.f, 0.f, 0.f, 0.f};
  float most = minusInfinity(), sum = 0.f;

  DEVICE void shrinkTo(float larger) {
    const float factor = shrinking(most, larger);
    output.x *= factor; output.y *= factor; output.z *= factor; output.w *= factor;
    sum *= factor;
    most = larger;
  }

  DEVICE void add(float4 x, float itsMost, float itsSum) {   // its maximum is not above ours
    const float factor = shrinking(itsMost, most);
    output.x = fmaf(factor, x.x, output.x); output.y = fmaf(factor, x.y, output.y);
    output.z = fmaf(factor, x.z, output.z); output.w = fmaf(factor, x.w, output.w);
    sum = fmaf(factor, itsSum, sum);
  }

  // sink: a score that has a weight but no output
  DEVICE float4 mean(float sink) const {
    const float larger = fmaxf(most, sink), shrunk = shrinking(most, larger);
    const float factor = sink == minusInfinity() ? 1.f / sum : shrunk / fmaf(sum, shrunk, shrinking(sink, larger));
    return float4{output.x * factor, output.y * factor, output.z * factor, output.w * factor};
  }
};

// Adds splits of a sequence; `columns` threads handle four channels each. Eight splits are loaded at a time, one round trip
// to memory.
DEVICE void addSplits(Merged& all, const float4* outputs, const float2* sums, int first, int step, int splits, int columns,
                      int heads) {
#pragma unroll 1
  for (int s = first; s < splits; s += 8 * step) {
    float4 x[8];
    float2 of[8];
#pragma unroll
    for (int k = 0; k < 8; k++) {
      const int split = s + k * step;
      of[k] = split < splits ? __ldcg(sums + (size_t)split * heads) : float2{minusInfinity(), 0.f};
      x[k] = split < splits ? __ldcg(outputs + (size_t)split * columns) : float4{0.f, 0.f, 0.f, 0.f};
    }
    float most = all.most;
#pragma unroll
    for (int k = 0; k < 8; k++) most = fmaxf(most, of[k].x);
    all.shrinkTo(most);
#pragma unroll
    for (int k = 0; k < 8; k++) all.add(x[k], of[k].x, of[k].y);
  }
}

// The outputs of warps in shared memory, (warps, HEADS, D) floats, and their destination as halves.
template <int D, int HEADS> struct PlainOutputs {
  static constexpr int WIDTH = D;   // numbers per head
  float* memory;                    // also holds (threads) Merged once it has been read
  u16* outputs;                     // of the block's first head

  DEVICE float4 of(int warp, int column) const { return reinterpret_cast<float4*>(memory)[warp * HEADS * (D / 4) + column]; }
  DEVICE void store(int column, float4 x) const {
    reinterpret_cast<uint2*>(outputs)[column] = uint2{toHalves(x.x, x.y), toHalves(x.z, x.w)};
  }
};

// Adds the outputs of warps. They are the output of the heads if there is one split, and otherwise the output of this split.
// Columns are groups of four of a head's WIDTH numbers, head by head. Before a barrier, all warps have written their
// outputs, and their maxima and sums to the block's memory.
template <class WORK, class OUTPUTS>
DEVICE void addWarps(const Attention& a, const WORK& work, const BlockMemory& block, const OUTPUTS& out) {
  constexpr int D = OUTPUTS::WIDTH;
  const int thread = threadIdx.x, threads = blockDim.x, warps = threads / 32;
  const int columns = work.heads * (D / 4);   // of four channels
  float4* parts = reinterpret_cast<float4*>(a.partOutputs) + work.firstPart() * a.heads * (D / 4);
  float2* sums = a.partSums + work.firstPart() * a.heads;

#pragma unroll 1   // here and below: code that runs once should be small
  for (int column = thread; column < columns; column += threads) {
    const int head = column / (D / 4);
    Merged all;
#pragma unroll 4
    for (int w = 0; w < warps; w++) all.most = fmaxf(all.most, block.most[w][head]);
#pragma unroll 4
    for (int w = 0; w < warps; w++) {
      all.add(out.of(w, column), block.most[w][head], block.sums[w][head]);
    }
    if (work.splits == 1) {
      out.store(column, all.mean(work.sinkScore(a, head)));
    } else {
      parts[(size_t)work.split * columns + column] = all.output;
      if (column % (D / 4) == 0) sums[work.split * work.heads + head] = float2{all.most, all.sum};
    }
  }
}

// Adds the outputs of all splits. The memory of the outputs of warps is free.
template <class WORK, class OUTPUTS> DEVICE void addAllSplits(const Attention& a, const WORK& work, const OUTPUTS& out) {
  constexpr int D = OUTPUTS::WIDTH;
  const int thread = threadIdx.x, threads = blockDim.x, columns = work.heads * (D / 4);
  const float4* parts = reinterpret_cast<const float4*>(a.partOutputs) + work.firstPart() * a.heads * (D / 4);
  const float2* sums = a.partSums + work.firstPart() * a.heads;
  const int teams = max(threads / columns, 1);   // each takes every teams-th split
  Merged* rest = reinterpret_cast<Merged*>(out.memory);
#pragma unroll 1
  for (int begin = 0; begin < columns; begin += threads) {
    const int column = begin + (teams > 1 ? thread % columns : thread), team = teams > 1 ? thread / columns : 0;
    const bool works = column < columns && team < teams;
    Merged all;
    if (works) {
      addSplits(all, parts + column, sums + column / (D / 4), team, teams, work.splits, columns, work.heads);
    }
    if (teams > 1) {
      if (works && team > 0) rest[thread] = all;
      __syncthreads();
      if (works && team == 0) {
        float most = all.most;
#pragma unroll 1
        for (int t = 1; t < teams; t++) most = fmaxf(most, rest[t * columns + thread].most);
        all.shrinkTo(most);
#pragma unroll 1
        for (int t = 1; t < teams; t++) {
          const Merged& other = rest[t * columns + thread];
          all.add(other.output, other.most, other.sum);
        }
      }
    }
    if (works && team == 0) out.store(column, all.mean(work.sinkScore(a, column / (D / 4))));
  }
}

// Merges the outputs of warps, and of splits in the last block of them.
template <class OUTPUTS> DEVICE void finish(const Attention& a, const Work& work, BlockMemory& block, const OUTPUTS& out) {
  addWarps(a, work, block, out);
  if (work.splits == 1) return;

  __syncthreads();
  if (threadIdx.x == 0) {   // fences of one thread cover all writes before the barrier
    u32 before;
    asm volatile("fence.acq_rel.gpu;" ::: "memory");
    asm volatile("atom.relaxed.gpu.global.inc.u32 %0, [%1], %2;"
                 : "=r"(before) : "l"(a.arrivals + work.place()), "r"((u32)work.splits - 1) : "memory");
    asm volatile("fence.acq_rel.gpu;" ::: "memory");
    block.last = before == (u32)(work.splits - 1);   // the counter has wrapped to zero for the next launch
  }
  __syncthreads();
  if (block.last) addAllSplits(a, work, out);
}
