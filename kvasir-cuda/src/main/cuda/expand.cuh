// Dequantizes pages of codebook indices, for prompts.
#pragma once
#include "bins.cuh"

constexpr int MOST_SETS = 384;   // of the values of KV heads that share codes

// Dequantizes single numbers of a page.
template <int D, int STAGES, class PAGE = CommvqPage<STAGES>> struct CommvqPlaces {
  using Page = PAGE;
  using Keys = KeyTable<D, STAGES>;
  using Values = ValueTable<D>;

  DEVICE static u32 keyWord(const u8* page, int token, int word) {
    return reinterpret_cast<const u32*>(page)[word * PAGE_TOKENS + token];
  }

  DEVICE static u32 keyIndex(const u8* page, int token, int set) {
    return keyWord(page, token, set / 5) >> INDEX_BITS * (set % 5) & 63;
  }

  // set: of the page
  DEVICE static u32 valueIndex(const u8* page, int token, int set) {
    const int bit = INDEX_BITS * (token % 16);
    const u32* words = reinterpret_cast<const u32*>(page + Page::VALUE_AT) + token / 16 * 3 * Page::SETS + set;
    const u32 low = words[bit / 32 * Page::SETS], high = bit % 32 > 26 ? words[(bit / 32 + 1) * Page::SETS] : 0;
    return __funnelshift_r(low, high, bit % 32) & 63;
  }

  // Returns a pair of channels of a key before rotation.
  DEVICE static float2 key(const u8* table, const u8* page, int token, int pair) {
    const int quad = pair / Keys::PAIRS, own = pair % Keys::PAIRS;
    const signed char* rows = reinterpret_cast<const signed char*>(table) + own / 8 * 64 + 16 * quad + 2 * (own % 8);
    int x = 0, y = 0;
    for (int stage = 0; stage < STAGES; stage++) {
      const signed char* a = rows + stage * Keys::STAGE_BYTES + keyIndex(page, token, 2 * stage) * Keys::ROW_BYTES;
      const signed char* b = rows + stage * Keys::STAGE_BYTES + keyIndex(page, token, 2 * stage + 1) * Keys::ROW_BYTES;
      x += a[0] - b[1];
      y += a[1] + b[0];
    }
    return keyOf(table, page, token, pair, (float)x, (float)y);
  }

  // Returns a pair of channels of a key whose bytes have been summed.
  DEVICE static float2 keyOf(const u8* table, const u8* page, int token, int pair, float x, float y) {
    const int quad = pair / Keys::PAIRS, own = pair % Keys::PAIRS;
    const u16* lane = reinterpret_cast<const u16*>(table + Keys::LANES_AT + quad * Keys::LANE_BYTES) + own;
    const float factor = *reinterpret_cast<const float*>(table + Keys::FACTOR_AT);
    const float unit = toFloat(lane[0]) * factor * toFloat((u16)(keyWord(page, token, Page::KEY_WORDS - 1) >> 16));
    return float2{fmaf(unit, x, toFloat(lane[Keys::PAIRS])), fmaf(unit, y, toFloat(lane[2 * Keys::PAIRS]))};
  }

  DEVICE static float valueScale(const u8* page, int token) {
    return toFloat(reinterpret_cast<const u16*>(page + Page::VALUE_SCALES_AT)[token]);
  }

  // Returns a channel of the row of a bin, and those of both halves of the head.
  DEVICE static float2 rows(const u8* table, int bin, int channel) {
    const u8* at = table + (size_t)(bin / TILE_TOKENS) * Values::TILE_BYTES + channel / 8 * 512 +
                   16 * (4 * (channel % 8) + bin % 8 / 2) + bin % TILE_TOKENS / 8 * 8 + 2 * (bin & 1);
    return float2{toFloat(*reinterpret_cast<const u16*>(at)), toFloat(*reinterpret_cast<const u16*>(at + 4))};
  }
};

// The tables that a page is dequantized with.
struct Codebooks {
  const u8* keys;            // (layers, KV heads) key tables
  const u8* values;          // (layers) value tables
  const float2* places;      // (128, D / 2) cosines and sines of token indices in a block of two pages
  const float2* pageTurns;   // (pages, D / 2), of a page's first position
  const u16* order;          // (2, D / 2) channels of pairs
  u64 valueStride;           // from a layer's value tables to the next layer's
  u32 firstPosition, turnPages;

