package dev.kvasir.grammar;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonElement;
import com.google.gson.Strictness;
import com.google.gson.internal.Streams;
import com.google.gson.stream.JsonReader;
import dev.kvasir.text.SyntheticTokenizer;
import dev.kvasir.text.Tokenizer;
import java.io.IOException;
import java.io.StringReader;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;

/** Random schemas: generated texts are valid, and valid texts can be generated. */
class SchemaPropertyTest {
  private static final Tokenizer TOKENIZER = SyntheticTokenizer.of(tokens());

  /** Returns common JSON tokens, tokens that split characters, and random ones. */
  private static List<byte[]> tokens() {
    List<byte[]> tokens = new ArrayList<>();
    for (String text :
        List.of(
            "{\"",
            "\": ",
            "\": \"",
            "\", \"",
            "\"}",
            "\"a\"",
            "}]",
            "]}",
            "}}",
            ", ",
            "[[",
            "],",
            "true",
            "fal",
            "null",
            "00",
            "12",
            "-1",
            "2024",
            "\\\"",
            "\\u",
            "\\n",
            "ab",
            "left",
            "\"left\": null",
            "{\"left\": ",
            "  ",
            "\n",
            "e-",
            ".5",
            "\uD83D\uDE00",
            "\u00FC")) {
      tokens.add(text.getBytes(StandardCharsets.UTF_8));
    }
    tokens.add(new byte[] {(byte) 0xF0, (byte) 0x9F});
    tokens.add(new byte[] {(byte) 0x98, (byte) 0x80, '"'});
    tokens.add(new byte[] {'a', (byte) 0xC3});
    Random random = new Random(5);
    for (int i = 0; i < 100; i++) {
      byte[] token = new byte[2 + random.nextInt(3)];
      for (int at = 0; at < token.length; at++) {
        token[at] = (byte) (' ' + random.nextInt(95));
      }
      tokens.add(token);
    }
    return tokens;
  }

  @Property(tries = 200, seed = "3")
  void generatedTextsAreValid(@ForAll long seed) throws IOException {
    SchemaGenerator.SchemaWithValue example = new SchemaGenerator(seed).make();
    RandomGeneration walk = new RandomGeneration(JsonGrammar.of(example.schema()), TOKENIZER, seed);
    for (int text = 0; text < 5; text++) {
      String json = decoded(walk.ids());
      assertThat(new SchemaCheck(example.schema()).isValid(parsed(json)))
          .as("%s is of %s", json, example.schema())
          .isTrue();
    }
  }

  @Property(tries = 400, seed = "4")
  void validTextsCanBeGenerated(@ForAll long seed) {
    SchemaGenerator.SchemaWithValue example = new SchemaGenerator(seed).make();
    assertThat(new SchemaCheck(example.schema()).isValid(example.value())).isTrue();
    assertThat(
            AcceptedTexts.of(JsonGrammar.of(example.schema())).contains(example.value().toString()))
        .as("%s is of %s", example.value(), example.schema())
        .isTrue();
  }

  @Property(tries = 200, seed = "5")
  void anyObjectIsAnObject(@ForAll long seed) throws IOException {
    String json = decoded(new RandomGeneration(JsonGrammar.anyObject(), TOKENIZER, seed).ids());
    assertThat(parsed(json).isJsonObject()).isTrue();
  }

  /** Rejects invalid UTF-8. */
  private static String decoded(int[] ids) throws CharacterCodingException {
    java.io.ByteArrayOutputStream bytes = new java.io.ByteArrayOutputStream();
    for (int id : ids) {
      assertThat(TOKENIZER.isSpecial(id)).isFalse();
      bytes.writeBytes(TOKENIZER.tokenBytes(id));
    }
    return StandardCharsets.UTF_8
        .newDecoder()
        .decode(ByteBuffer.wrap(bytes.toByteArray()))
        .toString();
  }

  private static JsonElement parsed(String json) throws IOException {
    JsonReader reader = new JsonReader(new StringReader(json));
    reader.setStrictness(Strictness.STRICT);
    JsonElement value = Streams.parse(reader);
    assertThat(reader.peek()).isEqualTo(com.google.gson.stream.JsonToken.END_DOCUMENT);
    return value;
  }
}
