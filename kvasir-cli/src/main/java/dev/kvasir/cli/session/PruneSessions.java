package dev.kvasir.cli.session;

import dev.kvasir.cli.terminal.Streams;
import dev.kvasir.cli.terminal.Units;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.error.OptionValue;
import dev.kvasir.format.AtomicFile;
import dev.kvasir.format.PartialFiles;
import dev.kvasir.memory.ByteCount;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Deletes old sessions, or those beyond a limit. */
@Command(
    name = "prune",
    description = {
      "Delete saved sessions, oldest first, and list them.",
      "At least one limit is required; several limits all apply. Files of interrupted"
          + " saves are always deleted."
    },
    footer = {
      "  kvasir session prune --keep 10 --dry-run",
      "  kvasir session prune --older-than 30d",
      "  kvasir session prune --bytes 1GiB"
    })
final class PruneSessions implements Callable<Integer> {
  private static final Pattern AGE = Pattern.compile("([0-9]{1,6})([dh])");

  private final Streams streams;

  @Option(names = "--keep", paramLabel = "N", description = "Keep the N latest sessions.")
  private Integer keep;

  @Option(
      names = "--older-than",
      paramLabel = "AGE",
      description = "Delete sessions older than this, as in 30d or 12h.")
  private String olderThan;

  @Option(
      names = "--bytes",
      paramLabel = "BYTES",
      description = "Keep the latest sessions up to this total size, as in 1GiB.")
  private String bytes;

  @Option(names = "--dry-run", description = "Only list what would be deleted.")
  private boolean dryRun;

  @Mixin private FolderArguments arguments;

  PruneSessions(Streams streams) {
    this.streams = streams;
  }

  @Override
  public Integer call() {
    Instant now = Instant.now();
    List<SessionEntry> all = arguments.folder().all();
    List<SessionEntry> toRemove = sessionsToRemove(all, now);
    for (SessionEntry session : toRemove) {
      streams
          .out()
          .println(
              "%s %s, %s, %s old"
                  .formatted(
                      dryRun ? "would remove" : "removed",
                      session.name(),
                      Units.bytes(session.bytes()),
                      age(Duration.between(session.changedAt(), now))));
      if (!dryRun) {
        session.delete();
      }
    }
    removeParts();
    streams.out().flush();
    streams.note(
        "%d of %d %s".formatted(toRemove.size(), all.size(), dryRun ? "would go" : "are removed"));
    return 0;
  }

  private void removeParts() {
    for (Path part : PartialFiles.abandoned(arguments.folder().path())) {
      streams
          .out()
          .println(
              "%s %s, which was not written to its end"
                  .formatted(dryRun ? "would remove" : "removed", part.getFileName()));
      if (!dryRun) {
        AtomicFile.delete(part);
      }
    }
  }

  /**
   * Returns the sessions from the first one that violates a limit.
   *
   * @param all latest first
   */
  private List<SessionEntry> sessionsToRemove(List<SessionEntry> all, Instant now) {
    if (keep == null && olderThan == null && bytes == null) {
      throw new InvalidInputException(
          "no bound was given; expected --keep N, --older-than AGE or --bytes BYTES");
    }
    int maxCount = keep == null ? Integer.MAX_VALUE : OptionValue.atLeast("--keep", keep, 0);
    long maxBytes = bytes == null ? Long.MAX_VALUE : ByteCount.parse("--bytes", bytes);
    Instant oldest = olderThan == null ? Instant.MIN : now.minus(duration());
    long held = 0;
    for (int i = 0; i < all.size(); i++) {
      held += all.get(i).bytes();
      if (i >= maxCount || held > maxBytes || all.get(i).changedAt().isBefore(oldest)) {
        return all.subList(i, all.size());
      }
    }
    return List.of();
  }

  private Duration duration() {
    Matcher typed = AGE.matcher(olderThan);
    if (!typed.matches()) {
      throw new InvalidInputException(
          "--older-than is '%s'; expected days or hours, as in 30d or 12h".formatted(olderThan));
    }
    long count = Long.parseLong(typed.group(1));
    return typed.group(2).equals("d") ? Duration.ofDays(count) : Duration.ofHours(count);
  }

  private static String age(Duration age) {
    return age.toDays() > 0 ? age.toDays() + " days" : Math.max(0, age.toHours()) + " hours";
  }
}
