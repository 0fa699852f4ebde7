// Quantizes blocks of fp16 pages with the same bits as dev.kvasir.codec.mead, where no token has received attention. Floats and
// doubles are rounded after each operation and summed in the order of the host.
#pragma once
#include "attend.cuh"
#include "encode.cuh"
#include "meadpages.cuh"

// MeadPageQuantizer has the same fields in the same order.
struct MeadPacking {
  const Packing* packings;   // two pages of each block
  const u64* metadata;       // of each block: position, and token ids if they are needed; null for first positions
  u64 halfStride;            // from a layer's fp16 page to the next layer's
  u32 metadataLongs;
  u32 unused;
};

template <int D> struct MeadPackingMemory {
  static constexpr int RAW_BYTES = MEAD_TOKENS * (D + 2) * 2;
  float x[MEAD_TOKENS][D + 1];      // residuals, then errors
  double keyEnergies[MEAD_TOKENS];
  union {
    u16 raw[MEAD_TOKENS][D + 2];    // values, until they are components
    struct {
      double scores[MEAD_TOKENS];
      u8 codes[MEAD_TOKENS][D];     // (rows, slots)
      u8 nibbles[D];                // mean errors by slot
      u8 order[MEAD_TOKENS];        // token of a row
      u8 scales[2][MEAD_TOKENS];    // by row
    } s;
  };
  u32 tableRows[2][MEAD_TOKENS];    // by token
};

DEVICE double addRounded(double a, double b) { return __dadd_rn(a, b); }
DEVICE double squareRounded(double a) { return __dmul_rn(a, a); }

// Loads keys, rotated back, in pair order.
template <int D> DEVICE void loadMeadKeys(const MeadTables& t, const u8* const (&pages)[2], u32 position, MeadPackingMemory<D>& m) {
  const float2* turns = t.turnsOf(position, D / 2);
  for (int i = threadIdx.x; i < MEAD_TOKENS * (D / 2); i += blockDim.x) {
    const int token = i / (D / 2), pair = i % (D / 2);
    const u8* page = pages[token / PAGE_TOKENS];
    float2 x;
    x.x = toFloat(*reinterpret_cast<const u16*>(page + HalfPage<D>::keyOffset(token % PAGE_TOKENS, t.order[pair])));
    x.y = toFloat(*reinterpret_cast<const u16*>(page + HalfPage<D>::keyOffset(token % PAGE_TOKENS, t.order[D / 2 + pair])));
    x = turnedBack(turnedBack(x, turns[pair]), t.places[i]);
    m.x[token][pair] = x.x;
    m.x[token][D / 2 + pair] = x.y;
  }
}

// Multiplies values with the transform, with the host's sixteen partial sums. A thread has four components of a
// token at a time.
template <int D> DEVICE void loadMeadComponents(const MeadCodes<D>& codes, const u8* const (&pages)[2], MeadPackingMemory<D>& m) {
  for (int i = threadIdx.x; i < MEAD_TOKENS * D; i += blockDim.x) {
    const int token = i / D, channel = i % D;
    m.raw[token][channel] = *reinterpret_cast<const u16*>(pages[token / PAGE_TOKENS] +
                                                          HalfPage<D>::valueOffset(token % PAGE_TOKENS, channel));
  }
  __syncthreads();
  constexpr int MANY = 4;
  const int token = threadIdx.x % MEAD_TOKENS, teams = blockDim.x / MEAD_TOKENS;
#pragma unroll 1
  for (int first = MANY * (threadIdx.x / MEAD_TOKENS); first < D; first += MANY * teams) {
    float sums[MANY][HOST_SUMS];
#pragma unroll
    for (int c = 0; c < MANY; c++) {
#pragma unroll
      for (int e = 0; e < HOST_SUMS; e++) sums[c][e] = 0.f;
    }
#pragma unroll 1
    for (int k = 0; k < D; k += HOST_SUMS) {
#pragma unroll
      for (int e = 0; e < HOST_SUMS; e++) {
        const float x = toFloat(m.raw[token][k + e]);
#pragma unroll
        for (int c = 0; c < MANY; c++) sums[c][e] = fmaf(x, codes.to[first + c][k + e], sums[c][e]);
      }
    }
#pragma unroll
    for (int c = 0; c < MANY; c++) {
      float parts[4];
#pragma unroll
      for (int p = 0; p < 4; p++) {
        const float* four = sums[c] + 4 * p;
        parts[p] = __fadd_rn(__fadd_rn(four[0], four[1]), __fadd_rn(four[2], four[3]));
      }
      m.x[token][first + c] = __fadd_rn(__fadd_rn(parts[0], parts[1]), __fadd_rn(parts[2], parts[3]));
    }
  }
  __syncthreads();
}

