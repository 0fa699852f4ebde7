// Attention on pages of codebook indices as CommVQ's paper has it, for comparison: scores from tables of q C^T (Equation 19),
// and pages that are decoded by dense products before fp16 attention (the naive decoding of Table 5).
#pragma once
#include "expand.cuh"

// CommvqScoreTables has the same fields in the same order.
struct TableScoring {
  Scoring s;
  float2* tables;         // (sequences, query heads, STAGES * 64 + 1, D / 2): products of a query with first rows, and with the mean
  const float2* places;   // (128, D / 2) cosines and sines of token indices in a block of two pages

  template <int D, int STAGES> DEVICE float2* table(size_t head) const {
    return tables + head * (STAGES * CODEBOOK_ROWS + 1) * (D / 2);
  }
};

// Returns conj(q) z.
DEVICE float2 conjugateProduct(float2 q, float2 z) { return float2{fmaf(q.x, z.x, q.y * z.y), fmaf(q.x, z.y, -q.y * z.x)}; }

// grid (STAGES, query heads, sequences), 256 threads: products of a query with the rows of a stage
template <int D, int STAGES> DEVICE void tabulateQueries(const TableScoring& t) {
  using Keys = KeyTable<D, STAGES>;
  letNextBegin();
  awaitPrevious();
  const int stage = blockIdx.x;
  const size_t head = (size_t)blockIdx.z * gridDim.y + blockIdx.y;
  const u8* keys = t.s.keys + (size_t)(blockIdx.y / t.s.sharing) * Keys::BYTES;
  const u16* query = t.s.queries + head * D;
  const float factor = *reinterpret_cast<const float*>(keys + Keys::FACTOR_AT);
  float2* table = t.table<D, STAGES>(head);
  for (int i = threadIdx.x; i < CODEBOOK_ROWS * (D / 2); i += blockDim.x) {
    const int row = i / (D / 2), pair = i % (D / 2), quad = pair / Keys::PAIRS, own = pair % Keys::PAIRS;
    const float2 q{toFloat(query[t.s.order[pair]]), toFloat(query[t.s.order[D / 2 + pair]])};
    const u16* lane = reinterpret_cast<const u16*>(keys + Keys::LANES_AT + quad * Keys::LANE_BYTES) + own;
    const signed char* z = reinterpret_cast<const signed char*>(keys) + (stage * CODEBOOK_ROWS + row) * Keys::ROW_BYTES +
                           own / 8 * 64 + 16 * quad + 2 * (own % 8);
    const float unit = toFloat(lane[0]) * factor;
    table[stage * CODEBOOK_ROWS * (D / 2) + i] = conjugateProduct(q, float2{unit * z[0], unit * z[1]});
    if (stage == 0 && row == 0) {
      const float2 mean{toFloat(lane[Keys::PAIRS]), toFloat(lane[2 * Keys::PAIRS])};
      table[STAGES * CODEBOOK_ROWS * (D / 2) + pair] = conjugateProduct(q, mean);
    }
  }
}

