// Quantizes pages to patterns and residuals (PatternKV), with the same bits as the host codec. Three kernels: one adds the
// new pattern of a block, one picks a pattern for each key and value, one quantizes what is left.
#pragma once
#include "patterns.cuh"
#include "rotary.cuh"
#include "store.cuh"

// The patterns of a block being quantized: the existing ones, and the index of its new one, MOST_PATTERNS for none.
struct BlockBank {
  u64 pages[MOST_BANKS];
  u32 count, fresh;
  u64 turn;   // number of the block's first position in the table of angles

  template <int D> DEVICE u8* pattern(int index, size_t offset, int side) const {
    return reinterpret_cast<u8*>(pages[index / BANK_PATTERNS]) + offset + side * BankPage<D>::SIDE_BYTES +
           index % BANK_PATTERNS * D * 2;
  }
};

// What the kernels of quantization share; PatternPageQuantizer fills it in. Strides lead from a layer's pages to the next.
struct Patterning {
  const Packing* packings;
  const BlockBank* banks;
  u64 halfStride, packedStride, bankStride;
  const u8* rotation;   // RotaryTables; null if key patterns do not rotate
  u32 sides;            // that have patterns
  u32 choice;           // of a key's pattern, as dev.kvasir.codec.patternkv.PatternChoice: 0 range, 1 distance, 2 peaks
};

// Offsets from the pages of the first layer and KV head to this block's pages.
template <int BITS, int D> struct PatternPlaces {
  size_t halves, packed, banks;
  DEVICE PatternPlaces(int layer, u64 halfStride, u64 packedStride, u64 bankStride)
      : halves(layer * halfStride + (size_t)blockIdx.y * HalfPage<D>::BYTES),
        packed(layer * packedStride + (size_t)blockIdx.y * PatternPage<BITS, D>::BYTES),
        banks(layer * bankStride + (size_t)blockIdx.y * BankPage<D>::BYTES) {}

  DEVICE PatternPlaces(int layer, const Patterning& p) : PatternPlaces(layer, p.halfStride, p.packedStride, p.bankStride) {}

  DEVICE static u8* keyPatterns(u8* page) { return page + PatternPage<BITS, D>::Codes::KEY_BYTES; }
  DEVICE static u8* valuePatterns(u8* page) { return page + PatternPage<BITS, D>::BYTES - PAGE_TOKENS; }
};

// Reads the vectors of a block of two pages as patterns are compared with them, in the order of a stored pattern.
template <int D> struct BlockVectors {
  const RotaryTables<D> rotation;
  int side;
  u32 turn;

  DEVICE bool rotates() const { return side == 0 && !rotation.none(); }

  // Returns two elements, at 2 column and 2 column + 1; of rotated keys x and y of a pair.
  DEVICE float2 two(const u8* page, int offset, int column) const {
    if (rotates()) return rotation.unrotated(page, offset, turn, column);
    const int token = offset % PAGE_TOKENS, channel = 2 * column;
    const int at = side == 0 ? HalfPage<D>::keyOffset(token, channel) : HalfPage<D>::valueOffset(token, channel);
    const int next = side == 0 ? HalfPage<D>::keyOffset(token, channel + 1) : HalfPage<D>::valueOffset(token, channel + 1);
    return float2{toFloat(*reinterpret_cast<const u16*>(page + at)), toFloat(*reinterpret_cast<const u16*>(page + next))};
  }

  DEVICE int2 channels(int column) const {
    return rotates() ? int2{rotation.channel(column, 0), rotation.channel(column, 1)} : int2{2 * column, 2 * column + 1};
  }

  // Returns the places of the two elements in a stored pattern.
  DEVICE int2 places(int column) const {
    if (!rotates()) return int2{2 * column, 2 * column + 1};
    const int first = RotaryTables<D>::placeOf(column);
    return int2{first, first + 2};
  }
};

// Adds the midpoint of each channel's range over a block of two pages: grid (blocks, KV heads, 2 * layers), D / 2 threads.
template <int BITS, int D> DEVICE void growBank(const Patterning& p) {
  letNextBegin();
  awaitPrevious();
  const BlockBank& bank = p.banks[blockIdx.x];
  const int side = blockIdx.z % 2, column = threadIdx.x;
  if (bank.fresh == MOST_PATTERNS || !hasPatterns(p.sides, side)) return;
  const PatternPlaces<BITS, D> places(blockIdx.z / 2, p);
  const BlockVectors<D> vectors{{p.rotation}, side, (u32)bank.turn};
  float2 least{-minusInfinity(), -minusInfinity()}, most{minusInfinity(), minusInfinity()};
  for (int token = 0; token < ROTARY_BLOCK; token++) {
    const u8* page = reinterpret_cast<const u8*>(p.packings[2 * blockIdx.x + token / PAGE_TOKENS].from) + places.halves;
    const float2 x = vectors.two(page, token, column);
    least = float2{fminf(least.x, x.x), fminf(least.y, x.y)};
    most = float2{fmaxf(most.x, x.x), fmaxf(most.y, x.y)};
  }
  u16* pattern = reinterpret_cast<u16*>(bank.pattern<D>(bank.fresh, places.banks, side));
  const int2 to = vectors.places(column);
  pattern[to.x] = toHalf(__fadd_rn(least.x, most.x) / 2.f);
  pattern[to.y] = toHalf(__fadd_rn(least.y, most.y) / 2.f);
}

