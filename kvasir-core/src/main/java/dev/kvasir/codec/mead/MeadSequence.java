package dev.kvasir.codec.mead;

import dev.kvasir.codec.Page;
import dev.kvasir.codec.ResidualTokenStats;
import dev.kvasir.codec.SequenceCodec;
import dev.kvasir.codec.Snapshot;
import dev.kvasir.memory.MemoryPool;
import dev.kvasir.memory.SharedArena;
import java.util.Arrays;
import java.util.List;

/**
 * Quantizes the blocks of one sequence. Tracks the ids of its unquantized tokens and the attention
 * they receive.
 */
sealed class MeadSequence implements SequenceCodec
    permits RequantizingMeadSequence, PromptFittedSequence {
  private final MeadCodec codec;
  private final int[] levels; // rate level of the next page, by layer
  private final int[] quantizedTo; // end of the last quantized block, by layer
  private final int attentionHorizon;
  private final ResidualTokenStats residualTokens;
  private final SequenceTokenIds tokenIds;
  private final LateSinks lateSinks;

  MeadSequence(MeadCodec codec, MemoryPool pool) {
    this(
        codec,
        new MeadState(new int[codec.tables().sizes().layers()], List.of(), unpacked(codec, pool)),
        pool);
  }

  private static ResidualTokenStats unpacked(MeadCodec codec, MemoryPool pool) {
    MeadSizes sizes = codec.tables().sizes();
    return new ResidualTokenStats(sizes.layers(), sizes.kvHeads(), codec.maxResidualTokens(), pool);
  }

  /**
   * @param state owned by this sequence; closed here if allocating the rest fails
   */
  MeadSequence(MeadCodec codec, MeadState state, MemoryPool pool) {
    this.codec = codec;
    this.levels = state.levels();
    this.quantizedTo = new int[levels.length];
    this.attentionHorizon = attentionHorizon(codec);
    this.residualTokens = state.residualTokens();
    this.tokenIds = new SequenceTokenIds();
    try {
      this.lateSinks = new LateSinks(codec.tables(), codec.lateSinks(), pool);
      lateSinks.count(state.sinks());
    } catch (RuntimeException | Error e) {
      residualTokens.close();
      throw e;
    }
  }

  /**
   * Returns for how many queries attention is observed. Where no layer is quantized, nothing would
   * ever drop what was observed.
   */
  private static int attentionHorizon(MeadCodec codec) {
    return codec.quantizedLayers().findAny().isEmpty() ? 0 : Math.min(codec.window(), Page.TOKENS);
  }

  /** Creates a fork. */
  MeadSequence(MeadSequence parent) {
    this.codec = parent.codec;
    this.levels = parent.levels.clone();
    this.quantizedTo = parent.quantizedTo.clone();
    this.attentionHorizon = parent.attentionHorizon;
    this.residualTokens = parent.residualTokens.fork();
    this.tokenIds = parent.tokenIds.fork();
    this.lateSinks = parent.lateSinks.fork();
  }

  final MeadCodec codec() {
    return codec;
  }

  /** Returns the codec of pages. */
  MeadCodec pageCodec() {
    return codec;
  }

  final int[] levels() {
    return levels;
  }

  @Override
  public byte[] serializeState() {
    return currentState().serialize(codec);
  }

  /** Returns the state from which a sequence can be resumed. */
  final MeadState currentState() {
    return new MeadState(levels, lateSinks.positions(), residualTokens);
  }

  @Override
  public boolean observesTokens() {
    return codec.tables().needsTokenIds();
  }

  @Override
  public void observe(int position, int token) {
    residualTokens.observeToken(position, token);
  }

  @Override
  public int attentionHorizon() {
    return attentionHorizon;
  }

  @Override
  public void observeAttention(int layer, int kvHead, int from, int[] weights, int count) {
    residualTokens.observeAttention(layer, kvHead, from, weights, count);
  }

  @Override
  public void commit(int length) {
    residualTokens.commit(length);
  }

  @Override
  public Page quantize(SharedArena memory, int layer, int position, float[] keys, float[] values) {
    BlockTokenIds tokens =
        codec.tables().needsTokenIds() ? blockTokenIds(memory, layer, position) : null;
    try {
      Page page =
          codec.tables().isTokenDetermined(layer)
              ? new TokenIdPage(codec.tables(), tokens)
              : new MeadPageQuantizer(pageCodec(), residualTokens, lateSinks)
                  .quantize(memory, rate(layer), layer, position, tokens, keys, values);
      quantizedTo[layer] = position + Page.TOKENS;
      residualTokens.dropBefore(leastQuantized());
      return page;
    } catch (RuntimeException | Error e) {
      if (tokens != null) {
        tokens.release();
      }
      throw e;
    }
  }

  /** Returns the end of the blocks that all layers have quantized. */
  private int leastQuantized() {
    return codec.quantizedLayers().map(layer -> quantizedTo[layer]).min().orElse(0);
  }

  private MeadRate rate(int layer) {
    return pageCodec().rates().get(levels[layer]);
  }

  /** Returns the token ids of a block. The first layer writes them; the other layers share them. */
  private BlockTokenIds blockTokenIds(SharedArena memory, int layer, int position) {
    if (layer > 0) {
      return tokenIds.of(position);
    }
    BlockTokenIds tokens = newTokenIds(memory, position);
    for (int token = 0; token < Page.TOKENS; token++) {
      tokens.set(token, residualTokens.tokenId(position + token));
    }
    tokenIds.add(tokens);
    return tokens;
  }

  /** Allocates the token ids of a block whose pages are allocated from the given memory. */
  BlockTokenIds newTokenIds(SharedArena memory, int position) {
    return new BlockTokenIds(memory, position);
  }

  @Override
  public Page deserialize(SharedArena memory, int layer, Snapshot snapshot) {
    MeadReadContext context =
        new MeadReadContext(memory, tokenIds, position -> newTokenIds(memory, position));
    return codec.tables().isTokenDetermined(layer)
        ? TokenIdPage.read(snapshot, codec.tables(), context)
        : MeadPageSerializer.read(snapshot, pageCodec(), layer, context, lateSinks);
  }

  @Override
  public long tableBytes() {
    return residualTokens.bytes() + lateSinks.bytes();
  }

  @Override
  public MeadSequence fork() {
    return new MeadSequence(this);
  }

  @Override
  public void truncate(int length) {
    Arrays.setAll(quantizedTo, layer -> Math.min(quantizedTo[layer], length));
    residualTokens.truncate(length);
    tokenIds.truncate(length, residualTokens::observeToken);
    lateSinks.truncate(length);
  }

  @Override
  public void close() {
    lateSinks.close();
    tokenIds.close();
    residualTokens.close();
  }
}
