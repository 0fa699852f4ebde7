package dev.kvasir.codec.mead;

import dev.kvasir.codec.ResidualTokenStats;
import dev.kvasir.codec.Snapshot;
import dev.kvasir.codec.SnapshotHeader;
import dev.kvasir.memory.MemoryPool;
import java.nio.ByteBuffer;
import java.util.List;

/**
 * State of a sequence apart from its pages. Serialized:
 *
 * <pre>
 * u16           layers
 * u16           KV heads
 * u32           end of the first page, 0 without one; only without a profile
 *               PromptStatistics; only without a profile
 * f64 (layers)  bits of the next page, as the spec counts them; only with requantization
 *               late sinks, see SinkPosition; only if layers evict pages or without a profile
 *               ResidualTokenStats
 * </pre>
 *
 * @param levels rate level of the next page, by layer
 * @param sinks late sinks if layers evict pages, else empty: pages have their own
 */
record MeadState(int[] levels, List<SinkPosition> sinks, ResidualTokenStats residualTokens) {
  /** Kind of the serialized state. */
  private static final int KIND = 60;

  /** Kind of the serialized state where layers evict pages. */
  private static final int EVICTING_KIND = 62;

  /** Kind of the serialized state with requantization. */
  private static final int REQUANTIZING_KIND = 61;

  /** Kind of the serialized state of a sequence that is fitted to its prompt. */
  private static final int FITTED_KIND = 63;

  byte[] serialize(MeadCodec codec) {
    boolean evicts = codec.evictsPages();
    long ofSinks = evicts ? SinkPosition.serializedBytes(sinks) : 0;
    return SnapshotHeader.STATE.wrap(
        evicts ? EVICTING_KIND : KIND,
        2 * Short.BYTES + ofSinks + residualTokens.serializedBytes(),
        out -> {
          writeSizes(codec, out);
          if (evicts) {
            SinkPosition.write(sinks, out);
          }
          residualTokens.write(out);
        });
  }

  byte[] serializeRequantizing(MeadCodec codec) {
    return SnapshotHeader.STATE.wrap(
        REQUANTIZING_KIND,
        2 * Short.BYTES + (long) Double.BYTES * levels.length + residualTokens.serializedBytes(),
        out -> {
          writeSizes(codec, out);
          for (int level : levels) {
            out.putDouble(codec.rates().get(level).bits());
          }
          residualTokens.write(out);
        });
  }

  /** Serializes the state of a sequence that is fitted to its prompt, which goes first. */
  byte[] serializeFitted(MeadCodec codec, int fittedTo, PromptStatistics statistics) {
    List<SinkPosition> evictable = codec.evictsPages() ? sinks : List.of();
    return SnapshotHeader.STATE.wrap(
        FITTED_KIND,
        2 * Short.BYTES
            + Integer.BYTES
            + statistics.bytes()
            + SinkPosition.serializedBytes(evictable)
            + residualTokens.serializedBytes(),
        out -> {
          writeSizes(codec, out);
          out.putInt(fittedTo);
          statistics.write(out);
          SinkPosition.write(evictable, out);
          residualTokens.write(out);
        });
  }

  private static void writeSizes(MeadCodec codec, ByteBuffer out) {
    MeadSizes sizes = codec.tables().sizes();
    out.putShort((short) sizes.layers()).putShort((short) sizes.kvHeads());
  }

  /**
   * Layers that evict pages can also continue a sequence whose layers had not: the same windows do
   * not evict where a context is no longer than they are. All pages of such a sequence are there
   * and bring their sinks.
   */
  static MeadSequence resumed(MeadCodec codec, MemoryPool pool, byte[] state) {
    int layers = codec.tables().sizes().layers();
    boolean hasSinks =
        codec.evictsPages() && SnapshotHeader.STATE.kindOf(Snapshot.of(state)) != KIND;
    MeadState read =
        SnapshotHeader.STATE.unwrap(
            state,
            hasSinks ? EVICTING_KIND : KIND,
            in -> {
              requireSizes(codec, in);
              List<SinkPosition> sinks = hasSinks ? SinkPosition.read(in, layers) : List.of();
              return read(codec, new int[layers], sinks, in, pool);
            });
    return new MeadSequence(codec, read, pool);
  }

  static RequantizingMeadSequence resumedRequantizing(
      MeadCodec codec, MemoryPool pool, byte[] state) {
    MeadState read =
        SnapshotHeader.STATE.unwrap(
            state,
            REQUANTIZING_KIND,
            in -> {
              requireSizes(codec, in);
              return read(codec, readLevels(codec, in), List.of(), in, pool);
            });
    return new RequantizingMeadSequence(codec, read, pool);
  }

  static PromptFittedSequence resumedFitted(
      PromptFittedCodec fitting, MemoryPool pool, byte[] state) {
    return SnapshotHeader.STATE.unwrap(
        state,
        FITTED_KIND,
        in -> {
          MeadCodec codec = fitting.unfitted();
          requireSizes(codec, in);
          int fittedTo = SnapshotHeader.STATE.readPosition(in);
          int layers = codec.tables().sizes().layers();
          PromptStatistics statistics = new PromptStatistics(codec.tables().sizes(), pool);
          try {
            statistics.read(in);
            MeadState read = read(codec, new int[layers], SinkPosition.read(in, layers), in, pool);
            return new PromptFittedSequence(fitting, read, fittedTo, statistics, pool);
          } catch (RuntimeException | Error e) {
            statistics.close();
            throw e;
          }
        });
  }

  private static void requireSizes(MeadCodec codec, ByteBuffer in) {
    MeadSizes sizes = codec.tables().sizes();
    int layers = Short.toUnsignedInt(in.getShort());
    int kvHeads = Short.toUnsignedInt(in.getShort());
    if (layers != sizes.layers() || kvHeads != sizes.kvHeads()) {
      throw SnapshotHeader.STATE.invalid(
          "has %d layers with %d KV heads; this cache has %d with %d"
              .formatted(layers, kvHeads, sizes.layers(), sizes.kvHeads()));
    }
  }

  private static int[] readLevels(MeadCodec codec, ByteBuffer in) {
    int[] levels = new int[codec.tables().sizes().layers()];
    for (int layer = 0; layer < levels.length; layer++) {
      levels[layer] = codec.requireRate(SnapshotHeader.STATE, in.getDouble()).level();
    }
    return levels;
  }

  private static MeadState read(
      MeadCodec codec, int[] levels, List<SinkPosition> sinks, ByteBuffer in, MemoryPool pool) {
    MeadSizes sizes = codec.tables().sizes();
    return new MeadState(
        levels,
        sinks,
        ResidualTokenStats.read(
            sizes.layers(), sizes.kvHeads(), codec.maxResidualTokens(), pool, in));
  }
}
