// Recurrences over the tokens of a sequence: convolutions, gated delta nets and Mamba-2. The Java reference is
// ScalarRecurrences, with the same names.
#ifndef KVASIR_RECURRENCES_H
#define KVASIR_RECURRENCES_H

#include "vectors.h"

// Rows of floats: where the first one is, and how far the next one.
typedef struct {
  float *at;
  i64 stride;
} Rows;

// A head's columns do not depend on each other, so a few stay in the first cache over all tokens. So many sums hide the
// latency of an addition.
#define STATE_VECTORS 4

// ---- sums[i] += x[i] * y[i]

EXPORT void KERNEL(add_products)(const float *x, i32 x_at, const float *y, i32 y_at, float *sums, i32 at, i32 count) {
  i32 i = 0;
  for (; i + LANES <= count; i += LANES) {
    store(sums + at + i, fused(load(x + x_at + i), load(y + y_at + i), load(sums + at + i)));
  }
  for (; i < count; i++) sums[at + i] = fused1(x[x_at + i], y[y_at + i], sums[at + i]);
}

// ---- gated delta nets: factors are decay and rate

INLINE void delta_vectors(float *state, i64 width, const int vectors, i32 key_dim, Rows queries, Rows keys, Rows values,
                          Rows factors, Rows out, i32 tokens) {
  for (i32 t = 0; t < tokens; t++) {
    const float *query = queries.at + t * queries.stride;
    const float *key = keys.at + t * keys.stride;
    float *value = values.at + t * values.stride;
    Floats decay = all(factors.at[t * factors.stride]);
    Floats rate = all(factors.at[t * factors.stride + 1]);
    Floats sums[STATE_VECTORS];
    Floats change[STATE_VECTORS];
    UNROLL for (int d = 0; d < vectors; d++) sums[d] = all(0);
    for (i32 i = 0; i < key_dim; i++) {
      Floats k = all(key[i]);
      UNROLL for (int d = 0; d < vectors; d++) {
        sums[d] = fused(k, multiply(load(state + i * width + d * LANES), decay), sums[d]);
      }
    }
    UNROLL for (int d = 0; d < vectors; d++) {
      change[d] = multiply(subtract(load(value + d * LANES), sums[d]), rate);
      store(value + d * LANES, change[d]);
      sums[d] = all(0);
    }
    for (i32 i = 0; i < key_dim; i++) {
      Floats k = all(key[i]);
      Floats q = all(query[i]);
      UNROLL for (int d = 0; d < vectors; d++) {
        float *at = state + i * width + d * LANES;
        Floats learned = fused(k, change[d], multiply(load(at), decay));
        store(at, learned);
        sums[d] = fused(q, learned, sums[d]);
      }
    }
    UNROLL for (int d = 0; d < vectors; d++) store(out.at + t * out.stride + d * LANES, sums[d]);
  }
}

INLINE void delta_column(float *state, i64 width, i32 key_dim, Rows queries, Rows keys, Rows values, Rows factors,
                         Rows out, i32 tokens) {
  for (i32 t = 0; t < tokens; t++) {
    const float *query = queries.at + t * queries.stride;
    const float *key = keys.at + t * keys.stride;
    float *value = values.at + t * values.stride;
    float decay = factors.at[t * factors.stride];
    float sum = 0;
    for (i32 i = 0; i < key_dim; i++) sum = fused1(key[i], state[i * width] * decay, sum);
    *value = (*value - sum) * factors.at[t * factors.stride + 1];
    sum = 0;
    for (i32 i = 0; i < key_dim; i++) {
      float learned = fused1(key[i], *value, state[i * width] * decay);
      state[i * width] = learned;
      sum = fused1(query[i], learned, sum);
    }
    out.at[t * out.stride] = sum;
  }
}

INLINE Rows columns_from(Rows rows, i32 column) { return (Rows){rows.at + column, rows.stride}; }

