package dev.kvasir.kernel;

import dev.kvasir.page.PlaneLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Arrays;

/** Sums over packed codes by table look-ups, in plain Java: the definition, to the last bit. */
final class ScalarLookups implements LookupKernels {
  private static final ValueLayout.OfShort SHORT =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private static final int PARTIAL_SUMS = 4;
  private static final int SUMS = LookupTables.SUMS;
  private static final int ROUNDER_BITS = Float.floatToRawIntBits(LookupTables.ROUNDER);

  @Override
  public void buildTables(
      float[] weights,
      int at,
      int stride,
      int heads,
      int entries,
      boolean exact,
      LookupTables tables) {
    tables.begin(heads, entries, exact);
    for (int head = 0; head < heads; head++) {
      int from = at + head * stride;
      float scale = tables.scale(head, largest(weights, from, tables.quads()));
      fix(weights, from, scale, tables);
      fill(head, sum(weights, from, tables.quads()), tables);
    }
  }

  private static float largest(float[] w, int at, int quads) {
    float largest = 0;
    for (int c = at; c < at + quads; c++) {
      float lower = Math.abs(w[c]) + Math.abs(w[c + quads]);
      float upper = Math.abs(w[c + 2 * quads]) + Math.abs(w[c + 3 * quads]);
      largest = Math.max(largest, lower + upper);
    }
    return largest;
  }

  /** In four partial sums whatever the machine, since look-ups use vectors of 128 bits alone. */
  private static float sum(float[] w, int at, int quads) {
    int whole = quads - quads % PARTIAL_SUMS;
    float sum = 0;
    for (int lane = 0; lane < PARTIAL_SUMS; lane++) {
      float partial = 0;
      for (int c = lane; c < whole; c += PARTIAL_SUMS) {
        partial += quadSum(w, at + c, quads);
      }
      sum += partial;
    }
    for (int c = whole; c < quads; c++) {
      sum += quadSum(w, at + c, quads);
    }
    return sum;
  }

  private static float quadSum(float[] w, int at, int quads) {
    return (w[at] + w[at + quads]) + (w[at + 2 * quads] + w[at + 3 * quads]);
  }

  private static void fix(float[] w, int at, float scale, LookupTables tables) {
    int quads = tables.quads();
    int[] fixed = tables.fixedPoint();
    for (int c = 0; c < quads; c++) {
      int start = tables.rounding();
      for (int k = 0; k < 4; k++) {
        float scaled = w[at + c + k * quads] * scale + LookupTables.ROUNDER;
        int steps = Float.floatToRawIntBits(scaled) - ROUNDER_BITS;
        fixed[c + k * quads] = steps;
        start -= Math.min(steps, 0);
      }
      fixed[c + 4 * quads] = start;
    }
  }

  private static void fill(int head, float weights, LookupTables tables) {
    int quads = tables.quads();
    int[] fixed = tables.fixedPoint();
    int coarse = 0;
    int fine = 0;
    for (int c = 0; c < quads; c++) {
      for (int i = 0; i < SUMS; i++) {
        int sum = fixed[c + 4 * quads];
        for (int k = 0; k < 4; k++) {
          sum += (i >> k & 1) * fixed[c + k * quads];
        }
        coarse += put(tables, head, c, i, sum >> LookupTables.FIXED_BITS);
        if (tables.exact()) {
          int digit = sum >> LookupTables.FIXED_BITS - LookupTables.FINE_BITS;
          int rest = digit & (1 << LookupTables.FINE_BITS) - 1;
          fine += put(tables, tables.heads() + head, c, i, rest);
        }
      }
    }
    tables.complete(head, weights, coarse, fine);
  }

  private static int put(LookupTables tables, int table, int quad, int index, int entry) {
    int pair = tables.pairAt(table, quad) + index;
    tables.bytes()[pair] = (byte) entry;
    tables.bytes()[pair + SUMS] = (byte) (2 * entry);
    tables.bytes()[tables.singleAt(table, quad) + index] = (byte) entry;
    return entry;
  }

