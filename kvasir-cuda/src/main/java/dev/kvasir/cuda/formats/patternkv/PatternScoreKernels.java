package dev.kvasir.cuda.formats.patternkv;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.kvasir.attention.AttentionShape;
import dev.kvasir.cuda.driver.CudaStream;
import dev.kvasir.cuda.driver.DeviceMemory;
import dev.kvasir.cuda.driver.Kernel;
import dev.kvasir.cuda.driver.KernelModule;
import dev.kvasir.cuda.driver.Launch;
import dev.kvasir.cuda.driver.Resources;
import dev.kvasir.cuda.formats.AuxiliaryKernels;
import dev.kvasir.cuda.formats.PagedAttention;
import java.lang.foreign.MemorySegment;

/**
 * Computes dot products of queries and key patterns before attention, and adds weighted value
 * patterns after it. Attention writes the sums of codes and the weights of patterns in between. If
 * key patterns rotate, attention computes their products itself.
 *
 * <p>Its argument, with the offsets in patterns.cuh:
 *
 * <pre>
 *  0 u64 sequences   16 u64 queries   32 u64 scores         48 u64 offset   60 u32 sharing
 *  8 u64 entries     24 u64 outputs   40 u64 accumulators   56 f32 scale    64 u32 sides
 * </pre>
 */
final class PatternScoreKernels implements AuxiliaryKernels {
  private static final int ARGUMENT_BYTES = 72;
  private static final int THREADS = 256;

  private final AttentionShape shape;
  private final Launch score;
  private final Launch add;
  private final DeviceMemory scores; // (sequences, queryHeads, 256)
  private final DeviceMemory accumulators; // (sequences, queryHeads, headDim + 256)
  private final DeviceMemory rotation; // null if key patterns do not rotate
  private final int sides;

  PatternScoreKernels(
      KernelModule module,
      CudaStream stream,
      PatternkvFormat format,
      AttentionShape shape,
      int maxSequences) {
    this.shape = shape;
    this.sides = format.sides();
    this.rotation =
        format
            .rotation()
            .map(keys -> keys.upload(module.context(), stream, shape.headDim()))
            .orElse(null);
    long heads = (long) maxSequences * shape.queryHeads();
    this.scores = module.context().allocate(heads * PatternPage.MAX_PATTERNS * Float.BYTES);
    this.accumulators =
        module.context().allocate(heads * accumulatorSize(shape.headDim()) * Float.BYTES);
    scores.fill(stream, (byte) 0); // all entries: dummy pages may use any label
    this.score = launch(module.kernel("score_patterns_d" + shape.headDim()));
    this.add = launch(module.kernel("add_patterns_d" + shape.headDim()));
  }

  private Launch launch(Kernel kernel) {
    Launch launch = new Launch(kernel, ARGUMENT_BYTES).block(THREADS);
    MemorySegment argument = launch.arguments();
    argument.set(JAVA_LONG, 32, scores.address());
    argument.set(JAVA_LONG, 40, accumulators.address());
    argument.set(JAVA_FLOAT, 56, PagedAttention.scale(shape));
    argument.set(JAVA_INT, 60, shape.queriesPerKvHead());
    argument.set(JAVA_INT, 64, sides);
    return launch;
  }

  @Override
  public int accumulatorSize(int headDim) {
    return headDim + PatternPage.MAX_PATTERNS;
  }

  @Override
  public long tableAddress(int layer) {
    return rotation == null ? scores.address() : rotation.address();
  }

  @Override
  public long workspaceAddress() {
    return accumulators.address();
  }

  @Override
  public void prologue(CudaStream stream, Call call) {
    if (rotation == null) {
      put(score, stream, call, PatternPage.MAX_BANKS);
    }
  }

  @Override
  public void epilogue(CudaStream stream, Call call) {
    put(add, stream, call, shape.queriesPerKvHead());
  }

  private void put(Launch launch, CudaStream stream, Call call, int width) {
    MemorySegment argument = launch.arguments();
    argument.set(JAVA_LONG, 0, call.table().sequencesAddress());
    argument.set(JAVA_LONG, 8, call.table().entriesAddress());
    argument.set(JAVA_LONG, 16, call.queries());
    argument.set(JAVA_LONG, 24, call.outputs());
    argument.set(JAVA_LONG, 48, call.offsets().tables());
    launch.grid(width, shape.kvHeads(), call.table().sequences()).on(stream);
  }

  @Override
  public void close() {
    Resources.closeAll(scores, accumulators, rotation);
  }
}
