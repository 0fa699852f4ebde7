package dev.kvasir.bench;

/** An engine in a race: the same model, the same prompt, the same number of tokens. */
interface BenchEngine extends AutoCloseable {
  String name();

  /** Reads the prompt from nothing; answers the nanoseconds. */
  long prefill();

  /** Generates {@code tokens} after the prompt, always the likeliest; answers the nanoseconds. */
  long generate(int tokens);

  @Override
  void close();
}
