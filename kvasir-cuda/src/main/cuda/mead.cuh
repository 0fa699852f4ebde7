// Attention on Mead pages. A warp has a block of 128 tokens at a time, in eight tiles of 16 rows that share their widths.
//
// Keys: codes become halves in the order of the first operand, times the steps of their channels, and are rotated by the
// token's index in the block; queries are rotated back by the block's position. Predictions rotate with cosines and sines
// alone, so their scores are a product of those, which the matrix units get as they are. The first four columns have the
// scores of predictions, the last four those of residuals, which are then multiplied by the token's scale.
//
// Values: weights times scales are the second operand. Sums of components stay in shared memory. A last kernel transforms
// them back, once for each query.
#pragma once
#include "attend.cuh"
#include "commvq.cuh"
#include "meadpages.cuh"
#include "rotary.cuh"

// A layer, as attention takes it. DeviceTables writes them.
struct MeadLayer {
  MeadTables tables;
  u32 layer;
  u32 slotBytes;   // of the largest chunk
};

// Loads 4, 2 or 1 bytes of shared memory, without a branch.
DEVICE u32 loadSharedBytes(u32 address, int bytes) {
  u32 v;
  asm volatile("{ .reg .pred p, q, r; setp.eq.s32 p, %2, 4; setp.eq.s32 q, %2, 2; setp.eq.s32 r, %2, 1;\n"
               "@p ld.shared.u32 %0, [%1]; @q ld.shared.u16 %0, [%1]; @r ld.shared.u8 %0, [%1]; }"
               : "=r"(v) : "r"(address), "r"(bytes));
  return v;
}

// The codes of a step in the upper bits of the fraction of subnormal halves: code / 2^width, times 2^-14. Field i of a tile is
// register i of the first operand.
template <int TILES> struct MeadFractions {
  u32 of[TILES][4];

  // at: of the step's planes in shared memory
  DEVICE void load(u32 at, int width, int lane) {
#pragma unroll
    for (int tile = 0; tile < TILES; tile++) {
#pragma unroll
      for (int i = 0; i < 4; i++) of[tile][i] = 0;
    }
    int place = 10;   // of the lowest bit in a half
#pragma unroll 1
    for (int left = width; left > 0;) {   // small code: instructions are not fetched faster than they run
      const int bits = left >= 4 ? 4 : left >= 2 ? 2 : 1;
      left -= bits;
      place -= bits;
      const u32 mask = (((1u << bits) - 1) << place) * 0x10001u, own = at + bits * lane;
#pragma unroll
      for (int tile = 0; tile < TILES; tile++) {
        const u32 codes = loadSharedBytes(own + 32 * bits * tile, bits);
        const u32 word = codes | codes << (16 - 4 * bits);   // even columns from bit 0 on, odd ones from bit 16 on
#pragma unroll
        for (int i = 0; i < 4; i++) of[tile][i] |= __funnelshift_r(word, word, bits * i - place) & mask;
      }
      at += 32 * TILES * bits;
    }
  }
};

// Shared memory of a thread block, then that of its warps.
template <int D> struct MeadMemory {
  static constexpr int STEPS = D / MEAD_STEP;
  static constexpr int CHUNKS = STEPS / 2;
  static constexpr int QUERIES_AT = (sizeof(MeadHead<D>) + 127) / 128 * 128;   // (steps, 4 heads, 4 quads): x and y of two pairs
  static constexpr int BLOCK_BYTES = QUERIES_AT + STEPS * 16 * 8;
  static constexpr int PAGE_TURNS_BYTES = D / 2 * 8;
  static constexpr int OUTPUT_STRIDE = 2 * D + 8;       // from head to head: channels of fp16 tokens, components, padding
  static constexpr int OUTPUT_BYTES = 4 * OUTPUT_STRIDE * 4;
  DEVICE static int warpBytes(int slotBytes) { return 2 * slotBytes + PAGE_TURNS_BYTES + OUTPUT_BYTES; }
};

