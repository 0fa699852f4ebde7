package dev.kvasir.lab.claim;

import static dev.kvasir.lab.claim.Paper.COMMVQ;

import dev.kvasir.lab.eval.Task;
import java.util.List;

/** Claims of "CommVQ: Commutative Vector Quantization for KV Cache Compression". */
final class CommvqClaims {
  private static final Experiment PARTS = Experiment.table("commvq");
  private static final Experiment METHODS = Experiment.table("methods");
  private static final String ONE = "commvq:1,sinks=16";
  private static final String TWO = "commvq:2,sinks=16";
  private static final String KIVI_ONE = "kivi:1,group=32,sinks=16";
  private static final String KIVI_TWO = "kivi:2,group=32,sinks=16";

  private static final Experiment CODING_ERROR =
      Experiment.json("commvq-left", "codebooks --tables profile,stages,pairs,texts");
  private static final Experiment SPEED =
      Experiment.json(
          "commvq-speed",
          "bench attention --tokens 8192 --head-dim 64 --kv-heads 2 --query-heads 8 --threads 1"
              + " --kv commvq:1,scores=decoded;commvq:1;commvq:2,scores=decoded;commvq:2");

  private static final String VALUES = "values of layer 0, ";

  private CommvqClaims() {}

  static final List<Claim> ALL =
      List.of(
          COMMVQ.claim(
              "Table 1",
              "At 2 bits it is ahead of KIVI at 2 bits, and takes fewer.",
              PARTS,
              RowCheck.all(
                  RowCheck.better(TWO, KIVI_TWO, Task.PROSE),
                  RowCheck.bytesAtMost(1, TWO, KIVI_TWO))),
          COMMVQ.claim(
              "Table 1",
              "At 1 bit it can be used, where KIVI cannot (here: a tenth of the divergence).",
              PARTS,
              RowCheck.atMost(0.1, ONE, KIVI_ONE, Task.PROSE)),
          COMMVQ.claim(
              "Figure 2",
              "At 2 bits it finds needles as fp16 does.",
              METHODS,
              RowCheck.asGoodAsFp16(TWO, Task.NEEDLE)),
          COMMVQ.claim(
              "Figure 2",
              "At 1 bit it finds needles where KIVI cannot (here: at least half of fp16's).",
              METHODS,
              RowCheck.atLeast(0.5, ONE, "fp16", Task.NEEDLE),
              "KIVI at 1 bit has a divergence of more than 1 and finds none; with heads of 64"
                  + " channels one bit of codebooks finds fewer than half of them."),
          COMMVQ.claim(
              "Table 3",
              "At 2 bits solutions are as good as with fp16.",
              METHODS,
              RowCheck.asGoodAsFp16(TWO, Task.CHAIN),
              "Heads of 64 channels make groups of 32 pairs, where the paper's Table 10 has 2.7"
                  + " times the error of 64."),
          COMMVQ.claim(
              "Table 3",
              "At 1 bit solutions are still there, at 66.6 of 76.7 points (here: half of fp16's).",
              METHODS,
              RowCheck.atLeast(0.5, ONE, "fp16", Task.CHAIN),
              "As at 2 bits."),
          COMMVQ.claim(
              "Section 4",
              "A search that keeps several sums finds better codes than one that keeps the best.",
              PARTS,
              RowCheck.better(ONE, "commvq:1,beam=1,sinks=16", Task.PROSE),
              "The paper searches greedily; a beam is ours."),
          COMMVQ.claim(
              "Table 5",
              "Codebooks that commute with rotation decode 6 to 9.6 times as fast as without.",
              SPEED,
              RowCheck.all(faster("commvq:1"), faster("commvq:2")),
              "The paper's baseline decodes a whole cache with matrix products; here one page at a"
                  + " time is decoded, by the kernels that prompts have."),
          COMMVQ.claim(
              "Table 6",
              "Codebooks trained on prose serve other kinds of text as well (here: at most a tenth"
                  + " more is left of keys).",
              CODING_ERROR,
              NumberCheck.timesAtMost(
                  1.1,
                  "keys of tasks after prose",
                  "keys of prose after prose",
                  "%.1f times as much of tasks"),
              "The paper compares perplexities, which tell less finely than what is left of"
                  + " vectors; keys of tables and programs are unlike those of stories."),
          COMMVQ.claim(
              "Table 10",
              "Codes for more pairs of channels leave less at equal bits.",
              CODING_ERROR,
              NumberCheck.decreasing(
                  "%.3f",
                  "keys with codes of 8 pairs, 1.50 bits",
                  "keys with codes of 16 pairs, 1.50 bits",
                  "keys with codes of 32 pairs, 1.50 bits")),
          COMMVQ.claim(
              "Figure 4",
              "Every further stage leaves less.",
              CODING_ERROR,
              NumberCheck.decreasing(
                  "%.3f", after(1), after(2), after(3), after(5), after(8), after(11))),
          COMMVQ.claim(
              "Table 11",
              "14 times less is left of values of the first layer than with uniform codes at 1"
                  + " bit.",
              CODING_ERROR,
              NumberCheck.timesAtLeast(14, VALUES + "kivi:1", VALUES + "commvq:1", "%.1f times")),
          COMMVQ.claim(
              "Table 11",
              "2.1 times less at 2 bits.",
              CODING_ERROR,
              NumberCheck.timesAtLeast(2.1, VALUES + "kivi:2", VALUES + "commvq:2", "%.1f times")));

  private static String after(int stages) {
    return "keys after %d stages".formatted(stages);
  }

  private static Check faster(String spec) {
    String shape = ", 8192 tokens, 1 threads";
    return NumberCheck.timesAtLeast(
        6, spec + ",scores=decoded" + shape, spec + shape, "%.1f times");
  }
}
