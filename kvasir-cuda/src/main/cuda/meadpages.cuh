// The layout of Mead pages: residuals of keys before RoPE and of components of values, with a width for each channel and tier.
// dev.kvasir.cuda.formats.mead has the same layouts; PartLayout shows them.
//
//   key[t]        = rotated by t (row of a table + scale[t] * residual)
//   components[t] = row of a table + mean error of the block + scale[t] * residual,   value[t] = transform * components[t]
//
// A block is 128 tokens. Its keys and values of a KV head are parts, which are in either of the block's two pages.
#pragma once
#include "pages.cuh"

constexpr int MEAD_TOKENS = 2 * PAGE_TOKENS;   // of a block
constexpr int MEAD_TIERS = 3;
constexpr int MEAD_TILES = 8;                  // of 16 rows
constexpr int MEAD_STEP = 16;                  // channels that share a width
constexpr int MEAD_MOST_STEPS = 8;
constexpr int MEAD_POSITION_AT = 256;          // in a part of keys
constexpr int MEAD_TABLE_AT = 288;             // what selects rows of tables: behind it

// How predictions are selected.
constexpr u32 MEAD_MEAN = 0;        // by nothing: a table has one row
constexpr u32 MEAD_CENTROIDS = 1;   // (128 rows) bytes of keys, then of values
constexpr u32 MEAD_BY_TOKEN = 2;    // (128 rows) u16

constexpr __host__ __device__ int meadTiles(int tier) { return tier == 0 ? 4 : tier == 1 ? 3 : 1; }
constexpr __host__ __device__ int meadFirstTile(int tier) { return tier == 0 ? 0 : tier == 1 ? 4 : 7; }
DEVICE int meadTierOf(int row) { return row < 64 ? 0 : row < 112 ? 1 : 2; }

// Where the parts of a head are, and what attention needs to decode them. HeadRecord has the same offsets.
template <int D> struct MeadHead {
  static constexpr int STEPS = D / MEAD_STEP;
  static constexpr int TURN_BYTES = STEPS * 32 + 32;   // an odd multiple of 32, for few conflicts of banks
  u32 keyPage, keyAt, valuePage, valueAt;
  u32 keyChunks[6], valueChunks[6];
  u32 isFree;                         // whether keys and values are looked up by token id
  float keyUnit, valueUnit;           // of residuals that attention decodes, powers of two
  u32 unused;
  u8 keyWidths[MEAD_TIERS][MEAD_MOST_STEPS], valueWidths[MEAD_TIERS][MEAD_MOST_STEPS];
  u8 pairs[64];                       // by slot: 8 step + column
  uint4 keySteps[MEAD_TIERS][STEPS][4];    // by quad, for two channels each: factor and minimum of first, and of second channels
  uint4 valueSteps[MEAD_TIERS][STEPS][8];  // by row r: factor and minimum of slot r, and of slot r + 8, each twice
  uint2 keyBase[STEPS][4];            // by quad: predictions of two first and of two second channels
  float valueBase[D], units[D];       // by slot
  u8 turns[MEAD_TOKENS][TURN_BYTES];  // (steps, 4 quads) cosines and sines of two pairs
};

// What quantizing and dequantizing needs. CodeRecord has the same offsets.
template <int D> struct MeadCodes {
  u8 bits[2][MEAD_TIERS][D];
  u8 slots[2][D];                     // of a channel
  u8 channels[2][D];                  // of a slot
  u32 stepsAt[2][MEAD_TIERS][MEAD_MOST_STEPS];
  float halfSteps[2][MEAD_TIERS][D];
  float weights[D];                   // how much errors of keys count
  float lows[2][D], steps[2][D];      // of table rows
  float units[D];                     // of mean errors
  float to[D][D];                     // (components, channels)
  float from[D][D];                   // (slots of components, channels)
};

// Constants of the encoder.
struct MeadConstants {
  double thresholds[8];   // smallest deviation of each scale
  float scales[8];
  float unitSteps[9];     // steps by width, for deviation 1
};

