/**
 * Beginnings of texts in a store: what sessions have read is looked for there by its tokens, and
 * left there for other sessions and other processes.
 */
package dev.kvasir.store.beginning;