// grid (blocks of pages, KV heads, sequences). A warp takes a page and a query head at a time; a lane has D / 64 pairs.
template <int D, int STAGES> DEVICE void scoreByTables(const TableScoring& t) {
  using Page = CommvqPage<STAGES>;
  using Places = CommvqPlaces<D, STAGES>;
  constexpr int PAIRS = D / 64;
  const Scoring& s = t.s;
  letNextBegin();
  awaitPrevious();
  const uint4 packed = *(reinterpret_cast<const uint4*>(s.sequences) + blockIdx.z);   // as Sequence
  const int begin = blockIdx.x * s.pagesPerSplit, end = min(begin + (int)s.pagesPerSplit, (int)packed.y);
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, warps = blockDim.x / 32;
  const int kvHead = blockIdx.y, kvHeads = gridDim.y;
#pragma unroll 1
  for (int unit = begin * (int)s.sharing + warp; unit < end * (int)s.sharing; unit += warps) {
    const int number = unit / s.sharing, head = unit % s.sharing;
    const u8* page = addressOf(s.table[packed.x + number]) + s.packedOffset + (size_t)kvHead * Page::BYTES;
    const float2* table = t.table<D, STAGES>(((size_t)blockIdx.z * kvHeads + kvHead) * s.sharing + head) + lane;
    const u32 position = *reinterpret_cast<const u32*>(page + Page::POSITION_AT);
    const u32 turn = min((position - s.firstPosition) / PAGE_TOKENS, s.turnPages - 1);
    float2 pageTurn[PAIRS], mean[PAIRS];
#pragma unroll
    for (int p = 0; p < PAIRS; p++) {
      pageTurn[p] = s.pageTurns[(size_t)turn * (D / 2) + lane + 32 * p];
      mean[p] = table[STAGES * CODEBOOK_ROWS * (D / 2) + 32 * p];
    }
    u8* record = s.records + (((size_t)packed.x + number) * kvHeads + kvHead) * s.headBlocks * RECORD_BYTES +
                 head / s.heads * RECORD_BYTES;
#pragma unroll 1
    for (int tile = 0; tile < PAGE_TILES; tile++) {
      float own = minusInfinity();   // the score of the lane's token
#pragma unroll 1
      for (int token = TILE_TOKENS * tile; token < TILE_TOKENS * (tile + 1); token++) {
        float2 sum[PAIRS];
#pragma unroll
        for (int p = 0; p < PAIRS; p++) sum[p] = float2{0.f, 0.f};
#pragma unroll
        for (int stage = 0; stage < STAGES; stage++) {
          const float2* rows = table + stage * CODEBOOK_ROWS * (D / 2);
          const float2* first = rows + Places::keyIndex(page, token, 2 * stage) * (D / 2);
          const float2* second = rows + Places::keyIndex(page, token, 2 * stage + 1) * (D / 2);
#pragma unroll
          for (int p = 0; p < PAIRS; p++) {   // second rows count a quarter turn further
            sum[p].x += first[32 * p].x - second[32 * p].y;
            sum[p].y += first[32 * p].y + second[32 * p].x;
          }
        }
        const float scale = toFloat((u16)(Places::keyWord(page, token, Page::KEY_WORDS - 1) >> 16));
        float score = 0.f;
#pragma unroll
        for (int p = 0; p < PAIRS; p++) {
          const float2 all{fmaf(scale, sum[p].x, mean[p].x), fmaf(scale, sum[p].y, mean[p].y)};
          score += turnedBy(turnedBy(all, t.places[token * (D / 2) + lane + 32 * p]), pageTurn[p]).x;
        }
#pragma unroll
        for (int step = 1; step < 32; step <<= 1) score += __shfl_xor_sync(ALL_LANES, score, step);
        if (lane == token % TILE_TOKENS) own = score * s.scale;
      }
      float most = own;
#pragma unroll
      for (int step = 1; step < 32; step <<= 1) most = fmaxf(most, __shfl_xor_sync(ALL_LANES, most, step));
      if (lane < TILE_TOKENS) {
        reinterpret_cast<u16*>(record)[(TILE_TOKENS * tile + lane) * RECORD_HEADS + head % s.heads] =
            toHalf(powerOfTwo(own - most));
      }
      if (lane == 0) {
        reinterpret_cast<float*>(record + RECORD_WEIGHT_BYTES)[tile * RECORD_HEADS + head % s.heads] = most;
      }
    }
  }
}

// CommvqDecodedPages has the same fields in the same order.
struct Decoding {
  const Sequence* sequences;
  const PageEntry* table;
  u8* pages;               // (entries, KV heads) fp16 pages
  const u8* keys;          // (KV heads) key tables of the layer
  const u8* keyRows;       // (KV heads) key rows in the layout of value tables, as integers; channels are x of all pairs, then y
  const u8* values;        // value tables of the layer
  const float2* places;    // as in TableScoring
  const float2* pageTurns;
  const u16* order;
  u64 packedOffset;
  u32 firstPosition, turnPages;
  u32 pagesPerBlock;
  u32 unused;
};

