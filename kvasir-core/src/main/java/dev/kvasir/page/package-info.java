/**
 * Layouts of quantized keys and values on a page of {@link dev.kvasir.page.PageSize#TOKENS} tokens.
 * A {@link dev.kvasir.page.CodeMatrix} stores codes with scales per row or per column; a {@link
 * dev.kvasir.page.WordLayout} defines where the bits of its codes are; a {@link
 * dev.kvasir.page.HeadShape} combines the matrices of one KV head.
 *
 * <p>The package uses no other package of the engine.
 */
package dev.kvasir.page;
