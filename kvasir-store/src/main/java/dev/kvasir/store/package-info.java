/**
 * Where blobs of sessions outlive the process. {@link dev.kvasir.store.StoreAddress} is a place as
 * a user types it, {@link dev.kvasir.store.TieredStore} all of them together; what is in a blob is
 * its maker's business.
 */
package dev.kvasir.store;
