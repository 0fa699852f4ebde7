package dev.kvasir.codec.patternkv;

import dev.kvasir.codec.Page;
import dev.kvasir.codec.QuantizationBatch;
import dev.kvasir.codec.SequenceCodec;
import dev.kvasir.codec.Snapshot;
import dev.kvasir.codec.SnapshotHeader;
import dev.kvasir.codec.uniform.UniformPage;
import dev.kvasir.codec.uniform.UniformPageSerializer;
import dev.kvasir.memory.MemoryPool;
import dev.kvasir.memory.SharedArena;
import dev.kvasir.page.HeadShape;
import java.nio.ByteBuffer;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The sequence codec of PatternKV. The first blocks are mined for patterns together. Each later
 * block adds its own pattern before it is quantized, because keys drift as a sequence grows. Pages
 * contain their new patterns, so the serialized state is:
 *
 * <pre>
 * u32  position of the first block that could add patterns
 * u32  position after the last such block
 * </pre>
 *
 * <p>Layers with sliding-window attention evict pages whose patterns later pages use. If there are
 * such layers, their patterns of keys and then of values follow, as written by {@link PatternBank}.
 */
final class PatternkvSequence implements SequenceCodec {
  /** The snapshot kind of this state. */
  private static final int KIND = 1;

  /** The snapshot kind of a state with patterns of sliding-window layers. */
  private static final int WINDOWED_KIND = 4;

  private static final int STATE_BYTES = 2 * Integer.BYTES;

  private static final int TOKENS = Page.TOKENS;

  /** Maximum vectors of a head that are mined; longer batches are subsampled. */
  private static final int MAX_SAMPLES = 4096;

  private final PatternkvCodec codec;
  private final List<HeadShape> heads;
  private final Optional<PatternBank> keys;
  private final Optional<PatternBank> values;
  private int firstCovered;
  private int covered; // blocks before this position could add patterns

  PatternkvSequence(PatternkvCodec codec, MemoryPool pool) {
    this(
        codec,
        codec.keys().map(side -> new PatternBank(codec.keyShape(), side, codec.kernels(), pool)),
        codec
            .values()
            .map(side -> new PatternBank(codec.valueShape(), side, codec.kernels(), pool)));
  }

  private PatternkvSequence(
      PatternkvCodec codec, Optional<PatternBank> keys, Optional<PatternBank> values) {
    this.codec = codec;
    this.heads = Collections.nCopies(codec.shape().kvHeads(), codec.head());
    this.keys = keys;
    this.values = values;
  }

  static PatternkvSequence resumed(PatternkvCodec codec, MemoryPool pool, byte[] state) {
    boolean hasLocal =
        codec.windowedLayers().length > 0
            && SnapshotHeader.STATE.kindOf(Snapshot.of(state)) == WINDOWED_KIND;
    return SnapshotHeader.STATE.unwrap(
        state,
        hasLocal ? WINDOWED_KIND : KIND,
        in -> {
          PatternkvSequence sequence = new PatternkvSequence(codec, pool);
          sequence.firstCovered = SnapshotHeader.STATE.readPosition(in);
          sequence.covered = SnapshotHeader.STATE.readPosition(in);
          if (hasLocal) {
            sequence.readBanks(in);
          }
          SnapshotHeader.STATE.requireRemaining(in, 0);
          return sequence;
        });
  }

  private void readBanks(ByteBuffer in) {
    try {
      banks().forEach(bank -> bank.read(codec.windowedLayers(), in));
      SnapshotHeader.STATE.requireRemaining(in, 0);
    } catch (RuntimeException | Error e) {
      close();
      throw e;
    }
  }

  @Override
  public byte[] serializeState() {
    int[] local = codec.windowedLayers();
    if (local.length == 0) {
      return SnapshotHeader.STATE.wrap(
          KIND, STATE_BYTES, out -> out.putInt(firstCovered).putInt(covered));
    }
    return SnapshotHeader.STATE.wrap(
        WINDOWED_KIND,
        STATE_BYTES + banks().mapToLong(bank -> bank.serializedBytes(local.length)).sum(),
        out -> {
          out.putInt(firstCovered).putInt(covered);
          banks().forEach(bank -> bank.write(local, out));
        });
  }

  private Stream<PatternBank> banks() {
    return Stream.concat(keys.stream(), values.stream());
  }

  @Override
  public void learn(QuantizationBatch batch) {
    if (banks().noneMatch(PatternBank::isEmpty)) {
      return;
    }
    int tokens = batch.blocks() * TOKENS;
    int step = Math.ceilDiv(tokens, MAX_SAMPLES);
    int samples = Math.ceilDiv(tokens, step);
    try {
      banks().forEach(bank -> bank.allocate(batch.position(), samples));
      codec
          .workers()
          .run((layer, worker) -> mine(batch, layer, step, samples), codec.shape().layers());
    } catch (RuntimeException | Error e) {
      banks().forEach(PatternBank::release);
      throw e;
    }
    firstCovered = batch.position();
    covered = batch.position() + tokens;
  }

