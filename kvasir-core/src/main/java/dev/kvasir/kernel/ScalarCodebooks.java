package dev.kvasir.kernel;

import dev.kvasir.page.PageSize;
import dev.kvasir.page.StageCodes;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/** Sums of picked rows in plain Java: the definition, to the last bit. */
final class ScalarCodebooks implements CodebookKernels {
  @Override
  public void unpackStages(MemorySegment source, long offset, int stages, byte[] indices) {
    StageCodes.unpack(source, offset, stages, indices);
  }

  @Override
  public void turnedSums(RotaryCodes codes, int from, int end, short[] room, float[] out) {
    FixedRows rows = codes.rows();
    int pairs = rows.pairs();
    for (int token = from; token < end; token++) {
      int at = (token - from) * 2 * pairs;
      sumRows(rows, codes.indices(), token, room, at);
      for (int i = 0; i < pairs; i++) {
        float factor = rows.units()[i] * codes.scales()[token];
        float x = Math.fma(room[at + i], factor, rows.mean()[i]);
        float y = Math.fma(room[at + pairs + i], factor, rows.mean()[pairs + i]);
        float cos = codes.cosines()[token * pairs + i];
        float sin = codes.sines()[token * pairs + i];
        out[at + i] = Math.fma(-y, sin, x * cos);
        out[at + pairs + i] = Math.fma(x, sin, y * cos);
      }
    }
  }

  private static void sumRows(FixedRows rows, byte[] indices, int token, short[] sums, int to) {
    int pairs = rows.pairs();
    Arrays.fill(sums, to, to + 2 * pairs, (short) (-FixedRows.ZERO * rows.sets()));
    for (int set = 0; set < rows.sets(); set++) {
      int from = (set * FixedRows.ROWS + indices[set * PageSize.TOKENS + token]) * 2 * pairs;
      for (int i = 0; i < pairs; i++) {
        sums[to + i] += (short) (rows.rows()[from + 2 * i] & 0xFF);
        sums[to + pairs + i] += (short) (rows.rows()[from + 2 * i + 1] & 0xFF);
      }
    }
  }

  @Override
  public void pickedSums(
      float[] rows, int at, byte[] indices, int sets, int tokens, int width, float[] sums) {
    for (int token = 0; token < tokens; token++) {
      int to = token * width;
      Arrays.fill(sums, to, to + width, 0);
      for (int set = 0; set < sets; set++) {
        int from = at + (set * FixedRows.ROWS + indices[set * PageSize.TOKENS + token]) * width;
        for (int i = 0; i < width; i++) {
          sums[to + i] += rows[from + i];
        }
      }
    }
  }

  @Override
  public void rowProducts(float[] a, float[] b, int count, int width, float[] out) {
    for (int i = 0; i < count; i++) {
      out[i] = PartialSums.dot(a, i * width, b, i * width, width);
    }
  }

  @Override
  public void collect(
      byte[] indices, int sets, int tokens, float[] weights, int lanes, float[] bins) {
    for (int token = 0; token < tokens; token++) {
      for (int set = 0; set < sets; set++) {
        int bin = (set * FixedRows.ROWS + indices[set * PageSize.TOKENS + token]) * lanes;
        for (int lane = 0; lane < lanes; lane++) {
          bins[bin + lane] += weights[token * lanes + lane];
        }
      }
    }
  }

  @Override
  public void leastDistances(
      float[] squares, int at, float[] products, int productsAt, float[] out) {
    for (int a = 0; a < FixedRows.ROWS; a++) {
      float least = Float.POSITIVE_INFINITY;
      for (int b = 0; b < FixedRows.ROWS; b++) {
        float distance = squares[at + a * FixedRows.ROWS + b] - 2 * products[productsAt + b];
        least = distance < least ? distance : least;
      }
      out[a] = least;
    }
  }
}
