// Key channels in precision tiers (MixKVQ): channels that queries emphasize and 2 bits would distort have 4 bits or are
// bf16. A page has all channels in 2 bits, with zeros for wide channels, and the address and indices of its wide channels.
// Their number may differ by page and head. Their scores are added to those of the page, with queries gathered in tier
// order.
#pragma once
#include "attend.cuh"
#include "prompt.cuh"
#include "store.cuh"

// Returns the number of steps for a number of 4-bit channels.
DEVICE int stepsOf(int channels) { return (channels + STEP_CHANNELS - 1) / STEP_CHANNELS; }

// The scores of wide channels, for one set of four heads. Shared memory: queries, (D, 4 heads) halves.
template <int D> struct MixedPart {
  using Page = MixedPage<D>;
  const u16* queries;
  float scale;

  DEVICE MixedPart(const Attention& a, const Work& work, u8* memory) : queries(reinterpret_cast<u16*>(memory)), scale(a.scale) {
    const u16* from = a.queries + work.row(a) * D;
#pragma unroll 1
    for (int i = threadIdx.x; i < 4 * D; i += blockDim.x) {
      const int head = i / D, channel = i % D;
      reinterpret_cast<u16*>(memory)[4 * channel + head] = head < work.heads ? from[i] : (u16)0;
    }
    __syncthreads();
  }

  // Returns two channels of the query in a lane's column.
  DEVICE u32 gathered(u32 channels, int head) const {
    return queries[4 * (channels & 255) + head] | (u32)queries[4 * (channels >> 8) + head] << 16;
  }

  // channels: address of the channel indices in the page
  DEVICE void addSteps(const u8* wider, int steps, u32 channels, int lane, float (&x0)[4], float (&x1)[4]) const {
    const int q = lane & 3, head = Twice::column(lane);
    const bool upper = Twice::upper(lane);
    float c[4][4] = {}, zero[4] = {};
#pragma unroll 2
    for (int step = 0; step < steps; step++) {
      const u8* at = wider + step * WiderChannels::STEP_BYTES;
      const uint4 words = loadGlobal(at + 16 * lane);
      const uint2 scales = loadGlobalTwo(at + WiderChannels::scaleAt(lane >> 4, q));
      const uint4 zeros = loadGlobal(at + WiderChannels::zeroAt(q));
      const u32 own = channels + STEP_CHANNELS * step + 2 * q;
      const u32 near = gathered(loadSharedShort(own), head), far = gathered(loadSharedShort(own + 8), head);
      multiplyTiles(zero, zeros.x, zeros.y, zeros.z, zeros.w, near, far);
      const u32 b0 = multiplyHalves(near, scales.x), b1 = multiplyHalves(far, scales.y);
#pragma unroll
      for (int i = 0; i < 4; i++) Fields<4>(wordOf(words, i)).multiply(c[i], c[i], b0, b1);
    }
    const float unit = scale * Fields<4>::unit(false, upper);
    const float zero0 = scale * (upper ? zero[2] : zero[0]), zero1 = scale * (upper ? zero[3] : zero[1]);
#pragma unroll
    for (int i = 0; i < 4; i++) {
      x0[i] += fmaf(upper ? c[i][2] : c[i][0], unit, zero0);
      x1[i] += fmaf(upper ? c[i][3] : c[i][1], unit, zero1);
    }
  }

  DEVICE static float brain(u32 word, int which) { return __int_as_float((int)(which ? word & 0xffff0000u : word << 16)); }

  // These are usually few: each is four tokens of two heads in a lane.
  DEVICE void addKept(const u8* wider, int count, u32 channels, int lane, float (&x0)[4], float (&x1)[4]) const {
    float sum0[4] = {}, sum1[4] = {};
    const u8* own = wider + WiderChannels::keptAt(lane >> 2, Twice::upper(lane));
#pragma unroll 2
    for (int k = 0; k < count; k++) {
      const uint2 keys = loadGlobalTwo(own + k * WiderChannels::KEPT_BYTES);
      const u32 both = *reinterpret_cast<const u32*>(queries + 4 * loadSharedByte(channels + k) + Twice::firstHead(lane));
      const float query0 = toFloat((u16)both), query1 = toFloat((u16)(both >> 16));
#pragma unroll
      for (int i = 0; i < 4; i++) {
        const float key = brain(i < 2 ? keys.x : keys.y, i & 1);
        sum0[i] = fmaf(query0, key, sum0[i]);
        sum1[i] = fmaf(query1, key, sum1[i]);
      }
    }
#pragma unroll
    for (int i = 0; i < 4; i++) {
      x0[i] = fmaf(scale, sum0[i], x0[i]);
      x1[i] = fmaf(scale, sum1[i], x1[i]);
    }
  }

  // Prefetches wide channels while 2-bit channels are multiplied.
  DEVICE void begin(u32 keys, int lane) const {
    const uint4 fields = loadShared(keys + Page::Codes::KEY_BYTES);
    const u8* wider = reinterpret_cast<const u8*>((u64)fields.y << 32 | fields.x);
    const int bytes = stepsOf(fields.z) * WiderChannels::STEP_BYTES + fields.w * WiderChannels::KEPT_BYTES;
#pragma unroll 1
    for (int at = 128 * lane; at < bytes; at += 32 * 128) expect(wider + at);
  }

  DEVICE void addScores(u32 keys, int lane, float (&x0)[1][4], float (&x1)[1][4]) const {
    const u32 header = keys + Page::Codes::KEY_BYTES;
    const uint4 fields = loadShared(header);
    const u8* wider = reinterpret_cast<const u8*>((u64)fields.y << 32 | fields.x);
    const int steps = stepsOf(fields.z), kept = fields.w;
    const u32 channels = header + Page::CHANNELS_AT;
    if (steps > 0) addSteps(wider, steps, channels, lane, x0[0], x1[0]);
    if (kept > 0) {
      addKept(wider + steps * WiderChannels::STEP_BYTES, kept, channels + STEP_CHANNELS * steps, lane, x0[0], x1[0]);
    }
  }

  DEVICE void shrink(int, float, float) const {}
  DEVICE void collect(u32, int, const u32 (&)[4]) const {}
  DEVICE PlainOutputs<D, 4> outputs(const Attention& a, const Work& work, float* memory) const {
    return {memory, a.outputs + work.row(a) * D};
  }
};

