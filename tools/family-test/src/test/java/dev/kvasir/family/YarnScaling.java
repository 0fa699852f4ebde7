package dev.kvasir.family;

import com.google.gson.JsonObject;

/** YaRN scaling: fast pairs stay, slow ones are stretched, those in between are blended. */
final class YarnScaling {
  /** With a base of 1000 and 16 pairs, the first nine are blended, which 64 positions expose. */
  static final int ORIGINAL_CONTEXT = 256;

  static final float FACTOR = 4;

  private YarnScaling() {}

  /** Sets the scaling in both formats; returns the folder's JSON object for additions. */
  static JsonObject stretch(FamilyModel model) {
    model.putMetadata("rope.scaling.type", "yarn");
    model.putMetadata("rope.scaling.factor", FACTOR);
    model.putMetadata("rope.scaling.original_context_length", ORIGINAL_CONTEXT);
    JsonObject scaling = new JsonObject();
    scaling.addProperty("rope_type", "yarn");
    scaling.addProperty("factor", FACTOR);
    scaling.addProperty("original_max_position_embeddings", ORIGINAL_CONTEXT);
    model.json().add("rope_scaling", scaling);
    return scaling;
  }
}