// The chunks of codes of a warp's blocks, in order, two at a time in shared memory.
template <int D> struct MeadChunks {
  using Memory = MeadMemory<D>;
  const Attention& a;
  const Work& work;
  const MeadTables& tables;
  const MeadHead<D>& head;
  u32 slots, pageTurns;   // in shared memory
  int slotBytes, lane, warps, end;
  int block, chunk;       // fetched next
  u32 now;                // slot of the chunk that was fetched last
  const u8 *keys, *values;

  DEVICE void open(int first) {
    block = first;
    chunk = 0;
    if (block >= end) return;
    const PageEntry* both = work.entries + 2 * block;
    keys = addressOf(both[head.keyPage]) + a.packedOffset + head.keyAt;
    values = addressOf(both[head.valuePage]) + a.packedOffset + head.valueAt;
    prefetch(keys, head.keyChunks[Memory::CHUNKS]);
    prefetch(values, head.valueChunks[Memory::CHUNKS]);
  }

  DEVICE void prefetch(const u8* from, int bytes) const {
#pragma unroll 1
    for (int at = 128 * lane; at < bytes; at += 32 * 128) expect(from + at);
  }

  DEVICE void copy(u32 to, const u8* from, int bytes) const {
#pragma unroll 1
    for (int at = 16 * lane; at < bytes; at += 512) copyAhead(to + at, from + at);
  }

  // Starts the copies of another chunk.
  DEVICE void fetch() {
    now ^= 1;
    if (block < end) {
      const bool ofKeys = chunk < Memory::CHUNKS;
      const int own = ofKeys ? chunk : chunk - Memory::CHUNKS;
      const u32* at = (ofKeys ? head.keyChunks : head.valueChunks) + own;
      copy(slots + now * slotBytes, (ofKeys ? keys : values) + at[0], at[1] - at[0]);
      if (chunk == 0) {
        const u32 position = tables.firstPosition + MEAD_TOKENS * block;
        copy(pageTurns, reinterpret_cast<const u8*>(tables.turnsOf(position, D / 2)), Memory::PAGE_TURNS_BYTES);
      }
      if (++chunk == 2 * Memory::CHUNKS) open(block + warps);
    }
    endCopies();
  }

  // Waits for the next chunk and returns its address; fetches the one after it.
  DEVICE u32 next() {
    const u32 at = slots + now * slotBytes;
    __syncwarp();   // all lanes have read what is replaced
    fetch();
    awaitCopies<1>();
    __syncwarp();
    return at;
  }
};

// Sums of weights of a lane's two heads.
struct MeadSums {
  float most0, most1, sum0, sum1;
  float packed0, packed1;   // of packed tokens alone

  DEVICE void weigh(float x0, float x1, u32& weights, float& page0, float& page1) const {
    const float w0 = powerOfTwo(x0 + (WEIGHT_SHIFT - most0)), w1 = powerOfTwo(x1 + (WEIGHT_SHIFT - most1));
    page0 += w0;
    page1 += w1;
    weights = toHalves(w0, w1);
  }
};

DEVICE float sumOfHeads(float x) {
#pragma unroll
  for (int s = Twice::NEAREST_LANE; s < 32; s <<= 1) x += __shfl_xor_sync(ALL_LANES, x, s);
  return x;
}

// The operands of a step for keys. Lanes of the first four columns have those of predictions, the others those of residuals.
struct MeadQueries {
  u32 base0, base1, code0, code1;
};

