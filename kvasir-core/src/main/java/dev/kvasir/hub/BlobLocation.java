package dev.kvasir.hub;

import java.net.URI;
import java.util.OptionalLong;

/**
 * Where the bytes of a file are.
 *
 * @param address of the bytes, often on another host than the hub
 * @param tag names the content, and its file in the cache
 * @param bytes size, if stated
 */
record BlobLocation(URI address, String tag, OptionalLong bytes) {}
