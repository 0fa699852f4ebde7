package dev.kvasir.codec.latent;

import dev.kvasir.codec.Envelope;
import dev.kvasir.codec.Form;
import dev.kvasir.codec.Page;
import dev.kvasir.codec.SealingRun;
import dev.kvasir.codec.SequenceCodec;
import dev.kvasir.memory.SharedArena;
import dev.kvasir.memory.Spares;
import java.lang.foreign.MemorySegment;

/**
 * A method at work on the latents of a sequence: it never meets the channels that turn. Stored:
 *
 * <pre>
 * the method's stored state
 * </pre>
 */
class LatentSequence implements SequenceCodec {
  /** The number of its state among stored ones. */
  static final int KIND = 48;

  final SequenceCodec latents;
  final RotaryChannels rotary;
  private final int queryHeads;
  private final Spares<float[]> cutQueries;
  private final Spares<float[]> wholeKeys;

  /**
   * @param queryHeads of a layer; 0 where no queries are shown
   */
  LatentSequence(SequenceCodec latents, RotaryChannels rotary, int queryHeads) {
    this(
        latents,
        rotary,
        queryHeads,
        new Spares<>(() -> new float[queryHeads * rotary.latent()]),
        new Spares<>(() -> new float[rotary.kvHeads() * Page.TOKENS * rotary.keyDim()]));
  }

  LatentSequence(SequenceCodec latents, LatentSequence like) {
    this(latents, like.rotary, like.queryHeads, like.cutQueries, like.wholeKeys);
  }

  private LatentSequence(
      SequenceCodec latents,
      RotaryChannels rotary,
      int queryHeads,
      Spares<float[]> cutQueries,
      Spares<float[]> wholeKeys) {
    this.latents = latents;
    this.rotary = rotary;
    this.queryHeads = queryHeads;
    this.cutQueries = cutQueries;
    this.wholeKeys = wholeKeys;
  }

  @Override
  public void learn(SealingRun run) {
    latents.learn(new LatentRun(run));
  }

  /** The latents of blocks that are about to be sealed. */
  private final class LatentRun implements SealingRun {
    private final SealingRun run;

    LatentRun(SealingRun run) {
      this.run = run;
    }

    @Override
    public int position() {
      return run.position();
    }

    @Override
    public int blocks() {
      return run.blocks();
    }

    @Override
    public boolean packs(int layer) {
      return run.packs(layer);
    }

    @Override
    public void expand(int layer, int block, float[] keys, float[] values) {
      float[] whole = wholeKeys.take();
      run.expand(layer, block, whole, values);
      rotary.latentsOf(whole, 0, rotary.kvHeads() * Page.TOKENS, keys);
      wholeKeys.giveBack(whole);
    }
  }

  @Override
  public Page seal(SharedArena memory, int layer, int position, float[] keys, float[] values) {
    return sealed(latents, rotary, memory, layer, position, keys, values);
  }

  /** Packs what turns, closes the gaps that it leaves and lets a method pack the latents. */
  static Page sealed(
      SequenceCodec latents,
      RotaryChannels rotary,
      SharedArena memory,
      int layer,
      int position,
      float[] keys,
      float[] values) {
    MemorySegment turned = rotary.pack(memory, keys);
    rotary.latentsOf(keys, 0, rotary.kvHeads() * Page.TOKENS, keys);
    Page page = latents.seal(memory, layer, position, keys, values);
    return new LatentPage(memory, rotary, turned, page);
  }

  @Override
  public Page read(SharedArena memory, int layer, Form form) {
    return LatentPage.read(memory, rotary, latents, layer, form);
  }

  @Override
  public byte[] state() {
    return state(KIND, latents.state());
  }

  static byte[] state(int kind, byte[] ofLatents) {
    return Envelope.STATE.seal(kind, ofLatents.length, out -> out.put(ofLatents));
  }

  /** What {@link #state} was made of. */
  static byte[] latentState(int kind, byte[] state) {
    return Envelope.STATE.open(
        state,
        kind,
        in -> {
          byte[] ofLatents = new byte[in.remaining()];
          in.get(ofLatents);
          return ofLatents;
        });
  }

  @Override
  public boolean seesTokens() {
    return latents.seesTokens();
  }

  @Override
  public void see(int position, int token) {
    latents.see(position, token);
  }

  @Override
  public boolean seesQueries() {
    return latents.seesQueries();
  }

  @Override
  public void see(int layer, int position, float[] queries, int at) {
    float[] cut = cutQueries.take();
    rotary.latentsOf(queries, at, queryHeads, cut);
    latents.see(layer, position, cut, 0);
    cutQueries.giveBack(cut);
  }

  @Override
  public int receivingQueries() {
    return latents.receivingQueries();
  }

  @Override
  public void receive(int layer, int kvHead, int from, int[] weights, int count) {
    latents.receive(layer, kvHead, from, weights, count);
  }

  @Override
  public void count(int length) {
    latents.count(length);
  }

  @Override
  public long tableBytes() {
    return latents.tableBytes();
  }

  @Override
  public SequenceCodec fork() {
    return new LatentSequence(latents.fork(), this);
  }

  @Override
  public void truncate(int length) {
    latents.truncate(length);
  }

  @Override
  public void close() {
    latents.close();
  }
}
