/**
 * Pages of PM-KVQ: codes that are requantized from 16 bits down. {@link PmkvqFormat} describes them
 * and {@link BitWidthPools} holds the pages of each group of layers and width, with the kernels
 * that requantize them. {@link TokenScaledPage} is the layout of pages whose keys have a scale per
 * token.
 *
 * <p>May use {@code driver}, {@code memory}, {@code formats} and the codec of the method in
 * kvasir-core.
 */
package dev.kvasir.cuda.formats.pmkvq;
