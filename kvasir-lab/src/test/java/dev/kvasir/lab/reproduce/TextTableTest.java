package dev.kvasir.lab.reproduce;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import dev.kvasir.lab.claim.Paper;
import dev.kvasir.lab.report.Provenance;
import dev.kvasir.lab.reproduce.Figures.Cell;
import dev.kvasir.lab.reproduce.Figures.Line;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class TextTableTest {
  private static final PaperTable TABLE = PaperTables.named(Paper.PMKVQ, "table1");
  private static final Figures FIGURES =
      new Figures(
          List.of("AIME-2024 pass@1", "AIME-2024 Voting"),
          List.of(
              new Line("16-16", "fp16", List.of(new Cell(50, 2.5), Cell.of(60))),
              new Line("KIVI", "kivi:2", List.of(Cell.NONE, Cell.NONE))),
          List.of("a note"));

  @Test
  void publishedFiguresStandInParentheses() {
    assertThat(new TextTable(TABLE, FIGURES, "14B").lines())
        .containsExactly(
            "PM-KVQ, Table 1: Reasoning at 2 bits",
            "              AIME-2024 pass@1  AIME-2024 Voting",
            "16-16  50.00±2.50 (68.13±7.26)     60.00 (80.00)",
            "KIVI            - (48.13±8.85)         - (70.00)",
            "In parentheses: the paper's figures of DeepSeek-Qwen-14B",
            "Note: a note");
  }

  @Test
  void theFileHasAllModels() {
    Provenance provenance =
        new Provenance("kvasir reproduce", "1", Optional.empty(), Instant.EPOCH);
    JsonObject all =
        JsonParser.parseString(FiguresJson.of(TABLE, FIGURES, "mini", provenance))
            .getAsJsonObject();
    assertThat(all.get("model").getAsString()).isEqualTo("mini");
    assertThat(all.getAsJsonArray("rows").get(1).toString()).contains("[null,null]", "kivi:2");
    assertThat(all.getAsJsonObject("published").getAsJsonObject("models").keySet())
        .containsExactly("DeepSeek-Qwen-7B", "DeepSeek-Qwen-14B", "DeepSeek-Qwen-32B", "QwQ-32B");
  }

  @Test
  void longPromptsLoseTheirMiddle() {
    assertThat(PromptTokens.withoutMiddle(new int[] {1, 2, 3, 4, 5, 6}, 3))
        .containsExactly(1, 5, 6);
  }
}
