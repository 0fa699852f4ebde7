package dev.kvasir.text;

import ai.djl.huggingface.tokenizers.jni.TokenizersLibrary;
import dev.kvasir.error.InvalidInputException;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.LongFunction;
import java.util.function.LongSupplier;

/**
 * Runs a tokenizer.json in the Hugging Face library. It calls the native entry points directly: the
 * Java wrapper copies offsets, masks and strings for every token, and truncates the input.
 */
final class HuggingFaceEncoder implements Encoder {
  private final TokenizersLibrary library = NativeTokenizers.library();

  /** Encoding holds the read lock: freeing the tokenizer during a call would crash. */
  private final ReadWriteLock lock = new ReentrantReadWriteLock();

  private long handle;

  HuggingFaceEncoder(String fileName, String tokenizerJson) {
    try {
      handle = library.createTokenizerFromString(tokenizerJson);
    } catch (RuntimeException e) {
      throw new InvalidInputException(
          "%s: the tokenizer library refuses it: %s".formatted(fileName, e.getMessage()), e);
    }
    library.disableTruncation(handle);
    library.disablePadding(handle);
  }

  @Override
  public int[] encode(String text, boolean addSpecialTokens) {
    return read(
        () -> library.encode(handle, text, addSpecialTokens),
        encoding -> narrow(library.getTokenIds(encoding)));
  }

  /** Returns the ids of two texts with the special tokens around them. */
  WordPieces.Pair encodePair(String first, String second) {
    return read(
        () -> library.encodeDual(handle, first, second, true),
        encoding ->
            new WordPieces.Pair(
                narrow(library.getTokenIds(encoding)), narrow(library.getTypeIds(encoding))));
  }

  private <T> T read(LongSupplier encode, LongFunction<T> reader) {
    lock.readLock().lock();
    try {
      if (handle == 0) {
        throw new IllegalStateException("The tokenizer is closed");
      }
      long encoding = encode.getAsLong();
      try {
        return reader.apply(encoding);
      } finally {
        library.deleteEncoding(encoding);
      }
    } finally {
      lock.readLock().unlock();
    }
  }

  private static int[] narrow(long[] ids) {
    int[] narrow = new int[ids.length];
    for (int i = 0; i < ids.length; i++) {
      narrow[i] = Math.toIntExact(ids[i]);
    }
    return narrow;
  }

  @Override
  public void close() {
    lock.writeLock().lock();
    try {
      if (handle != 0) {
        library.deleteTokenizer(handle);
        handle = 0;
      }
    } finally {
      lock.writeLock().unlock();
    }
  }
}
