/**
 * The KV-cache part of QServe: smooths keys by calibrated channel factors, then quantizes per token
 * and head. {@link dev.kvasir.methods.qserve.QserveMethod} registers the method.
 *
 * <p>Uses the packages codec, codec.basis, codec.uniform and page.
 */
package dev.kvasir.methods.qserve;
