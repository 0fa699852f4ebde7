package dev.kvasir.methods.ranked;

import dev.kvasir.codec.Page;
import dev.kvasir.codec.SequenceCodec;
import dev.kvasir.codec.Snapshot;
import dev.kvasir.codec.SnapshotHeader;
import dev.kvasir.memory.MemoryPool;
import dev.kvasir.memory.SharedArena;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * Records the most recent queries of a sequence and ranks the tokens of a page by them. Serialized:
 *
 * <pre>
 * u16  layers
 * u16  query heads
 * u16  channels of a key
 * u16  number of recorded queries
 *      RecentQueries of each layer
 * </pre>
 */
final class RankedSequence implements SequenceCodec {
  /** Kind of the serialized state. */
  private static final int KIND = 40;

  private static final int HEADER_BYTES = 4 * Short.BYTES;

  private final RankedCodec codec;
  private final List<RecentQueries> recent; // by layer

  RankedSequence(RankedCodec codec, MemoryPool pool) {
    this(codec, newQueries(codec, pool));
  }

  private RankedSequence(RankedCodec codec, List<RecentQueries> recent) {
    this.codec = codec;
    this.recent = recent;
  }

  private static List<RecentQueries> newQueries(RankedCodec codec, MemoryPool pool) {
    RankedSizes sizes = codec.rankedSizes();
    List<RecentQueries> recent = new ArrayList<>();
    try {
      for (int layer = 0; layer < sizes.layers(); layer++) {
        recent.add(new RecentQueries(codec.settings().queries(), sizes.queryChannels(), pool));
      }
    } catch (RuntimeException | Error e) {
      recent.forEach(RecentQueries::close);
      throw e;
    }
    return List.copyOf(recent);
  }

  static RankedSequence resumed(RankedCodec codec, MemoryPool pool, byte[] state) {
    return SnapshotHeader.STATE.unwrap(state, KIND, in -> read(codec, pool, in));
  }

  private static RankedSequence read(RankedCodec codec, MemoryPool pool, ByteBuffer in) {
    RankedSizes sizes = codec.rankedSizes();
    String found =
        describe(
            readUnsignedShort(in),
            readUnsignedShort(in),
            readUnsignedShort(in),
            readUnsignedShort(in));
    String expected =
        describe(sizes.layers(), sizes.queryHeads(), sizes.keyDim(), codec.settings().queries());
    if (!found.equals(expected)) {
      throw SnapshotHeader.STATE.invalid("has %s; this cache has %s".formatted(found, expected));
    }
    SnapshotHeader.STATE.requireRemaining(in, codec.rankedSizes().layers() * storedBytes(codec));
    RankedSequence sequence = new RankedSequence(codec, pool);
    try {
      sequence.recent.forEach(queries -> queries.read(in));
      return sequence;
    } catch (RuntimeException | Error e) {
      sequence.close();
      throw e;
    }
  }

  private static int readUnsignedShort(ByteBuffer in) {
    return Short.toUnsignedInt(in.getShort());
  }

  private static String describe(int layers, int heads, int keyDim, int queries) {
    return "%d layers with %d query heads of %d channels and %d queries"
        .formatted(layers, heads, keyDim, queries);
  }

  private static long storedBytes(RankedCodec codec) {
    return RecentQueries.storedBytes(
        codec.settings().queries(), codec.rankedSizes().queryChannels());
  }

  @Override
  public byte[] serializeState() {
    RankedSizes sizes = codec.rankedSizes();
    return SnapshotHeader.STATE.wrap(
        KIND,
        HEADER_BYTES + sizes.layers() * storedBytes(codec),
        out -> {
          out.putShort((short) sizes.layers()).putShort((short) sizes.queryHeads());
          out.putShort((short) sizes.keyDim()).putShort((short) codec.settings().queries());
          recent.forEach(queries -> queries.write(out));
        });
  }

  @Override
  public boolean observesQueries() {
    return true;
  }

  @Override
  public void observe(int layer, int position, float[] queries, int at) {
    recent.get(layer).add(position, queries, at);
  }

  @Override
  public Page quantize(SharedArena memory, int layer, int position, float[] keys, float[] values) {
    return new RankedPageQuantizer(codec, recent.get(layer))
        .quantize(memory, position, keys, values);
  }

  @Override
  public Page deserialize(SharedArena memory, int layer, Snapshot snapshot) {
    return RankedPage.read(
        memory,
        snapshot,
        codec.rankedSizes().kvHeads(),
        codec.layout(),
        codec.settings().operandPrecision());
  }

  @Override
  public long tableBytes() {
    return codec.tableBytes(0);
  }

  @Override
  public SequenceCodec fork() {
    return new RankedSequence(codec, recent.stream().map(RecentQueries::fork).toList());
  }

  @Override
  public void truncate(int length) {
    recent.forEach(queries -> queries.truncate(length));
  }

  @Override
  public void close() {
    recent.forEach(RecentQueries::close);
  }
}
