package dev.kvasir.lab.claim;

import static dev.kvasir.lab.claim.Paper.PATTERNKV;

import dev.kvasir.lab.eval.Task;
import java.util.List;

/** Claims of "PatternKV: Flattening KV Representation Expands Quantization Headroom". */
final class PatternkvClaims {
  private static final Experiment PARTS = Experiment.table("patternkv");
  private static final Experiment METHODS = Experiment.table("methods");
  private static final Experiment BASELINES = Experiment.table("baselines");
  private static final Experiment STATIC =
      Experiment.json("patterns-static", "patterns --kv patternkv:2,rope=static");
  private static final Experiment ROTATING =
      Experiment.json("patterns-turning", "patterns --kv patternkv:2");

  private static final String KIVI = "kivi:2,sinks=16";
  private static final String EQUAL = "patternkv:2,rope=static,sinks=16";

  private static final String PUBLISHED_KIVI = "kivi:2,sinks=0,window=0";
  private static final String PUBLISHED = "patternkv:2,as=paper";

  /** A prompt is read exactly, as published, and the rest of the text is scored. */
  private static final Experiment PAPER =
      Experiment.eval(
          "patternkv-paper",
          "--tasks ppl,prose --context 1900 --prompt 950 --prefill exact --seed 1",
          PUBLISHED_KIVI,
          PUBLISHED,
          publishedWithout("k-patterns"),
          publishedWithout("v-patterns"),
          publishedWithout("new-patterns"),
          publishedWithout("v-threshold"),
          publishedPatterns(2),
          publishedPatterns(4),
          publishedPatterns(8),
          publishedPatterns(16),
          "patternkv:4,as=paper");

  private static final String CONDITIONS = "no sinks, no window, prompt read exactly";

  private PatternkvClaims() {}

  private static String without(String part) {
    return "patternkv:2,rope=static,%s=off,sinks=16".formatted(part);
  }

  private static String patterns(int count) {
    return "patternkv:2,rope=static,patterns=%d,sinks=16".formatted(count);
  }

  private static String publishedWithout(String part) {
    return "patternkv:2,as=paper,%s=off".formatted(part);
  }

  private static String publishedPatterns(int count) {
    return "patternkv:2,as=paper,patterns=%d".formatted(count);
  }

