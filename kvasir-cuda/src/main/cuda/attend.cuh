// Attention of one query per sequence. A warp processes a packed page, or an fp16 tile of 16 tokens, at a time. The block
// has no barrier until all warps are done.
#pragma once
#include "halves.cuh"
#include "limits.cuh"
#include "merge.cuh"
#include "packed.cuh"

extern __shared__ __align__(128) u8 dynamicMemory[];

// Writes a warp's outputs of eight heads to shared memory; the sums are those of all lanes.
template <int D> DEVICE void leaveEight(const Heads<Eight, D>& heads, int warp, int lane, BlockMemory& block, float* outputs) {
  const int head = Eight::firstHead(lane), row = lane >> 2;
  float* own = outputs + (warp * Eight::HEADS + head) * D + row;
#pragma unroll
  for (int i = 0; i < D / 16; i++) {
    own[8 * i] = heads.outputs[i][0];
    own[8 * i + D] = heads.outputs[i][1];
    own[8 * i + D / 2] = heads.outputs[i][2];
    own[8 * i + D / 2 + D] = heads.outputs[i][3];
  }
  if (row == 0) {
    block.most[warp][head] = heads.most0; block.most[warp][head + 1] = heads.most1;
    block.sums[warp][head] = heads.sum0; block.sums[warp][head + 1] = heads.sum1;
  }
}

// Attends fp16 pages only, for up to eight heads. Splits share the pages that are attended to.
template <int D, class LIMITS = Unlimited> DEVICE void attendHalves(const Attention& a) {
  using Page = HalfPage<D>;
  __shared__ BlockMemory block;
  letNextBegin();
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, warps = blockDim.x / 32;
  Ring<Page::KEY_BYTES, Page::KEY_BYTES> ring(dynamicMemory, block.barriers, warp, lane, a.stages);
  const Work work(a);
  if (work.none()) return;
  const LIMITS limits(a, work.sequence, work.entries);
  const int hidden = limits.hiddenPages(), pages = work.sequence.packedPages + work.sequence.halfPages - hidden;
  const int begin = PAGE_TILES * (hidden + work.begin(pages, work.split)) + warp;
  const int end = PAGE_TILES * (hidden + work.begin(pages, work.split + 1));
  Heads<Eight, D> heads;

  const size_t offset = (size_t)work.kvHead * Page::BYTES + a.halfOffset;
  auto unit = [&](PageEntry entry, int tile) -> const u8* {
    return tile < end ? addressOf(entry) + offset + tile % PAGE_TILES * Page::TILE_BYTES : nullptr;
  };
  auto entryOf = [&](int tile) { return tile < end ? work.entries[tile / PAGE_TILES] : 0; };
  // The first entries are loaded together, since each load is a round trip to memory.
  PageEntry first[MOST_STAGES];
#pragma unroll
  for (int i = 0; i < MOST_STAGES; i++) first[i] = entryOf(begin + i * warps);
  if (a.early) {   // the previous kernel may still write pages and queries
#pragma unroll
    for (int i = 0; i < MOST_STAGES; i++) {
      if (i < a.stages) ring.expectUnit(unit(first[i], begin + i * warps));
    }
    awaitPrevious();
  }
  heads.load(a.queries + work.row(a) * D, work.heads, lane);
#pragma unroll
  for (int i = 0; i < MOST_STAGES; i++) {
    if (i < a.stages) {
      const u8* source = unit(first[i], begin + i * warps);
      ring.fillKeys(i, source);
      ring.fillValues(i, source);
    }
  }
  heads.clear();

  PageEntry now = first[0], next = entryOf(begin + a.stages * warps);
#pragma unroll 1
  for (int tile = begin; tile < end; tile += warps) {
    const int following = tile + a.stages * warps;
    const u8* refill = unit(next, following);
    next = entryOf(following + warps);
    const int tokens = tokensOf(now) - tile % PAGE_TILES * TILE_TOKENS, position = tile * TILE_TOKENS;
    const bool seen = tokens > 0 && !limits.hides(position, TILE_TOKENS);
    now = entryOf(tile + warps);
    u32 near, far;
    ring.awaitKeys();
    if (seen) {
      attendTile(heads, SharedFragments{ring.keys() + 16 * lane}, limits, position, tokens, lane, a.scale, near, far);
    }
    ring.refillKeys(refill);
    ring.awaitValues();
    if (seen) {
      addValues<D>(SharedFragments{ring.values() + 16 * lane}, tokens, lane, near, far, heads.outputs);
    }
    ring.refillValues(refill);
    ring.advance();
  }

  heads.addSumsOfLanes();
  __syncthreads();   // rings are reused for outputs
  float* outputs = reinterpret_cast<float*>(dynamicMemory);
  leaveEight<D>(heads, warp, lane, block, outputs);
  __syncthreads();
  finish(a, work, block, PlainOutputs<D, Eight::HEADS>{outputs, a.outputs + work.row(a) * D});
}