// Sums of |q| for each channel of a KV head, in units of 2^-20. There are two sums: one is active, the other is the next.
// dev.kvasir.codec.mixkvq.QueryMagnitudes has the same sums as doubles; integers add up to the same in any order.
template <int D> struct QuerySums {
  static constexpr int BYTES = 2 * D * 8;
  DEVICE static u64* of(u64 page, size_t offset, int which) {
    return reinterpret_cast<u64*>(page + offset + (size_t)blockIdx.y * BYTES) + which * D;
  }
};

// QueryMagnitudeKernels fills it in.
struct SeenQueries {
  const Sequence* sequences;   // each has one row
  const PromptRun* runs;       // whose rows may be anywhere
  const PageEntry* table;
  const u16* queries;          // (rows, query heads, D)
  u64 offset;                  // of this layer's sums
  u32 sharing;
};

DEVICE u64 unitsOf(u16 query) { return __float2ull_rn(fabsf(toFloat(query)) * 1048576.f); }

// grid (sequences, KV heads), D threads. Several sequences may be rows of the same one.
template <int D> DEVICE void seeQueries(const SeenQueries& seen) {
  letNextBegin();
  awaitPrevious();
  const Sequence sequence = seen.sequences[blockIdx.x];
  if (sequence.tablePages == 0) return;
  const PageEntry entry = seen.table[sequence.firstEntry + sequence.packedPages + sequence.halfPages];
  const u16* query = seen.queries + ((size_t)blockIdx.x * gridDim.y + blockIdx.y) * seen.sharing * D + threadIdx.x;
  u64 sum = 0;
  for (int head = 0; head < seen.sharing; head++) sum += unitsOf(query[head * D]);
  atomicAdd(QuerySums<D>::of(entry & ~63ull, seen.offset, entry & 63) + threadIdx.x, sum);
}

constexpr int SEEN_ROWS = 32;   // per block

// The same for prompt chunks: grid (rows of the longest chunk / 32, KV heads, chunks), D threads.
template <int D> DEVICE void seeRuns(const SeenQueries& seen) {
  letNextBegin();
  awaitPrevious();
  const PromptRun run = seen.runs[blockIdx.z];
  const int first = blockIdx.x * SEEN_ROWS, end = min(first + SEEN_ROWS, (int)run.rows);
  if (first >= end) return;
  const u16* query = seen.queries + (size_t)blockIdx.y * seen.sharing * D + threadIdx.x;
  const size_t rowStride = (size_t)gridDim.y * seen.sharing * D;
  u64 sum = 0;
  for (int row = first; row < end; row++) {
    for (int head = 0; head < seen.sharing; head++) {
      sum += unitsOf(query[(run.firstRow + row) * rowStride + head * D]);
    }
  }
  const PageEntry entry = seen.table[run.firstTable];
  atomicAdd(QuerySums<D>::of(entry & ~63ull, seen.offset, entry & 63) + threadIdx.x, sum);
}

