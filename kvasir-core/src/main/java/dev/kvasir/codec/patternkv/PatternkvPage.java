package dev.kvasir.codec.patternkv;

import dev.kvasir.codec.Page;
import dev.kvasir.codec.PageReader;
import dev.kvasir.codec.PageReaders;
import dev.kvasir.codec.PageWorkspace;
import dev.kvasir.codec.SnapshotHeader;
import dev.kvasir.codec.uniform.UniformPage;
import dev.kvasir.codec.uniform.UniformPageSerializer;
import dev.kvasir.kernel.Rotation;
import dev.kvasir.memory.SharedArena;
import java.lang.foreign.MemorySegment;
import java.util.Optional;

/**
 * A layer's keys and values as patterns and quantized residuals. The patterns are in the bank of
 * the sequence, which the page retains.
 *
 * <pre>
 * residuals  a UniformPage
 * indices    (kvHeads, 128) bytes of keys, then as many of values, of those that have patterns
 * </pre>
 *
 * Serialized:
 *
 * <pre>
 * u32  position of the first token
 *      SerializedLabels of keys, then of values
 *      residuals, by UniformPageSerializer
 * </pre>
 */
public final class PatternkvPage implements Page {
  /** The snapshot kind of this page. */
  static final int KIND = 2;

  private final SharedArena memory;
  private final UniformPage residuals;
  private final int layer;
  private final int position;
  private final Optional<Rotation> rotation;
  private final PageRotation pageRotation; // null if key patterns do not rotate
  private final PatternLabels keys; // null if keys have no patterns; likewise for values
  private final PatternLabels values;
  private final boolean valuesAreKeys;
  private final long indexBytes;

  /**
   * Creates a page that owns the residuals, retains the patterns and copies the indices.
   *
   * @param memory the memory of the indices
   * @param position of the first token
   * @param rotation of key patterns to the tokens' positions
   */
  PatternkvPage(
      SharedArena memory,
      UniformPage residuals,
      int layer,
      int position,
      Optional<Rotation> rotation,
      Optional<PatternLabels> keys,
      Optional<PatternLabels> values) {
    this.residuals = residuals;
    this.layer = layer;
    this.position = position;
    this.rotation = rotation;
    int keyDim = residuals.shape(0).keyDim();
    this.pageRotation = rotation.map(rope -> PageRotation.of(rope, keyDim, position)).orElse(null);
    this.keys = keys.map(labels -> copyTo(labels, memory)).orElse(null);
    this.values = values.map(labels -> copyTo(labels, memory)).orElse(null);
    this.valuesAreKeys = residuals.shape(0).hasValuesInKeys();
    this.indexBytes = indexBytes(keys) + indexBytes(values);
    this.memory = memory.retain();
    keys.ifPresent(labels -> labels.patterns().retain());
    values.ifPresent(labels -> labels.patterns().retain());
  }

  private static long indexBytes(Optional<PatternLabels> labels) {
    return labels.map(any -> any.indices().byteSize()).orElse(0L);
  }

  private static PatternLabels copyTo(PatternLabels labels, SharedArena memory) {
    MemorySegment indices = memory.allocate(labels.indices().byteSize());
    return new PatternLabels(labels.patterns(), indices.copyFrom(labels.indices()));
  }

  @Override
  public byte[] serialize() {
    Optional<SerializedLabels> ofKeys = keys().map(this::stored);
    Optional<SerializedLabels> ofValues = Optional.ofNullable(values).map(this::stored);
    int labelBytes = SerializedLabels.bytes(ofKeys) + SerializedLabels.bytes(ofValues);
    return SnapshotHeader.PAGE.wrap(
        KIND,
        Integer.BYTES + labelBytes + UniformPageSerializer.bytes(residuals),
        out -> {
          out.putInt(position);
          SerializedLabels.write(ofKeys, out);
          SerializedLabels.write(ofValues, out);
          UniformPageSerializer.write(residuals, out);
        });
  }

  private SerializedLabels stored(PatternLabels labels) {
    return SerializedLabels.of(labels, layer, position);
  }

  @Override
  public PageReader reader(PageReaders readers) {
    return readers.of(PatternkvReader.KIND);
  }

