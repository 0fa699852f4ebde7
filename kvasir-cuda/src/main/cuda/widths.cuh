// Pages of one sequence with codes of 8, 4 or 2 bits that are requantized. A scale is a third of its range at any width, so
// narrower pages have exactly the scales and zeros of the wider ones.
#pragma once
#include "attend.cuh"
#include "store.cuh"

// Attends all packed pages of one width. Outputs are plain numbers before and after, and in units of codes in between.
// entries: of the pages in the first layer; layerOffset leads to this layer's
template <int BITS, int D>
DEVICE void attendWidth(const Attention& a, const Work& work, const PageEntry* entries, int pages, u64 layerOffset,
                        RingBarriers& barriers, int warpBytes, PackedHeads<D> (&heads)[1]) {
  using Page = PackedPage<BITS, D>;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, warps = blockDim.x / 32;
  const int begin = work.begin(pages, work.split) + warp, end = work.begin(pages, work.split + 1);
  const int stages = min(MOST_STAGES, warpBytes / Page::BYTES);
  // Rings of all widths start at this warp's memory.
  Ring<Page::KEY_BYTES, Page::VALUE_BYTES> ring(dynamicMemory + warp * (warpBytes - stages * Page::BYTES), barriers, warp, lane,
                                                stages);
  const size_t offset = (size_t)work.kvHead * Page::BYTES + layerOffset;
  auto pageAt = [&](int page) -> const u8* { return page < end ? addressOf(entries[page]) + offset : nullptr; };
#pragma unroll 1
  for (int i = 0; i < stages; i++) {
    const u8* page = pageAt(begin + i * warps);
    ring.fillKeys(i, page);
    ring.fillValues(i, page);
  }
  const float step = thirdUnit<BITS>();
  heads[0].template toUnitsOfCodes<BITS>(step);
#pragma unroll 1
  for (int page = begin; page < end; page += warps) {
    const u8* refill = pageAt(page + stages * warps);
    float x0[1][4], x1[1][4], factor0, factor1;
    u32 own[4], weights[1][8];
    ring.awaitKeys();
    scorePage<BITS, D, 1>(ring.keys(), lane, heads, a.scale, x0, x1, step);
    ring.refillKeys(refill);
    weighPage<D>(heads[0], x0[0], x1[0], own, weights[0], factor0, factor1);
    ring.awaitValues();
    addPage<BITS, D, 1>(ring.values(), lane, weights, heads);
    ring.refillValues(refill);
    ring.advance();
  }
  heads[0].template fromUnitsOfCodes<BITS>(step);
  ring.close();
}

// Attends fp16 pages and pages of all widths, for up to four heads; each warp has a.stages slots of the widest pages.
template <int D> DEVICE void attendWidths(const Attention& a) {
  __shared__ BlockMemory block;
  letNextBegin();
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const Work work(a, true);
  if (work.none()) return;
  if (a.early) awaitPrevious();
  PackedHeads<D> heads[1];
  heads[0].load(a.queries + work.row(a) * D, work.heads, lane);
  heads[0].clear();
  if (work.sequence.halfPages > 0) attendTiles<D, 1>(a, work, heads);

  const int warpBytes = a.stages * PackedPage<8, D>::BYTES;
  const int eights = work.sequence.packedPages, fours = work.sequence.fours(), twos = work.sequence.twos();
  const PageEntry* behind = work.entries + eights + work.sequence.halfPages;
  if (eights > 0) attendWidth<8, D>(a, work, work.entries, eights, a.packedOffset, block.barriers, warpBytes, heads);
  if (fours > 0) attendWidth<4, D>(a, work, behind, fours, a.fourOffset, block.barriers, warpBytes, heads);
  if (twos > 0) attendWidth<2, D>(a, work, behind + fours, twos, a.twoOffset, block.barriers, warpBytes, heads);

  __syncthreads();   // rings are reused for outputs
  float* outputs = reinterpret_cast<float*>(dynamicMemory);
  leaveOutputs<16, D>(heads[0], 0, 1, warp, lane, block, outputs);
  __syncthreads();
  finish(a, work, block, PlainOutputs<D, 4>{outputs, a.outputs + work.row(a) * D});
}

// Requantizes the codes of pages from FROM to TO bits: grid (pages, KV heads, layers), 256 threads.
template <int FROM, int TO, int D> DEVICE void narrowPage(const Packing* packings, u64 fromStride, u64 toStride) {
  using Wide = PackedPage<FROM, D>;
  using Narrow = PackedPage<TO, D>;
  using Places = PackedPlaces<FROM, D>;
  letNextBegin();
  awaitPrevious();
  const Packing packing = packings[blockIdx.x];
  const u8* from = reinterpret_cast<const u8*>(packing.from) + blockIdx.z * fromStride + (size_t)blockIdx.y * Wide::BYTES;
  u8* to = reinterpret_cast<u8*>(packing.to) + blockIdx.z * toStride + (size_t)blockIdx.y * Narrow::BYTES;
#pragma unroll 1
  for (int i = threadIdx.x; i < Narrow::BYTES / 4; i += blockDim.x) {
    const bool isKey = 4 * i < Narrow::KEY_BYTES;
    const int word = isKey ? i : i - Narrow::KEY_BYTES / 4;
    const u8* side = from + (isKey ? 0 : Wide::KEY_BYTES);
    u32 out = 0;
    if (4 * word < Narrow::CODE_BYTES) {
#pragma unroll 1
      for (int p = 0; p < 16 / TO; p++) {
        const int2 place = isKey ? keyOf<TO>(word, p) : valueOf<TO, D>(word, p);
        const u32 low = isKey ? Places::keyCode(from, place.x, place.y) : Places::valueCode(from, place.x, place.y);
        const u32 high = isKey ? Places::keyCode(from, place.x, place.y + 1) : Places::valueCode(from, place.x + 1, place.y);
        out |= narrowedTo<FROM, TO>(low) << TO * p | narrowedTo<FROM, TO>(high) << (TO * p + 16);
      }
    } else {   // scales and zeros are unchanged
      out = *reinterpret_cast<const u32*>(side + Wide::CODE_BYTES + 4 * word - Narrow::CODE_BYTES);
    }
    reinterpret_cast<u32*>(to)[i] = out;
  }
}
