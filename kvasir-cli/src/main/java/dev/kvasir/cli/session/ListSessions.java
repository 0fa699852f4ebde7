package dev.kvasir.cli.session;

import dev.kvasir.cli.terminal.Streams;
import dev.kvasir.cli.terminal.Units;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.stored.SessionFile;
import dev.kvasir.stored.StoredSequence;
import java.nio.file.Files;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** Lists the saved sessions. */
@Command(
    name = "list",
    description = {
      "List saved sessions, latest first.",
      "The model is shown by its name for chats, and by its fingerprint otherwise."
    },
    footer = {"  kvasir session list", "  kvasir session list --dir /srv/sessions"})
final class ListSessions implements Callable<Integer> {
  private static final String COLUMNS = "%-24s %9s  %-20s %10s  %-16s  %s%n";
  private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm");

  private final Streams streams;

  @Mixin private FolderArguments arguments;

  ListSessions(Streams streams) {
    this.streams = streams;
  }

  @Override
  public Integer call() {
    SessionFolder folder = arguments.folder();
    List<SessionEntry> sessions = folder.all();
    if (sessions.isEmpty()) {
      streams.note("no sessions are kept in %s".formatted(folder.path()));
      return 0;
    }
    streams.out().printf(COLUMNS, "name", "tokens", "kv", "bytes", "when", "model");
    sessions.forEach(this::line);
    streams.out().flush();
    return 0;
  }

  private void line(SessionEntry entry) {
    String when = TIME.format(entry.changedAt().atZone(ZoneId.systemDefault()));
    String bytes = Units.bytes(entry.bytes());
    String model = modelName(entry);
    if (!Files.exists(entry.file())) {
      streams.out().printf(COLUMNS, entry.name(), 0, "messages alone", bytes, when, model);
      return;
    }
    try (SessionFile file = SessionFile.open(entry.file())) {
      StoredSequence saved = file.sequence();
      String tokens = Units.count(saved.tokens().length);
      String named = model.isEmpty() ? Printable.shortHash(saved.identity().model()) : model;
      streams.out().printf(COLUMNS, entry.name(), tokens, saved.cacheSpec(), bytes, when, named);
    } catch (InvalidInputException e) {
      streams.out().printf(COLUMNS, entry.name(), "?", "cannot be read", bytes, when, model);
    }
  }

  private static String modelName(SessionEntry entry) {
    try {
      return Files.exists(entry.messages())
          ? Printable.of(Transcript.read(entry.messages()).model())
          : "";
    } catch (InvalidInputException e) {
      return "";
    }
  }
}
