// Keys and values as residuals from patterns (PatternKV). A score is the sum of the code's score and of the pattern's,
// which is in a table of the query with all patterns. Weights of values are summed by pattern, and patterns are added once,
// after all blocks. Patterns belong to a sequence; their pages follow the fp16 pages in the page table.
#pragma once
#include "attend.cuh"
#include "store.cuh"

constexpr int MOST_PATTERNS = BANK_PATTERNS * MOST_BANKS;   // including NO_PATTERN

// PatternScoreKernels fills it in.
struct PatternTables {
  const Sequence* sequences;
  const PageEntry* table;
  const u16* queries;    // (sequences, query heads, D)
  u16* outputs;          // (sequences, query heads, D)
  float* scores;         // (sequences, query heads, MOST_PATTERNS)
  const float* mixed;    // (sequences, query heads, D + MOST_PATTERNS): outputs of codes, weights of patterns
  u64 offset;            // of this layer's banks
  float scale;           // factor of scores
  u32 sharing;

  // Returns the entries of the bank pages, which follow the other pages.
  DEVICE const PageEntry* banks(const Sequence& s) const { return table + s.firstEntry + s.packedPages + s.halfPages; }
};

// Computes scores of all queries with all key patterns: grid (MOST_BANKS, KV heads, sequences), 256 threads.
template <int D> DEVICE void scorePatterns(const PatternTables& t) {
  constexpr int CHANNELS = D / 32;   // per lane, two or four
  letNextBegin();
  awaitPrevious();
  const Sequence sequence = t.sequences[blockIdx.z];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, bank = blockIdx.x;
  const size_t row = ((size_t)blockIdx.z * gridDim.y + blockIdx.y) * t.sharing;
  float* scores = t.scores + row * MOST_PATTERNS + bank * BANK_PATTERNS;
  if (bank == MOST_BANKS - 1) {
    for (int head = threadIdx.x; head < t.sharing; head += blockDim.x) scores[head * MOST_PATTERNS + BANK_PATTERNS - 1] = 0.f;
  }
  if (bank >= sequence.tablePages) return;
  const PageEntry entry = t.banks(sequence)[bank];
  const u8* patterns = addressOf(entry) + t.offset + (size_t)blockIdx.y * BankPage<D>::BYTES;
  const u16* queries = t.queries + row * D;
  for (int p = warp; p < tokensOf(entry); p += blockDim.x / 32) {
    const u16* pattern = reinterpret_cast<const u16*>(patterns) + p * D + CHANNELS * lane;
    for (int head = 0; head < t.sharing; head++) {
      const u16* query = queries + head * D + CHANNELS * lane;
      float sum = 0.f;
#pragma unroll
      for (int c = 0; c < CHANNELS; c++) sum = fmaf(toFloat(query[c]), toFloat(pattern[c]), sum);
#pragma unroll
      for (int s = 16; s > 0; s >>= 1) sum += __shfl_xor_sync(ALL_LANES, sum, s);
      if (lane == 0) scores[head * MOST_PATTERNS + p] = sum * t.scale;
    }
  }
}

