package dev.kvasir.grammar;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class JsonGrammarTest {
  private AcceptedTexts texts;

  @Test
  void membersFollowTheOrderOfTheSchemaAndOptionalOnesMayBeOmitted() {
    texts =
        AcceptedTexts.ofSchema(
            "{'type': 'object', 'properties': {'a': {'type': 'null'}, 'b': {'type': 'null'}, 'c':"
                + " {'type': 'null'}}, 'required': ['b']}");
    assertHas("{\"b\":null}", "{\"a\":null,\"b\":null}", "{\"b\": null, \"c\": null}");
    assertHas("{\"a\":null, \"b\": null,\"c\":null}");
    assertHasNot("{}", "{\"a\":null}", "{\"b\":null,\"a\":null}", "{\"b\":null,}", "{,\"b\":null}");
    assertHasNot("{\"b\":null,\"d\":null}", "{\"b\":null \"c\":null}", "{\"b\":null,\"b\":null}");
  }

  @Test
  void oneSpaceMayFollowACommaOrAColonOnly() {
    texts = AcceptedTexts.of(JsonGrammar.anyObject());
    assertHas("{\"a\": [1, 2,3], \"b\":{}}");
    assertHasNot("{ }", " {}", "{} ", "{\"a\" :1}", "{\"a\":  1}", "{\"a\":\n1}", "{\"a\":[1 ,2]}");
  }

  @Test
  void anObjectWithoutPropertiesIsAnyObject() {
    texts = AcceptedTexts.ofSchema("{'type': 'object'}");
    assertHas("{}", "{\"\":{\"x\":[true,false,null,-1.5e3,\"s\"]}}");
    assertHasNot("[]", "{\"a\"}", "{a:1}", "{\"a\":tru}");
  }

  @Test
  void additionalMembersHaveOtherNames() {
    texts =
        AcceptedTexts.ofSchema(
            "{'properties': {'ab': {'type': 'null'}, 'a': {'type': 'null'}}, 'required': ['z'],"
                + " 'additionalProperties': {'type': 'integer'}}");
    assertHas("{\"z\":1}", "{\"ab\":null,\"a\":null,\"z\":1,\"abc\":3,\"\":4,\"b\":5}");
    assertHasNot("{}", "{\"z\":1,\"ab\":3}", "{\"z\":1,\"a\":3}", "{\"z\":1,\"\\u0061\":3}");
    assertHasNot("{\"z\":1,\"y\":null}", "{\"z\":1,\"z\":2}");
  }

  @Test
  void arraysHavePrefixItemsThenOthers() {
    texts =
        AcceptedTexts.ofSchema(
            "{'prefixItems': [{'type': 'null'}, {'type': 'boolean'}], 'items': {'type':"
                + " 'integer'}, 'minItems': 1, 'maxItems': 4}");
    assertHas("[null]", "[null,true]", "[null, false, 1]", "[null,true,1,2]");
    assertHasNot("[]", "[true]", "[null,1]", "[null,true,1,2,3]", "[null,true,]");
    texts = AcceptedTexts.ofSchema("{'items': {'type': 'integer'}, 'minItems': 2, 'maxItems': 3}");
    assertHas("[1,2]", "[1,2,3]");
    assertHasNot("[]", "[1]", "[1,2,3,4]");
    texts = AcceptedTexts.ofSchema("{'prefixItems': [{'type': 'null'}], 'maxItems': 0}");
    assertHas("[]");
    assertHasNot("[null]");
    texts = AcceptedTexts.ofSchema("{'prefixItems': [{'type': 'null'}]}");
    assertHas("[]", "[null]");
    assertHasNot("[null,1]");
    texts = AcceptedTexts.ofSchema("{'prefixItems': [{'type': 'null'}], 'minItems': 2}");
    assertHas("[null,1]", "[null,{},[]]");
    assertHasNot("[null]");
  }

  @Test
  void stringsAreCountedInCharactersHoweverTheyAreWritten() {
    texts = AcceptedTexts.ofSchema("{'type': 'string', 'minLength': 2, 'maxLength': 3}");
    assertHas("\"ab\"", "\"\uD83D\uDE00\u4E2D\u00FC\"", "\"\\n\\u00e9\"", "\"\\uD83d\\uDe00a\"");
    assertHasNot("\"a\"", "\"abcd\"", "\"\uD83D\uDE00\"", "\"\\ud83d\\ude00\"");
  }

  @Test
  void unpairedSurrogatesAndUnescapedControlsAreInvalid() {
    texts = AcceptedTexts.ofSchema("{'type': 'string'}");
    assertHas("\"\\ud7ff\\ue000\"", "\"\\/\\b\\f\"", "\"\u007F\"");
    assertHasNot("\"\\ud83d\"", "\"\\ud83d\\u0041\"", "\"\\ude00\"", "\"\\x\"", "\"\\u12g4\"");
    assertHasNot("\"\n\"", "\"\u0001\"", "\"a", "\"\"\"");
    assertThat(texts.contains(new byte[] {'"', (byte) 0xC3, '"'})).isFalse();
    assertThat(texts.contains(new byte[] {'"', (byte) 0xED, (byte) 0xA0, (byte) 0x80, '"'}))
        .isFalse();
  }

  @Test
  void formatsAreEnforced() {
    texts = AcceptedTexts.ofSchema("{'format': 'date'}");
    assertHas("\"2024-02-29\"", "\"2000-02-29\"", "\"1999-12-31\"");
    assertHasNot("\"2023-02-29\"", "\"1900-02-29\"", "\"2024-04-31\"", "\"2024-13-01\"");
    texts = AcceptedTexts.ofSchema("{'format': 'date-time'}");
    assertHas("\"2024-02-29T23:59:59Z\"", "\"2024-02-28T00:00:00.125+05:30\"");
    assertHasNot("\"2024-02-29\"", "\"2024-02-29T24:00:00Z\"", "\"2024-02-29T10:00:00\"");
    texts = AcceptedTexts.ofSchema("{'type': 'string', 'format': 'uri', 'maxLength': 3}");
    assertHas("\"any\"");
  }

  @Test
  void enumAndConstValuesAreWrittenAsTheyAre() {
    texts =
        AcceptedTexts.ofSchema(
            "{'enum': ['a\\n', 1.50, null, {'x': [1, 'y']}], 'type': ['string', 'number', 'object']}");
    assertHas("\"a\\n\"", "1.50", "{\"x\": [1, \"y\"]}", "{\"x\":[1,\"y\"]}");
    assertHasNot("null", "1.5", "\"a\"");
    texts = AcceptedTexts.ofSchema("{'const': true, 'enum': [true, false]}");
    assertHas("true");
    assertHasNot("false");
  }

  @Test
  void alternativesAreMergedWithSiblingKeywords() {
    texts =
        AcceptedTexts.ofSchema(
            "{'type': 'object', 'properties': {'k': {'type': 'string'}}, 'required': ['k'],"
                + " 'oneOf': [{'properties': {'k': {'const': 'a'}, 'x': {'type': 'null'}}},"
                + " {'properties': {'k': {'const': 'b'}, 'y': {'type': 'null'}}, 'required':"
                + " ['y']}]}");
    assertHas("{\"k\":\"a\"}", "{\"k\":\"a\",\"x\":null}", "{\"k\":\"b\",\"y\":null}");
    assertHasNot("{\"k\":\"b\"}", "{\"k\":\"a\",\"y\":null}", "{\"x\":null}");
  }

  @Test
  void schemasOfAllOfAreMerged() {
    texts =
        AcceptedTexts.ofSchema(
            "{'$defs': {'base': {'type': 'object', 'properties': {'a': {'type': 'number'}},"
                + " 'required': ['a']}}, 'allOf': [{'$ref': '#/$defs/base'}, {'properties': {'a':"
                + " {'type': ['integer', 'null'], 'minimum': 3}, 'b': {'type': 'null'}},"
                + " 'required': ['b']}]}");
    assertHas("{\"a\":3,\"b\":null}");
    assertHasNot(
        "{\"a\":2,\"b\":null}", "{\"a\":3}", "{\"a\":null,\"b\":null}", "{\"a\":3.5,\"b\":null}");
    texts =
        AcceptedTexts.ofSchema(
            "{'allOf': [{'minLength': 1, 'maxLength': 5}, {'minLength': 2}], 'maxLength': 3}");
    assertHas("\"ab\"", "\"abc\"");
    assertHasNot("\"a\"", "\"abcd\"");
  }

  @Test
  void aSchemaMayBeRecursive() {
    texts =
        AcceptedTexts.ofSchema(
            "{'definitions': {'list': {'anyOf': [{'type': 'null'}, {'type': 'object',"
                + " 'properties': {'next': {'$ref': '#/definitions/list', 'description': 'tail'}},"
                + " 'required': ['next']}]}}, '$ref': '#/definitions/list'}");
    assertHas("null", "{\"next\": {\"next\": null}}");
    assertHasNot("{}", "{\"next\":{}}");
    texts = AcceptedTexts.ofSchema("{'type': 'array', 'items': {'$ref': '#'}}");
    assertHas("[]", "[[],[[]]]");
    assertHasNot("[1]");
  }

  @Test
  void nestingIsBoundedAndEveryPrefixCanBeCompleted() {
    texts = AcceptedTexts.ofSchema("{'type': 'array', 'items': {'$ref': '#'}}");
    int deep = 0;
    while (texts.hasPrefix("[".repeat(deep + 1))) {
      deep++;
    }
    assertThat(deep).isBetween(100, 200);
    assertHas("[".repeat(deep) + "]".repeat(deep));
    texts = AcceptedTexts.of(JsonGrammar.anyObject());
    assertHas("{\"a\":".repeat(100) + "{}" + "}".repeat(100));
    assertThat(texts.hasPrefix("{\"a\":".repeat(200))).isFalse();
  }

  @Test
  void alternativesWithACommonPrefixDoNotGrowExponentially() {
    texts =
        AcceptedTexts.ofSchema(
            "{'anyOf': [{'type': 'array', 'items': {'$ref': '#'}}, {'type': 'array', 'minItems': 1,"
                + " 'items': {'$ref': '#'}}, {'type': 'null'}]}");
    assertHas("[".repeat(60) + "null" + "]".repeat(60), "[[null,[]],null]");
  }

  @Test
  void booleansAreSchemasToo() {
    texts =
        AcceptedTexts.ofSchema(
            "{'properties': {'a': true, 'b': false}, 'additionalProperties': true}");
    assertHas("{}", "{\"a\":[1]}", "{\"a\":1,\"c\":2}");
    assertHasNot("{\"b\":1}");
    texts = AcceptedTexts.ofSchema("{}");
    assertHas("{}", "[1]", "\"x\"", "null", "-3");
  }

  private void assertHas(String... all) {
    for (String text : all) {
      assertThat(texts.contains(text)).as(text).isTrue();
    }
  }

  private void assertHasNot(String... all) {
    for (String text : all) {
      assertThat(texts.contains(text)).as(text).isFalse();
    }
  }
}
