// Outputs of attention on pages of codebook indices, softmax(A) S_V C_V: weights are summed by row of the codebooks, in bins,
// and rows are multiplied by their bins at the end. Codes may belong to several KV heads together. Each head then has bins
// for all sets of rows, and its own channels of the rows.
#pragma once
#include "commvq.cuh"

// How the sets of rows are divided among warps. The value tables of a layer begin with it, in 128 bytes; CodebookTableLayout
// has the same fields in the same order.
struct ValueSets {
  static constexpr int BYTES = 128;
  u32 span;       // KV heads that share codes
  u32 sets;       // of rows, that the codes of these heads name
  u32 warpSets;   // sets of a warp: a multiple of eight, at most 24
  u32 warps;      // that share the sets of a page: a power of two

  DEVICE u32 groups() const { return (sets + 7) / 8; }   // of eight sets
};

// Value rows of one KV head as operands of the matrix instruction, in bin order: 16 rows in place of 16 tokens of an fp16
// page. A bin is (group of eight sets, row, set in it). The first of the last 16 rows is the mean.
template <int D> struct ValueTable {
  static constexpr int GROUP_BINS = CODEBOOK_ROWS * 8;
  static constexpr int GROUP_TILES = GROUP_BINS / TILE_TOKENS;
  static constexpr int TILE_BYTES = D / 16 * 512;

  DEVICE static size_t bytes(const ValueSets& sets) { return ((size_t)sets.groups() * GROUP_TILES + 1) * TILE_BYTES; }
};

// What the output kernel reads in addition to pages.
struct Mixing {
  const u8* records;   // as written by the score kernel
  const u8* values;    // the layer's value tables

  DEVICE ValueSets sets() const {
    const uint4 packed = __ldg(reinterpret_cast<const uint4*>(values));
    return ValueSets{packed.x, packed.y, packed.z, packed.w};
  }
};

// Shared memory of a warp: bins of its sets, 16 bytes each, and its weights of a page, (64 tokens, 4 heads) halves. A load takes
// as long for one address as for many, so weights of two tokens are loaded at once.
struct BinMemory {
  static constexpr int GROUP_BYTES = CODEBOOK_ROWS * 8 * 16;
  static constexpr int WEIGHT_BYTES = PAGE_TOKENS * RECORD_HEADS * 2;
  int binBytes;
  u8* first;   // of the block's first warp

  DEVICE explicit BinMemory(const ValueSets& sets, u8* memory) : binBytes(sets.warpSets / 8 * GROUP_BYTES), first(memory) {}
  DEVICE u8* bins(int warp) const { return first + warp * (binBytes + WEIGHT_BYTES); }
  DEVICE uint4* weights(int warp) const { return reinterpret_cast<uint4*>(bins(warp) + binBytes); }
};

// The part of the work that a warp does: sharers take a page together, each with its own sets.
struct Share {
  int sharers, teams;   // warps of a team, and teams of the block
  int team, own;        // the warp's team, and its index in it

  DEVICE Share(const ValueSets& sets, int warp, int warps) {
    sharers = sets.warps;
    while (sharers > warps) sharers >>= 1;
    teams = warps / sharers;
    team = warp / sharers;
    own = warp % sharers;
  }

  DEVICE bool works() const { return team < teams; }
};

struct MixedTotals {
  float most[RECORD_HEADS];                  // of all packed pages of the block
  float ofWarp[MOST_WARPS][RECORD_HEADS];    // maxima, then sums of weights
};

DEVICE float4 fourHalves(uint2 words) {
  return float4{toFloat((u16)words.x), toFloat((u16)(words.x >> 16)), toFloat((u16)words.y), toFloat((u16)(words.y >> 16))};
}

DEVICE float4 sumOf(const float4& a, const float4& b) { return float4{a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w}; }

