package dev.kvasir.grammar;

import static dev.kvasir.grammar.GrammarExpression.choice;
import static dev.kvasir.grammar.GrammarExpression.literal;
import static dev.kvasir.grammar.GrammarExpression.repeat;
import static dev.kvasir.grammar.GrammarExpression.sequence;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.ArrayList;
import java.util.List;

/**
 * Numbers within exact bounds, without an exponent. Digits are compared with a bound as long as
 * they equal its prefix.
 *
 * @param min null for none
 * @param max null for none
 * @param exclusiveMin whether the minimum is excluded
 * @param exclusiveMax whether the maximum is excluded
 */
record NumberRange(
    BigDecimal min, boolean exclusiveMin, BigDecimal max, boolean exclusiveMax, boolean whole) {
  private static final GrammarExpression NO_NUMBER = choice();

  GrammarExpression expression() {
    return whole ? wholeBounds().signed() : signed();
  }

  /** Rounds the bounds inwards to integers. */
  private NumberRange wholeBounds() {
    BigDecimal low = min;
    if (low != null) {
      low = low.setScale(0, RoundingMode.CEILING);
      low = exclusiveMin && low.compareTo(min) == 0 ? low.add(BigDecimal.ONE) : low;
    }
    BigDecimal high = max;
    if (high != null) {
      high = high.setScale(0, RoundingMode.FLOOR);
      high = exclusiveMax && high.compareTo(max) == 0 ? high.subtract(BigDecimal.ONE) : high;
    }
    return new NumberRange(low, false, high, false, true);
  }

  private GrammarExpression signed() {
    if (min != null && max != null && min.compareTo(max) > 0) {
      return NO_NUMBER;
    }
    List<GrammarExpression> signs = new ArrayList<>();
    if (max == null || max.signum() >= 0) {
      boolean fromZero = min == null || min.signum() < 0;
      signs.add(
          new Magnitudes(
                  fromZero ? BigDecimal.ZERO : min,
                  !fromZero && exclusiveMin,
                  max,
                  exclusiveMax,
                  whole)
              .expression());
    }
    if (min == null || min.signum() < 0) {
      boolean fromZero = max == null || max.signum() >= 0;
      signs.add(
          sequence(
              literal("-"),
              new Magnitudes(
                      fromZero ? BigDecimal.ZERO : max.negate(),
                      fromZero || exclusiveMax,
                      min == null ? null : min.negate(),
                      exclusiveMin,
                      whole)
                  .expression()));
    }
    return new GrammarExpression.Choice(signs);
  }

  /** Non-negative numbers, which always have a minimum. */
  private static final class Magnitudes {
    private static final int MAX_DIGITS = 18;
    private static final GrammarExpression DIGIT =
        JsonExpressions.characterClass(JsonExpressions.DIGITS);

    private final boolean exclusiveMin;
    private final boolean exclusiveMax;
    private final boolean whole;
    private final int fraction; // fraction digits of the bounds
    private final String low; // all digits of the minimum
    private final String high; // null without a maximum

    Magnitudes(
        BigDecimal min, boolean exclusiveMin, BigDecimal max, boolean exclusiveMax, boolean whole) {
      this.exclusiveMin = exclusiveMin;
      this.exclusiveMax = exclusiveMax;
      this.whole = whole;
      int highScale = max == null ? 0 : max.stripTrailingZeros().scale();
      this.fraction = Math.max(0, Math.max(min.stripTrailingZeros().scale(), highScale));
      this.low = digits(min);
      this.high = max == null ? null : digits(max);
    }

    /** Returns all digits, with at least one before the point and no leading zeros. */
    private String digits(BigDecimal value) {
      String all = value.movePointRight(fraction).toBigIntegerExact().toString();
      return "0".repeat(Math.max(0, fraction + 1 - all.length())) + all;
    }

    GrammarExpression expression() {
      int shortest = low.length() - fraction;
      int longest = high == null ? Math.max(MAX_DIGITS, shortest) : high.length() - fraction;
      List<GrammarExpression> lengths = new ArrayList<>();
      for (int length = shortest; length <= longest; length++) {
        lengths.add(from(0, length, length == shortest, high != null && length == longest));
      }
      return new GrammarExpression.Choice(lengths);
    }

    /**
     * Returns what may follow {@code at} digits of a number with {@code length} digits before the
     * point.
     *
     * @param onLow whether the digits so far equal those of the minimum
     * @param onHigh whether the digits so far equal those of the maximum
     */
    private GrammarExpression from(int at, int length, boolean onLow, boolean onHigh) {
      if (at < length) {
        return digit(at, length, onLow, onHigh);
      }
      GrammarExpression further = whole ? NO_NUMBER : further(at, length, onLow, onHigh);
      GrammarExpression pointed = at == length ? sequence(literal("."), further) : further;
      return mayStop(at, onLow, onHigh) ? choice(GrammarExpression.EMPTY, pointed) : pointed;
    }

    /** Returns one digit and what may follow it. */
    private GrammarExpression digit(int at, int length, boolean onLow, boolean onHigh) {
      int min = onLow ? low.charAt(at) : at == 0 && length > 1 ? '1' : '0';
      int max = onHigh ? high.charAt(at) : '9';
      List<GrammarExpression> ways = new ArrayList<>();
      int first = min;
      int last = max;
      if (onLow && onHigh && min == max) {
        return sequence(digit(min), from(at + 1, length, true, true));
      }
      if (onLow) {
        ways.add(sequence(digit(first++), from(at + 1, length, true, false)));
      }
      if (onHigh && last >= first) {
        ways.add(sequence(digit(last--), from(at + 1, length, false, true)));
      }
      if (first <= last) {
        GrammarExpression between = JsonExpressions.characterClass(CodePoints.range(first, last));
        ways.add(sequence(between, free(at + 1, length)));
      }
      return new GrammarExpression.Choice(ways);
    }

    private static GrammarExpression digit(int digit) {
      return JsonExpressions.characterClass(CodePoints.of(digit));
    }

    /** Returns what may follow digits that are strictly between the bounds. */
    private GrammarExpression free(int at, int length) {
      GrammarExpression behind = repeat(DIGIT, 0, MAX_DIGITS);
      if (at > length) {
        return behind;
      }
      GrammarExpression before = repeat(DIGIT, length - at, length - at);
      GrammarExpression pointed = sequence(literal("."), DIGIT, behind);
      return whole ? before : sequence(before, GrammarExpression.optional(pointed));
    }

    /** Returns at least one more fraction digit. */
    private GrammarExpression further(int at, int length, boolean onLow, boolean onHigh) {
      if (at < length + fraction) {
        return digit(at, length, onLow, onHigh);
      }
      if (onHigh) {
        return NO_NUMBER; // zeros are redundant, other digits exceed it
      }
      GrammarExpression zeros = repeat(literal("0"), 0, MAX_DIGITS);
      GrammarExpression more =
          sequence(zeros, JsonExpressions.characterClass(CodePoints.range('1', '9')));
      GrammarExpression behind = repeat(DIGIT, 0, MAX_DIGITS);
      return onLow && exclusiveMin ? sequence(more, behind) : sequence(DIGIT, behind);
    }

    private boolean mayStop(int at, boolean onLow, boolean onHigh) {
      boolean isLow = onLow && isZeros(low, at);
      boolean isHigh = onHigh && isZeros(high, at);
      return (!onLow || isLow && !exclusiveMin) && !(isHigh && exclusiveMax);
    }

    private static boolean isZeros(String digits, int from) {
      return digits.chars().skip(from).allMatch(c -> c == '0');
    }
  }
}
