// What a launch is told, and which part of the work is a block's.
#pragma once
#include "pages.cuh"

// A sequence's entries in the table of pages: packed pages, then pages of halves. Packed pages are full, and final before
// the kernel ahead of this one begins, which may be writing to those of halves.
struct Sequence {
  u32 firstEntry;
  u32 packedPages;
  u32 halfPages;
  u32 tablePages;          // of what the sequence has beside its pages; they follow those of halves

  // Where pages shrink, these are pages of four bits, in the lower half, and of two bits behind them.
  DEVICE u32 fours() const { return tablePages & 0xffff; }
  DEVICE u32 twos() const { return tablePages >> 16; }
};

// dev.kvasir.cuda.PagedAttention has the same fields in the same order.
struct Attention {
  const Sequence* sequences;
  const PageEntry* table;
  const u16* queries;      // (sequences, query heads, D)
  u16* outputs;            // (sequences, query heads, D)
  float* partOutputs;      // (sequences, grid.y, grid.x, heads, D)
  float2* partSums;        // (sequences, grid.y, grid.x, heads): a maximum and the sum below it
  u32* arrivals;           // (sequences, grid.y), zero before and after
  u64 packedOffset;        // of this layer's pages behind those that the table names
  u64 halfOffset;          // the same of pages of halves
  float scale;             // log2(e) / sqrt(D), or what else scores are multiplied by
  u32 sharing;             // query heads that share a KV head
  u32 heads;               // of them that a block takes at the most
  u32 headBlocks;          // blocks for the heads that share a KV head
  u32 pagesPerSplit;       // that a block takes at the most, as long as grid.x suffices
  u32 stages;              // slots of a warp's ring
  u32 early;               // whether this kernel was let in before the one ahead had ended
  const void* tables;      // what a format reads beside pages
  void* collected;         // what it writes beside outputs
  u64 fourOffset;          // of this layer's pages of four bits, where pages shrink
  u64 twoOffset;           // of two
};

// grid (splits, KV heads * headBlocks, sequences)
struct Work {
  Sequence sequence;
  const PageEntry* entries;
  int kvHead, firstHead, heads;
  int split, splits;

  // narrow: whether there are packed pages behind those of halves too
  DEVICE explicit Work(const Attention& a, bool narrow = false) {
    const uint4 s = *(reinterpret_cast<const uint4*>(a.sequences) + blockIdx.z);
    sequence = Sequence{s.x, s.y, s.z, s.w};
    entries = a.table + sequence.firstEntry;
    kvHead = blockIdx.y / a.headBlocks;
    firstHead = blockIdx.y % a.headBlocks * a.heads;
    heads = min(a.heads, a.sharing - firstHead);
    split = blockIdx.x;
    const u32 pages = sequence.packedPages + sequence.halfPages + (narrow ? sequence.fours() + sequence.twos() : 0);
    splits = min(gridDim.x, (pages + a.pagesPerSplit - 1) / a.pagesPerSplit);
  }

  DEVICE bool none() const { return split >= splits; }

  // Where a share of so many units begins. Pages times splits fit 32 bits, and 64 would take longer to divide.
  DEVICE int begin(int units, int share) const { return (int)((u32)units * (u32)share / (u32)splits); }

  // Query heads before the first one of this block, of all sequences.
  DEVICE size_t row(const Attention& a) const {
    const u32 kvHeads = gridDim.y / a.headBlocks;
    return ((size_t)blockIdx.z * kvHeads + kvHead) * a.sharing + firstHead;
  }
};