// What a lane prefetches: weights and scales of two tokens, and the indices of its set.
template <int STAGES> struct ValuePage {
  using Page = CommvqPage<STAGES>;
  uint4 weights;
  float4 most;
  u32 scales;
  u32 words[12];

  // page: of the first KV head that shares the codes; at: offset of the lane's indices, or negative
  DEVICE void fetch(const u8* page, const u8* record, int lane, int at) {
    weights = loadGlobal(record + 16 * lane);
    most = *reinterpret_cast<const float4*>(record + RECORD_WEIGHT_BYTES + 16 * (lane / 8));
    scales = *reinterpret_cast<const u32*>(page + Page::VALUE_SCALES_AT + 4 * lane);
#pragma unroll
    for (int w = 0; w < 12; w++) {
      words[w] = at >= 0 ? __ldcs(reinterpret_cast<const u32*>(page + at) + w * Page::SETS) : 0;
    }
  }

  // Returns the byte offset of the row of a token's index; the token is a compile-time constant.
  DEVICE u32 row(int token) const {
    const int bit = INDEX_BITS * token, word = bit / 32, shift = bit % 32;
    const u32 low = words[word], high = shift > 26 ? words[word + 1] : 0;
    const u32 field = shift > 26 ? __funnelshift_r(low, high, shift) : low >> shift;
    return (field & 63) * 128;
  }
};

// Adds the weights of a page to the bins of the rows that its codes name. Each lane has a set of its own, so no other lane
// adds to its bins. Two tokens are added at a time, since a bin is a round trip to shared memory.
template <int STAGES> DEVICE void addToBins(const ValuePage<STAGES>& page, const uint4* weights, u8* own) {
#pragma unroll
  for (int token = 0; token < PAGE_TOKENS; token += 2) {
    const uint4 two = weights[token / 2];
    const float4 w = fourHalves(uint2{two.x, two.y}), next = fourHalves(uint2{two.z, two.w});
    float4* bin = reinterpret_cast<float4*>(own + page.row(token));
    float4* following = reinterpret_cast<float4*>(own + page.row(token + 1));
    const float4 before = *bin, other = *following;
    const float4 sum = sumOf(before, w);
    const bool same = bin == following;
    const float4 base{same ? sum.x : other.x, same ? sum.y : other.y, same ? sum.z : other.z, same ? sum.w : other.w};
    *bin = sum;
    *following = sumOf(base, next);
  }
}

DEVICE float part(const float4& v, int i) { return i == 0 ? v.x : i == 1 ? v.y : i == 2 ? v.z : v.w; }

// Finds the maximum scores of a block's packed pages by head; a barrier makes them visible to all threads.
DEVICE void findMost(const u8* records, size_t stride, int pages, MixedTotals& totals) {
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, warps = blockDim.x / 32;
  float4 most{minusInfinity(), minusInfinity(), minusInfinity(), minusInfinity()};
  for (int i = threadIdx.x; i < PAGE_TILES * pages; i += blockDim.x) {
    const float4 each = *reinterpret_cast<const float4*>(records + (i / PAGE_TILES) * stride + RECORD_WEIGHT_BYTES +
                                                         i % PAGE_TILES * 16);
    most.x = fmaxf(most.x, each.x); most.y = fmaxf(most.y, each.y);
    most.z = fmaxf(most.z, each.z); most.w = fmaxf(most.w, each.w);
  }
#pragma unroll
  for (int h = 0; h < RECORD_HEADS; h++) {
    float each = part(most, h);
#pragma unroll
    for (int s = 1; s < 32; s <<= 1) each = fmaxf(each, __shfl_xor_sync(ALL_LANES, each, s));
    if (lane == 0) totals.ofWarp[warp][h] = each;
  }
  __syncthreads();
  if (threadIdx.x < RECORD_HEADS) {
    float each = minusInfinity();
    for (int w = 0; w < warps; w++) each = fmaxf(each, totals.ofWarp[w][threadIdx.x]);
    totals.most[threadIdx.x] = each;
  }
  __syncthreads();
}

