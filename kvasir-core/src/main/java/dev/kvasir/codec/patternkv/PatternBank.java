package dev.kvasir.codec.patternkv;

import dev.kvasir.codec.Page;
import dev.kvasir.codec.SnapshotHeader;
import dev.kvasir.kernel.KMeans;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.Rotation;
import dev.kvasir.memory.MemoryPool;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;

/**
 * The patterns of a sequence's keys or of its values, and their use. Serialized for some layers:
 *
 * <pre>
 * u8   versions
 *      for each, from the first on:
 * u32  position of the first token that may use its new patterns
 * u8   n, new patterns
 * f16  those of each of the layers (kvHeads, n, headDim)
 * </pre>
 */
final class PatternBank {
  private static final int TOKENS = Page.TOKENS;

  private final PatternBankShape shape;
  private final PatternOptions options;
  private final MemoryPool pool;
  private final BitSet pendingLayers = new BitSet(); // (versions, layers) that are yet to be read
  private final Kernels kernels;
  private PatternSet last; // null until there are any

  PatternBank(PatternBankShape shape, PatternOptions options, Kernels kernels, MemoryPool pool) {
    this.shape = shape;
    this.pool = pool;
    this.options = options;
    this.kernels = kernels;
  }

  PatternBank fork() {
    PatternBank fork = new PatternBank(shape, options, kernels, pool);
    fork.last = last == null ? null : last.retain();
    return fork;
  }

  /** Allocates the patterns that will be mined from the given number of vectors. */
  void allocate(int position, int vectors) {
    last = PatternSet.initial(shape, pool, position, Math.min(options.patterns(), vectors));
  }

  /** Allocates the pattern of another window, if there may be one. */
  void grow(int position) {
    if (mayGrow(position)) {
      PatternSet more = last.extended(shape, pool, position);
      last.release();
      last = more;
    }
  }

  private boolean mayGrow(int position) {
    return options.grows() && last.count() < PatternSet.MAX_COUNT && last.position() < position;
  }

  /**
   * Mines the patterns of a head from vectors (count, headDim) that {@link #unrotate} has
   * processed.
   */
  void mine(int layer, int kvHead, float[] vectors, int count) {
    last.put(
        layer, kvHead, KMeans.centroids(kernels, vectors, count, shape.headDim(), last.count()));
  }

  /**
   * Rejects labels that belong to another bank.
   *
   * @param side keys or values
   */
  void require(String side, int layer, int position, SerializedLabels stored) {
    if (!isNext(position, stored) && !isKnown(layer, position, stored)) {
      throw SnapshotHeader.PAGE.invalid(
          "of position %d has %d patterns of %s, %d of them new; its sequence has %d"
              .formatted(
                  position, stored.count(), side, stored.added(), last == null ? 0 : last.count()));
    }
  }

  private boolean isNext(int position, SerializedLabels stored) {
    if (last == null) {
      return stored.added() == stored.count() && stored.count() <= options.patterns();
    }
    return mayGrow(position)
        && pendingLayers.isEmpty()
        && stored.added() == 1
        && stored.count() == last.count() + 1;
  }

  private boolean isKnown(int layer, int position, SerializedLabels stored) {
    PatternSet version = last == null ? null : last.versionWithCount(stored.count());
    if (version == null) {
      return false;
    }
    if (stored.added() == 0) {
      return version.position() < position;
    }
    return version.position() == position
        && version.added() == stored.added()
        && (isPending(version, layer)
            || Arrays.equals(version.addedHalves(layer), stored.patterns()));
  }

  private boolean isPending(PatternSet version, int layer) {
    return pendingLayers.get(pendingIndex(version, layer));
  }

  /** Returns the index of a version's layer in {@code pendingLayers}. */
  private int pendingIndex(PatternSet version, int layer) {
    return version.count() * shape.layers() + layer;
  }

  private void markLayersPending() {
    pendingLayers.set(pendingIndex(last, 0), pendingIndex(last, shape.layers()));
  }

  /**
   * Returns the labels of a stored page that {@link #require} accepts, and adds its new patterns.
   */
  PatternLabels restore(int layer, int position, SerializedLabels stored) {
    if (isNext(position, stored)) {
      if (last == null) {
        allocate(position, stored.count());
      } else {
        grow(position);
      }
      markLayersPending();
    }
    PatternSet version = last.versionWithCount(stored.count());
    if (stored.added() > 0 && isPending(version, layer)) {
      version.putHalves(layer, stored.patterns());
      pendingLayers.clear(pendingIndex(version, layer));
    }
    return stored.with(version);
  }

  /** Returns all versions, from the first on. */
  private List<PatternSet> versions() {
    List<PatternSet> versions = new ArrayList<>();
    for (PatternSet version = last; version != null; version = version.previous()) {
      versions.addFirst(version);
    }
    return versions;
  }

  /** Returns the bytes that {@link #write} produces for a number of layers. */
  long serializedBytes(int layers) {
    return 1
        + versions().stream().mapToLong(version -> serializedBytes(layers, version.added())).sum();
  }

