package dev.kvasir.text;

import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;

/**
 * The tokens with a part to play in generation.
 *
 * @param bosText as chat templates write it; may be absent though {@code bos} is not
 * @param endOfText all ids after which a generation is over
 */
record SpecialTokens(
    OptionalInt bos, Optional<String> bosText, Optional<String> eosText, Set<Integer> endOfText) {
  SpecialTokens {
    endOfText = Set.copyOf(endOfText);
  }
}
