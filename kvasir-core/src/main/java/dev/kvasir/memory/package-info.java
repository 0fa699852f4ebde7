/**
 * Accounting of off-heap memory. {@link MemoryPool} is the byte budget of an engine; {@link
 * CountedArena} and the reference-counted {@link SharedArena} allocate from it. {@link
 * SharedMapping} keeps files mapped.
 *
 * <p>Uses no other package but {@code error}.
 */
package dev.kvasir.memory;
