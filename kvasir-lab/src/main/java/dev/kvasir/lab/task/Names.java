package dev.kvasir.lab.task;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.random.RandomGenerator;

/** Random names such as amber-anchor, and numbers, that do not occur in texts by chance. */
final class Names {
  private static final List<String> ADJECTIVES =
      words(
          """
      amber ancient autumn bitter black blue bold brave brisk broken calm clever cold crimson
      curious damp dark deep distant dusty early empty faint fancy fierce frozen gentle golden
      grand green hidden hollow humble icy idle jolly keen kind lazy little lively lone lucky
      mellow misty modest muddy narrow noble odd old pale patient plain polite proud quick quiet
      rapid rare red restless rough round royal rusty salty sandy scarlet secret shy silent
      silver sleepy slow small smooth snowy soft solid spare steady still stormy strange summer
      sunny sweet swift tall tame tender tiny tired twin upper velvet warm weary white wild
      winter wise witty young
      """);

  private static final List<String> NOUNS =
      words(
          """
      anchor apple arrow badger barrel basket beacon bell bird blossom boat bridge brook candle
      canyon castle cedar cliff clock cloud comet copper coral crane creek crow dawn deer
      dolphin door dragon dream eagle ember falcon feather fern field fire flame forest fountain
      fox garden gate glacier goose grove hammer harbor hawk heron hill horse island jewel
      kettle lake lantern leaf lighthouse lion maple marsh meadow mill mirror moon mountain
      mouse needle oak ocean orchard otter owl pebble pine planet pond prairie quill rabbit
      raven reef river robin rose sail shadow shell ship sky sparrow spring star stone stream
      swan temple thistle thunder tiger tower trail turtle valley violet wagon wave whale wheel
      willow wind wolf wren
      """);

  private Names() {}

  private static List<String> words(String text) {
    return List.of(text.strip().split("\\s+"));
  }

  /** Returns the number of possible names. */
  static int count() {
    return ADJECTIVES.size() * NOUNS.size();
  }

  /** Returns distinct names. */
  static List<String> draw(RandomGenerator random, int count) {
    if (count > count()) {
      throw new IllegalArgumentException(
          "names are %d; expected at most %d".formatted(count, count()));
    }
    Set<String> names = new LinkedHashSet<>();
    while (names.size() < count) {
      names.add(pick(random, ADJECTIVES) + "-" + pick(random, NOUNS));
    }
    return new ArrayList<>(names);
  }

  private static String pick(RandomGenerator random, List<String> words) {
    return words.get(random.nextInt(words.size()));
  }

  /** Returns random digits; the first may be zero. */
  static String number(RandomGenerator random, int digits) {
    StringBuilder number = new StringBuilder();
    for (int i = 0; i < digits; i++) {
      number.append((char) ('0' + random.nextInt(10)));
    }
    return number.toString();
  }
}