// Selects the table row of each token, one thread per token.
template <int D>
DEVICE void selectMeadRows(const MeadTables& t, const MeadCodes<D>& codes, const u8* rows, int side, const u32* ids,
                           MeadPackingMemory<D>& m) {
  const int token = threadIdx.x;
  if (token < MEAD_TOKENS) {
    u32 chosen = 0;
    if (t.kind == MEAD_BY_TOKEN) chosen = ids[token] < t.vocabulary ? t.tokenRows[ids[token]] : t.tokenRows[0];
    if (t.kind == MEAD_CENTROIDS) {
      double least = __longlong_as_double(0x7ff0000000000000LL);
      for (u32 row = 0; row < t.tableRows; row++) {
        double distance = 0;
        for (int c = 0; c < D && distance < least; c++) {
          const float lost = __fmul_rn(__fsub_rn(m.x[token][c], meadRow(codes, rows, row, side, c)),
                                       side == 0 ? codes.weights[c] : 1.f);
          distance = addRounded(distance, squareRounded(lost));
        }
        if (distance < least) {
          least = distance;
          chosen = row;
        }
      }
    }
    m.tableRows[side][token] = chosen;
  }
  __syncthreads();
}

template <int D> DEVICE void subtractMeadRows(const MeadCodes<D>& codes, const u8* rows, int side, MeadPackingMemory<D>& m) {
  for (int i = threadIdx.x; i < MEAD_TOKENS * D; i += blockDim.x) {
    const int token = i / D, channel = i % D;
    m.x[token][channel] = __fsub_rn(m.x[token][channel], meadRow(codes, rows, m.tableRows[side][token], side, channel));
  }
  __syncthreads();
}

// Returns the squared length of a token's residual, with weights if there are any.
template <int D> DEVICE double meadEnergy(const float* x, const float* weights) {
  double sum = 0;
  for (int c = 0; c < D; c++) {
    sum = addRounded(sum, squareRounded(__dmul_rn((double)x[c], weights == nullptr ? 1. : (double)weights[c])));
  }
  return sum;
}

// Returns the number of earlier tokens of a tier with the same remainder modulo 8.
template <int D> DEVICE int rankOf(const MeadPackingMemory<D>& m, int tier, int token) {
  int rank = 0;
  for (int other = token % 8; other < token; other += 8) rank += m.s.scales[0][other] == tier;
  return rank;
}

// Orders tokens by tier, those with the largest scores in the last rows. Remainders modulo 8 alternate.
template <int D> DEVICE void orderMeadTokens(MeadPackingMemory<D>& m) {
  const int token = threadIdx.x;
  int tier = 0;
  if (token < MEAD_TOKENS) {
    int rank = 0;   // tokens with larger scores, and earlier ones of equal scores
    for (int other = 0; other < MEAD_TOKENS; other++) {
      rank += m.s.scores[other] > m.s.scores[token] || (other < token && m.s.scores[other] == m.s.scores[token]);
    }
    tier = rank < 16 ? 2 : rank < 64 ? 1 : 0;
    m.s.scales[0][token] = (u8)tier;   // until there are scales
  }
  __syncthreads();
  if (token < MEAD_TOKENS) {
    const int rank = rankOf(m, tier, token);
    int row = TILE_TOKENS * meadFirstTile(tier);
    for (int other = 0; other < MEAD_TOKENS; other++) {
      if (m.s.scales[0][other] != tier) continue;
      const int its = rankOf(m, tier, other);
      row += its < rank || (its == rank && other % 8 < token % 8);
    }
    m.s.order[row] = (u8)token;
  }
  __syncthreads();
}

