package dev.kvasir.cli.terminal;

import java.util.Locale;

/** Formats numbers with units. */
public final class Units {
  private static final String[] BYTE_UNITS = {"KiB", "MiB", "GiB", "TiB"};

  private Units() {}

  public static String bytes(long bytes) {
    if (bytes < 1024) {
      return bytes + " bytes";
    }
    double value = bytes / 1024.0;
    int unit = 0;
    // 1023.96 would be printed as 1024.0.
    while (value >= 1023.95 && unit < BYTE_UNITS.length - 1) {
      value /= 1024;
      unit++;
    }
    return String.format(Locale.ROOT, "%.1f %s", value, BYTE_UNITS[unit]);
  }

  public static String count(long count) {
    return String.format(Locale.ROOT, "%,d", count);
  }

  public static String tokens(long count) {
    return count(count) + (count == 1 ? " token" : " tokens");
  }

  /** Returns a rate with few significant digits. */
  public static String rate(double perSecond) {
    return String.format(Locale.ROOT, perSecond < 10 ? "%.1f/s" : "%,.0f/s", perSecond);
  }

  /** Returns seconds below two minutes, then whole minutes, and whole hours from six hours on. */
  public static String duration(double seconds) {
    if (seconds < 120) {
      return "%d s".formatted((long) Math.ceil(seconds));
    }
    return seconds < 6 * 3600
        ? "%d min".formatted(Math.round(seconds / 60))
        : "%d h".formatted(Math.round(seconds / 3600));
  }

  public static String seconds(long nanos) {
    return String.format(Locale.ROOT, "%.2f s", nanos / 1e9);
  }

  public static String milliseconds(double nanos) {
    return String.format(Locale.ROOT, "%.3f", nanos / 1e6);
  }

  public static String wholeMilliseconds(long nanos) {
    return String.format(Locale.ROOT, "%,d ms", Math.round(nanos / 1e6));
  }

  /** Returns all bytes that a cache allocates, divided by the number of values it holds. */
  public static String bitsPerValue(double bits) {
    return String.format(Locale.ROOT, "%.2f bits per value", bits);
  }
}
