package dev.kvasir.codec.mixkvq;

import dev.kvasir.codec.Envelope;
import dev.kvasir.codec.Form;
import dev.kvasir.codec.Page;
import dev.kvasir.codec.SealingRun;
import dev.kvasir.codec.SequenceCodec;
import dev.kvasir.codec.uniform.UniformPage;
import dev.kvasir.memory.MemoryPool;
import dev.kvasir.memory.SharedArena;
import dev.kvasir.page.HeadShape;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * MixKVQ at work on a sequence: it counts what queries look at, and divides channels by it. Stored:
 *
 * <pre>
 * u16  layers that are counted for; 0 where queries do not matter
 * u16  KV heads
 * u16  channels of a key
 *      a QueryTally for each layer
 * </pre>
 */
final class MixkvqSequence implements SequenceCodec {
  /** The number of its state among stored ones. */
  private static final int KIND = 2;

  private static final int HEADER_BYTES = 3 * Short.BYTES;

  private final MixkvqCodec codec;
  private final MixkvqShape shape;
  private final List<QueryTally> tallies; // by layer; none where queries do not matter

  private Tiers[][] tiersOfRun = {}; // (groups of blocks, layers * kvHeads)
  private int runPosition;

  MixkvqSequence(MixkvqCodec codec, MemoryPool pool) {
    this(codec, newTallies(codec, pool));
  }

  private MixkvqSequence(MixkvqCodec codec, List<QueryTally> tallies) {
    this.codec = codec;
    this.shape = codec.shape();
    this.tallies = tallies;
  }

  private static List<QueryTally> newTallies(MixkvqCodec codec, MemoryPool pool) {
    if (codec.settings().salience() == Salience.ERROR) {
      return List.of();
    }
    MixkvqShape shape = codec.shape();
    List<QueryTally> tallies = new ArrayList<>();
    try {
      for (int layer = 0; layer < shape.layers(); layer++) {
        tallies.add(new QueryTally(shape.kvHeads(), shape.keyDim(), codec.settings().span(), pool));
      }
    } catch (RuntimeException | Error e) {
      tallies.forEach(QueryTally::close);
      throw e;
    }
    return List.copyOf(tallies);
  }

  static MixkvqSequence resumed(MixkvqCodec codec, MemoryPool pool, byte[] state) {
    return Envelope.STATE.open(state, KIND, in -> read(codec, pool, in));
  }

  private static MixkvqSequence read(MixkvqCodec codec, MemoryPool pool, ByteBuffer in) {
    MixkvqSequence sequence = new MixkvqSequence(codec, pool);
    try {
      sequence.readTallies(in);
      return sequence;
    } catch (RuntimeException | Error e) {
      sequence.close();
      throw e;
    }
  }

  private void readTallies(ByteBuffer in) {
    int layers = Short.toUnsignedInt(in.getShort());
    int kvHeads = Short.toUnsignedInt(in.getShort());
    int keyDim = Short.toUnsignedInt(in.getShort());
    if (layers != tallies.size() || kvHeads != shape.kvHeads() || keyDim != shape.keyDim()) {
      throw Envelope.STATE.refused(
          "counts queries of %d layers for %d KV heads of %d channels; this cache for %d, %d and %d"
              .formatted(layers, kvHeads, keyDim, tallies.size(), shape.kvHeads(), shape.keyDim()));
    }
    Envelope.STATE.requireRest(in, (long) layers * QueryTally.storedBytes(kvHeads * keyDim));
    tallies.forEach(tally -> tally.read(in));
  }

  @Override
  public byte[] state() {
    return Envelope.STATE.seal(
        KIND,
        HEADER_BYTES + (long) tallies.size() * QueryTally.storedBytes(shape.channels()),
        out -> {
          out.putShort((short) tallies.size());
          out.putShort((short) shape.kvHeads()).putShort((short) shape.keyDim());
          tallies.forEach(tally -> tally.write(out));
        });
  }

  @Override
  public boolean seesQueries() {
    return !tallies.isEmpty();
  }

  @Override
  public void see(int layer, int position, float[] queries, int at) {
    tallies.get(layer).add(position, queries, at, shape.queriesPerKvHead());
  }

  /** Blocks that share their tiers must all be known before the first of them is sealed. */
  @Override
  public void learn(SealingRun run) {
    int together = codec.blocksTogether();
    float[] keys = new float[shape.channels() * Page.TOKENS];
    float[] values = new float[shape.kvHeads() * shape.valueDim() * Page.TOKENS];
    tiersOfRun = new Tiers[run.blocks() / together][shape.layers() * shape.kvHeads()];
    runPosition = run.position();
    for (int layer = 0; layer < shape.layers(); layer++) {
      for (int group = 0; run.packs(layer) && group < tiersOfRun.length; group++) {
        KeySteps ofKeys = new KeySteps(shape.kvHeads(), shape.keyDim());
        for (int block = group * together; block < (group + 1) * together; block++) {
          run.expand(layer, block, keys, values);
          ofKeys.add(keys);
        }
        divide(layer, ofKeys.steps(), tiersOfRun[group]);
      }
    }
    tallies.forEach(QueryTally::use);
  }

  private void divide(int layer, float[] steps, Tiers[] tiers) {
    float[] salience = steps.clone();
    if (seesQueries()) {
      tallies.get(layer).weigh(salience);
    }
    codec.watch().judged(layer, steps, salience);
    for (int head = 0; head < shape.kvHeads(); head++) {
      int at = head * shape.keyDim();
      tiers[layer * shape.kvHeads() + head] =
          Tiers.of(salience, at, shape.keyDim(), codec.settings().thresholds());
    }
  }

  @Override
  public Page seal(SharedArena memory, int layer, int position, float[] keys, float[] values) {
    int group = (position - runPosition) / Page.TOKENS / codec.blocksTogether();
    List<HeadShape> heads = new ArrayList<>();
    int[][] orders = new int[shape.kvHeads()][];
    for (int head = 0; head < shape.kvHeads(); head++) {
      Tiers tiers = tiersOfRun[group][layer * shape.kvHeads() + head];
      heads.add(codec.head(tiers.high(), tiers.mid()));
      orders[head] = tiers.order();
    }
    return UniformPage.pack(memory, heads, codec.settings().lookups(), orders, keys, values);
  }

  @Override
  public Page read(SharedArena memory, int layer, Form form) {
    return UniformPage.read(
        memory, form, shape.kvHeads(), codec::headLike, codec.settings().lookups());
  }

  @Override
  public long tableBytes() {
    return codec.tableBytes(0);
  }

  @Override
  public SequenceCodec fork() {
    return new MixkvqSequence(codec, tallies.stream().map(QueryTally::fork).toList());
  }

  @Override
  public void truncate(int length) {
    tallies.forEach(tally -> tally.truncate(length));
  }

  @Override
  public void close() {
    tallies.forEach(QueryTally::close);
  }
}
