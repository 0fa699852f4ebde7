/**
 * Reads tensors from files of {@code torch.save} without executing what they contain: only lists,
 * dictionaries, numbers, text and tensors of numbers are built.
 */
package dev.kvasir.lab.pytorch;
