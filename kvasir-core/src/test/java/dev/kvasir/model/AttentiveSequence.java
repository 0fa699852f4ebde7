package dev.kvasir.model;

import dev.kvasir.codec.Page;
import dev.kvasir.codec.ResidualTokenStats;
import dev.kvasir.codec.SequenceCodec;
import dev.kvasir.codec.Snapshot;
import dev.kvasir.memory.MemoryPool;
import dev.kvasir.memory.SharedArena;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Records what it knew of each block when it was quantized. */
final class AttentiveSequence implements SequenceCodec {
  /** Observes a running step, from any thread. */
  interface AttentionListener {
    void query(int layer, int position, float[] queries, int at);

    void given(int layer, int kvHead, int from, int[] weights, int count);
  }

  private final AttentiveCodec codec;
  private final SequenceCodec toy;
  private final ResidualTokenStats tokens;
  private final List<String> packed = new ArrayList<>();
  private AttentionListener listener;

  AttentiveSequence(AttentiveCodec codec, MemoryPool pool) {
    this(
        codec,
        new ResidualTokenStats(
            codec.shape().layers(), codec.shape().kvHeads(), codec.tokens(), pool));
  }

  private AttentiveSequence(AttentiveCodec codec, ResidualTokenStats tokens) {
    this.codec = codec;
    this.toy = codec.toy().newSequence();
    this.tokens = tokens;
  }

  void listen(AttentionListener other) {
    listener = other;
  }

  /**
   * Returns for each block and layer: position, ids, and attention received by each KV head's
   * tokens.
   */
  List<String> packed() {
    return packed;
  }

  /** Returns the same for any unquantized tokens. */
  String known(int layer, int position, int count) {
    StringBuilder known = new StringBuilder("layer %d at %d:".formatted(layer, position));
    for (int i = 0; i < count; i++) {
      known.append(' ').append(tokens.tokenId(position + i));
    }
    int[] received = new int[count];
    for (int head = 0; head < codec.shape().kvHeads(); head++) {
      tokens.attentionMass(layer, head, position, count, received);
      known.append(' ').append(Arrays.toString(received));
    }
    return known.toString();
  }

  @Override
  public Page quantize(SharedArena memory, int layer, int position, float[] keys, float[] values) {
    packed.add(known(layer, position, Page.TOKENS));
    Page page = toy.quantize(memory, layer, position, keys, values);
    if (layer == codec.shape().layers() - 1) {
      tokens.dropBefore(position + Page.TOKENS);
    }
    return page;
  }

  @Override
  public boolean observesTokens() {
    return true;
  }

  @Override
  public void observe(int position, int token) {
    tokens.observeToken(position, token);
  }

  @Override
  public boolean observesQueries() {
    return listener != null;
  }

  @Override
  public void observe(int layer, int position, float[] queries, int at) {
    listener.query(layer, position, queries, at);
  }

  @Override
  public int attentionHorizon() {
    return codec.queries();
  }

  @Override
  public void observeAttention(int layer, int kvHead, int from, int[] weights, int count) {
    tokens.observeAttention(layer, kvHead, from, weights, count);
    if (listener != null) {
      listener.given(layer, kvHead, from, weights, count);
    }
  }

  @Override
  public void commit(int length) {
    tokens.commit(length);
  }

  @Override
  public void truncate(int length) {
    tokens.truncate(length);
  }

  @Override
  public long tableBytes() {
    return tokens.bytes();
  }

  @Override
  public Page deserialize(SharedArena memory, int layer, Snapshot snapshot) {
    return toy.deserialize(memory, layer, snapshot);
  }

  @Override
  public byte[] serializeState() {
    throw new UnsupportedOperationException("no test needs it");
  }

  @Override
  public SequenceCodec fork() {
    return new AttentiveSequence(codec, tokens.fork());
  }

  @Override
  public void close() {
    tokens.close();
  }
}