  private void mine(QuantizationBatch batch, int layer, int step, int samples) {
    if (!batch.quantizes(layer)) {
      return;
    }
    int keyDim = codec.shape().keyDim();
    int valueDim = codec.shape().valueDim();
    int kvHeads = codec.shape().kvHeads();
    float[] blockKeys = new float[kvHeads * TOKENS * keyDim];
    float[] blockValues = new float[kvHeads * TOKENS * valueDim];
    float[][] keySamples = new float[kvHeads][samples * keyDim];
    float[][] valueSamples = new float[kvHeads][samples * valueDim];
    for (int block = 0; block < batch.blocks(); block++) {
      batch.readBlock(layer, block, blockKeys, blockValues);
      for (int head = 0; head < kvHeads; head++) {
        int keysAt = head * TOKENS * keyDim;
        int position = batch.position() + block * TOKENS;
        keys.ifPresent(bank -> bank.unrotate(layer, blockKeys, keysAt, position));
        sample(blockKeys, keysAt, keyDim, block, step, keySamples[head]);
        sample(blockValues, head * TOKENS * valueDim, valueDim, block, step, valueSamples[head]);
      }
    }
    for (int head = 0; head < kvHeads; head++) {
      int kvHead = head;
      keys.ifPresent(bank -> bank.mine(layer, kvHead, keySamples[kvHead], samples));
      values.ifPresent(bank -> bank.mine(layer, kvHead, valueSamples[kvHead], samples));
    }
  }

  /** Copies those tokens of a block whose index in the batch is a multiple of {@code step}. */
  private static void sample(
      float[] vectors, int at, int width, int block, int step, float[] samples) {
    int first = Math.ceilDiv(block * TOKENS, step);
    for (int i = first; i * step < (block + 1) * TOKENS; i++) {
      int token = i * step - block * TOKENS;
      System.arraycopy(vectors, at + token * width, samples, i * width, width);
    }
  }

  @Override
  public Page quantize(
      SharedArena memory, int layer, int position, float[] keyVectors, float[] valueVectors) {
    if (position >= covered) {
      banks().forEach(bank -> bank.grow(position));
      covered = position + TOKENS;
    }
    Optional<PatternLabels> keyLabels = keys.map(bank -> bank.label(layer, position, keyVectors));
    Optional<PatternLabels> valueLabels =
        values.map(bank -> bank.label(layer, position, valueVectors));
    UniformPage residuals =
        UniformPage.quantize(
            memory, heads, codec.operandPrecision(), null, keyVectors, valueVectors);
    try {
      return page(memory, residuals, layer, position, keyLabels, valueLabels);
    } catch (RuntimeException | Error e) {
      residuals.close();
      throw e;
    }
  }

  private Page page(
      SharedArena memory,
      UniformPage residuals,
      int layer,
      int position,
      Optional<PatternLabels> keyLabels,
      Optional<PatternLabels> valueLabels) {
    return new PatternkvPage(
        memory,
        residuals,
        layer,
        position,
        codec.keys().flatMap(options -> options.rotation(layer)),
        keyLabels,
        valueLabels);
  }

  @Override
  public Page deserialize(SharedArena memory, int layer, Snapshot snapshot) {
    return SnapshotHeader.PAGE.unwrap(
        snapshot, PatternkvPage.KIND, in -> deserialize(memory, layer, in));
  }

  private Page deserialize(SharedArena memory, int layer, ByteBuffer in) {
    int position = SnapshotHeader.PAGE.readPosition(in);
    Optional<SerializedLabels> ofKeys = SerializedLabels.read(in, codec.keyShape());
    Optional<SerializedLabels> ofValues = SerializedLabels.read(in, codec.valueShape());
    require("keys", keys, ofKeys, layer, position);
    require("values", values, ofValues, layer, position);
    UniformPage residuals =
        UniformPageSerializer.read(
            memory, in, heads.size(), found -> codec.head(), codec.operandPrecision());
    try {
      return page(
          memory,
          residuals,
          layer,
          position,
          ofKeys.map(stored -> keys.get().restore(layer, position, stored)),
          ofValues.map(stored -> values.get().restore(layer, position, stored)));
    } catch (RuntimeException | Error e) {
      residuals.close();
      throw e;
    }
  }

  private static void require(
      String side,
      Optional<PatternBank> bank,
      Optional<SerializedLabels> stored,
      int layer,
      int position) {
    if (bank.isPresent() != stored.isPresent()) {
      throw SnapshotHeader.PAGE.invalid(
          "has %s %s patterns; those of this cache are %s"
              .formatted(side, with(stored.isPresent()), with(bank.isPresent())));
    }
    stored.ifPresent(labels -> bank.get().require(side, layer, position, labels));
  }

  private static String with(boolean patterns) {
    return patterns ? "with" : "without";
  }

  @Override
  public long tableBytes() {
    return banks().mapToLong(PatternBank::bytes).sum();
  }

  @Override
  public SequenceCodec fork() {
    PatternkvSequence fork =
        new PatternkvSequence(codec, keys.map(PatternBank::fork), values.map(PatternBank::fork));
    fork.firstCovered = firstCovered;
    fork.covered = covered;
    return fork;
  }

  @Override
  public void truncate(int length) {
    banks().forEach(bank -> bank.truncate(length));
    int kept = Math.max(0, Math.min(length, covered) - firstCovered) / TOKENS;
    covered = firstCovered + kept * TOKENS;
  }

  @Override
  public void close() {
    banks().forEach(PatternBank::release);
  }
}