template <int D> struct MeadWarp {
  using Memory = MeadMemory<D>;
  const MeadHead<D>& head;
  u32 turns, queries, pageTurns;   // in shared memory
  float* outputs;                  // (4 heads, OUTPUT_STRIDE) in shared memory
  int lane, r, q;
  float scale;
  MeadSums sums;

  // Rotates queries of a step back by the block's position.
  DEVICE MeadQueries queriesOf(int step) const {
    const uint2 raw = loadSharedPair(queries + ((step * 4 + (r & 3)) * 4 + q) * 8);
    const u32 pairs = *reinterpret_cast<const u16*>(head.pairs + 8 * step + 2 * q);
    const uint2 first = loadSharedPair(pageTurns + 8 * (pairs & 255)), second = loadSharedPair(pageTurns + 8 * (pairs >> 8));
    const float c0 = __uint_as_float(first.x), s0 = __uint_as_float(first.y);
    const float c1 = __uint_as_float(second.x), s1 = __uint_as_float(second.y);
    const float x0 = toFloat((u16)raw.x), x1 = toFloat((u16)(raw.x >> 16)), y0 = toFloat((u16)raw.y), y1 = toFloat((u16)(raw.y >> 16));
    const u32 x = toHalves(fmaf(x0, c0, y0 * s0), fmaf(x1, c1, y1 * s1));
    const u32 y = toHalves(fmaf(y0, c0, -x0 * s0), fmaf(y1, c1, -x1 * s1));
    const uint2 base = head.keyBase[step][q];
    const u32 cosines = fusedHalves(x, base.x, multiplyHalves(y, base.y));
    const u32 sines = subtractHalves(multiplyHalves(y, base.x), multiplyHalves(x, base.y));
    return r < 4 ? MeadQueries{cosines, sines, 0, 0} : MeadQueries{0, 0, x, y};
  }

  // Adds the scores of a step and tier.
  // rows: tokens of rows r and r + 8 of a tile
  template <int TILES, int TIER>
  DEVICE u32 scoreStep(u32 at, int step, const MeadQueries& query, const u32 (&rows)[MEAD_TILES], float (&c)[MEAD_TILES][4]) const {
    constexpr int FIRST = meadFirstTile(TIER);
    const int width = head.keyWidths[TIER][step];
    const u32 turnsOfStep = turns + step * 32 + q * 8;
    uint2 near[TILES], far[TILES];
#pragma unroll
    for (int tile = 0; tile < TILES; tile++) {
      const u32 both = rows[FIRST + tile];
      near[tile] = loadSharedPair(turnsOfStep + (both & 127) * MeadHead<D>::TURN_BYTES);
      far[tile] = loadSharedPair(turnsOfStep + (both >> 16 & 127) * MeadHead<D>::TURN_BYTES);
    }
#pragma unroll
    for (int tile = 0; tile < TILES; tile++) {
      multiplyTiles(c[FIRST + tile], near[tile].x, far[tile].x, near[tile].y, far[tile].y, query.base0, query.base1);
    }
    if (width == 0) return at;
    const uint4 factors = head.keySteps[TIER][step][q];
    MeadFractions<TILES> codes;
    codes.load(at, width, lane);
#pragma unroll
    for (int tile = 0; tile < TILES; tile++) {
      const u32 (&own)[4] = codes.of[tile];
      const uint2 a = near[tile], b = far[tile];
      const u32 nearX = fusedHalves(own[0], factors.x, factors.y), farX = fusedHalves(own[1], factors.x, factors.y);
      const u32 nearY = fusedHalves(own[2], factors.z, factors.w), farY = fusedHalves(own[3], factors.z, factors.w);
      multiplyTiles(c[FIRST + tile], rotatedX(nearX, nearY, a.x, a.y), rotatedX(farX, farY, b.x, b.y),
                    rotatedY(nearX, nearY, a.x, a.y), rotatedY(farX, farY, b.x, b.y), query.code0, query.code1);
    }
    return at + 32 * width * TILES;
  }

  // Scores a lane's own rows: r of the first four columns' lanes, r + 8 of the others.
  DEVICE void scoresOf(const float (&c)[4], float factor, float& x0, float& x1) const {
    const bool upper = Twice::upper(lane);
    const float other0 = __shfl_xor_sync(ALL_LANES, upper ? c[0] : c[2], 2);
    const float other1 = __shfl_xor_sync(ALL_LANES, upper ? c[1] : c[3], 2);
    x0 = scale * (upper ? fmaf(factor, c[2], other0) : fmaf(factor, other0, c[0]));
    x1 = scale * (upper ? fmaf(factor, c[3], other1) : fmaf(factor, other1, c[1]));
  }

  // Raises the maxima to those of new scores that exceed them by far.
  DEVICE void follow(const float (&x0)[MEAD_TILES], const float (&x1)[MEAD_TILES]) {
    float new0 = x0[0], new1 = x1[0];
#pragma unroll
    for (int i = 1; i < MEAD_TILES; i++) { new0 = fmaxf(new0, x0[i]); new1 = fmaxf(new1, x1[i]); }
    if (!__any_sync(ALL_LANES, new0 > sums.most0 + MAXIMUM_SLACK || new1 > sums.most1 + MAXIMUM_SLACK)) return;
#pragma unroll
    for (int s = Twice::NEAREST_LANE; s < 32; s <<= 1) {
      new0 = fmaxf(new0, __shfl_xor_sync(ALL_LANES, new0, s));
      new1 = fmaxf(new1, __shfl_xor_sync(ALL_LANES, new1, s));
    }
    new0 = fmaxf(new0, sums.most0);
    new1 = fmaxf(new1, sums.most1);
    const float factor0 = shrinking(sums.most0, new0), factor1 = shrinking(sums.most1, new1);
    sums.most0 = new0; sums.most1 = new1;
    sums.sum0 *= factor0; sums.sum1 *= factor1;
    sums.packed0 *= factor0; sums.packed1 *= factor1;
    __syncwarp();
#pragma unroll 1
    for (int i = lane >> 1; i < 2 * D; i += 16) {   // lanes of even numbers have the first two heads
      float* own = outputOf(i);
      own[0] *= factor0;
      own[Memory::OUTPUT_STRIDE] *= factor1;
    }
    __syncwarp();
  }

  // Adds the values of a step and tier.
  // near, far: weights times scales of tokens 2q, 2q + 1 and of those 8 further, for each tile
  template <int TILES, int TIER>
  DEVICE u32 addStep(u32 at, int step, const u32 (&near)[MEAD_TILES], const u32 (&far)[MEAD_TILES], float (&c)[4]) const {
    constexpr int FIRST = meadFirstTile(TIER);
    const int width = head.valueWidths[TIER][step];
    if (width > 0) {
      MeadFractions<TILES> codes;
      codes.load(at, width, lane);
      const uint4 factors = head.valueSteps[TIER][step][r];
#pragma unroll
      for (int tile = 0; tile < TILES; tile++) {
        const u32 (&own)[4] = codes.of[tile];
        multiplyTiles(c, fusedHalves(own[0], factors.x, factors.y), fusedHalves(own[1], factors.z, factors.w),
                      fusedHalves(own[2], factors.x, factors.y), fusedHalves(own[3], factors.z, factors.w), near[FIRST + tile],
                      far[FIRST + tile]);
      }
    }
    return at + 32 * width * TILES;
  }

  // Returns a channel of the lane's first head; the next head has it OUTPUT_STRIDE further.
  DEVICE float* outputOf(int channel) const { return outputs + Twice::firstHead(lane) * Memory::OUTPUT_STRIDE + channel; }

  // Keeps the outputs of fp16 tokens, as channels.
  DEVICE void keep(const PackedHeads<D>& heads) {
    const bool upper = Twice::upper(lane);
#pragma unroll
    for (int i = 0; i < D / 16; i++) {
      const int channel = 8 * i + r + (upper ? D / 2 : 0);
      float* own = outputOf(channel);
      own[0] = upper ? heads.outputs[i][2] : heads.outputs[i][0];
      own[Memory::OUTPUT_STRIDE] = upper ? heads.outputs[i][3] : heads.outputs[i][1];
      own[D] = own[D + Memory::OUTPUT_STRIDE] = 0.f;
    }
    sums = MeadSums{heads.most0, heads.most1, heads.sum0, heads.sum1, 0.f, 0.f};
  }

  DEVICE void attendBlock(MeadChunks<D>& chunks) {
    u32 rows[MEAD_TILES];
    float c[MEAD_TILES][4];
#pragma unroll
    for (int tile = 0; tile < MEAD_TILES; tile++) c[tile][0] = c[tile][1] = c[tile][2] = c[tile][3] = 0.f;
#pragma unroll 1
    for (int chunk = 0; chunk < Memory::CHUNKS; chunk++) {
      u32 at = chunks.next();
      if (chunk == 0) {
        const uint4 low = loadShared(at + 32 * r), high = loadShared(at + 32 * r + 16);
#pragma unroll
        for (int i = 0; i < 4; i++) {
          rows[i] = wordOf(low, i);
          rows[4 + i] = wordOf(high, i);
        }
        at += MEAD_TABLE_AT;
      }
#pragma unroll 1
      for (int step = 2 * chunk; step < 2 * chunk + 2; step++) {
        const MeadQueries query = queriesOf(step);
        at = scoreStep<4, 0>(at, step, query, rows, c);
        at = scoreStep<3, 1>(at, step, query, rows, c);
        at = scoreStep<1, 2>(at, step, query, rows, c);
      }
    }

    const bool upper = Twice::upper(lane);
    float x0[MEAD_TILES], x1[MEAD_TILES];
#pragma unroll
    for (int tile = 0; tile < MEAD_TILES; tile++) {
      const u32 info = upper ? rows[tile] >> 16 : rows[tile];
      scoresOf(c[tile], head.keyUnit * scaleOf(info >> 7), x0[tile], x1[tile]);
    }
    follow(x0, x1);
    u32 near[MEAD_TILES], far[MEAD_TILES];
    float page0 = 0.f, page1 = 0.f;
#pragma unroll
    for (int tile = 0; tile < MEAD_TILES; tile++) {
      const u32 info = upper ? rows[tile] >> 16 : rows[tile];
      u32 weights;
      sums.weigh(x0[tile], x1[tile], weights, page0, page1);
      const u32 own = transpose(multiplyHalves(weights, twice(scaleOf(info >> 10))));
      const u32 others = __shfl_xor_sync(ALL_LANES, own, 16);
      near[tile] = lane < 16 ? own : others;
      far[tile] = lane < 16 ? others : own;
    }
    sums.sum0 += page0; sums.sum1 += page1;
    sums.packed0 += page0; sums.packed1 += page1;
    page0 = sumOfHeads(page0);
    page1 = sumOfHeads(page1);

    u32 means = 0;   // of a lane's slots, four bits each
#pragma unroll 1
    for (int chunk = 0; chunk < Memory::CHUNKS; chunk++) {
      u32 at = chunks.next();
      if (chunk == 0) {
#pragma unroll
        for (int i = 0; i < Memory::STEPS; i++) {
          const u32 two = loadSharedByte(at + 8 * i + (r + (upper ? 8 : 0)) / 2);
          means |= (two >> 4 * (r & 1) & 15) << 4 * i;
        }
        at += D / 2;
      }
#pragma unroll 1
      for (int step = 2 * chunk; step < 2 * chunk + 2; step++) {
        float sums[4] = {0.f, 0.f, 0.f, 0.f};
        at = addStep<4, 0>(at, step, near, far, sums);
        at = addStep<3, 1>(at, step, near, far, sums);
        at = addStep<1, 2>(at, step, near, far, sums);
        addComponents(step, means, page0, page1, sums);
      }
    }
  }

  DEVICE void addComponents(int step, u32 means, float page0, float page1, const float (&c)[4]) const {
    const bool upper = Twice::upper(lane);
    const int slot = MEAD_STEP * step + r + (upper ? 8 : 0);
    const float mean = (float)((int)(means << (28 - 4 * step)) >> 28) * head.units[slot];
    const float unit = head.valueUnit;
    float* own = outputOf(D + slot);
    own[0] = fmaf(unit, upper ? c[2] : c[0], fmaf(mean, page0, own[0]));
    own[Memory::OUTPUT_STRIDE] = fmaf(unit, upper ? c[3] : c[1], fmaf(mean, page1, own[Memory::OUTPUT_STRIDE]));
  }

  // index: of the scale, in the lower three bits
  DEVICE static float scaleOf(u32 index) { return powerOfTwo(((float)(index & 7) - 4.f) * (2.f / 3.f)); }

  // Completes the outputs and writes the sums of weights.
  DEVICE void leave(BlockMemory& block, int warp) {
    const float packed0 = sumOfHeads(sums.packed0), packed1 = sumOfHeads(sums.packed1);
    const float sum0 = sumOfHeads(sums.sum0), sum1 = sumOfHeads(sums.sum1);
#pragma unroll 1
    for (int step = 0; step < Memory::STEPS; step++) {
      const int slot = MEAD_STEP * step + r + (Twice::upper(lane) ? 8 : 0);
      const float base = head.valueBase[slot];
      float* own = outputOf(D + slot);
      own[0] = fmaf(base, packed0, own[0]);
      own[Memory::OUTPUT_STRIDE] = fmaf(base, packed1, own[Memory::OUTPUT_STRIDE]);
    }
    if (lane < 2) {
      const int first = Twice::firstHead(lane);
      block.most[warp][first] = sums.most0; block.most[warp][first + 1] = sums.most1;
      block.sums[warp][first] = sum0; block.sums[warp][first + 1] = sum1;
    }
  }
};

