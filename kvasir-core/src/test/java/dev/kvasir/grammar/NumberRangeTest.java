package dev.kvasir.grammar;

import static org.assertj.core.api.Assertions.assertThat;

import java.math.BigDecimal;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

class NumberRangeTest {
  @Property(tries = 300, seed = "1")
  void wholeNumbersAreThoseWithinTheirBounds(
      @ForAll @IntRange(min = -1200, max = 1200) int least,
      @ForAll @IntRange(min = 0, max = 1300) int more,
      @ForAll boolean above,
      @ForAll boolean below) {
    int most = least + 2 + more;
    AcceptedTexts texts = texts(decimal(least), above, decimal(most), below, true);
    for (int value = -2600; value <= 2600; value++) {
      boolean isWithin =
          (above ? value > least : value >= least) && (below ? value < most : value <= most);
      assertThat(texts.contains(Integer.toString(value))).as("%d", value).isEqualTo(isWithin);
    }
  }

  @Property(tries = 500, seed = "2")
  void decimalsAreThoseWithinTheirBounds(@ForAll long seed) {
    Random random = new Random(seed);
    BigDecimal least = BigDecimal.valueOf(random.nextInt(4001) - 2000, random.nextInt(4));
    BigDecimal most = least.add(BigDecimal.valueOf(1 + random.nextInt(2000), random.nextInt(4)));
    boolean above = random.nextBoolean();
    boolean below = random.nextBoolean();
    boolean hasLeast = random.nextInt(4) > 0;
    boolean hasMost = random.nextInt(4) > 0;
    AcceptedTexts texts =
        texts(hasLeast ? least : null, above, hasMost ? most : null, below, false);
    for (int i = 0; i < 200; i++) {
      BigDecimal value =
          switch (random.nextInt(4)) {
            case 0 -> least;
            case 1 -> most;
            case 2 -> least.add(BigDecimal.valueOf(random.nextInt(2001) - 1000, 4));
            default -> BigDecimal.valueOf(random.nextInt(40_001) - 20_000, random.nextInt(5));
          };
      int low = value.compareTo(least);
      int high = value.compareTo(most);
      boolean isWithin =
          (!hasLeast || low > 0 || low == 0 && !above)
              && (!hasMost || high < 0 || high == 0 && !below);
      String written = value.signum() == 0 ? "0" : value.stripTrailingZeros().toPlainString();
      assertThat(texts.contains(written))
          .as("%s from %s (%s) to %s (%s)", written, least, above, most, below)
          .isEqualTo(isWithin);
    }
  }

  @Test
  void numbersAreWrittenAsJsonWritesThem() {
    AcceptedTexts from = texts(decimal(-5), false, decimal(50), false, false);
    for (String no :
        new String[] {"", "-", "05", "-0", "00", "1.", ".5", "+1", "1e1", "--1", "50.1"}) {
      assertThat(from.contains(no)).as(no).isFalse();
    }
    for (String yes : new String[] {"0", "0.0", "-5", "-4.99", "49.999", "50", "7.50"}) {
      assertThat(from.contains(yes)).as(yes).isTrue();
    }
    assertThat(texts(decimal(3), true, null, false, false).contains("3.00001")).isTrue();
    assertThat(texts(decimal(3), true, null, false, false).contains("3.0")).isFalse();
    assertThat(texts(null, false, new BigDecimal("1e30"), false, true).contains("-999999"))
        .isTrue();
  }

  @Test
  void withoutBoundsDigitsAreBoundedStill() {
    AcceptedTexts number = AcceptedTexts.ofSchema("{'type': 'number'}");
    for (String yes : new String[] {"0", "-0", "-12.5e-07", "1E+5", "9".repeat(18)}) {
      assertThat(number.contains(yes)).as(yes).isTrue();
    }
    for (String no : new String[] {"01", "1.", "e5", "1e", "1e100", "9".repeat(19), "NaN"}) {
      assertThat(number.contains(no)).as(no).isFalse();
    }
    AcceptedTexts integer = AcceptedTexts.ofSchema("{'type': 'integer'}");
    assertThat(integer.contains("-17")).isTrue();
    assertThat(integer.contains("1.0")).isFalse();
    assertThat(integer.contains("-0")).isFalse();
  }

  private static BigDecimal decimal(int value) {
    return BigDecimal.valueOf(value);
  }

  private static AcceptedTexts texts(
      BigDecimal least, boolean above, BigDecimal most, boolean below, boolean whole) {
    return AcceptedTexts.of(
        new Grammar(new NumberRange(least, above, most, below, whole).expression()));
  }
}
