package dev.kvasir.kernel;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;

import dev.kvasir.page.PageSize;
import dev.kvasir.page.StageCodes;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/** Reference sums of codebook vectors in plain Java, which define results to the last bit. */
final class ScalarCodebooks implements CodebookKernels {
  @Override
  public void unpackStages(MemorySegment source, long offset, int stages, byte[] indices) {
    StageCodes.unpack(source, offset, stages, indices);
  }

  @Override
  public void rotatedSums(RotaryCodes codes, int from, int end, short[] scratch, float[] out) {
    Int8Codebooks codebooks = codes.codebooks();
    int pairs = codebooks.pairs();
    for (int token = from; token < end; token++) {
      int at = (token - from) * 2 * pairs;
      sumRows(codebooks, codes.indices(), token, scratch, at);
      for (int i = 0; i < pairs; i++) {
        float factor = codebooks.units()[i] * codes.scales()[token];
        float x = Math.fma(scratch[at + i], factor, codebooks.mean()[i]);
        float y = Math.fma(scratch[at + pairs + i], factor, codebooks.mean()[pairs + i]);
        float cos = codes.cosines()[token * pairs + i];
        float sin = codes.sines()[token * pairs + i];
        out[at + i] = Math.fma(-y, sin, x * cos);
        out[at + pairs + i] = Math.fma(x, sin, y * cos);
      }
    }
  }

  private static void sumRows(
      Int8Codebooks codebooks, byte[] indices, int token, short[] sums, int to) {
    int pairs = codebooks.pairs();
    Arrays.fill(sums, to, to + 2 * pairs, (short) (-Int8Codebooks.ZERO_POINT * codebooks.sets()));
    for (int set = 0; set < codebooks.sets(); set++) {
      int from =
          (set * Int8Codebooks.CODEWORDS + indices[set * PageSize.TOKENS + token]) * 2 * pairs;
      for (int i = 0; i < pairs; i++) {
        sums[to + i] += (short) (codebooks.codewords()[from + 2 * i] & 0xFF);
        sums[to + pairs + i] += (short) (codebooks.codewords()[from + 2 * i + 1] & 0xFF);
      }
    }
  }

  @Override
  public void gatheredSums(
      float[] rows, int at, byte[] indices, int sets, int tokens, int width, float[] sums) {
    for (int token = 0; token < tokens; token++) {
      int to = token * width;
      Arrays.fill(sums, to, to + width, 0);
      for (int set = 0; set < sets; set++) {
        int from =
            at + (set * Int8Codebooks.CODEWORDS + indices[set * PageSize.TOKENS + token]) * width;
        for (int i = 0; i < width; i++) {
          sums[to + i] += rows[from + i];
        }
      }
    }
  }

  @Override
  public void rowDots(float[] a, float[] b, int count, int width, float[] out) {
    for (int i = 0; i < count; i++) {
      out[i] = PartialSums.dot(a, i * width, b, i * width, width);
    }
  }

  @Override
  public void scatterAdd(
      byte[] indices, int sets, int tokens, float[] weights, int stride, MemorySegment bins) {
    for (int token = 0; token < tokens; token++) {
      for (int set = 0; set < sets; set++) {
        int bin = (set * Int8Codebooks.CODEWORDS + indices[set * PageSize.TOKENS + token]) * stride;
        for (int column = 0; column < stride; column++) {
          float sum = bins.getAtIndex(JAVA_FLOAT, bin + column) + weights[token * stride + column];
          bins.setAtIndex(JAVA_FLOAT, bin + column, sum);
        }
      }
    }
  }

  @Override
  public void minDistances(float[] squares, int at, float[] products, int productsAt, float[] out) {
    for (int a = 0; a < Int8Codebooks.CODEWORDS; a++) {
      float least = Float.POSITIVE_INFINITY;
      for (int b = 0; b < Int8Codebooks.CODEWORDS; b++) {
        float distance =
            squares[at + a * Int8Codebooks.CODEWORDS + b] - 2 * products[productsAt + b];
        least = distance < least ? distance : least;
      }
      out[a] = least;
    }
  }
}
