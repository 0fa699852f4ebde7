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

// Tiles of rows share planes in groups of four: those of the first tier, and those of the others.
constexpr int MEAD_GROUPS = 2;
constexpr int MEAD_GROUP_TILES = 4;
constexpr int MEAD_CHUNKS = 4;   // of a part: keys have two for each group, values one for a quarter of the steps

// Where the parts of a head are, and what attention needs to decode them. HeadRecord has the same offsets.
template <int D> struct MeadHead {
  static constexpr int STEPS = D / MEAD_STEP;
  static constexpr int TURN_BYTES = STEPS * 32 + 16;   // an odd multiple of 16: eight tokens are in different banks
  u32 keyPage, keyAt, valuePage, valueAt;
  uint2 chunks[2 * MEAD_CHUNKS];      // of keys, then of values: offset and bytes
  u32 bytes[2];                       // of the parts
  u32 isFree;                         // whether keys and values are looked up by token id
  u32 rotatedSteps;                   // the first steps, whose keys are rotated; see mead.cuh for the others
  u32 keyWidths[MEAD_TIERS], valueWidths[MEAD_TIERS];   // four bits for each step; of the last tier, what exceeds the second
  float keyUnit;                      // of residuals that attention decodes, a power of two
  u32 unused;
  u8 pairs[64];                       // by slot: 8 step + column
  uint4 keys[MEAD_TIERS][STEPS][2][4];     // of the first and last four columns, by quad: two words of factors, two of predictions or minima
  float2 valueSteps[MEAD_TIERS][STEPS][8];    // by row r: of slots r and r + 8
  float2 valueMinima[MEAD_TIERS][STEPS][8];
  float2 valueBase[STEPS][8], units[STEPS][8];
  u8 turns[MEAD_TOKENS][TURN_BYTES];  // (steps, 2, 8 pairs) cosines and sines, relative to token 64

  DEVICE int width(int side, int tier, int step) const {
    const u32* all = side == 0 ? keyWidths : valueWidths;
    return (all[tier] >> 4 * step & 15) + (tier == 2 ? all[1] >> 4 * step & 15 : 0);
  }
};

// What quantizing and dequantizing needs. CodeRecord has the same offsets.
template <int D> struct MeadCodes {
  u8 bits[2][MEAD_TIERS][D];
  u8 slots[2][D];                     // of a channel
  u8 channels[2][D];                  // of a slot
  u32 stepsAt[2][MEAD_GROUPS + 1][MEAD_MOST_STEPS];   // of both groups' planes, and of those of the last tier alone
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
  // Returns the turns of token 64 of a block, the first one of its second page.
  DEVICE const float2* middleTurns(u32 block, int pairs) const {
    return pageTurns + (size_t)min(2 * block + 1, turnPages - 1) * pairs;
  }
};

// Returns a number of a table row.
template <int D> DEVICE float meadRow(const MeadCodes<D>& codes, const u8* rows, u32 row, int side, int channel) {
  const u8 two = rows[(size_t)row * D + side * (D / 2) + channel % (D / 2)];
  return fmaf((float)(channel < D / 2 ? two & 15 : two >> 4), codes.steps[side][channel], codes.lows[side][channel]);
}

// The place of a code in the fragment of its tile: a register of a lane, and the lower or upper half of it.
struct MeadField {
  int lane, reg, odd;

  DEVICE static MeadField ofKey(int slot, int row) {
    return {4 * (row % 8) + slot % 8 / 2, row / 8 + 2 * (slot % MEAD_STEP / 8), slot % 2};
  }
  DEVICE static MeadField ofValue(int slot, int row) {
    return {4 * (slot % 8) + row % 8 / 2, slot % MEAD_STEP / 8 + 2 * (row / 8), row % 2};
  }
};

// Planes of the four tiles of a group: BITS words for each lane. A code of tile t and register i starts at bit 2 t + i % 2 of
// word (2 t + i % 2) % BITS, in the lower or upper half. Registers 2 and 3 have the bytes of that half exchanged. Under a mask,
// a code is a subnormal half: 2^(2 t + i % 2 - 24) times the code, whatever the width of the plane. Two bits above another one
// start one bit higher, so that both have the same unit.
struct MeadPlanes {
  static constexpr int TILE_BITS = 128;   // bytes of a bit of the group

  DEVICE static int start(int tile, int reg, int bits, int below) { return 2 * tile + reg % 2 + (bits == 2 ? below : 0); }