// Encodes one vector like dev.kvasir.codec.mead.RowEncoder.
template <int D> struct MeadRowEncoder {
  const MeadConstants& constants;
  const u8* bits;
  const float* halfSteps;
  const float* weights;   // null for ones

  DEVICE float value(int channel, u32 code, float scale) const {
    const float half = halfSteps[channel];
    const float minimum = __fmul_rn((float)(1 - (1 << bits[channel])), half);
    return __fmul_rn(fmaf((float)code, 2.f * half, minimum), scale);
  }

  DEVICE u32 code(float x, int channel, float scale) const {
    const float middle = (float)(1 << (bits[channel] - 1));
    const float step = __fmul_rn(2.f * halfSteps[channel], scale);
    return (u32)fminf(fmaxf(floorf(__fdiv_rn(x, step)) + middle, 0.f), 2.f * middle - 1.f);
  }

  DEVICE int initialScale(const float* x) const {
    double sum = 0;
    int coded = 0;
    for (int c = 0; c < D; c++) {
      if (bits[c] > 0) {
        const double deviation = __fdiv_rn(__fmul_rn(x[c], constants.unitSteps[bits[c]]), 2.f * halfSteps[c]);
        sum = addRounded(sum, squareRounded(deviation));
        coded++;
      }
    }
    const double deviation = sqrt(sum / (double)max(1, coded));
    int scale = 0;
    for (int s = 1; s < 8; s++) scale += deviation >= constants.thresholds[s];
    return scale;
  }

  DEVICE bool hasCodes() const {
    for (int c = 0; c < D; c++) {
      if (bits[c] > 0) return true;
    }
    return false;
  }

  // Returns the scale. x becomes the error.
  // widthOf: of a step; out: codes by slot
  template <class WIDTHS> DEVICE int encode(float* x, const u8* slots, const WIDTHS& widthOf, u8* out) const {
    if (!hasCodes()) return 0;
    const int initial = initialScale(x);
    int chosen = initial;
    double least = __longlong_as_double(0x7ff0000000000000LL);
    for (int s = max(0, initial - 1); s <= min(7, initial + 1); s++) {
      const float scale = constants.scales[s];
      double left = 0;
      for (int c = 0; c < D; c++) {
        if (bits[c] > 0) {
          const double lost = __fsub_rn(x[c], value(c, code(x[c], c, scale), scale));
          left = addRounded(left, squareRounded(weights == nullptr ? lost : __dmul_rn(lost, (double)weights[c])));
        }
      }
      if (left < least) {
        least = left;
        chosen = s;
      }
    }
    const float scale = constants.scales[chosen];
    for (int c = 0; c < D; c++) {
      if (bits[c] > 0) {
        const u32 its = code(x[c], c, scale);
        x[c] = __fsub_rn(x[c], value(c, its, scale));
        out[slots[c]] = (u8)(its << (widthOf(slots[c] / MEAD_STEP) - bits[c]));
      }
    }
    return chosen;
  }
};

template <int D>
DEVICE void encodeMeadRows(const MeadTables& t, const MeadHead<D>& head, const MeadCodes<D>& codes, int side, MeadPackingMemory<D>& m) {
  for (int i = threadIdx.x; i < MEAD_TOKENS * D; i += blockDim.x) m.s.codes[i / D][i % D] = 0;
  __syncthreads();
  const int row = threadIdx.x;
  if (row < MEAD_TOKENS) {
    const int tier = meadTierOf(row);
    const MeadRowEncoder<D> encoder{*t.constants, codes.bits[side][tier], codes.halfSteps[side][tier],
                                    side == 0 ? codes.weights : nullptr};
    m.s.scales[side][row] = (u8)encoder.encode(
        m.x[m.s.order[row]], codes.slots[side], [&](int step) { return head.width(side, tier, step); }, m.s.codes[row]);
  }
  __syncthreads();
}