// Computes the salience of each channel over blocks that share their tiers, with the same bits as
// dev.kvasir.codec.mixkvq.MixkvqSequence: grid (runs of pages, KV heads, layers), D threads.
// sums: of the first layer; those of `which` are active, the others are cleared; 0 if salience ignores queries
// saliences: (runs, layers, KV heads, D)
template <int D>
DEVICE void judgeKeys(const Packing* packings, u64 halfStride, u32 pagesTogether, u64 sums, u64 sumStride, u32 which, u32 count,
                      float* saliences) {
  letNextBegin();
  awaitPrevious();
  const int channel = threadIdx.x;
  const size_t within = blockIdx.z * halfStride + (size_t)blockIdx.y * HalfPage<D>::BYTES;
  float least = -minusInfinity(), most = minusInfinity();
  for (int page = 0; page < pagesTogether; page++) {
    const u8* from = reinterpret_cast<const u8*>(packings[blockIdx.x * pagesTogether + page].from) + within;
#pragma unroll 8
    for (int token = 0; token < PAGE_TOKENS; token++) {
      const float key = toFloat(*reinterpret_cast<const u16*>(from + HalfPage<D>::keyOffset(token, channel)));
      least = fminf(least, key);
      most = fmaxf(most, key);
    }
  }
  float salience = __fdiv_rn(__fsub_rn(most, least), 3.f);
  if (sums != 0) {
    const double sum = (double)QuerySums<D>::of(sums, blockIdx.z * sumStride, which)[channel] / 1048576.;
    salience = __fmul_rn(salience, count == 0 ? 0.f : (float)(sum / (double)count));
    if (blockIdx.x == 0) QuerySums<D>::of(sums, blockIdx.z * sumStride, which ^ 1)[channel] = 0;
  }
  saliences[((blockIdx.x * gridDim.z + blockIdx.z) * gridDim.y + blockIdx.y) * D + channel] = salience;
}

// The tiers of a head in a block: TierAssignments fills it in.
template <int D> struct TierPlan {
  u64 wider[2];   // of the two pages
  u32 mid, kept;  // numbers of channels
  u8 channels[D + STEP_CHANNELS];

  DEVICE int steps() const { return stepsOf(mid); }
  DEVICE int keptChannel(int k) const { return channels[STEP_CHANNELS * steps() + k]; }
};

// Numbers of 2-bit channels; wide channels are zero.
template <int D, class NUMBERS> struct NarrowNumbers {
  NUMBERS numbers;
  const u8* isWider;
  DEVICE float operator()(int token, int channel) const { return isWider[channel] ? 0.f : numbers(token, channel); }
};

