package dev.kvasir.codec.commvq;

import dev.kvasir.codec.Page;
import dev.kvasir.codec.PageReader;
import dev.kvasir.kernel.FixedRows;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.PositionTurn;
import dev.kvasir.kernel.RowBlock;
import dev.kvasir.kernel.TurnTable;
import java.util.Arrays;

/**
 * The commutative rearrangement of the paper. With pairs of channels as complex numbers, a key's
 * part of a score is
 *
 * <pre>Re(conj(q) e^(i angle) sum of z) = Re(e^(i angle) sum of conj(q) z)</pre>
 *
 * so the products {@code conj(q) z} of a query with all rows are made once for a walk, a token adds
 * up those that its codes name, and only the sum is turned to its position. Nothing of it is shared
 * between query heads but the angles.
 */
final class QueryTables implements KeyScores {
  private static final int PAGE = Page.TOKENS;

  private final Kernels kernels;
  private final float[] scales = new float[PAGE];
  private final float[] products = new float[PAGE];
  private byte[] indices = {}; // (sets, PAGE)
  private float[] tables = {}; // (rows, sets, ROWS, width): real parts, then imaginary ones negated
  private float[] means = {}; // (rows, width), as tables
  private float[] angles = {}; // (PAGE, width): cosines, then sines
  private float[] sums = {}; // (PAGE, width)
  private float[] arranged = {}; // (rows, width), queries
  private float[] fixedRow = {}; // (width)
  private PositionTurn turn; // null until there is a table
  private final RowBlock inputRows = new RowBlock();
  private final RowBlock vectorRows = new RowBlock();
  private final RowBlock outputRows = new RowBlock();
  private boolean isMade;

  QueryTables(Kernels kernels) {
    this.kernels = kernels;
  }

  @Override
  public void begin() {
    isMade = false;
  }

  @Override
  public void score(CommvqPage page, int kvHead, float[] queries, int rows, float[] scores) {
    FixedRows fixed = page.rows().keys().get(kvHead);
    TurnTable table = page.rows().table();
    int width = table.width();
    if (!isMade) {
      makeTables(fixed, table, queries, rows);
    }
    turnAngles(page, table);
    page.readKeys(kernels, kvHead, indices);
    page.readKeyScales(kernels, scales);
    kernels
        .floats()
        .products(
            inputRows.set(means, rows, width),
            vectorRows.set(angles, PAGE, width),
            outputRows.set(scores, rows, PAGE));
    for (int row = 0; row < rows; row++) {
      int at = row * fixed.sets() * FixedRows.ROWS * width;
      kernels.codebooks().pickedSums(tables, at, indices, fixed.sets(), PAGE, width, sums);
      kernels.codebooks().rowProducts(sums, angles, PAGE, width, products);
      kernels.rows().multiply(products, 0, scales, 0, products, 0, PAGE);
      kernels.rows().add(scores, row * PAGE, products, 0, PAGE);
    }
  }

  private void makeTables(FixedRows fixed, TurnTable table, float[] queries, int rows) {
    int width = table.width();
    int count = fixed.sets() * FixedRows.ROWS;
    makeRoom(fixed.sets(), table);
    table.arrange(queries, 0, rows, arranged, 0);
    for (int query = 0; query < rows; query++) {
      for (int i = 0; i < count; i++) {
        fixed.expand(i, fixedRow);
        multiply(arranged, query * width, fixedRow, tables, (query * count + i) * width, width / 2);
      }
      multiply(arranged, query * width, fixed.mean(), means, query * width, width / 2);
    }
    isMade = true;
  }

  /** {@code conj(q) z = (qx x + qy y) + i (qx y - qy x)}. */
  private static void multiply(float[] q, int at, float[] z, float[] out, int to, int pairs) {
    for (int i = 0; i < pairs; i++) {
      float qx = q[at + i];
      float qy = q[at + pairs + i];
      out[to + i] = qx * z[i] + qy * z[pairs + i];
      out[to + pairs + i] = qy * z[i] - qx * z[pairs + i];
    }
  }

  /** One, turned to the positions of the page's tokens. */
  private void turnAngles(CommvqPage page, TurnTable table) {
    int width = table.width();
    for (int token = 0; token < PAGE; token++) {
      int at = token * width;
      Arrays.fill(angles, at, at + width / 2, 1);
      Arrays.fill(angles, at + width / 2, at + width, 0);
      table.turn(kernels, angles, at, 1, token);
    }
    turn.turn(kernels, angles, PAGE, page.rotation(), page.position());
  }

  private void makeRoom(int sets, TurnTable table) {
    int most = PageReader.MOST_ROWS;
    int width = table.width();
    if (turn == null || turn.table() != table) {
      turn = new PositionTurn(table);
    }
    if (tables.length < most * sets * FixedRows.ROWS * width) {
      tables = new float[most * sets * FixedRows.ROWS * width];
      indices = new byte[sets * PAGE];
    }
    if (angles.length < PAGE * width) {
      means = new float[most * width];
      angles = new float[PAGE * width];
      sums = new float[PAGE * width];
      arranged = new float[most * width];
      fixedRow = new float[width];
    }
  }
}