// Returns the sum of squares of a residual, or of fourth powers, in the order of channels.
// places: of the channels in both rows
template <int D> DEVICE float powersOf(const float* row, const u16* pattern, const u8* places, bool fourth) {
  float sum = 0.f;
#pragma unroll 4
  for (int channel = 0; channel < D; channel++) {
    const int at = places[channel];
    const float residual = __fsub_rn(row[at], toFloat(pattern[at])), square = __fmul_rn(residual, residual);
    sum = __fadd_rn(sum, fourth ? __fmul_rn(square, square) : square);
  }
  return sum;
}

// Picks the pattern that leaves the smallest residual of each key or value, like
// dev.kvasir.codec.patternkv.NearestPattern: grid (pages, KV heads, 2 * layers), 256 threads, four per token.
// ratio: maximum of the remaining range relative to a value's range; infinite for no limit
template <int BITS, int D> DEVICE void labelPage(const Patterning& p, double ratio) {
  constexpr float LARGEST = 46000.f;   // of a residual
  constexpr int COLUMNS = D / 2;
  __shared__ float rows[PAGE_TOKENS][D + 1];   // the next row starts in the next bank
  __shared__ u8 placeOf[D];                    // of a channel in a stored pattern
  letNextBegin();
  awaitPrevious();
  const BlockBank& bank = p.banks[blockIdx.x / 2];
  const int side = blockIdx.z % 2, token = threadIdx.x / 4, part = threadIdx.x % 4;
  const PatternPlaces<BITS, D> places(blockIdx.z / 2, p);
  const Packing& packing = p.packings[blockIdx.x];
  u8* page = reinterpret_cast<u8*>(packing.to) + places.packed;
  u8* labels = side == 0 ? PatternPlaces<BITS, D>::keyPatterns(page) : PatternPlaces<BITS, D>::valuePatterns(page);
  if (!hasPatterns(p.sides, side)) {
    if (part == 0) labels[token] = NO_PATTERN;
    return;
  }
  const BlockVectors<D> vectors{{p.rotation}, side, (u32)bank.turn};
  const u8* from = reinterpret_cast<const u8*>(packing.from) + places.halves;
  for (int i = threadIdx.x; i < PAGE_TOKENS * COLUMNS; i += blockDim.x) {
    const int row = i / COLUMNS;
    const float2 x = vectors.two(from, blockIdx.x % 2 * PAGE_TOKENS + row, i % COLUMNS);
    const int2 to = vectors.places(i % COLUMNS);
    rows[row][to.x] = x.x;
    rows[row][to.y] = x.y;
    if (row == 0) {
      const int2 channels = vectors.channels(i);
      placeOf[channels.x] = (u8)to.x;
      placeOf[channels.y] = (u8)to.y;
    }
  }
  __syncthreads();
  const u32 choice = side == 0 ? p.choice : 0;
  int best = NO_PATTERN, bestFits = 0;
  float bestSize = -minusInfinity();   // of the residual: its range, or a sum of powers
#pragma unroll 1
  for (int each = part; each < bank.count; each += 4) {
    const u32* pattern = reinterpret_cast<const u32*>(bank.pattern<D>(each, places.banks, side));
    float least = -minusInfinity(), most = minusInfinity();
#pragma unroll 8
    for (int c = 0; c < COLUMNS; c++) {
      const u32 both = pattern[c];
      const float low = __fsub_rn(rows[token][2 * c], toFloat((u16)both));
      const float high = __fsub_rn(rows[token][2 * c + 1], toFloat((u16)(both >> 16)));
      least = fminf(least, fminf(low, high));
      most = fmaxf(most, fmaxf(low, high));
    }
    const bool fits = least >= -LARGEST && most <= LARGEST;
    const float size = choice == 0 ? __fsub_rn(most, least)
                                   : powersOf<D>(rows[token], reinterpret_cast<const u16*>(pattern), placeOf, choice == 2);
    if (size < bestSize && (fits || choice != 0)) {
      best = each;
      bestFits = fits;
      bestSize = size;
    }
  }
  float least = -minusInfinity(), most = minusInfinity();
  for (int c = part; c < D; c += 4) {
    least = fminf(least, rows[token][c]);
    most = fmaxf(most, rows[token][c]);
  }
#pragma unroll
  for (int s = 1; s < 4; s <<= 1) {
    const float size = __shfl_xor_sync(ALL_LANES, bestSize, s);
    const int other = __shfl_xor_sync(ALL_LANES, best, s), fits = __shfl_xor_sync(ALL_LANES, bestFits, s);
    if (size < bestSize || (size == bestSize && other < best)) {
      best = other;
      bestFits = fits;
      bestSize = size;
    }
    least = fminf(least, __shfl_xor_sync(ALL_LANES, least, s));
    most = fmaxf(most, __shfl_xor_sync(ALL_LANES, most, s));
  }
  const bool bounded = side == 1 && ratio < 1e300;
  if (bounded && !((double)bestSize <= ratio * (double)__fsub_rn(most, least))) bestFits = 0;
  if (!bestFits) best = NO_PATTERN;
  if (part == 0) labels[token] = (u8)best;
}

