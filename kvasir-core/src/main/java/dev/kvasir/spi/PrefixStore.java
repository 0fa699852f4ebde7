package dev.kvasir.spi;

/** An open store of cached prefixes, which outlives the process. */
public interface PrefixStore extends AutoCloseable {
  /** Finishes pending writes; called after all completions have ended. */
  @Override
  void close();
}
