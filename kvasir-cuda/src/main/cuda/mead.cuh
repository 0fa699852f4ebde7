// Attention on Mead pages. A warp has a block of 128 tokens at a time, in eight tiles of 16 rows. Codes become operands of the
// matrix instruction under a mask (MeadPlanes); what channels are multiplied with goes into the small operand.
//
// Queries are rotated back to the block's middle, token 64. The matrix instruction has eight columns and four heads:
//
//              columns 0 to 3, queries (x, y)                 columns 4 to 7, queries a quarter turn further (-y, x)
//   base       predictions, which cosines and sines rotate    minima of the tier's codes
//   codes      codes times the factors of their channels      how codes change with the distance from the middle
//
//   score = base[0] + scale of the token (base[1] + codes[0] + distance codes[1])
//
// Pairs that rotate little within a block have both code columns: cosines are nearly constant, sines nearly linear. HeadRecord
// sorts out the others, whose codes become halves and are rotated by the token's index before the product.
//
// Values: weights times scales are the second operand. Sums of components stay in shared memory. A last kernel transforms
// them back, once for each query.
#pragma once
#include "attend.cuh"
#include "commvq.cuh"
#include "meadchunks.cuh"
#include "meadcodes.cuh"
#include "rotary.cuh"

// A layer, as attention takes it. DeviceTables writes them.
struct MeadLayer {
  MeadTables tables;
  u32 layer;
  u32 slotBytes;   // of the largest chunk
};

// Loads four matrices of 8 x 8 halves: a lane has the address of a row, eight lanes for each matrix.
DEVICE uint4 loadMatrices(u32 at) {
  uint4 v;
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "r"(at));
  return v;
}

// Sums of a lane's two heads.
struct MeadSums {
  float most0, most1, sum0, sum1;   // of all weights
  float of[MEAD_TIERS][2];          // of weights times scales
  float packed0, packed1;           // of weights of packed tokens

  DEVICE void clear() {
    most0 = most1 = minusInfinity();
    sum0 = sum1 = packed0 = packed1 = 0.f;
#pragma unroll
    for (int tier = 0; tier < MEAD_TIERS; tier++) of[tier][0] = of[tier][1] = 0.f;
  }

  DEVICE void shrink(float factor0, float factor1) {
    sum0 *= factor0; packed0 *= factor0;
    sum1 *= factor1; packed1 *= factor1;
#pragma unroll
    for (int tier = 0; tier < MEAD_TIERS; tier++) {
      of[tier][0] *= factor0;
      of[tier][1] *= factor1;
    }
  }
};

DEVICE float sumOfHeads(float x) {
#pragma unroll
  for (int s = Twice::NEAREST_LANE; s < 32; s <<= 1) x += __shfl_xor_sync(ALL_LANES, x, s);
  return x;
}

// Scales of tokens by index, those of keys in units of scores.
struct MeadScales {
  float keys[8], values[8];   // 32 bytes each

  DEVICE void fill(int i, float unit) {
    values[i] = powerOfTwo(((float)i - 4.f) * (2.f / 3.f));
    keys[i] = unit * values[i];
  }
};

