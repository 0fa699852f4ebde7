// The layout of pages. A page is 64 tokens of one KV head, keys and then values, in the order in which lanes hold operands
// of the matrix instruction: 16 bytes per lane, 32 lanes per chunk of 512 bytes. Fp16Page and PackedPage
// have the same layout; docs/gpu.md shows it.
#pragma once
#include "base.cuh"

// An entry of a page table: the address of the first KV head's page, a multiple of 64, and the number of tokens less one in
// the lower bits.
typedef u64 PageEntry;

DEVICE const u8* addressOf(PageEntry entry) { return reinterpret_cast<const u8*>(entry & ~63ull); }
DEVICE int tokensOf(PageEntry entry) { return (int)(entry & 63) + 1; }

// An fp16 page: four tiles of 16 tokens. A tile has D/16 chunks of keys, 16 channels each, and D/16 chunks of values, each
// with 8 channels of the lower half of the head and 8 of the upper half.
template <int D> struct HalfPage {
  static constexpr int KEY_BYTES = TILE_TOKENS * D * 2;
  static constexpr int TILE_BYTES = 2 * KEY_BYTES;
  static constexpr int BYTES = PAGE_TILES * TILE_BYTES;

  DEVICE static int keyOffset(int token, int channel) {
    const int row = token % TILE_TOKENS, column = channel % 16;
    const int lane = 4 * (row % 8) + column % 8 / 2, part = row / 8 + 2 * (column / 8);
    return token / TILE_TOKENS * TILE_BYTES + channel / 16 * 512 + 16 * lane + 4 * part + 2 * (channel & 1);
  }

  DEVICE static int valueOffset(int token, int channel) {
    const int column = token % TILE_TOKENS, row = channel % (D / 2);
    const int lane = 4 * (row % 8) + column % 8 / 2, part = channel / (D / 2) + 2 * (column / 8);
    return token / TILE_TOKENS * TILE_BYTES + KEY_BYTES + row / 8 * 512 + 16 * lane + 4 * part + 2 * (token & 1);
  }
};

// Codes of BITS bits with a scale and a zero for 32 of them: keys per channel over 32 tokens, values per token over 32
// channels.
//
//   key codes | key scales | key zeros | value codes | value scales | value zeros
//
// Codes of 3 bits are their lower two bits, as codes of 2 bits, then their upper bits, as codes of one.
//
// Rows 0-7 of an operand are the first 32 tokens of the page (for values: the lower half of the head's channels), rows 8-15
// the others. The first four columns of the other operand can then carry the scales of one group and the last four those of
// the other.
template <int BITS, int D> struct PackedPage {
  static constexpr int GROUPS = D / 32;                         // of channels
  static constexpr int PAIRS = D == 96 ? 3 : D / 64;            // of a lower and an upper group that share rows of values
  static constexpr int WORDS = D * BITS / 64;                   // of value codes for 16 tokens, per lane
  static constexpr int CODE_BYTES = PAGE_TOKENS * D * BITS / 8;
  static constexpr int KEY_SCALE_BYTES = 2 * D * 2;
  static constexpr int VALUE_SCALE_BYTES = 256 * PAIRS;         // a group is stored once for each of its pairs
  static constexpr int VALUE_ZERO_BYTES = PAGE_TOKENS * GROUPS * 2;
  static constexpr int KEY_BYTES = CODE_BYTES + 2 * KEY_SCALE_BYTES;
  static constexpr int VALUE_BYTES = CODE_BYTES + VALUE_SCALE_BYTES + VALUE_ZERO_BYTES;
  static constexpr int BYTES = KEY_BYTES + VALUE_BYTES;
  static_assert(BYTES % 128 == 0, "pages follow each other aligned");

  // The pair of groups of word u of values, and the two groups of a pair.
  static constexpr __host__ __device__ int pairOf(int u) { return u * PAIRS / WORDS; }
  static constexpr __host__ __device__ int lowerGroup(int pair) { return pair * (D / 32) / PAIRS / 2; }
  static constexpr __host__ __device__ int upperGroup(int pair) { return (D / 2 + 16 * (pair * (D / 32) / PAIRS)) / 32; }
};

// Widths of codes that are known when a kernel runs. dev.kvasir.cuda.formats.kivi.CodeWidths has them in the same bits.
struct CodeWidths {
  u32 keys, values;

  DEVICE explicit CodeWidths(u32 both) : keys(both & 0xff), values(both >> 8) {}

  // The sizes of a PackedPage with these widths.
  template <int D> DEVICE int keyBytes() const { return PackedPage<1, D>::KEY_BYTES + (keys - 1) * PackedPage<1, D>::CODE_BYTES; }
  template <int D> DEVICE int valueBytes() const {
    return PackedPage<1, D>::VALUE_BYTES + (values - 1) * PackedPage<1, D>::CODE_BYTES;
  }
  template <int D> DEVICE int bytes() const { return keyBytes<D>() + valueBytes<D>(); }
};