// Adds the value patterns to outputs: grid (query heads of a KV head, KV heads, sequences), 256 threads.
template <int D> DEVICE void addPatterns(const PatternTables& t) {
  constexpr int COLUMNS = D / 2, TEAMS = 256 / COLUMNS;   // of two channels; a team takes every TEAMS-th pattern
  __shared__ float2 parts[TEAMS][COLUMNS];
  letNextBegin();
  awaitPrevious();
  const Sequence sequence = t.sequences[blockIdx.z];
  const int column = threadIdx.x % COLUMNS, team = threadIdx.x / COLUMNS;
  const size_t row = ((size_t)blockIdx.z * gridDim.y + blockIdx.y) * t.sharing + blockIdx.x;
  const float* mixed = t.mixed + row * (D + MOST_PATTERNS);
  const float* weights = mixed + D;
  float2 sum = {0.f, 0.f};
  for (int bank = 0; bank < sequence.tablePages; bank++) {
    const PageEntry entry = t.banks(sequence)[bank];
    const u8* patterns = addressOf(entry) + t.offset + (size_t)blockIdx.y * BankPage<D>::BYTES + BankPage<D>::SIDE_BYTES;
    for (int p = team; p < tokensOf(entry); p += TEAMS) {
      const float weight = weights[bank * BANK_PATTERNS + p];
      const u32 both = reinterpret_cast<const u32*>(patterns)[p * COLUMNS + column];
      sum.x = fmaf(weight, toFloat((u16)both), sum.x);
      sum.y = fmaf(weight, toFloat((u16)(both >> 16)), sum.y);
    }
  }
  parts[team][column] = sum;
  __syncthreads();
  if (team > 0) return;
  float low = mixed[2 * column], high = mixed[2 * column + 1];
#pragma unroll
  for (int i = 0; i < TEAMS; i++) {
    low += parts[i][column].x;
    high += parts[i][column].y;
  }
  reinterpret_cast<u32*>(t.outputs + row * D)[column] = toHalves(low, high);
}

// The outputs of warps: outputs of codes, and a table of weights each.
template <int D> struct PatternOutputs {
  static constexpr int WIDTH = D + MOST_PATTERNS;
  float* memory;         // (warps, 4, D)
  const float* weights;  // (warps, MOST_PATTERNS, 4)
  float* mixed;          // of the block's first head

  DEVICE float4 of(int warp, int column) const {
    const int head = column / (WIDTH / 4), place = column % (WIDTH / 4);
    if (place < D / 4) return reinterpret_cast<float4*>(memory)[(warp * 4 + head) * (D / 4) + place];
    const float* four = weights + (warp * MOST_PATTERNS + 4 * (place - D / 4)) * 4 + head;
    return float4{four[0], four[4], four[8], four[12]};
  }
  DEVICE void store(int column, float4 x) const { reinterpret_cast<float4*>(mixed)[column] = x; }
};

// The pattern part of keys and values, for one set of four heads. Shared memory: a table of scores for the block, and one
// of weights for each warp. Both are (MOST_PATTERNS, 4 heads), so that a lane's two heads are adjacent.
template <int BITS, int D> struct PatternPart {
  using Page = PatternPage<BITS, D>;
  static constexpr int TABLE_BYTES = MOST_PATTERNS * 4 * 4;
  float* scores;
  float* all;       // weights of the first warp
  float* weights;   // of this warp

  DEVICE PatternPart(const Attention& a, const Work& work, u8* memory) {
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    scores = reinterpret_cast<float*>(memory);
    all = reinterpret_cast<float*>(memory + TABLE_BYTES);
    weights = all + warp * MOST_PATTERNS * 4;
    const float* from = reinterpret_cast<const float*>(a.tables) + work.row(a) * MOST_PATTERNS;
#pragma unroll 1
    for (int i = threadIdx.x; i < 4 * MOST_PATTERNS; i += blockDim.x) {
      const int head = i / MOST_PATTERNS, pattern = i % MOST_PATTERNS;
      scores[4 * pattern + head] = head < work.heads ? __ldcg(from + i) : 0.f;
    }
#pragma unroll 1
    for (int i = lane; i < 4 * MOST_PATTERNS; i += 32) weights[i] = 0.f;
    __syncthreads();
  }

  // Returns the token of x0[i] and x1[i] in a lane.
  DEVICE static int token(int i, int lane) { return 8 * i + (lane >> 2) + (Twice::upper(lane) ? 32 : 0); }

  DEVICE static u32 patternAt(u32 address) {
    u32 pattern;
    asm volatile("ld.shared.u8 %0, [%1];" : "=r"(pattern) : "r"(address));
    return pattern;
  }

  DEVICE void begin(u32, int) const {}

  DEVICE void addScores(u32 keys, int lane, float (&x0)[1][4], float (&x1)[1][4]) const {
#pragma unroll
    for (int i = 0; i < 4; i++) {
      const u32 pattern = patternAt(keys + Page::Codes::KEY_BYTES + token(i, lane));
      const float2 both = *reinterpret_cast<const float2*>(scores + 4 * pattern + Twice::firstHead(lane));
      x0[0][i] += both.x;
      x1[0][i] += both.y;
    }
  }

  // Lanes with the same two heads have the same factors.
  DEVICE void shrink(int lane, float factor0, float factor1) const {
    __syncwarp();
#pragma unroll 1
    for (int pattern = lane >> 1; pattern < MOST_PATTERNS; pattern += 16) {
      float2* both = reinterpret_cast<float2*>(weights + 4 * pattern + Twice::firstHead(lane));
      *both = float2{both->x * factor0, both->y * factor1};
    }
    __syncwarp();
  }

  // Tokens of a warp may have the same pattern.
  DEVICE void collect(u32 values, int lane, const u32 (&own)[4]) const {
#pragma unroll
    for (int i = 0; i < 4; i++) {
      const u32 pattern = patternAt(values + Page::Codes::VALUE_BYTES + token(i, lane));
      if (pattern != NO_PATTERN) {
        float* sums = weights + 4 * pattern + Twice::firstHead(lane);
        atomicAdd(sums, toFloat((u16)own[i]));
        atomicAdd(sums + 1, toFloat((u16)(own[i] >> 16)));
      }
    }
  }

  DEVICE PatternOutputs<D> outputs(const Attention& a, const Work& work, float* memory) const {
    return {memory, all, reinterpret_cast<float*>(a.collected) + work.row(a) * (D + MOST_PATTERNS)};
  }
};

