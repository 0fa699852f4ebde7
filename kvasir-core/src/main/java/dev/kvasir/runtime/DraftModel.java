package dev.kvasir.runtime;

import dev.kvasir.LoadOptions.Speculation;
import dev.kvasir.engine.Drafter;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.text.Tokenizer;
import java.nio.file.Path;

/** A small model that proposes tokens for the sessions of a larger one with the same vocabulary. */
public final class DraftModel implements Drafting {
  private final LoadedModel model;
  private final int vocabulary; // of the larger model

  private DraftModel(LoadedModel model, int vocabulary) {
    this.model = model;
    this.vocabulary = vocabulary;
  }

  /**
   * Loads a draft model. The KV caches of its drafts have a memory of their own, with the limit of
   * the larger model's.
   *
   * @param name of the larger model
   * @param vocabulary number of its logits
   * @throws InvalidInputException if the file cannot be loaded or its vocabulary differs
   */
  public static DraftModel load(
      Path file, EngineOptions options, String name, Tokenizer tokenizer, int vocabulary) {
    EngineOptions own =
        EngineOptions.defaults()
            .withThreads(options.threads())
            .withKernels(options.kernels())
            .withCacheBytes(options.cacheBytes())
            .withSpeculation(Speculation.off());
    LoadedModel draft = LoadedModel.load(file, own);
    try {
      requireSameVocabulary(draft, name, tokenizer);
      return new DraftModel(draft, vocabulary);
    } catch (RuntimeException | Error e) {
      draft.close();
      throw e;
    }
  }

  private static void requireSameVocabulary(LoadedModel draft, String name, Tokenizer tokenizer) {
    Tokenizer own = draft.tokenizer();
    int count = tokenizer.vocabularySize();
    if (own.vocabularySize() != count) {
      throw new InvalidInputException(
          "%s: has a vocabulary of %d tokens; as a draft model of %s expected the same %d"
              .formatted(draft.name(), own.vocabularySize(), name, count));
    }
    for (int id = 0; id < count; id++) {
      if (!own.tokenText(id).equals(tokenizer.tokenText(id))) {
        throw new InvalidInputException(
            "%s: has '%s' as token %d; as a draft model of %s expected the same '%s'"
                .formatted(draft.name(), own.tokenText(id), id, name, tokenizer.tokenText(id)));
      }
    }
  }

  @Override
  public Drafter newDrafter(int contextLimit) {
    return new ModelDrafter(model, Math.min(contextLimit, model.contextLength()), vocabulary);
  }

  @Override
  public void close() {
    model.close();
  }
}