// Returns an element of a token's pattern, at the token's position.
template <int D> struct LabelledPatterns {
  const BlockBank& bank;
  size_t offset;
  int side;
  const u8* labels;
  int firstToken;   // of the page in its block
  const RotaryTables<D> rotation;

  DEVICE float operator()(int token, int channel) const {
    const int pattern = labels[token];
    if (pattern >= (int)bank.count) return 0.f;   // always for NO_PATTERN
    const u16* row = reinterpret_cast<const u16*>(bank.pattern<D>(pattern, offset, side));
    return side == 0 && !rotation.none() ? rotation.rotatedPattern(row, firstToken + token, (u32)bank.turn, channel)
                                         : toFloat(row[channel]);
  }
};

template <int D, class NUMBERS> struct Residuals {
  NUMBERS numbers;
  LabelledPatterns<D> patterns;
  DEVICE float operator()(int token, int channel) const { return __fsub_rn(numbers(token, channel), patterns(token, channel)); }
};

// Quantizes the residuals of labelled keys and values; groups are those of packPage.
template <int BITS, int D> DEVICE void packResiduals(const Patterning& p, u32 keyGroup, u32 valueGroup) {
  using Page = PatternPage<BITS, D>;
  using Places = PatternPlaces<BITS, D>;
  letNextBegin();
  awaitPrevious();
  extern __shared__ __align__(128) u8 dynamicMemory[];
  PackingMemory<D>& m = *reinterpret_cast<PackingMemory<D>*>(dynamicMemory);
  const Places places(blockIdx.z, p);
  const BlockBank& bank = p.banks[blockIdx.x / 2];
  const bool shares = keyGroup == ROTARY_BLOCK;   // with the other page of the block
  const int own = blockIdx.x % 2 * PAGE_TOKENS, its = shares ? PAGE_TOKENS - own : own;
  const Packing& mine = p.packings[blockIdx.x];
  const Packing& next = shares ? p.packings[blockIdx.x ^ 1] : mine;
  const u8* from = reinterpret_cast<const u8*>(mine.from) + places.halves;
  const u8* other = reinterpret_cast<const u8*>(next.from) + places.halves;
  u8* to = reinterpret_cast<u8*>(mine.to) + places.packed;
  u8* otherTo = reinterpret_cast<u8*>(next.to) + places.packed;
  const RotaryTables<D> rotation{p.rotation};
  loadKeys<D>(from, m.rows);
  __syncthreads();
  packKeys<StepSpan<BITS>, D>(
      m,
      Residuals<D, PlainRows<D>>{PlainRows<D>{m},
                                 LabelledPatterns<D>{bank, places.banks, 0, Places::keyPatterns(to), own, rotation}},
      Residuals<D, PlainKeys<D>>{PlainKeys<D>{other},
                                 LabelledPatterns<D>{bank, places.banks, 0, Places::keyPatterns(otherTo), its, rotation}},
      reinterpret_cast<u32*>(to), keyGroup);
  __syncthreads();
  loadValues<D>(from, m.rows);
  __syncthreads();
  packValues<StepSpan<BITS>, D>(
      m,
      Residuals<D, PlainRows<D>>{PlainRows<D>{m},
                                 LabelledPatterns<D>{bank, places.banks, 1, Places::valuePatterns(to), own, rotation}},
      reinterpret_cast<u32*>(to + Page::KEY_BYTES), valueGroup);
}

// 256 threads: dequantizes packed pages.
template <int BITS, int D>
DEVICE void addToResiduals(const Unpacking& unpacking, const BlockBank* banks, u64 bankStride, const u8* rotation) {
  using Places = PatternPlaces<BITS, D>;
  letNextBegin();
  awaitPrevious();
  if (unpacking.none()) return;
  const Places places(unpacking.layer(), unpacking.halfStride, unpacking.packedStride, bankStride);
  const BlockBank& bank = banks[blockIdx.x / 2];
  const int first = blockIdx.x % 2 * PAGE_TOKENS;
  u8* halves = unpacking.halves<D>();
  u8* page = unpacking.packed(PatternPage<BITS, D>::BYTES);
  const LabelledPatterns<D> keys{bank, places.banks, 0, Places::keyPatterns(page), first, {rotation}};
  const LabelledPatterns<D> values{bank, places.banks, 1, Places::valuePatterns(page), first, {rotation}};
  const u8* behindLabels = page + PAGE_TOKENS;   // values are shifted by the labels of keys
  writeHalves<D>(
      halves,
      [&](int token, int channel) { return PackedPlaces<BITS, D>::key(page, token, channel) + keys(token, channel); },
      [&](int token, int channel) {
        return PackedPlaces<BITS, D>::value(behindLabels, token, channel) + values(token, channel);
      });
}
