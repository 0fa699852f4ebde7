/**
 * Model and array files: GGUF ({@link dev.kvasir.format.GgufFile}), safetensors ({@link
 * dev.kvasir.format.SafetensorsFolder}), npy and JSON. Tensors are memory-mapped; {@link
 * dev.kvasir.format.GgmlType} decodes their quantized blocks.
 *
 * <p>All readers treat files as untrusted: offsets, sizes and nesting are checked before use, and
 * errors name the file and what was expected. {@link dev.kvasir.format.AtomicFile} writes files
 * atomically.
 *
 * <p>This package uses {@code dev.kvasir.error} only.
 */
package dev.kvasir.format;