// Tables of a model. DeviceTables has the same fields in the same order.
struct MeadTables {
  const u8* heads;            // (layers, KV heads) MeadHead
  const u8* codes;            // (layers, KV heads) MeadCodes
  const u8* rows;             // (layers, KV heads, table rows, D): keys and values of D / 2 bytes, 4 bits each
  const u32* tokenRows;       // (vocabulary) table row of a token id
  const u16* firstKeys;       // (vocabulary of the first layer, KV heads, D) in pair order; null unless they are looked up
  const u16* firstValues;     // (vocabulary of the first layer, KV heads, D)
  const MeadConstants* constants;
  const float2* places;       // (128, D / 2) cosines and sines of token indices in a block
  const float2* pageTurns;    // (pages, D / 2), of a page's first position
  const u16* order;           // (2, D / 2) channels of pairs
  u32 firstPosition, turnPages;
  u32 kind, tableRows;
  u32 vocabulary, firstVocabulary;

  template <int D> DEVICE const MeadHead<D>& head(int layer, int head, int kvHeads) const {
    return reinterpret_cast<const MeadHead<D>*>(heads)[layer * kvHeads + head];
  }
  template <int D> DEVICE const MeadCodes<D>& code(int layer, int head, int kvHeads) const {
    return reinterpret_cast<const MeadCodes<D>*>(codes)[layer * kvHeads + head];
  }
  template <int D> DEVICE const u8* rowsOf(int layer, int head, int kvHeads) const {
    return rows + (size_t)(layer * kvHeads + head) * tableRows * D;
  }
  DEVICE const float2* turnsOf(u32 position, int pairs) const {
    return pageTurns + (size_t)min((position - firstPosition) / PAGE_TOKENS, turnPages - 1) * pairs;
  }
};

// Returns a number of a table row.
template <int D> DEVICE float meadRow(const MeadCodes<D>& codes, const u8* rows, u32 row, int side, int channel) {
  const u8 two = rows[(size_t)row * D + side * (D / 2) + channel % (D / 2)];
  return fmaf((float)(channel < D / 2 ? two & 15 : two >> 4), codes.steps[side][channel], codes.lows[side][channel]);
}

// The place of a code in the planes of its tile.
struct MeadField {
  int lane, field, half;

  DEVICE static MeadField ofKey(int slot, int row) {
    return {4 * (row % 8) + slot % 8 / 2, row / 8 + 2 * (slot % MEAD_STEP / 8), slot % 2};
  }
  DEVICE static MeadField ofValue(int slot, int row) {
    return {4 * (slot % 8) + row % 8 / 2, slot % MEAD_STEP / 8 + 2 * (row / 8), row % 2};
  }
};

// Calls plane(bits, offset of the plane in its step) for each plane of a width, the upper bits first.
template <class PLANE> DEVICE void forMeadPlanes(int width, int tiles, const PLANE& plane) {
  int at = 0, left = width;
  auto next = [&](int bits) {
    plane(bits, at);
    at += 32 * tiles * bits;
    left -= bits;
  };
  while (left >= 4) next(4);
  if (left >= 2) next(2);
  if (left >= 1) next(1);
}

// Returns a code, which fills the upper bits of the step's width.
DEVICE u32 meadCode(const u8* step, int width, int tiles, int tile, const MeadField& f) {
  u32 code = 0;
  forMeadPlanes(width, tiles, [&](int bits, int at) {
    const u8* place = step + at + (32 * tile + f.lane) * bits;
    const u32 word = bits == 4   ? *reinterpret_cast<const u32*>(place)
                     : bits == 2 ? *reinterpret_cast<const u16*>(place)
                                 : *place;
    code = code << bits | (word >> (4 * bits * f.half + bits * f.field) & ((1u << bits) - 1));
  });
  return code;
}

// The token and the scales of a row. Rows of a tier are in an order in which four consecutive tokens differ by their remainder
// modulo 4, as far as there are such: four lanes then read cosines from different banks.
struct MeadRowInfo {
  u32 bits;
  DEVICE int token() const { return bits & 127; }
  DEVICE int keyScale() const { return bits >> 7 & 7; }
  DEVICE int valueScale() const { return bits >> 10 & 7; }
  DEVICE static int at(int row) { return 2 * (2 * (row % 8 * MEAD_TILES + row / 16) + row / 8 % 2); }
};