// Returns ones where halves of two words are equal.
DEVICE u32 equalHalves(u32 a, u32 b) {
  u32 r;
  asm("set.eq.f16x2.f16x2 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
  return r;
}

// Multiplies all rows with a matrix of zeros and ones, which has a one where a token's index is a row's number. Indices are
// compared as subnormal halves. A warp has 16 channels, of both halves of the head, and NT times eight tokens.
// indices: (sets padded to a multiple of eight, 64 tokens), 0xff for sets without rows
template <int D, int NT>
DEVICE void multiplyOneHot(const u8* table, const u8 (*indices)[PAGE_TOKENS], int groups, int chunk, int firstToken,
                           float (&sums)[NT][4]) {
  using Table = ValueTable<D>;
  const int lane = threadIdx.x % 32, set = 2 * (lane & 3), column = lane >> 2;
  const u8* at = table + 512 * chunk + 16 * lane;
#pragma unroll
  for (int n = 0; n < NT; n++) sums[n][0] = sums[n][1] = sums[n][2] = sums[n][3] = 0.f;
#pragma unroll 1
  for (int group = 0; group < groups; group++) {
    u32 own[NT];   // indices of two sets
#pragma unroll
    for (int n = 0; n < NT; n++) {
      const int token = firstToken + 8 * n + column;
      own[n] = indices[8 * group + set][token] | (u32)indices[8 * group + set + 1][token] << 16;
    }
#pragma unroll 4
    for (int tile = 0; tile < Table::GROUP_TILES; tile++, at += Table::TILE_BYTES) {
      const uint4 a = __ldg(reinterpret_cast<const uint4*>(at));
      const u32 row = 2 * tile * 0x10001u;   // the number of the first eight bins' row, twice
#pragma unroll
      for (int n = 0; n < NT; n++) {
        multiplyTiles(sums[n], a.x, a.y, a.z, a.w, equalHalves(own[n], row), equalHalves(own[n], row + 0x10001u));
      }
    }
  }
}

// grid (blocks of pages, KV heads, sequences), 256 threads: decodes the packed pages of sequences to fp16 pages
template <int D, int STAGES> DEVICE void decodePages(const Decoding& d) {
  using Page = CommvqPage<STAGES>;
  using Places = CommvqPlaces<D, STAGES>;
  constexpr int CHUNKS = D / 16, NT = D / 16, KEY_GROUPS = (Page::SETS + 7) / 8;
  __shared__ u8 indices[MOST_SETS][PAGE_TOKENS];
  letNextBegin();
  awaitPrevious();
  const uint4 packed = *(reinterpret_cast<const uint4*>(d.sequences) + blockIdx.z);   // as Sequence
  const int begin = blockIdx.x * d.pagesPerBlock, end = min(begin + (int)d.pagesPerBlock, (int)packed.y);
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, head = blockIdx.y;
  const int chunk = warp % CHUNKS, firstToken = warp / CHUNKS * 8 * NT, own = 8 * chunk + (lane >> 2);
  const Mixing mixing{nullptr, d.values};
  const ValueSets sets = mixing.sets();
  const u8* values = d.values + ValueSets::BYTES + head * ValueTable<D>::bytes(sets);
  const u8* keys = d.keys + (size_t)head * KeyTable<D, STAGES>::BYTES;
  const u8* keyRows = d.keyRows + (size_t)head * KEY_GROUPS * ValueTable<D>::GROUP_TILES * ValueTable<D>::TILE_BYTES;
  const float2 mean = Places::rows(values, sets.groups() * ValueTable<D>::GROUP_BINS, own);
#pragma unroll 1
  for (int number = begin; number < end; number++) {
    const u8* page = addressOf(d.table[packed.x + number]) + d.packedOffset + (size_t)head * Page::BYTES;
    const u8* firstPage = page - (size_t)(head % sets.span) * Page::BYTES;
    u8* halves = d.pages + (((size_t)packed.x + number) * gridDim.y + head) * HalfPage<D>::BYTES;
    float sums[NT][4];
    __syncthreads();
    for (int i = threadIdx.x; i < 8 * KEY_GROUPS * PAGE_TOKENS; i += blockDim.x) {
      const int set = i / PAGE_TOKENS, token = i % PAGE_TOKENS;
      indices[set][token] = set < Page::SETS ? Places::keyIndex(page, token, set) : 0xff;
    }
    __syncthreads();
    multiplyOneHot<D, NT>(keyRows, indices, KEY_GROUPS, chunk, firstToken, sums);
    const u32 position = *reinterpret_cast<const u32*>(page + Page::POSITION_AT);
    const u32 turn = min((position - d.firstPosition) / PAGE_TOKENS, d.turnPages - 1);
    const float2 pageTurn = d.pageTurns[(size_t)turn * (D / 2) + own];
#pragma unroll
    for (int n = 0; n < NT; n++) {
#pragma unroll
      for (int e = 0; e < 2; e++) {
        const int token = firstToken + 8 * n + 2 * (lane & 3) + e;
        const float2 key = Places::keyOf(keys, page, token, own, sums[n][e], sums[n][2 + e]);
        const float2 turned = turnedBy(turnedBy(key, d.places[token * (D / 2) + own]), pageTurn);
        *reinterpret_cast<u16*>(halves + HalfPage<D>::keyOffset(token, d.order[own])) = toHalf(turned.x);
        *reinterpret_cast<u16*>(halves + HalfPage<D>::keyOffset(token, d.order[D / 2 + own])) = toHalf(turned.y);
      }
    }
    __syncthreads();
    for (int i = threadIdx.x; i < 8 * sets.groups() * PAGE_TOKENS; i += blockDim.x) {
      const int set = i / PAGE_TOKENS, token = i % PAGE_TOKENS;
      indices[set][token] =
          set < sets.sets ? Places::valueIndex(firstPage + set / Page::SETS * Page::BYTES, token, set % Page::SETS) : 0xff;
    }
    __syncthreads();
    multiplyOneHot<D, NT>(values, indices, sets.groups(), chunk, firstToken, sums);
#pragma unroll
    for (int n = 0; n < NT; n++) {
#pragma unroll
      for (int e = 0; e < 2; e++) {
        const int token = firstToken + 8 * n + 2 * (lane & 3) + e;
        const float scale = Places::valueScale(page, token);
        *reinterpret_cast<u16*>(halves + HalfPage<D>::valueOffset(token, own)) = toHalf(fmaf(scale, sums[n][e], mean.x));
        *reinterpret_cast<u16*>(halves + HalfPage<D>::valueOffset(token, D / 2 + own)) =
            toHalf(fmaf(scale, sums[n][2 + e], mean.y));
      }
    }
  }
}

// Attends pages that have been decoded, and fp16 pages.
template <int D> DEVICE void attendDecoded(const Attention& a) {
  __shared__ BlockMemory block;
  letNextBegin();
  awaitPrevious();
  const Work work(a);
  if (work.none()) return;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, warps = blockDim.x / 32;
  const int begin = work.begin(work.sequence.packedPages, work.split);
  const int end = work.begin(work.sequence.packedPages, work.split + 1);
  const u32 kvHeads = gridDim.y / a.headBlocks;
  const u8* decoded = (const u8*)a.collected +
                      (((size_t)work.sequence.firstEntry + begin) * kvHeads + work.kvHead) * HalfPage<D>::BYTES;
  Heads<Eight, D> heads;
  heads.load(a.queries + work.row(a) * D, work.heads, lane);
  heads.clear();
  auto pageAt = [&](int page, int& tokens) {
    tokens = PAGE_TOKENS;
    return decoded + (size_t)page * kvHeads * HalfPage<D>::BYTES;
  };
  attendTilesOfEight<D>(a, end - begin, warp, warps, pageAt, heads);
  attendWindow<D>(a, work, heads);
  heads.addSumsOfLanes();
  __syncthreads();
  float* outputs = reinterpret_cast<float*>(dynamicMemory);
  leaveEight<D>(heads, warp, lane, block, outputs);
  __syncthreads();
  finish(a, work, block, PlainOutputs<D, Eight::HEADS>{outputs, a.outputs + work.row(a) * D});
}
