package dev.kvasir.lab.reproduce;

import static dev.kvasir.lab.claim.Paper.COMMVQ;

import dev.kvasir.lab.dataset.InfiniteBench;
import dev.kvasir.lab.dataset.Reasoning;
import dev.kvasir.lab.reproduce.CommandTable.CommandLine;
import dev.kvasir.lab.reproduce.PerplexityTable.TextColumn;
import dev.kvasir.lab.synthetic.SyntheticTask;
import java.util.List;
import java.util.stream.Stream;

/** Tables and figures of "CommVQ: Commutative Vector Quantization for KV Cache Compression". */
final class CommvqTables {
  /** Tokens of InfiniteBench's texts in the paper. */
  private static final int LONGEST = 131_072;

  private static final int TEXT_TOKENS = 4096;

  private static final List<TableRow> ROWS =
      List.of(
          new TableRow("FP16", PaperCaches.FULL),
          new TableRow("KIVI-2", PaperCaches.KIVI_2_SMALL),
          new TableRow("KVQuant-2", "kvquant:2"),
          new TableRow("VQLLM-2", "vqllm:2"),
          new TableRow("CommVQ-2", PaperCaches.COMMVQ_2),
          new TableRow("KIVI-1", PaperCaches.KIVI_1_SMALL),
          new TableRow("KVQuant-1", ""),
          new TableRow("VQLLM-1", "vqllm:1"),
          new TableRow("CommVQ-1", PaperCaches.COMMVQ_1));

  private static final List<TableRow> WITHOUT_KVQUANT =
      ROWS.stream().filter(row -> !row.label().startsWith("KVQuant")).toList();

  private static final List<AnswerColumn> INFINITE_BENCH =
      LongBenchColumns.withMean(
          List.of(
              AnswerColumn.generated("R.PK", SyntheticTask.PASSKEY, LONGEST),
              AnswerColumn.generated("R.Num", SyntheticTask.NUMBER_STRING, LONGEST),
              AnswerColumn.generated("R.KV", SyntheticTask.KEY_VALUE, LONGEST),
              AnswerColumn.of("En.Sum", InfiniteBench.SUMMARY),
              AnswerColumn.of("En.QA", InfiniteBench.QUESTIONS),
              AnswerColumn.of("En.MC", InfiniteBench.CHOICES),
              AnswerColumn.of("En.Dia", InfiniteBench.DIALOGUES),
              AnswerColumn.of("Code.D", InfiniteBench.CODE),
              AnswerColumn.of("Math.F", InfiniteBench.NUMBERS)),
          "Average");

  /** Tasks of RULER and LongEval, which need no data; beyond the paper's own tables. */
  private static final List<AnswerColumn> GENERATED =
      Stream.of(SyntheticTask.values())
          .map(task -> AnswerColumn.generated(task.label(), task, 8192))
          .toList();

  private CommvqTables() {}

  private static final List<String> LENGTHS = List.of("8K", "32K", "128K");
  private static final List<Integer> TOKENS = List.of(8192, 32_768, 131_072);

  /** One layer's attention; the command prints ns per token and query head. */
  private static CommandTable latency() {
    return new CommandTable(
        List.of("a quiet machine and the command bench"),
        command("8192,32768,131072", "3"),
        command("8192", "1"),
        LENGTHS,
        List.of(
            new CommandLine("Naive Impl.", figures(PaperCaches.COMMVQ_1 + ",scores=decoded")),
            new CommandLine("Optimized Impl.", figures(PaperCaches.COMMVQ_1))));
  }

  private static List<String> command(String tokens, String rounds) {
    return List.of(
        "bench",
        "attention",
        "--tokens",
        tokens,
        "--threads",
        "1",
        "--rounds",
        rounds,
        "--kv",
        "%s,scores=decoded;%s".formatted(PaperCaches.COMMVQ_1, PaperCaches.COMMVQ_1));
  }

  private static List<String> figures(String spec) {
    return TOKENS.stream().map(tokens -> "%s, %d tokens, 1 threads".formatted(spec, tokens)).toList();
  }

  static final List<PaperTable> ALL =
      List.of(
          table("figure1", "The method", 0).drawing("it draws the method"),
          table("table1", "LongBench", 2)
              .by(new AnswerTable(ROWS, LongBenchColumns.EIGHT, Answering.GREEDY)),
          table("table2", "InfiniteBench", 2)
              .by(new AnswerTable(ROWS, INFINITE_BENCH, Answering.GREEDY)),
          table("figure2", "Needle in a haystack", 1)
              .by(
                  new NeedleTable(
                      List.of(ROWS.get(0), ROWS.get(4), ROWS.get(5), ROWS.getLast()),
                      List.of(1000, 4000, 8000, 16_000, 32_000, 64_000, 128_000))),
          table("table3", "GSM8K", 2)
              .by(
                  new AnswerTable(
                      WITHOUT_KVQUANT,
                      List.of(AnswerColumn.of("GSM8K", Reasoning.GSM8K)),
                      Answering.GREEDY)),
          table("table4", "LongBench, other models", 2)
              .by(
                  new AnswerTable(
                      List.of(
                          ROWS.get(0),
                          new TableRow("KIVI", PaperCaches.KIVI_2_SMALL),
                          new TableRow("CommVQ", PaperCaches.COMMVQ_2)),
                      List.of(LongBenchColumns.EIGHT.getLast()),
                      Answering.GREEDY)),
          table("table5", "Latency of attention, ns per token and head", 2).by(latency()),
          table("table6", "Perplexity by domain", 2)
              .by(
                  new PerplexityTable(
                      List.of(ROWS.get(0), ROWS.get(4)),
                      List.of(
                          new TextColumn("FineWeb-Edu", "fineweb-edu.txt"),
                          new TextColumn("GSM-8K", "gsm8k.txt"),
                          new TextColumn("Repobench-p", "repobench-p.txt"),
                          new TextColumn("KV_Retrieval", "kv-retrieval.txt")),
                      TEXT_TOKENS)),
          table("figure3a", "Memory by context length", 3).by(CommvqAnalyses::memoryByContext),
          table("figure3b", "Memory by batch size", 3).by(CommvqAnalyses::memoryByBatch),
          table("table7", "Size of codebooks", 2).by(CommvqAnalyses::sizes),
          table("table8", "Configuration of codebooks", 0).by(CommvqAnalyses::configuration),
          table("table9", "Channel pairs of a code with one stage", 4)
              .by(CommvqAnalyses::pairsOfOneStage),
          table("table10", "Channel pairs of a code at equal bits", 4)
              .by(CommvqAnalyses::pairsAtEqualBits),
          table("figure4", "Error of keys by stages", 4).by(CommvqAnalyses::stages),
          table("table11", "Error of values", 5).by(CommvqAnalyses::values),
          table("tasks", "Generated tasks of InfiniteBench, RULER and LongEval, not in the paper", 1)
              .by(new AnswerTable(ROWS, GENERATED, Answering.GREEDY)));

  private static TableDraft table(String id, String title, int decimals) {
    return new TableDraft(COMMVQ, id, title, decimals);
  }
}
