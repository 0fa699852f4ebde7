package kvasir.tools;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Collections;
import java.util.HexFormat;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.stream.Collectors;

/** A repository of a {@link StandInHub}, at one commit. */
public final class StandInRepository {
  /** Files from this size on are in large file storage. */
  private static final int LARGE = 1000;

  /** SHA-256 by array: tests add the same large files again and again. */
  private static final Map<byte[], String> HASHES =
      Collections.synchronizedMap(new WeakHashMap<>());

  private final String name;
  private final Map<String, File> files = new ConcurrentSkipListMap<>();
  private final Map<String, byte[]> replaced = new ConcurrentHashMap<>();
  private final Set<String> revisions = ConcurrentHashMap.newKeySet();
  private volatile Optional<String> token = Optional.empty();
  private volatile boolean hasSizes = true;

  /**
   * A file of a repository.
   *
   * @param hash the SHA-256 of a large file, the Git hash of a small one
   */
  record File(byte[] content, String hash, boolean isLarge) {}

  StandInRepository(String name) {
    this.name = name;
    revisions.add("main");
  }

  String name() {
    return name;
  }

  public StandInRepository add(String path, byte[] content) {
    boolean isLarge = content.length >= LARGE;
    String hash =
        isLarge
            ? HASHES.computeIfAbsent(content, any -> hex("SHA-256", new byte[0], any))
            : hex(
                "SHA-1",
                ("blob " + content.length + "\0").getBytes(StandardCharsets.US_ASCII),
                content);
    files.put(path, new File(content, hash, isLarge));
    return this;
  }

  public StandInRepository add(String path, String text) {
    return add(path, text.getBytes(StandardCharsets.UTF_8));
  }

  /** Lets the storage send other bytes than the hub announces. */
  public void corrupt(String path, byte[] other) {
    replaced.put(files.get(path).hash(), other);
  }

  public void repair() {
    replaced.clear();
  }

  /** Admits only requests with this token. */
  public StandInRepository gate(String value) {
    token = Optional.of(value);
    return this;
  }

  public StandInRepository tag(String revision) {
    revisions.add(revision);
    return this;
  }

  /** Leaves hashes and sizes out of the listing, as some mirrors do. */
  public StandInRepository withoutSizes() {
    hasSizes = false;
    return this;
  }

  Optional<String> token() {
    return token;
  }

  boolean hasRevision(String revision) {
    return revisions.contains(revision) || commit().equals(revision);
  }

  File file(String path) {
    return files.get(path);
  }

  byte[] content(String hash) {
    byte[] other = replaced.get(hash);
    return other != null
        ? other
        : files.values().stream()
            .filter(file -> file.hash().equals(hash))
            .map(File::content)
            .findFirst()
            .orElse(null);
  }

  /** Returns the name that the content has in a cache. */
  public String hash(String path) {
    return files.get(path).hash();
  }

  /** Returns the commit, which depends on the files. */
  public String commit() {
    String all =
        files.entrySet().stream()
            .map(entry -> entry.getKey() + " " + entry.getValue().hash())
            .collect(Collectors.joining("\n"));
    return hex("SHA-1", new byte[0], all.getBytes(StandardCharsets.UTF_8));
  }

  /** Returns the answer of {@code /api/models/NAME/revision/REVISION?blobs=true}. */
  String listing() {
    String siblings =
        files.entrySet().stream()
            .map(entry -> sibling(entry.getKey(), entry.getValue()))
            .collect(Collectors.joining(","));
    return """
        {"_id":"0","id":"%s","modelId":"%s","author":"%s","sha":"%s","lastModified":\
        "2026-01-02T03:04:05.000Z","private":false,"gated":%s,"disabled":false,"downloads":7,\
        "likes":1,"tags":["gguf"],"createdAt":"2026-01-01T00:00:00.000Z","siblings":[%s]}"""
        .formatted(
            name,
            name,
            name.substring(0, name.indexOf('/')),
            commit(),
            token.isPresent() ? "\"auto\"" : "false",
            siblings);
  }

  private String sibling(String path, File file) {
    if (!hasSizes) {
      return "{\"rfilename\":\"%s\"}".formatted(path);
    }
    String large =
        file.isLarge()
            ? ",\"lfs\":{\"sha256\":\"%s\",\"size\":%d,\"pointerSize\":134}"
                .formatted(file.hash(), file.content().length)
            : "";
    return "{\"rfilename\":\"%s\",\"size\":%d,\"blobId\":\"%s\"%s}"
        .formatted(path, file.content().length, gitHash(file), large);
  }

  /** Returns the answer of {@code /api/models/NAME/tree/REVISION?recursive=true}. */
  String tree() {
    return files.entrySet().stream()
        .map(
            entry -> {
              File file = entry.getValue();
              String large =
                  file.isLarge()
                      ? ",\"lfs\":{\"oid\":\"%s\",\"size\":%d,\"pointerSize\":134}"
                          .formatted(file.hash(), file.content().length)
                      : "";
              return "{\"type\":\"file\",\"oid\":\"%s\",\"size\":%d,\"path\":\"%s\"%s}"
                  .formatted(gitHash(file), file.content().length, entry.getKey(), large);
            })
        .collect(Collectors.joining(",", "[", "]"));
  }

  /** Git stores a pointer in place of a large file, so that hash is another one. */
  private static String gitHash(File file) {
    return file.isLarge() ? file.hash().substring(0, 40) : file.hash();
  }

  private static String hex(String algorithm, byte[] before, byte[] content) {
    try {
      MessageDigest digest = MessageDigest.getInstance(algorithm);
      digest.update(before);
      return HexFormat.of().formatHex(digest.digest(content));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }
}
