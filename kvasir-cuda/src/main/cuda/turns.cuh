// Attention on packed pages by blocks that take several splits in turn. Splits are short enough for one long sequence to occupy
// the device; in a batch, a block has several of them. Its rings are filled with pages of the next split while the warps merge
// their outputs, so that memory is read without a pause. A split's output does not depend on the block that computes it, and
// splits are added in their order, so other sequences do not change a result.
#pragma once
#include "attend.cuh"

// A split of a sequence, for one block of heads. The splits of those are adjacent and in order. SplitTurns fills it in.
struct Turn {
  u32 firstEntry, packedPages;   // of the sequence
  u32 begin, end;                // packed pages of the split
  u32 firstPart;                 // of the first split among all outputs of splits
  u32 halfPagesAndRow;           // fp16 pages of the sequence; the KV head and block of heads in the upper half
  u32 sequenceAndSplit;          // the split in the upper half
  u32 splits;                    // of the sequence

  DEVICE u32 sequence() const { return sequenceAndSplit & 0xffff; }
  DEVICE u32 row() const { return halfPagesAndRow >> 16; }
};

struct TurnWork : Work {
  u32 sequenceIndex, rowIndex, part;

  DEVICE TurnWork(const Attention& a, const Turn& turn) {
    sequence = Sequence{turn.firstEntry, turn.packedPages, turn.halfPagesAndRow & 0xffff, 0};
    entries = a.table + turn.firstEntry;
    sequenceIndex = turn.sequence();
    rowIndex = turn.row();
    kvHead = rowIndex / a.headBlocks;
    firstHead = rowIndex % a.headBlocks * a.heads;
    heads = min(a.heads, a.sharing - firstHead);
    split = turn.sequenceAndSplit >> 16;
    splits = turn.splits;
    part = turn.firstPart;
  }

  DEVICE size_t firstPart() const { return part; }
  DEVICE size_t row(const Attention& a) const {
    return ((size_t)sequenceIndex * (a.rows / a.headBlocks) + kvHead) * a.sharing + firstHead;
  }
};

// Pages with the same width in keys and values.
template <int BITS, int D> struct FixedCodes : FixedSlots<PackedPage<BITS, D>::KEY_BYTES, PackedPage<BITS, D>::VALUE_BYTES> {
  static constexpr int UNITS = BITS;   // of outputs, see Fields

  FixedCodes() = default;
  DEVICE explicit FixedCodes(const Attention&) {}

  template <int SETS>
  DEVICE void score(u32 keys, int lane, const PackedHeads<D> (&heads)[SETS], float scale, float (&x0)[SETS][4],
                    float (&x1)[SETS][4]) const {
    scorePage<BITS, D, SETS>(keys, lane, heads, scale, x0, x1);
  }

  template <int SETS>
  DEVICE void add(u32 values, int lane, const u32 (&weights)[SETS][8], PackedHeads<D> (&heads)[SETS]) const {
    addPage<BITS, D, SETS>(values, lane, weights, heads);
  }
};

// The packed pages of a warp, over all turns of its block.
template <class SLOTS> struct PagesInTurn : SLOTS {
  const Attention& a;
  const Turn* turns;
  int count, turn;
  u32 entry, end;    // in the table
  u32 headOffset;    // of the KV head's page

  DEVICE PagesInTurn(const SLOTS& slots, const Attention& a, const Turn* turns, int count)
      : SLOTS(slots), a(a), turns(turns), count(count), turn(0) {
    open();
  }

  DEVICE void open() {
    const Turn& its = turns[turn];
    headOffset = its.row() / a.headBlocks * this->slotBytes;
    entry = its.firstEntry + its.begin + threadIdx.x / 32;
    end = its.firstEntry + its.end;
  }

  // Returns the address of the next page; null after the last.
  DEVICE const u8* next() {
    while (entry >= end) {
      if (turn + 1 >= count) return nullptr;
      turn++;
      open();
    }
    const u8* at = addressOf(a.table[entry]) + a.packedOffset + headOffset;
    entry += blockDim.x / 32;
    return at;
  }
};

// Counts the splits of this block for every sequence and block of heads among its turns, and marks a turn of those whose other
// splits had all been counted before: their `begin` is one. Writes of all threads precede a barrier.
DEVICE void arriveInTurn(const Attention& a, Turn* turns, int count) {
  const int t = threadIdx.x;
  if (t >= count) return;
  const Turn turn = turns[t];
  bool last = false;
  if (turn.splits > 1 && (t == 0 || turns[t - 1].firstPart != turn.firstPart)) {
    u32 own = 1;
    while (t + own < count && turns[t + own].firstPart == turn.firstPart) own++;
    u32* counter = a.arrivals + (size_t)turn.sequence() * a.rows + turn.row();
    u32 before;
    asm volatile("fence.acq_rel.gpu;" ::: "memory");   // fences of one thread cover all writes before the barrier
    asm volatile("atom.relaxed.gpu.global.add.u32 %0, [%1], %2;" : "=r"(before) : "l"(counter), "r"(own) : "memory");
    asm volatile("fence.acq_rel.gpu;" ::: "memory");
    last = before + own == turn.splits;
    if (last) *counter = 0;   // for the next launch
  }
  turns[t].begin = last;
}

