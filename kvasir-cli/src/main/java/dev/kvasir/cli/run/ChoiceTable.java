package dev.kvasir.cli.run;

import dev.kvasir.choice.CacheCandidate;
import dev.kvasir.choice.CacheChoice;
import dev.kvasir.cli.terminal.FactSheet;
import dev.kvasir.cli.terminal.Units;
import java.io.PrintStream;
import java.util.Locale;

/** Prints the table that a cache was chosen from. */
final class ChoiceTable {
  private ChoiceTable() {}

  static void print(CacheChoice choice, PrintStream out, FactSheet sheet) {
    sheet.line("--kv auto", "%s: %s".formatted(choice.spec(), choice.reason()));
    int width =
        choice.candidates().stream()
            .mapToInt(each -> each.spec().text().length())
            .reduce("cache".length(), Math::max);
    String form = "  %-" + width + "s  %10s  %10s  %5s  %s%n";
    out.printf(Locale.ROOT, form, "cache", "memory", "divergence", "speed", "");
    for (CacheCandidate each : choice.candidates()) {
      out.printf(
          Locale.ROOT,
          form,
          each.spec(),
          each.bytes().isPresent() ? Units.bytes(each.bytes().getAsLong()) : "-",
          "%.4f".formatted(each.divergence()),
          each.speed().isPresent() ? "%.2f".formatted(each.speed().getAsDouble()) : "-",
          verdict(each, choice));
    }
  }

  private static String verdict(CacheCandidate each, CacheChoice choice) {
    if (each.spec().equals(choice.spec())) {
      return "<- chosen";
    }
    return switch (each.status()) {
      case FITS -> "fits";
      case SLOWER -> "fits, slower than fp16";
      case TOO_LARGE -> "too large";
      case UNUSABLE -> each.note();
    };
  }
}