  template <int D, int STAGES> DEVICE const u8* keysOf(int layer, int head, int kvHeads) const {
    return keys + ((size_t)layer * kvHeads + head) * KeyTable<D, STAGES>::BYTES;
  }

  DEVICE const float2* turnsOf(u32 position, int pairs) const {
    return pageTurns + (size_t)min((position - firstPosition) / PAGE_TOKENS, turnPages - 1) * pairs;
  }
};

DEVICE float2 turnedBy(float2 x, float2 turn) {
  return float2{fmaf(x.x, turn.x, -x.y * turn.y), fmaf(x.y, turn.x, x.x * turn.y)};
}

// Dequantizes and rotates the keys of a page by all threads of a block.
template <int D, int STAGES, class PAGE>
DEVICE void expandKeys(const Codebooks& books, const u8* keys, const u8* page, u8* halves) {
  const float2* turns = books.turnsOf(*reinterpret_cast<const u32*>(page + PAGE::POSITION_AT), D / 2);
  for (int i = threadIdx.x; i < PAGE_TOKENS * (D / 2); i += blockDim.x) {
    const int token = i / (D / 2), pair = i % (D / 2);
    const float2 key = CommvqPlaces<D, STAGES, PAGE>::key(keys, page, token, pair);
    const float2 turned = turnedBy(turnedBy(key, books.places[i]), turns[pair]);
    *reinterpret_cast<u16*>(halves + HalfPage<D>::keyOffset(token, books.order[pair])) = toHalf(turned.x);
    *reinterpret_cast<u16*>(halves + HalfPage<D>::keyOffset(token, books.order[D / 2 + pair])) = toHalf(turned.y);
  }
}

// 256 threads: dequantizes packed pages.
template <int D, int STAGES> DEVICE void expandPage(const Unpacking& unpacking, const Codebooks& books) {
  using Places = CommvqPlaces<D, STAGES>;
  using Page = CommvqPage<STAGES>;
  __shared__ u8 indices[MOST_SETS][PAGE_TOKENS];
  letNextBegin();
  awaitPrevious();
  if (unpacking.none()) return;
  u8* halves = unpacking.halves<D>();
  const u8* page = unpacking.packed(Page::BYTES);
  const u8* keys = books.keysOf<D, STAGES>(unpacking.layer(), blockIdx.y, gridDim.y);
  const Mixing mixing{nullptr, books.values + unpacking.layer() * books.valueStride};
  const ValueSets sets = mixing.sets();
  const u8* table = mixing.values + ValueSets::BYTES + blockIdx.y * ValueTable<D>::bytes(sets);
  const u8* firstPage = page - (size_t)(blockIdx.y % sets.span) * Page::BYTES;
  for (int i = threadIdx.x; i < sets.sets * PAGE_TOKENS; i += blockDim.x) {
    const int set = i / PAGE_TOKENS, token = i % PAGE_TOKENS;
    indices[set][token] = Places::valueIndex(firstPage + set / Page::SETS * Page::BYTES, token, set % Page::SETS);
  }
  expandKeys<D, STAGES, Page>(books, keys, page, halves);
  __syncthreads();
  const int meanBin = sets.groups() * ValueTable<D>::GROUP_BINS;
  for (int i = threadIdx.x; i < PAGE_TOKENS * (D / 2); i += blockDim.x) {
    const int token = i / (D / 2), channel = i % (D / 2);
    float2 sum{0.f, 0.f};
#pragma unroll 4
    for (int set = 0; set < sets.sets; set++) {
      const float2 row = Places::rows(table, (set / 8 * CODEBOOK_ROWS + indices[set][token]) * 8 + set % 8, channel);
      sum.x += row.x;
      sum.y += row.y;
    }
    const float2 mean = Places::rows(table, meanBin, channel);
    const float scale = Places::valueScale(page, token);
    *reinterpret_cast<u16*>(halves + HalfPage<D>::valueOffset(token, channel)) = toHalf(fmaf(scale, sum.x, mean.x));
    *reinterpret_cast<u16*>(halves + HalfPage<D>::valueOffset(token, D / 2 + channel)) = toHalf(fmaf(scale, sum.y, mean.y));
  }
}
