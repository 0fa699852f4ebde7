package dev.kvasir.runtime;

import dev.kvasir.encoder.EncoderText;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.text.WordPieces;
import java.util.ArrayList;
import java.util.List;

/** A cross-encoder: an encoder with a head that scores a query and a document. */
final class BertReranker implements LocalReranker {
  private final EncoderModel model;

  /**
   * @throws InvalidInputException if the encoder has no head
   */
  BertReranker(EncoderModel model) {
    if (!model.encoder().scores()) {
      throw new InvalidInputException(
          "%s: is an encoder without a classification head; expected a reranker"
              .formatted(model.name()));
    }
    this.model = model;
  }

  @Override
  public String name() {
    return model.name();
  }

  @Override
  public int maxTokens() {
    return model.maxTokens();
  }

  @Override
  public Pair encode(String query, String document) {
    WordPieces.Pair pair = model.tokenizer().encodePair(query, document);
    return new Pair(model.checked(pair.ids()), pair.types());
  }

  @Override
  public List<Float> scoreAll(List<Pair> pairs, int atOnce, Runnable check) {
    List<Float> scores = new ArrayList<>();
    model.encode(
        pairs.stream().map(pair -> new EncoderText(pair.tokens(), pair.types())).toList(),
        check,
        encoded ->
            scores.add(
                LocalReranker.sigmoid(model.encoder().score(encoded.vectors(), encoded.at()))));
    return scores;
  }

  /** The encoder runs one group of pairs at a time. */
  @Override
  public int concurrency() {
    return 1;
  }

  @Override
  public long maxBytes(int tokens) {
    return 0;
  }

  @Override
  public void close() {
    model.close();
  }
}
