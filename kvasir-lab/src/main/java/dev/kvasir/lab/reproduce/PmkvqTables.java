package dev.kvasir.lab.reproduce;

import static dev.kvasir.lab.claim.Paper.PMKVQ;
import static dev.kvasir.lab.reproduce.AnswerColumn.Summary.MAJORITY;
import static dev.kvasir.lab.reproduce.AnswerColumn.Summary.PASS;

import dev.kvasir.lab.dataset.Dataset;
import dev.kvasir.lab.dataset.Instructions;
import dev.kvasir.lab.dataset.Programs;
import dev.kvasir.lab.dataset.Reasoning;
import dev.kvasir.lab.reproduce.BatchTable.Quantity;
import java.util.List;
import java.util.stream.Stream;

/** Tables and figures of "PM-KVQ: Progressive Mixed-precision KV Cache Quantization". */
final class PmkvqTables {
  /** Tokens of the longest answer, which budgets are for. */
  private static final int LONGEST = 32_768;

  private static final int SAMPLES = 16;

  private static final List<TableRow> TWO_BITS =
      List.of(
          new TableRow("16-16", PaperCaches.FULL),
          new TableRow("RotateKV", "rotatekv:2"),
          new TableRow("MiKV mixed", "mikv:2"),
          new TableRow("MiKV", ""),
          new TableRow("KIVI", PaperCaches.KIVI_2),
          new TableRow("PM-KVQ mixed", PaperCaches.PMKVQ_2_MIXED),
          new TableRow("PM-KVQ", PaperCaches.PMKVQ_2));

  private static final List<TableRow> FOUR_BITS =
      List.of(
          new TableRow("16-16", PaperCaches.FULL),
          new TableRow("RotateKV", "rotatekv:4"),
          new TableRow("MiKV mixed", "mikv:4"),
          new TableRow("MiKV", ""),
          new TableRow("KIVI", PaperCaches.KIVI_4),
          new TableRow("PM-KVQ mixed", PaperCaches.PMKVQ_4_MIXED),
          new TableRow("PM-KVQ", PaperCaches.PMKVQ_4));

  private static final List<TableRow> SHIFTS =
      List.of(
          new TableRow("16-16", PaperCaches.FULL),
          new TableRow("Direct Right Shift", PaperCaches.pmkvqShift("direct")),
          new TableRow("Modified Right Shift", PaperCaches.pmkvqShift("modified")),
          new TableRow("Equivalent Right Shift", PaperCaches.pmkvqShift("equivalent")));

  private static final List<AnswerColumn> AIME_24 = column("AIME-2024", Reasoning.AIME_24);

  private static final List<AnswerColumn> REASONING =
      Stream.of(
              AIME_24,
              column("AIME-2025", Reasoning.AIME_25),
              column("CMIMC-2024", Reasoning.CMIMC_24),
              List.of(AnswerColumn.of("LiveCode pass@1", PASS, Programs.LIVE_CODE)))
          .flatMap(List::stream)
          .toList();

  private PmkvqTables() {}

  private static List<AnswerColumn> column(String label, Dataset dataset) {
    return List.of(
        AnswerColumn.of(label + " pass@1", PASS, dataset),
        AnswerColumn.of(label + " Voting", MAJORITY, dataset));
  }

  private static AnswerTable reasoning(List<TableRow> rows, List<AnswerColumn> columns) {
    return new AnswerTable(rows, columns, Answering.sampled(SAMPLES).withBudget(LONGEST));
  }

  private static AnswerTable instructions(List<TableRow> rows) {
    return new AnswerTable(
        rows,
        AnswerColumn.metrics(Instructions.IFEVAL),
        Answering.sampled(1).withBudget(LONGEST));
  }

  static final List<PaperTable> ALL =
      List.of(
          table("figure1", "The method", 0)
              .drawing("it draws the method; 'kvasir inspect --plot' draws its panel (a)"),
          table("table1", "Reasoning at 2 bits", 2).by(reasoning(TWO_BITS, REASONING)),
          table("table1-4bit", "Reasoning at 4 bits", 2).by(reasoning(FOUR_BITS, REASONING)),
          table("table2", "Throughput", 1)
              .by(
                  new BatchTable(
                      List.of(TWO_BITS.getFirst(), TWO_BITS.get(4), TWO_BITS.getLast()),
                      List.of(1, 4, 18, 110),
                      128,
                      1024,
                      Quantity.TOKENS_PER_SECOND)),
          table("figure2", "Ways to shift codes", 0).drawing("it draws codes; table3 measures them"),
          table("table3", "Ways to shift codes", 2).by(reasoning(SHIFTS, AIME_24)),
          table("table4", "Length and position scale of the calibration", 4)
              .by(PmkvqAnalyses::reach),
          table("table5", "Instructions at 2 bits", 2).by(instructions(TWO_BITS)),
          table("table5-4bit", "Instructions at 4 bits", 2).by(instructions(FOUR_BITS)),
          table("figure3", "Sensitivity of layers", 4).by(PmkvqAnalyses::sensitivities),
          table("figure4", "Sensitivity of layers, larger models", 4)
              .by(PmkvqAnalyses::sensitivities),
          table("table6", "Time of the calibration", 2).by(PmkvqAnalyses::times));

  private static TableDraft table(String id, String title, int decimals) {
    return new TableDraft(PMKVQ, id, title, decimals);
  }
}