// The outputs of warps: channels of fp16 tokens, then components of packed ones.
template <int D> struct MeadOutputs {
  static constexpr int WIDTH = 2 * D;
  float* memory;       // of the first warp
  int stride, from;    // bytes from warp to warp, and from there to its outputs
  float* collected;    // of the block's first head

  DEVICE float4 of(int warp, int column) const {
    const int head = column / (WIDTH / 4), place = column % (WIDTH / 4);
    const float* own = reinterpret_cast<const float*>(reinterpret_cast<const u8*>(memory) + warp * stride + from);
    return *reinterpret_cast<const float4*>(own + head * MeadMemory<D>::OUTPUT_STRIDE + 4 * place);
  }
  DEVICE void store(int column, float4 x) const { reinterpret_cast<float4*>(collected)[column] = x; }
};

// Fills the memory of a thread block.
template <int D> DEVICE void loadMead(const Attention& a, const Work& work, const MeadTables& t, const MeadHead<D>& from, u8* memory) {
  using Memory = MeadMemory<D>;
  const u32 to = sharedAddress(memory);
  for (int at = 16 * threadIdx.x; at < (int)sizeof(MeadHead<D>); at += 16 * blockDim.x) {
    copyAhead(to + at, reinterpret_cast<const u8*>(&from) + at);
  }
  endCopies();
  const u16* rows = a.queries + work.row(a) * D;
  for (int i = threadIdx.x; i < Memory::STEPS * 16; i += blockDim.x) {
    const int quad = i % 4, head = i / 4 % 4, step = i / 16;
    const u32 pairs = *reinterpret_cast<const u16*>(from.pairs + 8 * step + 2 * quad);
    uint2 both{0, 0};
    if (head < work.heads) {
      const u16* row = rows + head * D;
      both.x = row[t.order[pairs & 255]] | (u32)row[t.order[pairs >> 8]] << 16;
      both.y = row[t.order[D / 2 + (pairs & 255)]] | (u32)row[t.order[D / 2 + (pairs >> 8)]] << 16;
    }
    *reinterpret_cast<uint2*>(memory + Memory::QUERIES_AT + 8 * i) = both;
  }
  awaitCopies<0>();
}

