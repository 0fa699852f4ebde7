package dev.kvasir.bench;

import dev.kvasir.SessionOptions;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.runtime.GenerationSettings;
import dev.kvasir.runtime.LoadedModel;
import dev.kvasir.runtime.ModelSession;
import java.nio.file.Path;

/**
 * A fresh process that loads a model, prefills a prompt and generates. It prints a word at each
 * milestone, and {@link StartBench} takes the time.
 */
public final class StartProbe {
  /** Tokens that count as the start of an answer. */
  static final int FIRST = 16;

  /** Tokens before the speed is steady, and tokens over which it is then measured. */
  static final int WARM_UP_TOKENS = 240;

  static final int STEADY = 64;

  private StartProbe() {}

  /**
   * @param arguments prompt length in tokens, cache spec, and a model file unless bundled
   */
  public static void main(String[] arguments) {
    int promptTokens = Integer.parseInt(arguments[0]);
    CacheSpec spec = CacheSpec.parse(arguments[1]);
    try (LoadedModel model =
            arguments.length > 2 ? LoadedModel.load(Path.of(arguments[2])) : LoadedModel.bundled();
        ModelSession session = model.newSession(SessionOptions.builder().cache(spec).build())) {
      print("loaded");
      int[] prompt = BenchPrompt.of(model.tokenizer(), promptTokens).ids();
      print("prompted");
      long[] times = new long[1 + WARM_UP_TOKENS + STEADY];
      int[] count = {0};
      // Records never end, so a greedy continuation does not end early either.
      session.generate(
          prompt,
          GenerationSettings.greedy().withMaxTokens(times.length),
          piece -> {
            if (count[0] == 0) {
              print("answered");
            }
            times[Math.min(count[0]++, times.length - 1)] = System.nanoTime();
          });
      int last = Math.min(count[0], times.length) - 1;
      print("first " + speed(times, 0, Math.min(FIRST, last)));
      print("steady " + speed(times, Math.max(0, last - STEADY), last));
    }
  }

  private static double speed(long[] times, int from, int to) {
    return (to - from) * 1e9 / Math.max(1, times[to] - times[from]);
  }

  private static void print(String line) {
    System.out.println(line);
    System.out.flush();
  }
}
