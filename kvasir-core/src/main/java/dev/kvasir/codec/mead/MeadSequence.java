package dev.kvasir.codec.mead;

import dev.kvasir.codec.Form;
import dev.kvasir.codec.Page;
import dev.kvasir.codec.SequenceCodec;
import dev.kvasir.codec.UnpackedTokens;
import dev.kvasir.memory.MemoryPool;
import dev.kvasir.memory.SharedArena;

/**
 * Knows the tokens of a sequence that are not packed yet, their ids and what attention they have
 * received, and packs by them.
 */
sealed class MeadSequence implements SequenceCodec permits ShrinkingMeadSequence {
  private final MeadCodec codec;
  private final int[] levels; // of the next page, by layer
  private final UnpackedTokens unpacked;
  private final PackedTokens packed;
  private final LateSinks lateSinks;

  MeadSequence(MeadCodec codec, MemoryPool pool) {
    this(
        codec,
        new MeadState(new int[codec.tables().sizes().layers()], unpacked(codec, pool)),
        pool);
  }

  private static UnpackedTokens unpacked(MeadCodec codec, MemoryPool pool) {
    MeadSizes sizes = codec.tables().sizes();
    return new UnpackedTokens(sizes.layers(), sizes.kvHeads(), codec.mostUnpacked(), pool);
  }

  /**
   * @param state closed with it, and where there is no memory for the rest
   */
  MeadSequence(MeadCodec codec, MeadState state, MemoryPool pool) {
    this.codec = codec;
    this.levels = state.levels();
    this.unpacked = state.unpacked();
    this.packed = new PackedTokens();
    try {
      this.lateSinks = new LateSinks(codec.tables(), codec.lateSinks(), pool);
    } catch (RuntimeException | Error e) {
      unpacked.close();
      throw e;
    }
  }

  /** A fork. */
  MeadSequence(MeadSequence parent) {
    this.codec = parent.codec;
    this.levels = parent.levels.clone();
    this.unpacked = parent.unpacked.fork();
    this.packed = parent.packed.fork();
    this.lateSinks = parent.lateSinks.fork();
  }

  final MeadCodec codec() {
    return codec;
  }

  final int[] levels() {
    return levels;
  }

  @Override
  public byte[] state() {
    return kept().form(codec);
  }

  /** What goes on where this sequence is resumed. */
  final MeadState kept() {
    return new MeadState(levels, unpacked);
  }

  @Override
  public boolean seesTokens() {
    return codec.tables().needsTokens();
  }

  @Override
  public void see(int position, int token) {
    unpacked.see(position, token);
  }

  @Override
  public int receivingQueries() {
    return Math.min(codec.window(), Page.TOKENS);
  }

  @Override
  public void receive(int layer, int kvHead, int from, int[] weights, int count) {
    unpacked.receive(layer, kvHead, from, weights, count);
  }

  @Override
  public void count(int length) {
    unpacked.count(length);
  }

  @Override
  public Page seal(SharedArena memory, int layer, int position, float[] keys, float[] values) {
    BlockTokens tokens = codec.tables().needsTokens() ? tokens(memory, layer, position) : null;
    try {
      Page page =
          codec.tables().isFree(layer)
              ? new TokenPage(codec.tables(), tokens)
              : new PagePacking(codec, unpacked, lateSinks)
                  .pack(memory, rate(layer), layer, position, tokens, keys, values);
      if (layer == codec.tables().sizes().layers() - 1) {
        unpacked.forgetBefore(position + Page.TOKENS);
      }
      return page;
    } catch (RuntimeException | Error e) {
      if (tokens != null) {
        tokens.release();
      }
      throw e;
    }
  }

  private MeadRate rate(int layer) {
    return codec.rates().get(levels[layer]);
  }

  /** The ids of a block: written with its first layer, found again with the others. */
  private BlockTokens tokens(SharedArena memory, int layer, int position) {
    if (layer > 0) {
      return packed.of(position);
    }
    BlockTokens tokens = newTokens(memory, position);
    for (int token = 0; token < Page.TOKENS; token++) {
      tokens.set(token, unpacked.token(position + token));
    }
    packed.add(tokens);
    return tokens;
  }

  /** Room for the ids of a block whose pages lie in that memory. */
  BlockTokens newTokens(SharedArena memory, int position) {
    return new BlockTokens(memory, position);
  }

  @Override
  public Page read(SharedArena memory, int layer, Form form) {
    ReadingRoom room = new ReadingRoom(memory, packed, position -> newTokens(memory, position));
    return codec.tables().isFree(layer)
        ? TokenPage.read(form, codec.tables(), room)
        : MeadForm.read(form, codec, layer, room, lateSinks);
  }

  @Override
  public long tableBytes() {
    return unpacked.bytes() + lateSinks.bytes();
  }

  @Override
  public MeadSequence fork() {
    return new MeadSequence(this);
  }

  @Override
  public void truncate(int length) {
    unpacked.truncate(length);
    packed.truncate(length, unpacked::see);
    lateSinks.truncate(length);
  }

  @Override
  public void close() {
    lateSinks.close();
    packed.close();
    unpacked.close();
  }
}