// Attends packed and fp16 pages, for up to four heads. Outputs go to `collected`, (rows, 2 D) floats.
template <int D> DEVICE void attendMead(const Attention& a) {
  using Memory = MeadMemory<D>;
  __shared__ BlockMemory block;
  letNextBegin();
  awaitPrevious();
  const Work work(a);
  if (work.none()) return;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, warps = blockDim.x / 32;
  const MeadLayer& layer = *reinterpret_cast<const MeadLayer*>(a.tables);
  const int slotBytes = layer.slotBytes, stride = Memory::warpBytes(slotBytes);
  u8* own = dynamicMemory + Memory::BLOCK_BYTES + warp * stride;
  const MeadHead<D>& head = *reinterpret_cast<const MeadHead<D>*>(dynamicMemory);
  loadMead<D>(a, work, layer.tables, layer.tables.head<D>(layer.layer, work.kvHead, gridDim.y / a.headBlocks), dynamicMemory);
  __syncthreads();

  const int blocks = work.sequence.packedPages / 2;
  const u32 memory = sharedAddress(own);
  MeadChunks<D> chunks{a, work, layer.tables, head, memory, memory + 2 * slotBytes, slotBytes, lane, warps,
                       work.begin(blocks, work.split + 1), 0, 0, 1, nullptr, nullptr};
  chunks.open(work.begin(blocks, work.split) + warp);
  const int end = chunks.end;
  int number = chunks.block;
  chunks.fetch();
  const u32 shared = sharedAddress(dynamicMemory);
  MeadWarp<D> state{head, sharedAddress(head.turns), shared + Memory::QUERIES_AT, memory + 2 * slotBytes,
                    reinterpret_cast<float*>(own + 2 * slotBytes + Memory::PAGE_TURNS_BYTES), lane, lane >> 2, lane & 3, a.scale, {}};
  {
    PackedHeads<D> heads[1];
    heads[0].load(a.queries + work.row(a) * D, work.heads, lane);
    heads[0].clear();
    if (work.sequence.halfPages > 0) attendTiles<D, 1>(a, work, Unlimited(), heads);
    state.keep(heads[0]);
    __syncwarp();
  }
#pragma unroll 1
  for (; number < end; number += warps) state.attendBlock(chunks);
  state.leave(block, warp);
  awaitCopies<0>();
  __syncthreads();
  float* first = reinterpret_cast<float*>(dynamicMemory + Memory::BLOCK_BYTES);
  finish(a, work, block,
         MeadOutputs<D>{first, stride, 2 * slotBytes + Memory::PAGE_TURNS_BYTES,
                        reinterpret_cast<float*>(a.collected) + work.row(a) * 2 * D});
}