// Fetches the first fp16 tiles that attendTiles reads into L2, while the previous kernel may still write to the last of them.
template <int D> DEVICE void expectTiles(const Attention& a, const Work& work) {
  using Page = HalfPage<D>;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, warps = blockDim.x / 32;
  const int tile = work.split * warps + warp;
  if (tile >= PAGE_TILES * (int)work.sequence.halfPages) return;
  const PageEntry entry = work.entries[work.sequence.packedPages + tile / PAGE_TILES];
  if (tile % PAGE_TILES * TILE_TOKENS >= tokensOf(entry)) return;
  const u8* from = addressOf(entry) + (size_t)work.kvHead * Page::BYTES + a.halfOffset + tile % PAGE_TILES * Page::TILE_BYTES;
#pragma unroll
  for (int at = 128 * lane; at < Page::TILE_BYTES; at += 32 * 128) expect(from + at);
}

// Attends the fp16 pages of a sequence with packed pages: sinks and residual window. They are few, and are read straight
// from global memory while the first packed pages are being copied.
template <int D, int SETS, class LIMITS>
DEVICE void attendTiles(const Attention& a, const Work& work, const LIMITS& limits, PackedHeads<D> (&heads)[SETS]) {
  using Page = HalfPage<D>;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, warps = blockDim.x / 32;
  const int tiles = PAGE_TILES * work.sequence.halfPages;
#pragma unroll 1
  for (int tile = work.split * warps + warp; tile < tiles; tile += work.splits * warps) {
    const PageEntry entry = work.entries[work.sequence.packedPages + tile / PAGE_TILES];
    const int tokens = tokensOf(entry) - tile % PAGE_TILES * TILE_TOKENS;
    const int position = limits.positionOfHalf(tile / PAGE_TILES) + tile % PAGE_TILES * TILE_TOKENS;
    if (tokens <= 0 || limits.hides(position, min(tokens, TILE_TOKENS))) continue;
    const size_t offset = (size_t)work.kvHead * Page::BYTES + a.halfOffset;
    const u8* keys = addressOf(entry) + offset + tile % PAGE_TILES * Page::TILE_BYTES + 16 * lane;
#pragma unroll
    for (int s = 0; s < SETS; s++) {
      float scores[4] = {0.f, 0.f, 0.f, 0.f};
      scoreTile<D>(GlobalFragments{keys}, heads[s].queries, scores);
      u32 near, far;
      attendTile<D>(heads[s], scores, limits, position, tokens, lane, a.scale, near, far);
      addValues<D>(GlobalFragments{keys + Page::KEY_BYTES}, tokens, lane, near, far, heads[s].outputs);
    }
  }
}

// Writes a warp's outputs of one set of heads to shared memory, converted from units of codes and with the zeros' part
// added.
template <int BITS, int D>
DEVICE void leaveOutputs(PackedHeads<D>& heads, int set, int sets, int warp, int lane, BlockMemory& block, float* outputs) {
  const int q = lane & 3, row = lane >> 2, head = 4 * set + Twice::firstHead(lane);
  const bool upper = Twice::upper(lane);
  heads.addSumsOfLanes();
  // Adds both groups of tokens; lane (r, q) then has group r of channels.
  float zero0 = upper ? heads.zeroOutputs[2] : heads.zeroOutputs[0];
  float zero1 = upper ? heads.zeroOutputs[3] : heads.zeroOutputs[1];
  zero0 += __shfl_xor_sync(ALL_LANES, zero0, 2);
  zero1 += __shfl_xor_sync(ALL_LANES, zero1, 2);
  float* first = outputs + (warp * 4 * sets + head) * D + row;
#pragma unroll
  for (int i = 0; i < D / 16; i++) {
    const int group = upper ? (D / 2 + 8 * i) / 32 : 8 * i / 32, channel = 8 * i + (upper ? D / 2 : 0);
    const float z0 = __shfl_sync(ALL_LANES, zero0, 4 * group + q), z1 = __shfl_sync(ALL_LANES, zero1, 4 * group + q);
    const float unit = Fields<BITS>::unit(i & 1, upper);
    first[channel] = fmaf(upper ? heads.outputs[i][2] : heads.outputs[i][0], unit, z0);
    first[channel + D] = fmaf(upper ? heads.outputs[i][3] : heads.outputs[i][1], unit, z1);
  }
  if (lane < 2) {
    block.most[warp][head] = heads.most0; block.most[warp][head + 1] = heads.most1;
    block.sums[warp][head] = heads.sum0; block.sums[warp][head + 1] = heads.sum1;
  }
}