// Rounds to nearest, ties to even, as dev.kvasir.page.HalfRounding.
DEVICE u16 toBrain(float x) {
  const u32 bits = (u32)__float_as_int(x);
  return (u16)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

// Returns a word of a step: codes, scales, zeros.
// groups: (2, D), of 4-bit channels
template <int D> DEVICE u32 stepWord(const TierPlan<D>& plan, const PlainRows<D>& rows, const Group* groups, int step, int word) {
  const int first = STEP_CHANNELS * step, count = min((int)plan.mid - first, STEP_CHANNELS);
  const u8* channels = plan.channels + first;
  u32 out = 0;
  auto put = [&](int place, int shift, auto number) {
    if (place < count) out |= number(channels[place]) << shift;
  };
  if (word < WiderChannels::CODE_BYTES / 4) {
    for (int p = 0; p < 4; p++) {
      const int2 place = keyOf<4>(word, p);
      for (int half = 0; half < 2; half++) {
        put(place.y + half, 4 * p + 16 * half, [&](int channel) {
          return groups[place.x / 32 * D + channel].template code<StepSpan<4>>(rows(place.x, channel));
        });
      }
    }
  } else {
    const int e = word - WiderChannels::CODE_BYTES / 4;
    const bool zero = e >= WiderChannels::SCALE_BYTES / 4;
    const int of = zero ? e - WiderChannels::SCALE_BYTES / 4 : e;
    const int group = zero ? of & 1 : of / 8, quad = zero ? of / 4 : of / 2 % 4, far = zero ? of >> 1 & 1 : of & 1;
    for (int half = 0; half < 2; half++) {
      put(8 * far + 2 * quad + half, 16 * half, [&](int channel) {
        const Group& its = groups[group * D + channel];
        return (u32)(zero ? its.zero : its.scale);
      });
    }
  }
  return out;
}

// Writes the wide channels of a page, whose rows are in shared memory.
// other: the page that shares scales with this one, if 128 tokens do
template <int D> DEVICE void packWider(PackingMemory<D>& m, const TierPlan<D>& plan, const PlainKeys<D>& other, u8* to, int group) {
  const PlainRows<D> rows{m};
  const int steps = plan.steps();
  for (int i = threadIdx.x; i < 2 * plan.mid; i += blockDim.x) {
    const int which = i % 2, channel = plan.channels[i / 2], first = group == 32 ? 32 * which : 0;
    m.groups[which * D + channel] = group == 2 * PAGE_TOKENS
                                        ? groupOfTwo<StepSpan<4>>(rows, other, channel)
                                        : Group::of<StepSpan<4>>([&](int k) { return rows(first + k, channel); }, group);
  }
  __syncthreads();
  constexpr int STEP_WORDS = WiderChannels::STEP_BYTES / 4;
  for (int i = threadIdx.x; i < steps * STEP_WORDS; i += blockDim.x) {
    reinterpret_cast<u32*>(to)[i] = stepWord<D>(plan, rows, m.groups, i / STEP_WORDS, i % STEP_WORDS);
  }
  for (int i = threadIdx.x; i < plan.kept * PAGE_TOKENS; i += blockDim.x) {
    const int token = i % PAGE_TOKENS, kept = i / PAGE_TOKENS;
    u8* channel = to + steps * WiderChannels::STEP_BYTES + kept * WiderChannels::KEPT_BYTES;
    const int at = WiderChannels::keptAt(token % 8, token / 32) + 2 * (token % 32 / 8);
    *reinterpret_cast<u16*>(channel + at) = toBrain(rows(token, plan.keptChannel(kept)));
  }
}

template <int D> DEVICE void writeHeader(u8* header, const TierPlan<D>& plan, u64 wider) {
  if (threadIdx.x == 0) *reinterpret_cast<uint4*>(header) = uint4{(u32)wider, (u32)(wider >> 32), plan.mid, plan.kept};
  for (int i = threadIdx.x; i < D + STEP_CHANNELS; i += blockDim.x) header[MixedPage<D>::CHANNELS_AT + i] = plan.channels[i];
}

// Like packPage, with a plan for each block, layer and KV head.
template <int D>
DEVICE void packMixed(const Packing* packings, const TierPlan<D>* plans, u64 halfStride, u64 packedStride, u32 keyGroup,
                      u32 valueGroup) {
  using Page = MixedPage<D>;
  letNextBegin();
  awaitPrevious();
  extern __shared__ __align__(128) u8 dynamicMemory[];
  __shared__ u8 isWider[D];
  PackingMemory<D>& m = *reinterpret_cast<PackingMemory<D>*>(dynamicMemory);
  const TierPlan<D>& plan = plans[(blockIdx.x / 2 * gridDim.z + blockIdx.z) * gridDim.y + blockIdx.y];
  const u64 wider = plan.wider[blockIdx.x % 2];
  const size_t within = blockIdx.z * halfStride + (size_t)blockIdx.y * HalfPage<D>::BYTES;
  const u8* from = reinterpret_cast<const u8*>(packings[blockIdx.x].from) + within;
  const u8* other = reinterpret_cast<const u8*>(packings[keyGroup == 2 * PAGE_TOKENS ? blockIdx.x ^ 1 : blockIdx.x].from) + within;
  u8* to = reinterpret_cast<u8*>(packings[blockIdx.x].to) + blockIdx.z * packedStride + (size_t)blockIdx.y * Page::BYTES;
  for (int i = threadIdx.x; i < D; i += blockDim.x) isWider[i] = 0;
  loadKeys<D>(from, m.rows);
  __syncthreads();
  for (int i = threadIdx.x; i < plan.mid + plan.kept; i += blockDim.x) {
    isWider[i < plan.mid ? plan.channels[i] : plan.keptChannel(i - plan.mid)] = 1;
  }
  __syncthreads();
  packKeys<StepSpan<2>, D>(m, NarrowNumbers<D, PlainRows<D>>{PlainRows<D>{m}, isWider},
                           NarrowNumbers<D, PlainKeys<D>>{PlainKeys<D>{other}, isWider}, reinterpret_cast<u32*>(to), keyGroup);
  writeHeader<D>(to + Page::Codes::KEY_BYTES, plan, wider);
  __syncthreads();
  packWider<D>(m, plan, PlainKeys<D>{other}, reinterpret_cast<u8*>(wider), keyGroup);
  __syncthreads();
  loadValues<D>(from, m.rows);
  __syncthreads();
  packValues<StepSpan<2>, D>(m, PlainRows<D>{m}, reinterpret_cast<u32*>(to + Page::KEY_BYTES), valueGroup);
}

// Dequantizes elements of wide channels, like MixkvqPage.
struct WiderNumbers {
  DEVICE static float half(const u8* at) { return toFloat(*reinterpret_cast<const u16*>(at)); }

  // place: index among the channels of its step
  DEVICE static float mid(const u8* step, int token, int place) {
    const int tile = token % 32 / 8, group = token / 32, far = place / 8, quad = place % 8 / 2;
    const u32 word = *reinterpret_cast<const u32*>(step + 16 * (4 * (token % 8) + quad) + 4 * tile);
    const u32 code = word >> (16 * (place % 2) + 4 * (group + 2 * far)) & 15;
    const float scale = half(step + WiderChannels::scaleAt(group, quad) + 4 * far + 2 * (place % 2));
    const float zero = half(step + WiderChannels::zeroAt(quad) + 4 * (group + 2 * far) + 2 * (place % 2));
    return fmaf(scale, (float)code, zero);
  }

  DEVICE static float kept(const u8* channel, int token) {
    const int at = WiderChannels::keptAt(token % 8, token / 32) + 2 * (token % 32 / 8);
    return __int_as_float((int)((u32)*reinterpret_cast<const u16*>(channel + at) << 16));
  }
};

// 256 threads: dequantizes packed pages.
template <int D> DEVICE void unpackMixed(const Unpacking& unpacking) {
  using Page = MixedPage<D>;
  using Places = PackedPlaces<2, D>;
  letNextBegin();
  awaitPrevious();
  if (unpacking.none()) return;
  u8* halves = unpacking.halves<D>();
  const u8* page = unpacking.packed(Page::BYTES);
  const u8* header = page + Page::Codes::KEY_BYTES;
  const u8* wider = *reinterpret_cast<const u8* const*>(header);
  const int mid = reinterpret_cast<const u32*>(header)[2], kept = reinterpret_cast<const u32*>(header)[3], steps = stepsOf(mid);
  const u8* behindHeader = page + Page::HEADER_BYTES;   // values follow the header
  writeHalves<D>(
      halves, [&](int token, int channel) { return Places::key(page, token, channel); },
      [&](int token, int channel) { return Places::value(behindHeader, token, channel); });
  __syncthreads();
  auto put = [&](int channel, int token, float x) {
    *reinterpret_cast<u16*>(halves + HalfPage<D>::keyOffset(token, channel)) = toHalf(x);
  };
  const u8* channels = header + Page::CHANNELS_AT;
  for (int i = threadIdx.x; i < mid * PAGE_TOKENS; i += blockDim.x) {
    const int place = i / PAGE_TOKENS, token = i % PAGE_TOKENS;
    const u8* step = wider + place / STEP_CHANNELS * WiderChannels::STEP_BYTES;
    put(channels[place], token, WiderNumbers::mid(step, token, place % STEP_CHANNELS));
  }
  for (int i = threadIdx.x; i < kept * PAGE_TOKENS; i += blockDim.x) {
    const int k = i / PAGE_TOKENS, token = i % PAGE_TOKENS;
    const u8* channel = wider + steps * WiderChannels::STEP_BYTES + k * WiderChannels::KEPT_BYTES;
    put(channels[STEP_CHANNELS * steps + k], token, WiderNumbers::kept(channel, token));
  }
}

// Gives random pages wide channels, for benchmarks: grid (pages of one head), 32 threads.
// wider: address of the wide channels, widerBytes for each page
template <int D> DEVICE void pretendTiers(u8* pages, u64 wider, u64 widerBytes, u32 mid, u32 kept) {
  u8* header = pages + (size_t)blockIdx.x * MixedPage<D>::BYTES + MixedPage<D>::Codes::KEY_BYTES;
  const u64 own = wider + blockIdx.x * widerBytes;
  if (threadIdx.x == 0) *reinterpret_cast<uint4*>(header) = uint4{(u32)own, (u32)(own >> 32), mid, kept};
  for (int i = threadIdx.x; i < D + STEP_CHANNELS; i += 32) header[MixedPage<D>::CHANNELS_AT + i] = (blockIdx.x + 37 * i) % D;
}
