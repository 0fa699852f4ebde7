package dev.kvasir.codec.mixkvq;

import dev.kvasir.codec.OperandPrecision;
import dev.kvasir.codec.Page;
import dev.kvasir.codec.QuantizationBatch;
import dev.kvasir.codec.SequenceCodec;
import dev.kvasir.codec.Snapshot;
import dev.kvasir.codec.SnapshotHeader;
import dev.kvasir.codec.uniform.SlicedPage;
import dev.kvasir.codec.uniform.UniformPage;
import dev.kvasir.memory.MemoryPool;
import dev.kvasir.memory.SharedArena;
import dev.kvasir.page.HeadShape;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The sequence codec of MixKVQ: measures query magnitudes and assigns channels to tiers.
 * Serialized:
 *
 * <pre>
 * u16  measured layers; 0 if salience ignores queries
 * u16  KV heads
 * u16  channels of a key
 *      a QueryMagnitudes for each layer
 * </pre>
 */
final class MixkvqSequence implements SequenceCodec {
  /** The snapshot kind of this state. */
  private static final int KIND = 2;

  private static final int HEADER_BYTES = 3 * Short.BYTES;

  private final MixkvqCodec codec;
  private final MixkvqShape shape;
  private final List<QueryMagnitudes>
      queryMagnitudes; // by layer; empty if salience ignores queries

  private Tiers[][] batchTiers = {}; // (groups of tokens, layers * kvHeads)
  private int batchPosition;
  private int groupTokens; // that share their tiers in the batch

  MixkvqSequence(MixkvqCodec codec, MemoryPool pool) {
    this(codec, newQueryMagnitudes(codec, pool));
  }

  private MixkvqSequence(MixkvqCodec codec, List<QueryMagnitudes> queryMagnitudes) {
    this.codec = codec;
    this.shape = codec.shape();
    this.queryMagnitudes = queryMagnitudes;
  }

  private static List<QueryMagnitudes> newQueryMagnitudes(MixkvqCodec codec, MemoryPool pool) {
    if (codec.options().salience() == Salience.ERROR) {
      return List.of();
    }
    MixkvqShape shape = codec.shape();
    List<QueryMagnitudes> queryMagnitudes = new ArrayList<>();
    try {
      for (int layer = 0; layer < shape.layers(); layer++) {
        queryMagnitudes.add(
            new QueryMagnitudes(shape.kvHeads(), shape.keyDim(), codec.options().span(), pool));
      }
    } catch (RuntimeException | Error e) {
      queryMagnitudes.forEach(QueryMagnitudes::close);
      throw e;
    }
    return List.copyOf(queryMagnitudes);
  }

  static MixkvqSequence resumed(MixkvqCodec codec, MemoryPool pool, byte[] state) {
    return SnapshotHeader.STATE.unwrap(state, KIND, in -> read(codec, pool, in));
  }

  private static MixkvqSequence read(MixkvqCodec codec, MemoryPool pool, ByteBuffer in) {
    MixkvqSequence sequence = new MixkvqSequence(codec, pool);
    try {
      sequence.readQueryMagnitudes(in);
      return sequence;
    } catch (RuntimeException | Error e) {
      sequence.close();
      throw e;
    }
  }

  private void readQueryMagnitudes(ByteBuffer in) {
    int layers = Short.toUnsignedInt(in.getShort());
    int kvHeads = Short.toUnsignedInt(in.getShort());
    int keyDim = Short.toUnsignedInt(in.getShort());
    if (layers != queryMagnitudes.size()
        || kvHeads != shape.kvHeads()
        || keyDim != shape.keyDim()) {
      throw SnapshotHeader.STATE.invalid(
          "counts queries of %d layers for %d KV heads of %d channels; this cache for %d, %d and %d"
              .formatted(
                  layers,
                  kvHeads,
                  keyDim,
                  queryMagnitudes.size(),
                  shape.kvHeads(),
                  shape.keyDim()));
    }
    SnapshotHeader.STATE.requireRemaining(
        in, (long) layers * QueryMagnitudes.serializedBytes(kvHeads * keyDim));
    queryMagnitudes.forEach(magnitudes -> magnitudes.read(in));
  }

  @Override
  public byte[] serializeState() {
    return SnapshotHeader.STATE.wrap(
        KIND,
        HEADER_BYTES
            + (long) queryMagnitudes.size() * QueryMagnitudes.serializedBytes(shape.channels()),
        out -> {
          out.putShort((short) queryMagnitudes.size());
          out.putShort((short) shape.kvHeads()).putShort((short) shape.keyDim());
          queryMagnitudes.forEach(magnitudes -> magnitudes.write(out));
        });
  }

  @Override
  public boolean observesQueries() {
    return !queryMagnitudes.isEmpty();
  }

  @Override
  public void observe(int layer, int position, float[] queries, int at) {
    queryMagnitudes.get(layer).add(position, queries, at, shape.queriesPerKvHead());
  }

