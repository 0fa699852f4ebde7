package dev.kvasir.lab.text;

import java.util.List;

/** Openings for generated stories. */
public final class StoryOpenings {
  private static final List<String> ALL =
      List.of(
          "The road to the harbour was empty that morning, and",
          "When the first snow fell upon the valley, the old miller",
          "My uncle had never spoken of the sea, but",
          "It was late in the evening when the carriage",
          "Nobody in the village remembered who had built the tower;",
          "She closed the book, looked out of the window and",
          "We had been walking for three days along the river when",
          "The captain said nothing for a long while; then he",
          "In those years the garden behind the house",
          "There is a small island to the north of the bay, where",
          "As soon as the letter arrived, my mother",
          "The market was full of people, and among them",
          "I was twelve years old when my father",
          "Beyond the last houses of the town there lay",
          "The doctor came at noon, took off his hat and",
          "Of all the rooms in the castle, the one that");

  private StoryOpenings() {}

  /** Returns an opening, cyclically. */
  public static String at(long number) {
    return ALL.get((int) (number % ALL.size()));
  }
}