EXPORT void KERNEL(delta_net)(float *state, i32 key_dim, i32 value_dim, float *queries, i32 query_at, i32 query_stride,
                              float *keys, i32 key_at, i32 key_stride, float *values, i32 value_at, i32 value_stride,
                              float *factors, i32 factor_at, i32 factor_stride, float *out, i32 out_at, i32 out_stride,
                              i32 tokens) {
  Rows query = {queries + query_at, query_stride};
  Rows key = {keys + key_at, key_stride};
  Rows value = {values + value_at, value_stride};
  Rows factor = {factors + factor_at, factor_stride};
  Rows to = {out + out_at, out_stride};
  i32 j = 0;
  for (; j + STATE_VECTORS * LANES <= value_dim; j += STATE_VECTORS * LANES) {
    delta_vectors(state + j, value_dim, STATE_VECTORS, key_dim, query, key, columns_from(value, j), factor,
                  columns_from(to, j), tokens);
  }
  for (; j + LANES <= value_dim; j += LANES) {
    delta_vectors(state + j, value_dim, 1, key_dim, query, key, columns_from(value, j), factor, columns_from(to, j),
                  tokens);
  }
  for (; j < value_dim; j++) {
    delta_column(state + j, value_dim, key_dim, query, key, columns_from(value, j), factor, columns_from(to, j),
                 tokens);
  }
}

// ---- Mamba-2: factors are decay, step and skip

INLINE void mamba_vectors(float *state, i64 width, const int vectors, i32 state_dim, Rows channels, Rows inputs,
                          Rows outputs, Rows factors, Rows out, i32 tokens) {
  for (i32 t = 0; t < tokens; t++) {
    float *channel = channels.at + t * channels.stride;
    const float *input = inputs.at + t * inputs.stride;
    const float *output = outputs.at + t * outputs.stride;
    const float *factor = factors.at + t * factors.stride;
    Floats decay = all(factor[0]);
    Floats added[STATE_VECTORS];
    Floats sums[STATE_VECTORS];
    UNROLL for (int d = 0; d < vectors; d++) {
      Floats x = load(channel + d * LANES);
      added[d] = multiply(all(factor[1]), x);
      sums[d] = multiply(all(factor[2]), x);
      store(channel + d * LANES, added[d]);
    }
    for (i32 i = 0; i < state_dim; i++) {
      Floats in = all(input[i]);
      Floats from = all(output[i]);
      UNROLL for (int d = 0; d < vectors; d++) {
        float *at = state + i * width + d * LANES;
        Floats next = fused(in, added[d], multiply(load(at), decay));
        store(at, next);
        sums[d] = fused(from, next, sums[d]);
      }
    }
    UNROLL for (int d = 0; d < vectors; d++) store(out.at + t * out.stride + d * LANES, sums[d]);
  }
}

INLINE void mamba_column(float *state, i64 width, i32 state_dim, Rows channels, Rows inputs, Rows outputs, Rows factors,
                         Rows out, i32 tokens) {
  for (i32 t = 0; t < tokens; t++) {
    float *channel = channels.at + t * channels.stride;
    const float *input = inputs.at + t * inputs.stride;
    const float *output = outputs.at + t * outputs.stride;
    const float *factor = factors.at + t * factors.stride;
    float sum = factor[2] * *channel;
    *channel = factor[1] * *channel;
    for (i32 i = 0; i < state_dim; i++) {
      float next = fused1(input[i], *channel, state[i * width] * factor[0]);
      state[i * width] = next;
      sum = fused1(output[i], next, sum);
    }
    out.at[t * out.stride] = sum;
  }
}

EXPORT void KERNEL(mamba)(float *state, i32 state_dim, i32 head_dim, float *channels, i32 channel_at,
                          i32 channel_stride, float *inputs, i32 input_at, i32 input_stride, float *outputs,
                          i32 output_at, i32 output_stride, float *factors, i32 factor_at, i32 factor_stride,
                          float *out, i32 out_at, i32 out_stride, i32 tokens) {
  Rows channel = {channels + channel_at, channel_stride};
  Rows input = {inputs + input_at, input_stride};
  Rows output = {outputs + output_at, output_stride};
  Rows factor = {factors + factor_at, factor_stride};
  Rows to = {out + out_at, out_stride};
  i32 j = 0;
  for (; j + STATE_VECTORS * LANES <= head_dim; j += STATE_VECTORS * LANES) {
    mamba_vectors(state + j, head_dim, STATE_VECTORS, state_dim, columns_from(channel, j), input, output, factor,
                  columns_from(to, j), tokens);
  }
  for (; j + LANES <= head_dim; j += LANES) {
    mamba_vectors(state + j, head_dim, 1, state_dim, columns_from(channel, j), input, output, factor,
                  columns_from(to, j), tokens);
  }
  for (; j < head_dim; j++) {
    mamba_column(state + j, head_dim, state_dim, columns_from(channel, j), input, output, factor,
                 columns_from(to, j), tokens);
  }
}

#endif
