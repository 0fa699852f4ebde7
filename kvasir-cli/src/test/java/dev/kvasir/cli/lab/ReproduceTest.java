package dev.kvasir.cli.lab;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.cli.CommandRun;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ReproduceTest {
  @TempDir Path folder;

  @Test
  void theListNamesEveryPaper() {
    String list = CommandRun.of("reproduce", "--list").succeeds().out();
    assertThat(list)
        .contains("PatternKV", "PM-KVQ", "MixKVQ", "CommVQ")
        .contains("kvasir reproduce patternkv table1 --model FILE --data FOLDER")
        .contains("not runnable: it draws the method");
    assertThat(CommandRun.of("reproduce", "pm-kvq", "--list").succeeds().out())
        .contains("PM-KVQ")
        .doesNotContain("CommVQ");
  }

  @Test
  void aTableIsPrintedAndWritten() throws Exception {
    Path json = folder.resolve("table8.json");
    CommandRun run =
        CommandRun.of("reproduce", "commvq", "table8", "--quick", "--json", json.toString());
    assertThat(run.succeeds().out())
        .startsWith("CommVQ, Table 8: Configuration of codebooks")
        .contains("In parentheses: the paper's figures of LLaMA-3.1-8B-Instruct")
        .contains("Quick run");
    assertThat(Files.readString(json)).contains("\"published\"", "\"table\": \"Table 8\"");
    assertThat(folder.resolve("table8.json.journal")).doesNotExist();
  }

  @Test
  void whatIsMissingIsNamed() {
    CommandRun.of("reproduce").isRefusedWith("no table is given");
    CommandRun.of("reproduce", "kivi", "table1").isRefusedWith("the paper 'kivi' is unknown");
    CommandRun.of("reproduce", "mixkvq", "table40").isRefusedWith("MixKVQ has no 'table40'");
    CommandRun.of("reproduce", "mixkvq", "table4")
        .isRefusedWith("Qasper does not come with Kvasir", "--data FOLDER");
    CommandRun.of("reproduce", "mixkvq", "table4", "--data", folder.resolve("no").toString())
        .isRefusedWith("is no folder");
    CommandRun.of("reproduce", "mixkvq", "figure4").isRefusedWith("it draws the method");
    CommandRun.of("reproduce", "mixkvq", "table5", "--paper-model", "bert")
        .isRefusedWith("--paper-model is 'bert'", "Qwen-2.5-14B");
    CommandRun.of("reproduce", "mixkvq", "table5", "--samples", "0").isRefusedWith("--samples");
  }
}
