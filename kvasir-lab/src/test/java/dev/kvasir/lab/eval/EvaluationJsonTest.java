package dev.kvasir.lab.eval;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import dev.kvasir.cache.CacheBytes;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.lab.eval.Difference.Verdict;
import dev.kvasir.lab.eval.Score.GridCell;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class EvaluationJsonTest {
  @Test
  void keysAreComponentNamesAndLabels() {
    JsonObject json = JsonParser.parseString(EvaluationJson.of(example())).getAsJsonObject();
    assertThat(json.get("model").getAsString()).isEqualTo("small");
    assertThat(json.getAsJsonObject("settings").getAsJsonArray("specs").toString())
        .isEqualTo("[\"fp16\",\"kivi:2\"]");
    JsonObject row = json.getAsJsonArray("rows").get(0).getAsJsonObject();
    JsonObject needle = row.getAsJsonObject("scores").getAsJsonObject("needle");
    assertThat(needle.getAsJsonArray("samples").size()).isEqualTo(2);
    assertThat(needle.getAsJsonArray("grid").get(0).toString())
        .isEqualTo("{\"context\":1000,\"depth\":2,\"share\":{\"right\":1,\"tries\":2}}");
    JsonObject comparison = row.getAsJsonObject("comparisons").getAsJsonObject("needle");
    assertThat(comparison.getAsJsonObject("fromReference").get("verdict").getAsString())
        .isEqualTo("WITHIN_ERROR");
    assertThat(comparison.get("fromBest").isJsonNull()).isTrue();
  }

  @Test
  void nonFiniteNumbersBecomeNull() {
    assertThat(EvaluationJson.of(example())).contains("\"tokensPerSecond\": null");
  }

  @Test
  void fileIsReplacedAtomically(@TempDir Path folder) throws IOException {
    Path file = folder.resolve("result.json");
    Files.writeString(file, "old");
    EvaluationJson.write(example(), file);
    assertThat(file).content().startsWith("{").endsWith("}\n");
    assertThat(folder).isDirectoryContaining(path -> path.equals(file));
    try (var files = Files.list(folder)) {
      assertThat(files).hasSize(1);
    }
  }

  private static Evaluation example() {
    Proportion share = new Proportion(1, 2);
    Score needle =
        new Score.Retrieval(
            share.estimate(), List.of(1.0, 0.0), List.of(new GridCell(1000, 2, share)));
    Row row =
        new Row(
            "fp16",
            new Footprint(1000, 0, 4096, 16, Double.NaN, new CacheBytes(0, 0, 4096, 0, 0)),
            Map.of(Task.NEEDLE, needle),
            Map.of(
                Task.NEEDLE,
                new ScoreComparison(
                    new Difference(0, Verdict.WITHIN_ERROR), false, Optional.empty())));
    EvaluationSettings settings =
        new EvaluationSettings(
            List.of(CacheSpec.parse("kivi:2")), EnumSet.of(Task.NEEDLE), List.of(1000), 2, 40, 1);
    return new Evaluation("small", settings, "a text", "2 processors", true, List.of(row));
  }
}
