// Attention on values that a network has encoded (network.cuh): a value is scale[t] times the sum of the codebook rows whose
// bit is set. Bits belong to all KV heads of a token together. Weights are summed by bit on tensor cores, and rows are
// multiplied by the sums at the end.
#pragma once
#include "encode.cuh"
#include "expand.cuh"
#include "network.cuh"

// A page of one KV head has an equal part of the token's bits: BITS for each channel of the head.
//
//   value words  (4 times 16 tokens, 8 pairs of tokens, bits / 16): 16 bits of both tokens, the first in the lower half
template <int D, int STAGES, int BITS> struct BitPage : CommvqPage<STAGES, PAGE_TOKENS * D * BITS / 8> {
  static constexpr int TILES = D * BITS / 16;   // of 16 bits
};

constexpr int WARP_TILES = 16;   // of a warp: their sums are in registers

// How tiles of bits are divided among warps; the value tables of a layer begin with it, in 128 bytes.
struct BitTiles {
  u32 tiles;   // of a token
  u32 warps;   // that share a page: a power of two
};

// Bins of a warp in shared memory, (tiles, 16 bits, 4 heads) floats.
struct BitMemory {
  static constexpr int TILE_BYTES = 16 * RECORD_HEADS * 4;
  static constexpr int WARP_BYTES = WARP_TILES * TILE_BYTES;
};

// Sums the weights of a block's packed pages by bit.
template <int D, int STAGES, int BITS>
DEVICE void sumByBit(const Attention& a, const Work& work, const u8* records, size_t stride, const Share& share,
                     int firstTile, int tiles, int begin, int end, MixedTotals& totals) {
  using Page = BitPage<D, STAGES, BITS>;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, row = lane >> 2, quad = lane & 3;
  float sums[WARP_TILES][4];
#pragma unroll
  for (int i = 0; i < WARP_TILES; i++) sums[i][0] = sums[i][1] = sums[i][2] = sums[i][3] = 0.f;
  float total = 0.f;   // of the lane's tokens and head
  const int first = firstTile + share.own * WARP_TILES;
  const bool headThere = row < work.heads;
  const float most = headThere ? totals.most[row] : 0.f;
  if (share.works()) {
#pragma unroll 1
    for (int number = begin + share.team; number < end; number += share.teams) {
      const u8* page = addressOf(work.entries[number]) + a.packedOffset;
      const u8* record = records + (size_t)(number - begin) * stride;
      const u16* scales = reinterpret_cast<const u16*>(page + Page::VALUE_SCALES_AT);
#pragma unroll 1
      for (int tile = 0; tile < PAGE_TILES; tile++) {
        const float itsMost = reinterpret_cast<const float*>(record + RECORD_WEIGHT_BYTES)[tile * RECORD_HEADS + row % RECORD_HEADS];
        const float factor = headThere ? powerOfTwo(itsMost - most) : 0.f;
        float weight[4];   // tokens 2q, 2q + 1, 2q + 8, 2q + 9
#pragma unroll
        for (int i = 0; i < 4; i++) {
          const int token = TILE_TOKENS * tile + 2 * quad + i % 2 + i / 2 * 8;
          const u16 half = reinterpret_cast<const u16*>(record)[token * RECORD_HEADS + row % RECORD_HEADS];
          const float p = headThere ? toFloat(half) * factor : 0.f;
          total += p;
          weight[i] = p * toFloat(scales[token]);
        }
        const u32 near = toHalves(weight[0], weight[1]), far = toHalves(weight[2], weight[3]);
#pragma unroll
        for (int i = 0; i < WARP_TILES; i += 4) {
          const int own = first + i;
          if (own < tiles) {
            const u8* words = page + (size_t)(own / Page::TILES) * Page::BYTES + Page::VALUE_AT +
                              4 * ((8 * tile + quad) * Page::TILES + own % Page::TILES);
            const uint4 early = __ldcs(reinterpret_cast<const uint4*>(words));
            const uint4 late = __ldcs(reinterpret_cast<const uint4*>(words + 16 * Page::TILES));
#pragma unroll
            for (int k = 0; k < 4; k++) {   // bits are subnormal halves, 2^-24
              const u32 w0 = wordOf(early, k) >> row, w1 = wordOf(late, k) >> row;
              multiplyTiles(sums[i + k], w0 & 0x10001u, w0 >> 8 & 0x10001u, w1 & 0x10001u, w1 >> 8 & 0x10001u, near, far);
            }
          }
        }
      }
    }
  }
  u8* bins = dynamicMemory + warp * BitMemory::WARP_BYTES;
#pragma unroll
  for (int i = 0; i < WARP_TILES; i++) {
#pragma unroll
    for (int e = 0; e < 4; e++) {   // bits row and row + 8, heads 2 quad and 2 quad + 1
      const int bit = row + e / 2 * 8, head = 2 * quad + e % 2;
      if (head < RECORD_HEADS) {
        reinterpret_cast<float*>(bins)[(16 * i + bit) * RECORD_HEADS + head] = sums[i][e] * 16777216.f;
      }
    }
  }
  if (firstTile == 0) {
    if (share.own != 0) total = 0.f;   // sharers have the same tokens
    total += __shfl_xor_sync(ALL_LANES, total, 1);
    total += __shfl_xor_sync(ALL_LANES, total, 2);
    if (quad == 0 && row < RECORD_HEADS) totals.ofWarp[warp][row] = total;
  }
  __syncthreads();
  for (int i = threadIdx.x; i < share.sharers * BitMemory::WARP_BYTES / 16; i += blockDim.x) {
    float4 all{0.f, 0.f, 0.f, 0.f};
    for (int team = 0; team < share.teams; team++) {
      all = sumOf(all, reinterpret_cast<const float4*>(dynamicMemory + team * share.sharers * BitMemory::WARP_BYTES)[i]);
    }
    reinterpret_cast<float4*>(dynamicMemory)[i] = all;
  }
  __syncthreads();
}

