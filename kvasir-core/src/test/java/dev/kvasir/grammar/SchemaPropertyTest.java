package dev.kvasir.grammar;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonElement;
import com.google.gson.Strictness;
import com.google.gson.internal.Streams;
import com.google.gson.stream.JsonReader;
import dev.kvasir.text.MadeUpTokens;
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

/** Schemas by chance: what is generated holds to them, and what holds to them can be generated. */
class SchemaPropertyTest {
  private static final Tokenizer TOKENIZER = MadeUpTokens.of(tokens());

  /** Some that JSON has often, some that cut characters in two, some by chance. */
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

  @Property(tries = 400, seed = "3")
  void whatIsGeneratedHoldsToItsSchema(@ForAll long seed) throws IOException {
    SchemaMaker.Made made = new SchemaMaker(seed).make();
    Walk walk = new Walk(JsonGrammar.of(made.schema()), TOKENIZER, seed);
    for (int text = 0; text < 5; text++) {
      String json = decoded(walk.ids());
      assertThat(new SchemaCheck(made.schema()).isValid(parsed(json)))
          .as("%s is of %s", json, made.schema())
          .isTrue();
    }
  }

  @Property(tries = 1000, seed = "4")
  void whatHoldsToASchemaCanBeGenerated(@ForAll long seed) {
    SchemaMaker.Made made = new SchemaMaker(seed).make();
    assertThat(new SchemaCheck(made.schema()).isValid(made.value())).isTrue();
    assertThat(Texts.of(JsonGrammar.of(made.schema())).has(made.value().toString()))
        .as("%s is of %s", made.value(), made.schema())
        .isTrue();
  }

  @Property(tries = 200, seed = "5")
  void anyObjectIsAnObject(@ForAll long seed) throws IOException {
    String json = decoded(new Walk(JsonGrammar.anyObject(), TOKENIZER, seed).ids());
    assertThat(parsed(json).isJsonObject()).isTrue();
  }

  /** Refuses bytes that are no UTF-8. */
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
