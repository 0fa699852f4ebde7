package dev.kvasir.lab.reproduce;

import static dev.kvasir.lab.claim.Paper.MIXKVQ;

import dev.kvasir.lab.dataset.Programs;
import dev.kvasir.lab.dataset.Reasoning;
import dev.kvasir.lab.reproduce.BatchTable.Quantity;
import dev.kvasir.lab.reproduce.PerplexityTable.TextColumn;
import java.util.ArrayList;
import java.util.List;

/** Tables and figures of "MixKVQ: Query-Aware Mixed-Precision KV Cache Quantization". */
final class MixkvqTables {
  private static final int TEXT_TOKENS = 4096;

  private static final List<TableRow> REASONING_ROWS =
      List.of(
          new TableRow("BF16", PaperCaches.FULL),
          new TableRow("KIVI KV4", PaperCaches.KIVI_4_SMALL),
          new TableRow("KIVI KV2", PaperCaches.KIVI_2_SMALL),
          new TableRow("KVQuant KV4", "kvquant:4"),
          new TableRow("KVQuant KV2", "kvquant:2"),
          new TableRow("RotateKV KV4", "rotatekv:4,group=32"),
          new TableRow("KVTuner", "kvtuner:3,group=32"),
          new TableRow("MixKVQ", PaperCaches.MIXKVQ));

  private static final List<TableRow> LONGBENCH_ROWS =
      List.of(
          REASONING_ROWS.get(0),
          REASONING_ROWS.get(3),
          REASONING_ROWS.get(4),
          REASONING_ROWS.get(1),
          REASONING_ROWS.get(2),
          new TableRow("SKVQ KV4", "skvq:4,group=32"),
          new TableRow("SKVQ KV2", "skvq:2,group=32"),
          REASONING_ROWS.get(5),
          new TableRow("RotateKV KV2", "rotatekv:2,group=32"),
          REASONING_ROWS.getLast());

  private static final List<AnswerColumn> REASONING =
      LongBenchColumns.withMean(
          List.of(
              AnswerColumn.of("AIME 2024-2025", Reasoning.AIME_24_25),
              AnswerColumn.of("MATH 500", Reasoning.MATH_500),
              AnswerColumn.of("GPQA-Diamond", Reasoning.GPQA),
              AnswerColumn.of("LiveCodeBench", Programs.LIVE_CODE)),
          "Avg.");

  private MixkvqTables() {}

  private static AnswerTable reasoning(List<TableRow> rows, List<AnswerColumn> columns) {
    return new AnswerTable(rows, columns, Answering.sampled(1));
  }

  private static List<TableRow> twoBits() {
    return List.of(
        REASONING_ROWS.get(0),
        REASONING_ROWS.get(2),
        REASONING_ROWS.get(4),
        REASONING_ROWS.getLast());
  }

  /** Groups at a residual of 128, then residuals at groups of 32, all with 32 first tokens. */
  private static List<TableRow> sizes() {
    List<TableRow> rows = new ArrayList<>();
    for (int group : List.of(32, 64, 128)) {
      rows.add(new TableRow("G = " + group, PaperCaches.MIXKVQ + ",group=" + group));
    }
    for (int residual : List.of(32, 64, 96, 128, 256)) {
      rows.add(new TableRow("R = " + residual, PaperCaches.MIXKVQ + ",residual=" + residual));
    }
    return rows;
  }

  static final List<PaperTable> ALL =
      List.of(
          table("figure1", "Mean of reasoning scores at 2 bits", 2)
              .by(reasoning(twoBits(), List.of(REASONING.getLast()))),
          table("table1", "One answer of each method", 0)
              .drawing("it quotes answers; 'kvasir generate --kv' shows them for any model"),
          table("table2", "Perplexity by bits of keys and values", 2)
              .by(
                  new PerplexityTable(
                      List.of(
                          new TableRow("BF16", PaperCaches.FULL),
                          new TableRow("KIVI-KV4", PaperCaches.KIVI_4_SMALL),
                          new TableRow("KIVI-K4V2", "kivi,k=4,v=2,group=32,window=0"),
                          new TableRow("KIVI-K2V4", "kivi,k=2,v=4,group=32,window=0"),
                          new TableRow("KIVI-KV2", PaperCaches.KIVI_2_SMALL)),
                      List.of(
                          new TextColumn("WikiText2", "wikitext2.txt"),
                          new TextColumn("C4", "c4.txt")),
                      TEXT_TOKENS)),
          table("figure2", "Errors of keys and values at 2 bits", 4).by(MixkvqAnalyses::errors),
          table("figure3-left", "Correlation of queries and key scales", 2)
              .by(MixkvqAnalyses::correlation),
          table("figure3-right", "Spread of queries and key scales in heads", 2)
              .by(MixkvqAnalyses::spread),
          table("figure4", "The method", 0).drawing("it draws the method"),
          table("table3", "Reasoning", 2).by(reasoning(REASONING_ROWS, REASONING)),
          table("table4", "LongBench", 2)
              .by(new AnswerTable(LONGBENCH_ROWS, LongBenchColumns.NINE, Answering.GREEDY)),
          table("figure5", "Throughput by batch size", 1)
              .by(
                  new BatchTable(
                      List.of(
                          new TableRow("FP16", PaperCaches.FULL),
                          new TableRow("MixKVQ, R = 32", PaperCaches.MIXKVQ + ",residual=32"),
                          new TableRow("MixKVQ, R = 128", PaperCaches.MIXKVQ)),
                      List.of(1, 2, 4, 8, 16, 32),
                      512,
                      256,
                      Quantity.TOKENS_PER_SECOND)),
          table("table5", "Correlation of queries and key scales", 2)
              .by(MixkvqAnalyses::correlation),
          table("figure6", "Channels that 2 bits cannot hold", 4)
              .by(MixkvqAnalyses::failingChannels),
          table("figure7", "Front of thresholds", 4).by(ThresholdFront::search),
          table("table6", "Group size and residual length", 3)
              .by(
                  new PerplexityTable(
                      sizes(), List.of(new TextColumn("PPL", "wikitext2.txt")), TEXT_TOKENS)),
          table("table7", "Without queries in the salience", 2)
              .by(
                  reasoning(
                      List.of(
                          new TableRow("error-only", PaperCaches.MIXKVQ + ",salience=error"),
                          REASONING_ROWS.getLast()),
                      List.of(REASONING.getFirst()))),
          table("table8", "Time of choosing channels", 2).by(MixkvqAnalyses::overhead),
          table("table9", "Reasoning, a smaller model", 2)
              .by(reasoning(REASONING_ROWS, REASONING)));

  private static TableDraft table(String id, String title, int decimals) {
    return new TableDraft(MIXKVQ, id, title, decimals);
  }
}
