package dev.kvasir.kernel;

import java.util.Arrays;

/** Reference recurrences in plain Java, which define results to the last bit. */
final class ScalarRecurrences implements RecurrenceKernels {
  @Override
  public void addProducts(float[] x, int xAt, float[] y, int yAt, float[] sums, int at, int count) {
    for (int i = 0; i < count; i++) {
      sums[at + i] = Math.fma(x[xAt + i], y[yAt + i], sums[at + i]);
    }
  }

  @Override
  public void deltaNet(
      float[] state,
      RowBlock queries,
      RowBlock keys,
      RowBlock values,
      RowBlock factors,
      RowBlock out) {
    int width = values.width();
    float[] sums = out.values();
    for (int token = 0; token < out.rows(); token++) {
      float decay = factors.values()[factors.at(token)];
      float rate = factors.values()[factors.at(token) + 1];
      int to = out.at(token);
      Arrays.fill(sums, to, to + width, 0);
      for (int i = 0; i < keys.width(); i++) {
        float key = keys.values()[keys.at(token) + i];
        decayAndSum(state, i * width, decay, key, sums, to, width);
      }
      float[] change = values.values();
      int changeAt = values.at(token);
      for (int j = 0; j < width; j++) {
        change[changeAt + j] = (change[changeAt + j] - sums[to + j]) * rate;
      }
      Arrays.fill(sums, to, to + width, 0);
      for (int i = 0; i < keys.width(); i++) {
        float key = keys.values()[keys.at(token) + i];
        float query = queries.values()[queries.at(token) + i];
        learnAndSum(state, i * width, key, query, token, values, out);
      }
    }
  }

  /** {@code row *= decay; sums += key * row}. */
  private static void decayAndSum(
      float[] row, int at, float decay, float key, float[] sums, int sumsAt, int width) {
    for (int j = 0; j < width; j++) {
      float decayed = row[at + j] * decay;
      row[at + j] = decayed;
      sums[sumsAt + j] = Math.fma(key, decayed, sums[sumsAt + j]);
    }
  }

  /** {@code row += key * change; sums += query * row}. */
  private static void learnAndSum(
      float[] row, int at, float key, float query, int token, RowBlock changes, RowBlock out) {
    float[] change = changes.values();
    float[] sums = out.values();
    int changeAt = changes.at(token);
    int sumsAt = out.at(token);
    int width = changes.width();
    for (int j = 0; j < width; j++) {
      float learned = Math.fma(key, change[changeAt + j], row[at + j]);
      row[at + j] = learned;
      sums[sumsAt + j] = Math.fma(query, learned, sums[sumsAt + j]);
    }
  }

  @Override
  public void mamba(
      float[] state,
      RowBlock channels,
      RowBlock inputs,
      RowBlock outputs,
      RowBlock factors,
      RowBlock out) {
    int width = channels.width();
    float[] added = channels.values();
    float[] sums = out.values();
    for (int token = 0; token < out.rows(); token++) {
      int factorsAt = factors.at(token);
      float decay = factors.values()[factorsAt];
      float step = factors.values()[factorsAt + 1];
      float skip = factors.values()[factorsAt + 2];
      int addedAt = channels.at(token);
      int to = out.at(token);
      for (int j = 0; j < width; j++) {
        sums[to + j] = skip * added[addedAt + j];
        added[addedAt + j] = step * added[addedAt + j];
      }
      for (int i = 0; i < inputs.width(); i++) {
        float input = inputs.values()[inputs.at(token) + i];
        float output = outputs.values()[outputs.at(token) + i];
        decayAndAdd(state, i * width, decay, input, token, channels);
        addRow(state, i * width, output, token, out);
      }
    }
  }

  /** {@code row = decay * row + input * added}. */
  private static void decayAndAdd(
      float[] row, int at, float decay, float input, int token, RowBlock added) {
    float[] values = added.values();
    int from = added.at(token);
    int width = added.width();
    for (int j = 0; j < width; j++) {
      row[at + j] = Math.fma(input, values[from + j], row[at + j] * decay);
    }
  }

  /** {@code sums += output * row}. */
  private static void addRow(float[] row, int at, float output, int token, RowBlock out) {
    float[] sums = out.values();
    int to = out.at(token);
    int width = out.width();
    for (int j = 0; j < width; j++) {
      sums[to + j] = Math.fma(output, row[at + j], sums[to + j]);
    }
  }
}