  /** Returns the residuals of keys and values without their patterns. */
  public UniformPage residuals() {
    return residuals;
  }

  public int layer() {
    return layer;
  }

  /** Returns the position of the first token. */
  public int position() {
    return position;
  }

  /** Returns the rotation between queries and key patterns; null if patterns do not rotate. */
  PageRotation pageRotation() {
    return pageRotation;
  }

  /** Returns {@link #keys} or null. Readers call it for every page, and it avoids an object. */
  PatternLabels keyLabels() {
    return keys;
  }

  /** Returns {@link #values} or null, like {@link #keyLabels}. */
  PatternLabels valueLabels() {
    return valuesAreKeys ? keys : values;
  }

  /** Returns the labels of keys; empty if keys have no patterns. */
  public Optional<PatternLabels> keys() {
    return Optional.ofNullable(keys);
  }

  /**
   * Returns the labels of values; empty if they have no patterns; those of keys if values are part
   * of keys.
   */
  public Optional<PatternLabels> values() {
    return Optional.ofNullable(valueLabels());
  }

  @Override
  public void dequantizeKeys(PageWorkspace workspace, int kvHead, int tokens, float[] out) {
    residuals.dequantizeKeys(workspace, kvHead, tokens, out);
    if (keys != null) {
      int width = residuals.shape(kvHead).keyDim();
      addPatterns(workspace, keys, width, rotation, kvHead, tokens, out);
    }
  }

  @Override
  public void dequantizeValues(PageWorkspace workspace, int kvHead, int tokens, float[] out) {
    residuals.dequantizeValues(workspace, kvHead, tokens, out);
    if (values().isPresent()) {
      int width = residuals.shape(kvHead).valueDim();
      addPatterns(workspace, values().get(), width, Optional.empty(), kvHead, tokens, out);
    }
  }

  private void addPatterns(
      PageWorkspace workspace,
      PatternLabels labels,
      int headDim,
      Optional<Rotation> keyRotation,
      int kvHead,
      int tokens,
      float[] out) {
    PatternScratch scratch = PatternScratch.of(workspace, headDim);
    labels.read(kvHead, scratch.indices);
    labels.patterns().expand(workspace.kernels(), layer, kvHead, 0, scratch.patterns);
    patternRows(
        scratch.indices, tokens, scratch.patterns, headDim, keyRotation, position, scratch.rows);
    workspace.kernels().rows().add(out, 0, scratch.rows, 0, tokens * headDim);
  }

  /**
   * Writes the rotated patterns of tokens: (tokens, headDim), zeros without a pattern. Quantization
   * and dequantization both use it, because they must agree to the last bit.
   */
  static void patternRows(
      byte[] indices,
      int tokens,
      float[] patterns,
      int headDim,
      Optional<Rotation> rotation,
      int position,
      float[] rows) {
    PatternLabels.gather(indices, tokens, patterns, headDim, rows);
    if (rotation.isPresent()) {
      rotation.get().rotateConsecutive(rows, 0, headDim, tokens);
      rotation.get().rotate(rows, 0, headDim, tokens, position);
    }
  }

  @Override
  public long codeBytes() {
    return residuals.codeBytes();
  }

  /** Indices count as scales. */
  @Override
  public long scaleBytes() {
    return residuals.scaleBytes() + indexBytes;
  }

  @Override
  public void close() {
    residuals.close();
    memory.release();
    keys().ifPresent(labels -> labels.patterns().release());
    Optional.ofNullable(values).ifPresent(labels -> labels.patterns().release());
  }

  /** A worker's buffers for adding patterns to a page's residuals. */
  private static final class PatternScratch {
    final byte[] indices = new byte[Page.TOKENS];
    float[] patterns = {}; // (PatternSet.MAX_COUNT, headDim)
    float[] rows = {}; // (TOKENS, headDim)

    static PatternScratch of(PageWorkspace workspace, int headDim) {
      PatternScratch scratch = workspace.scratch(PatternScratch.class, PatternScratch::new);
      if (scratch.rows.length < Page.TOKENS * headDim) {
        scratch.patterns = new float[PatternSet.MAX_COUNT * headDim];
        scratch.rows = new float[Page.TOKENS * headDim];
      }
      return scratch;
    }
  }
}