// Adds all packed pages of a block to the bins of its warps, for the sets from `firstSet` on, and then the bins of all teams
// to those of the first one. Sums of weights go to totals.
template <int STAGES>
DEVICE void fillBins(const Attention& a, const Work& work, const u8* records, size_t stride, const ValueSets& sets,
                     const Share& share, int firstSet, int begin, int end, MixedTotals& totals) {
  using Page = CommvqPage<STAGES>;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const BinMemory memory(sets, dynamicMemory);
  u8* bins = memory.bins(warp);
  float4 sum{0.f, 0.f, 0.f, 0.f};
  if (share.works()) {
    for (int at = 16 * lane; at < memory.binBytes; at += 512) {
      *reinterpret_cast<float4*>(bins + at) = float4{0.f, 0.f, 0.f, 0.f};
    }
    uint4* weights = memory.weights(warp);
    const float4 most = *reinterpret_cast<const float4*>(totals.most);
    const int set = firstSet + share.own * sets.warpSets + lane;
    const bool there = lane < sets.warpSets && set < sets.sets;
    const int at = there ? set / Page::SETS * Page::BYTES + Page::VALUE_AT + 4 * (set % Page::SETS) : -1;
    u8* own = bins + lane / 8 * BinMemory::GROUP_BYTES + lane % 8 * 16;
    const size_t offset = (size_t)(work.kvHead / sets.span * sets.span) * Page::BYTES + a.packedOffset;
    auto fetch = [&](ValuePage<STAGES>& page, int number) {
      if (number < end) {
        page.fetch(addressOf(work.entries[number]) + offset, records + (size_t)(number - begin) * stride, lane, at);
      }
    };
    ValuePage<STAGES> now, next;
    fetch(now, begin + share.team);
#pragma unroll 1
    for (int number = begin + share.team; number < end; number += share.teams) {
      fetch(next, number + share.teams);
      const float4 factor{powerOfTwo(now.most.x - most.x), powerOfTwo(now.most.y - most.y),
                          powerOfTwo(now.most.z - most.z), powerOfTwo(now.most.w - most.w)};
      u32 two[4];   // weights of the lane's two tokens
#pragma unroll
      for (int e = 0; e < 2; e++) {
        const float4 w = fourHalves(e ? uint2{now.weights.z, now.weights.w} : uint2{now.weights.x, now.weights.y});
        const float scale = toFloat((u16)(now.scales >> 16 * e));
        const float4 p{w.x * factor.x, w.y * factor.y, w.z * factor.z, w.w * factor.w};
        sum = sumOf(sum, p);
        two[2 * e] = toHalves(p.x * scale, p.y * scale);
        two[2 * e + 1] = toHalves(p.z * scale, p.w * scale);
      }
      __syncwarp();
      weights[lane] = uint4{two[0], two[1], two[2], two[3]};
      __syncwarp();
      if (there) addToBins<STAGES>(now, weights, own);
      now = next;
    }
  }
  if (firstSet == 0) {
#pragma unroll
    for (int h = 0; h < RECORD_HEADS; h++) {
      float each = share.own == 0 ? part(sum, h) : 0.f;   // sharers have the same tokens
#pragma unroll
      for (int s = 1; s < 32; s <<= 1) each += __shfl_xor_sync(ALL_LANES, each, s);
      if (lane == 0) totals.ofWarp[warp][h] = each;
    }
  }
  __syncthreads();
#pragma unroll 1
  for (int sharer = 0; sharer < share.sharers; sharer++) {
    for (int at = 16 * threadIdx.x; at < memory.binBytes; at += 16 * (int)blockDim.x) {
      float4 all{0.f, 0.f, 0.f, 0.f};
      for (int team = 0; team < share.teams; team++) {
        all = sumOf(all, *reinterpret_cast<const float4*>(memory.bins(team * share.sharers + sharer) + at));
      }
      *reinterpret_cast<float4*>(memory.bins(sharer) + at) = all;
    }
  }
  __syncthreads();
}

