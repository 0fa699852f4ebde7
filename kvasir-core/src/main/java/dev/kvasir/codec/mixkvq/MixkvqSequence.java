package dev.kvasir.codec.mixkvq;

import dev.kvasir.codec.Page;
import dev.kvasir.codec.SealingRun;
import dev.kvasir.codec.SequenceCodec;
import dev.kvasir.codec.uniform.UniformPage;
import dev.kvasir.page.HeadShape;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/** MixKVQ at work on a sequence: it counts what queries look at, and divides channels by it. */
final class MixkvqSequence implements SequenceCodec {
  private final MixkvqCodec codec;
  private final MixkvqShape shape;
  private final List<QueryTally> tallies; // by layer; none where queries do not matter

  private Tiers[][] tiersOfRun = {}; // (groups of blocks, layers * kvHeads)
  private int runPosition;

  MixkvqSequence(MixkvqCodec codec) {
    this(codec, newTallies(codec));
  }

  private MixkvqSequence(MixkvqCodec codec, List<QueryTally> tallies) {
    this.codec = codec;
    this.shape = codec.shape();
    this.tallies = tallies;
  }

  private static List<QueryTally> newTallies(MixkvqCodec codec) {
    if (codec.settings().salience() == Salience.ERROR) {
      return List.of();
    }
    MixkvqShape shape = codec.shape();
    return IntStream.range(0, shape.layers())
        .mapToObj(
            layer -> new QueryTally(shape.kvHeads(), shape.headDim(), codec.settings().span()))
        .toList();
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
    float[] values = new float[keys.length];
    tiersOfRun = new Tiers[run.blocks() / together][shape.layers() * shape.kvHeads()];
    runPosition = run.position();
    for (int layer = 0; layer < shape.layers(); layer++) {
      for (int group = 0; group < tiersOfRun.length; group++) {
        KeySteps ofKeys = new KeySteps(shape.kvHeads(), shape.headDim());
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
      int at = head * shape.headDim();
      tiers[layer * shape.kvHeads() + head] =
          Tiers.of(salience, at, shape.headDim(), codec.settings().thresholds());
    }
  }

  @Override
  public Page seal(int layer, int position, float[] keys, float[] values) {
    int group = (position - runPosition) / Page.TOKENS / codec.blocksTogether();
    List<HeadShape> heads = new ArrayList<>();
    int[][] orders = new int[shape.kvHeads()][];
    for (int head = 0; head < shape.kvHeads(); head++) {
      Tiers tiers = tiersOfRun[group][layer * shape.kvHeads() + head];
      heads.add(codec.head(tiers.high(), tiers.mid()));
      orders[head] = tiers.order();
    }
    return UniformPage.pack(heads, codec.settings().lookups(), orders, keys, values);
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
