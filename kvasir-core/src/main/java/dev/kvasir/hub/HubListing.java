package dev.kvasir.hub;

import com.google.gson.JsonElement;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.format.JsonFile;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * The files of a repository at a commit.
 *
 * @param commit the revision in full; names the folder of the snapshot
 */
record HubListing(String commit, List<HubFile> files) {
  /** Larger sizes are mistakes: the largest files of a hub take 500 GB. */
  private static final double MAX_BYTES = 1L << 50;

  /**
   * Reads the answer of {@code /api/models/OWNER/REPO/revision/REVISION?blobs=true}.
   *
   * @param name of the repository, for error messages
   */
  static HubListing parse(String name, String json) {
    JsonFile root = JsonFile.parse(name + ": the hub's answer", json);
    String commit = root.string("sha").orElseThrow(() -> root.missing("sha", "a commit"));
    if (!commit.matches("[0-9a-f]{40,64}")) {
      throw root.wrong("sha", root.root().get("sha"), "a commit of 40 hexadecimal digits");
    }
    List<HubFile> files = new ArrayList<>();
    for (JsonElement sibling :
        root.array("siblings").orElseThrow(() -> root.missing("siblings", "an array"))) {
      file(JsonFile.of(root.name() + " 'siblings'", sibling)).ifPresent(files::add);
    }
    return new HubListing(commit, List.copyOf(files));
  }

  /** Returns a file; empty for a path that cannot be a file on every system. */
  private static Optional<HubFile> file(JsonFile sibling) {
    String path =
        sibling.string("rfilename").orElseThrow(() -> sibling.missing("rfilename", "a path"));
    if (!SafePath.isRelative(path)) {
      return Optional.empty();
    }
    Optional<JsonFile> large = sibling.object("lfs");
    Optional<BlobHash> hash =
        large
            .flatMap(lfs -> lfs.string("sha256").or(() -> lfs.string("oid")))
            .or(() -> large.isPresent() ? Optional.empty() : sibling.string("blobId"))
            .flatMap(BlobHash::of);
    Optional<Double> size =
        sibling.number("size").or(() -> large.flatMap(lfs -> lfs.number("size")));
    return Optional.of(new HubFile(path, bytes(sibling, size), hash));
  }

  private static OptionalLong bytes(JsonFile sibling, Optional<Double> size) {
    if (size.isEmpty()) {
      return OptionalLong.empty();
    }
    double bytes = size.get();
    if (bytes != Math.rint(bytes) || bytes < 0 || bytes > MAX_BYTES) {
      throw new InvalidInputException(
          "%s: 'size' is %s; expected a number of bytes".formatted(sibling.name(), bytes));
    }
    return OptionalLong.of((long) bytes);
  }
}
