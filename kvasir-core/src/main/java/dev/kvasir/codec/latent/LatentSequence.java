package dev.kvasir.codec.latent;

import dev.kvasir.codec.Page;
import dev.kvasir.codec.QuantizationBatch;
import dev.kvasir.codec.SequenceCodec;
import dev.kvasir.codec.Snapshot;
import dev.kvasir.codec.SnapshotHeader;
import dev.kvasir.memory.ObjectPool;
import dev.kvasir.memory.SharedArena;
import java.lang.foreign.MemorySegment;

/**
 * The sequence codec of a method applied to latents; the method never sees rotary channels.
 * Serialized:
 *
 * <pre>
 * the method's serialized state
 * </pre>
 */
class LatentSequence implements SequenceCodec {
  /** The snapshot kind of this state. */
  static final int KIND = 48;

  final SequenceCodec latents;
  final RotaryChannels rotary;
  private final int queryHeads;
  private final ObjectPool<float[]> latentQueries;
  private final ObjectPool<float[]> fullKeys;

  /**
   * Creates a sequence codec.
   *
   * @param queryHeads query heads of a layer; 0 if queries are not observed
   */
  LatentSequence(SequenceCodec latents, RotaryChannels rotary, int queryHeads) {
    this(
        latents,
        rotary,
        queryHeads,
        new ObjectPool<>(() -> new float[queryHeads * rotary.latentDim()]),
        new ObjectPool<>(() -> new float[rotary.kvHeads() * Page.TOKENS * rotary.keyDim()]));
  }

  LatentSequence(SequenceCodec latents, LatentSequence like) {
    this(latents, like.rotary, like.queryHeads, like.latentQueries, like.fullKeys);
  }

  private LatentSequence(
      SequenceCodec latents,
      RotaryChannels rotary,
      int queryHeads,
      ObjectPool<float[]> latentQueries,
      ObjectPool<float[]> fullKeys) {
    this.latents = latents;
    this.rotary = rotary;
    this.queryHeads = queryHeads;
    this.latentQueries = latentQueries;
    this.fullKeys = fullKeys;
  }

  @Override
  public void learn(QuantizationBatch batch) {
    latents.learn(new LatentBatch(batch));
  }

  /** The latents of a batch of blocks. */
  private final class LatentBatch implements QuantizationBatch {
    private final QuantizationBatch batch;

    LatentBatch(QuantizationBatch batch) {
      this.batch = batch;
    }

    @Override
    public int position() {
      return batch.position();
    }

    @Override
    public int blocks() {
      return batch.blocks();
    }

    @Override
    public boolean quantizes(int layer) {
      return batch.quantizes(layer);
    }

    @Override
    public void readBlock(int layer, int block, float[] keys, float[] values) {
      float[] whole = fullKeys.acquire();
      batch.readBlock(layer, block, whole, values);
      rotary.copyLatents(whole, 0, rotary.kvHeads() * Page.TOKENS, keys);
      fullKeys.release(whole);
    }
  }

  @Override
  public Page quantize(SharedArena memory, int layer, int position, float[] keys, float[] values) {
    return quantizeLatents(latents, rotary, memory, layer, position, keys, values);
  }

  /**
   * Quantizes the rotary channels, compacts the latents in place, and quantizes them by the method.
   */
  static Page quantizeLatents(
      SequenceCodec latents,
      RotaryChannels rotary,
      SharedArena memory,
      int layer,
      int position,
      float[] keys,
      float[] values) {
    MemorySegment rotaryCodes = rotary.pack(memory, keys);
    rotary.copyLatents(keys, 0, rotary.kvHeads() * Page.TOKENS, keys);
    Page page = latents.quantize(memory, layer, position, keys, values);
    return new LatentPage(memory, rotary, rotaryCodes, page);
  }

  @Override
  public Page deserialize(SharedArena memory, int layer, Snapshot snapshot) {
    return LatentPage.deserialize(memory, rotary, latents, layer, snapshot);
  }

  @Override
  public byte[] serializeState() {
    return state(KIND, latents.serializeState());
  }

  static byte[] state(int kind, byte[] ofLatents) {
    return SnapshotHeader.STATE.wrap(kind, ofLatents.length, out -> out.put(ofLatents));
  }

  /** Returns the method's state from {@link #state}. */
  static byte[] latentState(int kind, byte[] state) {
    return SnapshotHeader.STATE.unwrap(
        state,
        kind,
        in -> {
          byte[] ofLatents = new byte[in.remaining()];
          in.get(ofLatents);
          return ofLatents;
        });
  }

  @Override
  public boolean observesTokens() {
    return latents.observesTokens();
  }

  @Override
  public void observe(int position, int token) {
    latents.observe(position, token);
  }

  @Override
  public boolean observesQueries() {
    return latents.observesQueries();
  }

  @Override
  public void observe(int layer, int position, float[] queries, int at) {
    float[] latent = latentQueries.acquire();
    rotary.copyLatents(queries, at, queryHeads, latent);
    latents.observe(layer, position, latent, 0);
    latentQueries.release(latent);
  }

  @Override
  public int attentionHorizon() {
    return latents.attentionHorizon();
  }

  @Override
  public void observeAttention(int layer, int kvHead, int from, int[] weights, int count) {
    latents.observeAttention(layer, kvHead, from, weights, count);
  }

  @Override
  public void commit(int length) {
    latents.commit(length);
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
