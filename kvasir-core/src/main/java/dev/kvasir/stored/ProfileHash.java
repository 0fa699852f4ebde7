package dev.kvasir.stored;

import dev.kvasir.format.Tensor;
import dev.kvasir.profile.Profile;
import java.util.HexFormat;
import java.util.Set;

/** Computes the SHA-256 of the profile parts that a cache uses, in hexadecimal digits. */
public final class ProfileHash {
  private ProfileHash() {}

  /** Returns the hash; empty if the profile has none of the parts. */
  public static String of(Profile profile, Set<String> parts) {
    Profile used = profile.only(parts);
    if (used.tensors().isEmpty()) {
      return "";
    }
    Sha256 hash = new Sha256();
    for (Tensor tensor : used.tensors()) {
      hash.add(tensor.name())
          .add(tensor.type().toString())
          .add(tensor.shapeText())
          .add(tensor.data());
    }
    used.notes().forEach((key, note) -> hash.add(key).add(note));
    return HexFormat.of().formatHex(hash.finish());
  }
}