  /** A tile's codes are copied first, as for products: segments are slow until compiled. */
  @Override
  public void lookup(
      PlaneLayout layout,
      MemorySegment codes,
      long offset,
      int firstTile,
      int endTile,
      LookupTables tables,
      float[] out,
      int outAt,
      int outStride) {
    tables.requireEntries(layout.entries());
    byte[] tileCodes = tables.tileCodes(PlaneLayout.TILE * layout.bytesPerLane());
    for (int tile = firstTile; tile < endTile; tile++) {
      int lanes = layout.tileLanes(tile);
      int from = layout.tileOffset(tile);
      int bytes = lanes * layout.bytesPerLane();
      MemorySegment.copy(codes, ValueLayout.JAVA_BYTE, offset + from, tileCodes, 0, bytes);
      for (int head = 0; head < tables.heads(); head++) {
        sumTile(layout, lanes, head, tables, tileCodes);
        float constant = tables.constant(head, layout.bits());
        int to = outAt + head * outStride + (tile - firstTile) * PlaneLayout.TILE;
        for (int lane = 0; lane < lanes; lane++) {
          float sum = tables.tileSums()[PlaneLayout.byteOfLane(lane)];
          out[to + lane] += Math.fma(sum, tables.unit(head), constant);
        }
      }
    }
  }

  /** The integer sums of one head, in the order of the bytes. */
  private static void sumTile(
      PlaneLayout layout, int lanes, int head, LookupTables tables, byte[] codes) {
    Arrays.fill(tables.tileSums(), 0);
    if (tables.exact()) {
      sumPlanes(layout, lanes, head, LookupTables.FINE_BITS, tables, codes);
      sumPlanes(layout, lanes, tables.heads() + head, 0, tables, codes);
    } else {
      sumPlanes(layout, lanes, head, 0, tables, codes);
    }
  }

  private static void sumPlanes(
      PlaneLayout layout, int lanes, int table, int shift, LookupTables tables, byte[] codes) {
    int quads = layout.quads();
    int pairs = layout.pairs();
    int[] sums = tables.tileSums();
    for (int pair = 0; pair < pairs; pair++) {
      for (int quad = 0; quad < quads; quad++) {
        int row = (pair * quads + quad) * lanes;
        int at = tables.pairAt(table, quad);
        addRow(codes, row, lanes, tables.bytes(), at, shift + 2 * pair, sums);
      }
    }
    if (layout.hasSinglePlane()) {
      for (int quad = 0; quad < quads; quad += 2) {
        int row = (quads * pairs + quad / 2) * lanes;
        int at = tables.singleAt(table, quad);
        addRow(codes, row, lanes, tables.bytes(), at, shift + 2 * pairs, sums);
      }
    }
  }

  private static void addRow(
      byte[] codes, int row, int lanes, byte[] tables, int low, int shift, int[] sums) {
    for (int b = 0; b < lanes; b++) {
      int nibbles = codes[row + b];
      int first = tables[low + (nibbles & 15)] & 0xFF;
      int second = tables[low + SUMS + (nibbles >> 4 & 15)] & 0xFF;
      sums[b] += first + second << shift;
    }
  }

  /** The sum of all entries is made first and added as a whole. */
  @Override
  public void shortSums(
      float[] weights,
      int weightsAt,
      int weightsStride,
      int rows,
      MemorySegment codes,
      long offset,
      int codesStride,
      int entries,
      int lanes,
      float[] out,
      int outAt,
      int outStride) {
    float[] scratch = RowScratch.of((rows + 1) * lanes);
    Arrays.fill(scratch, lanes, (rows + 1) * lanes, 0);
    for (int e = 0; e < entries; e++) {
      long at = offset + 2L * e * codesStride;
      for (int lane = 0; lane < lanes; lane++) {
        scratch[lane] = codes.get(SHORT, at + 2L * lane);
      }
      for (int i = 0; i < rows; i++) {
        float weight = weights[weightsAt + i * weightsStride + e];
        int sums = (i + 1) * lanes;
        for (int lane = 0; lane < lanes; lane++) {
          scratch[sums + lane] = Math.fma(weight, scratch[lane], scratch[sums + lane]);
        }
      }
    }
    for (int i = 0; i < rows; i++) {
      RowScratch.add(scratch, (i + 1) * lanes, out, outAt + i * outStride, lanes);
    }
  }
}
