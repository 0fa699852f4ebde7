package dev.kvasir.lab.synthetic;

import dev.kvasir.lab.task.RandomNames;
import java.util.List;
import java.util.random.RandomGenerator;

/** Lines with a name and a number each, and the number of one of them. */
final class NamedLines {
  private static final int DIGITS = 5;

  private NamedLines() {}

  static SyntheticSample draw(RandomGenerator random, int entries) {
    double depth = random.nextDouble();
    List<String> names = RandomNames.distinct(random, entries);
    StringBuilder text = new StringBuilder("Each line below holds a number.");
    int asked = (int) (depth * entries);
    String answer = "";
    for (int i = 0; i < entries; i++) {
      String number = HiddenDigits.digits(random, DIGITS);
      text.append("\nline %s: the number is <%s>".formatted(names.get(i), number));
      answer = i == asked ? number : answer;
    }
    return new SyntheticSample(
        text.toString(),
        "What is the number in line %s? The number is <".formatted(names.get(asked)),
        List.of(answer));
  }
}