template <int D> struct MeadWarp {
  using Memory = MeadMemory<D>;
  const MeadHead<D>& head;
  const MeadTables& tables;
  u32 scales;                                      // MeadScales
  u32 turns, queries, pageTurns, rotated, totals, factors;  // in shared memory; turns are cosines, or sines for the last 16 lanes
  int lane, r, q;
  float scale;
  MeadSums sums;
  float2 turn0, turn1;   // of the next block, of a step and quad

  // Loads the angles of a block.
  DEVICE void expectBlock(int block) {
    if (lane < 4 * Memory::STEPS) {
      const float2* own = tables.middleTurns(block, D / 2);
      const u8* pairs = head.pairs + 2 * lane;   // of step lane / 4 and quad lane % 4
      turn0 = own[pairs[0]];
      turn1 = own[pairs[1]];
    }
  }

  // Rotates queries back by the block's position.
  DEVICE void rotateQueries() const {
    __syncwarp();   // all lanes have read the angles of the last block
    if (lane < 4 * Memory::STEPS) {
      asm volatile("st.shared.v4.f32 [%0], {%1,%2,%3,%4};" ::"r"(pageTurns + 16 * lane), "f"(turn0.x), "f"(turn0.y), "f"(turn1.x),
                   "f"(turn1.y) : "memory");
    }
    __syncwarp();
    const u32 first = lane < 16 ? 0 : Memory::HALF_STEPS, column = lane & 15;
    const u32 from = queries + 128 * first + 8 * column, turn = pageTurns + 64 * first + 16 * q;
    const u32 to = rotated + Memory::QUERY_BYTES * first + 8 * column;
#pragma unroll 2
    for (int step = 0; step < Memory::HALF_STEPS; step++) {
      const uint2 raw = loadSharedPair(from + 128 * step);
      const uint4 angle = loadShared(turn + 64 * step);
      const float c0 = __uint_as_float(angle.x), s0 = __uint_as_float(angle.y), c1 = __uint_as_float(angle.z), s1 = __uint_as_float(angle.w);
      const float x0 = toFloat((u16)raw.x), x1 = toFloat((u16)(raw.x >> 16)), y0 = toFloat((u16)raw.y), y1 = toFloat((u16)(raw.y >> 16));
      const u32 x = toHalves(fmaf(x0, c0, y0 * s0), fmaf(x1, c1, y1 * s1));
      const u32 y = toHalves(fmaf(y0, c0, -x0 * s0), fmaf(y1, c1, -x1 * s1));
      const u32 at = to + Memory::QUERY_BYTES * step;
      asm volatile("st.shared.v2.u32 [%0], {%1,%2};" ::"r"(at), "r"(x), "r"(y) : "memory");
      asm volatile("st.shared.v2.u32 [%0], {%1,%2};" ::"r"(at + Memory::QUERY_BYTES / 2), "r"(y ^ 0x80008000u), "r"(x) : "memory");
    }
  }

  // Multiplies codes of pairs that rotate little.
  template <bool LAST>
  DEVICE void scoreCodes(u32 at, int width, int wider, u32 x, u32 y, u32 lastX, u32 lastY, float (&codes)[MEAD_GROUP_TILES][4]) const {
    withGroupPlanes(width, [&](auto its, int rest) {
      constexpr int BITS = decltype(its)::BITS;
      const MeadGroupCodes<BITS, decltype(its)::BELOW> plane(at, lane);
      at += MeadPlanes::TILE_BITS * BITS;
      u32 b0 = x, b1 = y, last0 = lastX, last1 = lastY;
      if (BITS == 4 && rest > 0) {
        b0 = multiplyHalves(x, meadPower(-rest)); b1 = multiplyHalves(y, meadPower(-rest));
        last0 = multiplyHalves(lastX, meadPower(-rest)); last1 = multiplyHalves(lastY, meadPower(-rest));
      }
#pragma unroll
      for (int tile = 0; tile < MEAD_GROUP_TILES; tile++) {
        const bool last = LAST && tile == MEAD_GROUP_TILES - 1;
        multiplyTiles(codes[tile], plane.of(tile, 0), plane.of(tile, 1), plane.of(tile, 2), plane.of(tile, 3), last ? last0 : b0,
                      last ? last1 : b1);
      }
    });
    if (LAST) {
      withLastPlanes(wider, [&](auto its) {
        constexpr int BITS = decltype(its)::BITS;
        const MeadLastCodes<BITS> plane(at, lane);
        at += MeadLastPlanes::TILE_BITS * BITS;
        lastX = multiplyHalves(lastX, meadPower(BITS));
        lastY = multiplyHalves(lastY, meadPower(BITS));
        multiplyTiles(codes[MEAD_GROUP_TILES - 1], plane.regs[0], plane.regs[1], plane.regs[2], plane.regs[3], lastX, lastY);
      });
    }
  }

  // Multiplies codes that are rotated by the token's index.
  // x, y: factors of codes; b0, b1: queries
  template <bool LAST>
  DEVICE void scoreRotated(u32 at, int width, int wider, u32 x, u32 y, u32 lastX, u32 lastY, const uint4 (&turn)[MEAD_GROUP_TILES], u32 b0,
                           u32 b1, float (&codes)[MEAD_GROUP_TILES][4]) const {
    u32 of[MEAD_GROUP_TILES][4];
    if (width == 0) {
#pragma unroll
      for (int tile = 0; tile < MEAD_GROUP_TILES; tile++) of[tile][0] = of[tile][1] = of[tile][2] = of[tile][3] = 0;
    }
    withFirstPlane(width, [&](auto its, int rest) {
      constexpr int BITS = decltype(its)::BITS;
      const MeadGroupCodes<BITS, decltype(its)::BELOW> plane(at, lane);
      at += MeadPlanes::TILE_BITS * BITS;
      u32 f0 = x, f1 = y, last0 = lastX, last1 = lastY;
      if (BITS == 4 && rest > 0) {
        f0 = multiplyHalves(x, meadPower(-rest)); f1 = multiplyHalves(y, meadPower(-rest));
        last0 = multiplyHalves(lastX, meadPower(-rest)); last1 = multiplyHalves(lastY, meadPower(-rest));
      }
#pragma unroll
      for (int tile = 0; tile < MEAD_GROUP_TILES; tile++) {
        const bool last = LAST && tile == MEAD_GROUP_TILES - 1;
#pragma unroll
        for (int i = 0; i < 4; i++) {
          const u32 factor = i < 2 ? (last ? last0 : f0) : (last ? last1 : f1), code = plane.of(tile, i);
          of[tile][i] = decltype(its)::FIRST ? multiplyHalves(code, factor) : fusedHalves(code, factor, of[tile][i]);
        }
      }
    });
    if (LAST) {
      withLastPlanes(wider, [&](auto its) {
        constexpr int BITS = decltype(its)::BITS;
        const MeadLastCodes<BITS> plane(at, lane);
        at += MeadLastPlanes::TILE_BITS * BITS;
        lastX = multiplyHalves(lastX, meadPower(BITS));
        lastY = multiplyHalves(lastY, meadPower(BITS));
        u32 (&own)[4] = of[MEAD_GROUP_TILES - 1];
#pragma unroll
        for (int i = 0; i < 4; i++) own[i] = fusedHalves(plane.regs[i], i < 2 ? lastX : lastY, own[i]);
      });
    }
#pragma unroll
    for (int tile = 0; tile < MEAD_GROUP_TILES; tile++) {
      const uint4 t = turn[tile];
      const u32 (&own)[4] = of[tile];
      multiplyTiles(codes[tile], rotatedX(own[0], own[2], t.x, t.z), rotatedX(own[1], own[3], t.y, t.w),
                    rotatedY(own[0], own[2], t.x, t.z), rotatedY(own[1], own[3], t.y, t.w), b0, b1);
    }
  }

  // Returns the tokens of four tiles, a byte each, whose cosines or sines the lane addresses for all.
  // rows: eight rows of tiles, two of them in a word
  DEVICE u32 addressedTokens(const uint4& rows) const {
    const u32 select = lane & 8 ? 0x7632u : 0x5410u;   // rows r + 8 are in the upper halves
    const u32 two = __byte_perm(rows.x, rows.y, select), other = __byte_perm(rows.z, rows.w, select);
    return __byte_perm(two, other, 0x6420) & 0x7f7f7f7fu;
  }

  // Computes scores of a group's own rows: r of the first four columns' lanes, r + 8 of the others.
  // rows: MeadRowInfo of rows r and r + 8 of a tile
  template <int GROUP>
  DEVICE void scoreGroup(const MeadChunks<D>& chunks, u32 at, u32 tokens, const u32 (&rows)[MEAD_TILES], float (&x0)[MEAD_TILES],
                         float (&x1)[MEAD_TILES]) const {
    constexpr bool LAST = GROUP == 1;
    constexpr int FIRST = MEAD_GROUP_TILES * GROUP;
    float base[MEAD_GROUP_TILES][4], codes[MEAD_GROUP_TILES][4];
    u32 turnsAt[MEAD_GROUP_TILES];
#pragma unroll
    for (int tile = 0; tile < MEAD_GROUP_TILES; tile++) {
#pragma unroll
      for (int i = 0; i < 4; i++) base[tile][i] = codes[tile][i] = 0.f;
      turnsAt[tile] = turns + (tokens >> 8 * tile & 127) * MeadHead<D>::TURN_BYTES;
      asm volatile("" : "+r"(turnsAt[tile]));   // not once more for each step
    }
    const u32 widths = loadSharedWord(sharedAddress(head.keyWidths + GROUP));
    const u32 widerWidths = LAST ? loadSharedWord(sharedAddress(head.keyWidths + 2)) : 0;
    const int rotatedSteps = loadSharedWord(sharedAddress(&head.rotatedSteps));
    u32 keyFactors = sharedAddress(head.keys[GROUP]) + 16 * ((lane >> 4) * 4 + q), query = rotated + 8 * lane;
    asm volatile("" : "+r"(keyFactors), "+r"(query));
#pragma unroll 1
    for (int step = 0; step < Memory::STEPS; step++) {
      if (step == Memory::HALF_STEPS) at = chunks.template next<2 * GROUP + 1>();
      const uint2 own = loadSharedPair(query);
      const uint4 factor = loadShared(keyFactors);
      const uint4 last = LAST ? loadShared(keyFactors + 128 * Memory::STEPS) : factor;
      uint4 turn[MEAD_GROUP_TILES];
#pragma unroll
      for (int tile = 0; tile < MEAD_GROUP_TILES; tile++) {
        turn[tile] = loadMatrices(turnsAt[tile]);
        turnsAt[tile] += 32;
      }
      query += Memory::QUERY_BYTES;
      keyFactors += 128;
      const u32 b0 = fusedHalves(own.x, factor.z, multiplyHalves(own.y, factor.w));
      const u32 b1 = subtractHalves(multiplyHalves(own.y, factor.z), multiplyHalves(own.x, factor.w));
      const u32 last0 = LAST ? fusedHalves(own.x, last.z, multiplyHalves(own.y, last.w)) : 0;
      const u32 last1 = LAST ? subtractHalves(multiplyHalves(own.y, last.z), multiplyHalves(own.x, last.w)) : 0;
#pragma unroll
      for (int tile = 0; tile < MEAD_GROUP_TILES; tile++) {
        const bool isLast = LAST && tile == MEAD_GROUP_TILES - 1;
        multiplyTiles(base[tile], turn[tile].x, turn[tile].y, turn[tile].z, turn[tile].w, isLast ? last0 : b0, isLast ? last1 : b1);
      }
      const int width = widths >> 4 * step & 15, wider = LAST ? widerWidths >> 4 * step & 15 : 0;
      if (step < rotatedSteps) {
        const u32 unit = lane < 16 ? meadPower(8) : 0;
        if (width + wider > 0) {
          scoreRotated<LAST>(at, width, wider, factor.x, factor.y, last.x, last.y, turn, multiplyHalves(own.x, unit),
                             multiplyHalves(own.y, unit), codes);
        }
      } else {
        scoreCodes<LAST>(at, width, wider, multiplyHalves(own.x, factor.x), multiplyHalves(own.y, factor.y),
                         multiplyHalves(own.x, last.x), multiplyHalves(own.y, last.y), codes);
      }
      at += MeadPlanes::TILE_BITS * width + MeadLastPlanes::TILE_BITS * wider;
    }
    putFactors(q == 0 ? rows[FIRST] : q == 1 ? rows[FIRST + 1] : q == 2 ? rows[FIRST + 2] : rows[FIRST + 3]);
#pragma unroll
    for (int tile = 0; tile < MEAD_GROUP_TILES; tile++) addColumns(base[tile], codes[tile], tile, x0[FIRST + tile], x1[FIRST + tile]);
  }

  // Puts down what columns of rows r and r + 8 of tile q are multiplied with: base[0], codes[0], base[1] and codes[1] at the top
  // of this file.
  DEVICE void putFactors(u32 rows) const {
    float unit = __uint_as_float((127u + 18 - 2 * q) << 23);   // of codes in row r; those in row r + 8 have half of it
#pragma unroll
    for (int i = 0; i < 2; i++) {
      const float key = __uint_as_float(loadSharedWord(scales + (rows >> 5 & 28)));
      const float distance = fmaf(__uint_as_float((rows & 127) | 0x4b000000u) - 8388608.f, 1.f / 64, -1.f), codes = key * unit;
      asm volatile("st.shared.v4.f32 [%0], {%1,%2,%3,%4};" ::"r"(factors + (16 * q + 8 * i + r) * 16), "f"(scale), "f"(codes), "f"(key),
                   "f"(codes * distance) : "memory");
      rows >>= 16;
      unit *= .5f;
    }
    __syncwarp();
  }

  // Adds the columns of a tile, as at the top of this file.
  DEVICE void addColumns(const float (&base)[4], const float (&codes)[4], int tile, float& x0, float& x1) const {
    const bool upper = Twice::upper(lane);
    const u32 at = factors + 16 * r + 4 * (q & 2) + 256 * tile;
    const uint2 near = loadSharedPair(at), far = loadSharedPair(at + 128);
    const float a = __uint_as_float(near.x), b = __uint_as_float(near.y), c = __uint_as_float(far.x), d = __uint_as_float(far.y);
    const float near0 = fmaf(base[0], a, codes[0] * b), near1 = fmaf(base[1], a, codes[1] * b);
    const float far0 = fmaf(base[2], c, codes[2] * d), far1 = fmaf(base[3], c, codes[3] * d);
    x0 = (upper ? far0 : near0) + __shfl_xor_sync(ALL_LANES, upper ? near0 : far0, 2);
    x1 = (upper ? far1 : near1) + __shfl_xor_sync(ALL_LANES, upper ? near1 : far1, 2);
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
    sums.shrink(factor0, factor1);
#pragma unroll 1
    for (int step = 0; step < Memory::STEPS; step++) {
      float4 own = total(step);
      own.x *= factor0; own.y *= factor1; own.z *= factor0; own.w *= factor1;
      setTotal(step, own);
    }
  }

  // Components of rows r and r + 8, of two heads each; only lanes of the first four columns have them. The others do not even
  // read them, since they are written meanwhile.
  DEVICE float4 total(int step) const {
    if (Twice::upper(lane)) return float4{0.f, 0.f, 0.f, 0.f};
    const uint4 v = loadShared(totals + 256 * step);
    return float4{__uint_as_float(v.x), __uint_as_float(v.y), __uint_as_float(v.z), __uint_as_float(v.w)};
  }
  DEVICE void setTotal(int step, float4 v) const {
    if (Twice::upper(lane)) return;
    asm volatile("st.shared.v4.f32 [%0], {%1,%2,%3,%4};" ::"r"(totals + 256 * step), "f"(v.x), "f"(v.y), "f"(v.z), "f"(v.w) : "memory");
  }

  // Sums values of a group, in units of codes. Columns 4 to 7 have others that nobody needs.
  // near, far: weights times scales of tokens 2q, 2q + 1 and of those 8 further, for each tile
  // sums: of even and of odd tiles, and if LAST those of the last one
  template <bool LAST>
  DEVICE void addCodes(u32 at, int width, int wider, const u32* near, const u32* far, float (&sums)[LAST ? 3 : 2][4]) const {
    auto clear = [&]() {
#pragma unroll
      for (int k = 0; k < (LAST ? 3 : 2); k++) sums[k][0] = sums[k][1] = sums[k][2] = sums[k][3] = 0.f;
    };
    if (width == 0) clear();
    withFirstPlane(width, [&](auto its, int rest) {
      constexpr int BITS = decltype(its)::BITS;
      if (decltype(its)::FIRST) clear();
      const MeadGroupCodes<BITS, decltype(its)::BELOW> plane(at, lane);
      at += MeadPlanes::TILE_BITS * BITS;
#pragma unroll
      for (int tile = 0; tile < MEAD_GROUP_TILES; tile++) {
        float (&c)[4] = sums[LAST && tile == MEAD_GROUP_TILES - 1 ? 2 : tile % 2];
        multiplyTiles(c, plane.of(tile, 0), plane.of(tile, 1), plane.of(tile, 2), plane.of(tile, 3), near[tile], far[tile]);
      }
      if (BITS == 4 && rest > 0) {
        const float factor = (float)(1 << rest);
#pragma unroll
        for (int k = 0; k < (LAST ? 3 : 2); k++) {
#pragma unroll
          for (int i = 0; i < 4; i++) sums[k][i] *= factor;
        }
      }
    });
    if constexpr (LAST) {
      withLastPlanes(wider, [&](auto its) {
        constexpr int BITS = decltype(its)::BITS;
        const MeadLastCodes<BITS> plane(at, lane);
        at += MeadLastPlanes::TILE_BITS * BITS;
#pragma unroll
        for (int i = 0; i < 4; i++) sums[2][i] *= (float)(1 << BITS);
        multiplyTiles(sums[2], plane.regs[0], plane.regs[1], plane.regs[2], plane.regs[3], near[MEAD_GROUP_TILES - 1],
                      far[MEAD_GROUP_TILES - 1]);
      });
    }
  }

  DEVICE static void addTo(float4& all, const float (&c)[4], float2 factor) {
    all.x = fmaf(factor.x, c[0], all.x); all.y = fmaf(factor.x, c[1], all.y);
    all.z = fmaf(factor.y, c[2], all.z); all.w = fmaf(factor.y, c[3], all.w);
  }

  // Adds the values of a step.
  // widths: of all steps; means: mean errors of rows r and r + 8; ofMeans: their operand
  DEVICE u32 addStep(u32 at, int step, const u32 (&widths)[MEAD_TIERS], const u32 (&near)[MEAD_TILES], const u32 (&far)[MEAD_TILES],
                     uint2 means, u32 ofMeans) const {
    const int low = widths[0] >> 4 * step & 15, medium = widths[1] >> 4 * step & 15, wider = widths[2] >> 4 * step & 15;
    float mean[4] = {0.f, 0.f, 0.f, 0.f}, first[2][4], others[3][4];
    multiplyTiles(mean, means.x >> 4 * step & 15, means.y >> 4 * step & 15, 0, 0, ofMeans, 0);
    addCodes<false>(at, low, 0, near, far, first);
    at += MeadPlanes::TILE_BITS * low;
    addCodes<true>(at, medium, wider, near + MEAD_GROUP_TILES, far + MEAD_GROUP_TILES, others);
    float4 all = total(step);
    addTo(all, mean, head.units[step][r]);
    addTo(all, first[0], head.valueSteps[0][step][r]);
    addTo(all, first[1], head.valueSteps[0][step][r]);
    addTo(all, others[0], head.valueSteps[1][step][r]);
    addTo(all, others[1], head.valueSteps[1][step][r]);
    addTo(all, others[2], head.valueSteps[2][step][r]);
    setTotal(step, all);
    return at + MeadPlanes::TILE_BITS * medium + MeadLastPlanes::TILE_BITS * wider;
  }

  // Returns mean errors of rows r and r + 8, four bits for each step.
  DEVICE uint2 meansOf(u32 at) const {
    constexpr u32 zeros = 0x88888888u;
    if constexpr (Memory::STEPS == 8) {
      const uint2 both = loadSharedPair(at + 8 * r);
      return uint2{both.x ^ zeros, both.y ^ zeros};
    } else {
      const u32 both = loadSharedWord(at + 4 * r) ^ zeros;
      return uint2{both, both >> 16};
    }
  }

  // Converts scores to weights times scales, as operands for values. Returns the operand of mean errors.
  DEVICE u32 weigh(const u32 (&rows)[MEAD_TILES], const float (&x0)[MEAD_TILES], const float (&x1)[MEAD_TILES], u32 (&near)[MEAD_TILES],
                   u32 (&far)[MEAD_TILES]) {
    const bool upper = Twice::upper(lane);
    float page0 = 0.f, page1 = 0.f;
#pragma unroll
    for (int tile = 0; tile < MEAD_TILES; tile++) {
      const u32 info = upper ? rows[tile] >> 16 : rows[tile];
      const int tier = tile < 4 ? 0 : tile < 7 ? 1 : 2;
      const float of = __uint_as_float(loadSharedWord(scales + 32 + (info >> 8 & 28)));
      const float w0 = powerOfTwo(x0[tile] + (WEIGHT_SHIFT - sums.most0)), w1 = powerOfTwo(x1[tile] + (WEIGHT_SHIFT - sums.most1));
      page0 += w0;
      page1 += w1;
      sums.of[tier][0] = fmaf(w0, of, sums.of[tier][0]);
      sums.of[tier][1] = fmaf(w1, of, sums.of[tier][1]);
      constexpr float UNITS[MEAD_GROUP_TILES] = {8.f, 2.f, .5f, .125f};   // so that codes of all tiles have the same unit
      const float own = of * UNITS[tile % MEAD_GROUP_TILES];
      near[tile] = transpose(toHalves(w0 * own, w1 * own));
      far[tile] = __shfl_xor_sync(ALL_LANES, near[tile], 16);
    }
    sums.sum0 += page0; sums.sum1 += page1;
    sums.packed0 += page0; sums.packed1 += page1;
    const float all0 = __shfl_sync(ALL_LANES, sumOfHeads(page0), r >> 1 & 1), all1 = __shfl_sync(ALL_LANES, sumOfHeads(page1), r >> 1 & 1);
    return q == 0 ? toHalves((r & 1 ? all1 : all0) * (1.f / 64), 0.f) : 0;
  }

  DEVICE void attendBlock(MeadChunks<D>& chunks, int next, int end) {
    chunks.startBlock(next);
    rotateQueries();
    if (next < end) expectBlock(next);
    u32 rows[MEAD_TILES], near[MEAD_TILES], far[MEAD_TILES], at = chunks.template next<0>();
    float x0[MEAD_TILES], x1[MEAD_TILES];
    const uint4 low = loadShared(at + 32 * r), high = loadShared(at + 32 * r + 16);
#pragma unroll
    for (int i = 0; i < 4; i++) {
      rows[i] = wordOf(low, i);
      rows[4 + i] = wordOf(high, i);
    }
    const u32 addressed = at + 32 * (lane & 7);
    const u32 tokens = addressedTokens(loadShared(addressed)), others = addressedTokens(loadShared(addressed + 16));
    scoreGroup<0>(chunks, at + MEAD_TABLE_AT, tokens, rows, x0, x1);
    at = chunks.template next<2>();
    scoreGroup<1>(chunks, at, others, rows, x0, x1);
    follow(x0, x1);
    const u32 ofMeans = weigh(rows, x0, x1, near, far);
    u32 widths[MEAD_TIERS];
#pragma unroll
    for (int tier = 0; tier < MEAD_TIERS; tier++) widths[tier] = loadSharedWord(sharedAddress(head.valueWidths + tier));
    at = chunks.template next<MEAD_CHUNKS>();
    const uint2 means = meansOf(at);
    at += D / 2;
#pragma unroll 1
    for (int step = 0; step < Memory::STEPS; step++) {
      if (step > 0 && step % Memory::QUARTER_STEPS == 0) at = chunks.nextValues(step / Memory::QUARTER_STEPS, next < end);
      at = addStep(at, step, widths, near, far, means, ofMeans);
    }
  }

  // Writes the sums of weights, outputs of fp16 tokens and components to the warp's memory. All its copies have ended.
  // heads: fp16 tokens, which may have raised the maxima
  DEVICE void leave(const PackedHeads<D>& heads, float* outputs, BlockMemory& block, int warp) {
    const bool upper = Twice::upper(lane);
    const float factor0 = shrinking(sums.most0, heads.most0), factor1 = shrinking(sums.most1, heads.most1);
    sums.shrink(factor0, factor1);
    const float packed0 = sumOfHeads(sums.packed0), packed1 = sumOfHeads(sums.packed1);
    float of[MEAD_TIERS][2];
#pragma unroll
    for (int tier = 0; tier < MEAD_TIERS; tier++) {
      of[tier][0] = sumOfHeads(sums.of[tier][0]);
      of[tier][1] = sumOfHeads(sums.of[tier][1]);
    }
    float* first = outputs + Twice::firstHead(lane) * Memory::OUTPUT_STRIDE;
    float* second = first + Memory::OUTPUT_STRIDE;
#pragma unroll
    for (int step = 0; step < Memory::STEPS; step++) {   // totals are behind the outputs
      float4 all = total(step);
      all.x *= factor0; all.y *= factor1; all.z *= factor0; all.w *= factor1;
      const float2 base = head.valueBase[step][r];
      const float both[4] = {packed0, packed1, packed0, packed1};
      addTo(all, both, base);
#pragma unroll
      for (int tier = 0; tier < MEAD_TIERS; tier++) {
        const float twice[4] = {of[tier][0], of[tier][1], of[tier][0], of[tier][1]};
        addTo(all, twice, head.valueMinima[tier][step][r]);
      }
      const int slot = MEAD_STEP * step + r;
      if (!upper) {
        first[D + slot] = all.x; second[D + slot] = all.y;
        first[D + slot + 8] = all.z; second[D + slot + 8] = all.w;
      }
    }
#pragma unroll
    for (int i = 0; i < D / 16; i++) {
      const int channel = 8 * i + r + (upper ? D / 2 : 0);
      first[channel] = upper ? heads.outputs[i][2] : heads.outputs[i][0];
      second[channel] = upper ? heads.outputs[i][3] : heads.outputs[i][1];
    }
    const float sum0 = sumOfHeads(heads.sum0), sum1 = sumOfHeads(heads.sum1);
    if (lane < 2) {
      const int head = Twice::firstHead(lane);
      block.most[warp][head] = heads.most0; block.most[warp][head + 1] = heads.most1;
      block.sums[warp][head] = sum0; block.sums[warp][head + 1] = sum1;
    }
  }
};

