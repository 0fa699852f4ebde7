package dev.kvasir.bench;

import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * A prompt, and the answer that a model is made to write after it. The same words are proposed and
 * accepted with every model then, also with random weights.
 */
record SpeculationTask(String name, String prompt, String answer) {
  private static final String CODE =
      """
      public final class Inventory {
        private final Map<String, Integer> amounts = new HashMap<>();
        private final int capacity;
        private int total;

        public Inventory(int capacity) {
          if (capacity < 1) {
            throw new IllegalArgumentException("capacity is " + capacity + "; expected at least 1");
          }
          this.capacity = capacity;
        }

        public void add(String item, int amount) {
          if (amount < 1 || total + amount > capacity) {
            throw new IllegalArgumentException("amount is " + amount + "; the capacity is " + capacity);
          }
          amounts.merge(item, amount, Integer::sum);
          total += amount;
        }

        public int remove(String item, int amount) {
          int held = amounts.getOrDefault(item, 0);
          int removed = Math.min(held, amount);
          if (removed == held) {
            amounts.remove(item);
          } else {
            amounts.put(item, held - removed);
          }
          total -= removed;
          return removed;
        }

        public int total() {
          return total;
        }
      }
      """;

  private static final String REPORT =
      """
      The harbour was closed on Monday after a crane had fallen across the northern pier. Nobody was
      hurt, but three fishing boats cannot leave until the wreck is cut into pieces. The harbour master
      expects that to take nine days. The company that owns the crane says that its last inspection was
      in March and found nothing unusual. Fishermen demand that the city pay for their lost catch. The
      mayor has promised an answer by Friday, and a report on all cranes of the port within a month.
      """;

  /** An edit of a file that is mostly repeated. */
  static SpeculationTask edit() {
    String edited =
        CODE.replace("capacity", "limit")
            .replace("    return total;", "    return Math.max(0, total);")
            .replace("int held =", "int held = // may be 0\n       ");
    return new SpeculationTask(
        "code edit", "Rename capacity to limit and write the whole class.\n\n" + CODE, edited);
  }

  /** A summary that quotes most of its source. */
  static SpeculationTask summary() {
    String summary =
        """
        In short: the harbour was closed on Monday after a crane had fallen across the northern pier.
        Three fishing boats cannot leave until the wreck is cut into pieces, and the harbour master
        expects that to take nine days. The owner says that its last inspection was in March and found
        nothing unusual. Fishermen demand that the city pay for their lost catch; the mayor has promised
        an answer by Friday, and a report on all cranes of the port within a month.
        """;
    return new SpeculationTask(
        "summary", "Summarize this report in its own words.\n\n" + REPORT, summary);
  }

  /** A text without any repetition, of which nothing can be proposed rightly. */
  static SpeculationTask noise() {
    Random random = new Random(7);
    String text =
        IntStream.range(0, 150)
            .mapToObj(i -> Integer.toString(100_000 + random.nextInt(900_000), 36))
            .collect(Collectors.joining(" "));
    return new SpeculationTask("nothing repeated", "Write random words.\n\n" + CODE, text);
  }
}
