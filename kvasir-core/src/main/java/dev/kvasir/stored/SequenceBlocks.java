package dev.kvasir.stored;

import dev.kvasir.cache.CacheSnapshot;
import dev.kvasir.codec.Snapshot;
import dev.kvasir.memory.SharedMapping;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.IntFunction;

/** Writes the blocks of a stored sequence by name, and reads them back. */
public final class SequenceBlocks {
  /** Receives the blocks of a sequence, one after another. */
  @FunctionalInterface
  public interface BlockSink {
    /**
     * @param name SHA-256 of the bytes, in hexadecimal digits
     */
    void put(String name, byte[] block);
  }

  private SequenceBlocks() {}

  /**
   * Writes all blocks of a cache and returns their names.
   *
   * @param tokens the text of the cache; more tokens may follow
   */
  public static List<String> write(
      Identity identity, int[] tokens, CacheSnapshot cache, BlockSink sink) {
    return write(identity, tokens, cache, List.of(), sink);
  }

  /**
   * Writes all blocks except the first ones, which were written before.
   *
   * @param first names of the first blocks
   */
  public static List<String> write(
      Identity identity, int[] tokens, CacheSnapshot cache, List<String> first, BlockSink sink) {
    List<String> names = new ArrayList<>(first);
    byte[] chain = TokenChain.begin(identity);
    int from = 0;
    for (int i = 0; i < cache.blocks(); i++) {
      int to = cache.end(i);
      if (i >= first.size()) {
        int[] own = Arrays.copyOfRange(tokens, from, to);
        byte[] block = new StoredBlock(chain, from, own, Snapshot.of(cache.block(i))).toBytes();
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
   * Returns the cache of a sequence, whose blocks may stay mapped. Every block is checked against
   * the tokens when it is read.
   *
   * @param blocks returns a serialized block by its index
   * @param mapping the mapping of blocks that are not on the heap
   */
  public static CacheSnapshot read(
      StoredSequence sequence, IntFunction<Snapshot> blocks, SharedMapping mapping) {
    return new StoredSnapshot(sequence, blocks) {
      @Override
      public Optional<SharedMapping> mapping() {
        return Optional.of(mapping);
      }
    };
  }

  /** A stored cache whose blocks are read in order, once each. */
  static class StoredSnapshot implements CacheSnapshot {
    private final StoredSequence sequence;
    private final IntFunction<Snapshot> source;
    private final int[] ends;
    private byte[] chain;

    StoredSnapshot(StoredSequence sequence, IntFunction<Snapshot> source) {
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
    public Snapshot blockToRead(int index) {
      StoredBlock block = StoredBlock.read(source.apply(index));
      int[] tokens = sequence.tokens();
      int from = index == 0 ? 0 : ends[index - 1];
      int to = Math.min(tokens.length, from + block.tokens().length);
      Snapshot cached = block.of(chain, tokens, from, to);
      chain = TokenChain.next(chain, tokens, from, to);
      ends[index] = to;
      return cached;
    }

    @Override
    public byte[] residual() {
      return residualToRead().toArray();
    }

    @Override
    public Snapshot residualToRead() {
      return sequence.residual();
    }
  }
}
