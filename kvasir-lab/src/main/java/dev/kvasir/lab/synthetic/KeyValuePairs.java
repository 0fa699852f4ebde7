package dev.kvasir.lab.synthetic;

import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.random.RandomGenerator;

/** A JSON object of random identifiers, and the value of one of its keys. */
final class KeyValuePairs {
  private KeyValuePairs() {}

  static SyntheticSample draw(RandomGenerator random, int entries) {
    double depth = random.nextDouble();
    List<String> keys = new ArrayList<>();
    List<String> values = new ArrayList<>();
    StringBuilder object = new StringBuilder("A JSON object follows.\n{");
    for (int i = 0; i < entries; i++) {
      keys.add(identifier(random));
      values.add(identifier(random));
      object.append(i == 0 ? "" : ", ");
      object.append("\"%s\": \"%s\"".formatted(keys.get(i), values.get(i)));
    }
    int asked = (int) (depth * entries);
    return new SyntheticSample(
        object.append('}').toString(),
        "The key is \"%s\". Its value is \"".formatted(keys.get(asked)),
        List.of(values.get(asked)));
  }

  private static String identifier(RandomGenerator random) {
    return new UUID(random.nextLong(), random.nextLong()).toString();
  }
}
