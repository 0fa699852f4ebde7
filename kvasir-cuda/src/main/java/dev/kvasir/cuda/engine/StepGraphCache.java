package dev.kvasir.cuda.engine;

import dev.kvasir.cuda.driver.CudaGraph;
import dev.kvasir.cuda.driver.CudaStream;
import dev.kvasir.cuda.driver.Resources;
import dev.kvasir.cuda.formats.DeviceCacheConfig;
import dev.kvasir.cuda.formats.PagedAttention;
import dev.kvasir.cuda.kernels.RowCounts;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A cache of CUDA graphs for recurring steps. Capturing takes longer than launching the kernels one
 * by one, so a shape is captured when it occurs twice in a row. The least recently used graph is
 * evicted.
 */
final class StepGraphCache implements AutoCloseable {
  private static final int MAX_GRAPHS = 16;

  /**
   * The parameters that a captured graph depends on.
   *
   * @param logitRows rows with logits
   * @param decodeRows rows that attend one by one; one more of them and one fewer of a chunk leave
   *     all other parameters equal
   * @param launchPlan plan for the attention of these rows; null if there are none
   * @param chunks number of prompt chunks
   * @param chunkBlocks thread blocks of the longest chunk
   * @param dequantized number of packed pages dequantized for the chunks, by width
   */
  record Shape(
      DeviceCacheConfig cacheConfig,
      RowCounts rows,
      RowCounts logitRows,
      int decodeRows,
      PagedAttention.LaunchPlan launchPlan,
      int chunks,
      int chunkBlocks,
      List<Integer> dequantized) {
    /**
     * Returns a shape.
     *
     * @param before returned if it is the same, as a step should allocate nothing; may be null
     */
    static Shape of(
        Shape before,
        DeviceCacheConfig cacheConfig,
        RowCounts rows,
        RowCounts logitRows,
        int decodeRows,
        PagedAttention.LaunchPlan launchPlan,
        int chunks,
        int chunkBlocks,
        List<Integer> dequantized) {
      boolean isSame =
          before != null
              && before.cacheConfig == cacheConfig
              && before.rows == rows
              && before.logitRows == logitRows
              && before.decodeRows == decodeRows
              && before.launchPlan == launchPlan
              && before.chunks == chunks
              && before.chunkBlocks == chunkBlocks
              && before.dequantized.equals(dequantized);
      return isSame
          ? before
          : new Shape(
              cacheConfig,
              rows,
              logitRows,
              decodeRows,
              launchPlan,
              chunks,
              chunkBlocks,
              dequantized);
    }
  }

  private final CudaStream stream;
  private final Map<Shape, CudaGraph> graphs = new LinkedHashMap<>(MAX_GRAPHS, 0.75f, true);
  private Shape last;

  StepGraphCache(CudaStream stream) {
    this.stream = stream;
  }

  void run(Shape shape, Runnable launch) {
    CudaGraph known = graphs.get(shape);
    if (known == null && shape.equals(last)) {
      known = stream.capture(launch);
      graphs.put(shape, known);
      dropEldest();
    }
    last = shape;
    if (known == null) {
      launch.run();
    } else {
      known.launch(stream);
    }
  }

  private void dropEldest() {
    if (graphs.size() > MAX_GRAPHS) {
      Iterator<CudaGraph> eldest = graphs.values().iterator();
      eldest.next().close();
      eldest.remove();
    }
  }

  @Override
  public void close() {
    List<AutoCloseable> all = new ArrayList<>(graphs.values());
    graphs.clear();
    Resources.closeAll(all);
  }
}