  private long serializedBytes(int layers, int added) {
    return Integer.BYTES + 1 + (long) Short.BYTES * layers * halves(added);
  }

  /** Returns the numbers of a layer's patterns. */
  private int halves(int added) {
    return shape.kvHeads() * added * shape.headDim();
  }

  /** Writes the patterns of some layers, independently of their pages. */
  void write(int[] layers, ByteBuffer out) {
    List<PatternSet> versions = versions();
    out.put((byte) versions.size());
    for (PatternSet version : versions) {
      out.putInt(version.position()).put((byte) version.added());
      for (int layer : layers) {
        for (short half : version.addedHalves(layer)) {
          out.putShort(half);
        }
      }
    }
  }

  /**
   * Reads the state written by {@link #write}. The patterns of other layers are read with their
   * pages.
   */
  void read(int[] layers, ByteBuffer in) {
    int versions = Byte.toUnsignedInt(in.get());
    for (int i = 0; i < versions; i++) {
      int position = SnapshotHeader.STATE.readPosition(in);
      int added = Byte.toUnsignedInt(in.get());
      boolean may =
          last == null ? added > 0 && added <= options.patterns() : added == 1 && mayGrow(position);
      if (!may || in.remaining() < (long) Short.BYTES * layers.length * halves(added)) {
        throw SnapshotHeader.STATE.invalid(
            "adds %d patterns at position %d to %d; this cache does not"
                .formatted(added, position, last == null ? 0 : last.count()));
      }
      if (last == null) {
        allocate(position, added);
      } else {
        grow(position);
      }
      markLayersPending();
      readVersion(layers, in);
    }
  }

  private void readVersion(int[] layers, ByteBuffer in) {
    short[] patterns = new short[halves(last.added())];
    for (int layer : layers) {
      for (int i = 0; i < patterns.length; i++) {
        patterns[i] = in.getShort();
      }
      last.putHalves(layer, patterns);
      pendingLayers.clear(pendingIndex(last, layer));
    }
  }

  /** Undoes the rotation of a head's vectors in a block, if patterns are unrotated. */
  void unrotate(int layer, float[] x, int at, int position) {
    int headDim = shape.headDim();
    if (options.rotations().isPresent()) {
      Rotation rotation = options.rotations().get().of(layer);
      rotation.rotate(x, at, headDim, TOKENS, -position);
      rotation.unrotateConsecutive(x, at, headDim, TOKENS);
    }
  }

  /**
   * Chooses a pattern for each vector of a block and subtracts it.
   *
   * @param x (kvHeads, tokens, headDim), replaced by residuals
   */
  PatternLabels label(int layer, int position, float[] x) {
    byte[] indices = new byte[shape.kvHeads() * TOKENS];
    float[] patterns = new float[last.count() * shape.headDim()];
    float[] head = new float[TOKENS * shape.headDim()];
    for (int kvHead = 0; kvHead < shape.kvHeads(); kvHead++) {
      int at = kvHead * head.length;
      System.arraycopy(x, at, head, 0, head.length);
      unrotate(layer, head, 0, position);
      if (last.position() == position && last.previous() != null) {
        last.put(layer, kvHead, centre(head));
      }
      last.expand(kernels, layer, kvHead, 0, patterns);
      byte[] chosen = choose(head, patterns);
      System.arraycopy(chosen, 0, indices, kvHead * TOKENS, TOKENS);
      PatternkvPage.patternRows(
          chosen, TOKENS, patterns, shape.headDim(), options.rotation(layer), position, head);
      for (int i = 0; i < head.length; i++) {
        x[at + i] -= head[i];
      }
    }
    return new PatternLabels(last, MemorySegment.ofArray(indices));
  }

  private byte[] choose(float[] head, float[] patterns) {
    NearestPattern nearest =
        new NearestPattern(kernels, patterns, last.count(), shape.headDim(), options.choice());
    byte[] indices = new byte[TOKENS];
    for (int token = 0; token < TOKENS; token++) {
      indices[token] =
          (byte) nearest.nearest(head, token * shape.headDim(), options.largestRatio());
    }
    return indices;
  }

  /** Returns the Chebyshev center of a window: the midpoint of each channel's range. */
  private float[] centre(float[] head) {
    int headDim = shape.headDim();
    float[] centre = new float[headDim];
    for (int i = 0; i < headDim; i++) {
      float min = Float.POSITIVE_INFINITY;
      float max = Float.NEGATIVE_INFINITY;
      for (int at = i; at < head.length; at += headDim) {
        min = Math.min(min, head[at]);
        max = Math.max(max, head[at]);
      }
      centre[i] = (min + max) / 2;
    }
    return centre;
  }

  /** Drops the patterns added by blocks that end after {@code length}. */
  void truncate(int length) {
    while (last != null && last.position() + TOKENS > length) {
      PatternSet before = last.previous() == null ? null : last.previous().retain();
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
    pendingLayers.clear();
    if (last != null) {
      last.release();
      last = null;
    }
  }
}
