package dev.kvasir.cuda;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.kvasir.attention.AttentionShape;
import java.lang.foreign.MemorySegment;

/**
 * Counts queries where they attend: each adds its magnitude, channel by channel, to the sums of its
 * sequence ({@link QuerySums}).
 *
 * <p>Its argument, with the offsets of mixed.cuh:
 *
 * <pre>
 *  0 u64 sequences   16 u64 queries   32 u32 sharing
 *  8 u64 entries     24 u64 offset
 * </pre>
 */
final class QueryAid implements AttentionAid {
  private static final int ARGUMENT_BYTES = 40;

  private final int kvHeads;
  private final Launch see;

  QueryAid(KernelModule module, AttentionShape shape) {
    this.kvHeads = shape.kvHeads();
    this.see =
        new Launch(module.kernel("see_queries_d" + shape.headDim()), ARGUMENT_BYTES)
            .block(shape.headDim());
    see.arguments().set(JAVA_INT, 32, shape.queriesPerKvHead());
  }

  @Override
  public void before(Stream stream, Call call) {
    MemorySegment argument = see.arguments();
    argument.set(JAVA_LONG, 0, call.table().sequencesAddress());
    argument.set(JAVA_LONG, 8, call.table().entriesAddress());
    argument.set(JAVA_LONG, 16, call.queries());
    argument.set(JAVA_LONG, 24, call.offsets().tables());
    see.grid(call.table().sequences(), kvHeads, 1).on(stream);
  }

  @Override
  public void close() {}
}