// Computes outputs of up to four heads per block, from the weights of packed pages and from fp16 pages.
template <int D, int STAGES, int BITS> DEVICE void attendBits(const Attention& a, const Mixing& mixing) {
  using Table = ValueTable<D>;
  __shared__ BlockMemory block;
  __shared__ __align__(16) MixedTotals totals;
  letNextBegin();
  const ValueSets packed = mixing.sets();
  const BitTiles bits{packed.span, packed.sets};
  awaitPrevious();
  const Work work(a);
  if (work.none()) return;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, warps = blockDim.x / 32, quad = lane & 3, column = lane >> 2;
  const int begin = work.begin(work.sequence.packedPages, work.split);
  const int end = work.begin(work.sequence.packedPages, work.split + 1);
  const u8* table = mixing.values + ValueSets::BYTES + work.kvHead * ((size_t)bits.tiles + 1) * Table::TILE_BYTES;
  float mixed[D / 16][4];
#pragma unroll
  for (int i = 0; i < D / 16; i++) { mixed[i][0] = mixed[i][1] = mixed[i][2] = mixed[i][3] = 0.f; }
  if (begin < end) {
    const Share share(ValueSets{0, 0, 0, bits.warps}, warp, warps);
    const size_t stride = (size_t)gridDim.y * RECORD_BYTES;   // from a page's record to the next page's
    const u8* records = mixing.records + ((size_t)work.sequence.firstEntry + begin) * stride + (size_t)blockIdx.y * RECORD_BYTES;
    findMost(records, stride, end - begin, totals);
    const int step = share.sharers * WARP_TILES;
#pragma unroll 1
    for (int firstTile = 0; firstTile < bits.tiles; firstTile += step) {
      if (firstTile > 0) __syncthreads();   // sums have been read
      sumByBit<D, STAGES, BITS>(a, work, records, stride, share, firstTile, bits.tiles, begin, end, totals);
      const bool there = column < work.heads;
      const float back = there ? 1.f / totalOf(totals, column) : 0.f;
#pragma unroll 1
      for (int tile = warp; tile < min(step, (int)bits.tiles - firstTile); tile += warps) {
        const float* bins = reinterpret_cast<const float*>(dynamicMemory) + (16 * tile + 2 * quad) * RECORD_HEADS + column;
        auto at = [&](int bit) { return there ? bins[bit * RECORD_HEADS] * back : 0.f; };
        addValues<D>(GlobalFragments{table + (size_t)(firstTile + tile) * Table::TILE_BYTES + 16 * lane}, TILE_TOKENS, lane,
                     toHalves(at(0), at(1)), toHalves(at(8), at(9)), mixed);
      }
    }
  }
  Heads<Eight, D> heads;
  heads.load(a.queries + work.row(a) * D, work.heads, lane);
  heads.clear();
  attendWindow<D>(a, work, heads);
  heads.addSumsOfLanes();
  if (begin < end) addMixed<D>(work, table + (size_t)bits.tiles * Table::TILE_BYTES, totals, mixed, heads);
  __syncthreads();   // sums are overwritten by outputs
  float* outputs = reinterpret_cast<float*>(dynamicMemory);
  leaveEight<D>(heads, warp, lane, block, outputs);
  __syncthreads();
  finish(a, work, block, PlainOutputs<D, Eight::HEADS>{outputs, a.outputs + work.row(a) * D});
}

