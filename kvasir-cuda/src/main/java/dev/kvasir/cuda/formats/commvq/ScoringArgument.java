package dev.kvasir.cuda.formats.commvq;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.kvasir.attention.AttentionShape;
import dev.kvasir.cuda.formats.AuxiliaryKernels;
import dev.kvasir.cuda.formats.HeadBlocks;
import dev.kvasir.cuda.formats.PagedAttention;
import dev.kvasir.cuda.formats.SplitPlan;
import dev.kvasir.cuda.memory.Fp16Page;
import dev.kvasir.cuda.memory.PageTable;
import java.lang.foreign.MemorySegment;

/**
 * The argument of kernels that score keys and write records of weights. A record holds 64 times
 * four fp16 weights of a page for up to four heads. They are relative to the maximum score of their
 * 16 tokens; the maxima follow. Its offsets are those in commvq.cuh:
 *
 * <pre>
 *  0 u64 sequences   32 u64 key tables    64 u64 packed offset   80 u32 heads            96 u32 pages per split
 *  8 u64 entries     40 u64 token RoPE    72 f32 scale           84 u32 head blocks     100 u32 scored blocks
 * 16 u64 queries     48 u64 page RoPE     76 u32 sharing         88 u32 first position
 * 24 u64 records     56 u64 pair order                           92 u32 RoPE pages
 * </pre>
 */
final class ScoringArgument {
  static final int BYTES = 104;
  static final int RECORD_BYTES = Fp16Page.TOKENS * 4 * Short.BYTES + 4 * 4 * Float.BYTES;

  private ScoringArgument() {}

  /** Sets what all launches share. */
  static void set(
      MemorySegment argument, DeviceCodebooks codebooks, AttentionShape shape, HeadBlocks blocks) {
    argument.set(JAVA_LONG, 40, codebooks.tokenRopeAddress());
    argument.set(JAVA_LONG, 48, codebooks.pageRopeAddress());
    argument.set(JAVA_LONG, 56, codebooks.pairOrderAddress());
    argument.set(JAVA_FLOAT, 72, PagedAttention.scale(shape));
    argument.set(JAVA_INT, 76, shape.queriesPerKvHead());
    argument.set(JAVA_INT, 80, blocks.heads());
    argument.set(JAVA_INT, 84, blocks.blocks());
    argument.set(JAVA_INT, 88, codebooks.firstPosition());
    argument.set(JAVA_INT, 92, codebooks.ropePages());
    argument.set(JAVA_INT, 100, 1);
  }

  /** Sets what a planned batch shares. */
  static void plan(MemorySegment argument, PageTable table, SplitPlan splitPlan, long records) {
    argument.set(JAVA_LONG, 0, table.sequencesAddress());
    argument.set(JAVA_LONG, 8, table.entriesAddress());
    argument.set(JAVA_LONG, 24, records);
    argument.set(JAVA_INT, 96, splitPlan.pagesPerSplit());
  }

  /** Sets what a launch has of its own. */
  static void call(MemorySegment argument, DeviceCodebooks codebooks, AuxiliaryKernels.Call call) {
    argument.set(JAVA_LONG, 16, call.queries());
    argument.set(JAVA_LONG, 32, codebooks.keysAddress(call.offsets().layer()));
    argument.set(JAVA_LONG, 64, call.offsets().packed());
  }
}
