package dev.kvasir.family;

import com.google.gson.JsonObject;

/** Positions stretched by YaRN: fast pairs are kept, slow ones stretched, those between blended. */
final class YarnScaling {
  /** With a base of 1000 and 16 pairs the first nine are blended, and 64 positions show it. */
  static final int ORIGINAL_CONTEXT = 256;

  static final float FACTOR = 4;

  private YarnScaling() {}

  /** Says it in both formats; what a folder says is returned to be added to. */
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
