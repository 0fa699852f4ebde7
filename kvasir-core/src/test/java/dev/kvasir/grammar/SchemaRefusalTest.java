package dev.kvasir.grammar;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.gson.JsonObject;
import com.google.gson.JsonPrimitive;
import dev.kvasir.error.InvalidInputException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class SchemaRefusalTest {
  @ParameterizedTest
  @ValueSource(
      strings = {
        "not",
        "if",
        "multipleOf",
        "contains",
        "patternProperties",
        "propertyNames",
        "minProperties",
        "dependentRequired",
        "unevaluatedProperties",
        "uniqueItems",
        "$dynamicRef",
        "propertys",
        "nullable"
      })
  void anUnknownAssertionIsRefusedByNameAndPointer(String keyword) {
    String schema =
        "{'type': 'object', 'properties': {'a/b': {'items': {'%s': true}}}}".formatted(keyword);
    assertRefused(
        schema,
        "the schema's '"
            + keyword
            + "' at #/properties/a~1b/items is not supported; supported are type, enum, const,"
            + " properties, required, additionalProperties, items, prefixItems, minItems,"
            + " maxItems, minLength, maxLength, pattern, format, minimum, maximum,"
            + " exclusiveMinimum, exclusiveMaximum, anyOf, oneOf, allOf, $ref");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "{'type': 'text'} | the schema's 'type' at # is \"text\"; expected one or several of object, array, string, number, integer, boolean, null",
        "{'type': 5} | the schema's 'type' at # is 5; expected a string",
        "{'properties': []} | the schema's 'properties' at # is []; expected an object",
        "{'required': 'a'} | the schema's 'required' at # is \"a\"; expected an array",
        "{'required': [1]} | the schema's 'required' at # is [1]; expected an array of strings",
        "{'minLength': -1} | the schema's 'minLength' at # is -1; expected a whole number from 0 to 100000",
        "{'maxLength': 1.5} | the schema's 'maxLength' at # is 1.5; expected a whole number from 0 to 100000",
        "{'maxItems': 1e9} | the schema's 'maxItems' at # is 1e9; expected a whole number from 0 to 100000",
        "{'minimum': 1e99999} | the schema's 'minimum' at # is 1e99999; expected a number",
        "{'minimum': 1e9999} | the schema's 'minimum' at # is 1e9999; expected a number of up to 400 digits",
        "{'minimum': '1'} | the schema's 'minimum' at # is \"1\"; expected a number of up to 400 digits",
        "{'minLength': 3, 'maxLength': 2} | the schema's 'maxLength' at # is 2; expected 'minLength' or more, which is 3",
        "{'minItems': 3, 'maxItems': 2} | the schema's 'maxItems' at # is 2; expected 'minItems' or more, which is 3",
        "{'minItems': 3, 'prefixItems': [{}], 'items': false} | the schema's 'minItems' at # is 3; expected no more than there are items, 1",
        "{'items': [{}]} | the schema's 'items' at # is [{}]; expected a schema; items one by one are 'prefixItems'",
        "{'$ref': 'other.json'} | the schema's '$ref' at # is \"other.json\"; expected '#', '#/$defs/NAME' or '#/definitions/NAME' of the same schema",
        "{'$ref': '#/$defs/a'} | the schema's '$ref' at # is \"#/$defs/a\"; expected '#', '#/$defs/NAME' or '#/definitions/NAME' of the same schema",
        "{'enum': ['a'], 'minLength': 3} | the schema's 'enum' or 'const' at # has other assertions next to it; expected 'type' at the most",
        "{'enum': ['a'], 'type': 'null'} | the schema at # leaves no value; expected one in its 'enum' or 'const' that has its type",
        "{'enum': []} | the schema at # leaves no value; expected one in its 'enum' or 'const' that has its type",
        "{'pattern': 'a', 'maxLength': 3} | the string at # has several of a length, a pattern and a format; expected one",
        "{'anyOf': [{}], 'oneOf': [{}]} | the schema's 'oneOf' at # is [{}]; expected no 'anyOf' next to it",
        "{'properties': {'a': {}}, 'required': ['b']} | the schema's 'required' at # is [\"b\"]; expected names in its 'properties' alone",
        "{'properties': {'a': 3}} | the schema at #/properties/a is no object; expected one, or true or false",
        "{'allOf': [{'pattern': 'a'}, {'pattern': 'b'}]} | the schemas that have to hold together at # differ in 'pattern', which cannot be merged; expected it in one of them",
        "{'allOf': [{'properties': {'a': {}}, 'additionalProperties': false}, {'properties': {'b': {}}}]} | the schemas that have to hold together at # differ in 'additionalProperties', which cannot be merged; expected it in one of them",
        "{'$defs': {'a': {'allOf': [{'$ref': '#/$defs/a'}]}}, 'allOf': [{'$ref': '#/$defs/a'}]} | the schema's '$ref' at #/$defs/a/allOf/0 leads back to itself; expected a value in between",
      })
  void errorsAreOneSentence(String schema, String sentence) {
    assertRefused(schema, sentence);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{'$ref': '#'}",
        "{'type': 'object', 'properties': {'a': {'$ref': '#'}}, 'required': ['a']}",
        "{'type': 'array', 'minItems': 1, 'items': {'$ref': '#'}}",
        "{'type': 'object', 'properties': {'a': false}, 'required': ['a']}",
        "{'anyOf': []}",
        "{'type': []}",
        "{'type': 'integer', 'minimum': 0.5, 'maximum': 0.6}",
        "{'minimum': 5, 'maximum': 4}",
        "{'allOf': [{'type': 'string'}, {'type': 'null'}]}"
      })
  void aSchemaThatNothingHoldsToIsRefused(String schema) {
    assertRefused(
        schema, "the grammar has no text that nests less than 128 deep; expected one that can end");
  }

  @Test
  void aSchemaThatTakesTooMuchIsRefused() {
    String wide =
        "{'properties': {'a': %1$s, 'b': %1$s, 'c': %1$s}}".formatted("{'maxLength': 1e5}");
    assertRefused(
        wide,
        "the grammar takes more than 262144 states or 1048576 edges; expected less text, or lower"
            + " bounds of lengths and counts");
    JsonObject deep = new JsonObject();
    for (int i = 0; i < 300; i++) {
      JsonObject around = new JsonObject();
      around.add("items", deep);
      deep = around;
    }
    JsonObject schema = deep;
    assertThatThrownBy(() -> JsonGrammar.of(schema))
        .isInstanceOf(InvalidInputException.class)
        .hasMessageContaining("lies deeper than 200 levels");
  }

  @Test
  void mergesThatDoubleAtEachStepAreRefused() {
    StringBuilder definitions = new StringBuilder("'d0': {'type': 'string'}");
    for (int i = 1; i < 40; i++) {
      definitions.append(
          ", 'd%1$d': {'allOf': [{'$ref': '#/$defs/d%2$d'}, {'$ref': '#/$defs/d%2$d'}]}"
              .formatted(i, i - 1));
    }
    assertRefused(
        "{'$defs': {%s}, '$ref': '#/$defs/d39'}".formatted(definitions),
        "the schema asks for more than 10000 merges of 'allOf' and '$ref'; expected fewer");
  }

  @Test
  void aNumberThatJsonCannotWriteIsRefused() {
    JsonObject schema = new JsonObject();
    schema.add("const", new JsonPrimitive(Double.NaN));
    assertThatThrownBy(() -> JsonGrammar.of(schema))
        .isInstanceOf(InvalidInputException.class)
        .hasMessage("the schema names the value NaN; expected a number that JSON can write");
  }

  @Test
  void annotationsAreIgnored() {
    assertThat(
            AcceptedTexts.ofSchema(
                    "{'title': 'A', 'description': 'B', 'default': 1, 'examples': [], '$schema': 'x',"
                        + " '$id': 'y', '$comment': 'z', 'deprecated': true, 'x-order': 1, 'type':"
                        + " 'null', 'uniqueItems': false}")
                .contains("null"))
        .isTrue();
  }

  private static void assertRefused(String schema, String sentence) {
    assertThatThrownBy(() -> AcceptedTexts.ofSchema(schema))
        .isInstanceOf(InvalidInputException.class)
        .hasMessage(sentence);
  }
}
