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

/** Lists what is kept. */
@Command(
    name = "list",
    description = {
      "List the sessions that are kept, the latest first.",
      "The model is named by its own name where a chat is kept with it, else by its fingerprint."
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
    List<KeptSession> kept = folder.all();
    if (kept.isEmpty()) {
      streams.note("no sessions are kept in %s".formatted(folder.path()));
      return 0;
    }
    streams.out().printf(COLUMNS, "name", "tokens", "kv", "bytes", "when", "model");
    kept.forEach(this::line);
    streams.out().flush();
    return 0;
  }

  private void line(KeptSession kept) {
    String when = TIME.format(kept.changedAt().atZone(ZoneId.systemDefault()));
    String bytes = Units.bytes(kept.bytes());
    String model = modelName(kept);
    if (!Files.exists(kept.file())) {
      streams.out().printf(COLUMNS, kept.name(), 0, "messages alone", bytes, when, model);
      return;
    }
    try (SessionFile file = SessionFile.open(kept.file())) {
      StoredSequence saved = file.sequence();
      String tokens = Units.count(saved.tokens().length);
      String named = model.isEmpty() ? Shown.shortly(saved.identity().model()) : model;
      streams.out().printf(COLUMNS, kept.name(), tokens, saved.typed(), bytes, when, named);
    } catch (InvalidInputException e) {
      streams.out().printf(COLUMNS, kept.name(), "?", "cannot be read", bytes, when, model);
    }
  }

  private static String modelName(KeptSession kept) {
    try {
      return Files.exists(kept.messages())
          ? Shown.printable(Transcript.read(kept.messages()).model())
          : "";
    } catch (InvalidInputException e) {
      return "";
    }
  }
}
