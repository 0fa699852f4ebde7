package dev.kvasir.text;

import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;

/**
 * The special tokens of a vocabulary.
 *
 * @param bosText text of the BOS token in chat templates; may be absent if {@code bos} is present
 * @param endOfText all ids that end a generation
 */
record SpecialTokens(
    OptionalInt bos, Optional<String> bosText, Optional<String> eosText, Set<Integer> endOfText) {
  SpecialTokens {
    endOfText = Set.copyOf(endOfText);
  }
}
