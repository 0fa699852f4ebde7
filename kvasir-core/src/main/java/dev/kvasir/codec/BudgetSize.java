package dev.kvasir.codec;

import dev.kvasir.error.InvalidInputException;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A budget as a user types it: bytes, as in {@code 512MiB}, or all-in bits per value at the length
 * that a sequence may grow to, as in {@code 4bits}.
 */
public record BudgetSize(double amount, String unit) {
  /** The budget is what all sequences of a model have in common. */
  private static final String POOL = "pool";

  private static final Pattern TYPED = Pattern.compile("([0-9]+(?:\\.[0-9]+)?)(KiB|MiB|GiB|bits)");

  /** Beyond any machine, and small enough that shares of it do not overflow. */
  private static final double MAX_BYTES = 0x1p40;

  /** Whether pages keep their width until the memory of all sequences is used up. */
  public static boolean isPooled(SpecText spec) {
    return POOL.equals(spec.value("budget"));
  }

  /** What a sequence has of its own, where that was typed. */
  public static Optional<BudgetSize> in(SpecText spec) {
    return spec.has("budget") && !isPooled(spec) ? Optional.of(of(spec)) : Optional.empty();
  }

  private static BudgetSize of(SpecText spec) {
    String typed = spec.value("budget");
    Matcher matcher = TYPED.matcher(typed);
    if (!matcher.matches()) {
      throw spec.invalid(
          "budget is '%s'; expected bytes, as in 512MiB or 2GiB, bits per value, as in 4bits, or pool"
              .formatted(typed));
    }
    BudgetSize size = new BudgetSize(Double.parseDouble(matcher.group(1)), matcher.group(2));
    if (size.amount * size.scale() > MAX_BYTES) {
      throw spec.invalid("budget is %s; expected at most 1024GiB".formatted(typed));
    }
    return size;
  }

  private boolean isPerValue() {
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

  /** The budget of a cache whose pages shrink. */
  public CacheBudget budget(
      String spec, CacheShape shape, CacheContext context, RequantizeScope scope) {
    int tokens = isPerValue() ? requireContextLimit(spec, context) : 0;
    return CacheBudget.of(spec, bytes(spec, shape, tokens), scope, context.workers());
  }

  /** How long a sequence may grow, where a budget depends on it. */
  public static int requireContextLimit(String spec, CacheContext context) {
    if (context.contextLimit() == 0) {
      throw new InvalidInputException(
          ("the cache '%s' must know how long a sequence may grow; give its budget in bytes, as in"
                  + " budget=512MiB")
              .formatted(spec));
    }
    return context.contextLimit();
  }

  /**
   * @param tokens that the sequence may grow to
   */
  private long bytes(String spec, CacheShape shape, int tokens) {
    double bytes = isPerValue() ? amount / 8 * shape.valuesPerToken() * tokens : amount * scale();
    if (bytes > MAX_BYTES) {
      throw new InvalidInputException(
          "the cache '%s': its budget is %.0f bytes for %d tokens; expected at most 1024GiB"
              .formatted(spec, bytes, tokens));
    }
    return (long) bytes;
  }
}
