package dev.kvasir.bench;

import dev.kvasir.GenerateOptions;
import dev.kvasir.Model;
import dev.kvasir.Session;
import dev.kvasir.SessionOptions;
import dev.kvasir.cache.CacheSpec;
import java.nio.file.Path;

/**
 * A fresh process that loads a model, reads a prompt and generates. It says when it has come how
 * far, a word a line; {@link StartBench} reads the clock.
 */
public final class StartProbe {
  /** Tokens that are the beginning of an answer. */
  static final int FIRST = 16;

  /** Tokens after which speed is taken for steady, and those that it is measured over. */
  static final int WARM_UP_TOKENS = 240;

  static final int STEADY = 64;

  private StartProbe() {}

  /**
   * @param arguments tokens of the prompt, kind of cache, and a model's file unless it is the
   *     bundled one
   */
  public static void main(String[] arguments) {
    int promptTokens = Integer.parseInt(arguments[0]);
    CacheSpec spec = CacheSpec.parse(arguments[1]);
    try (Model model = arguments.length > 2 ? Model.load(Path.of(arguments[2])) : Model.bundled();
        Session session = model.newSession(SessionOptions.defaults().withCache(spec))) {
      print("loaded");
      int[] prompt = BenchPrompt.of(model.tokenizer(), promptTokens).ids();
      print("prompted");
      long[] times = new long[1 + WARM_UP_TOKENS + STEADY];
      int[] count = {0};
      // Records never end, so a greedy answer to them does not end early either.
      session.generate(
          prompt,
          GenerateOptions.greedy().withMaxTokens(times.length),
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
