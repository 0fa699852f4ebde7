package dev.kvasir.server.watch;

import java.util.Locale;
import java.util.concurrent.atomic.DoubleAdder;
import java.util.concurrent.atomic.LongAdder;

/** A histogram of seconds in the Prometheus text format. */
final class PrometheusHistogram {
  private final String name;
  private final String help;
  private final double[] bounds;
  private final LongAdder[] counts; // the last bucket exceeds all bounds
  private final DoubleAdder sum = new DoubleAdder();

  PrometheusHistogram(String name, String help, double... bounds) {
    this.name = name;
    this.help = help;
    this.bounds = bounds;
    this.counts = new LongAdder[bounds.length + 1];
    for (int i = 0; i < counts.length; i++) {
      counts[i] = new LongAdder();
    }
  }

  void add(double seconds) {
    int bucket = 0;
    while (bucket < bounds.length && seconds > bounds[bucket]) {
      bucket++;
    }
    counts[bucket].increment();
    sum.add(seconds);
  }

  void write(StringBuilder out) {
    write(out, name, help, "");
  }

  /** Writes it under a name that dashboards of earlier versions use. */
  void writeAs(StringBuilder out, String oldName) {
    write(out, oldName, "Deprecated name of " + name + ".", "");
  }

  /**
   * Writes it under the name of another server.
   *
   * @param labels the text between the braces
   */
  void writeAs(StringBuilder out, String otherName, String labels) {
    write(out, otherName, help, labels);
  }

  private void write(StringBuilder out, String name, String help, String labels) {
    String first = labels.isEmpty() ? "" : labels + ",";
    String all = labels.isEmpty() ? "" : "{" + labels + "}";
    out.append("# HELP %s %s\n# TYPE %s histogram\n".formatted(name, help, name));
    long below = 0;
    for (int i = 0; i < counts.length; i++) {
      below += counts[i].sum();
      String bound = i < bounds.length ? Double.toString(bounds[i]) : "+Inf";
      out.append("%s_bucket{%sle=\"%s\"} %d\n".formatted(name, first, bound, below));
    }
    out.append(String.format(Locale.ROOT, "%s_sum%s %.6f\n", name, all, sum.sum()));
    out.append("%s_count%s %d\n".formatted(name, all, below));
  }
}
