package dev.kvasir.model;

import dev.kvasir.codec.Form;
import dev.kvasir.codec.Page;
import dev.kvasir.codec.SequenceCodec;
import dev.kvasir.codec.UnpackedTokens;
import dev.kvasir.memory.MemoryPool;
import dev.kvasir.memory.SharedArena;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Remembers what it knew of each block when it was packed. */
final class AttentiveSequence implements SequenceCodec {
  /** Looks on while a step runs, from any thread. */
  interface Watcher {
    void query(int layer, int position, float[] queries, int at);

    void given(int layer, int kvHead, int from, int[] weights, int count);
  }

  private final AttentiveCodec codec;
  private final SequenceCodec toy;
  private final UnpackedTokens tokens;
  private final List<String> packed = new ArrayList<>();
  private Watcher watcher;

  AttentiveSequence(AttentiveCodec codec, MemoryPool pool) {
    this(
        codec,
        new UnpackedTokens(codec.shape().layers(), codec.shape().kvHeads(), codec.tokens(), pool));
  }

  private AttentiveSequence(AttentiveCodec codec, UnpackedTokens tokens) {
    this.codec = codec;
    this.toy = codec.toy().begin();
    this.tokens = tokens;
  }

  void watch(Watcher other) {
    watcher = other;
  }

  /** For each block and layer: position, ids, and what each KV head's tokens have received. */
  List<String> packed() {
    return packed;
  }

  /** The same of any tokens that are not packed. */
  String known(int layer, int position, int count) {
    StringBuilder known = new StringBuilder("layer %d at %d:".formatted(layer, position));
    for (int i = 0; i < count; i++) {
      known.append(' ').append(tokens.token(position + i));
    }
    int[] received = new int[count];
    for (int head = 0; head < codec.shape().kvHeads(); head++) {
      tokens.received(layer, head, position, count, received);
      known.append(' ').append(Arrays.toString(received));
    }
    return known.toString();
  }

  @Override
  public Page seal(SharedArena memory, int layer, int position, float[] keys, float[] values) {
    packed.add(known(layer, position, Page.TOKENS));
    Page page = toy.seal(memory, layer, position, keys, values);
    if (layer == codec.shape().layers() - 1) {
      tokens.forgetBefore(position + Page.TOKENS);
    }
    return page;
  }

  @Override
  public boolean seesTokens() {
    return true;
  }

  @Override
  public void see(int position, int token) {
    tokens.see(position, token);
  }

  @Override
  public boolean seesQueries() {
    return watcher != null;
  }

  @Override
  public void see(int layer, int position, float[] queries, int at) {
    watcher.query(layer, position, queries, at);
  }

  @Override
  public int receivingQueries() {
    return codec.queries();
  }

  @Override
  public void receive(int layer, int kvHead, int from, int[] weights, int count) {
    tokens.receive(layer, kvHead, from, weights, count);
    if (watcher != null) {
      watcher.given(layer, kvHead, from, weights, count);
    }
  }

  @Override
  public void count(int length) {
    tokens.count(length);
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
  public Page read(SharedArena memory, int layer, Form form) {
    return toy.read(memory, layer, form);
  }

  @Override
  public byte[] state() {
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
