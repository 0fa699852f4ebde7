// Dequantizes Mead pages, for prompts and for attention without a kernel of its own.
#pragma once
#include "attend.cuh"
#include "expand.cuh"
#include "meadpages.cuh"

// dynamic shared memory
template <int D> struct MeadReadingMemory {
  float components[PAGE_TOKENS][D + 1];   // by slot
  u16 rowOf[PAGE_TOKENS];                 // row of a token
  u16 info[PAGE_TOKENS];                  // MeadRowInfo of a token
};

// Dequantizes one of a block's two pages by all threads of a thread block.
template <int D> struct MeadPageReader {
  const MeadTables& t;
  const MeadHead<D>& head;
  const MeadCodes<D>& codes;
  const u8* rows;
  const u8* part[2];   // keys and values
  int kvHead, kvHeads;
  MeadReadingMemory<D>& m;

  DEVICE MeadPageReader(const MeadTables& t, int layer, int kvHead, int kvHeads, const u8* first, const u8* second,
                        MeadReadingMemory<D>& m)
      : t(t), head(t.head<D>(layer, kvHead, kvHeads)), codes(t.code<D>(layer, kvHead, kvHeads)),
        rows(t.rowsOf<D>(layer, kvHead, kvHeads)), kvHead(kvHead), kvHeads(kvHeads), m(m) {
    part[0] = (head.keyPage ? second : first) + head.keyAt;
    part[1] = (head.valuePage ? second : first) + head.valueAt;
  }

  // Returns a residual.
  DEVICE float residual(int side, int row, int scale, int slot) const {
    const int tier = meadTierOf(row), step = slot / MEAD_STEP, channel = codes.channels[side][slot];
    const int bits = codes.bits[side][tier][channel];
    if (bits == 0) return 0.f;
    const int tile = row / TILE_TOKENS, group = tile / MEAD_GROUP_TILES, shared = head.width(side, group, step);
    const int wider = tier == 2 ? head.width(side, tier, step) - shared : 0;
    const MeadField field = side == 0 ? MeadField::ofKey(slot, row % TILE_TOKENS) : MeadField::ofValue(slot, row % TILE_TOKENS);
    const u32 code = meadCode(part[side] + codes.stepsAt[side][group][step], shared, part[side] + codes.stepsAt[side][MEAD_GROUPS][step],
                              wider, tile % MEAD_GROUP_TILES, field) >> (shared + wider - bits);
    const float half = codes.halfSteps[side][tier][channel];
    return fmaf((float)code, 2.f * half, (float)(1 - (1 << bits)) * half) * t.constants->scales[scale];
  }

  DEVICE float prediction(int side, int row, int channel) const {
    const u8* selected = part[0] + MEAD_TABLE_AT;
    const u32 its = t.kind == MEAD_CENTROIDS  ? selected[side * MEAD_TOKENS + row]
                    : t.kind == MEAD_BY_TOKEN ? reinterpret_cast<const u16*>(selected)[row]
                                              : 0;
    return meadRow(codes, rows, its, side, channel);
  }

  DEVICE float mean(int slot) const {
    const MeadMeanPlace<D> place(slot);
    const int nibble = part[1][place.at] >> place.shift & 15;
    return (float)((nibble ^ 8) - 8) * codes.units[codes.channels[1][slot]];
  }

  // Writes a rotated key.
  DEVICE void putKey(u8* halves, int token, int which, int pair, float2 x, const float2* turns) const {
    const float2 turned = turnedBy(turnedBy(x, t.places[(PAGE_TOKENS * which + token) * (D / 2) + pair]), turns[pair]);
    *reinterpret_cast<u16*>(halves + HalfPage<D>::keyOffset(token, t.order[pair])) = toHalf(turned.x);
    *reinterpret_cast<u16*>(halves + HalfPage<D>::keyOffset(token, t.order[D / 2 + pair])) = toHalf(turned.y);
  }

  // Looks up keys and values of the first layer.
  DEVICE void lookUp(int which, u8* halves, const float2* turns) const {
    const u32* ids = reinterpret_cast<const u32*>(part[0] + MEAD_TABLE_AT) + PAGE_TOKENS * which;
    for (int i = threadIdx.x; i < PAGE_TOKENS * (D / 2); i += blockDim.x) {
      const int token = i / (D / 2), pair = i % (D / 2);
      const u32 id = ids[token] < t.firstVocabulary ? ids[token] : 0;
      const size_t row = ((size_t)id * kvHeads + kvHead) * D;
      putKey(halves, token, which, pair, float2{toFloat(t.firstKeys[row + pair]), toFloat(t.firstKeys[row + D / 2 + pair])}, turns);
      for (int channel = pair; channel < D; channel += D / 2) {
        *reinterpret_cast<u16*>(halves + HalfPage<D>::valueOffset(token, channel)) = t.firstValues[row + channel];
      }
    }
  }

  // which: of the two pages
  DEVICE void read(int which, u8* halves) const {
    const float2* turns = t.turnsOf(*reinterpret_cast<const u32*>(part[0] + MEAD_POSITION_AT), D / 2);
    if (head.isFree) {
      lookUp(which, halves, turns);
      return;
    }
    for (int row = threadIdx.x; row < MEAD_TOKENS; row += blockDim.x) {
      const u16 info = *reinterpret_cast<const u16*>(part[0] + MeadRowInfo::at(row));
      const int token = MeadRowInfo{info}.token();
      if (token / PAGE_TOKENS == which) {
        m.rowOf[token % PAGE_TOKENS] = (u16)row;
        m.info[token % PAGE_TOKENS] = info;
      }
    }
    __syncthreads();
    for (int i = threadIdx.x; i < PAGE_TOKENS * (D / 2); i += blockDim.x) {
      const int token = i / (D / 2), rank = i % (D / 2), slot = rank / 8 * MEAD_STEP + rank % 8;
      const int pair = codes.channels[0][slot], row = m.rowOf[token], scale = MeadRowInfo{m.info[token]}.keyScale();
      putKey(halves, token, which, pair,
             float2{prediction(0, row, pair) + residual(0, row, scale, slot),
                    prediction(0, row, D / 2 + pair) + residual(0, row, scale, slot + 8)},
             turns);
    }
    for (int i = threadIdx.x; i < PAGE_TOKENS * D; i += blockDim.x) {
      const int token = i / D, slot = i % D, row = m.rowOf[token];
      m.components[token][slot] = prediction(1, row, codes.channels[1][slot]) + mean(slot) +
                                  residual(1, row, MeadRowInfo{m.info[token]}.valueScale(), slot);
    }
    __syncthreads();
    transform(halves);
  }

  DEVICE void transform(u8* halves) const {
    constexpr int TOGETHER = 16;   // tokens of a thread
    const int channel = threadIdx.x % D, teams = blockDim.x / D;
#pragma unroll 1
    for (int first = TOGETHER * (threadIdx.x / D); first < PAGE_TOKENS; first += TOGETHER * teams) {
      float sums[TOGETHER];
#pragma unroll
      for (int k = 0; k < TOGETHER; k++) sums[k] = 0.f;
#pragma unroll 4
      for (int slot = 0; slot < D; slot++) {
        const float factor = codes.from[slot][channel];
#pragma unroll
        for (int k = 0; k < TOGETHER; k++) sums[k] = fmaf(factor, m.components[first + k][slot], sums[k]);
      }
#pragma unroll
      for (int k = 0; k < TOGETHER; k++) {
        *reinterpret_cast<u16*>(halves + HalfPage<D>::valueOffset(first + k, channel)) = toHalf(sums[k]);
      }
    }
  }
};

