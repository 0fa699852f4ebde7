package dev.kvasir.codec.pmkvq;

import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.SpecText;
import dev.kvasir.error.InvalidInputException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A budget as a user types it: bytes, as in {@code 512MiB}, or all-in bits per value at the length
 * that a sequence may grow to, as in {@code 4bits}.
 */
record BudgetSize(double amount, String unit) {
  private static final Pattern TYPED = Pattern.compile("([0-9]+(?:\\.[0-9]+)?)(KiB|MiB|GiB|bits)");

  /** Beyond any machine, and small enough that shares of it do not overflow. */
  private static final double MOST_BYTES = 0x1p40;

  static BudgetSize of(SpecText spec) {
    String typed = spec.value("budget");
    Matcher matcher = TYPED.matcher(typed);
    if (!matcher.matches()) {
      throw spec.wrong(
          "budget is '%s'; expected bytes, as in 512MiB or 2GiB, bits per value, as in 4bits, or pool"
              .formatted(typed));
    }
    BudgetSize size = new BudgetSize(Double.parseDouble(matcher.group(1)), matcher.group(2));
    if (size.amount * size.scale() > MOST_BYTES) {
      throw spec.wrong("budget is %s; expected at most 1024GiB".formatted(typed));
    }
    return size;
  }

  boolean isPerValue() {
    return unit.equals("bits");
  }

  private double scale() {
    return switch (unit) {
      case "KiB" -> 0x1p10;
      case "MiB" -> 0x1p20;
      case "GiB" -> 0x1p30;
      default -> 1;
    };
  }

  /**
   * @param tokens that the sequence may grow to
   */
  long bytes(String spec, CacheShape shape, int tokens) {
    double bytes = isPerValue() ? amount / 8 * shape.valuesPerToken() * tokens : amount * scale();
    if (bytes > MOST_BYTES) {
      throw new InvalidInputException(
          "the cache '%s': its budget is %.0f bytes for %d tokens; expected at most 1024GiB"
              .formatted(spec, bytes, tokens));
    }
    return (long) bytes;
  }
}