// The patterns of a block being quantized: the existing ones, and the index of its new one, MOST_PATTERNS for none.
struct BlockBank {
  u64 pages[MOST_BANKS];
  u32 count, fresh;

  template <int D> DEVICE u8* pattern(int index, size_t offset, int side) const {
    return reinterpret_cast<u8*>(pages[index / BANK_PATTERNS]) + offset + side * BankPage<D>::SIDE_BYTES +
           index % BANK_PATTERNS * D * 2;
  }
};

// Offsets from the pages of the first layer and KV head to this block's pages.
template <int BITS, int D> struct PatternPlaces {
  size_t halves, packed, banks;
  DEVICE PatternPlaces(int layer, u64 halfStride, u64 packedStride, u64 bankStride)
      : halves(layer * halfStride + (size_t)blockIdx.y * HalfPage<D>::BYTES),
        packed(layer * packedStride + (size_t)blockIdx.y * PatternPage<BITS, D>::BYTES),
        banks(layer * bankStride + (size_t)blockIdx.y * BankPage<D>::BYTES) {}

  DEVICE static u8* keyPatterns(u8* page) { return page + PatternPage<BITS, D>::Codes::KEY_BYTES; }
  DEVICE static u8* valuePatterns(u8* page) { return page + PatternPage<BITS, D>::BYTES - PAGE_TOKENS; }
};

// Adds the midpoint of each channel's range over a block of two pages: grid (blocks, KV heads, 2 * layers), D threads.
template <int BITS, int D>
DEVICE void growBank(const Packing* packings, const BlockBank* banks, u64 halfStride, u64 packedStride, u64 bankStride) {
  letNextBegin();
  awaitPrevious();
  const BlockBank& bank = banks[blockIdx.x];
  if (bank.fresh == MOST_PATTERNS) return;
  const int side = blockIdx.z % 2, channel = threadIdx.x;
  const PatternPlaces<BITS, D> places(blockIdx.z / 2, halfStride, packedStride, bankStride);
  float least = -minusInfinity(), most = minusInfinity();
  for (int token = 0; token < 2 * PAGE_TOKENS; token++) {
    const u8* page = reinterpret_cast<const u8*>(packings[2 * blockIdx.x + token / PAGE_TOKENS].from) + places.halves;
    const int at = side == 0 ? HalfPage<D>::keyOffset(token % PAGE_TOKENS, channel)
                             : HalfPage<D>::valueOffset(token % PAGE_TOKENS, channel);
    const float x = toFloat(*reinterpret_cast<const u16*>(page + at));
    least = fminf(least, x);
    most = fmaxf(most, x);
  }
  reinterpret_cast<u16*>(bank.pattern<D>(bank.fresh, places.banks, side))[channel] = toHalf(__fadd_rn(least, most) / 2.f);
}