// Calls a function with a width as a constant, as in `work(Bits<4>())`.
template <int BITS> struct Bits { static constexpr int WIDTH = BITS; };

template <class WORK> DEVICE void withBits(u32 bits, const WORK& work) {
  switch (bits) {
    case 1: work(Bits<1>()); break;
    case 2: work(Bits<2>()); break;
    case 3: work(Bits<3>()); break;
    case 4: work(Bits<4>()); break;
    default: work(Bits<8>());
  }
}

// Codes as in PackedPage, where all channels of a key share a scale and a zero.
//
//   key codes | key scales and zeros | value codes | value scales | value zeros
//
// Row r of the tiles of either group of 32 tokens has 16 bytes: the scales of its tokens 8i + r, then their zeros.
template <int BITS, int D> struct TokenPage {
  using Codes = PackedPage<BITS, D>;
  static constexpr int CODE_BYTES = Codes::CODE_BYTES;
  static constexpr int KEY_SCALE_BYTES = PAGE_TOKENS * 4;
  static constexpr int KEY_BYTES = CODE_BYTES + KEY_SCALE_BYTES;
  static constexpr int VALUE_BYTES = Codes::VALUE_BYTES;
  static constexpr int BYTES = KEY_BYTES + VALUE_BYTES;
  static_assert(BYTES % 128 == 0, "pages follow each other aligned");

  DEVICE static int scaleAt(int token) { return CODE_BYTES + 16 * (8 * (token / 32) + token % 8) + 2 * (token % 32 / 8); }
  DEVICE static int zeroAt(int token) { return scaleAt(token) + 8; }
};

// Codes of the residuals of keys and values from patterns, with the pattern of each as a byte; NO_PATTERN means none.
//
//   key codes | scales | zeros | key patterns, 64 bytes | value codes | scales | zeros | value patterns, 64 bytes
constexpr int NO_PATTERN = 255;

template <int BITS, int D> struct PatternPage {
  using Codes = PackedPage<BITS, D>;
  static constexpr int KEY_BYTES = Codes::KEY_BYTES + PAGE_TOKENS;
  static constexpr int VALUE_BYTES = Codes::VALUE_BYTES + PAGE_TOKENS;
  static constexpr int BYTES = KEY_BYTES + VALUE_BYTES;
};

// 32 patterns of keys and 32 of values, rows of D halves. A sequence has up to eight such pages.
constexpr int BANK_PATTERNS = 32;
constexpr int MOST_BANKS = 8;

template <int D> struct BankPage {
  static constexpr int SIDE_BYTES = BANK_PATTERNS * D * 2;
  static constexpr int BYTES = 2 * SIDE_BYTES;
};

// 2-bit codes; wide key channels are zero here and stored elsewhere.
//
//   key codes | scales | zeros | header | value codes | scales | zeros
//
//   header      u64 address of wide channels; u32 number of 4-bit channels; u32 number of bf16 channels
//   channels    bytes: 4-bit channels, zeros up to a multiple of 16, then bf16 channels
constexpr int STEP_CHANNELS = 16;   // of a matrix instruction

template <int D> struct MixedPage {
  using Codes = PackedPage<2, D>;
  static constexpr int HEADER_BYTES = 64 + D;
  static constexpr int CHANNELS_AT = 16;   // in the header
  static constexpr int KEY_BYTES = Codes::KEY_BYTES + HEADER_BYTES;
  static constexpr int VALUE_BYTES = Codes::VALUE_BYTES;
  static constexpr int BYTES = KEY_BYTES + VALUE_BYTES;
};

// The wide channels of a page, at an address that is a multiple of 128.
//
//   a step of 16 4-bit channels   codes, as in a 4-bit page, 512 | scales 64 | zeros 64
//   a bf16 channel                64 bf16 numbers: for each row of a tile and group of 32 tokens, those of the four tiles
struct WiderChannels {
  static constexpr int CODE_BYTES = 512;
  static constexpr int SCALE_BYTES = 64;
  static constexpr int STEP_BYTES = CODE_BYTES + 2 * SCALE_BYTES;
  static constexpr int KEPT_BYTES = 2 * PAGE_TOKENS;

  // Returns the offset within a step of the scales of two channels, and of the two 8 further, for a group of 32 tokens.
  DEVICE static int scaleAt(int group, int quad) { return CODE_BYTES + 8 * (4 * group + quad); }
  DEVICE static int zeroAt(int quad) { return CODE_BYTES + SCALE_BYTES + 16 * quad; }

  // Returns the offset of a bf16 channel's numbers of a row and group: one for each of the four tiles.
  DEVICE static int keptAt(int row, int group) { return 8 * (row + 8 * group); }
};
