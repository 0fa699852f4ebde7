package dev.kvasir.codec.patternkv;

import dev.kvasir.codec.Page;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.Rotation;
import java.lang.foreign.MemorySegment;

/** The patterns that one sequence has for its keys, or for its values, and how they are used. */
final class PatternBank {
  private static final int TOKENS = Page.TOKENS;

  private final PatternkvShape shape;
  private final SideSettings settings;
  private final Kernels kernels;
  private Patterns last; // null until there are any

  PatternBank(PatternkvShape shape, SideSettings settings, Kernels kernels) {
    this.shape = shape;
    this.settings = settings;
    this.kernels = kernels;
  }

  PatternBank fork() {
    PatternBank fork = new PatternBank(shape, settings, kernels);
    fork.last = last == null ? null : last.retain();
    return fork;
  }

  /** Makes room for the patterns that are mined from so many vectors. */
  void begin(int position, int vectors) {
    last = Patterns.mined(shape, position, Math.min(settings.patterns(), vectors));
  }

  /** Makes room for the pattern of one more window, where there may be one. */
  void grow(int position) {
    boolean mayGrow = settings.grows() && last.count() < Patterns.MOST;
    if (mayGrow && last.position() < position) {
      Patterns more = last.grown(shape, position);
      last.release();
      last = more;
    }
  }

  /** Finds the patterns of a head: (count, headDim), vectors as {@link #turnBack} leaves them. */
  void mine(int layer, int kvHead, float[] vectors, int count) {
    last.put(
        layer, kvHead, Clusters.centres(kernels, vectors, count, shape.headDim(), last.count()));
  }

  /** Turns a head's vectors of a block to where patterns are mined and compared. */
  void turnBack(float[] x, int at, int position) {
    int headDim = shape.headDim();
    if (settings.rotation().isPresent()) {
      Rotation rotation = settings.rotation().get();
      rotation.turn(x, at, headDim, TOKENS, -position);
      rotation.turnBackAlong(x, at, headDim, TOKENS);
    }
  }

  /**
   * Chooses a pattern for each vector of a block and leaves what remains without it.
   *
   * @param x (kvHeads, tokens, headDim), turned into residuals
   */
  Labels label(int layer, int position, float[] x) {
    byte[] indices = new byte[shape.kvHeads() * TOKENS];
    float[] patterns = new float[last.count() * shape.headDim()];
    float[] head = new float[TOKENS * shape.headDim()];
    for (int kvHead = 0; kvHead < shape.kvHeads(); kvHead++) {
      int at = kvHead * head.length;
      System.arraycopy(x, at, head, 0, head.length);
      turnBack(head, 0, position);
      if (last.position() == position && last.before() != null) {
        last.put(layer, kvHead, centre(head));
      }
      last.expand(kernels, layer, kvHead, 0, patterns);
      byte[] chosen = choose(head, patterns);
      System.arraycopy(chosen, 0, indices, kvHead * TOKENS, TOKENS);
      PatternkvPage.rows(
          chosen, TOKENS, patterns, shape.headDim(), settings.rotation(), position, head);
      for (int i = 0; i < head.length; i++) {
        x[at + i] -= head[i];
      }
    }
    return new Labels(last, MemorySegment.ofArray(indices));
  }

  private byte[] choose(float[] head, float[] patterns) {
    NearestPattern nearest =
        new NearestPattern(patterns, last.count(), shape.headDim(), settings.choice());
    byte[] indices = new byte[TOKENS];
    for (int token = 0; token < TOKENS; token++) {
      indices[token] = (byte) nearest.of(head, token * shape.headDim(), settings.largestRatio());
    }
    return indices;
  }

  /** The Chebyshev centre of a window: halfway between the ends of each channel. */
  private float[] centre(float[] head) {
    int headDim = shape.headDim();
    float[] centre = new float[headDim];
    for (int i = 0; i < headDim; i++) {
      float least = Float.POSITIVE_INFINITY;
      float most = Float.NEGATIVE_INFINITY;
      for (int at = i; at < head.length; at += headDim) {
        least = Math.min(least, head[at]);
        most = Math.max(most, head[at]);
      }
      centre[i] = (least + most) / 2;
    }
    return centre;
  }

  /** Forgets what was added by blocks that do not end by {@code length}. */
  void truncate(int length) {
    while (last != null && last.position() + TOKENS > length) {
      Patterns before = last.before() == null ? null : last.before().retain();
      release();
      last = before;
    }
  }

  boolean isEmpty() {
    return last == null;
  }

  long bytes() {
    return last == null ? 0 : last.bytes();
  }

  void release() {
    if (last != null) {
      last.release();
      last = null;
    }
  }
}