// Sums of weights of all warps.
DEVICE float totalOf(const MixedTotals& totals, int head) {
  float total = 0.f;
  for (int w = 0; w < blockDim.x / 32; w++) total += totals.ofWarp[w][head];
  return total;
}

// Adds a warp's share of the rows, multiplied by their bins, for the sets from `firstSet` on. Bins are divided by the sum of
// weights, so that as halves they are at most a token's scale.
template <int D>
DEVICE void multiplyBins(const Work& work, const u8* table, const ValueSets& sets, const Share& share, int firstSet,
                         const MixedTotals& totals, float (&mixed)[D / 16][4]) {
  using Table = ValueTable<D>;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, warps = blockDim.x / 32, quad = lane & 3, column = lane >> 2;
  const bool there = column < work.heads;
  const float back = there ? 1.f / totalOf(totals, column) : 0.f;
  const BinMemory memory(sets, dynamicMemory);
  const int warpGroups = sets.warpSets / 8, firstGroup = firstSet / 8;
  const int groups = min(share.sharers * warpGroups, (int)sets.groups() - firstGroup);
  const u8* rows = table + (size_t)firstGroup * Table::GROUP_TILES * Table::TILE_BYTES + 16 * lane;
#pragma unroll 2
  for (int tile = warp; tile < groups * Table::GROUP_TILES; tile += warps) {
    const int group = tile / Table::GROUP_TILES;
    const float* bins = reinterpret_cast<const float*>(memory.bins(group / warpGroups) +
                                                       group % warpGroups * BinMemory::GROUP_BYTES) +
                        (TILE_TOKENS * (tile % Table::GROUP_TILES) + 2 * quad) * RECORD_HEADS + column;
    auto at = [&](int row) { return there ? bins[row * RECORD_HEADS] * back : 0.f; };
    addValues<D>(GlobalFragments{rows + (size_t)tile * Table::TILE_BYTES}, TILE_TOKENS, lane, toHalves(at(0), at(1)),
                 toHalves(at(8), at(9)), mixed);
  }
}

// Adds what bins gave, and the mean, to the outputs of fp16 pages.
template <int D>
DEVICE void addMixed(const Work& work, const u8* mean, const MixedTotals& totals, float (&mixed)[D / 16][4],
                     Heads<Eight, D>& heads) {
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  if (warp == 0) {
    const u32 one = lane >> 2 < work.heads && (lane & 3) == 0 ? toHalves(1.f, 0.f) : 0u;
    addValues<D>(GlobalFragments{mean + 16 * lane}, TILE_TOKENS, lane, one, 0u, mixed);
  }
  const int first = Eight::firstHead(lane);
#pragma unroll
  for (int e = 0; e < 2; e++) {
    const bool there = first + e < work.heads;
    const float total = there ? totalOf(totals, first + e) : 0.f;
    const float most = there ? totals.most[first + e] : minusInfinity();
    float& own = e ? heads.most1 : heads.most0;
    float& sum = e ? heads.sum1 : heads.sum0;
    const float all = fmaxf(own, most), kept = shrinking(own, all);
    const float added = shrinking(most, all) * total * powerOfTwo(WEIGHT_SHIFT);   // in the units of fp16 pages' weights
    own = all;
    sum = sum * kept + (warp == 0 ? added : 0.f);
#pragma unroll
    for (int i = 0; i < D / 16; i++) {
      heads.outputs[i][e] = heads.outputs[i][e] * kept + mixed[i][e] * added;
      heads.outputs[i][2 + e] = heads.outputs[i][2 + e] * kept + mixed[i][2 + e] * added;
    }
  }
}