// Picks the pattern that leaves the smallest range of each key or value, like dev.kvasir.codec.patternkv.NearestPattern:
// grid (pages, KV heads, 2 * layers), 256 threads, four per token.
// ratio: maximum of the remaining range relative to a value's range; infinite for no limit
template <int BITS, int D>
DEVICE void labelPage(const Packing* packings, const BlockBank* banks, u64 halfStride, u64 packedStride, u64 bankStride,
                      double ratio) {
  constexpr float LARGEST = 46000.f;   // of a residual
  __shared__ __align__(4) u16 rows[PAGE_TOKENS][D + 2];   // the next row starts in the next bank
  letNextBegin();
  awaitPrevious();
  const BlockBank& bank = banks[blockIdx.x / 2];
  const int side = blockIdx.z % 2, token = threadIdx.x / 4, part = threadIdx.x % 4;
  const PatternPlaces<BITS, D> places(blockIdx.z / 2, halfStride, packedStride, bankStride);
  const u8* from = reinterpret_cast<const u8*>(packings[blockIdx.x].from) + places.halves;
  if (side == 0) loadKeys<D>(from, rows);
  else loadValues<D>(from, rows);
  __syncthreads();
  int best = NO_PATTERN;
  float bestRange = -minusInfinity();
#pragma unroll 1
  for (int p = part; p < bank.count; p += 4) {
    const u32* pattern = reinterpret_cast<const u32*>(bank.pattern<D>(p, places.banks, side));
    float least = -minusInfinity(), most = minusInfinity();
#pragma unroll 8
    for (int c = 0; c < D / 2; c++) {
      const u32 both = pattern[c], mine = *reinterpret_cast<const u32*>(&rows[token][2 * c]);
      const float low = __fsub_rn(toFloat((u16)mine), toFloat((u16)both));
      const float high = __fsub_rn(toFloat((u16)(mine >> 16)), toFloat((u16)(both >> 16)));
      least = fminf(least, fminf(low, high));
      most = fmaxf(most, fmaxf(low, high));
    }
    const float range = __fsub_rn(most, least);
    if (range < bestRange && least >= -LARGEST && most <= LARGEST) {
      best = p;
      bestRange = range;
    }
  }
  float least = -minusInfinity(), most = minusInfinity();
  for (int c = part; c < D; c += 4) {
    least = fminf(least, toFloat(rows[token][c]));
    most = fmaxf(most, toFloat(rows[token][c]));
  }
#pragma unroll
  for (int s = 1; s < 4; s <<= 1) {
    const float range = __shfl_xor_sync(ALL_LANES, bestRange, s);
    const int other = __shfl_xor_sync(ALL_LANES, best, s);
    if (range < bestRange || (range == bestRange && other < best)) {
      best = other;
      bestRange = range;
    }
    least = fminf(least, __shfl_xor_sync(ALL_LANES, least, s));
    most = fmaxf(most, __shfl_xor_sync(ALL_LANES, most, s));
  }
  const bool bounded = side == 1 && ratio < 1e300;
  if (bounded && best != NO_PATTERN && !((double)bestRange <= ratio * (double)__fsub_rn(most, least))) best = NO_PATTERN;
  if (part == 0) {
    u8* page = reinterpret_cast<u8*>(packings[blockIdx.x].to) + places.packed;
    u8* labels = side == 0 ? PatternPlaces<BITS, D>::keyPatterns(page) : PatternPlaces<BITS, D>::valuePatterns(page);
    labels[token] = (u8)best;
  }
}

