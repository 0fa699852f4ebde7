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
              "At 2 bits it beats KIVI at 2 bits, with fewer bytes.",
              PARTS,
              RowCheck.all(
                  RowCheck.better(TWO, KIVI_TWO, Task.PROSE),
                  RowCheck.bytesAtMost(1, TWO, KIVI_TWO))),
          COMMVQ.claim(
              "Table 1",
              "At 1 bit it is usable and KIVI is not (here: a tenth of the divergence).",
              PARTS,
              RowCheck.atMost(0.1, ONE, KIVI_ONE, Task.PROSE)),
          COMMVQ.claim(
              "Figure 2",
              "At 2 bits it finds as many needles as fp16.",
              METHODS,
              RowCheck.asGoodAsFp16(TWO, Task.NEEDLE)),
          COMMVQ.claim(
              "Figure 2",
              "At 1 bit it finds needles and KIVI does not (here: at least half of fp16's).",
              METHODS,
              RowCheck.atLeast(0.5, ONE, "fp16", Task.NEEDLE),
              "With heads of 64 channels a codebook of one bit finds fewer than half of the"
                  + " needles."),
          COMMVQ.claim(
              "Table 3",
              "At 2 bits solutions match fp16.",
              METHODS,
              RowCheck.asGoodAsFp16(TWO, Task.CHAIN),
              "Heads of 64 channels form groups of 32 pairs, with 2.7 times the error of 64"
                  + " pairs in the paper's Table 10."),
          COMMVQ.claim(
              "Table 3",
              "At 1 bit it keeps 66.6 of 76.7 points on solutions (here: half of fp16's).",
              METHODS,
              RowCheck.atLeast(0.5, ONE, "fp16", Task.CHAIN),
              "The same reason as at 2 bits."),
          COMMVQ.claim(
              "Section 4",
              "A beam search finds better codes than a greedy one.",
              PARTS,
              RowCheck.better(ONE, "commvq:1,beam=1,sinks=16", Task.PROSE),
              "The paper searches greedily; the beam is Kvasir's."),
          COMMVQ.claim(
              "Table 5",
              "Codebooks that commute with RoPE decode 6 to 9.6 times as fast as others.",
              SPEED,
              RowCheck.all(faster("commvq:1"), faster("commvq:2")),
              "The paper's baseline decodes the whole cache with matrix products; Kvasir's"
                  + " decodes one page at a time with the prefill kernels."),
          COMMVQ.claim(
              "Table 6",
              "Codebooks trained on prose work for other texts (here: at most a tenth more error"
                  + " of keys).",
              CODING_ERROR,
              NumberCheck.timesAtMost(
                  1.1,
                  "keys of tasks after prose",
                  "keys of prose after prose",
                  "%.1f times the error on tasks"),
              "The paper compares perplexity, a coarser measure; keys of tables and programs"
                  + " differ from those of stories."),
          COMMVQ.claim(
              "Table 10",
              "Codes for more channel pairs have less error at equal bits.",
              CODING_ERROR,
              NumberCheck.decreasing(
                  "%.3f",
                  "keys with codes of 8 pairs, 1.50 bits",
                  "keys with codes of 16 pairs, 1.50 bits",
                  "keys with codes of 32 pairs, 1.50 bits")),
          COMMVQ.claim(
              "Figure 4",
              "Every further stage reduces the error.",
              CODING_ERROR,
              NumberCheck.decreasing(
                  "%.3f", after(1), after(2), after(3), after(5), after(8), after(11))),
          COMMVQ.claim(
              "Table 11",
              "At 1 bit, values of the first layer have 14 times less error than with uniform"
                  + " codes.",
              CODING_ERROR,
              NumberCheck.timesAtLeast(14, VALUES + "kivi:1", VALUES + "commvq:1", "%.1f times")),
          COMMVQ.claim(
              "Table 11",
              "At 2 bits, 2.1 times less.",
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