// Attends packed pages and fp16 pages, for up to four heads in each of SETS sets. turns.cuh has the same for pages of codes alone.
// PART: what keys and values have in addition to their codes
template <int BITS, int D, int SETS, class PART> DEVICE void attendPacked(const Attention& a) {
  using Page = typename PART::Page;
  __shared__ BlockMemory block;
  letNextBegin();
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, warps = blockDim.x / 32;
  Ring<Page::KEY_BYTES, Page::VALUE_BYTES> ring(dynamicMemory, block.barriers, warp, lane, a.stages);
  const Work work(a);
  if (work.none()) return;
  const int begin = work.begin(work.sequence.packedPages, work.split) + warp;
  const int end = work.begin(work.sequence.packedPages, work.split + 1);
  PackedHeads<D> heads[SETS];

  const size_t offset = (size_t)work.kvHead * Page::BYTES + a.packedOffset;
  auto pageAt = [&](int page) -> const u8* { return page < end ? addressOf(work.entries[page]) + offset : nullptr; };
  // The first addresses are loaded together, since each load is a round trip to memory.
  const u8* first[MOST_STAGES];
#pragma unroll
  for (int i = 0; i < MOST_STAGES; i++) first[i] = pageAt(begin + i * warps);
  auto fillFirst = [&](int from, int to) {
#pragma unroll
    for (int i = 0; i < MOST_STAGES; i++) {
      if (i >= from && i < to) {
        ring.fillKeys(i, first[i]);
        ring.fillValues(i, first[i]);
      }
    }
  };
  auto loadQueries = [&]() {
    const u16* rows = a.queries + work.row(a) * D;
#pragma unroll
    for (int s = 0; s < SETS; s++) heads[s].load(rows + 4 * s * D, work.heads - 4 * s, lane);
  };
  // Queries are loaded before most of the pages, so that they do not wait for those.
  if (!a.early) loadQueries();
  fillFirst(0, 1);
  if (a.early) {   // packed pages are final, queries may not be
    expectTiles<D>(a, work);
    awaitPrevious();
    loadQueries();
  }
  fillFirst(1, a.stages);
#pragma unroll
  for (int s = 0; s < SETS; s++) heads[s].clear();
  if (work.sequence.halfPages > 0) {
    attendTiles<D, SETS>(a, work, Unlimited(), heads);
#pragma unroll
    for (int s = 0; s < SETS; s++) heads[s].template toUnitsOfCodes<BITS>();
  }
  PART part(a, work, dynamicMemory + warps * a.stages * Page::BYTES);

  const u8* refill = pageAt(begin + a.stages * warps);
#pragma unroll 1
  for (int page = begin; page < end; page += warps) {
    const u8* next = pageAt(page + (a.stages + 1) * warps);
    float x0[SETS][4], x1[SETS][4];
    u32 own[SETS][4], weights[SETS][8];
    ring.awaitKeys();
    part.begin(ring.keys(), lane);
    scorePage<BITS, D, SETS>(ring.keys(), lane, heads, a.scale, x0, x1);
    part.addScores(ring.keys(), lane, x0, x1);
    ring.refillKeys(refill);
#pragma unroll
    for (int s = 0; s < SETS; s++) {
      float factor0, factor1;
      if (weighPage<D>(heads[s], x0[s], x1[s], own[s], weights[s], factor0, factor1)) part.shrink(lane, factor0, factor1);
    }
    ring.awaitValues();
    part.collect(ring.values(), lane, own[0]);
    addPage<BITS, D, SETS>(ring.values(), lane, weights, heads);
    ring.refillValues(refill);
    refill = next;
    ring.advance();
  }

  __syncthreads();   // rings are reused for outputs
  float* outputs = reinterpret_cast<float*>(dynamicMemory);
#pragma unroll
  for (int s = 0; s < SETS; s++) leaveOutputs<BITS, D>(heads[s], s, SETS, warp, lane, block, outputs);
  __syncthreads();
  finish(a, work, block, part.outputs(a, work, outputs));
}
