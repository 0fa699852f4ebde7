package dev.kvasir.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.profile.Profile;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CalibrateTest {
  @TempDir private Path folder;

  @Test
  void widthsAndFactorsGoIntoTheProfileAndCachesUseThem() {
    Path file = folder.resolve("a.profile");
    Run run = calibrate(file, "3");
    assertThat(run.exitCode()).as(run.err()).isZero();
    assertThat(run.out()).contains("layer    2 bits    4 bits    8 bits  width", "3.00 bits");
    Profile made = Profile.open(file);
    assertThat(made.parts()).containsExactly("pmkvq");
    assertThat(made.floats("pmkvq/widths", 8)).containsOnly(2, 4);

    // The same samples are not followed back again for another budget.
    assertThat(calibrate(file, "4").out()).contains("4.00 bits in the mean");
    assertThat(Profile.open(file).floats("pmkvq/sensitivities", 2, 8, 3))
        .containsExactly(made.floats("pmkvq/sensitivities", 2, 8, 3));

    Run generated =
        Run.of(
            "generate",
            "--kv",
            "pmkvq:2,budget=8MiB",
            "--context",
            "512",
            "--profile",
            file.toString(),
            "--max-tokens",
            "2",
            "Once upon a time");
    assertThat(generated.exitCode()).as(generated.err()).isZero();
  }

  @Test
  void whatCannotBeDoneIsRefusedBeforeTheModelLoads() {
    String file = folder.resolve("b.profile").toString();
    Run.of("calibrate").isRefusedWith("--out");
    Run.of("calibrate", "--out", file, "--bits", "1").isRefusedWith("--bits is 1.0", "2 to 8");
    Run.of("calibrate", "--out", file, "--length", "100").isRefusedWith("--length is 100", "130");
    Run.of("calibrate", "--out", file, "--position-scale", "0")
        .isRefusedWith("--position-scale is 0.0");
  }

  private static Run calibrate(Path file, String bits) {
    return Run.of(
        "calibrate", "--out", file.toString(), "--samples", "1", "--length", "160", "--bits", bits);
  }
}