// Attends fp16 pages; each warp takes a tile of 16 tokens at a time.
// pageAt: returns the address of the KV head's page by number
template <int D, class PAGES>
DEVICE void attendTilesOfEight(const Attention& a, int pages, int first, int step, const PAGES& pageAt,
                               Heads<Eight, D>& heads) {
  using Page = HalfPage<D>;
  const int lane = threadIdx.x % 32;
#pragma unroll 1
  for (int tile = first; tile < PAGE_TILES * pages; tile += step) {
    int tokens;
    const u8* keys = pageAt(tile / PAGE_TILES, tokens) + tile % PAGE_TILES * Page::TILE_BYTES + 16 * lane;
    tokens -= tile % PAGE_TILES * TILE_TOKENS;
    if (tokens <= 0) continue;
    u32 near, far;
    attendTile(heads, GlobalFragments{keys}, Unlimited(), 0, tokens, lane, a.scale, near, far);
    addValues<D>(GlobalFragments{keys + Page::KEY_BYTES}, tokens, lane, near, far, heads.outputs);
  }
}

// Attends the fp16 pages of a sequence with packed pages: sinks and residual window.
template <int D> DEVICE void attendWindow(const Attention& a, const Work& work, Heads<Eight, D>& heads) {
  const int warp = threadIdx.x / 32, warps = blockDim.x / 32;
  const size_t offset = (size_t)work.kvHead * HalfPage<D>::BYTES + a.halfOffset;
  auto pageAt = [&](int page, int& tokens) {
    const PageEntry entry = work.entries[work.sequence.packedPages + page];
    tokens = tokensOf(entry);
    return addressOf(entry) + offset;
  };
  attendTilesOfEight<D>(a, work.sequence.halfPages, work.split * warps + warp, work.splits * warps, pageAt, heads);
}

// Computes outputs of up to four heads per block, from the weights of packed pages and from fp16 pages.
template <int D, int STAGES> DEVICE void attendCommvq(const Attention& a, const Mixing& mixing) {
  using Table = ValueTable<D>;
  __shared__ BlockMemory block;
  __shared__ __align__(16) MixedTotals totals;
  letNextBegin();
  const ValueSets sets = mixing.sets();
  awaitPrevious();
  const Work work(a);
  if (work.none()) return;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, warps = blockDim.x / 32;
  const int begin = work.begin(work.sequence.packedPages, work.split);
  const int end = work.begin(work.sequence.packedPages, work.split + 1);
  const u8* table = mixing.values + ValueSets::BYTES + work.kvHead * Table::bytes(sets);
  float mixed[D / 16][4];
#pragma unroll
  for (int i = 0; i < D / 16; i++) { mixed[i][0] = mixed[i][1] = mixed[i][2] = mixed[i][3] = 0.f; }
  if (begin < end) {
    const Share share(sets, warp, warps);
    const size_t stride = (size_t)gridDim.y * RECORD_BYTES;   // from a page's record to the next page's
    const u8* records = mixing.records + ((size_t)work.sequence.firstEntry + begin) * stride + (size_t)blockIdx.y * RECORD_BYTES;
    findMost(records, stride, end - begin, totals);
#pragma unroll 1
    for (int firstSet = 0; firstSet < sets.sets; firstSet += share.sharers * sets.warpSets) {
      if (firstSet > 0) __syncthreads();   // bins have been read
      fillBins<STAGES>(a, work, records, stride, sets, share, firstSet, begin, end, totals);
      multiplyBins<D>(work, table, sets, share, firstSet, totals, mixed);
    }
  }
  Heads<Eight, D> heads;
  heads.load(a.queries + work.row(a) * D, work.heads, lane);
  heads.clear();
  attendWindow<D>(a, work, heads);
  heads.addSumsOfLanes();
  if (begin < end) addMixed<D>(work, table + Table::bytes(sets) - Table::TILE_BYTES, totals, mixed, heads);
  __syncthreads();   // bins are reused for outputs
  float* outputs = reinterpret_cast<float*>(dynamicMemory);
  leaveEight<D>(heads, warp, lane, block, outputs);
  __syncthreads();
  finish(a, work, block, PlainOutputs<D, Eight::HEADS>{outputs, a.outputs + work.row(a) * D});
}
