package dev.kvasir.codec.patternkv;

import dev.kvasir.codec.Envelope;
import dev.kvasir.codec.Page;
import dev.kvasir.codec.PageReader;
import dev.kvasir.codec.PageReaders;
import dev.kvasir.codec.PageRoom;
import dev.kvasir.codec.uniform.UniformForm;
import dev.kvasir.codec.uniform.UniformPage;
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
 *      StoredLabels of keys, then of values
 *      residuals, a UniformForm
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
  private final PageTurn turn; // null where patterns of keys stand still
  private final Labels keys; // null where keys have no patterns; so are those of values
  private final Labels values;
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
      Optional<Labels> keys,
      Optional<Labels> values) {
    this.residuals = residuals;
    this.layer = layer;
    this.position = position;
    this.rotation = rotation;
    int keyDim = residuals.shape(0).keyDim();
    this.turn = rotation.map(turning -> PageTurn.of(turning, keyDim, position)).orElse(null);
    this.keys = keys.map(labels -> own(labels, memory)).orElse(null);
    this.values = values.map(labels -> own(labels, memory)).orElse(null);
    this.valuesAreKeys = residuals.shape(0).hasValuesInKeys();
    this.indexBytes = indexBytes(keys) + indexBytes(values);
    this.memory = memory.retain();
    keys.ifPresent(labels -> labels.patterns().retain());
    values.ifPresent(labels -> labels.patterns().retain());
  }

  private static long indexBytes(Optional<Labels> labels) {
    return labels.map(any -> any.indices().byteSize()).orElse(0L);
  }

  private static Labels own(Labels labels, SharedArena memory) {
    MemorySegment indices = memory.allocate(labels.indices().byteSize());
    return new Labels(labels.patterns(), indices.copyFrom(labels.indices()));
  }

  @Override
  public byte[] form() {
    Optional<StoredLabels> ofKeys = keys().map(this::stored);
    Optional<StoredLabels> ofValues = Optional.ofNullable(values).map(this::stored);
    int labelBytes = StoredLabels.bytes(ofKeys) + StoredLabels.bytes(ofValues);
    return Envelope.PAGE.seal(
        KIND,
        Integer.BYTES + labelBytes + UniformForm.bytes(residuals),
        out -> {
          out.putInt(position);
          StoredLabels.write(ofKeys, out);
          StoredLabels.write(ofValues, out);
          UniformForm.write(residuals, out);
        });
  }

  private StoredLabels stored(Labels labels) {
    return StoredLabels.of(labels, layer, position);
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
  PageTurn turn() {
    return turn;
  }

  /** Those of {@link #keys} or null: readers come by for every page, and fetch an object less. */
  Labels keyLabels() {
    return keys;
  }

  /** As {@link #keyLabels}, of {@link #values}. */
  Labels valueLabels() {
    return valuesAreKeys ? keys : values;
  }

  /** Empty where keys have no patterns. */
  public Optional<Labels> keys() {
    return Optional.ofNullable(keys);
  }

  /** Empty where values have no patterns; those of keys where values are the keys. */
  public Optional<Labels> values() {
    return Optional.ofNullable(valueLabels());
  }

  @Override
  public void expandKeys(PageRoom room, int kvHead, int tokens, float[] out) {
    residuals.expandKeys(room, kvHead, tokens, out);
    if (keys != null) {
      int width = residuals.shape(kvHead).keyDim();
      addPatterns(room, keys, width, rotation, kvHead, tokens, out);
    }
  }

  @Override
  public void expandValues(PageRoom room, int kvHead, int tokens, float[] out) {
    residuals.expandValues(room, kvHead, tokens, out);
    if (values().isPresent()) {
      int width = residuals.shape(kvHead).valueDim();
      addPatterns(room, values().get(), width, Optional.empty(), kvHead, tokens, out);
    }
  }

  private void addPatterns(
      PageRoom worker,
      Labels labels,
      int headDim,
      Optional<Rotation> turned,
      int kvHead,
      int tokens,
      float[] out) {
    LabelRoom room = LabelRoom.of(worker, headDim);
    labels.read(kvHead, room.indices);
    labels.patterns().expand(worker.kernels(), layer, kvHead, 0, room.patterns);
    rows(room.indices, tokens, room.patterns, headDim, turned, position, room.rows);
    worker.kernels().rows().add(out, 0, room.rows, 0, tokens * headDim);
  }

  /**
   * The patterns of tokens as their vectors have them: (tokens, headDim), zeros where there is
   * none. Packing and expanding must agree to the last bit, so both do it here.
   */
  static void rows(
      byte[] indices,
      int tokens,
      float[] patterns,
      int headDim,
      Optional<Rotation> rotation,
      int position,
      float[] rows) {
    Labels.gather(indices, tokens, patterns, headDim, rows);
    if (rotation.isPresent()) {
      rotation.get().turnAlong(rows, 0, headDim, tokens);
      rotation.get().turn(rows, 0, headDim, tokens, position);
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
