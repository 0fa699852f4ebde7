// The arguments of an attention launch, and the part of the work that a block does.
#pragma once
#include "pages.cuh"

// A sequence's entries in the page table: packed pages, then fp16 pages. Packed pages are full, and final before the
// previous kernel starts. That kernel may be writing to the fp16 pages.
struct Sequence {
  u32 firstEntry;
  u32 packedPages;
  u32 halfPages;
  u32 tablePages;          // pages of the sequence's tables; they follow the fp16 pages

  // If the format requantizes: 4-bit pages in the lower half, 2-bit pages in the upper half.
  DEVICE u32 fours() const { return tablePages & 0xffff; }
  DEVICE u32 twos() const { return tablePages >> 16; }
};

constexpr u32 SHORT_SPLITS = 4;   // maximum splits of a short sequence

// PagedAttention has the same fields in the same order.
struct Attention {
  const Sequence* sequences;
  const PageEntry* table;
  const u16* queries;      // (sequences, query heads, D)
  u16* outputs;            // (sequences, query heads, D)
  float* partOutputs;      // (sequences, grid.y, grid.x, heads, D)
  float2* partSums;        // (sequences, grid.y, grid.x, heads): a maximum and the sum relative to it
  u32* arrivals;           // (sequences, grid.y), zero before and after
  u64 packedOffset;        // from the pages that the table names to this layer's packed pages
  u64 halfOffset;          // the same for fp16 pages
  float scale;             // factor of scores, such as log2(e) / sqrt(D)
  u32 sharing;             // query heads that share a KV head
  u32 heads;               // maximum of them per block
  u32 headBlocks;          // blocks for the heads that share a KV head
  u32 pagesPerSplit;       // maximum pages per block
  u32 stages;              // slots of a warp's ring
  u32 early;               // whether this kernel may have started before the previous one ended
  u32 shortSplitPages;     // pages per block of a short sequence
  const void* tables;      // what a format reads in addition to pages
  void* collected;         // what it writes in addition to outputs
  u64 fourOffset;          // from the pages that the table names to this layer's 4-bit pages
  u64 twoOffset;           // the same for 2-bit pages
  u64 tableOffset;         // the same for pages of the sequence's tables
  const u32* firstTurns;   // of each block that takes several splits, and the number of all turns (turns.cuh)
  const struct Turn* turns;
  u32 rows;                // KV heads times headBlocks
  u32 window;              // tokens that a query attends to, its own included; of `limited` kernels, like the next two
  float cap;               // bound of scores in units of `scale`; 0 for none
  u32 sinks;               // the first tokens, in the first fp16 pages
  u32 widths;              // of codes, if kernels have several (CodeWidths)
  u32 unused;
  const float* sinkScores; // (query heads) scores of learned sinks times log2(e), or null
};

// grid (splits, KV heads * headBlocks, sequences)
struct Work {
  Sequence sequence;
  const PageEntry* entries;
  int kvHead, firstHead, heads;
  int split, splits;

  // narrow: whether packed pages of other widths follow the fp16 pages
  DEVICE explicit Work(const Attention& a, bool narrow = false) {
    const uint4 s = *(reinterpret_cast<const uint4*>(a.sequences) + blockIdx.z);
    sequence = Sequence{s.x, s.y, s.z, s.w};
    entries = a.table + sequence.firstEntry;
    kvHead = blockIdx.y / a.headBlocks;
    firstHead = blockIdx.y % a.headBlocks * a.heads;
    heads = min(a.heads, a.sharing - firstHead);
    split = blockIdx.x;
    const u32 pages = sequence.packedPages + sequence.halfPages + (narrow ? sequence.fours() + sequence.twos() : 0);
    splits = min(gridDim.x, splitsOf(pages, a));
  }

  // Returns the splits of a sequence by its own length, so that other sequences do not change the order of its sums.
  // SplitPlan has the same rule.
  DEVICE static u32 splitsOf(u32 pages, const Attention& a) {
    const u32 few = min((pages + a.shortSplitPages - 1) / a.shortSplitPages, SHORT_SPLITS);
    return max(few, (pages + a.pagesPerSplit - 1) / a.pagesPerSplit);
  }

  DEVICE bool none() const { return split >= splits; }

  // Returns the index of these heads of the sequence, and that of their first split among all outputs of splits.
  DEVICE size_t place() const { return (size_t)blockIdx.z * gridDim.y + blockIdx.y; }
  DEVICE size_t firstPart() const { return place() * gridDim.x; }

  // Returns the first unit of a share. Pages times splits fit 32 bits; 64 bits would take longer to divide.
  DEVICE int begin(int units, int share) const { return (int)((u32)units * (u32)share / (u32)splits); }

  // Returns the score that joins the softmax of a head without a value.
  DEVICE float sinkScore(const Attention& a, int head) const {
    return a.sinkScores == nullptr ? minusInfinity() : a.sinkScores[kvHead * a.sharing + firstHead + head];
  }

  // Returns the number of query heads before this block's first one, over all sequences.
  DEVICE size_t row(const Attention& a) const {
    const u32 kvHeads = gridDim.y / a.headBlocks;
    return ((size_t)blockIdx.z * kvHeads + kvHead) * a.sharing + firstHead;
  }

 protected:
  Work() = default;
};