  // Returns a code in its half.
  DEVICE static u32 placed(u32 code, int start, const MeadField& f) {
    const u32 half = code << start, bytes = f.reg < 2 ? half : (half << 8 | half >> 8) & 0xffff;
    return bytes << 16 * f.odd;
  }
  DEVICE static u32 codeIn(u32 word, int bits, int start, const MeadField& f) {
    const u32 half = word >> 16 * f.odd & 0xffff, own = f.reg < 2 ? half : half << 8 | half >> 8;
    return own >> start & ((1u << bits) - 1);
  }
};

// Planes of the last tile alone, for codes that are wider than those of its group: BITS bytes for each lane.
//
//   4 bits   a word like that of a group's plane of the first tile, codes at bits 6 and 10 of a half
//   2 bits   a byte of even and one of odd columns: registers 0, 2 at bits 0, 4 and registers 1, 3 at bits 2, 6
//   1 bit    even columns in bits 0 to 3 and odd ones in bits 4 to 7: registers 0, 1, 2, 3
struct MeadLastPlanes {
  static constexpr int TILE_BITS = 32;

  DEVICE static u32 placed(u32 code, int bits, const MeadField& f) {
    if (bits == 4) {
      const u32 half = code << (6 + 4 * (f.reg % 2)), bytes = f.reg < 2 ? half : (half << 8 | half >> 8) & 0xffff;
      return bytes << 16 * f.odd;
    }
    return bits == 2 ? code << (2 * (f.reg % 2) + 4 * (f.reg / 2) + 8 * f.odd) : code << (f.reg + 4 * f.odd);
  }
  DEVICE static u32 codeIn(u32 word, int bits, const MeadField& f) {
    const u32 mask = (1u << bits) - 1;
    if (bits == 4) {
      const u32 half = word >> 16 * f.odd & 0xffff, own = f.reg < 2 ? half : half << 8 | half >> 8;
      return own >> (6 + 4 * (f.reg % 2)) & mask;
    }
    return (bits == 2 ? word >> (2 * (f.reg % 2) + 4 * (f.reg / 2) + 8 * f.odd) : word >> (f.reg + 4 * f.odd)) & mask;
  }
};

// Calls plane(bits, offset of the plane, bits of the code below) for each plane of a width, the upper bits first.
// bitBytes: bytes of a plane of one bit
template <class PLANE> DEVICE void forMeadPlanes(int width, int bitBytes, const PLANE& plane) {
  int at = 0, left = width;
  auto next = [&](int bits) {
    left -= bits;
    plane(bits, at, left);
    at += bitBytes * bits;
  };
  while (left >= 4) next(4);
  if (left >= 2) next(2);
  if (left >= 1) next(1);
}

// Returns a code, which fills the upper bits of the step's width.
// width: of the group; wider: what the tile has in addition
DEVICE u32 meadCode(const u8* step, int width, const u8* last, int wider, int tile, const MeadField& f) {
  u32 code = 0;
  forMeadPlanes(width, MeadPlanes::TILE_BITS, [&](int bits, int at, int below) {
    const u32* words = reinterpret_cast<const u32*>(step + at) + bits * f.lane;
    const int start = MeadPlanes::start(tile, f.reg, bits, below);
    code = code << bits | MeadPlanes::codeIn(words[start % bits], bits, start, f);
  });
  forMeadPlanes(wider, MeadLastPlanes::TILE_BITS, [&](int bits, int at, int) {
    const u8* place = last + at + bits * f.lane;
    const u32 word = bits == 4   ? *reinterpret_cast<const u32*>(place)
                     : bits == 2 ? *reinterpret_cast<const u16*>(place)
                                 : *place;
    code = code << bits | MeadLastPlanes::codeIn(word, bits, f);
  });
  return code;
}

// The mean error of a slot: four bits of byte `at`, from bit `shift` on. A row r has those of all steps, then those of r + 8.
template <int D> struct MeadMeanPlace {
  int at, shift;
  DEVICE explicit MeadMeanPlace(int slot)
      : at((slot % 8 * 2 + slot / 8 % 2) * (D / MEAD_STEP / 2) + slot / MEAD_STEP / 2), shift(4 * (slot / MEAD_STEP % 2)) {}
};

// The token and the scales of a row. Rows of a tier are in an order in which eight consecutive tokens differ by their remainder
// modulo 8, as far as there are such: their cosines are in different banks.
struct MeadRowInfo {
  u32 bits;
  DEVICE int token() const { return bits & 127; }
  DEVICE int keyScale() const { return bits >> 7 & 7; }
  DEVICE int valueScale() const { return bits >> 10 & 7; }
  DEVICE static int at(int row) { return 2 * (2 * (row % 8 * MEAD_TILES + row / 16) + row / 8 % 2); }
};
