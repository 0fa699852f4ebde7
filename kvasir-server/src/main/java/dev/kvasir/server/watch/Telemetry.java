package dev.kvasir.server.watch;

import dev.kvasir.chat.CompletionRequest;
import dev.kvasir.chat.RequestObserver;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.function.UnaryOperator;

/** Exports traces and metrics of completions to another process. */
public interface Telemetry extends AutoCloseable {
  /** Exports nothing. */
  Telemetry NONE =
      new Telemetry() {
        @Override
        public Scope continueTrace(UnaryOperator<String> headers) {
          return () -> {};
        }

        @Override
        public RequestObserver arrived(String model, CompletionRequest request) {
          return RequestObserver.NONE;
        }

        @Override
        public void close() {}
      };

  /** A module that exports telemetry, found through {@link ServiceLoader}. */
  interface Provider {
    /** Starts to export; empty unless it is configured to. */
    Optional<Telemetry> open();
  }

  /** What a thread does until it is closed belongs to a trace. */
  interface Scope extends AutoCloseable {
    @Override
    void close();
  }

  /** Returns the telemetry of the first provider that is configured to export. */
  static Telemetry open() {
    return ServiceLoader.load(Provider.class).stream()
        .map(ServiceLoader.Provider::get)
        .flatMap(provider -> provider.open().stream())
        .findFirst()
        .orElse(NONE);
  }

  /**
   * Continues the trace of a client on this thread.
   *
   * @param headers returns a header of the request by its name; null if it has none
   */
  Scope continueTrace(UnaryOperator<String> headers);

  /**
   * Returns what follows a request that has just arrived on this thread.
   *
   * @param model the name that clients know
   */
  RequestObserver arrived(String model, CompletionRequest request);

  /** Exports what is left. */
  @Override
  void close();
}
