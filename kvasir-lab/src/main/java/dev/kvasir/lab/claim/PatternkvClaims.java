package dev.kvasir.lab.claim;

import static dev.kvasir.lab.claim.Paper.PATTERNKV;

import dev.kvasir.lab.eval.Task;
import java.util.List;

/** Claims of "PatternKV: Flattening KV Representation Expands Quantization Headroom". */
final class PatternkvClaims {
  private static final Experiment PARTS = Experiment.table("patternkv");
  private static final Experiment METHODS = Experiment.table("methods");
  private static final Experiment STATIC =
      Experiment.json("patterns-static", "patterns --kv patternkv:2,rope=static");
  private static final Experiment ROTATING =
      Experiment.json("patterns-turning", "patterns --kv patternkv:2");

  private static final String KIVI = "kivi:2,sinks=16";
  private static final String PAPER = "patternkv:2,rope=static,sinks=16";

  private PatternkvClaims() {}

  private static String without(String part) {
    return "patternkv:2,rope=static,%s=off,sinks=16".formatted(part);
  }

  private static String patterns(int count) {
    return "patternkv:2,rope=static,patterns=%d,sinks=16".formatted(count);
  }

  static final List<Claim> ALL =
      List.of(
          PATTERNKV.claim(
              "Table 1",
              "At 2 bits it beats KIVI with the same groups.",
              PARTS,
              RowCheck.better(PAPER, KIVI, Task.PROSE),
              "A key is coded by channel over the tokens of a page, and one vector taken from all"
                  + " of them leaves each channel's range as it was."),
          PATTERNKV.claim(
              "Table 7",
              "At 4 bits it loses almost nothing (0.08% of fp16's score).",
              METHODS,
              RowCheck.atMost(1.01, "patternkv:4,sinks=16", "fp16", Task.PPL)),
          PATTERNKV.claim(
              "Table 2",
              "At 2 bits it completes more long solutions than KIVI.",
              METHODS,
              RowCheck.better(PAPER, KIVI, Task.CHAIN),
              "Both are near the floor: 2 bits ruin a model of 28M parameters on long solutions."),
          PATTERNKV.claim(
              "Table 3",
              "Key patterns matter more than value patterns.",
              PARTS,
              RowCheck.better(without("v-patterns"), without("k-patterns"), Task.PROSE),
              "Static key patterns gain nothing; rotated ones do."),
          PATTERNKV.claim(
              "Table 3",
              "Patterns added during decoding change little.",
              PARTS,
              RowCheck.asGood(without("new-patterns"), PAPER, Task.PROSE),
              "RoPE moves keys away from the mined patterns; rotated patterns need no new ones."),
          PATTERNKV.claim(
              "Table 3",
              "Without the value threshold results collapse (here: twice the divergence).",
              PARTS,
              RowCheck.atLeast(2, without("v-threshold"), PAPER, Task.PROSE),
              "By the paper's equations the best of 32 patterns can widen a value's range only"
                  + " by its own share."),
          PATTERNKV.claim(
              "Table 4",
              "More patterns are better, from 8 to 16 to 32.",
              PARTS,
              RowCheck.ordered(Task.PROSE, PAPER, patterns(16), patterns(8)),
              "Static key patterns do not help any channel, regardless of their number."),
          PATTERNKV.claim(
              "Figure 9",
              "About three quarters of values use a pattern (here: at least 70%).",
              STATIC,
              NumberCheck.atLeast("valuesWithPattern", 0.7, "%.2f of values"),
              "The threshold is stricter for heads with few channels (64 here)."),
          PATTERNKV.claim(
              "Figure 6",
              "Batches generate 1.4 times the tokens of fp16 in the same memory.",
              BatchClaims.EXPERIMENT,
              NumberCheck.atLeast("patternkv:2", 1.4, "%.2f times"),
              BatchClaims.WHY),
          PATTERNKV.claim(
              "Table 12",
              "It takes 0.42% more memory than KIVI (here: at most 1%).",
              METHODS,
              RowCheck.bytesAtMost(1.01, PAPER, KIVI),
              "Each layer and head has its pattern bank, and each token two indices; 64 channels"
                  + " and 8,000 tokens are few values to amortize them."),
          PATTERNKV.claim(
              "Appendix K",
              "Keys drift from their patterns because of RoPE (here: with rotated patterns, more"
                  + " than a tenth of a channel's range is removed).",
              ROTATING,
              NumberCheck.atMost("keyRange", 0.9, "%.2f of the range remains")));
}
