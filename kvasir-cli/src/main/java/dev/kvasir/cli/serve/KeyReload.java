package dev.kvasir.cli.serve;

import dev.kvasir.cli.terminal.Hangup;
import dev.kvasir.cli.terminal.Streams;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.server.api.AccessRules;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * Reads the API keys of a server again at each SIGHUP. A signal that arrives while the model is
 * being loaded takes effect when the server starts.
 */
final class KeyReload implements AutoCloseable {
  private final Supplier<AccessRules> reader;
  private final Streams streams;
  private final Hangup hangup;
  private Consumer<AccessRules> server; // null until it has started
  private boolean isDue; // since a signal came before the server

  private KeyReload(Supplier<AccessRules> reader, Streams streams) {
    this.reader = reader;
    this.streams = streams;
    this.hangup = reader == null ? Hangup.none() : Hangup.install(this::signalled);
  }

  /**
   * @param reader reads the keys, and throws {@link InvalidInputException} if it cannot
   */
  static KeyReload install(Supplier<AccessRules> reader, Streams streams) {
    return new KeyReload(reader, streams);
  }

  /** Returns what leaves the signal its usual effect. */
  static KeyReload none() {
    return new KeyReload(null, null);
  }

  /** Sets the server that takes the keys. */
  synchronized void startFor(Consumer<AccessRules> started) {
    server = started;
    if (isDue) {
      reload();
    }
  }

  synchronized void signalled() {
    if (server == null) {
      isDue = true;
    } else {
      reload();
    }
  }

  private void reload() {
    try {
      AccessRules rules = reader.get();
      server.accept(rules);
      streams.note("read %d API keys again".formatted(rules.keyDigests().size()));
    } catch (InvalidInputException e) {
      streams.note("the API keys stay as they were: " + e.getMessage());
    }
  }

  @Override
  public void close() {
    hangup.close();
  }
}