// Writes the planes of all steps: a thread has a lane of a group of tiles at a time.
template <int D>
DEVICE void writeMeadPlanes(const MeadHead<D>& head, const MeadCodes<D>& codes, int side, const MeadPackingMemory<D>& m, u8* part) {
  constexpr int STEPS = D / MEAD_STEP;
  for (int i = threadIdx.x; i < MEAD_GROUPS * STEPS * 32; i += blockDim.x) {
    const int lane = i % 32, step = i / 32 % STEPS, group = i / 32 / STEPS, r = lane >> 2, q = lane & 3;
    const int width = head.width(side, group, step), wider = group == 0 ? 0 : head.width(side, 2, step) - width;
    auto codeOf = [&](int tile, const MeadField& f) -> u32 {
      const int row = side == 0 ? r + 8 * (f.reg & 1) : 2 * q + f.odd + 8 * (f.reg >> 1);
      const int slot = side == 0 ? 2 * q + f.odd + 8 * (f.reg >> 1) : r + 8 * (f.reg & 1);
      return m.s.codes[TILE_TOKENS * (MEAD_GROUP_TILES * group + tile) + row][MEAD_STEP * step + slot];
    };
    forMeadPlanes(width, MeadPlanes::TILE_BITS, [&](int bits, int at, int below) {
      u32* words = reinterpret_cast<u32*>(part + codes.stepsAt[side][group][step] + at) + bits * lane;
      for (int k = 0; k < bits; k++) words[k] = 0;
      for (int e = 0; e < 8 * MEAD_GROUP_TILES; e++) {
        const int tile = e / 8;
        const MeadField f{lane, e / 2 % 4, e % 2};
        const int left = tile == MEAD_GROUP_TILES - 1 ? below + wider : below;
        const int start = MeadPlanes::start(tile, f.reg, bits, below);
        words[start % bits] |= MeadPlanes::placed(codeOf(tile, f) >> left & ((1u << bits) - 1), start, f);
      }
    });
    forMeadPlanes(wider, MeadLastPlanes::TILE_BITS, [&](int bits, int at, int below) {
      u32 word = 0;
      for (int e = 0; e < 8; e++) {
        const MeadField f{lane, e / 2, e % 2};
        word |= MeadLastPlanes::placed(codeOf(MEAD_GROUP_TILES - 1, f) >> below & ((1u << bits) - 1), bits, f);
      }
      u8* place = part + codes.stepsAt[side][MEAD_GROUPS][step] + at + bits * lane;
      if (bits == 4) {
        *reinterpret_cast<u32*>(place) = word;
      } else if (bits == 2) {
        *reinterpret_cast<u16*>(place) = (u16)word;
      } else {
        *place = (u8)word;
      }
    });
  }
}

// Stores the mean error of components.
template <int D> DEVICE void writeMeadMeans(const MeadCodes<D>& codes, MeadPackingMemory<D>& m, u8* part) {
  const int channel = threadIdx.x;
  if (channel < D) {
    double mean = 0;
    for (int token = 0; token < MEAD_TOKENS; token++) mean = addRounded(mean, __dmul_rn(1. / MEAD_TOKENS, (double)m.x[token][channel]));
    const float unit = codes.units[channel];
    const int code = unit > 0.f ? (int)fmin(fmax(rint(mean / (double)unit), -8.), 7.) : 0;
    m.s.nibbles[codes.slots[1][channel]] = (u8)(code & 15);
  }
  __syncthreads();
  if (channel < D / 2) {   // the steps of a byte are adjacent
    const int row = channel / (D / MEAD_STEP / 2), step = channel % (D / MEAD_STEP / 2) * 2;
    const int slot = MEAD_STEP * step + row / 2 + 8 * (row % 2);
    part[channel] = m.s.nibbles[slot] | m.s.nibbles[slot + MEAD_STEP] << 4;
  }
}

