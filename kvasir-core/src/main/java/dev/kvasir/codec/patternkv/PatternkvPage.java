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
 * A layer's keys and values as patterns and packed residuals. The patterns lie in the bank of the
 * sequence, which the page holds on to.
 *
 * <pre>
 * residuals  a UniformPage
 * indices    (kvHeads, 128) bytes of keys, then as many of values, of those that have patterns
 * </pre>
 *
 * Stored:
 *
 * <pre>
 * u32  position of the first token
 *      SerializedLabels of keys, then of values
 *      residuals, a UniformPageSerializer
 * </pre>
 */
public final class PatternkvPage implements Page {
  /** Its number among stored pages. */
  static final int KIND = 2;

  private final SharedArena memory;
  private final UniformPage residuals;
  private final int layer;
  private final int position;
  private final Optional<Rotation> rotation;
  private final PageRotation pageRotation; // null where patterns of keys stand still
  private final PatternLabels keys; // null where keys have no patterns; so are those of values
  private final PatternLabels values;
  private final boolean valuesAreKeys;
  private final long indexBytes;

  /**
   * Takes the residuals over; the patterns are held, and the indices copied.
   *
   * @param memory that the indices lie in
   * @param position of the first token
   * @param rotation that turns the patterns of keys to the tokens' positions
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
    this.pageRotation =
        rotation.map(turning -> PageRotation.of(turning, keyDim, position)).orElse(null);
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

  /** What is left of keys and values without their patterns. */
  public UniformPage residuals() {
    return residuals;
  }

  public int layer() {
    return layer;
  }

  /** Of the first token. */
  public int position() {
    return position;
  }

  /** What turns a key's pattern to its token's position; empty where patterns are used as is. */
  public Optional<Rotation> rotation() {
    return rotation;
  }

  /** How queries meet patterns of keys that turn; null where patterns are used as is. */
  PageRotation pageRotation() {
    return pageRotation;
  }

  /**
   * Those of {@link #ropeOrder} or null: readers come by for every page, and fetch an object less.
   */
  PatternLabels keyLabels() {
    return keys;
  }

  /** As {@link #keyLabels}, of {@link #values}. */
  PatternLabels valueLabels() {
    return valuesAreKeys ? keys : values;
  }

  /** Empty where keys have no patterns. */
  public Optional<PatternLabels> keys() {
    return Optional.ofNullable(keys);
  }

  /** Empty where values have no patterns; those of keys where values are the keys. */
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
   * The patterns of tokens as their vectors have them: (tokens, headDim), zeros where there is
   * none. Packing and expanding must agree to the last bit, so both do it here.
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

  /** Indices count as scales do: what a page has beside its codes. */
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
}
