package dev.kvasir.stored;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;

/**
 * Everything that stored keys and values depend on besides their tokens. Data of different
 * identities is never mixed.
 *
 * @param weights SHA-256 of all tensors, in hexadecimal digits
 * @param model its fingerprint: shape and rotary frequencies
 * @param spec the cache specification, including what the profile decides, and whether the pages
 *     are those of a GPU
 * @param profile SHA-256 of the profile parts that the cache uses; empty if it uses none
 * @param contextLimit maximum tokens of the sequence if its budget depends on them; else 0
 * @param tenant owner of the texts, so that nobody learns what others asked; empty for all
 */
public record Identity(
    String weights, String model, String spec, String profile, int contextLimit, String tenant) {
  /** Incremented when the meaning of stored bytes changes. */
  private static final int FORMAT = 1;

  /** Follows the specification of a cache whose pages are those of a GPU. */
  private static final String ON_GPU = " on a GPU";

  /** Returns the identity of pages of a GPU, which differ from those of the host. */
  public Identity onGpu() {
    return isOnGpu()
        ? this
        : new Identity(weights, model, spec + ON_GPU, profile, contextLimit, tenant);
  }

  public boolean isOnGpu() {
    return spec.endsWith(ON_GPU);
  }

  /** Returns the cache specification without the device. */
  public String cacheSpec() {
    return isOnGpu() ? spec.substring(0, spec.length() - ON_GPU.length()) : spec;
  }

  public Identity withTenant(String otherTenant) {
    return new Identity(weights, model, spec, profile, contextLimit, otherTenant);
  }

  /** Returns the start of token hash chains. */
  byte[] digest() {
    return new Sha256()
        .add("kvasir stored")
        .add(FORMAT)
        .add(weights)
        .add(model)
        .add(spec)
        .add(profile)
        .add(contextLimit)
        .add(tenant)
        .finish();
  }

  /** Describes what prevents data of another identity from being used with this one. */
  public Optional<String> differenceOf(Identity stored) {
    if (stored.isOnGpu() != isOnGpu()) {
      return Optional.of(
          stored.isOnGpu()
              ? "was stored from a GPU, and only a GPU continues it; expected --device cuda"
              : "was stored from the CPU, and no GPU continues it; expected --device cpu");
    }
    List<String> found = new ArrayList<>();
    compare(found, "kind of cache", stored.cacheSpec(), cacheSpec());
    compare(found, "model", abbreviated(stored.model), abbreviated(model));
    compare(found, "set of weights", abbreviated(stored.weights), abbreviated(weights));
    compare(found, "part of a profile", abbreviated(stored.profile), abbreviated(profile));
    compare(found, "context limit", "" + stored.contextLimit, "" + contextLimit);
    compare(found, "tenant", abbreviated(stored.tenant), abbreviated(tenant));
    return found.stream().findFirst();
  }

  private static void compare(List<String> found, String what, String stored, String here) {
    if (!stored.equals(here)) {
      found.add("was stored with another %s, '%s'; here it is '%s'".formatted(what, stored, here));
    }
  }

  /** Returns enough of a hash to distinguish it from others. */
  private static String abbreviated(String hash) {
    return hash.length() <= 12 ? hash : hash.substring(0, 12);
  }

  /** Returns a tenant's name that does not reveal the secret it is derived from. */
  public static String tenant(String secret) {
    return HexFormat.of().formatHex(new Sha256().add("kvasir tenant").add(secret).finish());
  }

  private List<byte[]> texts() {
    return List.of(weights, model, spec, profile, tenant).stream()
        .map(text -> text.getBytes(StandardCharsets.UTF_8))
        .toList();
  }

  /** Returns the number of bytes that {@link #write} writes. */
  int bytes() {
    return Integer.BYTES + texts().stream().mapToInt(text -> Short.BYTES + text.length).sum();
  }

  void write(ByteBuffer out) {
    texts().forEach(text -> out.putShort((short) text.length).put(text));
    out.putInt(contextLimit);
  }

  static Identity read(ByteBuffer in) {
    String weights = text(in);
    String model = text(in);
    String spec = text(in);
    String profile = text(in);
    String tenant = text(in);
    return new Identity(weights, model, spec, profile, in.getInt(), tenant);
  }

  private static String text(ByteBuffer in) {
    byte[] bytes = new byte[Short.toUnsignedInt(in.getShort())];
    in.get(bytes);
    return new String(bytes, StandardCharsets.UTF_8);
  }
}