  static final List<Claim> ALL =
      List.of(
          PATTERNKV
              .claim(
                  "Table 1",
                  "At 2 bits it beats KIVI with the same groups.",
                  "LongBench 45.33 against 44.33")
              .paperForm(CONDITIONS, PAPER, RowCheck.better(PUBLISHED, PUBLISHED_KIVI, Task.PROSE))
              .equalTerms(PARTS, RowCheck.better(EQUAL, KIVI, Task.PROSE))
              .equalTerms(
                  "KIVI with groups of 64, the same bits",
                  PARTS,
                  RowCheck.better(EQUAL, "kivi:2,group=64,sinks=16", Task.PROSE)),
          PATTERNKV
              .claim("Table 1", "At 2 bits it beats OTT.", "LongBench 45.33 against 44.84")
              .equalTerms(
                  BASELINES, RowCheck.worseThanIn(METHODS, "ott:2,sinks=16", EQUAL, Task.PROSE)),
          PATTERNKV
              .claim("Table 1", "At 2 bits it beats SKVQ.", "LongBench 45.33 against 44.25")
              .equalTerms(
                  BASELINES,
                  RowCheck.worseThanIn(METHODS, "skvq:2,group=32,sinks=16", EQUAL, Task.PROSE)),
          PATTERNKV
              .claim("Table 1", "At 2 bits it beats ZipCache.", "LongBench 45.33 against 42.49")
              .equalTerms(
                  "ZipCache takes 4.37 bits",
                  BASELINES,
                  RowCheck.worseThanIn(METHODS, "zipcache:2,sinks=16", EQUAL, Task.PROSE)),
          PATTERNKV
              .claim(
                  "Table 7",
                  "At 4 bits it loses almost nothing (here: at most 1% of perplexity).",
                  "0.08% of the score")
              .paperForm(
                  CONDITIONS,
                  PAPER,
                  RowCheck.atMost(1.01, "patternkv:4,as=paper", "fp16", Task.PPL))
              .equalTerms(
                  "rotated patterns",
                  METHODS,
                  RowCheck.atMost(1.01, "patternkv:4,sinks=16", "fp16", Task.PPL)),
          PATTERNKV
              .claim(
                  "Table 2",
                  "At 2 bits it completes more long solutions than KIVI.",
                  "AIME 24 16.25 against 10.83 (Llama-8B)")
              .equalTerms(METHODS, RowCheck.better(EQUAL, KIVI, Task.CHAIN)),
          PATTERNKV
              .claim(
                  "Table 3",
                  "Key patterns matter more than value patterns.",
                  "LongBench 44.96 with key patterns alone, 44.53 with value patterns alone")
              .paperForm(
                  CONDITIONS,
                  PAPER,
                  RowCheck.better(
                      publishedWithout("v-patterns"), publishedWithout("k-patterns"), Task.PROSE))
              .equalTerms(
                  PARTS, RowCheck.better(without("v-patterns"), without("k-patterns"), Task.PROSE)),
          PATTERNKV
              .claim(
                  "Table 3",
                  "Patterns added during decoding change little (here: at most 10% divergence).",
                  "LongBench 45.37 without, 45.33 with")
              .paperForm(
                  CONDITIONS,
                  PAPER,
                  RowCheck.atMost(1.1, publishedWithout("new-patterns"), PUBLISHED, Task.PROSE))
              .equalTerms(PARTS, RowCheck.atMost(1.1, without("new-patterns"), EQUAL, Task.PROSE)),
          PATTERNKV
              .claim(
                  "Table 3",
                  "Without the value threshold results collapse (here: twice the divergence).",
                  "LongBench 24.67 against 45.33")
              .paperForm(
                  CONDITIONS,
                  PAPER,
                  RowCheck.atLeast(2, publishedWithout("v-threshold"), PUBLISHED, Task.PROSE))
              .equalTerms(PARTS, RowCheck.atLeast(2, without("v-threshold"), EQUAL, Task.PROSE))
              .remark(
                  "The values of sink tokens are close to zero and receive most of the attention;"
                      + " a pattern widens their range many times. Rows that keep 16 sinks in"
                      + " full precision never quantize them."),
          PATTERNKV
              .claim(
                  "Table 4",
                  "More patterns are better, from 8 to 16 to 32.",
                  "LongBench 44.92, 45.28, 45.33")
              .paperForm(
                  CONDITIONS,
                  PAPER,
                  RowCheck.ordered(
                      Task.PROSE, PUBLISHED, publishedPatterns(16), publishedPatterns(8)))
              .equalTerms(PARTS, RowCheck.ordered(Task.PROSE, EQUAL, patterns(16), patterns(8))),
          PATTERNKV
              .claim(
                  "Figure 9",
                  "About three quarters of values use a pattern (here: at least 65%).",
                  "about 75%")
              .equalTerms(STATIC, NumberCheck.atLeast("valuesWithPattern", 0.65, "%.2f of values"))
              .remark(
                  "The threshold depends on the channels of a head: .876 for 64, .911 for 128."),
          PATTERNKV
              .claim(
                  "Figure 6",
                  "Batches generate 1.4 times the tokens of fp16 in the same memory.",
                  "1.4 times, Llama 3.1 8B on an H20")
              .paperForm(
                  "a full card",
                  BatchClaims.CARD,
                  BatchClaims.timesFp16OnCard("patternkv:2,rope=static", 1.4))
              .equalTerms(BatchClaims.EXPERIMENT, BatchClaims.timesFp16("patternkv:2", 1.4))
              .remark(BatchClaims.REMARK),
          PATTERNKV
              .claim(
                  "Figure 6",
                  "1.25 times the sequences of fp16 fit in the same memory.",
                  "1.25 times")
              .equalTerms(
                  BatchClaims.EXPERIMENT,
                  NumberCheck.countAtLeast("patternkv:2 sequences", 1.25, "%.2f times")),
          PATTERNKV
              .claim(
                  "Table 12",
                  "Patterns and indices add little memory (here: at most 2% of an fp16 cache at 7,900"
                      + " tokens).",
                  "0.42% of peak memory, weights included")
              .equalTerms(METHODS, RowCheck.extraOfFp16AtMost(0.02, 7900, EQUAL, KIVI))
              .remark(
                  "The paper's formula, 32 / tokens + 1 / 128, gives 1.18% at 7,936 tokens, without the"
                      + " patterns that are added while decoding. Relative to the packed bytes of"
                      + " KIVI the same patterns are a tenth."),
          PATTERNKV
              .claim(
                  "Appendix K",
                  "Keys drift from their patterns because of RoPE (here: with rotated patterns, more"
                      + " than a tenth of a channel's range is removed).",
                  "qualitative")
              .equalTerms(
                  ROTATING, NumberCheck.atMost("keyRange", 0.9, "%.2f of the range remains")));
}
