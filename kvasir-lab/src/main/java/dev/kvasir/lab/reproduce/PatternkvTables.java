package dev.kvasir.lab.reproduce;

import static dev.kvasir.lab.claim.Paper.PATTERNKV;
import static dev.kvasir.lab.reproduce.AnswerColumn.Summary.MAJORITY;
import static dev.kvasir.lab.reproduce.AnswerColumn.Summary.MEAN;

import dev.kvasir.lab.dataset.Dataset;
import dev.kvasir.lab.dataset.Reasoning;
import dev.kvasir.lab.reproduce.BatchTable.Quantity;
import java.util.List;
import java.util.stream.Stream;

/**
 * Tables and figures of "PatternKV: Flattening KV Representation Expands Quantization Headroom".
 */
final class PatternkvTables {
  private static final List<Integer> BATCHES = List.of(16, 32, 48, 64, 96, 128, 160);

  private static final List<TableRow> TWO_BITS =
      List.of(
          new TableRow("FP16", PaperCaches.FULL),
          new TableRow("KIVI", PaperCaches.KIVI_2),
          new TableRow("ZipCache", "zipcache:2"),
          new TableRow("SKVQ", "skvq:2"),
          new TableRow("OTT", "ott:2"),
          new TableRow("PatternKV", PaperCaches.PATTERNKV_2));

  private static final List<TableRow> FOUR_BITS =
      List.of(
          new TableRow("FP16", PaperCaches.FULL),
          new TableRow("KIVI", PaperCaches.KIVI_4),
          new TableRow("ZipCache", "zipcache:4,high=8"),
          new TableRow("SKVQ", "skvq:4"),
          new TableRow("OTT", "ott:4"),
          new TableRow("PatternKV", PaperCaches.PATTERNKV_4));

  private static final List<TableRow> PARTS =
      List.of(
          new TableRow("KIVI", PaperCaches.KIVI_2),
          new TableRow("PatternKV", PaperCaches.PATTERNKV_2),
          new TableRow("w/o K Pattern", PaperCaches.patternkvWithout("k-patterns")),
          new TableRow("w/o V Pattern", PaperCaches.patternkvWithout("v-patterns")),
          new TableRow("w/o New Pattern", PaperCaches.patternkvWithout("new-patterns")),
          new TableRow("w/o V Threshold", PaperCaches.patternkvWithout("v-threshold")));

  private static final List<TableRow> COUNTS =
      Stream.concat(
              Stream.of(new TableRow("KIVI", PaperCaches.KIVI_2)),
              Stream.of(2, 4, 8, 16, 32)
                  .map(
                      count ->
                          new TableRow(String.valueOf(count), PaperCaches.patternkvWith(count))))
          .toList();

  /** LongBench's mean and GSM8K, the columns of both ablations. */
  private static final List<AnswerColumn> ABLATION =
      List.of(
          AnswerColumn.average("LongBench Avg", LongBenchColumns.GROUPS),
          AnswerColumn.of("GSM8K", Reasoning.GSM8K));

  private static final List<AnswerColumn> LONG_COT =
      Stream.of(
              column("AIME 25", Reasoning.AIME_25),
              column("AIME 24", Reasoning.AIME_24),
              column("AMC 24", Reasoning.AMC_24),
              column("AMC 23", Reasoning.AMC_23))
          .flatMap(List::stream)
          .toList();

  private PatternkvTables() {}

  private static List<AnswerColumn> column(String label, Dataset dataset) {
    return List.of(
        AnswerColumn.of(label + " Avg@8", MEAN, dataset),
        AnswerColumn.of(label + " Maj@8", MAJORITY, dataset));
  }

  private static List<TableRow> kiviAndOwn(List<TableRow> rows) {
    return List.of(rows.get(0), rows.get(1), rows.getLast());
  }

  private static BatchTable batches(Quantity quantity) {
    return new BatchTable(TWO_BITS, BATCHES, 1024, 256, quantity);
  }

  static final List<PaperTable> ALL =
      List.of(
          table("figure1", "Distribution before and after patterns", 3)
              .by(PatternkvAnalyses::flatness),
          table("figure2", "Key channels with and without context", 3)
              .by(PatternkvAnalyses::embeddingOnly),
          table("figure3a", "Drift of keys along a text", 3).by(PatternkvAnalyses::drift),
          table("figure3b", "Consistency of tokens and value clusters", 3)
              .by(PatternkvAnalyses::consistency),
          table("figure4", "The method", 0).drawing("it draws the method"),
          table("table1", "LongBench at 2 bits", 2)
              .by(new AnswerTable(TWO_BITS, LongBenchColumns.GROUPS_AND_MEAN, Answering.GREEDY)),
          table("table2", "Long reasoning at 2 bits", 2)
              .by(new AnswerTable(kiviAndOwn(TWO_BITS), LONG_COT, Answering.sampled(8))),
          table("figure5", "GSM8K at 2 bits", 2)
              .by(
                  new AnswerTable(
                      TWO_BITS,
                      List.of(AnswerColumn.of("GSM8K", Reasoning.GSM8K)),
                      Answering.GREEDY)),
          table("table3", "Parts of the method", 2)
              .by(new AnswerTable(PARTS, ABLATION, Answering.GREEDY)),
          table("table4", "Number of patterns", 2)
              .by(new AnswerTable(COUNTS, ABLATION, Answering.GREEDY)),
          table("figure6", "Throughput by batch size", 0).by(batches(Quantity.TOKENS_PER_SECOND)),
          table("table5", "Mutual information of keys", 4).by(PatternkvAnalyses::information),
          table("figure7", "Key channels with and without context, all layers", 3)
              .by(PatternkvAnalyses::embeddingOnly),
          table("figure8", "Drift of keys, all layers", 3).by(PatternkvAnalyses::drift),
          table("table6", "LongBench's data sets", 0).drawing("it lists data sets"),
          table("table7", "LongBench at 4 bits", 2)
              .by(new AnswerTable(FOUR_BITS, LongBenchColumns.GROUPS_AND_MEAN, Answering.GREEDY)),
          table("table8", "Long reasoning at 4 bits", 2)
              .by(new AnswerTable(kiviAndOwn(FOUR_BITS), LONG_COT, Answering.sampled(8))),
          table("figure9", "Values that use a pattern", 1).by(PatternkvAnalyses::utilization),
          table("table9", "Time of the method's own steps", 2).by(PatternkvAnalyses::components),
          table("table10", "Latency by batch size", 2).by(batches(Quantity.SECONDS)),
          table("table11", "Throughput by batch size", 2).by(batches(Quantity.TOKENS_PER_SECOND)),
          table("table12", "Memory by batch size", 3).by(batches(Quantity.GIGABYTES)),
          table("figure10", "Drift of keys with ALiBi", 0)
              .drawing("no decoder here has ALiBi positions"),
          table("figure11", "Drift of keys in a model with latent attention", 3)
              .by(
                  new Analysis(
                      List.of("a model with latent attention, such as DeepSeek-V2-Lite"),
                      PatternkvAnalyses::drift)));

  private static TableDraft table(String id, String title, int decimals) {
    return new TableDraft(PATTERNKV, id, title, decimals);
  }
}
