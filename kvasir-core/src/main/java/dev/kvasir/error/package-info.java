/**
 * Errors for users: {@link InvalidInputException}, with {@link Spelling} for typing errors. Every
 * package may use this one; it uses none.
 */
package dev.kvasir.error;
