/**
 * TurboQuant: random rotations, and levels fitted to coordinates of random directions. {@link
 * dev.kvasir.methods.turboquant.TurboquantMethod} registers the method.
 *
 * <p>Uses the packages codec, codec.basis, codec.uniform, kernel and page.
 */
package dev.kvasir.methods.turboquant;
