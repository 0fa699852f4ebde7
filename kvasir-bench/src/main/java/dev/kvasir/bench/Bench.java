package dev.kvasir.bench;

import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** The group of benchmark commands. */
@Command(
    name = "bench",
    description = "Measure speed: contenders take turns in one run, medians, ratios.",
    synopsisSubcommandLabel = "COMMAND",
    footer = {"  kvasir bench model", "  kvasir bench decode --context 8192 --kv fp16,kivi:2"})
final class Bench implements Runnable {
  @Spec private CommandSpec spec;

  @Override
  public void run() {
    spec.commandLine().usage(spec.commandLine().getOut());
  }
}