template <int D> DEVICE void writeMeadHeader(const MeadTables& t, u32 position, const MeadPackingMemory<D>& m, u8* part) {
  const int row = threadIdx.x;
  if (row < MEAD_TOKENS) {
    const int token = m.s.order[row];
    *reinterpret_cast<u16*>(part + MeadRowInfo::at(row)) = (u16)(token | m.s.scales[0][row] << 7 | m.s.scales[1][row] << 10);
    if (t.kind == MEAD_CENTROIDS) {
      part[MEAD_TABLE_AT + row] = (u8)m.tableRows[0][token];
      part[MEAD_TABLE_AT + MEAD_TOKENS + row] = (u8)m.tableRows[1][token];
    }
    if (t.kind == MEAD_BY_TOKEN) reinterpret_cast<u16*>(part + MEAD_TABLE_AT)[row] = (u16)m.tableRows[0][token];
  }
  if (row < 8) reinterpret_cast<u32*>(part + MEAD_POSITION_AT)[row] = row == 0 ? position : 0;
}

// grid (blocks, KV heads, layers), 256 threads, MeadPackingMemory<D> of dynamic shared memory
template <int D> DEVICE void packMead(const MeadPacking& p, const MeadTables& t) {
  letNextBegin();
  awaitPrevious();
  MeadPackingMemory<D>& m = *reinterpret_cast<MeadPackingMemory<D>*>(dynamicMemory);
  const int layer = blockIdx.z, kvHead = blockIdx.y;
  const MeadHead<D>& head = t.head<D>(layer, kvHead, gridDim.y);
  const MeadCodes<D>& codes = t.code<D>(layer, kvHead, gridDim.y);
  const u8* rows = t.rowsOf<D>(layer, kvHead, gridDim.y);
  const Packing* both = p.packings + 2 * blockIdx.x;
  const size_t within = layer * p.halfStride + (size_t)kvHead * HalfPage<D>::BYTES;
  const u8* const pages[2] = {reinterpret_cast<const u8*>(both[0].from) + within, reinterpret_cast<const u8*>(both[1].from) + within};
  u8* keyPart = reinterpret_cast<u8*>(both[head.keyPage].to) + head.keyAt;
  u8* valuePart = reinterpret_cast<u8*>(both[head.valuePage].to) + head.valueAt;
  const u64* own = p.metadata == nullptr ? nullptr : p.metadata + (size_t)blockIdx.x * p.metadataLongs;
  const u32 position = own == nullptr ? t.firstPosition : (u32)own[0];
  const u32* ids = reinterpret_cast<const u32*>(own + 1);
  if (head.isFree) {
    if (threadIdx.x < MEAD_TOKENS) reinterpret_cast<u32*>(keyPart + MEAD_TABLE_AT)[threadIdx.x] = ids[threadIdx.x];
    if (threadIdx.x < 8) reinterpret_cast<u32*>(keyPart + MEAD_POSITION_AT)[threadIdx.x] = threadIdx.x == 0 ? position : 0;
    return;
  }

  loadMeadKeys<D>(t, pages, position, m);
  __syncthreads();
  selectMeadRows<D>(t, codes, rows, 0, ids, m);
  subtractMeadRows<D>(codes, rows, 0, m);
  if (threadIdx.x < MEAD_TOKENS) m.keyEnergies[threadIdx.x] = meadEnergy<D>(m.x[threadIdx.x], codes.weights);
  __syncthreads();
  loadMeadComponents<D>(codes, pages, m);
  selectMeadRows<D>(t, codes, rows, 1, ids, m);
  subtractMeadRows<D>(codes, rows, 1, m);
  if (threadIdx.x < MEAD_TOKENS) {
    m.s.scores[threadIdx.x] = addRounded(m.keyEnergies[threadIdx.x], meadEnergy<D>(m.x[threadIdx.x], nullptr));
  }
  __syncthreads();
  orderMeadTokens<D>(m);
  encodeMeadRows<D>(t, head, codes, 1, m);
  writeMeadPlanes<D>(head, codes, 1, m, valuePart);
  writeMeadMeans<D>(codes, m, valuePart);
  __syncthreads();
  loadMeadKeys<D>(t, pages, position, m);   // again: there is memory for one side
  __syncthreads();
  subtractMeadRows<D>(codes, rows, 0, m);
  encodeMeadRows<D>(t, head, codes, 0, m);
  writeMeadPlanes<D>(head, codes, 0, m, keyPart);
  writeMeadHeader<D>(t, position, m, keyPart);
}