// The outputs of warps: channels of fp16 tokens, then components of packed ones.
template <int D> struct MeadOutputs {
  static constexpr int WIDTH = 2 * D;
  float* memory;       // of the first warp
  int stride;          // bytes from warp to warp
  float* collected;    // of the block's first head

  DEVICE float4 of(int warp, int column) const {
    const int head = column / (WIDTH / 4), place = column % (WIDTH / 4);
    const float* own = reinterpret_cast<const float*>(reinterpret_cast<const u8*>(memory) + warp * stride);
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
  __shared__ MeadScales scales;
  letNextBegin();
  awaitPrevious();
  const Work work(a);
  if (work.none()) return;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, warps = blockDim.x / 32, q = lane & 3;
  const MeadLayer& layer = *reinterpret_cast<const MeadLayer*>(a.tables);
  const int slotBytes = layer.slotBytes, stride = Memory::warpBytes(slotBytes);
  u8* own = dynamicMemory + Memory::BLOCK_BYTES + warp * stride;
  const MeadHead<D>& head = *reinterpret_cast<const MeadHead<D>*>(dynamicMemory);
  loadMead<D>(a, work, layer.tables, layer.tables.head<D>(layer.layer, work.kvHead, gridDim.y / a.headBlocks), dynamicMemory);
  __syncthreads();
  if (threadIdx.x < 8) scales.fill(threadIdx.x, a.scale * head.keyUnit);
  __syncthreads();

  const int blocks = work.sequence.packedPages / 2;
  const u32 memory = sharedAddress(own), shared = sharedAddress(dynamicMemory), pageTurns = memory + 2 * slotBytes;
  const u32 rotated = pageTurns + Memory::PAGE_TURNS_BYTES, totals = rotated + Memory::ROTATED_BYTES;
  const int end = work.begin(blocks, work.split + 1);
  int number = work.begin(blocks, work.split) + warp;
  MeadChunks<D> chunks{a, work.entries, head, memory, sharedAddress(head.chunks), totals + Memory::SUM_BYTES,
                       sharedAddress(block.barriers.of) + 16 * warp, slotBytes, lane, warps, end, 0, 0};
  chunks.start(number);
  MeadWarp<D> state{head, layer.tables, sharedAddress(&scales), sharedAddress(head.turns) + (lane & 16),
                    shared + Memory::QUERIES_AT, pageTurns, rotated, totals + 16 * ((lane >> 2) * 2 + (q & 1)),
                    totals + Memory::SUM_BYTES + Memory::POINTER_BYTES, lane, lane >> 2, q, a.scale, {}, {}, {}};
  state.sums.clear();
#pragma unroll
  for (int step = 0; step < Memory::STEPS; step++) state.setTotal(step, float4{0.f, 0.f, 0.f, 0.f});
  if (number < end) state.expectBlock(number);
#pragma unroll 1
  for (; number < end; number += warps) state.attendBlock(chunks, number + warps, end);

  PackedHeads<D> heads[1];
  heads[0].load(a.queries + work.row(a) * D, work.heads, lane);
  heads[0].clear();
  heads[0].most0 = state.sums.most0; heads[0].most1 = state.sums.most1;
  heads[0].sum0 = state.sums.sum0; heads[0].sum1 = state.sums.sum1;
  if (work.sequence.halfPages > 0) attendTiles<D, 1>(a, work, Unlimited(), heads);
  __syncwarp();
  state.leave(heads[0], reinterpret_cast<float*>(own), block, warp);
  __syncthreads();
  float* first = reinterpret_cast<float*>(dynamicMemory + Memory::BLOCK_BYTES);
  finish(a, work, block, MeadOutputs<D>{first, stride, reinterpret_cast<float*>(a.collected) + work.row(a) * 2 * D});
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
