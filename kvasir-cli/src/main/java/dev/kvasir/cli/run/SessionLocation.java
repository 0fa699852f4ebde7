package dev.kvasir.cli.run;

import dev.kvasir.SessionOptions;
import dev.kvasir.cli.terminal.Streams;
import dev.kvasir.cli.terminal.Units;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.format.AtomicFile;
import dev.kvasir.runtime.LoadedModel;
import dev.kvasir.runtime.ModelSession;
import dev.kvasir.stored.SessionFile;
import dev.kvasir.stored.StoredSequence;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Where a session is restored from and saved to. Messages go to standard error. */
final class SessionLocation {
  private final Path file; // null if the session is not saved
  private final boolean hasSession;
  private final SessionOptions options;
  private final String savedSpec;

  private SessionLocation(Path file, boolean hasSession, SessionOptions options, String savedSpec) {
    this.file = file;
    this.hasSession = hasSession;
    this.options = options;
    this.savedSpec = savedSpec;
  }

  private static SessionLocation empty(Path file, RunArguments run) {
    SessionOptions options = run.sessionOptions();
    return new SessionLocation(file, false, options, options.cache().text());
  }

  /** Returns the location of a session that is not saved. */
  static SessionLocation none(RunArguments run) {
    return empty(null, run);
  }

  /** Returns a file's location. An existing file determines the session options. */
  static SessionLocation at(Path file, RunArguments run) {
    AtomicFile.checkWritable(file);
    if (!Files.exists(file)) {
      return empty(file, run);
    }
    try (SessionFile saved = SessionFile.open(file)) {
      StoredSequence sequence = saved.sequence();
      return new SessionLocation(
          file, true, run.sessionOptions(file, sequence), sequence.cacheSpec());
    }
  }

  /** Returns whether there is a session to continue. */
  boolean hasSession() {
    return hasSession;
  }

  /** Returns the options that the session will have. */
  SessionOptions options() {
    return options;
  }

  /** Restores the session or creates a new one. */
  ModelSession open(LoadedModel model, Streams streams) {
    if (!hasSession) {
      return model.newSession(options);
    }
    long begin = System.nanoTime();
    ModelSession session = model.restore(file, options.cache());
    String kind = options.cache().text();
    String way = kind.equals(savedSpec) ? kind : "%s requantized as %s".formatted(savedSpec, kind);
    streams.note(describe("restored", session, way, "from", begin));
    return session;
  }

  /** Saves the session if it has a file. */
  void save(ModelSession session, Streams streams) {
    if (file != null) {
      long begin = System.nanoTime();
      session.save(file);
      streams.note(describe("saved", session, options.cache().text(), "to", begin));
    }
  }

  private String describe(
      String verb, ModelSession session, String kind, String preposition, long begin) {
    String time = Units.wholeMilliseconds(System.nanoTime() - begin);
    return "%s %s (%s) %s %s, %s in %s"
        .formatted(
            verb,
            Units.tokens(session.length()),
            kind,
            preposition,
            file,
            Units.bytes(size(file)),
            time);
  }

  private static long size(Path file) {
    try {
      return Files.size(file);
    } catch (IOException e) {
      throw new InvalidInputException("%s: cannot be read".formatted(file), e);
    }
  }
}
