package dev.kvasir.stored;

import dev.kvasir.cache.CacheForm;
import dev.kvasir.codec.Form;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.IntFunction;

/** The blocks of a stored sequence: written under their names, and found again by them. */
public final class Blocks {
  /** Takes the blocks of a sequence, one after another. */
  @FunctionalInterface
  public interface Sink {
    /**
     * @param name SHA-256 of the bytes, in hexadecimal digits
     */
    void put(String name, byte[] block);
  }

  private Blocks() {}

  /**
   * Puts all blocks of a cache; answers their names.
   *
   * @param tokens of the text that the cache is of; more may follow
   */
  public static List<String> write(Identity identity, int[] tokens, CacheForm cache, Sink sink) {
    return write(identity, tokens, cache, List.of(), sink);
  }

  /**
   * Puts all blocks but the first ones, which were put before.
   *
   * @param first names of those
   */
  public static List<String> write(
      Identity identity, int[] tokens, CacheForm cache, List<String> first, Sink sink) {
    List<String> names = new ArrayList<>(first);
    byte[] chain = TokenChain.begin(identity);
    int from = 0;
    for (int i = 0; i < cache.blocks(); i++) {
      int to = cache.end(i);
      if (i >= first.size()) {
        int[] own = Arrays.copyOfRange(tokens, from, to);
        byte[] block = new StoredBlock(chain, from, own, Form.of(cache.block(i))).form();
        String name = StoredBlock.name(block);
        sink.put(name, block);
        names.add(name);
      }
      chain = TokenChain.next(chain, tokens, from, to);
      from = to;
    }
    return names;
  }

  /**
   * The cache of a sequence, every block of which is checked against the tokens of the text when it
   * is asked for.
   *
   * @param blocks the form of a block by its index
   */
  public static CacheForm read(StoredSequence sequence, IntFunction<Form> blocks) {
    return new ReadCache(sequence, blocks);
  }

  /** Blocks come in their order, once each. */
  static class ReadCache implements CacheForm {
    private final StoredSequence sequence;
    private final IntFunction<Form> source;
    private final int[] ends;
    private byte[] chain;

    ReadCache(StoredSequence sequence, IntFunction<Form> source) {
      this.sequence = sequence;
      this.source = source;
      this.ends = new int[sequence.blocks().size()];
      this.chain = TokenChain.begin(sequence.identity());
    }

    @Override
    public int length() {
      return sequence.length();
    }

    @Override
    public int blocks() {
      return ends.length;
    }

    @Override
    public int end(int index) {
      return ends[index];
    }

    @Override
    public byte[] block(int index) {
      return blockToRead(index).toArray();
    }

    @Override
    public Form blockToRead(int index) {
      StoredBlock block = StoredBlock.read(source.apply(index));
      int[] tokens = sequence.tokens();
      int from = index == 0 ? 0 : ends[index - 1];
      int to = Math.min(tokens.length, from + block.tokens().length);
      Form cached = block.of(chain, tokens, from, to);
      chain = TokenChain.next(chain, tokens, from, to);
      ends[index] = to;
      return cached;
    }

    @Override
    public byte[] rest() {
      return restToRead().toArray();
    }

    @Override
    public Form restToRead() {
      return sequence.rest();
    }
  }
}
