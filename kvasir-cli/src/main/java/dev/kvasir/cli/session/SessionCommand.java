package dev.kvasir.cli.session;

import dev.kvasir.cli.terminal.Streams;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** The group of session commands. */
@Command(
    name = "session",
    description = "List, show, check, convert and delete saved sessions.",
    synopsisSubcommandLabel = "COMMAND",
    footer = {
      "  kvasir session list",
      "  kvasir session show tale.session",
      "  kvasir session prune --keep 10 --dry-run"
    })
public final class SessionCommand implements Runnable {
  @Spec private CommandSpec spec;

  private SessionCommand() {}

  public static CommandLine of(Streams streams) {
    return new CommandLine(new SessionCommand())
        .addSubcommand(new ListSessions(streams))
        .addSubcommand(new ShowSession(streams))
        .addSubcommand(new VerifySessions(streams))
        .addSubcommand(new PruneSessions(streams))
        .addSubcommand(new RepackSession(streams));
  }

  @Override
  public void run() {
    spec.commandLine().usage(spec.commandLine().getOut());
  }
}