// 256 threads: dequantizes packed pages. Pages are listed by block.
template <int D> DEVICE void unpackMead(const Unpacking& unpacking, const MeadTables& t) {
  letNextBegin();
  awaitPrevious();
  if (unpacking.none()) return;
  const Packing* both = unpacking.packings + (blockIdx.x & ~1u);
  MeadReadingMemory<D>& m = *reinterpret_cast<MeadReadingMemory<D>*>(dynamicMemory);
  const MeadPageReader<D> reader(t, unpacking.layer(), blockIdx.y, gridDim.y, reinterpret_cast<const u8*>(both[0].to),
                                 reinterpret_cast<const u8*>(both[1].to), m);
  reader.read(blockIdx.x & 1, unpacking.halves<D>());
}

// MeadDecodedPages has the same fields in the same order.
struct MeadDecoding {
  const Sequence* sequences;
  const PageEntry* table;
  u8* pages;               // (entries, KV heads) fp16 pages
  u32 layer;
  u32 pagesPerBlock;       // even
};

// grid (blocks of pages, KV heads, sequences), 256 threads: dequantizes the packed pages of sequences
template <int D> DEVICE void decodeMead(const MeadDecoding& d, const MeadTables& t) {
  letNextBegin();
  awaitPrevious();
  const uint4 packed = *(reinterpret_cast<const uint4*>(d.sequences) + blockIdx.z);   // as Sequence
  const int begin = blockIdx.x * d.pagesPerBlock, end = min(begin + (int)d.pagesPerBlock, (int)packed.y);
  MeadReadingMemory<D>& m = *reinterpret_cast<MeadReadingMemory<D>*>(dynamicMemory);
#pragma unroll 1
  for (int number = begin; number < end; number++) {
    const PageEntry* both = d.table + packed.x + (number & ~1);
    const MeadPageReader<D> reader(t, d.layer, blockIdx.y, gridDim.y, addressOf(both[0]), addressOf(both[1]), m);
    reader.read(number & 1, d.pages + (((size_t)packed.x + number) * gridDim.y + blockIdx.y) * HalfPage<D>::BYTES);
    __syncthreads();
  }
}
