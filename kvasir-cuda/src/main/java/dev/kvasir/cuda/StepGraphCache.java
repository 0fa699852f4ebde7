package dev.kvasir.cuda;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Steps that are done again, as graphs. To record one takes longer than to launch its kernels one
 * by one, so a shape is recorded when it comes twice in a row; those used last are kept.
 */
final class StepGraphCache implements AutoCloseable {
  private static final int MAX_GRAPHS = 16;

  /**
   * What a graph is good for.
   *
   * @param outRows rows whose logits are wanted
   * @param singles rows that are attended to one by one: one more of them and one fewer of a run
   *     leave all else here as it is
   * @param cut how attention of single rows is shared out; null where there are none
   * @param runs parts of prompts
   * @param runBlocks of the longest one
   * @param expanded how many packed pages become halves for them, by width
   */
  record Shape(
      DeviceCacheConfig cacheConfig,
      int rows,
      int logitRows,
      int decodeRows,
      PagedAttention.LaunchPlan launchPlan,
      int chunks,
      int chunkBlocks,
      List<Integer> dequantized) {}

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
