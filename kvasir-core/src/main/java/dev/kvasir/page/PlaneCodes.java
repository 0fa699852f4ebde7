package dev.kvasir.page;

/** A thread's room for the codes of a block while they are packed or unpacked. */
final class PlaneCodes {
  private static final ThreadLocal<byte[]> CODES = ThreadLocal.withInitial(() -> new byte[0]);

  private PlaneCodes() {}

  /** Room for (entries, lanes), with what was there before. */
  static byte[] scratch(PlaneLayout layout) {
    int count = layout.entries() * layout.lanes();
    byte[] codes = CODES.get();
    if (codes.length < count) {
      codes = new byte[count];
      CODES.set(codes);
    }
    return codes;
  }
}
