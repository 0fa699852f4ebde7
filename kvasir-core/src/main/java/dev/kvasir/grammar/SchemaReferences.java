package dev.kvasir.grammar;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import dev.kvasir.error.InvalidInputException;
import java.util.HashSet;
import java.util.Set;

/** Resolves '$ref', and merges schemas that must all hold. */
final class SchemaReferences {
  /** References between schemas may double the merges at each step. */
  private static final int MAX_MERGES = 10_000;

  private final JsonObject root;
  private int merges;

  SchemaReferences(JsonObject root) {
    this.root = root;
  }

  /** Returns the target of a '$ref'. */
  JsonElement target(Schema schema) {
    String reference = schema.string("$ref");
    JsonElement at = reference.startsWith("#") ? root : null;
    String[] names = reference.split("/");
    for (int i = 1; i < names.length && at != null; i++) {
      at = member(at, names[i].replace("~1", "/").replace("~0", "~"));
    }
    if (at == null || !names[0].equals("#")) {
      throw schema.refusal(
          "$ref", "expected '#', '#/$defs/NAME' or '#/definitions/NAME' of the same schema");
    }
    return at;
  }

  private static JsonElement member(JsonElement element, String name) {
    if (element instanceof JsonArray array) {
      boolean isIndex = name.matches("[0-9]{1,6}") && Integer.parseInt(name) < array.size();
      return isIndex ? array.get(Integer.parseInt(name)) : null;
    }
    return element instanceof JsonObject object ? object.get(name) : null;
  }

  /** Returns an equivalent schema without '$ref' and 'allOf'. */
  Schema flatten(Schema schema) {
    return flatten(schema, new HashSet<>());
  }

  private Schema flatten(Schema schema, Set<String> within) {
    Schema flat = schema.without("$ref", "allOf");
    if (schema.has("$ref")) {
      String reference = schema.string("$ref");
      if (!within.add(reference)) {
        throw new InvalidInputException(
            "the schema's '$ref' at %s leads back to itself; expected a value in between"
                .formatted(schema.pointer()));
      }
      flat = merge(flat, target(schema), reference, within);
      within.remove(reference);
    }
    int index = 0;
    for (JsonElement part : schema.array("allOf")) {
      flat = merge(flat, part, schema.pointerTo("allOf", Integer.toString(index++)), within);
    }
    return flat;
  }

  private Schema merge(Schema flat, JsonElement part, String pointer, Set<String> within) {
    if (++merges > MAX_MERGES) {
      throw new InvalidInputException(
          "the schema asks for more than %d merges of 'allOf' and '$ref'; expected fewer"
              .formatted(MAX_MERGES));
    }
    return SchemaMerge.of(flat, flatten(Schema.of(part, pointer), within), flat.pointer());
  }

  /** Merges an alternative with the keywords next to the alternatives. */
  Schema merge(Schema common, JsonElement alternative, String pointer) {
    return merge(common, alternative, pointer, new HashSet<>());
  }
}
