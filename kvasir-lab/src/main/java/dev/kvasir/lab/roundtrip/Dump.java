package dev.kvasir.lab.roundtrip;

import dev.kvasir.codec.CacheShape;
import dev.kvasir.error.InvalidInputException;
import java.util.Arrays;
import java.util.Optional;

/**
 * The vectors of one layer as its cache receives them, after rotation.
 *
 * @param keys (kvHeads, tokens, headDim)
 * @param values (kvHeads, tokens, headDim)
 * @param queries (queryHeads, n, headDim), those of the last n positions
 */
public record Dump(HeadVectors keys, HeadVectors values, Optional<HeadVectors> queries) {
  public Dump {
    if (!Arrays.equals(keys.tensor().shape(), values.tensor().shape())) {
      throw new InvalidInputException(
          "%s: has shape %s; expected %s, the shape of the keys in %s"
              .formatted(values.name(), values.shapeText(), keys.shapeText(), keys.name()));
    }
    if (queries.isPresent()) {
      check(queries.get(), keys);
    }
  }

  private static void check(HeadVectors queries, HeadVectors keys) {
    if (queries.headDim() != keys.headDim()) {
      throw wrong(queries, "expected %d channels, as keys have".formatted(keys.headDim()));
    }
    if (queries.heads() % keys.heads() != 0) {
      throw wrong(queries, "expected a multiple of the %d heads of keys".formatted(keys.heads()));
    }
    if (queries.tokens() < 1 || queries.tokens() > keys.tokens()) {
      throw wrong(
          queries, "expected 1 to %d tokens, as many as there are keys".formatted(keys.tokens()));
    }
  }

  private static InvalidInputException wrong(HeadVectors queries, String expected) {
    return new InvalidInputException(
        "%s: has shape %s; %s".formatted(queries.name(), queries.shapeText(), expected));
  }

  public int tokens() {
    return keys.tokens();
  }

  public CacheShape cacheShape() {
    return new CacheShape(1, keys.heads(), keys.headDim());
  }
}
