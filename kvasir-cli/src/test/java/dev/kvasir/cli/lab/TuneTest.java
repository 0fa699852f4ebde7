package dev.kvasir.cli.lab;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.cli.CommandRun;
import dev.kvasir.codec.mixkvq.MixkvqProfile;
import dev.kvasir.profile.Profile;
import java.nio.file.Files;
import java.nio.file.Path;
import kvasir.tools.ShallowModel;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TuneTest {
  @TempDir private static Path models;
  private static String shallow;

  @TempDir private Path folder;

  @BeforeAll
  static void write() {
    shallow = ShallowModel.write(models.resolve("shallow.gguf")).toString();
  }

  @Test
  void aPickIsAddedToTheProfile() {
    Path file = folder.resolve("a.profile");
    CommandRun first = tune(file, "1");
    assertThat(first.exitCode()).as(first.err()).isZero();
    assertThat(first.out()).contains("<- kept", "salience of channels");
    Profile made = Profile.open(file);
    made.with("other/numbers", new float[] {1, 2}, 2).write(file);
    assertThat(tune(file, "1").exitCode()).isZero();
    Profile again = Profile.open(file);
    assertThat(again.parts()).containsExactly("mixkvq", "other");
    assertThat(MixkvqProfile.of(again).tuned()).isEqualTo(MixkvqProfile.of(made).tuned());
    assertThat(folder.resolve("a.profile.svg")).exists();
    assertThat(folder.resolve("a.profile.trials.json")).exists();

    CommandRun inspected =
        CommandRun.of(
            "inspect", "--model", shallow, "--kv", "mixkvq", "--profile", file.toString());
    assertThat(inspected.out())
        .contains("mixkvq,high=" + MixkvqProfile.of(made).tuned().high())
        .contains("about ");
  }

  @Test
  void channelsAreDrawnWithoutATrial() throws Exception {
    Path file = folder.resolve("channels.svg");
    Path figures = folder.resolve("channels.json");
    CommandRun.of(
            "tune",
            "--model",
            shallow,
            "--trials",
            "0",
            "--context",
            "520",
            "--scatter",
            file.toString(),
            "--json",
            figures.toString())
        .succeeds();
    assertThat(Files.readString(file)).contains("<svg", "layer 1");
    assertThat(Files.readString(figures)).contains("\"layer 0\":", "\"layer 1\":");
  }

  @Test
  void whatCannotBeSearchedIsRefusedBeforeTheModelLoads() {
    assertRefused("--out is missing", "tune");
    assertRefused("--scatter FILE or --json FILE", "tune", "--trials", "0");
    assertRefused("at least 512", "tune", "--context", "100", "--out", "x");
    assertRefused("mixkvq only", "tune", "--kv", "kivi:2", "--out", "x");
    assertRefused("ppl, kld, needle", "tune", "--objective", "ppl,kld", "--out", "x");
    assertRefused("questions with --jsonl FILE", "tune", "--objective", "gsm8k", "--out", "x");
    assertRefused("expected --objective jsonl", "tune", "--jsonl", "q.jsonl", "--out", "x");
  }

  /** The objective of the paper: right answers, and the fewest bits of equally many. */
  @Test
  void rightAnswersMayDecide() throws Exception {
    Path questions = folder.resolve("questions.jsonl");
    Files.writeString(
        questions, "{\"question\": \"How many are two and three?\", \"answer\": \"5\"}\n");
    Path file = folder.resolve("answers.profile");
    CommandRun run =
        CommandRun.of(
            "tune",
            "--model",
            shallow,
            "--objective",
            "gsm8k",
            "--jsonl",
            questions.toString(),
            "--samples",
            "1",
            "--trials",
            "1",
            "--context",
            "520",
            "--max-bits",
            "5",
            "--out",
            file.toString());
    assertThat(run.exitCode()).as(run.err()).isZero();
    assertThat(run.out()).contains("gsm8k", "<- kept");
    assertThat(Profile.open(file).parts()).containsExactly("mixkvq");
  }

  private static void assertRefused(String why, String... arguments) {
    CommandRun run = CommandRun.of(arguments);
    assertThat(run.exitCode()).isEqualTo(2);
    assertThat(run.err()).contains(why);
  }

  private static CommandRun tune(Path file, String trials) {
    return CommandRun.of(
        "tune",
        "--model",
        shallow,
        "--trials",
        trials,
        "--context",
        "520",
        "--max-bits",
        "5",
        "--out",
        file.toString());
  }
}
