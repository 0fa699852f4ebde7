package dev.kvasir.cli.setup;

import dev.kvasir.cli.terminal.Streams;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;

/** Checks whether this machine can run models well. */
@Command(
    name = "doctor",
    description = {
      "Check this machine: Java, kernels, GPU, memory, disk and folders.",
      "Each line begins with 'ok' or 'warn'. A warning says what to do about it. The exit code is 0"
          + " in both cases."
    },
    footer = "  kvasir doctor")
public final class Doctor implements Callable<Integer> {
  private static final int SUBJECT_WIDTH = 12;

  private final Streams streams;

  public Doctor(Streams streams) {
    this.streams = streams;
  }

  @Override
  public Integer call() {
    List<Check> checks = MachineChecks.all();
    checks.forEach(this::print);
    long warnings = checks.stream().filter(check -> !check.isOk()).count();
    streams.out().println(summary(warnings));
    streams.out().flush();
    return 0;
  }

  private void print(Check check) {
    String subject = ("%-" + SUBJECT_WIDTH + "s").formatted(check.subject());
    streams.out().println("%s  %s%s".formatted(mark(check), subject, check.finding()));
    check
        .advice()
        .ifPresent(advice -> streams.out().println(" ".repeat(SUBJECT_WIDTH + 6) + advice));
  }

  private String mark(Check check) {
    String word = check.isOk() ? "ok  " : "warn";
    if (!streams.outHasColours()) {
      return word;
    }
    return (check.isOk() ? "\u001b[32m" : "\u001b[33m") + word + "\u001b[0m";
  }

  private static String summary(long warnings) {
    if (warnings == 0) {
      return "All is well.";
    }
    return warnings == 1 ? "1 warning." : "%d warnings.".formatted(warnings);
  }
}
