package dev.kvasir.cuda.formats.commvq;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.kvasir.attention.AttentionShape;
import dev.kvasir.cuda.driver.CudaStream;
import dev.kvasir.cuda.driver.KernelModule;
import dev.kvasir.cuda.driver.Launch;
import dev.kvasir.cuda.driver.Resources;
import dev.kvasir.cuda.formats.AuxiliaryKernels;
import dev.kvasir.cuda.formats.GrowingMemory;
import dev.kvasir.cuda.formats.HeadBlocks;
import dev.kvasir.cuda.formats.SplitPlan;
import dev.kvasir.cuda.memory.PageTable;
import java.lang.foreign.MemorySegment;
import java.util.List;

/**
 * Computes scores of keys as CommVQ's paper does (Equation 19): a first kernel multiplies every
 * query with all key rows, a second one adds up the products that a token's codes name, and rotates
 * the sum. Query heads share nothing.
 *
 * <p>Its argument, with the offsets in baselines.cuh: {@link ScoringArgument}, u64 tables, u64
 * block RoPE.
 */
final class CommvqScoreTables implements AuxiliaryKernels {
  private static final int ARGUMENT_BYTES = ScoringArgument.BYTES + 2 * Long.BYTES;
  private static final int ROWS = 64;
  private static final int TABULATING_THREADS = 256;
  private static final int SCORING_THREADS = 384;

  /** Thread blocks that score on a multiprocessor at a time. */
  private static final int BLOCKS = 3;

  private final CommvqCodebooks model;
  private final DeviceCodebooks codebooks;
  private final AttentionShape shape;
  private final Launch tabulate;
  private final Launch score;
  private final int recordsPerEntry;
  private final GrowingMemory records;
  private final GrowingMemory tables;

  CommvqScoreTables(
      KernelModule module, CudaStream stream, CommvqFormat format, AttentionShape shape) {
    this.model = format.codebooks();
    this.codebooks = model.open(module.context(), stream);
    this.shape = shape;
    this.records = new GrowingMemory(module.context());
    this.tables = new GrowingMemory(module.context());
    HeadBlocks blocks = HeadBlocks.of(format, shape);
    this.recordsPerEntry = shape.kvHeads() * blocks.blocks();
    String names = "%s_d%d".formatted(format.pageKernels(), shape.headDim());
    this.tabulate =
        new Launch(module.kernel("tabulate_" + names), ARGUMENT_BYTES).block(TABULATING_THREADS);
    this.score =
        new Launch(module.kernel("look_up_" + names), ARGUMENT_BYTES).block(SCORING_THREADS);
    for (Launch each : List.of(tabulate, score)) {
      ScoringArgument.set(each.arguments(), codebooks, shape, blocks);
      each.arguments().set(JAVA_LONG, ScoringArgument.BYTES + 8, codebooks.blockRopeAddress());
    }
  }

  @Override
  public void plan(PageTable table, SplitPlan splitPlan) {
    records.ensureCapacity((long) table.entries() * recordsPerEntry * ScoringArgument.RECORD_BYTES);
    tables.ensureCapacity((long) table.sequences() * shape.queryHeads() * tableBytes());
    int stages = codebooks.layout().stages();
    tabulate.grid(stages, shape.queryHeads(), table.sequences());
    score.grid(BLOCKS * splitPlan.splits(), shape.kvHeads(), table.sequences());
    SplitPlan blocks =
        new SplitPlan(BLOCKS * splitPlan.splits(), Math.ceilDiv(splitPlan.pagesPerSplit(), BLOCKS));
    for (Launch each : List.of(tabulate, score)) {
      MemorySegment argument = each.arguments();
      ScoringArgument.plan(argument, table, blocks, workspaceAddress());
      argument.set(JAVA_LONG, ScoringArgument.BYTES, tables.address());
    }
  }

  /** Returns the bytes of a query's products with all rows and the mean, as pairs of floats. */
  private long tableBytes() {
    return (codebooks.layout().stages() * ROWS + 1L) * shape.headDim() * Float.BYTES;
  }

  @Override
  public long workspaceAddress() {
    return records.address();
  }

  @Override
  public long tableAddress(int layer) {
    return codebooks.valuesAddress(layer);
  }

  @Override
  public void prologue(CudaStream stream, Call call) {
    for (Launch each : List.of(tabulate, score)) {
      ScoringArgument.call(each.arguments(), codebooks, call);
      each.on(stream);
    }
  }

  @Override
  public void close() {
    Resources.closeAll(records, tables, model::close);
  }
}