// grid (2 pages, KV heads, layers), 256 threads: writes keys, and the bits that a network has chosen
template <int D, int STAGES, int BITS> DEVICE void writeBits(const Encoding& e, const Network& n) {
  using Page = BitPage<D, STAGES, BITS>;
  letNextBegin();
  awaitPrevious();
  const int head = blockIdx.y, layer = blockIdx.z, before = PAGE_TOKENS * blockIdx.x;
  u8* page = packedPage<Page>(e, layer, head);
  writeKeys<Page>(e, page, layer, head, before);
  const size_t first = (size_t)layer * BLOCK_TOKENS + before;
  for (int i = threadIdx.x; i < PAGE_TOKENS / 2 * Page::TILES; i += blockDim.x) {
    const int pair = i / Page::TILES, own = head * Page::TILES + i % Page::TILES;   // tokens 2 pair and 2 pair + 1
    const u16* words = n.words + (first + 2 * pair) * (n.bits / 16) + own;
    reinterpret_cast<u32*>(page + Page::VALUE_AT)[i] = words[0] | (u32)words[n.bits / 16] << 16;
  }
  for (int token = threadIdx.x; token < PAGE_TOKENS; token += blockDim.x) {
    reinterpret_cast<u16*>(page + Page::VALUE_SCALES_AT)[token] = n.scales[first + token];
  }
}

// 256 threads: dequantizes packed pages.
template <int D, int STAGES, int BITS> DEVICE void expandBits(const Unpacking& unpacking, const Codebooks& books) {
  using Page = BitPage<D, STAGES, BITS>;
  using Places = CommvqPlaces<D, STAGES, Page>;
  letNextBegin();
  awaitPrevious();
  if (unpacking.none()) return;
  u8* halves = unpacking.halves<D>();
  const u8* page = unpacking.packed(Page::BYTES);
  const u8* firstPage = page - (size_t)blockIdx.y * Page::BYTES;
  const u8* values = books.values + unpacking.layer() * books.valueStride;
  const int tiles = gridDim.y * Page::TILES;
  const u8* table = values + ValueSets::BYTES + blockIdx.y * ((size_t)tiles + 1) * ValueTable<D>::TILE_BYTES;
  expandKeys<D, STAGES, Page>(books, books.keysOf<D, STAGES>(unpacking.layer(), blockIdx.y, gridDim.y), page, halves);
  for (int i = threadIdx.x; i < PAGE_TOKENS * (D / 2); i += blockDim.x) {
    const int token = i / (D / 2), channel = i % (D / 2);
    float2 sum{0.f, 0.f};
    for (int tile = 0; tile < tiles; tile++) {
      const u8* own = firstPage + (size_t)(tile / Page::TILES) * Page::BYTES + Page::VALUE_AT;
      const u32 word = reinterpret_cast<const u32*>(own)[token / 2 * Page::TILES + tile % Page::TILES] >> token % 2 * 16;
#pragma unroll 4
      for (int bit = 0; bit < 16; bit++) {
        if (word >> bit & 1) {
          const float2 row = Places::rows(table, 16 * tile + bit, channel);
          sum.x += row.x;
          sum.y += row.y;
        }
      }
    }
    const float scale = Places::valueScale(page, token);
    *reinterpret_cast<u16*>(halves + HalfPage<D>::valueOffset(token, channel)) = toHalf(scale * sum.x);
    *reinterpret_cast<u16*>(halves + HalfPage<D>::valueOffset(token, D / 2 + channel)) = toHalf(scale * sum.y);
  }
}
