package dev.kvasir.cli.session;

import dev.kvasir.cli.terminal.ErrorReporter;
import dev.kvasir.cli.terminal.Streams;
import dev.kvasir.cli.terminal.Units;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.stored.SessionFile;
import java.nio.file.Files;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** Verifies the checksums of saved sessions. */
@Command(
    name = "verify",
    description = {
      "Check every byte of sessions, one line each.",
      "The exit code is 2 if one of them is damaged. No model is needed."
    },
    footer = {"  kvasir session verify", "  kvasir session verify letters tale.session"})
final class VerifySessions implements Callable<Integer> {
  private final Streams streams;

  @Parameters(
      arity = "0..*",
      paramLabel = "NAME|FILE",
      description = "Sessions to check. Default: all saved sessions.")
  private List<String> wanted = List.of();

  @Mixin private FolderArguments arguments;

  VerifySessions(Streams streams) {
    this.streams = streams;
  }

  @Override
  public Integer call() {
    SessionFolder folder = arguments.folder();
    List<SessionEntry> sessions =
        wanted.isEmpty() ? folder.all() : wanted.stream().map(folder::find).toList();
    int damaged = 0;
    for (SessionEntry session : sessions) {
      damaged += isSound(session) ? 0 : 1;
    }
    streams.note("%d of %d are sound".formatted(sessions.size() - damaged, sessions.size()));
    return damaged == 0 ? 0 : ErrorReporter.BAD_INPUT;
  }

  private boolean isSound(SessionEntry session) {
    try {
      line(session, "sound, " + checked(session));
      return true;
    } catch (InvalidInputException e) {
      line(session, "damaged: " + e.getMessage());
      return false;
    }
  }

  private void line(SessionEntry session, String words) {
    streams.out().println(Printable.of("%s: %s".formatted(session.name(), words)));
    streams.out().flush();
  }

  private static String checked(SessionEntry session) {
    String messages =
        Files.exists(session.messages())
            ? "%d messages, ".formatted(Transcript.read(session.messages()).messages().size())
            : "";
    if (!Files.exists(session.file())) {
      return messages + "nothing else";
    }
    try (SessionFile file = SessionFile.open(session.file())) {
      file.verify();
      return "%s%s in %d blocks and a rest, %s"
          .formatted(
              messages,
              Units.tokens(file.sequence().tokens().length),
              file.sequence().blocks().size(),
              Units.bytes(file.bytes()));
    }
  }
}
