package dev.kvasir.text;

import dev.kvasir.error.InvalidInputException;
import dev.kvasir.format.GgufMetadata;
import dev.kvasir.text.GgufVocabulary.TokenType;
import java.util.HashSet;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/** Builds a tokenizer from the {@code tokenizer.ggml} metadata of a GGUF file. */
final class GgufTokenizer {
  /** Tokens that end a turn or a document in some model family. */
  private static final Set<String> END_OF_TURN_TOKENS =
      Set.of(
          ("<|im_end|> <|eot_id|> <|eom_id|> <|end|> <|endoftext|> <|end_of_text|> <|return|>"
                  + " <|call|> <|calls|> <|flush|> <end_of_turn> <turn|> <|tool_response>"
                  + " <end_of_utterance> <eos> <EOT> <|EOT|> [EOT] [EOS] [e~["
                  + " <\uFF5Cend\u2581of\u2581sentence\uFF5C>")
              .split(" "));

  private final GgufVocabulary source;

  private GgufTokenizer(GgufVocabulary source) {
    this.source = source;
  }

  static Tokenizer read(String fileName, GgufMetadata metadata) {
    String model = metadata.requireString("tokenizer.ggml.model");
    return switch (model) {
      case "gpt2" -> new GgufTokenizer(GgufVocabulary.read(fileName, metadata)).byteLevel();
      case "llama" -> new GgufTokenizer(GgufVocabulary.read(fileName, metadata)).sentencePiece();
      case "gemma4" -> new GgufTokenizer(GgufVocabulary.read(fileName, metadata)).characters();
      default ->
          throw new InvalidInputException(
              "%s: 'tokenizer.ggml.model' is \"%s\"%s; expected gpt2 (byte-level BPE), llama"
                      .formatted(fileName, model, modelKind(model))
                  + " (SentencePiece) or gemma4 (BPE of characters)");
    };
  }

  /** Describes vocabulary types that are not supported. */
  private static String modelKind(String model) {
    return switch (model) {
      case "bert" -> " (WordPiece)";
      case "t5" -> " (Unigram)";
      case "rwkv" -> " (RWKV's tree of words)";
      case "plamo2" -> " (PLaMo's tree of words)";
      case "no_vocab", "none" -> " (no vocabulary)";
      default -> "";
    };
  }

  private Tokenizer byteLevel() {
    NativeTokenizers.prepare();
    // Files older than this key mean the default.
    String name = source.metadata().string("tokenizer.ggml.pre").orElse("default");
    PreTokenizer preTokenizer = PreTokenizer.named(source.fileName(), name);
    OptionalInt bos = source.id("bos");
    OptionalInt eos = source.id("eos");
    Affixes affixes = affixes(bos, eos, preTokenizer.addsBos());
    return tokenizer(
        () -> new HuggingFaceEncoder(source.fileName(), BpeJson.ofBytes(source, preTokenizer)),
        affixes,
        TokenEncoding.BYTE_LEVEL,
        specialTokens(bos, eos),
        ", pre-tokenizer " + name);
  }

  private Tokenizer characters() {
    NativeTokenizers.prepare();
    OptionalInt bos = source.id("bos");
    OptionalInt eos = source.id("eos");
    int unknown = source.id("unknown").orElse(-1);
    // Files of some converters deny that text begins with BOS, without which these models fail.
    OptionalInt before = affix("bos", bos, true);
    return tokenizer(
        () -> new HuggingFaceEncoder(source.fileName(), BpeJson.ofCharacters(source, unknown)),
        new Affixes(before, affix("eos", eos, source.flag("add_eos_token", false))),
        TokenEncoding.SENTENCE_PIECE,
        specialTokens(bos, eos),
        ", merges of characters");
  }

  private Tokenizer sentencePiece() {
    // SentencePiece's own numbering, if the file has none.
    OptionalInt bos = orDefault(source.id("bos"), 1);
    OptionalInt eos = orDefault(source.id("eos"), 2);
    OptionalInt unknown = orDefault(source.id("unknown"), 0);
    return tokenizer(
        () -> new SentencePieceEncoder(source, unknown.orElse(-1)),
        affixes(bos, eos, true),
        TokenEncoding.SENTENCE_PIECE,
        specialTokens(bos, eos),
        "");
  }

  /** Builds the decoding table and the encoder in parallel. */
  private Tokenizer tokenizer(
      Supplier<Encoder> encoder,
      Affixes affixes,
      TokenEncoding encoding,
      SpecialTokens special,
      String note) {
    Optional<String> chatTemplate = source.metadata().string("tokenizer.chat_template");
    CompletableFuture<Vocabulary> vocabulary =
        CompletableFuture.supplyAsync(() -> source.vocabulary(encoding));
    return new Tokenizer(
        encoder.get(),
        affixes,
        vocabulary.join(),
        special,
        "%s BPE, %d tokens%s".formatted(encoding.title(), source.tokens().length, note),
        chatTemplate);
  }

  private OptionalInt orDefault(OptionalInt given, int otherwise) {
    return given.isPresent() || otherwise >= source.tokens().length
        ? given
        : OptionalInt.of(otherwise);
  }

  private Affixes affixes(OptionalInt bos, OptionalInt eos, boolean bosByDefault) {
    return new Affixes(
        affix("bos", bos, source.flag("add_bos_token", bosByDefault)),
        affix("eos", eos, source.flag("add_eos_token", false)));
  }

  private OptionalInt affix(String name, OptionalInt id, boolean wanted) {
    if (wanted && id.isEmpty()) {
      throw new InvalidInputException(
          "%s: 'tokenizer.ggml.%s_token_id' is missing; expected one because text is to get it"
              .formatted(source.fileName(), name));
    }
    return wanted ? id : OptionalInt.empty();
  }

  private SpecialTokens specialTokens(OptionalInt bos, OptionalInt eos) {
    Set<Integer> ends = new HashSet<>();
    eos.ifPresent(ends::add);
    source.id("eot").ifPresent(ends::add);
    source.id("eom").ifPresent(ends::add);
    Set<String> texts = new HashSet<>();
    int endOfMessage = -1;
    for (int id = 0; id < source.tokens().length; id++) {
      TokenType type = source.types()[id];
      String text = source.tokens()[id];
      if ((type == TokenType.CONTROL || type == TokenType.USER_DEFINED)
          && END_OF_TURN_TOKENS.contains(text)) {
        ends.add(id);
        texts.add(text);
        endOfMessage = text.equals("<|end|>") ? id : endOfMessage;
      }
    }
    // In families with these tokens, <|end|> ends a message within a turn.
    if (texts.contains("<|return|>") && texts.contains("<|call|>")
        || texts.contains("<|flush|>") && texts.contains("<|calls|>")) {
      ends.remove(endOfMessage);
    }
    return new SpecialTokens(
        bos,
        bos.isPresent() ? Optional.of(source.tokens()[bos.getAsInt()]) : Optional.empty(),
        eos.isPresent() ? Optional.of(source.tokens()[eos.getAsInt()]) : Optional.empty(),
        ends);
  }
}
