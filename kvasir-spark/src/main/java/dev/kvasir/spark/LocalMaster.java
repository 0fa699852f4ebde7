package dev.kvasir.spark;

import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Interprets local master URLs without starting Spark. */
final class LocalMaster {
  /**
   * Matches {@code local}, {@code local[4]}, {@code local[*]}, and with failures {@code local[4,
   * 2]}.
   */
  private static final Pattern NAME =
      Pattern.compile("local(\\[(?<threads>[1-9][0-9]{0,4}|\\*)(, *[0-9]+)?])?");

  private static final Pattern NUMBER = Pattern.compile("[1-9][0-9]{0,4}");

  private LocalMaster() {}

  /** Returns whether tasks run in this process. */
  static boolean is(String master) {
    return master.equals("local") || master.startsWith("local[");
  }

  /** Returns how many tasks run in parallel in this process; 1 for URLs that Spark will reject. */
  static int parallelism(String master, Map<String, String> settings) {
    Matcher name = NAME.matcher(master);
    if (!name.matches()) {
      return 1;
    }
    String coresPerTask = settings.getOrDefault("spark.task.cpus", "1");
    int threads = threads(name.group("threads"));
    return NUMBER.matcher(coresPerTask).matches()
        ? Math.max(1, threads / Integer.parseInt(coresPerTask))
        : threads;
  }

  /**
   * @param typed null for one thread
   */
  private static int threads(String typed) {
    if (typed == null) {
      return 1;
    }
    return typed.equals("*") ? Runtime.getRuntime().availableProcessors() : Integer.parseInt(typed);
  }
}
