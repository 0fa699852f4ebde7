/**
 * TurboQuant: random rotations, and levels fitted to coordinates of random directions. {@link
 * dev.kvasir.codec.turboquant.TurboquantMethod} registers the method.
 *
 * <p>Uses the packages codec, codec.basis, codec.uniform, kernel and page.
 */
package dev.kvasir.codec.turboquant;