// Returns an element of a token's pattern.
template <int D> struct LabelledPatterns {
  const BlockBank& bank;
  size_t offset;
  int side;
  const u8* labels;
  DEVICE float operator()(int token, int channel) const {
    const int pattern = labels[token];
    return pattern < (int)bank.count   // never true for NO_PATTERN
               ? toFloat(reinterpret_cast<const u16*>(bank.pattern<D>(pattern, offset, side))[channel])
               : 0.f;
  }
};

template <int D, class NUMBERS> struct Residuals {
  NUMBERS numbers;
  LabelledPatterns<D> patterns;
  DEVICE float operator()(int token, int channel) const { return __fsub_rn(numbers(token, channel), patterns(token, channel)); }
};

// Quantizes the residuals of labelled keys and values; groups are those of packPage.
template <int BITS, int D>
DEVICE void packResiduals(const Packing* packings, const BlockBank* banks, u64 halfStride, u64 packedStride, u64 bankStride,
                          u32 keyGroup, u32 valueGroup) {
  using Page = PatternPage<BITS, D>;
  using Places = PatternPlaces<BITS, D>;
  letNextBegin();
  awaitPrevious();
  extern __shared__ __align__(128) u8 dynamicMemory[];
  PackingMemory<D>& m = *reinterpret_cast<PackingMemory<D>*>(dynamicMemory);
  const Places places(blockIdx.z, halfStride, packedStride, bankStride);
  const BlockBank& bank = banks[blockIdx.x / 2];
  const Packing& mine = packings[blockIdx.x];
  const Packing& its = keyGroup == 2 * PAGE_TOKENS ? packings[blockIdx.x ^ 1] : mine;
  const u8* from = reinterpret_cast<const u8*>(mine.from) + places.halves;
  const u8* other = reinterpret_cast<const u8*>(its.from) + places.halves;
  u8* to = reinterpret_cast<u8*>(mine.to) + places.packed;
  u8* otherTo = reinterpret_cast<u8*>(its.to) + places.packed;
  loadKeys<D>(from, m.rows);
  __syncthreads();
  packKeys<StepSpan<BITS>, D>(
      m, Residuals<D, PlainRows<D>>{PlainRows<D>{m}, LabelledPatterns<D>{bank, places.banks, 0, Places::keyPatterns(to)}},
      Residuals<D, PlainKeys<D>>{PlainKeys<D>{other}, LabelledPatterns<D>{bank, places.banks, 0, Places::keyPatterns(otherTo)}},
      reinterpret_cast<u32*>(to), keyGroup);
  __syncthreads();
  loadValues<D>(from, m.rows);
  __syncthreads();
  packValues<StepSpan<BITS>, D>(
      m, Residuals<D, PlainRows<D>>{PlainRows<D>{m}, LabelledPatterns<D>{bank, places.banks, 1, Places::valuePatterns(to)}},
      reinterpret_cast<u32*>(to + Page::KEY_BYTES), valueGroup);
}

// 256 threads: dequantizes packed pages.
template <int BITS, int D> DEVICE void addToResiduals(const Unpacking& unpacking, const BlockBank* banks, u64 bankStride) {
  using Places = PatternPlaces<BITS, D>;
  letNextBegin();
  awaitPrevious();
  if (unpacking.none()) return;
  const Places places(unpacking.layer(), unpacking.halfStride, unpacking.packedStride, bankStride);
  const BlockBank& bank = banks[blockIdx.x / 2];
  u8* halves = unpacking.halves<D>();
  u8* page = unpacking.packed(PatternPage<BITS, D>::BYTES);
  const LabelledPatterns<D> keys{bank, places.banks, 0, Places::keyPatterns(page)};
  const LabelledPatterns<D> values{bank, places.banks, 1, Places::valuePatterns(page)};
  const u8* behindLabels = page + PAGE_TOKENS;   // values are shifted by the labels of keys
  writeHalves<D>(
      halves,
      [&](int token, int channel) { return PackedPlaces<BITS, D>::key(page, token, channel) + keys(token, channel); },
      [&](int token, int channel) {
        return PackedPlaces<BITS, D>::value(behindLabels, token, channel) + values(token, channel);
      });
}
