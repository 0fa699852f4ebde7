/**
 * ZipCache: more bits for salient tokens, and values normalized by channel. {@link
 * dev.kvasir.methods.zipcache.ZipcacheMethod} configures {@link dev.kvasir.methods.ranked}.
 *
 * <p>Uses the packages codec and codec.ranked.
 */
package dev.kvasir.methods.zipcache;
