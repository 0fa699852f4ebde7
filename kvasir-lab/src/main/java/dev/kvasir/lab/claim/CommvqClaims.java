package dev.kvasir.lab.claim;

import static dev.kvasir.lab.claim.Claim.tried;
import static dev.kvasir.lab.claim.Claim.untried;
import static dev.kvasir.lab.claim.Paper.COMMVQ;

import dev.kvasir.lab.eval.Task;
import java.util.List;

/** Of "CommVQ: Commutative Vector Quantization for KV Cache Compression". */
final class CommvqClaims {
  private static final Trial PARTS = Trial.table("commvq");
  private static final Trial METHODS = Trial.table("methods");
  private static final String ONE = "commvq:1,sinks=16";
  private static final String TWO = "commvq:2,sinks=16";
  private static final String KIVI_ONE = "kivi:1,group=32,sinks=16";
  private static final String KIVI_TWO = "kivi:2,group=32,sinks=16";

  private CommvqClaims() {}

  static final List<Claim> ALL =
      List.of(
          tried(
              COMMVQ,
              "Table 1",
              "At 2 bits it is ahead of KIVI at 2 bits, and takes fewer.",
              PARTS,
              RowCheck.all(
                  RowCheck.better(TWO, KIVI_TWO, Task.PROSE),
                  RowCheck.bytesAtMost(1, TWO, KIVI_TWO)),
              ""),
          tried(
              COMMVQ,
              "Table 1",
              "At 1 bit it can be used, where KIVI cannot (here: a tenth of the divergence).",
              PARTS,
              RowCheck.atMost(0.1, ONE, KIVI_ONE, Task.PROSE),
              ""),
          tried(
              COMMVQ,
              "Figure 2",
              "At 2 bits it finds needles as fp16 does.",
              METHODS,
              RowCheck.asGoodAsHalf(TWO, Task.NEEDLE),
              ""),
          tried(
              COMMVQ,
              "Figure 2",
              "At 1 bit it finds needles where KIVI cannot (here: at least half of fp16's).",
              METHODS,
              RowCheck.atLeast(0.5, ONE, "fp16", Task.NEEDLE),
              "KIVI at 1 bit has a divergence of more than 1 and finds none; with heads of 64 channels one"
                  + " bit of codebooks finds fewer than half of them."),
          tried(
              COMMVQ,
              "Table 3",
              "At 2 bits solutions are as good as with fp16.",
              METHODS,
              RowCheck.asGoodAsHalf(TWO, Task.CHAIN),
              "Heads of 64 channels make groups of 32 pairs, where the paper's Table 10 has 2.7 times"
                  + " the error of 64."),
          tried(
              COMMVQ,
              "Table 3",
              "At 1 bit solutions are still there, at 66.6 of 76.7 points (here: half of fp16's).",
              METHODS,
              RowCheck.atLeast(0.5, ONE, "fp16", Task.CHAIN),
              "As at 2 bits."),
          tried(
              COMMVQ,
              "Section 4",
              "A search that keeps several sums finds better codes than one that keeps the best.",
              PARTS,
              RowCheck.better(ONE, "commvq:1,beam=1,sinks=16", Task.PROSE),
              "The paper searches greedily; a beam is ours."),
          untried(
              COMMVQ,
              "Table 5",
              "Codebooks that commute with rotation decode 6 to 9.6 times as fast as without.",
              "docs/methods/commvq.md has it (6.7 to 9.3 times by sums over rows; 0.9 to 1.3 times by the"
                  + " paper's tables); the benchmark leaves no file that this page could read."),
          untried(
              COMMVQ,
              "Table 6",
              "It does not matter what kind of text codebooks are trained on.",
              "`./kvasir codebooks --tables texts` shows twice the error on other text"
                  + " (docs/methods/commvq.md); it leaves no file."),
          untried(
              COMMVQ,
              "Table 10, Figure 4",
              "Larger groups and more stages leave less.",
              "`./kvasir codebooks --tables stages,pairs` shows it; it leaves no file."),
          untried(
              COMMVQ,
              "Table 11",
              "What is left is 14 times less at 1 bit and 2.1 times less at 2 than with uniform codes.",
              "`./kvasir codebooks --tables profile` shows 7 to 44 and 1.9 to 16 times; it leaves no"
                  + " file."));
}
