/**
 * Errors for users: {@link InvalidInputException}. Every package may use this one; it uses none.
 */
package dev.kvasir.error;
