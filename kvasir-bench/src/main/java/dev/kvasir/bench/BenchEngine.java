package dev.kvasir.bench;

/** An engine under comparison; all run the same model, prompt and number of tokens. */
interface BenchEngine extends AutoCloseable {
  String name();

  /** Prefills the prompt from an empty cache; returns nanoseconds. */
  long prefill();

  /** Generates {@code tokens} greedily after the prompt; returns nanoseconds. */
  long generate(int tokens);

  @Override
  void close();
}