// Lets turns begin at the first page that the query attends to. A turn with none of these is left without packed pages.
template <class LIMITS> DEVICE void skipHidden(const Attention& a, Turn* turns, int count) {
  for (int t = threadIdx.x; t < count; t += blockDim.x) {
    const TurnWork work(a, turns[t]);
    const u32 hidden = LIMITS(a, work.sequence, work.entries).hiddenPages();
    turns[t].begin = min(max(turns[t].begin, hidden), turns[t].end);
  }
  __syncthreads();
}

// Attends packed pages and fp16 pages, for up to four heads in each of SETS sets.
// dynamic memory: rings of warps, outputs of warps, turns
template <class CODES, int D, int SETS, class LIMITS = Unlimited> DEVICE void attendInTurn(const Attention& a) {
  constexpr int UNITS = CODES::UNITS;
  __shared__ BlockMemory block;
  letNextBegin();
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, warps = blockDim.x / 32;
  RingOf<CODES> ring(dynamicMemory, block.barriers, warp, lane, a.stages, CODES(a));
  float* outputs = reinterpret_cast<float*>(dynamicMemory + warps * a.stages * ring.slotBytes);
  Turn* turns = reinterpret_cast<Turn*>(outputs + warps * 4 * SETS * D);
  const u32 firstTurn = a.firstTurns[blockIdx.x];
  const int count = a.firstTurns[blockIdx.x + 1] - firstTurn;
  for (int i = threadIdx.x; i < 2 * count; i += blockDim.x) {
    reinterpret_cast<uint4*>(turns)[i] = reinterpret_cast<const uint4*>(a.turns + firstTurn)[i];
  }
  __syncthreads();
  if constexpr (LIMITS::LIMITED) skipHidden<LIMITS>(a, turns, count);

  PackedHeads<D> heads[SETS];
  auto loadQueries = [&](const TurnWork& work) {
    const u16* rows = a.queries + work.row(a) * D;
#pragma unroll
    for (int s = 0; s < SETS; s++) heads[s].load(rows + 4 * s * D, work.heads - 4 * s, lane);
  };
  PagesInTurn<CODES> pages(ring, a, turns, count);
  // The first addresses are loaded together, since each load is a round trip to memory.
  const u8* first[MOST_STAGES];
#pragma unroll
  for (int i = 0; i < MOST_STAGES; i++) first[i] = i < a.stages ? pages.next() : nullptr;
  auto fillFirst = [&](int from, int to) {
#pragma unroll
    for (int i = 0; i < MOST_STAGES; i++) {
      if (i >= from && i < to) {
        ring.fillKeys(i, first[i]);
        ring.fillValues(i, first[i]);
      }
    }
  };
  // Queries are loaded before most of the pages, so that they do not wait for those.
  if (!a.early) loadQueries(TurnWork(a, turns[0]));
  fillFirst(0, 1);
  if (a.early) {   // packed pages are final, queries may not be
    expectTiles<D>(a, TurnWork(a, turns[0]));
    awaitPrevious();
    loadQueries(TurnWork(a, turns[0]));
  }
  fillFirst(1, a.stages);
  const u8* refill = pages.next();

#pragma unroll 1
  for (int t = 0; t < count; t++) {
    LIMITS limits;
    {
      const TurnWork work(a, turns[t]);
      limits = LIMITS(a, work.sequence, work.entries);
      if (t > 0 && work.split == 0) loadQueries(work);   // other splits follow those of the same heads
#pragma unroll
      for (int s = 0; s < SETS; s++) heads[s].clear();
      if (work.sequence.halfPages > 0) {
        attendTiles<D, SETS>(a, work, limits, heads);
#pragma unroll
        for (int s = 0; s < SETS; s++) heads[s].template toUnitsOfCodes<UNITS>();
      }
    }
    const int end = turns[t].end;
#pragma unroll 1
    for (int page = turns[t].begin + warp; page < end; page += warps) {
      const u8* next = pages.next();
      float x0[SETS][4], x1[SETS][4];
      u32 own[4], weights[SETS][8];
      ring.awaitKeys();
      ring.score(ring.keys(), lane, heads, a.scale, x0, x1);
      ring.refillKeys(refill);
      if constexpr (LIMITS::LIMITED) limits.bound(page, Twice::upper(lane), lane, x0, x1);
#pragma unroll
      for (int s = 0; s < SETS; s++) {
        float factor0, factor1;
        weighPage<D>(heads[s], x0[s], x1[s], own, weights[s], factor0, factor1);
      }
      ring.awaitValues();
      ring.add(ring.values(), lane, weights, heads);
      ring.refillValues(refill);
      refill = next;
      ring.advance();
    }

    if (t > 0) __syncthreads();   // the outputs of the turn before have been added
#pragma unroll
    for (int s = 0; s < SETS; s++) leaveOutputs<UNITS, D>(heads[s], s, SETS, warp, lane, block, outputs);
    __syncthreads();
    const TurnWork work(a, turns[t]);
    addWarps(a, work, block, PlainOutputs<D, 4 * SETS>{outputs, a.outputs + work.row(a) * D});
  }

  __syncthreads();
  arriveInTurn(a, turns, count);
  __syncthreads();
#pragma unroll 1
  for (int t = 0; t < count; t++) {
    if (turns[t].begin == 0) continue;   // uniform over the block
    const TurnWork work(a, turns[t]);
    addAllSplits(a, work, PlainOutputs<D, 4 * SETS>{outputs, a.outputs + work.row(a) * D});
    __syncthreads();   // before the memory is used again
  }
}