// MeadAttention has the same fields in the same order.
struct MeadFinishing {
  const float* collected;   // (rows, 2 D)
  u16* outputs;             // (rows, D)
  u32 layer, sharing;
};

constexpr int MEAD_FINISHED = 4;   // query heads of a thread block

// Transforms components back to channels: grid (query heads of a KV head / 4, KV heads, sequences), D threads.
template <int D> DEVICE void finishMead(const MeadFinishing& f, const MeadTables& t) {
  __shared__ float components[MEAD_FINISHED][D];
  letNextBegin();
  awaitPrevious();
  const int channel = threadIdx.x, first = blockIdx.x * MEAD_FINISHED, count = min(MEAD_FINISHED, (int)f.sharing - first);
  const size_t row = ((size_t)blockIdx.z * gridDim.y + blockIdx.y) * f.sharing + first;
  const float* collected = f.collected + row * 2 * D;
  const MeadCodes<D>& codes = t.code<D>(f.layer, blockIdx.y, gridDim.y);
  float sums[MEAD_FINISHED];
#pragma unroll
  for (int head = 0; head < MEAD_FINISHED; head++) {
    const bool there = head < count;
    sums[head] = there ? collected[head * 2 * D + channel] : 0.f;
    components[head][channel] = there ? collected[head * 2 * D + D + channel] : 0.f;
  }
  __syncthreads();
#pragma unroll 8
  for (int slot = 0; slot < D; slot++) {
    const float factor = codes.from[slot][channel];
#pragma unroll
    for (int head = 0; head < MEAD_FINISHED; head++) sums[head] = fmaf(factor, components[head][slot], sums[head]);
  }
#pragma unroll
  for (int head = 0; head < MEAD_FINISHED; head++) {
    if (head < count) f.outputs[(row + head) * D + channel] = toHalf(sums[head]);
  }
}
