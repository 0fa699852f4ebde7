package dev.kvasir.codec.commvq;

import dev.kvasir.codec.Page;
import dev.kvasir.codec.PageReader;
import dev.kvasir.kernel.Int8Codebooks;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.RopeRotation;
import dev.kvasir.kernel.RopeTable;
import dev.kvasir.kernel.RowBlock;
import java.util.Arrays;

/**
 * Scores keys by the commutative rearrangement of the paper. With pairs of channels as complex
 * numbers, a key's part of a score is
 *
 * <pre>Re(conj(q) e^(i angle) sum of z) = Re(e^(i angle) sum of conj(q) z)</pre>
 *
 * The products {@code conj(q) z} of a query with all rows are computed once per pass. A token adds
 * up those selected by its codes, and only the sum is rotated to its position. Query heads share
 * nothing but the angles.
 */
final class TableKeyScorer implements KeyScorer {
  private static final int PAGE = Page.TOKENS;

  private final Kernels kernels;
  private final float[] scales = new float[PAGE];
  private final float[] products = new float[PAGE];
  private byte[] indices = {}; // (sets, PAGE)
  private float[]
      tables = {}; // (rows, sets, ROWS, width): real parts, then negated imaginary parts
  private float[] means = {}; // (rows, width), in the format of tables
  private float[] angles = {}; // (PAGE, width): cosines, then sines
  private float[] sums = {}; // (PAGE, width)
  private float[] arranged = {}; // (rows, width), queries
  private float[] fixedRow = {}; // (width)
  private RopeRotation ropeRotation; // null until there is a table
  private final RowBlock inputRows = new RowBlock();
  private final RowBlock vectorRows = new RowBlock();
  private final RowBlock outputRows = new RowBlock();
  private boolean isMade;

  TableKeyScorer(Kernels kernels) {
    this.kernels = kernels;
  }

  @Override
  public void beginPass() {
    isMade = false;
  }

  @Override
  public void score(CommvqPage page, int kvHead, float[] queries, int rows, float[] scores) {
    Int8Codebooks codebooks = page.layerCodebooks().keys().get(kvHead);
    RopeTable table = page.layerCodebooks().table();
    int width = table.width();
    if (!isMade) {
      makeTables(codebooks, table, queries, rows);
    }
    rotateAngles(page, table);
    page.readKeys(kernels, kvHead, indices);
    page.readKeyScales(kernels, scales);
    kernels
        .floats()
        .products(
            inputRows.set(means, rows, width),
            vectorRows.set(angles, PAGE, width),
            outputRows.set(scores, rows, PAGE));
    for (int row = 0; row < rows; row++) {
      int at = row * codebooks.sets() * Int8Codebooks.CODEWORDS * width;
      kernels.codebooks().gatheredSums(tables, at, indices, codebooks.sets(), PAGE, width, sums);
      kernels.codebooks().rowDots(sums, angles, PAGE, width, products);
      kernels.rows().multiply(products, 0, scales, 0, products, 0, PAGE);
      kernels.rows().add(scores, row * PAGE, products, 0, PAGE);
    }
  }

  private void makeTables(Int8Codebooks codebooks, RopeTable table, float[] queries, int rows) {
    int width = table.width();
    int count = codebooks.sets() * Int8Codebooks.CODEWORDS;
    ensureCapacity(codebooks.sets(), table);
    table.toPairOrder(queries, 0, rows, arranged, 0);
    for (int query = 0; query < rows; query++) {
      for (int i = 0; i < count; i++) {
        codebooks.dequantize(i, fixedRow);
        multiply(arranged, query * width, fixedRow, tables, (query * count + i) * width, width / 2);
      }
      multiply(arranged, query * width, codebooks.mean(), means, query * width, width / 2);
    }
    isMade = true;
  }

  /** Computes {@code conj(q) z = (qx x + qy y) + i (qx y - qy x)}. */
  private static void multiply(float[] q, int at, float[] z, float[] out, int to, int pairs) {
    for (int i = 0; i < pairs; i++) {
      float qx = q[at + i];
      float qy = q[at + pairs + i];
      out[to + i] = qx * z[i] + qy * z[pairs + i];
      out[to + pairs + i] = qy * z[i] - qx * z[pairs + i];
    }
  }

  /** Rotates the number one to the positions of the page's tokens. */
  private void rotateAngles(CommvqPage page, RopeTable table) {
    int width = table.width();
    for (int token = 0; token < PAGE; token++) {
      int at = token * width;
      Arrays.fill(angles, at, at + width / 2, 1);
      Arrays.fill(angles, at + width / 2, at + width, 0);
      table.rotate(kernels, angles, at, 1, token);
    }
    ropeRotation.rotate(kernels, angles, PAGE, page.rotation(), page.position());
  }

  private void ensureCapacity(int sets, RopeTable table) {
    int maxRows = PageReader.MAX_ROWS;
    int width = table.width();
    if (ropeRotation == null || ropeRotation.table() != table) {
      ropeRotation = new RopeRotation(table);
    }
    if (tables.length < maxRows * sets * Int8Codebooks.CODEWORDS * width) {
      tables = new float[maxRows * sets * Int8Codebooks.CODEWORDS * width];
      indices = new byte[sets * PAGE];
    }
    if (angles.length < PAGE * width) {
      means = new float[maxRows * width];
      angles = new float[PAGE * width];
      sums = new float[PAGE * width];
      arranged = new float[maxRows * width];
      fixedRow = new float[width];
    }
  }
}