  /** Assigns tiers, which requires all blocks that share them. */
  @Override
  public void learn(QuantizationBatch batch) {
    float[] keys = new float[shape.channels() * Page.TOKENS];
    float[] values = new float[shape.kvHeads() * shape.valueDim() * Page.TOKENS];
    int tokens = batch.blocks() * Page.TOKENS;
    groupTokens = tokensWithSameTiers(batch);
    batchTiers = new Tiers[tokens / groupTokens][shape.layers() * shape.kvHeads()];
    batchPosition = batch.position();
    int slice = codec.options().sliceTokens();
    for (int layer = 0; layer < shape.layers(); layer++) {
      KeyStepSizes stepSizes = new KeyStepSizes(shape.kvHeads(), shape.keyDim());
      for (int first = 0; batch.quantizes(layer) && first < tokens; first += slice) {
        if (first % Page.TOKENS == 0) {
          batch.readBlock(layer, first / Page.TOKENS, keys, values);
        }
        stepSizes.add(keys, first % Page.TOKENS, slice);
        if ((first + slice) % groupTokens == 0) {
          assignTiers(layer, stepSizes.takeSteps(), batchTiers[first / groupTokens]);
        }
      }
    }
    queryMagnitudes.forEach(QueryMagnitudes::markUsed);
  }

  /** A batch of more blocks than are quantized together in decoding comes from a prompt. */
  private int tokensWithSameTiers(QuantizationBatch batch) {
    return codec.options().scope() == TierScope.PROMPT && batch.blocks() > codec.blocksPerGroup()
        ? batch.blocks() * Page.TOKENS
        : codec.options().residual();
  }

  private void assignTiers(int layer, float[] steps, Tiers[] tiers) {
    float[] salience = steps.clone();
    if (observesQueries()) {
      queryMagnitudes.get(layer).multiplyByMean(salience);
    }
    codec.observer().onSalience(layer, steps, salience);
    for (int head = 0; head < shape.kvHeads(); head++) {
      int at = head * shape.keyDim();
      tiers[layer * shape.kvHeads() + head] =
          Tiers.of(salience, at, shape.keyDim(), codec.options().thresholds());
    }
  }

  @Override
  public Page quantize(SharedArena memory, int layer, int position, float[] keys, float[] values) {
    return codec.slices() == 1
        ? slice(memory, layer, position, keys, values, 0)
        : SlicedPage.of(
            codec.slices(),
            index ->
                slice(
                    memory, layer, position, keys, values, index * codec.options().sliceTokens()));
  }

  /** Quantizes the tokens of a slice, which may be the whole page. */
  private UniformPage slice(
      SharedArena memory, int layer, int position, float[] keys, float[] values, int first) {
    int group = (position - batchPosition + first) / groupTokens;
    List<HeadShape> heads = new ArrayList<>();
    int[][] orders = new int[shape.kvHeads()][];
    for (int head = 0; head < shape.kvHeads(); head++) {
      Tiers tiers = batchTiers[group][layer * shape.kvHeads() + head];
      heads.add(codec.head(tiers.high(), tiers.mid()));
      orders[head] = tiers.order();
    }
    return UniformPage.quantize(
        memory, heads, codec.options().operandPrecision(), orders, keys, values, first);
  }

  @Override
  public Page deserialize(SharedArena memory, int layer, Snapshot snapshot) {
    OperandPrecision precision = codec.options().operandPrecision();
    return codec.slices() == 1
        ? UniformPage.deserialize(memory, snapshot, shape.kvHeads(), codec::headLike, precision)
        : SlicedPage.deserialize(
            memory, snapshot, codec.slices(), shape.kvHeads(), codec::headLike, precision);
  }

  @Override
  public long tableBytes() {
    return codec.tableBytes(0);
  }

  @Override
  public SequenceCodec fork() {
    return new MixkvqSequence(codec, queryMagnitudes.stream().map(QueryMagnitudes::fork).toList());
  }

  @Override
  public void truncate(int length) {
    queryMagnitudes.forEach(magnitudes -> magnitudes.truncate(length));
  }

  @Override
  public void close() {
    queryMagnitudes.forEach(QueryMagnitudes::close);
  }

  /**
   * The step size of 2-bit codes for each key channel of a layer, over the tokens that share their
   * tiers: the range divided by three.
   */
  private static final class KeyStepSizes {
    private static final int STEPS = 3;

    private final int kvHeads;
    private final int keyDim;
    private final float[] min; // (kvHeads, keyDim)
    private final float[] max; // (kvHeads, keyDim)

    KeyStepSizes(int kvHeads, int keyDim) {
      this.kvHeads = kvHeads;
      this.keyDim = keyDim;
      this.min = new float[kvHeads * keyDim];
      this.max = new float[kvHeads * keyDim];
      clear();
    }

    private void clear() {
      Arrays.fill(min, Float.POSITIVE_INFINITY);
      Arrays.fill(max, Float.NEGATIVE_INFINITY);
    }

    /** Adds keys of a block, {@code count} from a token on. // (kvHeads, tokens, keyDim) */
    void add(float[] keys, int first, int count) {
      for (int head = 0; head < kvHeads; head++) {
        int to = head * keyDim;
        int from = (head * Page.TOKENS + first) * keyDim;
        for (int token = 0; token < count; token++) {
          for (int i = 0; i < keyDim; i++) {
            float key = keys[from + i];
            min[to + i] = Math.min(min[to + i], key);
            max[to + i] = Math.max(max[to + i], key);
          }
          from += keyDim;
        }
      }
    }

    /** Returns the step sizes (kvHeads, keyDim) of the keys since the last call. */
    float[] takeSteps() {
      float[] steps = new float[min.length];
      for (int i = 0; i < steps.length; i++) {
        steps[i] = (max[i] - min[i]) / STEPS;
      }
      clear();
      return steps;
    }
  }
}
